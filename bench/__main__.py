"""``make bench``: measure, print, keep the figures in bench-results/, and write docs/performance.md.

Every file ``bench_*.py`` of this folder is a bench; see :mod:`bench.figures` for what it may state. Without names
all of them are run, in rounds, within the given minutes.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

from bench.figures import Summary, flatten, list_benches, stated_figures, summarise
from bench.page import GROWTH, write_page
from bench.running import RESULTS, Repetitions, run_rounds

MINUTES = 19.0


def main() -> None:
    """Run the benches that were named, or all, keep their figures, and fail where one that must be met is missed."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", help="benches to run, or growth; by default all benches")
    parser.add_argument("--minutes", type=float, default=MINUTES, help="of the clock, for all repetitions")
    parser.add_argument("--page", action="store_true", help="write docs/performance.md and run nothing")
    parser.add_argument("--once", nargs=2, metavar=("NAME", "FILE"), help="run one bench here, once")
    asked = parser.parse_args()
    if asked.once:
        name, written = asked.once
        figures = importlib.import_module(f"bench.{name}").main()
        Path(written).write_text(json.dumps(figures), encoding="utf-8")
        return
    if asked.page:
        write_page()
        return
    known = [*list_benches(), GROWTH]
    for name in asked.names:
        if name not in known:
            parser.error(f"no bench {name}; there are: {', '.join(known)}")
    found = run_rounds(asked.names or list_benches(), asked.minutes)
    failed = [text for each in found for text in each.failures]
    rows = [(each.name, row) for each in found if each.figures for row in show(each)]
    if any(each.figures for each in found) and (not asked.names or asked.names == [GROWTH]):
        write_page()
        print(f"figures in {RESULTS}, medians in docs/performance.md")
    missed = [f"{name} {row.name} {row.median:.4g}" for name, row in rows if row.met is False]
    if missed:
        print(f"\naims that were missed: {'; '.join(missed)}")
    must = [
        f"{name} {row.name} {row.median:.4g}"
        for name, row in rows
        if row.met is False and row.name in stated_figures(name)[1]
    ]
    failed += [f"{each.name} did not measure {name}" for each in found for name in find_unmeasured(each)]
    if failed or must:
        sys.exit("; ".join([*failed, *(f"missed: {text}" for text in must)]))


def show(each: Repetitions) -> list[Summary]:
    """Print the figures of a bench, and return them."""
    rows = summarise(each.figures, stated_figures(each.name)[0])
    print(f"\n{each.name}: {max(each.cpu_seconds):g} s of processor, {len(each.figures)} repetitions")
    for row in rows:
        print(f"  {row.words or row.name}: {row.median:.4g} [{row.low:.4g}, {row.high:.4g}]{_aim_words(row)}")
    return rows


def find_unmeasured(each: Repetitions) -> list[str]:
    """List the figures that a bench states and that none of its repetitions returned."""
    measured = {name for figures in each.figures for name in flatten(figures)}
    return [name for name in stated_figures(each.name)[0] if each.figures and name not in measured]


def _aim_words(row: Summary) -> str:
    if row.aim is None:
        return ""
    return f"   {row.relation} {row.aim:g}: {'met' if row.met else 'MISSED'}"


if __name__ == "__main__":
    main()
