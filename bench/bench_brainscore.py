"""Measure cross-validated PLS and ridge against scikit-learn, and the internal consistency against bare NumPy.

Each way runs in a fresh process with one thread. PLS: 3,200 stimuli x 1,000 features x 168 neuroids, 25 components,
10 splits; the correlations of both ways are compared. Internal consistency: 3,200 stimuli x 46 repetitions x 168
neuroids, with the two bare ways a person would write: a mean of each half, or one matrix product for all halves.
Ridge with 99 penalties: 3,200 stimuli x 12,000 features x 168 neuroids; ten splits by us, and one by scikit-learn,
whose splits share nothing and cost the same, times ten.

Run: python -m bench bench_brainscore
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

STIMULI, FEATURES, NEUROIDS, REPETITIONS = 3_200, 1_000, 168, 46
WIDE_FEATURES = 12_000
COMPONENTS, SPLITS = 25, 10
SEED = 0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")
FIGURES = {
    "pls_processor_ratio": (
        "PLS, 3,200 x 1,000 x 168, 10 splits, times as fast as scikit-learn",
        "at least",
        10,
    ),
    "pls_largest_difference_of_r": ("largest difference of r", "at most", 1e-6),
    "pls.peak_mb": ("peak memory of it, MB", "at most", 1_000),
    "ridgecv_processor_ratio": ("ridge with 99 penalties, times as fast as scikit-learn", "at least", 3),
    "ridgecv_largest_difference": ("largest difference of its predictions", "at most", 1e-6),
    "ridgecv.copies_of_the_features": ("peak memory of it, copies of the features", "at most", 3),
    "ceiling.processor_ratio_to_mean_of_halves": (
        "internal consistency of 3,200 x 46 x 168, against a bare NumPy mean of each half",
        "at most",
        3,
    ),
    "ceiling.processor_ratio_to_matrix_product": (
        "the same, against one NumPy matrix product for all halves",
        "at most",
        3,
    ),
}
RUNS = 1


def main() -> dict[str, Any]:
    """Run all ways and give their figures: seconds, megabytes, ratios and the largest difference."""
    with tempfile.TemporaryDirectory(prefix="bench-brainscore-") as folder:
        ours = in_fresh_process("pls", Path(folder))
        theirs = in_fresh_process("pls_sklearn", Path(folder))
        r = [np.load(Path(folder) / f"{way}.npy") for way in ("pls", "pls_sklearn")]
        ceiling = in_fresh_process("ceiling", Path(folder))
        ridge = in_fresh_process("ridgecv", Path(folder))
        ridge_theirs = in_fresh_process("ridgecv_sklearn", Path(folder))
        predicted = [np.load(Path(folder) / f"{way}.npy") for way in ("ridgecv", "ridgecv_sklearn")]
    return {
        "pls": ours,
        "pls_sklearn": theirs,
        "pls_ratio": round(theirs["seconds"] / ours["seconds"], 1),
        # Time of the processor alone, which a busy machine changes less.
        "pls_processor_ratio": round(theirs["processor_seconds"] / ours["processor_seconds"], 1),
        "pls_largest_difference_of_r": float(np.abs(r[0] - r[1]).max()),
        "ceiling": ceiling,
        "ridgecv": ridge,
        "ridgecv_sklearn": ridge_theirs,
        "ridgecv_processor_ratio": round(ridge_theirs["processor_seconds"] / ridge["processor_seconds"], 1),
        "ridgecv_largest_difference": float(np.abs(predicted[0] - predicted[1]).max()),
    }


def in_fresh_process(way: str, folder: Path) -> dict[str, Any]:
    """Run one way in a process of its own, with one thread, and give what it prints."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), way, str(folder)],
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench_brainscore: {way} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def peak_mb() -> float:
    """Give the largest resident memory of this process so far, in megabytes (10^6 bytes)."""
    # Not getrusage: its peak is inherited from the process that started this one.
    with open("/proc/self/status", encoding="ascii") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024 / 1e6


def recording(n_features: int = FEATURES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw features with a falling spectrum, responses that follow them with noise, and eight objects."""
    rng = np.random.default_rng(SEED)
    latent = rng.normal(size=(STIMULI, 200)) * np.arange(1, 201) ** -0.5
    features = latent @ rng.normal(size=(200, n_features))
    for start in range(0, n_features, FEATURES):
        # In blocks: the noise of all features at once would be the peak that is measured.
        features[:, start : start + FEATURES] += 0.3 * rng.normal(size=(STIMULI, FEATURES))
    signal = latent @ rng.normal(size=(200, NEUROIDS))
    return features, signal + 2 * rng.normal(size=signal.shape), np.arange(STIMULI) % 8


def labelled(values: np.ndarray, objects: np.ndarray) -> Any:
    """Label responses as a metric takes them."""
    import xarray as xr

    rows = {
        "stimulus_id": ("presentation", np.array([f"stimulus{at:05d}" for at in range(len(values))])),
        "object_name": ("presentation", np.array([f"object{at}" for at in objects])),
    }
    return xr.DataArray(values, dims=("presentation", "neuroid"), coords=rows)


def timed(work: Callable[[], Any], repeat: int = 3) -> tuple[float, float, Any]:
    """Give the least seconds of a few runs, the least of the processor, and the result of the last."""
    seconds, processor, result = float("inf"), float("inf"), None
    for _ in range(repeat):
        begin, busy = time.perf_counter(), time.process_time()
        result = work()
        seconds = min(seconds, time.perf_counter() - begin)
        processor = min(processor, time.process_time() - busy)
    return seconds, processor, result


def pls(folder: Path) -> dict[str, Any]:
    """Score by the metric `pls`, labels, alignment and splits included."""
    from neuroarena.families.brainscore.metrics import METRIC_FACTORIES

    features, responses, objects = recording()
    source, target = labelled(features, objects), labelled(responses, objects)
    metric = METRIC_FACTORIES["pls"]()
    metric(
        source.isel(presentation=slice(400)), target.isel(presentation=slice(400))
    )  # imports are not measured
    before = peak_mb()
    seconds, processor, score = timed(lambda: metric(source, target))
    np.save(folder / "pls.npy", score.raw.values)
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "peak_mb": round(peak_mb()),
        "increase_mb": round(peak_mb() - before),
        "score": float(score),
    }


def pls_sklearn(folder: Path) -> dict[str, Any]:
    """Fit scikit-learn's PLSRegression on the same splits; only its fits and predictions are timed."""
    from sklearn.cross_decomposition import PLSRegression
    from sklearn.model_selection import StratifiedShuffleSplit

    features, responses, objects = recording()
    splitter = StratifiedShuffleSplit(SPLITS, train_size=0.9, random_state=1)
    names = [f"object{at}" for at in objects]
    seconds, processor, r = 0.0, 0.0, []
    warnings.simplefilter("ignore")  # a component that takes all 500 rounds is said to
    for train, test in splitter.split(features, names):
        begin, busy = time.perf_counter(), time.process_time()
        fitted = PLSRegression(COMPONENTS, scale=False).fit(features[train], responses[train])
        predicted = fitted.predict(features[test])
        seconds += time.perf_counter() - begin
        processor += time.process_time() - busy
        a, b = predicted - predicted.mean(0), responses[test] - responses[test].mean(0)
        r.append((a * b).sum(0) / np.sqrt((a * a).sum(0) * (b * b).sum(0)))
    np.save(folder / "pls_sklearn.npy", np.array(r))
    return {
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor, 2),
        "peak_mb": round(peak_mb()),
    }


def ridge_splits() -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]:
    """Give wide features, responses and the ten splits of both ways."""
    from sklearn.model_selection import ShuffleSplit

    features, responses, _ = recording(WIDE_FEATURES)
    return features, responses, list(ShuffleSplit(SPLITS, train_size=0.9, random_state=1).split(features))


def ridgecv(folder: Path) -> dict[str, Any]:
    """Predict the test parts of ten splits by our RidgeCV; the peak is told in copies of the features."""
    from neuroarena.families.brainscore.metrics.regressions import RidgeCV

    features, responses, splits = ridge_splits()
    list(RidgeCV().cross_predict(features[:100], responses[:100], [(np.arange(90), np.arange(90, 100))]))
    regression = RidgeCV()
    _, processor, predicted = timed(lambda: list(regression.cross_predict(features, responses, splits)), 1)
    np.save(folder / "ridgecv.npy", predicted[0])
    return {
        "processor_seconds": round(processor, 1),
        "peak_mb": round(peak_mb()),
        "copies_of_the_features": round(peak_mb() * 1e6 / features.nbytes, 2),
        "penalties": regression.chosen,
    }


def ridgecv_sklearn(folder: Path) -> dict[str, Any]:
    """Fit scikit-learn's RidgeCV on the first split, and give ten times its time."""
    from sklearn.linear_model import RidgeCV

    from neuroarena.families.brainscore.metrics.regressions import ridge_alphas

    features, responses, splits = ridge_splits()
    train, test = splits[0]

    def work() -> np.ndarray:
        fitted = RidgeCV(alphas=ridge_alphas()).fit(features[train], responses[train])
        return np.asarray(fitted.predict(features[test]))

    _, processor, predicted = timed(work, 1)
    np.save(folder / "ridgecv_sklearn.npy", predicted)
    return {"processor_seconds": round(SPLITS * processor, 1), "peak_mb": round(peak_mb())}


def ceiling(folder: Path) -> dict[str, Any]:  # noqa: ARG001 - every way takes the folder
    """Measure the internal consistency and the two bare ways on the same trials."""
    import xarray as xr

    from neuroarena.families.brainscore.ceilings import InternalConsistency

    rng = np.random.default_rng(SEED)
    trials = rng.normal(size=(REPETITIONS, STIMULI, NEUROIDS))
    trials += rng.normal(size=(STIMULI, NEUROIDS))
    rows = {
        "stimulus_id": ("presentation", np.tile([f"stimulus{at:05d}" for at in range(STIMULI)], REPETITIONS)),
        "repetition": ("presentation", np.repeat(np.arange(REPETITIONS), STIMULI)),
    }
    assembly = xr.DataArray(trials.reshape(-1, NEUROIDS), dims=("presentation", "neuroid"), coords=rows)
    InternalConsistency()(assembly.isel(presentation=slice(4 * STIMULI)))  # imports are not measured
    seconds, processor, score = timed(lambda: InternalConsistency()(assembly))
    plain_seconds, plain_processor, plain = timed(lambda: plain_halves(trials))
    product_seconds, product_processor, product = timed(lambda: halves_by_product(trials))
    return {
        "seconds": round(seconds, 2),
        "bare_mean_of_halves_seconds": round(plain_seconds, 2),
        "bare_matrix_product_seconds": round(product_seconds, 2),
        "ratio_to_mean_of_halves": round(seconds / plain_seconds, 2),
        "ratio_to_matrix_product": round(seconds / product_seconds, 2),
        "processor_ratio_to_mean_of_halves": round(processor / plain_processor, 2),
        "processor_ratio_to_matrix_product": round(processor / product_processor, 2),
        "largest_difference": float(max(abs(float(score) - plain), abs(float(score) - product))),
    }


def divisions() -> list[np.ndarray]:
    """Give the repetitions of the first half, split by split."""
    from sklearn.model_selection import ShuffleSplit

    splitter = ShuffleSplit(SPLITS, train_size=0.5, random_state=1)
    return [first for first, _ in splitter.split(np.arange(REPETITIONS))]


def corrected(a: np.ndarray, b: np.ndarray) -> float:
    """Give the median over columns of the corrected correlation."""
    a, b = a - a.mean(0), b - b.mean(0)
    r = (a * b).sum(0) / np.sqrt((a * a).sum(0) * (b * b).sum(0))
    return float(np.median(2 * r / (1 + r)))


def plain_halves(trials: np.ndarray) -> float:
    """Average each half of each split."""
    values = []
    for first in divisions():
        second = np.setdiff1d(np.arange(REPETITIONS), first)
        values.append(corrected(trials[first].mean(0), trials[second].mean(0)))
    return float(np.mean(values))


def halves_by_product(trials: np.ndarray) -> float:
    """Sum all first halves in one matrix product; the second halves are what is left of the total."""
    chosen = np.zeros((SPLITS, REPETITIONS))
    for row, first in zip(chosen, divisions(), strict=True):
        row[first] = 1
    sums = (chosen @ trials.reshape(REPETITIONS, -1)).reshape(SPLITS, STIMULI, NEUROIDS)
    total = trials.sum(0)
    half = REPETITIONS // 2
    return float(np.mean([corrected(one / half, (total - one) / (REPETITIONS - half)) for one in sums]))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        ways: dict[str, Callable[[Path], dict[str, Any]]] = {
            "pls": pls,
            "pls_sklearn": pls_sklearn,
            "ceiling": ceiling,
            "ridgecv": ridgecv,
            "ridgecv_sklearn": ridgecv_sklearn,
        }
        print(json.dumps(ways[sys.argv[1]](Path(sys.argv[2]))))
    else:
        print(json.dumps(main(), indent=2))
