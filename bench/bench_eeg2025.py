"""Measure how long it takes to read the windows of twenty recordings, and how much memory, against MNE-Python.

Twenty contrast change recordings in the layout of HBN-EEG (129 channels, 100 Hz, 24 trials) are written to a temporary
folder. One fresh process reads the windows of both challenges with `neuroarena`; another makes the same windows as
Epochs of a Raw that is not preloaded. Both use one thread, and both read files that the system has in memory.

Run: python bench/bench_eeg2025.py
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

FIGURES = {
    "processor_ratio": ("windows of 20 recordings, times as fast as MNE Epochs", "at least", 2.0),
    "neuroarena.peak_mb": ("peak memory, MB", "at most", 1_000),
}
RUNS = 3
RECORDINGS = 20
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")


def main() -> dict[str, Any]:
    """Run both ways and give their figures: seconds, megabytes and the ratio."""
    with tempfile.TemporaryDirectory(prefix="bench-eeg2025-") as folder:
        root = Path(folder) / "hbn"
        in_fresh_process("write", root)
        ours = in_fresh_process("ours", root)
        theirs = in_fresh_process("mne", root)
    difference = max(abs(one - two) for one, two in zip(ours.pop("sums"), theirs.pop("sums"), strict=True))
    return {
        "recordings": RECORDINGS,
        "windows": ours.pop("windows"),
        "neuroarena": ours,
        "mne_epochs": theirs,
        "ratio": round(theirs["seconds"] / ours["seconds"], 2),
        # Time of the processor alone, which a busy machine changes less.
        "processor_ratio": round(theirs["processor_seconds"] / ours["processor_seconds"], 2),
        "largest_difference_of_sums_uv": difference,
    }


def in_fresh_process(way: str, root: Path) -> dict[str, Any]:
    """Run one way in a process of its own and give what it prints."""
    command = [sys.executable, __file__, way, str(root)]
    done = subprocess.run(
        command, env={**os.environ, **ONE_THREAD}, capture_output=True, text=True, check=True
    )
    return dict(json.loads(done.stdout.splitlines()[-1]))


def write(root: Path) -> dict[str, Any]:
    """Write a release of which the first contrast change run of twenty people is kept."""
    from neuroarena.families.eeg2025.hbn.bdf_writer import write_bdf
    from neuroarena.families.eeg2025.hbn.twin_events import tell
    from neuroarena.families.eeg2025.hbn.twin_people import make_people
    from neuroarena.families.eeg2025.hbn.twin_signal import make_gains, make_signal
    from neuroarena.families.eeg2025.hbn.twin_tables import CHANNEL_NAMES, write_participants, write_sidecars

    task, folder = "contrastChangeDetection", root / "R5_L100_bdf"
    rng = np.random.default_rng(0)
    people = make_people(RECORDINGS, {}, set(), 1.0, rng)[:RECORDINGS]
    folder.mkdir(parents=True)
    states: dict[str, Any] = {person.name: _Unavailable() for person in people}
    write_participants(folder, "R5", people, states)
    for person in people:
        story = tell(task, 1, 0.0, 24, person.trait, rng)
        stem = folder / f"sub-{person.name}" / "eeg" / f"sub-{person.name}_task-{task}_run-1"
        stem.parent.mkdir(parents=True)
        signal = make_signal(person, story.duration_s, 100, [], make_gains(rng), rng)
        write_sidecars(stem, task, story, 100, samples=False)
        write_bdf(stem.with_name(f"{stem.name}_eeg.bdf"), CHANNEL_NAMES, signal, 100)
    return {}


class _Unavailable(dict):  # type: ignore[type-arg]
    """Every task but the one that is written is unavailable."""

    def __missing__(self, key: str) -> str:
        return "available" if key == "contrastChangeDetection_1" else "unavailable"


def starts_of(root: Path) -> list[tuple[Path, np.ndarray]]:
    """List the files, and the starts of the windows of both challenges in each; not timed."""
    from neuroarena import load_benchmark
    from neuroarena.families.eeg2025.hbn import HBN

    data = HBN(root)
    tables = [
        load_benchmark(f"eeg2025@as-scored/{task}", str(root), releases=["R5"]).examples
        for task in ("response-time", "externalizing")
    ]
    found = []
    for key in data.recordings["key"]:
        starts = [table.loc[table["recording"] == key, "start"].to_numpy() for table in tables]
        found.append((data.path(key), np.concatenate(starts)))
    return found


def ours(root: Path) -> dict[str, Any]:
    """Read every recording's windows with neuroarena, from a reader that has opened nothing yet."""
    listed = starts_of(root)
    from neuroarena.families.eeg2025.hbn import reader

    reader._open.cache_clear()
    data = reader.HBN(root)
    keys = dict(zip(data.recordings["path"], data.recordings["key"], strict=True))
    before = time.perf_counter(), time.process_time()
    sums, windows = [], 0
    for path, starts in listed:
        block = data.recording(keys[str(path)]).windows(starts, 200)
        sums.append(float(block[:, :, ::50].sum(dtype=np.float64)))
        windows += len(block)
    return {**_figures(before), "sums": sums, "windows": windows}


def with_mne(root: Path) -> dict[str, Any]:
    """Make Epochs of the same windows from a Raw that is not preloaded."""
    listed = starts_of(root)
    import mne

    mne.set_log_level("error")
    before = time.perf_counter(), time.process_time()
    sums = []
    for path, starts in listed:
        raw = mne.io.read_raw_bdf(path, preload=False)
        # Several windows may begin at one sample; MNE asks for events that differ.
        events = np.column_stack([starts, np.zeros_like(starts), np.arange(1, len(starts) + 1)]).astype(int)
        epochs = mne.Epochs(
            raw,
            events,
            tmin=0.0,
            tmax=1.99,
            baseline=None,
            preload=True,
            reject_by_annotation=False,
            event_repeated="error" if len(set(starts)) == len(starts) else "drop",
        )
        block = epochs.get_data(copy=False)
        missing = len(starts) - len(block)
        sums.append(float(block[:, :, ::50].sum() * 1e6) if not missing else float("nan"))
    return {**_figures(before), "sums": sums}


def _figures(before: tuple[float, float]) -> dict[str, float]:
    return {
        "seconds": round(time.perf_counter() - before[0], 3),
        "processor_seconds": round(time.process_time() - before[1], 3),
        "peak_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
    }


if __name__ == "__main__":
    if len(sys.argv) == 3:
        ways = {"write": write, "ours": ours, "mne": with_mne}
        print(json.dumps(ways[sys.argv[1]](Path(sys.argv[2]))))
    else:
        print(json.dumps(main(), indent=2))
