"""Track bci: manifests, splits, people who are missing, and what can be decoded."""

from __future__ import annotations

import functools
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.benchmarks import Benchmark, Fold, Split, load_benchmark
from neuroarena.decoders import Chance, Decoder
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate
from neuroarena.families.bci import (
    FAMILY,
    BandPower,
    CspLda,
    Discriminant,
    RiemannLr,
    bci_commands,
    cca,
    cross_session,
    filterbank_lda,
    later_sessions,
    leave_one_subject_out,
    ssvep_exo,
)
from neuroarena.features import FeatureChain
from neuroarena.statistics import meets_resolution
from shared_data import SHARED

REAL = SHARED / "data" / "real" / "ssvep_exo"
needs_real = pytest.mark.skipif(not REAL.is_dir(), reason="the shared folder of real recordings is not there")
COMMANDS: dict[str, Any] = {"subjects": 2, "sessions": 3, "runs": 2, "trials": 12, "channels": 6, "seed": 2}


@pytest.fixture(scope="module")
def commands_twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("track") / "bci_commands"
    bci_commands.simulate(root, **COMMANDS)
    return root


@pytest.fixture(scope="module")
def exo_twin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("track") / "ssvep_exo"
    ssvep_exo.simulate(root, subjects=3, ideal=0.95)
    return root


def load(task: str, root: Path, **options: Any) -> Benchmark:
    return load_benchmark(f"bci/{task}", str(root), **options)


def mean_score(decoder: Decoder, benchmark: Benchmark, split: str, cache: Path) -> float:
    scores = evaluate(decoder, benchmark, split, cache=cache).unit_scores
    assert scores is not None
    return float(scores.table["score"].mean())


# --- the rules, as data ------------------------------------------------------------------------------------


def test_the_rules_are_those_of_the_track() -> None:
    assert FAMILY.tasks("2026") == ("commands", "ssvep-exo")
    for task in FAMILY.tasks("2026"):
        manifest = FAMILY.manifest(task, "2026")
        assert (manifest.metric, manifest.tie_break) == ("balanced_accuracy", "macro_f1")
        assert manifest.prediction_columns == ("label",)
        assert manifest.unit == "subject x session x context cell"
        assert (manifest.state, manifest.cluster) == ("stateless", None)
        assert manifest.chance == pytest.approx(1 / 3)
        shape = FAMILY.window(task, "2026")
        assert shape.n_samples == 4 * shape.rate_hz


def test_the_commands_are_the_three_of_the_track() -> None:
    classes = FAMILY.manifest("commands", "2026").classes
    assert classes == ("motor-imagery", "mental-math", "word-association")


def test_the_size_of_the_test_set_meets_the_half_width_that_is_aimed_at() -> None:
    # PROTEUS: two people came three times; two later sessions in two contexts. The exoskeleton study: 32 recordings.
    for task, n_units in (("commands", 2 * 2 * 2), ("ssvep-exo", 32)):
        manifest = FAMILY.manifest(task, "2026")
        assert manifest.sigma is not None
        assert manifest.nu is not None
        assert meets_resolution(manifest.sigma, n_units, manifest.nu)


def test_every_test_that_the_page_of_the_track_names_exists() -> None:
    root = Path(__file__).resolve().parents[3]
    cited = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", (root / "docs" / "track-bci.md").read_text())
    assert len(cited) > 20
    for file, name in cited:
        assert f"def {name}(" in (root / file).read_text(), f"{file}::{name}"


def test_an_example_is_the_four_seconds_from_its_cue(commands_twin: Path) -> None:
    benchmark = load("commands", commands_twin)
    data = bci_commands.BciCommands(commands_twin)
    table = benchmark.examples
    assert set(table["stop"] - table["start"]) == {400}
    for key, group in table.groupby("recording"):
        assert group["start"].tolist() == data.trials(commands_twin / str(key))["start"].tolist()
    recording = benchmark.recording(table["recording"].iloc[0])
    assert set(recording.channels["kind"]) == {"eeg"}


def test_a_unit_is_a_cell_of_subject_session_and_context(commands_twin: Path, exo_twin: Path) -> None:
    table = load("commands", commands_twin).examples
    cells = {
        "/".join(cell) for cell in zip(table["subject"], table["session"], table["context"], strict=True)
    }
    assert set(table["unit"]) == cells
    assert len(cells) == 2 * 3 * 2
    assert (table["cluster"] == table["subject"]).all()
    exo = load("ssvep-exo", exo_twin).examples
    assert exo["unit"].nunique() == 3 * 2


# --- splits ------------------------------------------------------------------------------------------------


def test_later_sessions_are_judged_by_what_the_earlier_ones_taught(commands_twin: Path) -> None:
    benchmark = load("commands", commands_twin)
    session_of = benchmark.examples.set_index("id")[["subject", "session"]]
    split = benchmark.split("later-sessions")
    assert [fold.name for fold in split.folds] == ["P01", "P02"]
    for fold in split.folds:
        train, test = session_of.loc[list(fold.train)], session_of.loc[list(fold.test)]
        assert set(train["subject"]) == set(test["subject"]) == {fold.name}
        assert set(train["session"]) == {"1"}
        assert set(test["session"]) == {"2", "3"}


def test_other_recordings_and_other_people_are_judged_apart(exo_twin: Path) -> None:
    benchmark = load("ssvep-exo", exo_twin)
    known = benchmark.examples.set_index("id")
    for fold in benchmark.split("cross-session").folds:
        train, test = known.loc[list(fold.train)], known.loc[list(fold.test)]
        assert set(train["subject"]) == set(test["subject"])
        assert not set(train["session"]) & set(test["session"])
    for fold in benchmark.split("leave-one-subject-out").folds:
        train, test = known.loc[list(fold.train)], known.loc[list(fold.test)]
        assert set(test["subject"]) == {fold.name}
        assert fold.name not in set(train["subject"])
        assert len(train) + len(test) == len(known)


@functools.cache
def made_up() -> pd.DataFrame:
    rows = [
        (f"{subject}-{session}-{item}", subject, session)
        for subject, n_sessions in (("a", 3), ("b", 12), ("c", 1))
        for session in (str(number) for number in range(1, n_sessions + 1))
        for item in range(4)
    ]
    return pd.DataFrame(rows, columns=["id", "subject", "session"])


@pytest.mark.parametrize("rule", [later_sessions, cross_session, leave_one_subject_out])
@given(seed=st.integers(0, 2**32 - 1))
def test_the_hash_of_a_split_does_not_depend_on_the_order_of_rows(rule: Any, seed: int) -> None:
    order = np.random.default_rng(seed).permutation(len(made_up()))
    assert rule(made_up().iloc[order]).hash == rule(made_up()).hash


def test_sessions_are_in_the_order_of_numbers_and_who_came_once_is_not_judged() -> None:
    split = later_sessions(made_up())
    assert [fold.name for fold in split.folds] == ["a", "b"]
    judged = {name.split("-")[1] for name in split.fold("b").test}
    assert judged == {"7", "8", "9", "10", "11", "12"}
    assert {name.split("-")[1] for name in split.fold("a").train} == {"1"}


def test_a_missing_person_is_an_error_and_never_another_split(commands_twin: Path, tmp_path: Path) -> None:
    whole = load("commands", commands_twin).split("later-sessions")
    shutil.copytree(commands_twin, tmp_path / "part")
    shutil.rmtree(tmp_path / "part" / "sub-P02")
    with pytest.raises(InputError, match=r"sub-P02 is listed in participants\.tsv, but is missing"):
        load("commands", tmp_path / "part")
    # Asked for by name, the other person's fold is the same fold.
    alone = load("commands", tmp_path / "part", subjects=["P01"])
    assert alone.options == {"subjects": ["P01"]}
    assert alone.split("later-sessions").fold("P01").hash == whole.fold("P01").hash
    assert alone.split("later-sessions").hash != whole.hash


def test_a_missing_person_of_the_exoskeleton_study_is_an_error(exo_twin: Path, tmp_path: Path) -> None:
    shutil.copytree(exo_twin, tmp_path / "part")
    (tmp_path / "part" / "subject03.npz").unlink()
    with pytest.raises(InputError, match=r"subject03\.npz is missing"):
        load("ssvep-exo", tmp_path / "part")


def test_real_data_are_held_to_the_locked_hashes(exo_twin: Path, tmp_path: Path) -> None:
    # A folder that claims to be real (no card, twelve people) and is not.
    for number in range(1, 13):
        shutil.copy(exo_twin / "subject01.npz", tmp_path / f"subject{number:02d}.npz")
        with np.load(tmp_path / f"subject{number:02d}.npz") as archive:
            arrays = {name: archive[name] for name in archive.files}
        np.savez(tmp_path / f"subject{number:02d}.npz", **{**arrays, "X": arrays["X"] + number})
    with pytest.raises(InputError, match="The data are not the ones this definition was published with"):
        load("ssvep-exo", tmp_path).split("leave-one-subject-out")


def test_data_are_found_by_the_variable_of_all_datasets(
    commands_twin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEUROARENA_DATA", str(commands_twin.parent))
    assert FAMILY.load("commands", "2026").simulated


def test_an_option_of_the_other_task_is_refused(commands_twin: Path) -> None:
    with pytest.raises(InputError, match='has no option "authors_exclusions"'):
        load("commands", commands_twin, authors_exclusions=True)


def test_a_window_that_does_not_fit_its_recording_is_refused(commands_twin: Path, tmp_path: Path) -> None:
    shutil.copytree(commands_twin, tmp_path / "short")
    events = sorted((tmp_path / "short").rglob("*_events.tsv"))[0]
    lines = events.read_text().splitlines()
    cue = next(number for number in range(len(lines) - 1, 0, -1) if "\t8\t" in lines[number])
    recording = load("commands", commands_twin).recording(
        str(events.relative_to(tmp_path / "short")).replace("_events.tsv", "_eeg.edf")
    )
    late = f"{recording.duration_s - 3:g}"
    lines[cue] = "\t".join([late, *lines[cue].split("\t")[1:]])
    events.write_text("\n".join(lines) + "\n")
    with pytest.raises(InputError, match="extend beyond the recording's"):
        _ = load("commands", tmp_path / "short").examples


# --- what can be decoded -----------------------------------------------------------------------------------


def test_the_planted_commands_are_found(commands_twin: Path, tmp_path: Path) -> None:
    benchmark = load("commands", commands_twin)
    assert benchmark.simulated
    assert mean_score(CspLda(), benchmark, "later-sessions", tmp_path) > 0.5
    assert mean_score(RiemannLr(), benchmark, "later-sessions", tmp_path) > 0.5


@pytest.mark.drill
def test_amplitude_alone_hears_less_than_whoever_separates_sources_in_space(tmp_path: Path) -> None:
    """Each electrode's power, in one band or in three, with the same discriminant: other sources drown the commands."""
    bci_commands.simulate(tmp_path / "twin", subjects=2, runs=2, trials=36)
    benchmark = load("commands", tmp_path / "twin")

    def of(decoder: Any) -> float:
        return mean_score(decoder, benchmark, "later-sessions", tmp_path)

    amplitude = of(Discriminant(FeatureChain((BandPower(((1.0, 30.0),)),))))
    in_bands = of(Discriminant(FeatureChain((BandPower(((4.0, 8.0), (8.0, 14.0), (14.0, 30.0))),))))
    spatial = of(CspLda()), of(RiemannLr())
    assert amplitude + 0.1 < min(spatial)
    assert in_bands < max(spatial)


@pytest.mark.drill
def test_without_a_planted_signal_everybody_is_at_chance(tmp_path: Path) -> None:
    bci_commands.simulate(tmp_path / "nothing", **COMMANDS, strength=0.0)
    benchmark = load("commands", tmp_path / "nothing")
    # 96 judged trials: chance has a standard error of 0.05.
    for decoder in (CspLda(), Chance()):
        assert abs(mean_score(decoder, benchmark, "later-sessions", tmp_path) - 1 / 3) < 0.17


def _taught_by_session_one(judged: str, examples: pd.DataFrame) -> Split:
    """Train on every other trial of session 1; judge the other trials of session 1, or those of a later one."""
    folds = []
    for subject, own in examples.groupby("subject"):
        even = own["trial"] % 2 == 0
        train, test = own[(own["session"] == "1") & even], own[(own["session"] == judged) & ~even]
        folds.append(Fold(str(subject), tuple(train["id"]), tuple(test["id"])))
    return Split(f"session-{judged}", tuple(folds))


@pytest.mark.drill
@pytest.mark.parametrize(("drift", "lost"), [(2.0, True), (0.0, False)])
def test_drift_makes_later_sessions_harder_than_the_one_trained_on(
    tmp_path: Path, drift: float, lost: bool
) -> None:
    options = {**COMMANDS, "sessions": 3, "trials": 36, "ideal": 0.95, "drift": drift}
    bci_commands.simulate(tmp_path / "drifting", **options)
    rules = {judged: functools.partial(_taught_by_session_one, judged) for judged in ("1", "3")}
    benchmark = Benchmark(**{**vars(load("commands", tmp_path / "drifting")), "split_rules": rules})
    same, later = (mean_score(RiemannLr(), benchmark, judged, tmp_path) for judged in ("1", "3"))
    assert (same > later + 0.15) == lost


def test_the_planted_flicker_is_found_and_without_it_there_is_chance(exo_twin: Path, tmp_path: Path) -> None:
    benchmark = load("ssvep-exo", exo_twin)
    for decoder in (cca(), filterbank_lda()):
        assert mean_score(decoder, benchmark, "leave-one-subject-out", tmp_path) > 0.6
    ssvep_exo.simulate(tmp_path / "nothing", subjects=3, strength=0.0)
    nothing = load("ssvep-exo", tmp_path / "nothing")
    # 144 judged trials: chance has a standard error of 0.04.
    assert abs(mean_score(cca(), nothing, "leave-one-subject-out", tmp_path) - 1 / 3) < 0.13


@pytest.mark.drill
@needs_real
def test_real_flicker_is_decoded_across_people_by_canonical_correlation(tmp_path: Path) -> None:
    benchmark = load("ssvep-exo", REAL)
    assert not benchmark.simulated
    assert len(benchmark.examples) == 32 * 24
    assert any("left out: it is, sample for sample" in note for note in benchmark.notes)
    result = evaluate(cca(), benchmark, "leave-one-subject-out", cache=tmp_path)
    assert result.unit_scores is not None
    by_subject = result.unit_scores.table.groupby("cluster")["accuracy"].mean()
    assert len(by_subject) == 12
    assert by_subject.mean() >= 0.84


@needs_real
def test_no_sample_is_on_both_sides_of_a_real_fold() -> None:
    benchmark = load("ssvep-exo", REAL)
    table = benchmark.examples
    windows = [
        pd.DataFrame({"id": group["id"], "content": [window.tobytes() for window in cut]})
        for key, group in table.groupby("recording")
        for cut in [benchmark.recording(str(key)).windows(group["start"], 64)]
    ]
    contents = pd.concat(windows).set_index("id")["content"]
    assert contents.is_unique
    for name in benchmark.splits:
        for fold in benchmark.split(name).folds:
            assert not set(contents[list(fold.train)]) & set(contents[list(fold.test)])


@needs_real
def test_the_authors_exclusions_leave_27_recordings_and_another_hash() -> None:
    benchmark = load("ssvep-exo", REAL, authors_exclusions=True)
    assert benchmark.examples["session"].nunique() == 27
    assert benchmark.options == {"authors_exclusions": True}
    whole = load("ssvep-exo", REAL)
    assert benchmark.split("cross-session").hash != whole.split("cross-session").hash
