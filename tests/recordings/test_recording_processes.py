"""A recording travels to another process and reads there; its fingerprint follows its content."""

from __future__ import annotations

import multiprocessing
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest

from neuroarena.recordings import channel_table, from_array, from_npy, open_electrodes, open_file


@pytest.fixture(scope="module")
def files(electrode_file, brainvision, tmp_path_factory, signal, names):
    path = tmp_path_factory.mktemp("travel") / "signal.npy"
    np.save(path, signal)
    electrodes = electrode_file("travel.h5", compression="gzip")
    return {
        "array": from_array(signal, 250.0, names),
        "npy": from_npy(path, 250.0, names),
        "hdf5": open_electrodes(electrodes, [3, 4, 5, 6, 7], channel_table(names), 250.0),
        "brainvision": open_file(brainvision),
    }


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_recording_reads_the_same_in_another_process(files, method):
    before = {name: recording.windows([7, 2900], 100) for name, recording in files.items()}
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        waiting = {name: pool.submit(recording.windows, [7, 2900], 100) for name, recording in files.items()}
        for name, future in waiting.items():
            np.testing.assert_array_equal(future.result(timeout=300), before[name])
    for name, recording in files.items():
        np.testing.assert_array_equal(recording.windows([7, 2900], 100), before[name])


def test_the_child_of_a_fork_opens_the_file_for_itself(files):
    recording = files["hdf5"]
    recording.read(0, 10)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()

    def child() -> None:
        inherited = recording._source._handle._file
        samples = recording.read(5, 25)
        queue.put((recording._source._handle._file is not inherited and not inherited, samples))

    process = context.Process(target=child)
    process.start()
    is_new, samples = queue.get(timeout=300)
    process.join(300)
    assert is_new
    np.testing.assert_array_equal(samples, recording.read(5, 25))


def test_a_file_travels_by_its_path_and_not_by_its_samples(files):
    for name in ("npy", "hdf5", "brainvision"):
        files[name].read(0, 3000)
        assert len(pickle.dumps(files[name])) < 8000, name


def test_a_fingerprint_follows_content_channels_and_rate(signal, names):
    base = from_array(signal, 250.0, names)
    moved = channel_table(names, xyz=np.ones((5, 3)))
    changed = signal.copy()
    changed[4, 2999] += 1
    others = [
        from_array(changed, 250.0, names),
        from_array(signal.astype(np.float64), 250.0, names),
        from_array(signal[:, :-1], 250.0, names),
        from_array(signal, 200.0, names),
        from_array(signal, 250.0, moved),
        from_array(signal, 250.0, names[::-1]),
        base.select(names[:3]),
        base.select(names[::-1]),
    ]
    prints = [base.fingerprint(), *(other.fingerprint() for other in others)]
    assert len(set(prints)) == len(prints)
    assert from_array(np.asfortranarray(signal), 250.0, names, name="other").fingerprint() == prints[0]
    assert base.select(names).fingerprint() == prints[0]


def test_the_fingerprint_of_a_file_survives_a_journey_and_a_move(files, tmp_path):
    for name in ("npy", "hdf5", "brainvision"):
        recording = files[name]
        assert pickle.loads(pickle.dumps(recording)).fingerprint() == recording.fingerprint()
    moved = tmp_path / "renamed.h5"
    moved.write_bytes(files["hdf5"]._source.path.read_bytes())
    table = files["hdf5"].channels
    assert open_electrodes(moved, [3, 4, 5, 6, 7], table, 250.0).fingerprint() == files["hdf5"].fingerprint()
    assert open_electrodes(moved, [4, 3, 5, 6, 7], table, 250.0).fingerprint() != files["hdf5"].fingerprint()


@pytest.mark.parametrize("suffix", [".vhdr", ".eeg", ".vmrk"])
def test_the_fingerprint_of_brainvision_covers_all_three_files(brainvision, tmp_path, suffix):
    for file in brainvision.parent.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    before = open_file(tmp_path / "resting.vhdr").fingerprint()
    assert before == open_file(brainvision).fingerprint()
    spoiled = tmp_path / f"resting{suffix}"
    content = bytearray(spoiled.read_bytes())
    if suffix == ".eeg":
        content[0] ^= 1
    else:
        content += b"\n; a remark\n"
    spoiled.write_bytes(content)
    assert open_file(tmp_path / "resting.vhdr").fingerprint() != before


def test_importing_the_room_imports_neither_mne_nor_h5py():
    code = (
        "import sys, neuroarena.recordings; print([m for m in ('mne', 'h5py', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
