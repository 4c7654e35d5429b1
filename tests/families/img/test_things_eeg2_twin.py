"""THINGS-EEG2: the twin in the layouts of the authors and of others, read back, verified and refused."""

from __future__ import annotations

import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from things_twin import SMALL

from neuroarena.errors import InputError
from neuroarena.families.img.things_eeg2 import DATASET, ThingsEEG2, verify
from neuroarena.families.img.things_eeg2.twin import simulate


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("twin") / "things"
    simulate(place, **SMALL)
    return place


@pytest.fixture
def copy(root: Path, tmp_path: Path) -> Path:
    return shutil.copytree(root, tmp_path / "copy")


def epochs_file(root: Path, part: str = "test") -> Path:
    return root / "preprocessed_data" / "sub-01" / f"preprocessed_eeg_{part}.npy"


def as_numpy_reads(path: Path) -> dict[str, Any]:
    """What NumPy itself, which trusts the file, finds in it."""
    return dict(np.load(path, allow_pickle=True).item())


def test_a_twin_is_good_and_says_that_it_is_simulated(root: Path) -> None:
    assert verify(root) == []
    data = ThingsEEG2(root)
    assert data.simulated
    assert data.card is not None
    assert data.card["simulated"] is True
    assert data.card["ideal_top5"] == pytest.approx(0.9, abs=0.005)
    assert data.card["ideal_top1"] < data.card["ideal_top5"]
    assert data.card["chance_top5"] == 5 / 40


def test_the_layout_is_the_one_of_the_authors(root: Path) -> None:
    said = as_numpy_reads(epochs_file(root))
    assert sorted(said) == ["ch_names", "preprocessed_eeg_data", "times"]
    assert said["preprocessed_eeg_data"].shape == (40, 2, 17, 100)
    assert said["preprocessed_eeg_data"].dtype == np.float64
    assert said["ch_names"][:3] == ["Pz", "P3", "P7"]
    assert said["times"][[0, -1]] == pytest.approx([-0.2, 0.79])
    images = as_numpy_reads(root / "image_set" / "image_metadata.npy")
    kinds = ("concepts", "concepts_THINGS", "files")
    assert sorted(images) == sorted(f"{part}_img_{kind}" for part in ("train", "test") for kind in kinds)
    assert images["train_img_files"][11] == "made0002_02b.jpg"
    assert images["train_img_concepts"][11] == "00002_made0002"
    assert images["test_img_concepts_THINGS"][0] == "00011_new0001"


def test_a_recording_holds_the_epochs_end_to_end(root: Path) -> None:
    said = as_numpy_reads(epochs_file(root, "training"))["preprocessed_eeg_data"]
    recording = ThingsEEG2(root).recording("sub-01", "training")
    assert (recording.rate_hz, recording.n_samples) == (100.0, 100 * 2 * 100)
    windows = recording.windows([0, 100, 200 * 7 + 100, 19_900], 100)
    expected = said[[0, 0, 7, 99], [0, 1, 1, 1]]
    assert np.array_equal(windows, expected.astype(np.float32))
    # A stretch across two epochs, of two channels in another order.
    across = recording.read(150, 260, ["O1", "Pz"])
    joined = np.concatenate([said[0, 1], said[1, 0]], axis=1)[:, 50:160]
    assert np.array_equal(across, joined[[3, 0]].astype(np.float32))
    again = pickle.loads(pickle.dumps(recording))
    assert np.array_equal(again.read(0, 100), windows[0])
    assert again.fingerprint() == recording.fingerprint()


def test_the_plain_pickle_at_250_hz_is_read_as_well(tmp_path: Path) -> None:
    root = tmp_path / "nice"
    simulate(root, **SMALL, variant="nice", channels=63)
    assert verify(root) == []
    data = ThingsEEG2(root)
    path = root / "Preprocessed_data_250Hz" / "sub-02" / "preprocessed_eeg_test.npy"
    with path.open("rb") as file:
        said = pickle.load(file)
    assert said["preprocessed_eeg_data"].shape == (40, 2, 63, 250)
    assert len(said["times"]) == 300
    recording = data.recording("sub-02", "test")
    assert recording.rate_hz == 250.0
    assert data.epochs("sub-02", "test").times[0] == 0.0
    assert np.array_equal(recording.read(250, 500), said["preprocessed_eeg_data"][0, 1].astype(np.float32))


def test_files_of_other_software_are_read(copy: Path) -> None:
    # Single precision, an array of names, other protocols, an event channel at the end.
    path = epochs_file(copy)
    said = as_numpy_reads(path)
    data = np.concatenate([said["preprocessed_eeg_data"], np.ones((40, 2, 1, 100))], axis=2)
    other = {
        "times": said["times"].astype(np.float32),
        "ch_names": np.array([*said["ch_names"], "stim"]),
        "preprocessed_eeg_data": np.asfortranarray(data.astype(np.float32)),
        "info": {"made by": "somebody"},
    }
    path.write_bytes(pickle.dumps(other, protocol=2))
    recording = ThingsEEG2(copy).recording("sub-01", "test")
    assert "stim" not in recording.channels["name"].tolist()
    assert set(recording.channels["kind"]) == {"eeg"}
    assert np.array_equal(recording.read(0, 100), data[0, 0, :17].astype(np.float32))


def test_embeddings_are_read_in_four_formats(copy: Path) -> None:
    data = ThingsEEG2(copy)
    kept = copy / "image_embeddings" / "dinov2-giant.npy"
    expected = np.load(kept)
    assert data.embeddings() == kept
    names = data.images["name"].tolist()
    folder = copy / "other"
    folder.mkdir()
    np.savez(folder / "a.npz", training=expected[:100, None], test=expected[100:, None])
    from safetensors.numpy import save_file

    save_file({"training": expected[:100], "test": expected[100:]}, folder / "a.safetensors")
    order = np.random.default_rng(0).permutation(140)
    table = pa.table({"image": [names[row] for row in order], "embedding": list(expected[order])})
    pq.write_table(table, folder / "a.parquet")
    np.save(folder / "a.npy", expected[:, None])
    for name in ("a.npz", "a.safetensors", "a.parquet", "a.npy"):
        found = ThingsEEG2(copy, folder / name).embeddings()
        assert isinstance(found, np.ndarray)
        assert np.array_equal(found, expected), name


def test_the_same_seed_gives_the_same_bytes_and_a_twin_is_left_as_it_is(root: Path, tmp_path: Path) -> None:
    simulate(tmp_path / "again", **SMALL)
    for path in sorted(root.rglob("*.npy")):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(root)).read_bytes()
    before = epochs_file(root).stat().st_mtime_ns
    simulate(root, **SMALL)
    assert epochs_file(root).stat().st_mtime_ns == before


def test_progress_is_told(tmp_path: Path) -> None:
    told: list[tuple[int, int, str]] = []
    simulate(tmp_path / "t", **SMALL, progress=lambda *said: told.append(said))
    assert [said[:2] for said in told] == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_no_strength_leaves_no_response(root: Path, tmp_path: Path) -> None:
    card = simulate(tmp_path / "t", **SMALL, strength=0.0)
    assert card["separation"] == 0.0
    assert card["ideal_top5"] == pytest.approx(5 / 40, abs=0.02)
    # The noise is the same as with a response: what is planted is all that differs.
    apart = np.subtract(
        *(as_numpy_reads(epochs_file(place))["preprocessed_eeg_data"] for place in (root, tmp_path / "t"))
    )
    assert np.allclose(apart[:, 0], apart[:, 1])
    assert np.linalg.matrix_rank(apart[:, 0].reshape(40, -1), tol=1e-6) == 16


def test_the_stated_ideal_is_what_its_model_gives_on_other_images(root: Path) -> None:
    # Hidden vectors and noise drawn anew: forty directions, seen with noise of one over the separation.
    card = ThingsEEG2(root).card
    assert card is not None
    d, latents = card["separation"], card["planted"]["latents"]
    rng = np.random.default_rng(0)
    z = rng.standard_normal((40, latents))
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    hits = []
    for _ in range(400):
        said = d * z + rng.standard_normal(z.shape)
        scores = said @ z.T
        hits.append(np.mean((scores > np.diag(scores)[:, None]).sum(axis=1) < 5))
    assert np.mean(hits) == pytest.approx(card["ideal_top5"], abs=0.05)


OPTIONS: dict[str, tuple[dict[str, Any], str]] = {
    "nobody": ({"subjects": 0}, "subjects must be a whole number from 1 to 10, got 0"),
    "a training set of 15": ({"training_images": 25}, "multiple of 10, got 25"),
    "too few candidates": ({"test_images": 10}, "--test-images must be a whole number from 11 to 200"),
    "18 channels": ({"channels": 18}, "channels must be one of 17, 63, got 18"),
    "another variant": ({"variant": "fif"}, "variant must be one of authors, nice"),
    "an unknown leak": ({"plant_leak": "length"}, "--plant-leak must be one of channel, order"),
    "a negative strength": ({"strength": -1}, "strength must be a number from 0 to 10"),
}


@pytest.mark.parametrize(("changes", "phrase"), OPTIONS.values(), ids=OPTIONS.keys())
def test_an_option_out_of_range_is_refused_and_nothing_is_written(
    tmp_path: Path, changes: dict[str, Any], phrase: str
) -> None:
    with pytest.raises(InputError, match=phrase):
        simulate(tmp_path / "t", **{**SMALL, **changes})
    assert list(tmp_path.iterdir()) == []


def rewrite(change: Callable[[dict[str, Any]], Any], part: str = "test") -> Callable[[Path], None]:
    def make(root: Path) -> None:
        path = epochs_file(root, part)
        said = as_numpy_reads(path)
        changed = change(said)
        np.save(path, said if changed is None else changed, allow_pickle=True)

    return make


def embeddings_as(change: Callable[[np.ndarray], np.ndarray]) -> Callable[[Path], None]:
    def make(root: Path) -> None:
        path = root / "image_embeddings" / "dinov2-giant.npy"
        np.save(path, change(np.load(path)))

    return make


def one_nan(values: np.ndarray) -> np.ndarray:
    values = values.copy()
    values[7, 3] = np.nan
    return values


def list_twice(root: Path) -> None:
    path = root / "image_set" / "image_metadata.npy"
    said = as_numpy_reads(path)
    said["test_img_files"][0] = said["train_img_files"][0]
    np.save(path, said, allow_pickle=True)


FLAWS: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "a missing file": (
        lambda root: epochs_file(root).unlink(),
        "sub-01/preprocessed_eeg_test.npy",
        "missing",
    ),
    "a file cut short": (
        lambda root: epochs_file(root).write_bytes(epochs_file(root).read_bytes()[:5000]),
        "sub-01/preprocessed_eeg_test.npy",
        "5000 bytes",
    ),
    "no list of images": (
        lambda root: (root / "image_set" / "image_metadata.npy").unlink(),
        ".",
        "lacks image_set/image_metadata.npy",
    ),
    "an image twice": (list_twice, "image_metadata.npy", '"made0001_01b" is listed twice'),
    "an embedding too few": (embeddings_as(lambda values: values[1:]), "dinov2-giant.npy", "bytes"),
    "no people": (
        lambda root: shutil.rmtree(root / "preprocessed_data"),
        ".",
        "neither of preprocessed_data",
    ),
}


@pytest.mark.parametrize(("make", "file", "phrase"), FLAWS.values(), ids=FLAWS.keys())
def test_a_flaw_is_found_and_named(copy: Path, make: Callable[[Path], Any], file: str, phrase: str) -> None:
    make(copy)
    problems = verify(copy)
    assert problems
    assert any(problem.file.endswith(file) and phrase in problem.what for problem in problems), problems


READING: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no times": (rewrite(lambda said: {key: said[key] for key in said if key != "times"}), 'lacks "times"'),
    "a list": (rewrite(lambda said: [1, 2]), "an array of the shape (2,), not a pickled dictionary"),
    "three axes": (
        rewrite(lambda said: said.update(preprocessed_eeg_data=np.zeros((40, 2, 17)))),
        "got float64",
    ),
    "whole numbers": (
        rewrite(lambda said: said.update(preprocessed_eeg_data=np.zeros((40, 2, 17, 100), int))),
        "of floats",
    ),
    "a name too few": (
        rewrite(lambda said: said.update(ch_names=said["ch_names"][:-1])),
        "17 channels, but 16 different names",
    ),
    "times that fall": (rewrite(lambda said: said.update(times=said["times"][::-1].copy())), "do not rise"),
    "an image too few": (
        rewrite(lambda said: said.update(preprocessed_eeg_data=said["preprocessed_eeg_data"][1:])),
        "epochs of 39 images, expected 40",
    ),
}


@pytest.mark.parametrize(("make", "phrase"), READING.values(), ids=READING.keys())
def test_epochs_that_do_not_fit_are_refused(copy: Path, make: Callable[[Path], Any], phrase: str) -> None:
    make(copy)
    with pytest.raises(InputError, match="preprocessed_eeg_test") as refusal:
        ThingsEEG2(copy).epochs("sub-01", "test")
    assert phrase in str(refusal.value)


EMBEDDINGS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "NaN": (embeddings_as(one_nan), 'the embedding of "made0001_08b" is zero, NaN or infinite'),
    "zeros": (embeddings_as(lambda values: values * 0), "is zero"),
    "too few": (
        embeddings_as(lambda values: values[1:]),
        "holds 139 embeddings, expected 100 training and 40",
    ),
    "double precision": (embeddings_as(lambda values: values.astype(float)), "expected float32"),
    "two files": (
        lambda root: np.save(root / "image_embeddings" / "b.npy", np.zeros(3)),
        "expected one file of embeddings",
    ),
    "objects": (embeddings_as(lambda values: np.array([{}], dtype=object)), "cannot be read as .npy"),
}


@pytest.mark.parametrize(("make", "phrase"), EMBEDDINGS.values(), ids=EMBEDDINGS.keys())
def test_embeddings_that_do_not_fit_are_refused(copy: Path, make: Callable[[Path], Any], phrase: str) -> None:
    make(copy)
    with pytest.raises(InputError, match=phrase):
        ThingsEEG2(copy).embeddings()


def test_a_sample_that_is_not_finite_is_named_when_it_is_read(copy: Path) -> None:
    rewrite(lambda said: said["preprocessed_eeg_data"].__setitem__((3, 1, 0, 50), np.nan))(copy)
    recording = ThingsEEG2(copy).recording("sub-01", "test")
    assert np.isfinite(recording.read(0, 100)).all()
    with pytest.raises(InputError, match=r"sub-01/preprocessed_eeg_test\.npy: epochs 7 to 7 hold NaN"):
        recording.read(700, 800)


def test_the_dataset_describes_every_option_it_has() -> None:
    import inspect

    names = set(inspect.signature(simulate).parameters) - {"root", "progress"}
    assert set(DATASET.simulate_options) == names
