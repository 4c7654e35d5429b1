"""``neuroarena check``: look before you run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli.options import Data, Json, Option, Split, named_values
from neuroarena.cli.output import print_json

if TYPE_CHECKING:
    from neuroarena.evaluation.leaks import LeakReport
    from neuroarena.families.neuroprobe.submission_verdict import Verdict

app = typer.Typer(
    help="Check a decoder or a benchmark before it is run, or a submission before it is sent.",
    no_args_is_help=True,
)


@app.callback()
def _root() -> None:
    """Check a decoder or a benchmark before it is run, or a submission before it is sent."""


@app.command("decoder")
def decoder(
    name: Annotated[str, typer.Argument(help="Name of a decoder, or module:attribute.")],
    benchmark: Annotated[str, typer.Option("--benchmark", "-b", help="Benchmark whose windows to imagine.")],
    as_json: Json = False,
) -> None:
    """Check a decoder's contract on synthetic windows of a benchmark's shape; no data are needed."""
    from neuroarena.benchmarks import resolve
    from neuroarena.decoders import check_decoder, load_decoder

    sys.path.insert(0, "")
    family, definition, tasks = resolve(benchmark)
    window = family.window(tasks[0], definition)
    manifest = family.manifest(tasks[0], definition)
    checks = check_decoder(
        load_decoder(name),
        window.channels,
        window.rate_hz,
        window.n_samples,
        manifest.classes,
        kind=manifest.prediction,
        vector_length=manifest.caps.get("vector_length"),
        stream=manifest.stream is not None,
    )
    if as_json:
        print_json(
            [{"check": check.name, "passed": check.passed, "detail": check.detail} for check in checks]
        )
    else:
        for check in checks:
            print(
                f"{'ok  ' if check.passed else 'FAIL'}  {check.name}{': ' if check.detail else ''}{check.detail}"
            )
    if not all(check.passed for check in checks):
        raise typer.Exit(1)


@app.command("submission")
def submission(
    benchmark: Annotated[str, typer.Argument(help="neuroprobe, or family[@definition]/task.")],
    path: Annotated[
        Path, typer.Argument(help="The submission: a folder for neuroprobe, else a parquet file.")
    ],
    data: Data = None,
    split: Split = None,
    option: Option = None,
    as_json: Json = False,
) -> None:
    """Judge a submission before it is sent, as the server will; exit code 2 when refused."""
    if benchmark == "neuroprobe":
        _check_neuroprobe(path, as_json)
        return
    from neuroarena.evaluation.submitted import load_benchmark_of_file
    from neuroarena.scoring import check_submission

    loaded = load_benchmark_of_file(benchmark, path, data, named_values(option or []))
    truth = loaded.truth(loaded.split(split or loaded.splits[0]))
    found = check_submission(path, loaded.manifest, truth[["id"]])
    if as_json:
        words = {"model": found.model, "contact": found.contact, "external_data": list(found.external_data)}
        print_json({"accepted": True, "benchmark": loaded.name, "rows": len(found.table), **words})
        return
    print(f"{path.name}: accepted for {loaded.name}, {len(found.table)} rows, model {found.model}.")


@app.command("leaks")
def leaks(
    benchmark: Annotated[
        str, typer.Argument(help="family[@definition]/task, or a family for all its tasks.")
    ],
    data: Data = None,
    split: Split = None,
    option: Option = None,
    as_json: Json = False,
) -> None:
    """Look for answers that need no brain activity: order, length, a channel, duplicates; exit code 1 when found."""
    from neuroarena.benchmarks.names import load_benchmarks
    from neuroarena.evaluation.leaks import check_leaks

    loaded = load_benchmarks(benchmark, data, **named_values(option or []))
    reports = [check_leaks(each, split) for each in loaded]
    if as_json:
        print_json([report.to_dict() for report in reports])
    else:
        for report in reports:
            _print_leaks(report)
    if any(report.findings for report in reports):
        raise typer.Exit(1)


def _print_leaks(report: LeakReport) -> None:
    print(f"{report.benchmark}, {report.split}{' (simulated)' if report.simulated else ''}")
    for probe in report.probes:
        word = "LEAK " if probe in report.findings else "known" if probe.found else "ok   "
        p = "" if probe.p is None else f", p {'=' if probe.p > 0.001 else '<='} {probe.p:.2g}"
        print(f"  {word}  {probe.kind:10}  {probe.what}: {probe.score:.2f}, chance {probe.chance:.2f}{p}")
        if probe.found:
            print(f"         {'hidden from decoders' if probe.hidden else 'SEEN BY DECODERS'}: {probe.why}.")
    for note in report.notes:
        print(f"  Note: {note}")
    count = len(report.findings)
    print(f"{'no leak' if not count else '1 leak' if count == 1 else f'{count} leaks'} found")


def _check_neuroprobe(folder: Path, as_json: bool) -> None:
    from neuroarena.families.neuroprobe.submission_verdict import check_submission

    verdict = check_submission(folder)
    if as_json:
        print_json(verdict.to_dict())
    else:
        _print_verdict(verdict)
    if not verdict.accepted:
        raise typer.Exit(2)


def _print_verdict(verdict: Verdict) -> None:
    """Print every rule with what breaks it; the same words about several files are said once."""
    from neuroarena.board.wording import shown_name
    from neuroarena.families.neuroprobe.submission_rules import RULES

    print(f"{shown_name(verdict.name)}{' (simulated)' if verdict.simulated else ''}")
    for rule, (kind, words) in RULES.items():
        own = [finding for finding in verdict.findings if finding.rule == rule]
        print(f"{'FAIL' if own else 'ok  '}  {kind:8}  {rule:12}  {words}")
        said: dict[tuple[str, str], list[str]] = {}
        for finding in own:
            said.setdefault((finding.field, finding.words), []).append(finding.file)
        for (field, problem), files in said.items():
            where = files[0] + (f" and {len(files) - 1} more files" if len(files) > 1 else "")
            where += f": {field}" if field and field not in problem else ""
            print(f"      {shown_name(where)}: {shown_name(problem)}")
    if verdict.definition:
        print(f"definition {verdict.definition} ({shown_name(verdict.evidence)})")
    print(shown_name(verdict.sentence))
