"""HDF5 files with one dataset an electrode."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from neuroarena.errors import InputError
from neuroarena.recordings import channel_table, open_electrodes

TABLE = channel_table(["A", "B"])


@pytest.mark.parametrize("dtype", ["int16", "uint8", ">i4", "int64", "float16", "float32", ">f8"])
@pytest.mark.parametrize("storage", [{}, {"chunks": (64,)}, {"compression": "gzip", "shuffle": True}])
def test_any_real_type_and_storage_reads_as_float32(electrode_file, dtype, storage):
    values = np.random.default_rng(3).integers(0, 100, size=(2, 1000)).astype(dtype)
    path = electrode_file("typed.h5", values, **storage)
    recording = open_electrodes(path, [4, 3], TABLE)
    assert (recording.n_samples, recording.rate_hz, recording.name) == (1000, 2048.0, "typed.h5")
    found = recording.read(10, 990)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, values[::-1, 10:990].astype(np.float32))


def test_the_samples_of_a_compressed_file_are_unpacked_once(electrode_file):
    values = np.random.default_rng(4).normal(size=(2, 50_000)).astype(np.float32)
    recording = open_electrodes(
        electrode_file("packed.h5", values, compression="gzip", chunks=(1000,)), [3, 4], TABLE
    )
    source, asked = recording._source, []
    read = source.read_block
    source.read_block = lambda start, stop, indices: asked.append((start, stop)) or read(start, stop, indices)
    starts = np.arange(0, 49_000, 100)
    for positions, windows in recording.iter_windows(starts, 1000, chunk=8):
        np.testing.assert_array_equal(
            windows[0], values[:, starts[positions[0]] : starts[positions[0]] + 1000]
        )
    assert asked == [(0, 49_900)]
    assert source.chunk_samples == 1000


def test_the_file_is_closed_until_samples_are_asked_for(electrode_file):
    recording = open_electrodes(electrode_file("lazy.h5"), [3, 4], TABLE)
    assert recording._source._handle._file is None
    recording.read(0, 5)
    handle = recording._source._handle._file
    recording.read(5, 9)
    assert recording._source._handle._file is handle


def write_broken(path, kind: str) -> None:
    with h5py.File(path, "w") as file:
        group = file.create_group("data" if kind != "no group" else "signals")
        group.create_dataset("electrode_0", data=np.arange(50.0))
        if kind == "unequal":
            group.create_dataset("electrode_1", data=np.arange(49.0))
        elif kind == "two-dimensional":
            group.create_dataset("electrode_1", data=np.zeros((50, 2)))
        elif kind == "scalar":
            group.create_dataset("electrode_1", data=3.0)
        elif kind == "no values":
            group.create_dataset("electrode_1", data=h5py.Empty("f4"))
        elif kind == "text":
            group.create_dataset("electrode_1", data=[b"x"] * 50)
        elif kind == "complex":
            group.create_dataset("electrode_1", data=np.zeros(50, dtype=complex))
        elif kind == "group":
            group.create_group("electrode_1")
        elif kind == "dangling link":
            group["electrode_1"] = h5py.ExternalLink("elsewhere.h5", "/data/electrode_1")


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("no group", "data/electrode_0: there is no such dataset"),
        ("missing", "data/electrode_1: there is no such dataset"),
        ("group", "data/electrode_1: there is no such dataset"),
        ("unequal", "data/electrode_1: holds 49 samples, but data/electrode_0 holds 50"),
        ("two-dimensional", "data/electrode_1: must be one-dimensional, got the shape (50, 2)"),
        ("scalar", "data/electrode_1: must be one-dimensional"),
        ("no values", "data/electrode_1: must be one-dimensional"),
        ("text", "data/electrode_1: must hold real numbers"),
        ("complex", "data/electrode_1: must hold real numbers"),
        ("dangling link", "data/electrode_1"),
    ],
)
def test_a_file_of_another_layout_is_refused_with_file_and_dataset(tmp_path, kind, said):
    write_broken(tmp_path / "sub_1_trial000.h5", kind)
    with pytest.raises(InputError) as refused:
        open_electrodes(tmp_path / "sub_1_trial000.h5", [0, 1], TABLE)
    assert said in str(refused.value)
    assert "sub_1_trial000.h5" in str(refused.value)


@pytest.mark.parametrize(
    ("indices", "said"),
    [
        ([3], "channel table has 2 rows but there are 1 channels"),
        ([3, 3], "data/electrode_3: was requested twice"),
        ([3, -1], "must not be negative"),
        ([3, 4.5], "whole number"),
        ([], "no electrodes"),
    ],
)
def test_wrong_indices_are_refused_by_name(electrode_file, indices, said):
    path = electrode_file("indexed.h5")
    with pytest.raises(InputError, match=f"indexed.h5: .*{said}"):
        open_electrodes(path, indices, TABLE)


def test_a_file_that_is_not_whole_hdf5_is_refused_by_name(tmp_path, electrode_file):
    content = electrode_file("whole.h5", compression="gzip").read_bytes()
    cases = {"cut.h5": content[: len(content) // 2], "noise.h5": b"EDF" * 100, "empty.h5": b""}
    for name, broken in cases.items():
        (tmp_path / name).write_bytes(broken)
        with pytest.raises(InputError, match=name):
            open_electrodes(tmp_path / name, [3, 4], TABLE)
    with pytest.raises(InputError, match=r"absent\.h5: there is no such file"):
        open_electrodes(tmp_path / "absent.h5", [3, 4], TABLE)
    with pytest.raises(InputError, match="is a folder"):
        open_electrodes(tmp_path, [3, 4], TABLE)


def test_a_damaged_chunk_is_refused_when_it_is_read(tmp_path, electrode_file):
    path = electrode_file("damaged.h5", compression="gzip", chunks=(1000,), fletcher32=True)
    with h5py.File(path) as file:
        place = file["data/electrode_4"].id.get_chunk_info(1).byte_offset
    content = bytearray(path.read_bytes())
    content[place + 20 : place + 60] = bytes(40)
    (tmp_path / "damaged.h5").write_bytes(content)
    recording = open_electrodes(tmp_path / "damaged.h5", [3, 4], TABLE)
    recording.read(0, 900)
    with pytest.raises(InputError, match=r"damaged\.h5: data/electrode_4: samples 0 to 3000 cannot be read"):
        recording.read(0, 3000)


def test_a_file_that_changed_under_a_travelled_recording_is_refused(tmp_path, electrode_file, signal):
    import pickle

    path = electrode_file("changing.h5")
    packed = pickle.dumps(open_electrodes(path, [3, 4], TABLE))
    path.write_bytes(electrode_file("shorter.h5", signal[:, :50]).read_bytes())
    with pytest.raises(InputError, match=r"changing\.h5: data/electrode_3: has changed"):
        pickle.loads(packed).read(0, 5)
