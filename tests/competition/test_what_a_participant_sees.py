"""Labels that cannot be had: what a participant sees is the same whatever the labels are."""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from arena_making import ABOUT, FILE, MANIFEST, Clock, join, make_truth
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.audit.requests import list_audits
from neuroarena.competition.boards import list_shown
from neuroarena.competition.codabench.bundle import write_bundles
from neuroarena.competition.intake import submit
from neuroarena.competition.opening import open_competition
from neuroarena.competition.receipts import list_submissions, read_receipt
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.worker import work
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, write_submission

PHASE = """
[[phases]]
name = "sealed"
title = "Sealed phase"
start = "2026-03-10 00:00 UTC"
end = "2026-03-20 00:00 UTC"
sealed = true
DISPLAY
per_day = 200

[limits]
unfinished = 500
"""
HEAD = FILE.partition("[[phases]]")[0].partition("[tracks.sheets")[0]
BLIND = HEAD + PHASE.replace("DISPLAY", 'display = "blind"')
LADDER = HEAD + PHASE.replace("DISPLAY", 'display = "ladder"\nstep = 0.05')
# The control: the same truth where full scores are shown, which is allowed only where it is public.
FULL = HEAD + PHASE.replace("DISPLAY", 'display = "full"').replace("sealed = true\n", "")
OTHER = {"left": "right", "right": "left"}


def make_sealed(folder: Path, text: str, truth: pd.DataFrame, manifest: Manifest = MANIFEST) -> Arena:
    folder.mkdir()
    (folder / "made.toml").write_text(text)
    create_arena(folder / "arena", folder / "made.toml").store.close()
    arena = open_arena(folder / "arena", Clock("2026-03-11 12:00 UTC"))
    keep_truth(arena, "commands", truth, manifest, ABOUT)
    open_competition(arena, accept_one_user=True, without_baselines=True)
    return arena


def random_truth(seed: int) -> pd.DataFrame:
    """The ids and units of every other truth, with labels of their own."""
    truth = make_truth()
    return truth.assign(target=np.random.default_rng(seed).choice(["left", "right"], len(truth)))


def hand_in(arena: Arena, token: str, folder: Path, labels: np.ndarray | list[str]) -> dict[str, Any]:
    file = folder / "mine.parquet"
    table = pd.DataFrame({"id": make_truth()["id"], "label": labels})
    write_submission(file, table, MANIFEST, model="mine", contact="a@example.org")
    arena.store.clock.pass_s(1)
    submission = submit(arena, token, "commands", file)
    work(arena, until_idle=True)
    return read_receipt(arena, token, submission)


def damaged_files(folder: Path) -> list[Path]:
    """Files that are refused, each for another reason; none of the reasons may depend on a label."""
    ids = make_truth()["id"].tolist()
    tables = {
        "short": pd.DataFrame({"id": ids[:-1], "label": "left"}),
        "twice": pd.DataFrame({"id": [*ids[:-1], ids[0]], "label": "left"}),
        "unknown": pd.DataFrame({"id": [*ids[:-1], "nobody"], "label": "left"}),
        "class": pd.DataFrame({"id": ids, "label": "up"}),
    }
    good = folder.parent / "mine.parquet"
    said = pq.read_schema(good).metadata
    for name, table in tables.items():
        made = pa.Table.from_pandas(table, preserve_index=False).replace_schema_metadata(said)
        pq.write_table(made, folder / f"{name}.parquet")
    (folder / "cut.parquet").write_bytes((folder / "short.parquet").read_bytes()[:-9])
    return sorted(folder.glob("*.parquet"))


def everything_seen(arena: Arena, folder: Path) -> dict[str, Any]:
    """Play a team that hands in random answers and damaged files, and collect whatever it and others can see."""
    folder.mkdir()
    token, rng = join(arena, "reds"), np.random.default_rng(5)
    receipts = [hand_in(arena, token, folder, rng.choice(["left", "right"], 80)) for _ in range(4)]
    refused = folder / "refused"
    refused.mkdir()
    for file in damaged_files(refused):
        arena.store.clock.pass_s(1)
        receipts.append(read_receipt(arena, token, submit(arena, token, "commands", file)))
    (bundle,) = write_bundles(arena, folder / "bundle")
    public = {
        str(path.relative_to(arena.folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted((arena.folder / "public").rglob("*"))
        if path.is_file() and path.name != "track.json"
    }
    return {
        "receipts": receipts,
        "list": list_submissions(arena, token),
        "board": list_shown(arena, "commands", "sealed"),
        "audits": list_audits(arena),
        "public": public,
        "bundle": public_parts(bundle.file.read_bytes()),
    }


def public_parts(bundle: bytes) -> dict[str, str]:
    """Hashes of what participants can get of a bundle: everything but the reference data."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {
            name: hashlib.sha256(archive.read(name)).hexdigest()
            for name in archive.namelist()
            if name != "reference_data.zip"
        }


# Drawn at random for every competition and submission, or a salted or chained hash: hide them, compare the rest.
RANDOM = re.compile(r"\b[rsa][0-9a-f]{10}\b|\b[0-9a-f]{64}\b")


def without_randomness(seen: dict[str, Any], *hidden: str) -> str:
    def clean(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: clean(each) for name, each in value.items() if name not in hidden}
        return [clean(each) for each in value] if isinstance(value, list) else value

    kept = {name: clean(seen[name]) for name in ("receipts", "list", "board", "audits")}
    said = RANDOM.sub("*", json.dumps(kept, sort_keys=True, default=str))
    return said + json.dumps([seen["public"], seen["bundle"]])


def test_a_blind_phase_looks_the_same_whatever_the_labels_are(tmp_path):
    seen = [
        everything_seen(make_sealed(tmp_path / f"a{seed}", BLIND, random_truth(seed)), tmp_path / f"s{seed}")
        for seed in (1, 2)
    ]
    first, second = (without_randomness(each) for each in seen)
    assert first == second
    assert '"scored"' in first
    assert '"refused"' in first


def test_a_ladder_looks_the_same_whatever_the_labels_are_to_a_team_that_knows_nothing(tmp_path):
    seen = [
        everything_seen(make_sealed(tmp_path / f"a{seed}", LADDER, random_truth(seed)), tmp_path / f"s{seed}")
        for seed in (1, 2)
    ]
    first, second = (without_randomness(each) for each in seen)
    assert first == second
    assert "no better than guessing by the step of 0.05 and by more than luck" in first


def values_shown(receipts: list[dict[str, Any]]) -> list[float | None]:
    return [receipt["score"]["shown"] for receipt in receipts]


def vote(answers: np.ndarray, values: list[float | None]) -> np.ndarray:
    """Combine random answers by whether each was shown to be better than guessing: what was not shown votes by half."""
    weights = np.array([0.0 if value is None else value - 0.5 for value in values])
    return np.where(weights @ np.where(answers == "left", 1, -1) > 0, "left", "right")


def attack_by_votes(arena: Arena, folder: Path, n_submissions: int) -> float:
    """Spend a cap on random answers, vote with the shown values, and return how many labels that gets right."""
    folder.mkdir()
    token, rng = join(arena, "reds"), np.random.default_rng(7)
    answers = rng.choice(["left", "right"], (n_submissions, 80))
    values = values_shown([hand_in(arena, token, folder, each) for each in answers])
    return float(np.mean(vote(answers, values) == arena.vault.truth("commands")["target"].to_numpy()))


@pytest.mark.drill
def test_random_answers_over_the_whole_cap_find_labels_in_full_scores_and_not_on_the_ladder(tmp_path):
    truth = random_truth(3)
    full = attack_by_votes(make_sealed(tmp_path / "full", FULL, truth), tmp_path / "f", 150)
    ladder = attack_by_votes(make_sealed(tmp_path / "ladder", LADDER, truth), tmp_path / "l", 150)
    assert full > 0.8
    assert ladder == pytest.approx(0.5, abs=0.17)  # three standard deviations of 80 guesses


def find_label_by_difference(arena: Arena, folder: Path) -> list[str | None]:
    """Change one answer at a time, and read the label off the difference of two scores; None where nothing is shown."""
    folder.mkdir()
    token, labels = join(arena, "reds"), ["left"] * 80
    base = hand_in(arena, token, folder, labels)["score"]["shown"]
    found: list[str | None] = []
    for place in range(4):
        changed = [*labels[:place], "right", *labels[place + 1 :]]
        value = hand_in(arena, token, folder, changed)["score"]["shown"]
        found.append(
            None if value is None or base is None or value == base else "right" if value > base else "left"
        )
    return found


def test_one_answer_changed_reveals_a_label_in_full_scores_and_nothing_on_the_ladder(tmp_path):
    truth = random_truth(4)
    answers = truth["target"].tolist()[:4]
    assert find_label_by_difference(make_sealed(tmp_path / "full", FULL, truth), tmp_path / "f") == answers
    assert (
        find_label_by_difference(make_sealed(tmp_path / "ladder", LADDER, truth), tmp_path / "l")
        == [None] * 4
    )
    assert (
        find_label_by_difference(make_sealed(tmp_path / "blind", BLIND, truth), tmp_path / "b") == [None] * 4
    )


def test_a_commitment_cannot_be_searched_for_labels(tmp_path):
    arena = make_sealed(tmp_path / "a", LADDER, make_truth(n_units=6, per_unit=2))
    said = json.loads((arena.folder / "public" / "commands" / "track.json").read_text())
    commitments = set(re.findall(r"\b[0-9a-f]{64}\b", json.dumps(said["truth_commitment"])))
    (file,) = (arena.vault.folder / "truth").glob("*.parquet")
    # Whoever guesses the whole truth right still lacks 32 random bytes.
    assert hashlib.sha256(file.read_bytes()).hexdigest() not in commitments
    (salt,) = arena.vault.folder.glob("salt-*")
    assert len(salt.read_bytes()) == 32
    assert {hashlib.sha256(salt.read_bytes() + file.read_bytes()).hexdigest()} == commitments
    for path in (arena.folder / "public").rglob("*"):
        if path.is_file():
            assert salt.read_bytes() not in path.read_bytes()
            assert salt.read_bytes().hex().encode() not in path.read_bytes()


def test_the_order_of_published_ids_is_their_alphabet(tmp_path):
    truth = random_truth(6).sample(frac=1, random_state=0)
    by_label = truth.sort_values(["target", "id"])
    arena = make_sealed(tmp_path / "a", LADDER, by_label)
    assert arena.ids("commands")["id"].tolist() == sorted(truth["id"])


NUMBER = Manifest.model_validate(
    {
        **MANIFEST.model_dump(exclude={"metric", "prediction", "classes", "combiner"}),
        "metric": "nrmse",
        "prediction": "number",
    }
)


def attack_by_outlier(arena: Arena, folder: Path, truth: pd.DataFrame) -> float:
    """Estimate one label from two full scores, one with an outlier, by the formula of nRMSE; return the error in sd."""
    folder.mkdir()
    token, far = join(arena, "reds"), 1e4
    answers = pd.DataFrame({"id": truth["id"], "number": 0.0})
    values = []
    for place in (None, 0):
        table = answers.copy()
        if place is not None:
            table.loc[place, "number"] = far
        write_submission(folder / "mine.parquet", table, NUMBER, model="mine", contact="a@example.org")
        submission = submit(arena, token, "commands", folder / "mine.parquet")
        work(arena, until_idle=True)
        values.append(read_receipt(arena, token, submission)["score"]["shown"])
    # n (v1^2 - v0^2) sd^2 = (far - y)^2 - y^2 = far^2 - 2 far y
    target = truth["target"].astype(float)
    gained = len(truth) * (values[1] ** 2 - values[0] ** 2) * target.var(ddof=0)
    return abs((far**2 - gained) / (2 * far) - target.iloc[0]) / target.std(ddof=0)


@pytest.mark.parametrize("clipped", [False, True])
def test_one_outlier_reveals_a_number_unless_predictions_are_clipped(tmp_path, clipped):
    truth = make_truth().assign(target=np.random.default_rng(8).normal(size=80))
    text = FULL.replace(
        'benchmark = "bci/commands"\n', 'benchmark = "bci/commands"\nlabel_range = [-3.0, 3.0]\n'
    )
    arena = make_sealed(tmp_path / "a", text if clipped else FULL, truth, NUMBER)
    error = attack_by_outlier(arena, tmp_path / "s", truth)
    assert (error > 10) if clipped else (error < 0.01)


def test_a_sealed_phase_cannot_be_configured_to_show_full_scores(tmp_path):
    with pytest.raises(InputError, match="displays full scores, which reveal labels"):
        make_sealed(tmp_path / "a", FULL.replace("display", "sealed = true\ndisplay"), make_truth())
