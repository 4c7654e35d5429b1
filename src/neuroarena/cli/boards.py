"""``neuroarena board``: from results to rankings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.completion import complete_importer_options, complete_importers, complete_standings
from neuroarena.cli.options import Json, parse_values, refuse_unused
from neuroarena.cli.output import print_json, print_table
from neuroarena.cli.remote import Url, show_board

if TYPE_CHECKING:
    from neuroarena.board import Board, Entry, Rules, Standings
    from neuroarena.board.importing import Imported, PublishedBoard

Results = Annotated[
    list[Path],
    typer.Argument(help="Folders of results, or of submissions that an importer recognises."),
]
OptionalResults = Annotated[
    list[Path] | None,
    typer.Argument(
        help="Folders of results, or of submissions that an importer recognises; with --url, names of boards."
    ),
]
Rule = Annotated[
    str | None,
    typer.Option(
        "--rule", help="Which run of a team counts: best-ever, latest, best-of-last-N. Default: best-ever."
    ),
]
AsOf = Annotated[
    str | None,
    typer.Option(
        "--as-of", metavar="TIME", help="Only runs up to this time, for example 2026-09-01T12:00:00Z."
    ),
]
Draws = Annotated[int | None, typer.Option("--draws", min=100, help="Bootstrap draws. Default: 10000.")]
Exact = Annotated[
    bool, typer.Option("--exact", help="Draw as an auditor would, with one legacy generator per draw.")
]
Rope = Annotated[
    float | None,
    typer.Option(
        "--rope",
        min=0,
        help="Teams that differ by less than this are equivalent. Default: nu of the manifest, where it has one.",
    ),
]
AllowMixed = Annotated[
    bool, typer.Option("--allow-mixed", help="Rank entries of different definitions side by side, marked.")
]


SourceOption = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="NAME",
        help="Read a board published elsewhere with this importer; by default the one that recognises it.",
        autocompletion=complete_importers,
    ),
]
ImporterOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-O",
        metavar="NAME=VALUE",
        help="An option of the importer that --from names, shown by: neuroarena list options NAME. May be repeated.",
        autocompletion=complete_importer_options,
    ),
]
SplitOption = Annotated[str | None, typer.Option("--split", help="Only this split.")]
RulesOption = Annotated[
    str | None,
    typer.Option(
        "--rules",
        metavar="FILE|NAME",
        help="Rules as TOML (rule, as_of, inference, no_prizes, ...), or the name of rules that a family ships.",
    ),
]
Export = Annotated[
    tuple[str, Path] | None,
    typer.Option(
        "--export",
        metavar="KIND FILE",
        help="Write csv, json, parquet, latex, html or verdicts (one row per pair) instead of printing.",
    ),
]
Plots = Annotated[
    Path | None, typer.Option("--plots", metavar="DIR", help="Also write the plots, as SVG and PNG.")
]
Classical = Annotated[
    bool,
    typer.Option(
        "--classical", help="With --plots: also the critical-difference diagram of mean ranks of suites."
    ),
]
OverTracksOption = Annotated[
    str | None,
    typer.Option(
        "--over-tracks",
        metavar="NAME",
        help="One order over all rankings, by a name that a family offers; an unknown name is answered with all.",
        autocompletion=complete_standings,
    ),
]


TreeOption = Annotated[
    bool,
    typer.Option(
        "--tree",
        help="Show the tree of a suite whose overall is one: every node is the mean of its children.",
    ),
]


def board(
    results: OptionalResults = None,
    source: SourceOption = None,
    split: SplitOption = None,
    option: ImporterOption = None,
    rules_from: RulesOption = None,
    rule: Rule = None,
    as_of: AsOf = None,
    rope: Rope = None,
    draws: Draws = None,
    exact: Exact = False,
    allow_mixed: AllowMixed = False,
    export: Export = None,
    plots: Plots = None,
    classical: Classical = False,
    over_tracks: OverTracksOption = None,
    tree: TreeOption = False,
    url: Url = None,
    as_json: Json = False,
) -> None:
    """Rank decoders, with intervals and one verdict per pair: which are better, equivalent, or undecided.

    With --url the boards of a server are listed, or those shown that are named.
    """
    from neuroarena.board.importing import Imported, find_importer
    from neuroarena.errors import InputError

    if url is not None:
        show_board(url, [str(name) for name in results or []], as_json)
        return
    if not results:
        raise InputError("Name folders of results, or the address of a server with --url.")

    readers = _find_readers(results, source)
    if not all(name is None or find_importer(name).rankable for name in readers):
        given = {"--rules": rules_from, "--rule": rule, "--as-of": as_of, "--rope": rope, "--draws": draws}
        refuse_unused(
            {**given, "--plots": plots, "--over-tracks": over_tracks, "--tree": tree},
            "a board that has no unit scores",
        )
    read = _read(readers, split, allow_mixed, parse_values(option or []))
    if not isinstance(read, Imported):
        _show_published(read, export, as_json)
        return
    made = rank_entries(
        read.entries, read_typed_rules(rule, as_of, rope, draws, exact, rules_from), allow_mixed
    )
    _write(made, export, plots, classical)
    if over_tracks is not None:
        refuse_unused({"--tree": tree}, "a board over tracks")
        _over_tracks(made, over_tracks, as_json)
    elif tree:
        _show_trees(made, as_json)
    elif as_json:
        print_json(made.to_dict() | dict(read.extra) | _own_standings(made))
    elif export is None:
        from neuroarena.board import print_board

        print_board(made)
        for table in read.tables:
            print_table(table.columns, table.rows, title=table.title)
        _print_own_standings(made)


def _show_trees(made: Board, as_json: bool) -> None:
    from neuroarena.board import print_tree
    from neuroarena.errors import InputError

    if not made.trees:
        raise InputError("No suite on this board is a tree of means; leave --tree out.")
    if as_json:
        print_json({"trees": made.to_dict()["trees"], "notes": list(made.notes)})
        return
    for one in made.trees:
        print_tree(one)


def _over_tracks(made: Board, name: str, as_json: bool) -> None:
    from neuroarena.benchmarks.faces import choose_face
    from neuroarena.board import print_standings

    standings = choose_face("standings", name, "board over tracks")(made.rankings)
    if as_json:
        print_json(_standings_dict(standings))
    else:
        print_standings(standings)


def _standings_dict(standings: Standings) -> dict[str, Any]:
    from neuroarena.board import records

    return {
        "title": standings.title,
        "rule": standings.rule,
        "simulated": standings.simulated,
        "tracks": list(standings.tracks),
        "table": records(standings.table),
        "unranked": records(standings.unranked),
    }


def _own_standings(made: Board) -> dict[str, Any]:
    """Return the boards that families offer over their own tasks, as plain data, or why there is none."""
    from neuroarena.board import own_standings

    return {
        name: {"reason": found} if isinstance(found, str) else _standings_dict(found)
        for name, found in own_standings(made.rankings).items()
    }


def _print_own_standings(made: Board) -> None:
    from neuroarena.board import own_standings, print_standings

    for found in own_standings(made.rankings).values():
        if isinstance(found, str):
            print(found)
        else:
            print_standings(found)


def _read(
    readers: Mapping[str | None, list[Path]], split: str | None, allow_mixed: bool, options: dict[str, Any]
) -> Imported | PublishedBoard:
    """Read results of ours (reader None) and those that importers read, for one board."""
    from neuroarena.board.importing import Imported, read_together
    from neuroarena.errors import InputError

    if options and not any(readers):
        raise InputError(
            f"-O {next(iter(options))} is an option of an importer; name the importer with --from."
        )
    merged = read_together(readers, split=split, allow_mixed=allow_mixed, options=options)
    if not isinstance(merged, Imported):
        return merged
    for note in merged.notes:
        typer.echo(f"note: {note}", err=True)
    return merged


def _find_readers(paths: list[Path], source: str | None = None) -> dict[str | None, list[Path]]:
    """Return who reads which paths: the importer that was named, or those that recognise them, with a note."""
    from neuroarena.board.importing import sort_paths

    if source is not None:
        return {source: paths}
    readers = sort_paths(paths)
    for name, own in readers.items():
        if name is not None:
            which = "" if len(readers) == 1 else f"{', '.join(map(str, own))} "
            typer.echo(f"note: {which}read as --from {name}", err=True)
    return readers


def read_typed_rules(
    rule: str | None,
    as_of: str | None,
    rope: float | None,
    draws: int | None,
    exact: bool,
    rules_from: str | None = None,
) -> Rules:
    typed = {
        "rule": rule,
        "as_of": as_of,
        "rope": rope,
        "n_draws": draws,
        "method": "exact" if exact else None,
    }
    return _read_rules(rules_from, typed)


def rank_entries(entries: list[Entry], rules: Rules, allow_mixed: bool = False) -> Board:
    from neuroarena.benchmarks import canonical_order
    from neuroarena.board import Board

    return Board(entries, rules, allow_mixed=allow_mixed, order=canonical_order())


def _read_rules(where: str | None, typed: Mapping[str, Any]) -> Rules:
    """Read rules from a file, or by the name under which a family ships them; typed options take precedence."""
    from neuroarena.benchmarks.faces import choose_face
    from neuroarena.board import Rules

    if where is None:
        return Rules.of(**typed)
    if Path(where).suffix == ".toml" or Path(where).is_file():
        return Rules.from_toml(where, **typed)
    shipped = dict(choose_face("rules", where, "file or shipped rules"))
    return Rules.of(**shipped | {name: value for name, value in typed.items() if value is not None})


def read_entries(paths: list[Path], split: str | None, allow_mixed: bool = False) -> list[Entry]:
    """Read results that can be ranked, or refuse a board that has no unit scores."""
    from neuroarena.board.importing import Imported
    from neuroarena.errors import InputError

    read = _read(_find_readers(paths), split, allow_mixed, {})
    if not isinstance(read, Imported):
        raise InputError(f"{paths[0]}: this board was published without unit scores; it cannot be compared.")
    return read.entries


def _write(made: Board, to: tuple[str, Path] | None, plots: Path | None, classical: bool) -> None:
    from neuroarena.board import export, save_plots

    if to is not None:
        export(made, to[0], to[1])
        typer.echo(f"wrote {to[1]}", err=True)
    if plots is not None:
        written = save_plots(made, plots, classical=classical)
        typer.echo(f"wrote {len(written)} files to {plots}", err=True)


def _show_published(made: PublishedBoard, to: tuple[str, Path] | None, as_json: bool) -> None:
    from neuroarena.atomic import replacing, write_json
    from neuroarena.errors import InputError

    if to is not None:
        kind, path = to
        if kind == "json":
            write_json(path, made.to_dict())
        elif kind == "csv":
            with replacing(path) as temporary:
                made.table.to_csv(temporary, index=False)
        else:
            raise InputError(f'A board without unit scores is exported as csv or json, not as "{kind}".')
        typer.echo(f"wrote {path}", err=True)
    if as_json:
        print_json(made.to_dict())
    elif to is None:
        made.print()
