"""The application: every verb in one place, in the order in which people meet them."""

from __future__ import annotations

from typing import Annotated

import typer

from neuroarena import __version__
from neuroarena.cli import (
    admin,
    arenas,
    auditing,
    boards,
    caching,
    caretaking,
    checks,
    comparing,
    data,
    demonstration,
    exporting,
    listing,
    mapping,
    new,
    organising,
    planning,
    results,
    running,
    sandboxing,
    scoring,
    serving,
    site,
    sizing,
    startkit,
    submitting,
    verbs,
)
from neuroarena.cli.options import FamilyCommand

app = typer.Typer(
    name="neuroarena",
    help="Evaluate, compare and rank neural decoders. Results go to standard output, progress to standard error.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _say_version(asked: bool) -> None:
    if asked:
        typer.echo(f"neuroarena {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print the version and exit.", callback=_say_version, is_eager=True),
    ] = False,
) -> None:
    """Evaluate, compare and rank neural decoders."""


app.command("demo", short_help="From nothing to a board, on simulated data.")(demonstration.demo)
app.command("list", short_help="What there is.")(listing.list_things)
app.add_typer(data.app, name="data")
app.add_typer(checks.app, name="check", short_help="Check a decoder, dataset, benchmark, family or file.")
app.command("run", cls=FamilyCommand, short_help="Evaluate decoders on a benchmark.")(running.run)
app.command("plan", cls=FamilyCommand, short_help="What a run would take, before it is started.")(
    planning.plan
)
app.command("score", cls=FamilyCommand, short_help="Score a file of predictions, or code in a zip.")(
    scoring.score_file
)
app.add_typer(results.app, name="results", short_help="List, rename and remove kept results.")
app.add_typer(caching.app, name="cache", short_help="Check, measure and prune the cache.")
app.command("board", short_help="Rank decoders, and say which differences are real.")(boards.board)
app.command("compare", short_help="Compare decoders in pairs.")(comparing.compare)
app.add_typer(site.app, name="site", short_help="A board as a folder of pages.")
app.command("map", cls=FamilyCommand, short_help="When and where a feature can be decoded.")(
    mapping.map_things
)
app.command("size", short_help="How many units a board needs.")(sizing.size)
app.add_typer(
    exporting.app, name="export", short_help="Write results as a submission, or as a paper's figure."
)
app.add_typer(new.app, name="new")
app.command("startkit", short_help="A small project for a track, ready to run.")(startkit.startkit)
app.command("submit", short_help="Submit predictions to a competition.")(submitting.submit)
app.command("status", short_help="Receipts of what your team has submitted.")(submitting.status)
app.command("withdraw", short_help="Withdraw a submission.")(submitting.withdraw)
app.command("worker", short_help="Check and score what was submitted.")(submitting.worker)
app.add_typer(auditing.app, name="audit", short_help="Replay committed training, and verify commitments.")
for more in (organising, caretaking):  # `admin` has too many verbs for one file
    admin.app.registered_commands.extend(more.app.registered_commands)
sandboxing.add_to(admin.app)
app.add_typer(arenas.app, name="arena", short_help="Start the zones of a competition.")
app.command("serve", short_help="A competition on the web.")(serving.serve)
app.add_typer(admin.app, name="admin")
verbs.add_verbs(app)
