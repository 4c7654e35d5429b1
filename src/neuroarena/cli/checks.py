"""``neuroarena check``: look before you run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from neuroarena.cli.completion import complete_benchmarks, complete_decoders, complete_families
from neuroarena.cli.options import BenchmarkName, Data, FamilyCommand, Json, Option, Split, parse_values
from neuroarena.cli.output import print_json

if TYPE_CHECKING:
    from neuroarena.checklist import Check
    from neuroarena.evaluation.leaks import LeakReport
    from neuroarena.scoring import Submission


class SubmissionVerdict(Protocol):
    """What a family's own check says about a submission (its face ``submission_check``)."""

    @property
    def accepted(self) -> bool:
        """Whether no rule is broken."""
        ...

    @property
    def official(self) -> bool:
        """Whether the published board that the form belongs to would take it."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as plain data."""
        ...

    def lines(self) -> list[str]:
        """Return the verdict as lines of text."""
        ...


app = typer.Typer(
    help="Check decoders, models, datasets, benchmarks, families, submissions, and benchmarks for leaks.",
    no_args_is_help=True,
)


@app.callback()
def _root() -> None:
    """Check decoders, models, datasets, benchmarks, families, submissions, and benchmarks for leaks."""


@app.command("decoder", short_help="Does a decoder, or a model, keep its contract?")
def decoder(
    name: Annotated[
        str,
        typer.Argument(help="Name of a decoder, or module:attribute.", autocompletion=complete_decoders),
    ],
    benchmark: Annotated[
        str,
        typer.Option(
            "--benchmark",
            "-b",
            help="Benchmark whose window shape to use.",
            autocompletion=complete_benchmarks,
        ),
    ],
    as_json: Json = False,
) -> None:
    """Check a decoder's contract on synthetic windows of a benchmark's shape; no data are needed."""
    from neuroarena.benchmarks import resolve
    from neuroarena.benchmarks.faces import find_face
    from neuroarena.decoders import check_decoder, load_decoder

    sys.path.insert(0, "")
    family, definition, tasks = resolve(benchmark)
    check_model = find_face(family, "model_check")
    if check_model is not None:
        _print_checks(check_model(name), as_json)
        return
    if len(tasks) > 1:
        first = f"{family.name}/{tasks[0]}"
        typer.echo(f"note: checked for {first}, the first of {len(tasks)} tasks; -b names another", err=True)
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
    _print_checks(checks, as_json)


def _print_checks(checks: list[Check], as_json: bool) -> None:
    """Print one line per check; exit with code 1 when one failed."""
    if as_json:
        print_json(
            [{"check": check.name, "passed": check.passed, "detail": check.detail} for check in checks]
        )
    else:
        for check in checks:
            mark = "ok  " if check.passed else "FAIL"
            print(f"{mark}  {check.name}{': ' if check.detail else ''}{check.detail}")
    if not all(check.passed for check in checks):
        raise typer.Exit(1)


@app.command("dataset", short_help="Do a dataset's card, twin, reader and verifier agree?")
def dataset(
    name: Annotated[str, typer.Argument(help="Name of a dataset, or module:attribute.")],
    as_json: Json = False,
) -> None:
    """Check what a dataset says of itself, its twin, its reader and its verifier, on the smallest twin."""
    from neuroarena.datasets import check_dataset, load_dataset

    sys.path.insert(0, "")
    _print_checks(check_dataset(load_dataset(name)), as_json)


@app.command("benchmark", cls=FamilyCommand, short_help="Are examples, splits, truth and score sound?")
def benchmark(
    name: Annotated[str, typer.Argument(help="family[@definition]/task, my.toml or module:attribute.")],
    data: Data = None,
    option: Option = None,
    as_json: Json = False,
) -> None:
    """Check a benchmark on data: examples, splits, recordings, truth and score; no decoder is run."""
    from neuroarena.benchmarks import check_benchmark, load_benchmarks, resolve
    from neuroarena.errors import InputError

    sys.path.insert(0, "")
    _refuse_models(name)
    found, _, tasks = resolve(name)
    if len(tasks) != 1:
        raise InputError(
            f'"{name}" is a family of {len(tasks)} tasks; name one, as in {found.name}/{tasks[0]}.'
        )
    (loaded,) = load_benchmarks(name, data, **parse_values(option or []))
    for note in loaded.notes:
        typer.echo(f"note: {note}", err=True)
    _print_checks(check_benchmark(loaded), as_json)


def _refuse_models(name: str) -> None:
    """Refuse a benchmark of models that are shown stimuli: it has no splits of recordings to look at."""
    from neuroarena.benchmarks import judges_models, resolve
    from neuroarena.errors import InputError

    if judges_models(resolve(name)[0]):
        raise InputError(
            f'"{name}" judges models that are shown stimuli; only benchmarks of recordings are checked this way. '
            f"Check a model with: neuroarena check decoder MODEL -b {name}"
        )


@app.command("family", short_help="Does a family offer what it says?")
def family(
    name: Annotated[
        str, typer.Argument(help="Name of a family, or module:attribute.", autocompletion=complete_families)
    ],
    as_json: Json = False,
) -> None:
    """Check what a family offers: tasks, rules, splits and every face; no data are needed."""
    from neuroarena.conformance import check_family

    sys.path.insert(0, "")
    _print_checks(check_family(name), as_json)


@app.command("submission", cls=FamilyCommand, short_help="Will a submission be accepted?")
def submission(
    benchmark: Annotated[
        str,
        typer.Argument(
            help="family[@definition]/task, or a family with a form of its own.",
            autocompletion=complete_benchmarks,
        ),
    ],
    path: Annotated[
        Path, typer.Argument(help="The submission: a parquet file, a zip of code, or the family's own form.")
    ],
    data: Data = None,
    split: Split = None,
    option: Option = None,
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            metavar="DIR",
            help="What a competition publishes of sealed questions, instead of data: public/TRACK@PHASE.",
        ),
    ] = None,
    official: Annotated[
        bool,
        typer.Option(
            "--official",
            help="Accept what the family's published board accepts; rules of ours that are broken are named, "
            "and boards mark them.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Judge a submission before it is sent, as the server will; exit code 2 when refused."""
    from neuroarena.benchmarks.faces import families_with
    from neuroarena.errors import InputError
    from neuroarena.evaluation.code import check_code
    from neuroarena.evaluation.submitted import check_by_questions, load_benchmark_of_file
    from neuroarena.scoring import check_submission

    sys.path.insert(0, "")
    own_form = families_with("submission_check").get(benchmark)
    if own_form is not None:
        _print_verdict(own_form(path), as_json, official)
        return
    if official:
        raise InputError(f'"{benchmark}" has no published board with rules of its own; leave --official out.')
    if path.suffix.lower() == ".zip":
        check_code(benchmark, path)
        if as_json:
            print_json({"accepted": True, "benchmark": benchmark})
        else:
            print(f"{path.name}: accepted as code for {benchmark}; nothing in it was run.")
        return
    if questions is not None:
        name, found = benchmark, check_by_questions(path, questions)
    else:
        loaded = load_benchmark_of_file(benchmark, path, data, parse_values(option or []))
        truth = loaded.truth(loaded.split(split or loaded.splits[0]))
        name, found = loaded.name, check_submission(path, loaded.manifest, truth[["id"]])
    _print_accepted(path, name, found, as_json)


@app.command("leaks", cls=FamilyCommand, short_help="Can answers be guessed without brain activity?")
def leaks(
    benchmark: BenchmarkName,
    data: Data = None,
    split: Split = None,
    option: Option = None,
    as_json: Json = False,
) -> None:
    """Look for answers that need no brain activity: order, length, a channel, duplicates; exit code 1 when found."""
    from neuroarena.benchmarks import load_benchmarks
    from neuroarena.evaluation.leaks import check_leaks

    sys.path.insert(0, "")
    _refuse_models(benchmark)
    loaded = load_benchmarks(benchmark, data, **parse_values(option or []))
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
        word = "LEAK " if probe in report.findings else "note " if probe.found else "ok   "
        p = "" if probe.p is None else f", p {'=' if probe.p > 0.001 else '<='} {probe.p:.2g}"
        print(f"  {word}  {probe.kind:10}  {probe.what}: {probe.score:.2f}, chance {probe.chance:.2f}{p}")
        if probe.found:
            seen = (
                "hidden from decoders"
                if probe.hidden
                else "declared"
                if probe.declared
                else "SEEN BY DECODERS"
            )
            print(f"         {seen}: {probe.why}.")
    for note in report.notes:
        print(f"  Note: {note}")
    count = len(report.findings)
    print(f"{'no leak' if not count else '1 leak' if count == 1 else f'{count} leaks'} found")


def _print_accepted(path: Path, name: str, found: Submission, as_json: bool) -> None:
    if as_json:
        words = {"model": found.model, "contact": found.contact, "external_data": list(found.external_data)}
        print_json({"accepted": True, "benchmark": name, "rows": len(found.table), **words})
        return
    print(f"{path.name}: accepted for {name}, {len(found.table)} rows, model {found.model}.")


def _print_verdict(verdict: SubmissionVerdict, as_json: bool, official: bool) -> None:
    if as_json:
        print_json(verdict.to_dict())
    else:
        print("\n".join(verdict.lines()))
    if official and verdict.official and not verdict.accepted and not as_json:
        print("Accepted by the official rules; the board marks what breaks ours.")
    if not (verdict.official if official else verdict.accepted):
        raise typer.Exit(2)
