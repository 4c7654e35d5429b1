"""``neuroarena site``: a board as a folder of pages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli.boards import AllowMixed, RulesOption, rank_entries, read_typed_rules
from neuroarena.cli.completion import complete_families
from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

if TYPE_CHECKING:
    from neuroarena.board.site.contests import Contest

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Build a board as a folder of pages, which needs no server.",
)


@app.command("build")
def build(
    sources: Annotated[
        list[Path],
        typer.Argument(
            help="Results, submissions that an importer recognises, competitions or their exports, in any mix."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", metavar="DIR", help="Folder of the site; an older site there is replaced."
        ),
    ],
    about: Annotated[
        Path | None,
        typer.Option(
            "--about",
            metavar="DIR",
            help="Folder with site.toml (title, authors, ...), pages such as faq.md, and files beside them in files/.",
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the site.")] = None,
    rules_from: RulesOption = None,
    allow_mixed: AllowMixed = False,
    frozen: Annotated[
        bool,
        typer.Option("--frozen", help="Mark the site as the final state; it is never replaced afterwards."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Build a site that is read from a disk or any static host: boards, entries, method, and tables for programs."""
    from neuroarena.board import Board
    from neuroarena.board.site import build_site, read_settings, read_sources
    from neuroarena.board.site.attachments import list_attachments
    from neuroarena.errors import InputError

    for source in sources:
        if out.resolve() == source.resolve() or out.resolve() in source.resolve().parents:
            raise InputError(
                f"{out}: the site would take the place of its source {source}. Name another folder."
            )
    settings, texts = read_settings(about)
    if title is not None:
        settings = settings.model_copy(update={"title": title})
    contests, others = _find_contests(sources)
    read = read_sources(others, allow_mixed=allow_mixed, contests=contests)
    rules = read_typed_rules(None, None, None, None, False, rules_from)
    # A competition whose scores are all sealed has boards, and nothing that can be ranked anew.
    board = (
        rank_entries(list(read.entries), rules, allow_mixed)
        if read.entries or not contests
        else Board((), rules, allow_empty=True)
    )
    attached = list_attachments(about)
    made = build_site(board, read, out, settings=settings, texts=texts, attachments=attached, frozen=frozen)
    if as_json:
        print_json({**made, "out": str(out)})
        return
    print(
        f"{out / 'index.html'}: {len(made['pages'])} pages, snapshot {read.short}, last update {made['last_update']}"
    )


def _find_contests(paths: list[Path]) -> tuple[list[Contest], list[Path]]:
    """Read competitions and their exports; return them, and the folders that are neither."""
    from neuroarena.board.site.contests import is_export, read_contest
    from neuroarena.competition.arena import is_arena, open_arena
    from neuroarena.competition.publishing import publish_contest

    contests, others = [], []
    for path in paths:
        if is_arena(path):
            contests.append(publish_contest(open_arena(path)))
        elif is_export(path):
            contests.append(read_contest(path))
        else:
            others.append(path)
    return contests, others


@app.command("init")
def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="An empty or a new folder.")],
    family: Annotated[
        str | None,
        typer.Option(
            "--family",
            help="Family whose form submissions have; by default the only one that checks submissions.",
            autocompletion=complete_families,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", help="Title of the site.")] = None,
    as_json: Json = False,
) -> None:
    """Write a repository for a leaderboard by pull request: submissions, cards, rules, and a workflow that checks."""
    from neuroarena.board.site import write_repository

    written = write_repository(folder, family, title)
    if as_json:
        print_json([str(path) for path in written])
        return
    for path in written:
        print(f"wrote {path}")
    print(
        f"Put submissions into {folder / 'submissions'}; {folder / 'README.md'} says how the site is built."
    )
