"""Boards in a terminal: tables that fit, and sentences that say what they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from neuroarena.board.board import Board
from neuroarena.board.entries import BLIND_FLOORS
from neuroarena.board.mean_ranks import MeanRanks
from neuroarena.board.ranking import Ranking
from neuroarena.board.standings import Standings
from neuroarena.board.wording import (
    MEAN_RANK_WORDS,
    bounds_text,
    cells_of,
    clean_name,
    column_heading,
    column_notes,
    direction_words,
    find_breaks,
    interval_text,
    is_known,
    letters_text,
    levels_words,
    marks_of,
    mean_rank_heading,
    p_cell,
    p_heading,
    ranks_text,
    rows_of,
    score_text,
    share_text,
    shared_warnings,
    verdict,
)

PLAIN_WIDTH = 100
NARROW = 96
FULL_WIDTH_OF_CELL = 16


def make_console(**options: Any) -> Console:
    """Make a console for results: as wide as the terminal, 100 columns where there is none."""
    console = Console(highlight=False, **options)
    if not console.is_terminal and "width" not in options:
        console.width = PLAIN_WIDTH
    return console


def print_board(board: Board, console: Console | None = None, details: bool = False) -> None:
    """Print a board.

    Parameters
    ----------
    board : Board
    console : Console, optional
        Where to; by default standard output, plain when it is not a terminal.
    details : bool
        Whether to print the ranking of every task of a suite too; by default a suite is shown as an
        overview of its tasks and its overall ranking.
    """
    console = console or make_console()
    suites = _suites(board)
    for tasks in suites:
        overview = overview_table(board, tasks, console.width)
        if overview is not None:
            console.print(overview)
            console.print()
    in_suites = {id(ranking) for tasks in suites for ranking in tasks}
    shown = [one for one in board.everything if details or id(one) not in in_suites]
    shared = shared_warnings(shown)
    for ranking in shown:
        console.print(ranking_view(ranking, console.width, shared))
    for text in (*shared, *board.notes):
        console.print(Text(f"! {text}", style="yellow"))
    for note in column_notes(board.rules):
        console.print(Text(note, style="dim"))


def _suites(board: Board) -> list[list[Ranking]]:
    return [
        [
            ranking
            for ranking in board.rankings
            if (ranking.family, ranking.split) == (whole.family, whole.split)
        ]
        for whole in board.overall
    ]


def ranking_view(ranking: Ranking, width: int = PLAIN_WIDTH, said: Sequence[str] = ()) -> RenderableType:
    """Return one ranking with its unranked teams and its warnings, except those printed elsewhere."""
    parts: list[RenderableType] = [_title(ranking)]
    if len(ranking.table):
        parts += _ranking_tables(ranking, width)
    for row in rows_of(ranking.unranked):
        parts.append(Text(f"  not ranked  {clean_name(row.team)}: {clean_name(row.reason)}", style="red"))
    if len(ranking.table) > 1:
        parts.append(Text(verdict(ranking)))
    if ranking.mean_ranks is not None:
        parts += [Text(), _mean_rank_table(ranking.mean_ranks), Text()]
    parts += [Text(f"! {warning}", style="yellow") for warning in ranking.warnings if warning not in said]
    return Padding(Group(*parts), (0, 0, 1, 0))


def _title(ranking: Ranking) -> Text:
    label = Text(ranking.title, style="bold")
    label.append(f"   {ranking.metric_title}, {direction_words(ranking)}", style="default not bold")
    if ranking.simulated:
        label.append("   simulated", style="bold magenta")
    label.append(f"\n{ranking.benchmark}, {levels_words(ranking)}", style="dim not bold")
    return label


def _ranking_tables(ranking: Ranking, width: int) -> list[Table]:
    """Make the table of a ranking; extra columns are in it, or below it where they do not fit."""
    broken_ties = ranking.table["tie_break"].notna().any() and ranking.table["rank"].size > 1
    besides = (*(("tie_break",) if broken_ties else ()), *ranking.extra_columns)
    whole = _ranking_table(ranking, width, besides)
    if not besides or (width >= NARROW and _measure_width(whole) <= width):
        return [whole]
    if broken_ties and width >= NARROW:
        return [_ranking_table(ranking, width, besides[:1]), _besides_table(ranking, besides[1:])]
    return [_ranking_table(ranking, width, ()), _besides_table(ranking, besides)]


def _measure_width(table: Table) -> int:
    console = Console(width=10_000)
    return Measurement.get(console, console.options, table).maximum


def _ranking_table(ranking: Ranking, width: int, besides: Sequence[str]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("team", overflow="fold", min_width=12)
    table.add_column("score [95 %]", no_wrap=True)
    wide = width >= NARROW
    for name in besides:
        heading = "tie-break" if name == "tie_break" else column_heading(ranking, name)
        table.add_column(heading, justify="right", no_wrap=True)
    if wide:
        table.add_column("behind", justify="right", no_wrap=True)
    table.add_column(p_heading(ranking.rules), justify="right", no_wrap=True)
    table.add_column("group", justify="center", no_wrap=True)
    table.add_column("P(1st)", justify="right", no_wrap=True)
    if wide:
        table.add_column("ranks", justify="right", no_wrap=True)
    breaks = find_breaks(ranking)
    several = len(breaks) < len(ranking.table) - 1
    for at, (row, more) in enumerate(zip(rows_of(ranking.table), cells_of(ranking, besides), strict=True)):
        if several and at in breaks:
            table.add_section()
        cells: list[Any] = [
            str(row.rank),
            _team_cell(row),
            interval_text(row.score, row.ci95_low, row.ci95_high),
            *(Text(cell) for cell in more),
        ]
        if wide:
            cells.append(score_text(row.delta_leader))
        p, sure = p_cell(row, ranking)
        cells += [p + (" *" if sure else "  "), letters_text(row.letters), share_text(row.p_top1)]
        if wide:
            cells.append(ranks_text(row.rank_low, row.rank_high))
        table.add_row(*cells, style="dim" if row.role in BLIND_FLOORS else "")
    return table


def _besides_table(ranking: Ranking, besides: Sequence[str]) -> Table:
    """Show what a ranking reports in addition to its score."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("besides", overflow="fold", min_width=12)
    for name in besides:
        table.add_column(column_heading(ranking, name), justify="right", overflow="fold")
    for row, more in zip(rows_of(ranking.table), cells_of(ranking, besides), strict=True):
        style = "dim" if row.role in BLIND_FLOORS else ""
        table.add_row(Text(clean_name(row.team)), *(Text(cell) for cell in more), style=style)
    return table


def _mean_rank_table(found: MeanRanks) -> Table:
    """Show the teams of a suite by their mean rank over tasks."""
    title = Text(mean_rank_heading(found), style="bold")
    table = Table(
        title=title,
        title_justify="left",
        caption=MEAN_RANK_WORDS,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1),
        show_edge=False,
    )
    table.add_column("team", overflow="fold", min_width=12)
    table.add_column("mean rank [95 %]", no_wrap=True)
    table.add_column("group", justify="center", no_wrap=True)
    table.add_column("ranks", justify="right", no_wrap=True)
    for row in rows_of(found.table):
        score = interval_text(row.mean_rank, row.ci95_low, row.ci95_high)
        table.add_row(
            Text(clean_name(row.team)),
            score,
            letters_text(row.letters),
            ranks_text(row.rank_low, row.rank_high),
        )
    return table


def _team_cell(row: Any) -> Text:
    text = Text(clean_name(row.team))
    marks = marks_of(row)
    if marks:
        text.append(f" ({marks})", style="italic")
    return text


def overview_table(board: Board, tasks: list[Ranking], width: int) -> Table | None:
    """Return the tasks of a suite side by side, one row per team; transposed when there are many tasks.

    None when it fits neither way; the rankings themselves are printed then.
    """
    family, split = tasks[0].family, tasks[0].split
    whole = next(one for one in board.overall if (one.family, one.split) == (family, split))
    rankings = [*tasks, whole]
    ranked = {str(team) for ranking in rankings for team in ranking.table["team"]}
    teams = [team for team in board.teams if team in ranked]
    space = width - 30
    turned = len(rankings) * FULL_WIDTH_OF_CELL > space
    if turned and len(teams) * FULL_WIDTH_OF_CELL > space:
        return None
    title = Text(f"{tasks[0].family}@{tasks[0].definition} · {tasks[0].split}", style="bold")
    title.append(
        f"   {whole.metric_title}, {direction_words(whole)}, {whole.n_units} units", style="default not bold"
    )
    if whole.simulated or any(ranking.simulated for ranking in tasks):
        title.append("   simulated", style="bold magenta")
    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    cells = {
        (str(row.team), ranking.task): Text(
            f"{score_text(row.score)}\n{bounds_text(row.ci95_low, row.ci95_high)}"
        )
        for ranking in rankings
        for row in rows_of(ranking.table)
    }
    blank = Text("–\n")
    names = [ranking.task for ranking in rankings]
    if turned:
        table.add_column("task")
        for team in teams:
            table.add_column(clean_name(team), justify="right", overflow="fold")
        for name in names:
            table.add_row(name, *(cells.get((team, name), blank) for team in teams))
        return table
    table.add_column("team", overflow="fold")
    for name in names:
        table.add_column(name, justify="right", no_wrap=True)
    roles = {str(row.team): row for ranking in rankings for row in rows_of(ranking.table)}
    for team in teams:
        style = "dim" if roles[team].role in BLIND_FLOORS else ""
        table.add_row(
            _team_cell(roles[team]), *(cells.get((team, name), blank) for name in names), style=style
        )
    return table


def print_standings(standings: Standings, console: Console | None = None) -> None:
    """Print a points or transfer board."""
    console = console or make_console()
    table = Table(
        title=Text(standings.title, style="bold"), title_justify="left", box=box.SIMPLE_HEAD, show_edge=False
    )
    hidden = {"ci95_low", "ci95_high", "p_top3", "p_top5", "rank_low", "rank_high"}
    names = [name for name in standings.table.columns if name not in hidden and not name.startswith("seed_")]
    for name in names:
        table.add_column(
            name.replace("_", " "), justify="left" if name == "team" else "right", overflow="fold"
        )
    for row in standings.table.to_dict("records"):
        score = interval_text(row.get("score"), row.get("ci95_low"), row.get("ci95_high"))
        table.add_row(*(score if name == "score" else _standing_cell(row[name]) for name in names))
    console.print(table)
    for team, reason in standings.unranked.itertuples(index=False):
        console.print(Text(f"  not ranked  {clean_name(team)}: {clean_name(reason)}", style="red"))
    console.print(Text(standings.rule, style="dim"))


def _standing_cell(value: Any) -> str:
    if isinstance(value, float):
        return score_text(value)
    return clean_name(value) if is_known(value) else "–"
