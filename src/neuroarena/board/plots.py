"""Plots of one ranking: scores, ranks, pairs and how many units are needed."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from neuroarena.atomic import replacing, write_text
from neuroarena.board.figures import (
    COLOURS,
    ENTRY,
    FLOOR,
    GREY,
    ORGANISER,
    heading,
    label,
    label_width,
    mark_simulated,
    new_figure,
    place,
    style,
    svg_text,
)
from neuroarena.board.ranking import Ranking, plain_pairs
from neuroarena.board.verdict_plots import classical_diagram, difference_plot, group_plot
from neuroarena.board.wording import (
    alpha_words,
    clean_name,
    explain_letters,
    find_breaks,
    interval_text,
    letters_text,
    pair_p_text,
    rows_of,
    score_text,
    share_text,
    verdict,
)
from neuroarena.errors import InputError
from neuroarena.statistics import MINIMUM_LEVELS
from neuroarena.statistics.verdicts import BETTER, EQUIVALENT, UNDECIDED

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from neuroarena.board.board import Board

FOREST_TEAMS, MATRIX_TEAMS = 40, 20
MOST_DOTS = 3_000
# Single units stand beside the bar of their team, not behind it: how far each is from the middle of the row.
BAR_ABOVE, UNITS_BELOW = 0.16, 0.2
LOOKS = {"entry": (ENTRY, "o"), "classical": (ENTRY, "s"), "organiser": (ORGANISER, "D")}
FLOOR_LOOK = (FLOOR, "s")


def forest(ranking: Ranking) -> Figure:
    """Draw the scores with their intervals, best at the top, the scores of single units as small dots."""
    table = ranking.table.head(FOREST_TEAMS)
    names = [label(team) for team in table["team"]]
    left, right = label_width(names), 2.15
    rows = np.arange(len(table))
    with style():
        figure = new_figure(9.2, 1.3 + 0.3 * len(table))
        axes = place(figure, left, 0.6, right, 0.6)
        _shade_groups(axes, ranking, table)
        draw_units(axes, ranking, list(table["team"]), UNITS_BELOW)
        draw_scores(axes, table, BAR_ABOVE)
        for at, row in enumerate(rows_of(table)):
            text = interval_text(row.score, row.ci95_low, row.ci95_high)
            axes.text(1.06, at, text, transform=axes.get_yaxis_transform(), va="center", fontsize=8.5)
        mark_chance(axes, ranking)
        axes.set_yticks(rows, names)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(table) - 0.4, -0.6)
        axes.set_xlabel(f"{ranking.metric_title} ({ranking.manifest.direction} is better)")
        axes.set_title(ranking.title, pad=18)
        if ranking.simulated:
            mark_simulated(figure)
    return figure


def draw_scores(axes: Any, table: Any, above: float) -> None:
    """Draw scores and intervals, one artist per role: one per team would make large boards slow."""
    rows = np.arange(len(table)) - above
    for role in dict.fromkeys(table["role"]):
        colour, marker = LOOKS.get(role, FLOOR_LOOK)
        of_role = (table["role"] == role).to_numpy()
        own = table[of_role]
        if own["ci95_low"].notna().all():
            axes.hlines(rows[of_role], own["ci95_low"], own["ci95_high"], color=colour, lw=2, zorder=3)
        look = {"color": colour, "ms": 6, "mec": "white", "mew": 0.7}
        axes.plot(own["score"].to_numpy(), rows[of_role], marker, ls="none", zorder=4, **look)


def _shade_groups(axes: Any, ranking: Ranking, table: Any) -> None:
    """Shade runs of rows that no letter leaves, with the letters of each team at the right end."""
    if table["letters"].isna().any():
        return
    inside = [at for at in sorted(find_breaks(ranking)) if at < len(table)]
    for number, (first, stop) in enumerate(pairwise([0, *inside, len(table)])):
        axes.axhspan(first - 0.5, stop - 0.5, color="#F1F3F6" if number % 2 == 0 else "white", zorder=0, lw=0)
    for at, letters in enumerate(table["letters"]):
        axes.text(
            1.03, at, letters_text(letters), transform=axes.get_yaxis_transform(), va="center",
            ha="center", fontsize=8.5, fontweight="bold", color=GREY,
        )  # fmt: skip


def draw_units(axes: Any, ranking: Ranking, teams: list[str], below: float) -> None:
    """Draw a dot for every unit of each team, `below` the middle of its row."""
    if not shows_units(ranking):
        return
    values = ranking.unit_scores[teams].to_numpy()
    # A fixed spread instead of a random one: the same board is the same picture.
    spread = 0.2 * (((np.arange(len(values)) * 0.618034) % 1.0) - 0.5)
    heights = np.arange(len(teams))[None, :] + below + spread[:, None]
    axes.plot(values.ravel(), heights.ravel(), ".", color="#8793A1", ms=4.5, alpha=0.7, mew=0, zorder=2)


def shows_units(ranking: Ranking) -> bool:
    """Return whether the forest plot has room for one dot per unit."""
    return ranking.n_units > 1 and ranking.n_units * min(FOREST_TEAMS, len(ranking.table)) <= MOST_DOTS


def mark_chance(axes: Any, ranking: Ranking) -> None:
    """Draw a dashed line at the level of chance, where it is known."""
    chance = ranking.manifest.chance
    if chance is None:
        return
    axes.axvline(chance, color="black", ls=(0, (4, 3)), lw=1, zorder=1)
    text = f"chance {chance:g}"
    axes.text(chance, 1.01, text, transform=axes.get_xaxis_transform(), fontsize=8, va="bottom", ha="center")


def rank_heat_map(ranking: Ranking) -> Figure:
    """Draw the share of the draws in which each team has each rank."""
    shares = ranking.rank_probabilities.iloc[:MATRIX_TEAMS, :MATRIX_TEAMS]
    names = [label(team) for team in shares.index]
    n_teams, n_ranks = shares.shape
    cell = max(0.42 if n_ranks <= 12 else 0.34, 1.7 / n_ranks)
    left = label_width(names)
    with style():
        figure = new_figure(left + cell * n_ranks + 0.2, 1.0 + 0.3 * n_teams)
        axes = place(figure, left, 0.5, 0.2, 0.45)
        values = shares.to_numpy()
        axes.pcolormesh(values, cmap="Blues", vmin=0, vmax=1, edgecolors="white", linewidth=0.5)
        for row, column in zip(*np.nonzero(values >= 0.005), strict=True):
            share = values[row, column]
            axes.text(
                column + 0.5, row + 0.5, f"{100 * share:.0f}", ha="center", va="center", fontsize=7.5,
                color="white" if share > 0.55 else "#222222",
            )  # fmt: skip
        axes.set_yticks(np.arange(n_teams) + 0.5, names)
        axes.set_xticks(np.arange(n_ranks) + 0.5, [str(rank) for rank in shares.columns])
        axes.tick_params(length=0)
        axes.set_ylim(n_teams, 0)
        axes.set_xlabel("rank (percent of draws)")
        heading(figure, "How sure is the order?")
        if ranking.simulated:
            mark_simulated(figure)
    return figure


def pair_matrix(ranking: Ranking) -> Figure:
    """Draw the difference of every two of the best teams, coloured by its verdict, and p after Holm's correction."""
    teams, pairs = all_pairs(ranking)
    names = [label(team) for team in teams]
    n = len(teams)
    left, cell = label_width(names[:-1]), max(0.56, 1.7 / (n - 1))
    side = left + cell * (n - 1) + 0.2
    bottom = 0.2 + label_width(names[1:]) * 0.66
    at = {team: position for position, team in enumerate(teams)}
    largest = float(pairs["delta"].abs().max()) or 1.0
    with style():
        figure = new_figure(side, 0.45 + 0.38 * (n - 1) + bottom)
        axes = place(figure, left, bottom, 0.2, 0.45)
        faces = np.ones((n - 1, n - 1, 4))
        for row in rows_of(pairs):
            y, x = at[row.team_a], at[row.team_c] - 1
            faces[y, x] = _face(row, largest)
            for words, offset, size in (
                (_shorten(_delta_text(row.delta)) + ("*" if row.verdict == BETTER else ""), 0.34, 7.5),
                (f"p {_shorten(pair_p_text(ranking, row.p_holm))}", 0.72, 6),
            ):
                axes.text(
                    x + 0.5, y + offset, words, ha="center", va="center", fontsize=size,
                    color="#555555" if row.verdict == UNDECIDED else "#111111",
                )  # fmt: skip
        axes.pcolormesh(faces, edgecolors="white", linewidth=1.5)
        axes.set_xlim(0, n - 1)
        axes.set_ylim(n - 1, 0)
        axes.set_yticks(np.arange(n - 1) + 0.5, names[:-1])
        axes.set_xticks(np.arange(n - 1) + 0.5, names[1:], rotation=40, ha="right", rotation_mode="anchor")
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        heading(figure, "Row ahead of column by")
        if ranking.simulated:
            mark_simulated(figure)
    return figure


def _face(row: Any, largest: float) -> tuple[float, float, float, float]:
    """Return the colour of a pair's cell: stronger the larger the difference where one team is better."""
    from matplotlib.colors import to_rgba

    if row.verdict == BETTER:
        return to_rgba(COLOURS[1], 0.25 + 0.6 * abs(row.delta) / largest)
    return to_rgba(COLOURS[2], 0.25) if row.verdict == EQUIVALENT else to_rgba("#ECEEF1")


def _delta_text(delta: float) -> str:
    return f"{delta:.3f}" if abs(delta) < 10 else f"{delta:.1f}"


def _shorten(number: str) -> str:
    """Return a number without the 0 before its point and without spaces, for narrow cells."""
    bare = number.replace(" ", "")
    return bare.replace("0.", ".", 1) if bare.removeprefix("<").startswith("0.") else bare


def all_pairs(ranking: Ranking) -> tuple[list[str], pd.DataFrame]:
    """Return the verdicts of every two of the best teams; they were corrected over all pairs of the board."""
    teams = [str(team) for team in ranking.table["team"].head(MATRIX_TEAMS)]
    rows = ranking.judgements
    return teams, plain_pairs(rows[rows["a"].isin(teams) & rows["c"].isin(teams)])


def half_width_curve(ranking: Ranking) -> Figure:
    """Draw the half width of a score against the number of units, with the present number and nu."""
    found = ranking.resolution
    if found is None or found.sigma is None or found.n_units is None or found.half_width is None:
        raise InputError(
            f"{ranking.name}: the deviation of a unit score is not known; there is nothing to draw."
        )
    last = 4 * max(found.n_units, min(found.required_units or 1, 100 * found.n_units))
    # An interval of t needs six independent levels, so the curve begins there.
    fewest = 0.0 if found.df is None else MINIMUM_LEVELS * found.n_units / (found.df + 1)
    units = np.geomspace(max(2, min(found.n_units, 8) / 2, min(fewest, found.n_units)), last, 120)
    with style():
        figure = new_figure(6.0, 3.0)
        axes = place(figure, 0.75, 0.55, 0.3, 0.45)
        axes.plot(units, [found.width_at(n) for n in units], color=ENTRY, lw=2)
        axes.plot([found.n_units], [found.half_width], "o", color=ORGANISER, ms=8, mec="white", zorder=4)
        axes.annotate(
            f"now: {found.n_units} units, ± {found.half_width:.3g}", (found.n_units, found.half_width),
            xytext=(8, 8), textcoords="offset points", fontsize=8.5,
        )  # fmt: skip
        if found.nu is not None:
            axes.axhline(found.nu, color="black", ls=(0, (4, 3)), lw=1)
            axes.annotate(f"aim: {found.nu:g} ({found.required_units} units)", (1, found.nu),
                          xycoords=("axes fraction", "data"), xytext=(0, 3), textcoords="offset points",
                          fontsize=8.5, ha="right")  # fmt: skip
        axes.set_xscale("log")
        marks = [digit * 10**power for power in range(8) for digit in (1, 2, 5)]
        axes.set_xticks([mark for mark in marks if units[0] <= mark <= units[-1]])
        axes.xaxis.set_major_formatter(lambda value, _: f"{value:g}")
        axes.minorticks_off()
        axes.set_ylim(0, None)
        axes.set_xlabel(f"number of units ({ranking.manifest.unit})")
        axes.set_ylabel("half width, 95 %")
        heading(figure, "How many units are needed?")
        if ranking.simulated:
            mark_simulated(figure)
    return figure


PLOTS: dict[str, Callable[[Ranking], Figure]] = {
    "forest": forest,
    "differences": difference_plot,
    "groups": group_plot,
    "ranks": rank_heat_map,
    "pairs": pair_matrix,
    "half-width": half_width_curve,
}


def possible_plots(ranking: Ranking) -> list[str]:
    """List the plots that have something to show for a ranking."""
    if ranking.table.empty:
        return []
    kinds = ["forest"]
    decided = ranking.decides and len(ranking.judgements) > 0
    if decided and ranking.moments is not None:
        kinds.append("differences")
    if decided and ranking.groups:
        kinds.append("groups")
    if len(ranking.rank_probabilities) > 1:
        kinds.append("ranks")
    if decided:
        kinds.append("pairs")
    # Without a verdict there is no interval whose width could be shown.
    if ranking.decides and ranking.resolution is not None and ranking.resolution.half_width is not None:
        kinds.append("half-width")
    return kinds


def caption(kind: str, ranking: Ranking) -> str:
    """Describe what a plot shows, and what it leaves out."""
    n = len(ranking.table)
    if kind == "forest":
        dots = (
            "small dots: single units; "
            if shows_units(ranking)
            else "dots of single units are left out for room; "
        )
        dots = dots if ranking.n_units > 1 else ""
        of = f"The best {FOREST_TEAMS} of {n} teams. " if n > FOREST_TEAMS else ""
        organisers = ", diamonds: organisers" if (ranking.table["role"] == "organiser").any() else ""
        shown = (
            f"Score with 95 % interval; {dots}{explain_letters(ranking.rules)}"
            if ranking.decides
            else f"Score; {dots}too few independent levels for intervals and letters"
        )
        return f"{of}{shown}. Circles: entries, squares: floors{organisers}."
    if kind == "differences":
        return (
            "Thin: 95 % interval of this pair alone; thick: the interval at which it was judged, all pairs counted. "
            f"Blue: the leader is better; green: equivalent; grey: undecided. {alpha_words(ranking)}."
        )
    if kind == "groups":
        joined = (
            "not told apart from the best of them"
            if ranking.moments is None
            else "of which none is better than another"
        )
        return f"Best at the left. A bar joins teams {joined}; it is dashed where it skips a team."
    of = f"The best {MATRIX_TEAMS} of {n} teams. " if n > MATRIX_TEAMS else ""
    if kind == "ranks":
        return f"{of}Share of the draws in which a team (row) has a rank (column)."
    if kind == "pairs":
        return (
            f"{of}How far the row is ahead of the column, and p after Holm. Orange and starred: better; green: "
            f"equivalent; grey: undecided. {alpha_words(ranking)}."
        )
    rule = "1.96 sigma / sqrt(n)" if ranking.moments is None else "as the intervals above are made"
    return f"Half width of the 95 % interval of a score against the number of units, {rule}."


def alt_text(kind: str, ranking: Ranking) -> str:
    """Describe a plot for readers who cannot see it."""
    head = f"{ranking.title}{', simulated data' if ranking.simulated else ''}."
    table = ranking.table
    if kind == "forest":
        shown = [
            f"{clean_name(row.team)} {interval_text(row.score, row.ci95_low, row.ci95_high)}"
            for row in rows_of(table.head(10))
        ]
        more = f", and {len(table) - 10} more" if len(table) > 10 else ""
        return f"Forest plot. {head} {ranking.metric_title}: {'; '.join(shown)}{more}."
    if kind == "ranks":
        shown = [
            f"{clean_name(row.team)} is first in {share_text(row.p_top1)}" for row in rows_of(table.head(3))
        ]
        return f"Heat map of ranks over the draws. {head} {'; '.join(shown)}."
    if kind == "differences":
        return f"Differences from the leader. {head} {verdict(ranking)}"
    if kind == "groups":
        groups = "; ".join(", ".join(map(clean_name, group[:8])) for group in ranking.groups[:8])
        return f"Groups: {explain_letters(ranking.rules)}. {head} {groups}."
    if kind == "pairs":
        return f"Matrix of pairwise differences. {head} {verdict(ranking)}"
    found = ranking.resolution
    width = score_text(None if found is None else found.half_width)
    now = f"Now {ranking.n_units} units, half width {width}."
    return f"Curve of half width against number of units. {head} {now}"


def save_plots(
    board: Board, folder: str | Path, formats: tuple[str, ...] = ("svg", "png"), classical: bool = False
) -> list[Path]:
    """Write every plot of a board into a folder.

    Parameters
    ----------
    board : Board
    folder : path
    formats : tuple of {"svg", "png", "pdf"}
    classical : bool
        Whether to draw the classical critical-difference diagram of every suite too.

    Returns
    -------
    list of Path
        The files, in order.

    Raises
    ------
    InputError
        For an unknown format.
    """
    from neuroarena.board.learning_curves import draw_curve, learning_curves
    from neuroarena.board.suite_plots import board_looks, suite_alt_text, suite_figures

    unknown = [name for name in formats if name not in ("svg", "png", "pdf")]
    if unknown:
        raise InputError(f'No plot format "{unknown[0]}"; there are: svg, png, pdf.')
    written: list[Path] = []
    for family, figure in suite_figures(board):
        written += _save(
            figure, Path(folder) / f"{_file_name(family)}--suite", formats, suite_alt_text(board, family)
        )
    looks = board_looks(board)
    for curve in learning_curves(board.rankings):
        stem = Path(folder) / f"{_file_name(curve.title)}--learning-curve"
        written += _save(draw_curve(curve, looks), stem, formats, curve.alt_text)
    for one in board.overall if classical else ():
        figure = classical_diagram(board, one.family, one.split)
        stem = Path(folder) / f"{_file_name(one.name)}--critical-difference"
        written += _save(figure, stem, formats, f"Critical-difference diagram of mean ranks. {one.title}.")
    for ranking in board.everything:
        for kind in possible_plots(ranking):
            stem = Path(folder) / f"{_file_name(ranking.name)}--{kind}"
            written += _save(PLOTS[kind](ranking), stem, formats, alt_text(kind, ranking))
    return written


def _save(figure: Figure, stem: Path, formats: tuple[str, ...], description: str) -> list[Path]:
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in formats]
    for path, kind in zip(paths, formats, strict=True):
        if kind == "svg":
            write_text(
                path, '<?xml version="1.0" encoding="utf-8"?>\n' + svg_text(figure, "plot", description)
            )
            continue
        nothing = {"CreationDate": None} if kind == "pdf" else {"Software": None}
        with replacing(path) as temporary, style():
            figure.savefig(temporary, format=kind, dpi=150, metadata=nothing)
    return paths


def _file_name(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "@._-" else "-" for letter in name)
