"""Recordings for the tests: the same signal in every format, and a source that counts what it is asked."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
import pytest

from neuroarena.recordings import Recording, channel_table, from_array, from_npy, open_electrodes, open_file

REAL = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "real"


@dataclass
class CountingSource:
    """A signal of any size that exists nowhere: sample t of channel c is (7 t + 13 c) mod 10007."""

    n_channels: int
    n_samples: int
    chunk_samples: int = 1
    name: str = "counting"
    blocks: list[tuple[int, int, int]] = field(default_factory=list)

    def values(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        times = (np.arange(start, stop) * 7 % 10007).astype(np.float32)
        sums = times + (np.asarray(indices) * 13 % 10007).astype(np.float32)[:, np.newaxis]
        # Both are below 10007, so that one subtraction is the remainder, and several times as fast as dividing.
        return np.subtract(sums, np.float32(10007), out=sums, where=sums >= 10007)

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        self.blocks.append((start, stop, len(indices)))
        return self.values(start, stop, indices)

    def fingerprint(self) -> str:
        return "counting"

    def recording(self) -> Recording:
        return Recording(self, channel_table([f"c{i}" for i in range(self.n_channels)]), 1000.0)

    def largest_block_bytes(self) -> int:
        return max((stop - start) * count * 4 for start, stop, count in self.blocks)

    def samples_read(self) -> int:
        return sum((stop - start) * count for start, stop, count in self.blocks)


@pytest.fixture
def counting() -> type[CountingSource]:
    return CountingSource


@pytest.fixture(scope="session")
def real_data() -> Path:
    if not REAL.is_dir():
        pytest.skip("the shared folder of real recordings is not beside this clone")
    return REAL


@pytest.fixture(scope="session")
def signal() -> np.ndarray:
    """Microvolts, float32 (5, 3000); each value a whole number of 1/8, so that casts are exact."""
    rng = np.random.default_rng(20260101)
    return (rng.integers(-800, 800, size=(5, 3000)) / 8).astype(np.float32)


@pytest.fixture(scope="session")
def names() -> list[str]:
    return ["Fp1", "Fp2", "Cz", "O1", "O2"]


@pytest.fixture(scope="session")
def electrode_file(tmp_path_factory: pytest.TempPathFactory, signal: np.ndarray):
    """Write the signal as electrodes 3, 4, ... of an HDF5 file, stored as asked."""

    def write(name: str, values: np.ndarray = signal, **storage: object) -> Path:
        path = tmp_path_factory.mktemp("hdf5") / name
        with h5py.File(path, "w") as file:
            for row, samples in enumerate(values):
                file.create_dataset(f"data/electrode_{row + 3}", data=samples, **storage)
            file.create_dataset("data/unlabelled", data=np.zeros(3))
        return path

    return write


@pytest.fixture(scope="session")
def brainvision(tmp_path_factory: pytest.TempPathFactory, signal: np.ndarray, names: list[str]) -> Path:
    import pybv

    folder = tmp_path_factory.mktemp("brainvision")
    pybv.write_brainvision(
        data=signal * 1e-6,
        sfreq=250,
        ch_names=names,
        fname_base="resting",
        folder_out=str(folder),
        events=np.array([[100, 1, 25], [2000, 7, 1]]),
        resolution=0.125,
        unit="µV",
    )
    return folder / "resting.vhdr"


@pytest.fixture(scope="session")
def edf(tmp_path_factory: pytest.TempPathFactory, signal: np.ndarray, names: list[str]) -> Path:
    import edfio

    path = tmp_path_factory.mktemp("edf") / "night.edf"
    signals = [
        edfio.EdfSignal(
            row.astype(float), 250, label=name, physical_dimension="uV", physical_range=(-100, 100)
        )
        for row, name in zip(signal, names, strict=True)
    ]
    edfio.Edf(signals, annotations=[edfio.EdfAnnotation(1.5, 0.5, "spindle")]).write(path)
    return path


@pytest.fixture(scope="session", params=["array", "memmap", "npy", "hdf5", "hdf5 gzip", "brainvision", "edf"])
def backend(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, signal, names):
    """A recording and, as an independent oracle, the whole of its samples (channels, time)."""
    table = channel_table(names)
    if request.param == "array":
        return from_array(signal, 250.0, table), signal
    if request.param in {"memmap", "npy"}:
        path = tmp_path_factory.mktemp("npy") / "signal.npy"
        np.save(path, np.asfortranarray(signal.astype(np.float64)))
        if request.param == "npy":
            return from_npy(path, 250.0, table), signal
        return from_array(np.load(path, mmap_mode="r"), 250.0, table), signal
    if request.param.startswith("hdf5"):
        storage = {"compression": "gzip", "chunks": (256,)} if "gzip" in request.param else {}
        path = request.getfixturevalue("electrode_file")("session.h5", **storage)
        return open_electrodes(path, [3, 4, 5, 6, 7], table, 250.0), signal
    import mne

    path = request.getfixturevalue(request.param)
    volts = mne.io.read_raw(path, preload=True, verbose="error").get_data()
    return open_file(path), (volts * 1e6).astype(np.float32)
