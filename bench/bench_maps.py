"""Measure maps: a grid of electrodes x time bins x folds with 1,000 permutations, against a loop of scikit-learn.

The grid is 120 electrodes x 14 bins x 2 folds x 3,500 examples of 190 features. A fresh process on one thread decodes
a sample of electrodes through the job that `neuroarena map` runs, from the array of samples to the entry of the
cache; each electrode is treated alike, so that processor time is scaled by their number. The loop of scikit-learn
(scaler, logistic regression, AUROC; features by scipy) is measured on a few fits and scaled by the number of fits.

Run: python -m bench bench_maps
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

ELECTRODES, BINS, FOLDS, EXAMPLES, DRAWS = 120, 14, 2, 3_500, 1_000
SAMPLE = 2
FITS = 6
RATE_HZ, WINDOW, STRIDE = 2048.0, 512, 256
SPAN = WINDOW + (BINS - 1) * STRIDE
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
FIGURES = {
    "times_as_fast_with_null": (
        "120 electrodes x 14 bins x 2 folds x 3,500 examples with 1,000 permutations, times as fast as a loop of "
        "scikit-learn (processor time, both measured on a sample and scaled)",
        "at least",
        100,
    ),
    "times_as_fast_observed_with_features": (
        "the map without a null, features included, times as fast",
        "at least",
        3,
    ),
    "peak_mb": ("peak memory of a worker, MB", "at most", 1_000),
    "largest_auroc_difference": (
        "largest difference from scikit-learn's AUROC (logistic regression, tol 1e-8; 1,750 judged examples)",
        "at most",
        1e-4,
    ),
    "map_with_null_processor_s": ("processor time of that map, s", "", None),
    "observed_map_processor_s": ("without its null, s", "", None),
    "scikit_learn_with_null_h": ("the loop of scikit-learn, h", "", None),
}
MUST = (
    *("times_as_fast_with_null", "times_as_fast_observed_with_features"),
    *("peak_mb", "largest_auroc_difference"),
)
RUNS = 3


def main() -> dict[str, Any]:
    """Run both ways and return their figures: processor seconds for the whole grid, ratios and megabytes."""
    whole = in_fresh_process("ours", str(DRAWS))
    alone = in_fresh_process("ours", "0")
    peer = in_fresh_process("peer")
    fits = ELECTRODES * BINS * FOLDS
    peer_alone = fits * peer["fit_s"] + ELECTRODES * BINS * peer["features_s"]
    peer_whole = fits * (DRAWS + 1) * peer["fit_s"] + ELECTRODES * BINS * peer["features_s"]
    return {
        "grid": f"{ELECTRODES} electrodes x {BINS} bins x {FOLDS} folds x {EXAMPLES} examples",
        "permutations": DRAWS,
        "map_with_null_processor_s": round(whole["processor_s"], 1),
        "observed_map_processor_s": round(alone["processor_s"], 1),
        "scikit_learn_ms_per_fit": round(1e3 * peer["fit_s"], 2),
        "scikit_learn_with_null_h": round(peer_whole / 3600, 1),
        "times_as_fast_with_null": round(peer_whole / whole["processor_s"]),
        "times_as_fast_observed_with_features": round(peer_alone / alone["processor_s"], 1),
        "peak_mb": whole["peak_mb"],
        "largest_auroc_difference": peer["difference"],
    }


def in_fresh_process(*words: str) -> dict[str, Any]:
    """Run one way in a process of its own, on one thread."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.bench_maps", *words],
        env={**os.environ, **dict.fromkeys(THREADS, "1")},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def simulate(electrodes: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw signals (electrodes, time) whose power follows labels a little, and labels with a time of 15 items."""
    rng = np.random.default_rng(0)
    state = np.zeros(EXAMPLES)
    for item in range(1, EXAMPLES):
        state[item] = state[item - 1] * np.exp(-1 / 15) + rng.standard_normal()
    labels = (state > np.median(state)).astype(np.int64)
    signals = rng.standard_normal((electrodes, EXAMPLES * SPAN), dtype=np.float32)
    gain = np.repeat(1 + 0.05 * labels, SPAN).astype(np.float32)
    signals *= gain
    return signals, labels


def ours(draws: int) -> dict[str, Any]:
    """Decode a sample of electrodes as a job of a map, and scale its processor time to all of them."""
    from neuroarena.features import FeatureChain
    from neuroarena.maps.bin_features import BinFeatures
    from neuroarena.maps.decoding import FoldLayout
    from neuroarena.maps.job import ItemSource, MapJob
    from neuroarena.recordings import from_array

    signals, labels = simulate(SAMPLE)
    names = tuple(f"E{place}" for place in range(SAMPLE))
    recording = from_array(signals, RATE_HZ, channels=list(names))
    halves = np.arange(EXAMPLES) < EXAMPLES // 2
    layout, order = FoldLayout.arranged(
        np.stack([~halves, halves]), np.stack([halves, ~halves]), halves.astype(np.int64)
    )
    starts = SPAN * order
    shifts = np.random.default_rng(1).integers(0, EXAMPLES // 2, (draws, FOLDS))
    features = BinFeatures("spectrogram", RATE_HZ, WINDOW)
    features(np.zeros((1, WINDOW), dtype=np.float32))  # the matrix is made once for all electrodes
    job = MapJob(
        label="bench",
        key="0" * 64,
        sources=(ItemSource(recording, np.arange(EXAMPLES), starts),),
        electrodes=names,
        length=SPAN,
        preparation=FeatureChain(),
        bins=tuple(STRIDE * place for place in range(BINS)),
        features=features,
        layout=layout,
        labels={"task": labels[order]},
        shifts=shifts,
    )
    # The samples of a real map are in a file; here they lie in memory and are no part of what a map needs.
    held_mb = signals.nbytes / 1e6
    with tempfile.TemporaryDirectory(prefix="bench-maps-") as folder:
        started = time.process_time()
        job.run(Path(folder))
        seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3 - held_mb
    return {"processor_s": seconds * ELECTRODES / SAMPLE, "peak_mb": round(peak)}


def peer() -> dict[str, Any]:
    """Time a few fits of scikit-learn, and the features of one bin, and compare the areas with ours."""
    import warnings

    from scipy.signal import stft
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import StandardScaler

    from neuroarena.maps.bin_features import BinFeatures
    from neuroarena.maps.decoding import CellDecoder, FoldLayout

    signals, labels = simulate(1)
    windows = signals[0].reshape(EXAMPLES, SPAN)
    halves = np.arange(EXAMPLES) < EXAMPLES // 2
    layout, order = FoldLayout.arranged(
        np.stack([~halves, halves]), np.stack([halves, ~halves]), halves.astype(np.int64)
    )
    fit_s, features_s, difference = 0.0, 0.0, 0.0
    for place in range(FITS // FOLDS):
        segment = windows[:, STRIDE * place : STRIDE * place + WINDOW]
        started = time.process_time()
        padded = np.pad(segment, ((0, 0), (WINDOW // 2, WINDOW // 2)), mode="reflect")
        _, _, spectrum = stft(
            padded, RATE_HZ, nperseg=WINDOW, noverlap=WINDOW * 3 // 4, boundary=None, padded=False
        )
        values = np.abs(spectrum[:, :38]).transpose(0, 2, 1).reshape(EXAMPLES, -1)
        features_s += time.process_time() - started
        ours = BinFeatures("spectrogram", RATE_HZ, WINDOW)(np.ascontiguousarray(segment))[order]
        decoder = CellDecoder(ours, layout)
        areas = decoder.rank(decoder.score(labels[order]), labels[order])
        for fold, train in enumerate((~halves, halves)):
            started = time.process_time()
            scaler = StandardScaler().fit(values[train])
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = LogisticRegression(tol=1e-8, max_iter=10_000)
                model.fit(scaler.transform(values[train]), labels[train])
            scores = model.decision_function(scaler.transform(values[~train]))
            area = roc_auc_score(labels[~train], scores)
            fit_s += time.process_time() - started
            difference = max(difference, abs(area - areas[fold]))
    return {
        "fit_s": fit_s / FITS,
        "features_s": features_s * FOLDS / FITS,
        "difference": round(difference, 7),
    }


if __name__ == "__main__":
    print(json.dumps(ours(int(sys.argv[2])) if sys.argv[1] == "ours" else peer()))
