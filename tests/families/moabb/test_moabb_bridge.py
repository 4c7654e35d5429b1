"""Datasets of MOABB as benchmarks: the same windows, folds and scores as MOABB's own evaluations have."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("moabb", reason="the extra moabb is not installed")

import mne
from moabb.datasets import PhysionetMI
from moabb.datasets.fake import FakeDataset
from moabb.evaluations import CrossSessionEvaluation, CrossSubjectEvaluation, WithinSessionEvaluation
from moabb.paradigms import LeftRightImagery
from pyriemann.estimation import Covariances
from pyriemann.tangentspace import TangentSpace
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

from command_line import neuroarena_in
from neuroarena import evaluate, from_sklearn
from neuroarena.errors import InputError
from neuroarena.evaluation.leaks import check_leaks
from neuroarena.families.moabb import from_moabb
from neuroarena.families.moabb.catalogue import files_at
from shared_data import SHARED

REAL = SHARED / "data" / "real" / "eegmmidb_p300" / "eegmmidb" / "S001"
EVALUATIONS = {
    "within-session": WithinSessionEvaluation,
    "cross-session": CrossSessionEvaluation,
    "cross-subject": CrossSubjectEvaluation,
}


@pytest.fixture(autouse=True)
def _home_of_its_own(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """MOABB writes into the configuration of MNE; that of whoever runs the tests is left alone."""
    monkeypatch.setenv("_MNE_FAKE_HOME_DIR", str(tmp_path_factory.mktemp("home")))


def fake_dataset() -> FakeDataset:
    return FakeDataset(
        event_list=("left_hand", "right_hand"), n_subjects=3, n_sessions=2, n_events=20, duration=80, seed=0
    )


def pipeline():
    return make_pipeline(Covariances("oas"), TangentSpace("riemann"), LogisticRegression())


def scores_of_moabb(split: str, dataset, folder: Path) -> dict[str, float]:
    evaluation = EVALUATIONS[split](
        paradigm=LeftRightImagery(),
        datasets=[dataset],
        random_state=42,
        overwrite=True,
        hdf5_path=str(folder),
    )
    table = evaluation.process({"tangent": pipeline()})
    return {f"{row.subject}_{row.session}": row.score for row in table.itertuples()}


def scores_of_ours(split: str, dataset, folder: Path) -> dict[str, float]:
    benchmark = from_moabb(dataset, LeftRightImagery())
    result = evaluate(from_sklearn(pipeline()), benchmark, split, cache=folder)
    assert result.complete, result.record.failed_cells[0].error
    table = result.unit_scores.table
    return table.groupby("unit")["score"].mean().to_dict()


@pytest.mark.parametrize(
    "split",
    ["cross-session", "cross-subject", pytest.param("within-session", marks=pytest.mark.drill)],
)
def test_each_evaluation_has_the_scores_that_moabb_has_on_its_fake_dataset(split, tmp_path):
    theirs = scores_of_moabb(split, fake_dataset(), tmp_path)
    ours = scores_of_ours(split, fake_dataset(), tmp_path)
    assert ours.keys() == theirs.keys()
    assert len(ours) == 6
    np.testing.assert_allclose([ours[key] for key in theirs], list(theirs.values()), atol=0.011)


@pytest.fixture
def real_cache(tmp_path: Path) -> Path:
    """Real files of eegmmidb where MOABB's cache has them: runs 4 and 8 of one person."""
    if not REAL.is_dir():
        pytest.skip("the real data eegmmidb_p300 are not beside this clone")
    place = tmp_path / "mne_data" / "MNE-eegbci-data" / "files" / "eegmmidb" / "1.0.0" / "S001"
    place.mkdir(parents=True)
    for run in (4, 8):
        (place / f"S001R{run:02d}.edf").symlink_to(REAL / f"S001R{run:02d}.edf")
    return tmp_path / "mne_data"


def two_runs() -> PhysionetMI:
    """The dataset as far as it is beside this clone."""
    dataset = PhysionetMI(subjects=[1])
    dataset.hand_runs, dataset.feet_runs = [4, 8], []
    return dataset


@pytest.mark.drill
def test_real_files_in_the_layout_of_its_cache_have_the_scores_that_moabb_has(real_cache, tmp_path):
    with files_at(str(real_cache)):
        theirs = scores_of_moabb("within-session", two_runs(), tmp_path)
        ours = scores_of_ours("within-session", two_runs(), tmp_path)
    assert list(ours) == ["1_0"]
    assert ours["1_0"] == pytest.approx(theirs["1_0"], abs=0.011)
    benchmark = from_moabb(two_runs(), LeftRightImagery(), data=str(real_cache))
    assert len(benchmark.examples) == 30
    assert benchmark.splits == ("within-session",)
    channels = benchmark.recording("1_0").channels
    assert {"C3", "Cz", "C4"} <= set(channels["name"])
    assert np.isfinite(channels[["x", "y", "z"]].to_numpy()).all()


def test_windows_are_those_of_moabb_in_microvolts(real_cache):
    benchmark = from_moabb(two_runs(), LeftRightImagery(), data=str(real_cache))
    with files_at(str(real_cache)):
        theirs, labels, _ = LeftRightImagery().get_data(two_runs(), [1])
    row = benchmark.examples.iloc[7]
    ours = benchmark.recording("1_0").read(int(row["start"]), int(row["stop"]))
    np.testing.assert_allclose(ours, theirs[7], rtol=1e-4, atol=1e-3)
    assert benchmark.examples["target"].tolist() == list(labels)


def test_a_folder_of_files_leaves_the_configuration_of_mne_as_it_was(real_cache):
    before = dict(mne.get_config() or {}), dict(os.environ)
    from_moabb(two_runs(), LeftRightImagery(), data=str(real_cache))
    assert (dict(mne.get_config() or {}), dict(os.environ)) == before


def test_its_splits_declare_who_stands_on_both_sides():
    benchmark = from_moabb(fake_dataset(), LeftRightImagery(), subjects=[1, 2])
    assert benchmark.simulated
    for split in benchmark.splits:
        report = check_leaks(benchmark, split)
        assert [probe for probe in report.findings if probe.kind == "identity"] == []


def test_a_name_is_enough_on_the_command_line(tmp_path):
    words = (
        "run moabb/FakeDataset-MotorImagery -d chance -O subjects=1,2 -O events=fake1,fake2 -s cross-subject"
    )
    ran = neuroarena_in(tmp_path, *words.split(), "--out", "results", "--json")
    assert ran.returncode == 0, ran.stderr
    assert '"split": "cross-subject"' in ran.stdout
    assert '"metric": "auroc"' in ran.stdout


REFUSED = {
    "run moabb -d chance": "needs a task: DATASET-PARADIGM",
    "run moabb/PhysionetMI -d chance": '"moabb/PhysionetMI" is not DATASET-PARADIGM',
    "run moabb/PhysionetM-LeftRightImagery -d chance": 'Did you mean "PhysionetMI"?',
    "run moabb/PhysionetMI-LeftRightImagry -d chance": 'Did you mean "LeftRightImagery"',
    "run moabb/PhysionetMI-P300 -d chance": "do not fit together: the dataset is one of imagery",
    "run moabb/FakeDataset-MotorImagery -d chance -O subjects=99": "has no subject 99; there are 1 to 10",
    "run moabb/PhysionetMI-LeftRightImagery -d chance --data nowhere": "nowhere: there is no such folder",
    "run moabb/FakeDataset-MotorImagery -d chance -O fmin=40": "the band of 40 to 32 Hz is empty",
    "run moabb/FakeDataset-MotorImagery -d chance -O fmax=70": "MOABB cannot make its windows (ValueError",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_moabb_does_not_have_is_refused_with_a_cure(words, tmp_path):
    ran = neuroarena_in(tmp_path, *words.split())
    assert ran.returncode == 2, ran.stdout
    assert REFUSED[words] in ran.stderr


def test_a_session_with_too_few_windows_is_named():
    dataset = FakeDataset(
        event_list=("left_hand", "right_hand"), n_subjects=1, n_events=4, duration=20, seed=0
    )
    with pytest.raises(InputError, match=r"Subject 1, session 0: 4 windows of .*, and 5 folds need as many"):
        from_moabb(dataset, LeftRightImagery()).split("within-session")
