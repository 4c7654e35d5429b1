"""Write docs/performance.md from what ``make bench`` and ``make growth`` kept in bench-results/."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bench.figures import Summary, list_benches, stated_figures, summarise
from bench.running import RESULTS, ROOT, Repetitions, read_repetitions

PAGE = ROOT / "docs" / "performance.md"
GROWTH = "growth"
HEAD = """# Performance

This page is written by `make bench` and `make growth` (`python -m bench --page` writes it anew); do not edit it.
A ratio compares two ways of doing the same work within one run, so that another machine shows nearly the same one.
Every figure is a median over repetitions, with the smallest and the largest beside it. Times "of processor" do not
count waiting for other programs; times of the clock do, and on a busy machine they are upper bounds. What was measured
and how stands at the top of each file in `bench/`.
"""


def write_page(results: Path = RESULTS, page: Path = PAGE) -> None:
    """Write the page from the newest repetitions of every bench."""
    names = [*list_benches(), GROWTH]
    found, environment, newest = read_repetitions(results, names)
    parts = [HEAD, _environment_text(environment, newest, found)]
    parts += [_bench_text(each) for each in found if each.name == GROWTH]
    parts += [_bench_text(each) for each in found if each.name != GROWTH]
    parts.append(_cost_text(found))
    page.write_text("\n".join(parts), encoding="utf-8")


def _environment_text(environment: dict[str, str], newest: str, found: Sequence[Repetitions]) -> str:
    loads = [load for each in found for load in each.load]
    said = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in environment.items())
    return (
        f"Measured until {newest}: {said}. Processes that wanted a core when a repetition began: {min(loads):g} to "
        f"{max(loads):g}.\n"
    )


def _bench_text(each: Repetitions) -> str:
    stated, _, _ = stated_figures(each.name)
    rows = [row for row in summarise(each.figures, stated) if row.words or not stated]
    lines = [
        f"## {_title(each.name)}",
        "",
        "| figure | median | smallest to largest | aim |",
        "|---|---|---|---|",
    ]
    lines += [_row(row) for row in rows]
    measured = {row.name for row in rows}
    lines += [
        f"| {words} | not measured | | {relation} {_number(aim)} |"
        for name, (words, relation, aim) in stated.items()
        if aim is not None and name not in measured
    ]
    return "\n".join([*lines, ""])


def _row(row: Summary) -> str:
    spread = f"{_number(row.low)} to {_number(row.high)} ({row.n})" if row.n > 1 else "one run"
    aim = (
        "" if row.aim is None else f"{row.relation} {_number(row.aim)}" + ("" if row.met else ", **missed**")
    )
    return f"| {row.words or row.name} | {_number(row.median)} | {spread} | {aim} |"


def _cost_text(found: Sequence[Repetitions]) -> str:
    lines = [
        "## What the benches cost",
        "",
        "| bench | repetitions | s | s of processor | largest process, MB |",
    ]
    lines.append("|---|---|---|---|---|")
    for each in found:
        costs = (max(each.seconds), max(each.cpu_seconds), max(each.peak_mb))
        lines.append(
            f"| `{each.name}` | {len(each.figures)} | " + " | ".join(f"{cost:g}" for cost in costs) + " |"
        )
    return "\n".join([*lines, ""])


def _title(name: str) -> str:
    return name.removeprefix("bench_").replace("_", " ").capitalize()


def _number(value: float) -> str:
    """Return a number with three digits, and whole where it is large.

    Examples
    --------
    >>> _number(0.012345), _number(1234.5), _number(2.0)
    ('0.0123', '1,234', '2')
    """
    return f"{value:,.0f}" if abs(value) >= 1_000 else f"{value:.3g}"
