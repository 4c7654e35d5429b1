"""EDF, BDF and GDF files damaged at random: read, or refused in one sentence that names them."""

from __future__ import annotations

import warnings
from pathlib import Path

import edfio
import numpy as np
import pytest
from test_recording_gdf import write_gdf

from byte_damage import mutate
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn.bdf import BdfSource
from neuroarena.recordings import annotations, open_file


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("whole")
    rng = np.random.default_rng(3)
    notes = [edfio.EdfAnnotation(0.5 * i, 0.1, f"note {i}") for i in range(5)]
    for kind, signal, file in (("edf", edfio.EdfSignal, edfio.Edf), ("bdf", edfio.BdfSignal, edfio.Bdf)):
        signals = [
            signal(
                rng.uniform(-99, 99, 400),
                100,
                label=name,
                physical_dimension="uV",
                physical_range=(-100, 100),
            )
            for name in ("Cz", "Pz", "Status")
        ]
        file(signals, annotations=notes).write(folder / f"whole.{kind}")
    events = b"\x01" + (2).to_bytes(3, "little") + bytes(4) + bytes(12)
    write_gdf(
        folder / "whole.gdf",
        [{"label": "Cz", "values": np.arange(100)}, {"label": "Oz", "values": np.arange(100), "type": 16}],
        events,
    )
    return [folder / f"whole.{kind}" for kind in ("edf", "bdf", "gdf")]


def check(originals: list[Path], folder: Path, seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    refused = 0
    for number in range(count):
        original = originals[number % len(originals)]
        path = folder / f"mutant{original.suffix}"
        path.write_bytes(mutate(rng, original.read_bytes(), header=1300))
        readers = (open_file, annotations, *((BdfSource,) if path.suffix == ".bdf" else ()))
        for read in readers:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    opened = read(path)
                    if read is open_file:
                        assert opened.read(0, min(opened.n_samples, 1000)).dtype == np.float32
            except InputError as error:
                refused += 1
                assert path.name in str(error)
                assert "\n" not in str(error)
    assert refused > count / 4


def test_damaged_recordings_are_read_or_refused(originals: list[Path], tmp_path: Path) -> None:
    check(originals, tmp_path, seed=1, count=45)


@pytest.mark.drill
@pytest.mark.parametrize("seed", range(3))
def test_fifteen_hundred_damaged_recordings_are_read_or_refused(
    originals: list[Path], tmp_path: Path, seed: int
) -> None:
    check(originals, tmp_path, seed=10 + seed, count=500)
