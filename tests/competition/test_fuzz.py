"""Ten thousand malformed files through intake: no crash, no file left behind, no attempt counted."""

from __future__ import annotations

import io
import tempfile
import zipfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import select

from arena_making import FILE, join, make_arena, write_answers
from byte_damage import mutate
from neuroarena.competition.arena import create_arena
from neuroarena.competition.configuration import read_competition
from neuroarena.competition.events import verify_events
from neuroarena.competition.intake import submit
from neuroarena.competition.tables import RUN, SUBMISSION
from neuroarena.errors import InputError

# Room for everything that happens to stay valid: a changed byte may lie where nothing reads it.
ROOMY = FILE.replace("per_day = 5", "per_day = 100000").replace(
    'benchmark = "bci/commands"\n',
    'benchmark = "bci/commands"\nkinds = ["predictions", "code", "pipeline"]\n',
)
ROOMY += '\n[limits]\nunfinished = 100000\nteam_mb = 100000\n\n[audit]\nrule = "replays"\n'
PIPELINE = """
schema_version = 1
script = "train.py"
arguments = ["--deep"]
"""


def code_zip(rng: np.random.Generator) -> bytes:
    """A zip of code, or of a training pipeline; half of them deflated."""
    method = zipfile.ZIP_DEFLATED if rng.random() < 0.5 else zipfile.ZIP_STORED
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("submission.py", "class Submission: ...\n" * 20)
        archive.writestr("train.py", "print('training')\n" * 20)
        archive.writestr("pipeline.toml", damage_text(rng, PIPELINE) if rng.random() < 0.5 else PIPELINE)
        archive.writestr("weights/w.bin", bytes(200))
    return made.getvalue()


def damage_text(rng: np.random.Generator, text: str) -> bytes:
    """Change bytes, or take a line out, double one, or put what belongs elsewhere in its place."""
    if rng.random() < 0.5:
        return mutate(rng, text.encode(), mark=b" = ", header=20)
    lines = text.splitlines()
    at = int(rng.integers(len(lines)))
    odd = [
        "[[",
        "x = nan",
        "phases = 3",
        "per_day = -1",
        'end = "2026"',
        "[limits]",
        '"" = 1',
        "a.b.c = {}",
        "\0",
    ]
    changed = [[], [lines[at]] * 2, [odd[rng.integers(len(odd))]], [lines[rng.integers(len(lines))]]]
    lines[at : at + 1] = changed[rng.integers(len(changed))]
    return "\n".join(lines).encode()


def verdicts(arena) -> Counter[tuple[str, str, str]]:
    """Count states of runs and attempts, by kind."""
    asked = select(SUBMISSION.c.kind, RUN.c.state, SUBMISSION.c.slot).join(
        RUN, RUN.c.submission == SUBMISSION.c.id
    )
    with arena.store.reading() as connection:
        return Counter(tuple(row) for row in connection.execute(asked))


@pytest.fixture
def workshop(tmp_path, monkeypatch) -> Path:
    """Where temporary files of this test are made, so that what is left behind shows."""
    place = tmp_path / "workshop"
    place.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(place))
    return place


def fuzz_intake(
    tmp_path: Path, workshop: Path, clock, n_parquet: int, n_zip: int
) -> Counter[tuple[str, str, str]]:
    """Hand damaged files in, and return what became of them; each must be refused or taken, and nothing else."""
    arena = make_arena(tmp_path, clock, ROOMY)
    token, rng = join(arena, "reds"), np.random.default_rng(n_parquet)
    good = write_answers(tmp_path / "good.parquet")
    first = submit(arena, token, "commands", good)
    content = good.read_bytes()
    for number in range(n_parquet + n_zip):
        if number < n_parquet:
            file, kind = tmp_path / "made.parquet", "predictions"
            made = mutate(rng, content, mark=b"PAR1" if rng.random() < 0.5 else b"id")
        else:
            file, kind = tmp_path / "made.zip", ("code", "pipeline")[number % 2]
            made = mutate(rng, code_zip(rng), mark=b"PK")
        file.write_bytes(made)
        commits = first if kind == "pipeline" else None
        submit(arena, token, "commands", file, kind=kind, commits=commits, external_data=())
    assert not list(workshop.iterdir())
    assert not [path for path in arena.artifacts.folder.rglob("*") if path.name.startswith(".")]
    kept = {path.stem for path in arena.artifacts.folder.rglob("*") if path.is_file()}
    with arena.store.reading() as connection:
        assert kept == set(connection.execute(select(SUBMISSION.c.sha256)).scalars())
        verify_events(connection)
        reasons = list(connection.execute(select(RUN.c.reason).where(RUN.c.state == "refused")).scalars())
    assert all(reason and "\n" not in reason and str(tmp_path) not in reason for reason in reasons)
    return verdicts(arena)


def check_verdicts(found: Counter[tuple[str, str, str]], n_files: int) -> None:
    fates = {
        ("predictions", "refused", "freed"),
        ("predictions", "queued", "used"),
        ("code", "refused", "freed"),
        ("code", "queued", "used"),
        ("pipeline", "refused", "freed"),
        ("pipeline", "kept", "freed"),
    }
    assert set(found) <= fates, found
    assert sum(found.values()) == n_files + 1
    assert sum(n for (_, state, _), n in found.items() if state == "refused") > n_files / 2, found


def fuzz_toml(tmp_path: Path, n_files: int) -> Counter[str]:
    """Damage competition files; those that are refused must not leave a folder."""
    rng, found = np.random.default_rng(n_files), Counter[str]()
    file = tmp_path / "made.toml"
    for _ in range(n_files):
        file.write_bytes(damage_text(rng, ROOMY))
        try:
            read_competition(file)
        except InputError as error:
            assert "\n" not in str(error)
            with pytest.raises(InputError):
                create_arena(tmp_path / "arena", file)
            found["refused"] += 1
        else:
            found["valid"] += 1
        assert not (tmp_path / "arena").exists()
    return found


def test_malformed_files_are_refused_and_cost_nothing(tmp_path, workshop, clock):
    check_verdicts(fuzz_intake(tmp_path, workshop, clock, 40, 40), 80)


def test_malformed_competition_files_are_refused_in_one_line(tmp_path):
    assert fuzz_toml(tmp_path, 150)["refused"] > 50


@pytest.mark.drill
def test_ten_thousand_malformed_files_are_refused_and_cost_nothing(tmp_path, workshop, clock):
    check_verdicts(fuzz_intake(tmp_path, workshop, clock, 2400, 2400), 4800)
    (tmp_path / "toml").mkdir()
    assert fuzz_toml(tmp_path / "toml", 5200)["refused"] > 2000
