"""check_benchmark: every registered benchmark of recordings passes, and each point fails where it should."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any

import pytest

from neuroarena.benchmarks import FAMILIES, Benchmark, check_benchmark, list_benchmarks
from neuroarena.recordings import from_array
from toy import toy_benchmark
from track_twins import bound

QUICK = ("img/things-eeg2",)


def registered() -> list[Any]:
    names = [
        name
        for name in list_benchmarks()
        if getattr(FAMILIES.get(name.partition("/")[0]), "judges", "decoders") == "decoders"
    ]
    return [pytest.param(name, marks=[] if name in QUICK else pytest.mark.drill) for name in names]


def failed(benchmark: Benchmark) -> list[str]:
    return [check.name for check in check_benchmark(benchmark) if not check.passed]


@pytest.mark.parametrize("name", registered())
def test_every_registered_benchmark_passes_on_its_tiny_twin(name: str) -> None:
    assert failed(bound(name)) == []


def test_a_good_benchmark_passes() -> None:
    assert failed(toy_benchmark()) == []


def _numbered(benchmark: Benchmark) -> Any:
    """Make examples whose ids count how often they were made."""
    counter = itertools.count()
    return lambda: benchmark.make_examples().assign(session=f"s{next(counter)}")


def _first_come(benchmark: Benchmark) -> Any:
    """Cut by the order of the rows."""
    name, rule = next(iter(benchmark.split_rules.items()))

    def cut(examples: Any) -> Any:
        half = len(examples) // 2
        fold = dataclasses.replace(
            rule(examples).folds[0],
            train=tuple(examples["id"][:half]),
            test=tuple(examples["id"][half:]),
            validation=(),
        )
        return dataclasses.replace(rule(examples), folds=(fold,))

    return {name: cut}


def _short(key: str) -> Any:
    import numpy as np

    return from_array(np.zeros((2, 3), dtype=np.float32), 10.0, ["a", "b"])


FLAWS: dict[str, tuple[Any, str]] = {
    "no id of its own": (
        lambda made: {"make_examples": lambda: made.make_examples().assign(id="same")},
        "its examples have every column, and each an id of its own",
    ),
    "other examples every time": (
        lambda made: {"make_examples": _numbered(made)},
        "the same data give the same examples",
    ),
    "a split by rows": (
        lambda made: {"split_rules": _first_come(made)},
        "the order of the rows changes no fold",
    ),
    "short recordings": (
        lambda made: {"open_recording": _short},
        "windows lie in their recordings and hold numbers",
    ),
    "another class": (
        lambda made: {"make_examples": lambda: made.make_examples().assign(target="other")},
        "every target is one that the manifest knows",
    ),
}


@pytest.mark.parametrize(("change", "point"), FLAWS.values(), ids=FLAWS.keys())
def test_each_flaw_is_found_by_its_own_point(change: Any, point: str) -> None:
    made = toy_benchmark()
    assert point in failed(dataclasses.replace(made, **change(made)))
