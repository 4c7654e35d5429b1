"""Measure how long windows take to become Laplacian spectrograms, and how much memory.

A session in the layout of BrainTreebank is written to a temporary folder. One fresh process streams
its windows through `neuroarena`; another does the same item by item. Both use one thread.

Run: python bench/bench_features.py
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

RATE_HZ = 2048
FIGURES = {
    "processor_ratio": (
        "3,500 windows x 120 electrodes to Laplacian spectrograms, times as fast as item by item",
        "",
        None,
    ),
    "streamed.peak_mb": ("peak memory of it, MB", "at most", 2_500),
    "item_by_item.peak_mb": ("peak memory item by item (200 items), MB", "", None),
    "largest_relative_difference": ("largest relative difference of the two", "at most", 1e-4),
}
RUNS = 3
MINUTES = 20
ELECTRODES = 120
WINDOWS = 3_500
ITEMS = 200
# Chunks of 32 MB are handed out again by the allocator; chunks of 256 windows are fetched from the system
# and zeroed each time: 6.6 s of the processor for reading instead of 1.9 s.
CHUNK = 32
SEED = 0
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
ONE_THREAD = dict.fromkeys(THREADS, "1")


def main() -> dict[str, Any]:
    """Run both ways and give their figures: seconds, megabytes and the ratio."""
    with tempfile.TemporaryDirectory(prefix="bench-features-") as folder:
        path = Path(folder) / "sub_1_trial000.h5"
        write_session(path)
        # Each way reads a file that the system has in memory already, so that the disk is not measured.
        streamed = in_fresh_process("streamed", path)
        single = in_fresh_process("single", path)
        difference = float(single.pop("check_difference"))
    return {
        "windows": WINDOWS,
        "electrodes": ELECTRODES,
        "streamed": streamed,
        "item_by_item": single,
        "ratio": round(single["seconds"] / streamed["seconds"], 2),
        # Time of the processor alone, which a busy machine changes less.
        "processor_ratio": round(single["processor_seconds"] / streamed["processor_seconds"], 2),
        "largest_relative_difference": difference,
    }


def names() -> list[str]:
    """Name the electrodes: ten probes of twelve contacts."""
    return [f"T{place // 12}aI{place % 12 + 1}" for place in range(ELECTRODES)]


def write_session(path: Path) -> None:
    """Write noise of 50 microvolts, one contiguous float32 dataset an electrode."""
    import h5py

    rng = np.random.default_rng(SEED)
    with h5py.File(path, "w") as file:
        group = file.create_group("data")
        for place in range(ELECTRODES):
            samples = 50 * rng.standard_normal(MINUTES * 60 * RATE_HZ, dtype=np.float32)
            group.create_dataset(f"electrode_{place}", data=samples)


def word_starts() -> np.ndarray:
    """Draw starts that lie as words do: in bouts, with overlapping windows, in a random order."""
    rng = np.random.default_rng(SEED)
    gaps_s = rng.gamma(2.0, 0.16, WINDOWS) + (rng.random(WINDOWS) < 0.01)
    ends = np.cumsum(gaps_s)
    starts = ends / ends[-1] * (MINUTES * 60 - 2) * RATE_HZ
    return rng.permutation(starts.astype(np.int64))


def in_fresh_process(way: str, path: Path) -> dict[str, Any]:
    """Run one way in a process of its own, with one thread, and give what it prints."""
    done = subprocess.run(
        [sys.executable, str(Path(__file__).resolve()), way, str(path)],
        env=os.environ | ONE_THREAD,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench_features: {way} failed:\n{done.stderr}")
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def peak_mb() -> float:
    """Give the largest resident memory of this process so far, in megabytes (10^6 bytes)."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6


def streamed(path: Path) -> dict[str, Any]:
    """Read windows in time order and turn them into features, chunk by chunk; all features are kept."""
    import scipy.fft  # noqa: F401  (so that the baseline holds every import)

    from neuroarena.features import FeatureChain, Laplacian, Spectrogram
    from neuroarena.recordings import channel_table, open_electrodes

    channels = channel_table(names())
    recording = open_electrodes(path, list(range(ELECTRODES)), channels, RATE_HZ)
    chain = FeatureChain((Laplacian(), Spectrogram()))
    baseline = peak_mb()
    begin, processor = time.perf_counter(), time.process_time()
    shape = chain.output_shape(ELECTRODES, RATE_HZ, RATE_HZ, channels)
    features = np.empty((WINDOWS, *shape), dtype=np.float32)
    reading = time.perf_counter()
    seconds_in_chain = 0.0
    for positions, windows in recording.iter_windows(word_starts(), RATE_HZ, chunk=CHUNK):
        entered = time.perf_counter()
        features[positions], _ = chain(windows, recording.channels, recording.rate_hz)
        seconds_in_chain += time.perf_counter() - entered
    end, processor = time.perf_counter(), time.process_time() - processor
    np.save(path.with_suffix(".npy"), features[:ITEMS])
    return {
        "seconds": round(end - begin, 2),
        "processor_seconds": round(processor, 2),
        "seconds_in_features": round(seconds_in_chain, 2),
        "seconds_in_reading": round(end - reading - seconds_in_chain, 2),
        "ms_per_window": round((end - begin) / WINDOWS * 1e3, 2),
        "peak_mb": round(peak_mb()),
        "baseline_mb": round(baseline),
        "increase_mb": round(peak_mb() - baseline),
        "features_mb": round(features.nbytes / 1e6),
        "shape": list(features.shape),
    }


def single(path: Path) -> dict[str, Any]:
    """Do the same an item at a time, an electrode at a time, on some items; scale the time to all."""
    import h5py

    transform, name = item_transform()
    labels = names()
    place = {label: index for index, label in enumerate(labels)}
    starts = word_starts()[:ITEMS]
    features = []
    with h5py.File(path, "r") as file:
        electrodes = [file[f"data/electrode_{index}"] for index in range(ELECTRODES)]
        begin, processor = time.perf_counter(), time.process_time()
        for start in starts:
            item = np.empty((ELECTRODES, RATE_HZ), dtype=np.float32)
            for index, electrode in enumerate(electrodes):
                item[index] = electrode[start : start + RATE_HZ]
            features.append(transform(item_laplacian(item, labels, place)))
        seconds, processor = time.perf_counter() - begin, time.process_time() - processor
    expected = np.load(path.with_suffix(".npy"))
    return {
        "items": ITEMS,
        "seconds": round(seconds * WINDOWS / ITEMS, 2),
        "processor_seconds": round(processor * WINDOWS / ITEMS, 2),
        "ms_per_window": round(seconds / ITEMS * 1e3, 2),
        "transform": name,
        "peak_mb": round(peak_mb()),
        "check_difference": float(np.abs(np.stack(features) - expected).max() / expected.max()),
    }


def item_laplacian(item: np.ndarray, labels: list[str], place: dict[str, int]) -> np.ndarray:
    """Subtract the neighbours electrode by electrode."""
    result = item.copy()
    for index, label in enumerate(labels):
        stem, number = label.rsplit("I", 1)
        around = [place.get(f"{stem}I{int(number) + step}") for step in (-1, 1)]
        neighbours = [item[other] for other in around if other is not None]
        if neighbours:
            result[index] = item[index] - np.mean(neighbours, axis=0)
    return result


def item_transform() -> tuple[Any, str]:
    """Give the spectrogram of one item by torch, or by scipy where torch is not installed."""
    kept = 38
    try:
        import torch
    except ImportError:
        return lambda item: scipy_magnitude(item)[:, :kept].transpose(0, 2, 1), "scipy"
    torch.set_num_threads(1)
    taper = torch.hann_window(512)

    def magnitude(item: np.ndarray) -> np.ndarray:
        spectrum = torch.stft(
            torch.from_numpy(item), 512, hop_length=128, window=taper, center=True, return_complex=True
        )
        result: np.ndarray = spectrum[:, :kept].abs().permute(0, 2, 1).numpy()
        return result

    return magnitude, "torch.stft"


def scipy_magnitude(item: np.ndarray) -> np.ndarray:
    """Give magnitudes (electrode, frequency, frame) by scipy."""
    import scipy.signal

    transform = scipy.signal.ShortTimeFFT(scipy.signal.windows.hann(512, sym=False), 128, RATE_HZ)
    padded = np.pad(item, ((0, 0), (256, 256)), mode="reflect")
    first, last = 2, 2 + RATE_HZ // 128 + 1
    result: np.ndarray = np.abs(transform.stft(padded, p0=first, p1=last)).astype(np.float32)
    return result


if __name__ == "__main__":
    if len(sys.argv) == 3:
        ways = {"streamed": streamed, "single": single}
        print(json.dumps(ways[sys.argv[1]](Path(sys.argv[2]))))
    else:
        print(json.dumps(main(), indent=2))
