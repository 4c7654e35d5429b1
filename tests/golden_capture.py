"""What every benchmark says on its tiny twin: rules, tables, splits and scores, as data that can be compared.

``tools/capture_golden.py`` writes it to ``tests/golden/benchmarks.json``; ``test_golden_benchmarks.py`` compares. Only
names that outlive a move of modules are imported; where Brain-Score lives is said once, in :data:`BRAINSCORE`.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib
import importlib.metadata
import json
import math
import platform
import tempfile
import warnings
import zipfile
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_info
from typer.testing import CliRunner

from neuroarena import evaluate, load_dataset
from neuroarena.benchmarks import FAMILIES, BenchmarkName, list_benchmarks
from neuroarena.cli.app import app
from shared_data import SHARED
from track_twins import bound, dataset_of, twin

BRAINSCORE = "neuroarena.families.brainscore"
GOLDEN = Path(__file__).parent / "golden" / "benchmarks.json"
# Scores are sums of doubles, whose last digits depend on the order in which BLAS and its threads add; two
# threads instead of one move none by 1e-9, and the smallest change of a rule that matters is far above 1e-9.
TOLERANCE = 1e-9
# The activations of this model are single precision, and so are the last digits of what follows from them.
SINGLE_PRECISION, SINGLE_TOLERANCE = "tiny-cnn", 1e-5
COLUMNS = ("id", "start", "stop", "target", "unit", "cluster", "subject", "session", "recording")
LIBRARIES = ("numpy", "scipy", "pandas", "h5py", "h5netcdf", "xarray", "edfio", "pybv", "pillow")

# Floors and classical decoders that are cheap on a twin, by patterns of full names of which the first that fits counts.
# A benchmark that none fits is captured without scores.
DECODERS = {
    "bci@2026/commands": ("dummy", "csp-lda", "filterbank-lda"),
    "bci@2026/ssvep-exo": ("dummy", "cca", "riemann-lr"),
    "img@2026/*": ("dummy", "chance", "ridge-embedding"),
    "sleep@2026/muse": ("sleep-median", "bandpower-stager"),
    "sleep@2026/sleep-edf": ("dummy", "sleep-chance", "sleep-median", "bandpower-stager", "shipped-sleep"),
    "emg@2026/*": ("most-frequent-key", "ctc-linear", "shipped-emg"),
    "transfer@2026/sleep": ("dummy", "encoder-handcrafted"),
    "transfer@2026/*": ("dummy", "encoder-handcrafted", "encoder-random"),
    "eeg2025@as-scored/*": ("dummy", "bandpower-ridge"),
    "eeg2025@as-described/externalizing": ("dummy", "bandpower-ridge", "demographics-ridge"),
    "eeg2025@*/response-time": ("dummy", "bandpower-ridge"),
    "neuroprobe@2025.10/onset": ("dummy", "linear-laplacian-spectrogram"),
    "neuroprobe@2025.10/*": ("dummy", "linear"),
    "neuroprobe@2025.09/onset": ("chance", "linear-laplacian-spectrogram"),
    "neuroprobe@2025.07/onset": ("dummy", "linear-v1"),
    "neuroprobe@2025.07/speaker": ("dummy", "linear"),
    "neuroprobe@strict/onset": ("dummy", "linear-stft"),
}
QUICK_TWINS = ("bci_commands", "ssvep_exo", "things_eeg2", "emg2qwerty")
QUICK_TASKS = ("neuroprobe@2025.10/onset", "neuroprobe@2025.10/speech")
BRAINSCORE_SIZE = {"images": 12, "repetitions": 4, "neuroids": 6}
# Benchmark prefix -> the model that the twin serves most cheaply; "pixels" has no receptive field where gratings are.
MODELS = {
    "FreemanZiemba2013.V1": ("pixels", "tiny-cnn"),
    "FreemanZiemba2013.V2": ("pixels",),
    "MajajHong2015": ("pixels",),
    "Marques2020": ("tiny-cnn",),
    "Kar2019": ("with time",),
}
REAL = {
    "Haxby2001-slice": SHARED / "data" / "real" / "haxby_fmri",
    "Kriegeskorte2008.IT-rdm": SHARED / "data" / "real" / "rsa_92images",
}
# A code submission whose answers are the means of its windows.
SUBMISSION = """
import torch

class Mean(torch.nn.Module):
    def forward(self, X):
        return X.double().mean(dim=(1, 2))[:, None]

class Submission:
    def __init__(self, SFREQ, DEVICE):
        pass

    def get_model_challenge_1(self):
        return Mean()

    def get_model_challenge_2(self):
        return Mean()
"""


def sha256(value: Any) -> str:
    """Return the hash of a value's JSON with sorted keys; floats are written so that they read back exactly."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, allow_nan=False).encode()).hexdigest()


def capture_machine() -> dict[str, Any]:
    """Return what the bytes of a twin depend on besides our code: libraries, and how this machine does arithmetic."""
    numbers = np.random.default_rng(0).normal(size=4096)
    square = numbers.reshape(64, 64)
    done = (np.sin(numbers), np.exp(numbers), np.log(np.abs(numbers)), np.fft.rfft(numbers), square @ square)
    return {
        "machine": platform.machine(),
        # Products of matrices, of which some twins are made, differ in their last bits between numbers of threads.
        "blas_threads": max(
            (pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"), default=1
        ),
        "arithmetic": hashlib.sha256(b"".join(each.tobytes() for each in done)).hexdigest(),
        "libraries": {name: importlib.metadata.version(name) for name in LIBRARIES},
    }


def capture_manifests(names: list[str]) -> dict[str, str]:
    """Return the hash of the rules of each full name, as its family states them without data."""
    found = {}
    for name in names:
        parsed = BenchmarkName.parse(name)
        found[name] = FAMILIES.get(parsed.family).manifest(parsed.task, parsed.definition).hash
    return found


def capture_files(folder: Path) -> dict[str, list[Any]]:
    """Return the number of files of each kind in a folder, and one hash over their paths and contents.

    All bytes count, HDF5 included: our writers keep no times in it, so a twin written twice is the same file twice.
    """
    kinds: dict[str, list[tuple[str, str]]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            with path.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
            kinds.setdefault(path.suffix or path.name, []).append(
                (path.relative_to(folder).as_posix(), content)
            )
    return {kind: [len(files), sha256(files)] for kind, files in sorted(kinds.items())}


def decoders_for(name: str) -> tuple[str, ...]:
    """Return the decoders that a benchmark, by its full name, is scored with."""
    return next((decoders for pattern, decoders in DECODERS.items() if fnmatch(name, pattern)), ())


def capture_benchmark(name: str) -> dict[str, Any]:
    """Return what a benchmark says on its tiny twin: bound rules, examples, splits, and scores of the default split."""
    benchmark = bound(name)
    examples = benchmark.examples
    return {
        "manifest": benchmark.manifest.hash,
        "examples": [len(examples), sha256({column: examples[column].tolist() for column in COLUMNS})],
        "splits": {split: benchmark.split(split).hash for split in benchmark.splits},
        "scores": {decoder: capture_score(decoder, benchmark) for decoder in decoders_for(name)},
    }


def capture_score(decoder: str, benchmark: Any) -> dict[str, Any]:
    """Return the score, every declared metric and the unit scores of a decoder on the default split, seed 0."""
    with tempfile.TemporaryDirectory(prefix="golden-") as cache, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = evaluate(decoder, benchmark, seed=0, cache=cache)
    assert result.complete, f"{benchmark.name}, {decoder}: {result.record.cells[0].error}"
    return {
        "score": result.score,
        "split": result.record.split.name,
        "metrics": result.unit_scores.values(),
        "units": table_as_data(result.unit_scores.table),
    }


def table_as_data(table: pd.DataFrame) -> dict[str, list[Any]]:
    """Return a table as one list per column; NaN is None."""
    return {
        column: [None if value != value else value for value in table[column].tolist()] for column in table
    }


def capture_code_submission() -> dict[str, Any]:
    """Return the scores that ``neuroarena score eeg2025`` prints for a small code submission."""
    with tempfile.TemporaryDirectory(prefix="golden-") as folder:
        file = Path(folder) / "submission.zip"
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("submission.py", SUBMISSION)
        words = ["score", "eeg2025", str(file), "--data", str(twin("hbn")), "--fast", "--json"]
        ran = CliRunner().invoke(app, words, catch_exceptions=False)
    said = json.loads(ran.stdout)
    return {name: said[name] for name in ("overall", "challenge1", "challenge2")}


@functools.cache
def brainscore_twin() -> Path:
    """Return the folder of a tiny twin of the recordings of vision, written once per process."""
    folder = tempfile.TemporaryDirectory(prefix="golden-")
    atexit.register(folder.cleanup)
    place = Path(folder.name) / "brainscore_vision"
    load_dataset("brainscore_vision").simulate(place, **BRAINSCORE_SIZE)
    return place


def brainscore_names() -> Iterator[tuple[str, str]]:
    """Iterate over (benchmark, model) that the twin of vision serves."""
    for name in importlib.import_module(BRAINSCORE).benchmark_registry.names():
        for prefix, models in MODELS.items():
            if name.startswith(prefix):
                yield from ((name, model) for model in models)


def capture_comparison(name: str, model: str, data: Path) -> dict[str, Any]:
    """Return the score of a model of vision: value, ceiling, raw, formula, and unit scores where there are neuroids."""
    house = importlib.import_module(BRAINSCORE)
    benchmark = house.load_benchmark(name, data=data)
    if model == "with time":
        made = timed_model(data)
    elif model == "drawn":
        made = category_model(benchmark.categories)
    else:
        made = house.load_model(model, cache=False)
    score = house.score(made, benchmark)
    found = {
        "score": float(score),
        "ceiling": float(score.ceiling),
        "raw": float(score.raw),
        "formula": score.formula,
    }
    if "n_neuroids_used" in score.attrs and "n_splits" in score.attrs:
        units = importlib.import_module(f"{BRAINSCORE}.unit_scores").unit_scores(score, benchmark)
        found |= {"manifest": units.manifest_hash, "units": table_as_data(units.table)}
    return found


def timed_model(data: Path) -> Any:
    """Make a model whose answer to a picture changes over time: what is small on the screen is told late."""
    import xarray as xr

    house = importlib.import_module(BRAINSCORE)
    table = house.load_dataset("Kar2019", data=data).attrs["stimulus_set"].table
    late = table["s"].rank(ascending=False).to_numpy() / len(table)
    starts = np.arange(70, 250, 10)
    told = np.clip((starts[None] - 90 - 90 * late[:, None]) / 40, 0, 1)
    labels = pd.get_dummies(table["object_name"]).to_numpy(dtype=float)
    noise = np.random.default_rng(0).normal(size=(len(table), labels.shape[1], 1))
    features = xr.DataArray(
        3 * labels[:, :, None] * told[:, None, :] + 0.3 * noise,
        dims=("presentation", "neuroid", "time_bin"),
        coords={
            "stimulus_id": ("presentation", table["stimulus_id"].to_numpy()),
            "time_bin_start": ("time_bin", starts),
            "time_bin_end": ("time_bin", starts + 10),
        },
    )
    return _precomputed(features, "with time")


def category_model(categories: list[str]) -> Any:
    """Make a model with eight features of each category, drawn at random."""
    drawn = np.random.default_rng(0).normal(size=(len(categories), 8))
    return _precomputed(pd.DataFrame(drawn, index=categories), "drawn")


def _precomputed(features: Any, identifier: str) -> Any:
    models = importlib.import_module(f"{BRAINSCORE}.models")
    return models.PrecomputedFeatures(features, identifier=identifier)


def cases(names: list[str]) -> dict[str, tuple[bool, list[str]]]:
    """Sort full names of benchmarks into cases that share a twin: case -> (whether it is quick, names)."""
    found: dict[str, tuple[bool, list[str]]] = {}
    for name in names:
        dataset = dataset_of(name)
        family = BenchmarkName.parse(name).family
        quick = name in QUICK_TASKS or (dataset in QUICK_TWINS and family != "transfer")
        case = dataset if quick or dataset not in (*QUICK_TWINS, "braintreebank") else f"{dataset}, the rest"
        found.setdefault(case, (quick, []))[1].append(name)
    return found


def capture_everything(say: Callable[[str], None]) -> dict[str, Any]:
    """Return the whole capture; `say` is told each step."""
    # Models of vision are captured below, each with the numbers of its comparison.
    names = [
        name
        for name in list_benchmarks(every_definition=True)
        if BenchmarkName.parse(name).family != "brainscore"
    ]
    found: dict[str, Any] = {
        "schema_version": 1,
        "machine": capture_machine(),
        "manifests": capture_manifests(names),
    }
    found["twins"] = {
        name: capture_files(twin(name)) for name in sorted({dataset_of(name) for name in names})
    }
    found["twins"]["brainscore_vision"] = capture_files(brainscore_twin())
    found["benchmarks"] = {}
    for name in names:
        say(name)
        found["benchmarks"][name] = capture_benchmark(name)
    say("code submission")
    found["code_submission"] = capture_code_submission()
    found["brainscore"] = {}
    for name, model in brainscore_names():
        say(f"{name}, {model}")
        found["brainscore"].setdefault(name, {})[model] = capture_comparison(name, model, brainscore_twin())
    for name, data in REAL.items():
        say(name)
        model = "drawn" if name == "Haxby2001-slice" else "pixels"
        found["brainscore"][name] = {model: capture_comparison(name, model, data)}
    return found


def find_differences(expected: Any, found: Any, at: str = "") -> dict[str, tuple[Any, Any]]:
    """Return where a capture differs from the golden one: path -> (expected, found).

    Numbers may differ by :data:`TOLERANCE`, relative to their size.
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        differences = {}
        for key in sorted({*expected, *found}):
            differences |= find_differences(expected.get(key), found.get(key), f"{at} > {key}" if at else key)
        return differences
    if isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        differences = {}
        for place, (before, now) in enumerate(zip(expected, found, strict=True)):
            differences |= find_differences(before, now, f"{at}[{place}]")
        return differences
    if isinstance(expected, float) and isinstance(found, int | float):
        tolerance = SINGLE_TOLERANCE if SINGLE_PRECISION in at else TOLERANCE
        if math.isclose(expected, found, rel_tol=tolerance, abs_tol=1e-12):
            return {}
    return {} if expected == found and type(expected) is type(found) else {at: (expected, found)}


def write_golden(value: Any) -> None:
    """Write a capture as JSON, one line per entry; lists stay on one line."""
    GOLDEN.write_text(_written(value, 0) + "\n", encoding="utf-8")


def _written(value: Any, depth: int) -> str:
    if not isinstance(value, dict) or not value:
        return json.dumps(value, allow_nan=False, ensure_ascii=False)
    indent = " " * (depth + 1)
    lines = [f"{indent}{json.dumps(key)}: {_written(each, depth + 1)}" for key, each in value.items()]
    return "{\n" + ",\n".join(lines) + "\n" + " " * depth + "}"
