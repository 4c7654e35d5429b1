"""``neuroarena check``: look before you run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

if TYPE_CHECKING:
    from neuroarena.benchmarks.neuroprobe.submission_verdict import Verdict

app = typer.Typer(
    help="Check a decoder before it is run, or a submission before it is sent.", no_args_is_help=True
)


@app.callback()
def _root() -> None:
    """Check a decoder before it is run, or a submission before it is sent."""


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
    classes = family.manifest(tasks[0], definition).classes
    checks = check_decoder(load_decoder(name), window.channels, window.rate_hz, window.n_samples, classes)
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
    benchmark: Annotated[str, typer.Argument(help="Whose leaderboard: neuroprobe.")],
    folder: Annotated[Path, typer.Argument(help="The submission folder.")],
    as_json: Json = False,
) -> None:
    """Judge a submission folder by the leaderboard's own rules and by ours; exit code 2 when refused."""
    from neuroarena.benchmarks.neuroprobe.submission_verdict import check_submission
    from neuroarena.errors import InputError

    if benchmark != "neuroprobe":
        raise InputError(f'No submission format "{benchmark}"; there is: neuroprobe.')
    verdict = check_submission(folder)
    if as_json:
        print_json(verdict.to_dict())
    else:
        _print_verdict(verdict)
    if not verdict.accepted:
        raise typer.Exit(2)


def _print_verdict(verdict: Verdict) -> None:
    """Print every rule with what breaks it; the same words about several files are said once."""
    from neuroarena.benchmarks.neuroprobe.submission_rules import RULES
    from neuroarena.board.wording import shown_name

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
