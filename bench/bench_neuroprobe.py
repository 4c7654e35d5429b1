"""Measure Neuroprobe: one long session against a plain loop, and a whole submission that is killed on the way.

1. One 20-minute session of 120 electrodes, 15 tasks within-session, one process: feature work and the whole
   against a loop that reads, re-references and transforms item by item for every task (timed on two tasks,
   scaled by their number of items to all fifteen).
2. 12 sessions of 120 electrodes, 15 tasks, 3 splits, two workers, killed with -9 twice and started again; it
   ends in a folder that `neuroarena check submission` accepts. Memory is PSS summed over all processes.

Run: python -m bench bench_neuroprobe
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from bench.bench_features import ONE_THREAD, item_transform, peak_mb

DECODER = "linear-laplacian-spectrogram"
FIGURES = {
    "session.feature_ratio": (
        "features of 15 tasks of one session, times as fast as item by item",
        "at least",
        8,
    ),
    "session.whole_ratio": ("the whole of it, times as fast as item by item", "at least", 5),
    "session.ours.peak_mb": ("peak memory, MB", "at most", 4_000),
    "suite.cells_a_second": ("12 sessions x 15 tasks x 3 splits, killed twice, cells per s", "", None),
    "suite.wall_seconds": ("the same, s of the clock", "", None),
    "suite.peak_pss_mb": ("memory of all its processes, MB", "", None),
    "suite.accepted": ("the submission is accepted (1 is yes)", "at least", 1),
}
RUNS = 1
LOOP_TASKS = ("onset", "volume")
ELECTRODES = 120
SESSION_MINUTES = float(os.environ.get("BENCH_SESSION_MINUTES", "20"))
SUITE_MINUTES = float(os.environ.get("BENCH_SUITE_MINUTES", "2"))
SUITE_SUBJECTS = int(os.environ.get("BENCH_SUITE_SUBJECTS", "6"))


def main() -> dict[str, Any]:
    """Give the figures of both parts."""
    with tempfile.TemporaryDirectory(prefix="bench-neuroprobe-") as folder:
        return {"session": one_session(Path(folder)), "suite": whole_suite(Path(folder))}


def one_session(folder: Path) -> dict[str, Any]:
    """Compare fifteen tasks within one session with the plain loop."""
    from neuroarena import load_dataset

    twin = folder / "session"
    load_dataset("braintreebank").simulate(
        twin, subjects=1, sessions=1, electrodes=ELECTRODES, minutes=SESSION_MINUTES
    )
    ours = _fresh("ours", twin, folder)
    loop = _fresh("loop", twin, folder)
    shutil.rmtree(twin)
    return {
        "ours": ours,
        "loop": loop,
        "feature_ratio": round(loop["feature_seconds"] / ours["feature_seconds"], 2),
        "whole_ratio": round(loop["seconds"] / ours["seconds"], 2),
        "largest_score_difference": max(
            abs(loop["scores"][task] - ours["scores"][task]) for task in LOOP_TASKS
        ),
    }


def _fresh(way: str, twin: Path, folder: Path) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.bench_neuroprobe", way, str(twin), str(folder / f"{way}-cache")]
    done = subprocess.run(command, env=os.environ | ONE_THREAD, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"bench_neuroprobe: {way} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def ours(twin: Path, cache: Path) -> dict[str, Any]:
    """Run the suite on one session in this process."""
    from neuroarena.benchmarks import load_benchmarks
    from neuroarena.evaluation import evaluate_all

    times: dict[str, float] = {}

    class Clock:
        def begin(self, stage: str, total: int | None, done: int = 0) -> None:  # noqa: ARG002
            times[f"{stage} begin"] = time.perf_counter()

        def advance(self, stage: str, count: int = 1) -> None:  # noqa: ARG002
            times[f"{stage} end"] = time.perf_counter()

        def say(self, stage: str, text: str) -> None:
            print(f"{stage}: {text}", file=sys.stderr)

    started = time.perf_counter()
    benchmarks = load_benchmarks("neuroprobe", str(twin))
    results = evaluate_all([(None, DECODER)], benchmarks, ["within-session"], cache=cache, progress=Clock())
    ended = time.perf_counter()
    return {
        "seconds": round(ended - started, 2),
        "feature_seconds": round(times["features end"] - times["features begin"], 2),
        "cells": sum(len(result.record.cells) for result in results),
        "items": int(sum(len(each.examples) for each in benchmarks)),
        "peak_mb": round(peak_mb()),
        "scores": {each.record.benchmark.name.partition("/")[2]: each.score for each in results},
    }


def loop(twin: Path, _: Path) -> dict[str, Any]:
    """Do two tasks as a plain script would, and scale the time to the items of all fifteen."""
    import h5py
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import StandardScaler

    from neuroarena.benchmarks import load_benchmarks

    benchmarks = {
        each.manifest.name.partition("/")[2]: each for each in load_benchmarks("neuroprobe", str(twin))
    }
    all_items = sum(len(each.examples) for each in benchmarks.values())
    transform, _ = item_transform()
    path = next(twin.glob("sub_*_trial*.h5"))
    labels = json.loads(next(twin.glob("electrode_labels/*/electrode_labels.json")).read_text())
    index_of = {label.replace("*", "").replace("#", ""): index for index, label in enumerate(labels)}
    recording = benchmarks["onset"].recording(str(benchmarks["onset"].examples["recording"].iloc[0]))
    names = list(recording.channels["name"])
    feature_seconds, fit_seconds, items, scores = 0.0, 0.0, 0, {}
    with h5py.File(path, "r") as file:
        electrodes = [file[f"data/electrode_{index_of[name]}"] for name in names]
        for task in LOOP_TASKS:
            examples = benchmarks[task].examples.set_index("id", drop=False)
            split = benchmarks[task].split("within-session")
            begin = time.perf_counter()
            rows = []
            for start in examples["start"]:
                item = np.stack([electrode[start : start + 2048] for electrode in electrodes]).astype(
                    np.float32
                )
                rows.append(transform(_laplacian(item, names)).ravel())
            features = dict(zip(examples["id"], rows, strict=True))
            feature_seconds += time.perf_counter() - begin
            begin = time.perf_counter()
            folds = []
            for fold in split.folds:
                parts = (sorted(fold.train), sorted(fold.test))
                train, test = (np.stack([features[each] for each in part]) for part in parts)
                scaler = StandardScaler().fit(train)
                targets = examples.loc[sorted(fold.train), "target"]
                model = LogisticRegression(C=1.0, tol=1e-3, max_iter=10_000).fit(
                    scaler.transform(train), targets
                )
                found = model.predict_proba(scaler.transform(test))[:, 1]
                folds.append(roc_auc_score(examples.loc[sorted(fold.test), "target"], found))
            fit_seconds += time.perf_counter() - begin
            scores[task] = float(np.mean(folds))
            items += len(examples)
    scale = all_items / items
    return {
        "seconds": round((feature_seconds + fit_seconds) * scale, 2),
        "feature_seconds": round(feature_seconds * scale, 2),
        "measured_items": items,
        "scaled_to_items": int(all_items),
        "peak_mb": round(peak_mb()),
        "scores": scores,
    }


def _laplacian(item: np.ndarray, names: list[str]) -> np.ndarray:
    """Subtract the neighbours electrode by electrode."""
    place = {name: index for index, name in enumerate(names)}
    result = item.copy()
    for index, name in enumerate(names):
        stem = name.rstrip("0123456789")
        number = int(name[len(stem) :])
        around = [place.get(f"{stem}{number + step}") for step in (-1, 1)]
        neighbours = [item[other] for other in around if other is not None]
        if neighbours:
            result[index] = item[index] - np.mean(neighbours, axis=0)
    return result


def whole_suite(folder: Path) -> dict[str, Any]:
    """Run the whole benchmark, killed twice, into a submission."""
    from neuroarena import load_dataset

    twin = folder / "suite"
    load_dataset("braintreebank").simulate(
        twin, subjects=SUITE_SUBJECTS, electrodes=ELECTRODES, minutes=SUITE_MINUTES
    )
    command = [
        "run",
        "neuroprobe",
        "--data",
        str(twin),
        "--decoder",
        DECODER,
        "--out",
        str(folder / "results"),
    ]
    for split in ("within-session", "cross-session", "cross-subject"):
        command += ["--split", split]
    command += ["--cache", str(folder / "cache"), "--workers", "2"]
    memory = _Memory()
    seconds, kills = 0.0, 0
    while True:
        begin = time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "neuroarena", *command], stdout=subprocess.DEVNULL)
        memory.watch(process.pid)
        wanted = (60, 240)[kills] if kills < 2 else None
        while process.poll() is None:
            time.sleep(0.5)
            if wanted is not None and _cells(folder / "cache") >= wanted:
                process.send_signal(signal.SIGKILL)
                kills += 1
                break
        code = process.wait()
        seconds += time.perf_counter() - begin
        if code == 0:
            break
        if code != -signal.SIGKILL:
            raise SystemExit(f"bench_neuroprobe: the run left with {code}")
    return {
        "sessions": 2 * SUITE_SUBJECTS,
        "minutes_a_session": SUITE_MINUTES,
        "kills": kills,
        "wall_seconds": round(seconds, 1),
        "cells": _cells(folder / "cache"),
        "cells_a_second": round(_cells(folder / "cache") / seconds, 2),
        "peak_pss_mb": round(memory.peak_mb),
        **_submit(folder),
    }


def _submit(folder: Path) -> dict[str, Any]:
    words = ["export", "neuroprobe", str(folder / "results"), "--author", "Ada Lovelace", "--allow-simulated"]
    _neuroarena(*words, "--out", str(folder / "submission"))
    (made,) = (folder / "submission").iterdir()
    verdict = _neuroarena("check", "submission", "neuroprobe", str(made), "--json")
    return {"files": sum(path.is_file() for path in made.rglob("*")), "accepted": verdict.returncode == 0}


def _neuroarena(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "neuroarena", *words], capture_output=True, text=True, check=True
    )


def _cells(cache: Path) -> int:
    return sum(1 for _ in (cache / "cells").rglob("*.cell")) if (cache / "cells").exists() else 0


class _Memory:
    """The largest proportional set size of a process and its descendants, sampled every half second."""

    def __init__(self) -> None:
        self.peak_mb = 0.0

    def watch(self, pid: int) -> None:
        threading.Thread(target=self._sample, args=(pid,), daemon=True).start()

    def _sample(self, pid: int) -> None:
        while Path(f"/proc/{pid}").exists():
            self.peak_mb = max(self.peak_mb, sum(map(_pss_mb, _family(pid))))
            time.sleep(0.5)


def _family(pid: int) -> list[int]:
    """List a process and its descendants."""
    found, waiting = [], [pid]
    while waiting:
        current = waiting.pop()
        found.append(current)
        try:
            children = Path(f"/proc/{current}/task/{current}/children").read_text().split()
        except OSError:
            continue
        waiting += [int(child) for child in children]
    return found


def _pss_mb(pid: int) -> float:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:")) * 1024 / 1e6


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps({"ours": ours, "loop": loop}[sys.argv[1]](Path(sys.argv[2]), Path(sys.argv[3]))))
    else:
        print(json.dumps(main(), indent=2))
