"""The Neuroprobe paper's tables: tasks down, models across, mean and standard error, from runs and submissions."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from neuroarena import __version__
from neuroarena.atomic import replacing, write_text
from neuroarena.board.board import Board, records
from neuroarena.board.entries import Entry, entries_from_results
from neuroarena.board.exports import escape_latex
from neuroarena.board.figures import style, svg_text
from neuroarena.board.ranking import Ranking
from neuroarena.board.rules import Rules
from neuroarena.board.wording import (
    UNKNOWN,
    bounds_text,
    clean_name,
    letters_text,
    marks_of,
    rows_of,
    score_text,
    shared_warnings,
)
from neuroarena.errors import InputError
from neuroarena.evaluation import find_results, load_result
from neuroarena.families.neuroprobe.family import FAMILY
from neuroarena.families.neuroprobe.importer import entries_from_neuroprobe
from neuroarena.families.neuroprobe.submission_checks import SPLIT_FOLDERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

OVERALL = "overall"
PAPER_COLUMNS = (
    "split", "task", "title", "team", "role", "rank", "mean", "sem", "ci95_low", "ci95_high", "letters", "first_group",
    "n_sessions", "n_runs", "notes", "simulated",
)  # fmt: skip
MODELS_A_TABLE = 5
HOW_COMPUTED = (
    "A session's score is the mean over its folds. The standard error of a task is the population standard "
    "deviation over its sessions, divided by the root of their number; overall, it is the root of the summed "
    "squares of the tasks' standard errors, divided by the number of tasks."
)
HOW_COMPARED = (
    "Brackets: 95 % interval over subjects. Letters: two models share one exactly when neither is better, corrected "
    "for all pairs. Bold: the best model and those that are not worse."
)


@dataclass(frozen=True, eq=False)
class Paper:
    """The content of the paper's figure and tables.

    Attributes
    ----------
    board : Board
        The rankings it is drawn from.
    table : DataFrame
        Long form: one row per split, task and model, with :data:`PAPER_COLUMNS`; ``task`` is "overall" in the last
        rows of a split.
    notes : tuple of str
        What a reader must know about the submissions and about what is left out.
    """

    board: Board
    table: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits, in their order."""
        return tuple(dict.fromkeys(self.table["split"]))

    @property
    def teams(self) -> tuple[str, ...]:
        """The models, best first."""
        present = set(self.table["team"])
        return tuple(team for team in self.board.teams if team in present)

    @property
    def definition(self) -> str:
        """The definition, or several joined by "+"."""
        names = {name for ranking in self.board.rankings for name in ranking.definition.split("+")}
        return "+".join(sorted(names))

    def of_split(self, split: str) -> pd.DataFrame:
        """Return the rows of a split."""
        return self.table[self.table["split"] == split]


def read_paper(
    paths: Iterable[str | Path],
    *,
    split: str | None = None,
    allow_mixed: bool = False,
    rules: Rules | None = None,
) -> Paper:
    """Read results and submissions, side by side.

    Parameters
    ----------
    paths : iterable of path
        Folders of ``neuroarena run``, submission folders, or folders that contain either.
    split : str, optional
        Only this one.
    allow_mixed : bool
        Whether models judged by different definitions may stand side by side, marked.
    rules : Rules, optional
        Of the board.

    Raises
    ------
    InputError
        When a path holds neither, when definitions mix, or when there is no run of Neuroprobe.
    """
    submissions, runs = _sorted_out([Path(path) for path in paths])
    results = [load_result(folder) for folder in runs]
    own = [entry for entry in entries_from_results(results) if _of_populations(entry)]
    left_out = len(results) - len(own)
    notes = (
        [f"Left out, of other benchmarks or of single electrodes: {left_out} of {len(results)} runs."]
        if left_out
        else []
    )
    imported: list[Entry] = []
    if submissions:
        imported, said = entries_from_neuroprobe(submissions, allow_mixed=allow_mixed)
        notes += said
    entries = [*own, *_rename_duplicates(imported, {entry.team for entry in own})]
    wanted = None if split is None else split.lower()
    entries = [entry for entry in entries if wanted is None or entry.split == wanted]
    if not entries:
        raise InputError(
            "There is nothing of Neuroprobe to show" + (f' of the split "{split}"' if split else "") + "."
        )
    tasks = [task for definition in FAMILY.definitions for task in FAMILY.tasks(definition)]
    order = [*SPLIT_FOLDERS, *dict.fromkeys(tasks)]
    board = Board(entries, rules, allow_mixed=allow_mixed, order=order)
    return Paper(board, paper_table(board), (*notes, *board.notes, *_describe_runs(board)))


def _of_populations(entry: Entry) -> bool:
    """Return whether an entry is of Neuroprobe, with the session as its unit."""
    level = entry.provenance.get("options", {}).get("level", "population")
    return entry.family == FAMILY.name and level == "population"


def _sorted_out(paths: list[Path]) -> tuple[list[Path], list[Path]]:
    """Separate submission folders from folders of runs, and return both."""
    submissions: list[Path] = []
    runs: list[Path] = []
    for path in paths:
        if not path.is_dir():
            raise InputError(f"{path}: this folder does not exist. Expected results or submissions.")
        if is_submission(path):
            submissions.append(path)
            continue
        within = sorted(
            child for child in path.iterdir() if not child.name.startswith(".") and is_submission(child)
        )
        here = find_results([path]) if any(path.rglob("record.json")) else []
        if not within and not here:
            raise InputError(
                f"{path}: holds neither results of neuroarena run nor a submission to the Neuroprobe leaderboard."
            )
        submissions += within
        runs += here
    return list(dict.fromkeys(submissions)), list(dict.fromkeys(runs))


def is_submission(folder: Path) -> bool:
    """Return whether a folder looks like a submission to the Neuroprobe leaderboard."""
    return (folder / "metadata.json").is_file() and any(
        (folder / own).is_dir() for own in SPLIT_FOLDERS.values()
    )


def _rename_duplicates(imported: list[Entry], taken: set[str]) -> list[Entry]:
    """Rename a submission that shares its name with a run's decoder: they are two rows, not the better of two."""
    return [
        dataclasses.replace(entry, team=f"{entry.team} [{entry.provenance['folder']}]")
        if entry.team in taken
        else entry
        for entry in imported
    ]


def _describe_runs(board: Board) -> list[str]:
    several = sorted({row.team for one in board.rankings for row in rows_of(one.table) if row.n_entries > 1})
    said = [f"{clean_name(team)}: of several runs of a task, the best counts." for team in several]
    reasons: dict[tuple[str, str], list[str]] = {}
    for ranking in board.rankings:
        for row in rows_of(ranking.unranked):
            reasons.setdefault((str(row.team), str(row.reason)), []).append(f"{ranking.task} {ranking.split}")
    for (team, reason), where in reasons.items():
        more = f" and {len(where) - 3} more" if len(where) > 3 else ""
        said.append(f"{clean_name(team)} is not shown on {', '.join(where[:3])}{more}: {clean_name(reason)}.")
    return said


def paper_table(board: Board) -> pd.DataFrame:
    """Compute the tables of the paper from a board.

    Returns
    -------
    DataFrame
        :data:`PAPER_COLUMNS`. ``mean`` and ``sem`` by the published formula; the interval, the rank and the
        letters are the board's.
    """
    rows: list[dict[str, Any]] = []
    for split in dict.fromkeys(ranking.split for ranking in board.rankings):
        tasks = [ranking for ranking in board.rankings if ranking.split == split]
        errors: dict[str, list[float]] = {}
        for ranking in tasks:
            for row in rows_of(ranking.table):
                scores = ranking.unit_scores[row.team].to_numpy()
                sem = float(scores.std(ddof=0) / np.sqrt(len(scores)))
                errors.setdefault(row.team, []).append(sem)
                rows.append(_row(ranking, row, float(scores.mean()), sem))
        for ranking in [one for one in board.overall if one.split == split]:
            for row in rows_of(ranking.table):
                own = np.array(errors[row.team])
                rows.append(_row(ranking, row, float(row.score), float(np.sqrt((own**2).sum()) / len(own))))
    return pd.DataFrame(rows, columns=list(PAPER_COLUMNS))


def _shares(letters: str | None, leaders: str | None) -> bool:
    return letters is not None and leaders is not None and not set(letters).isdisjoint(leaders)


def _row(ranking: Ranking, row: Any, mean: float, sem: float) -> dict[str, Any]:
    overall = ranking.kind == "overall"
    return {
        "split": ranking.split,
        "task": OVERALL if overall else ranking.task,
        "title": "Overall" if overall else ranking.manifest.title,
        "team": str(row.team),
        "role": row.role,
        "rank": int(row.rank),
        "mean": mean,
        "sem": sem,
        "ci95_low": row.ci95_low,
        "ci95_high": row.ci95_high,
        "letters": row.letters,
        "first_group": bool(row.rank == 1 or _shares(row.letters, ranking.table["letters"].iloc[0])),
        "n_sessions": ranking.n_units,
        "n_runs": int(row.n_entries),
        "notes": marks_of(row),
        "simulated": bool(row.simulated),
    }


def _grid(paper: Paper, split: str) -> tuple[list[str], list[tuple[str, dict[str, Any]]]]:
    """Turn the rows of a split into a table: the models, and for each task its title and its cells by model."""
    rows = paper.of_split(split)
    teams = [team for team in paper.teams if team in set(rows["team"])]
    grid: dict[str, tuple[str, dict[str, Any]]] = {}
    for row in rows_of(rows):
        grid.setdefault(row.task, (row.title, {}))[1][row.team] = row
    return teams, list(grid.values())


def _caption(paper: Paper, split: str) -> str:
    rows = paper.of_split(split)
    sessions = " to ".join(
        str(n) for n in dict.fromkeys((rows["n_sessions"].min(), rows["n_sessions"].max()))
    )
    n_tasks = rows.loc[rows["task"] != OVERALL, "task"].nunique()
    mark = " Simulated data." if rows["simulated"].any() else ""
    return (
        f"Neuroprobe {paper.definition}, {SPLIT_FOLDERS.get(split, split)}: AUROC, mean ± standard error over "
        f"{sessions} sessions, {n_tasks} task{'' if n_tasks == 1 else 's'}.{mark}"
    )


def paper_latex(paper: Paper) -> str:
    """Return the tables as LaTeX for booktabs and fontenc (T1): one per split and five models."""
    head = f"% neuroarena {__version__}. Needs \\usepackage[T1]{{fontenc}} and \\usepackage{{booktabs}}.\n"
    parts = []
    for split in paper.splits:
        teams, grid = _grid(paper, split)
        for first in range(0, len(teams), MODELS_A_TABLE):
            parts.append(_latex_table(paper, split, teams[first : first + MODELS_A_TABLE], grid))
    notes = "".join(f"% {clean_name(note)}\n" for note in paper.notes)
    return head + notes + "\n".join(parts)


def _latex_table(paper: Paper, split: str, teams: list[str], grid: list[tuple[str, dict[str, Any]]]) -> str:
    about = f"{_caption(paper, split)} {HOW_COMPUTED} {HOW_COMPARED}"
    names = [rf"\parbox[b]{{2.7cm}}{{\centering {escape_latex(team)}}}" for team in teams]
    lines = [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{escape_latex(about)}}}",
        rf"\begin{{tabular}}{{l{'c' * len(teams)}}}",
        r"\toprule",
        " & ".join(["Task", *names]) + r" \\",
        r"\midrule",
    ]
    for title, cells in grid:
        if title == "Overall":
            lines.append(r"\midrule")
        shown = [_latex_cell(cells.get(team)) for team in teams]
        lines.append(" & ".join([escape_latex(title), *(cell for cell, _ in shown)]) + r" \\")
        lines.append(" & ".join(["", *(bounds for _, bounds in shown)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _latex_cell(row: Any) -> tuple[str, str]:
    if row is None:
        return escape_latex(UNKNOWN), ""
    mean = score_text(row.mean)
    mean = rf"\textbf{{{mean}}}" if row.first_group else mean
    letter = letters_text(row.letters)
    letter = "" if letter == UNKNOWN else rf"\textsuperscript{{{letter}}}"
    bounds = escape_latex(bounds_text(row.ci95_low, row.ci95_high))
    return rf"{mean} $\pm$ {score_text(row.sem)}{letter}", rf"{{\scriptsize {bounds}}}" if bounds else ""


def paper_html(paper: Paper, figure: Figure | None = None) -> str:
    """Return figure and tables as one self-contained HTML page."""
    from importlib.resources import files

    from jinja2 import Environment, StrictUndefined
    from markupsafe import Markup

    from neuroarena.families.neuroprobe.paper_figure import figure_caption, figure_text, paper_figure

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    source = files(__package__).joinpath("paper.html.j2").read_text(encoding="utf-8")
    drawn = figure or paper_figure(paper)
    return environment.from_string(source).render(
        version=__version__,
        title=f"Neuroprobe {paper.definition}: {len(paper.teams)} models",
        simulated=paper.board.simulated,
        # matplotlib and ElementTree have escaped every text in it.
        svg=Markup(svg_text(drawn, "paper", figure_text(paper))),
        caption=figure_caption(paper),
        tables=[_html_table(paper, split) for split in paper.splits],
        computed=HOW_COMPUTED,
        compared=HOW_COMPARED,
        warnings=shared_warnings(paper.board.everything),
        notes=[clean_name(note) for note in paper.notes],
    )


def _html_table(paper: Paper, split: str) -> dict[str, Any]:
    teams, grid = _grid(paper, split)
    notes = paper.of_split(split).drop_duplicates("team").set_index("team")["notes"]
    rows = []
    for title, cells in grid:
        shown = []
        for team in teams:
            row = cells.get(team)
            if row is None:
                shown.append({"mean": UNKNOWN, "sem": "", "bounds": "", "tie": "", "best": False})
                continue
            letter = letters_text(row.letters)
            shown.append(
                {
                    "mean": score_text(row.mean),
                    "sem": f"± {score_text(row.sem)}",
                    "bounds": bounds_text(row.ci95_low, row.ci95_high),
                    "tie": "" if letter == UNKNOWN else letter,
                    "best": row.first_group,
                }
            )
        rows.append({"title": title, "overall": title == "Overall", "cells": shown})
    models = [{"name": clean_name(team), "marks": notes[team]} for team in teams]
    return {"caption": _caption(paper, split), "models": models, "rows": rows}


def write_paper(paper: Paper, out: str | Path) -> list[Path]:
    """Write figure and tables into a folder.

    Returns
    -------
    list of Path
        ``figure.png``, ``figure.svg``, ``tables.tex``, ``tables.csv``, ``tables.json`` and ``paper.html``, each
        written whole or not at all.
    """
    from neuroarena.families.neuroprobe.paper_figure import figure_text, paper_figure

    out = Path(out)
    figure = paper_figure(paper)
    with replacing(out / "figure.png") as temporary, style():
        figure.savefig(temporary, format="png", dpi=200, metadata={"Software": None})
    svg = '<?xml version="1.0" encoding="utf-8"?>\n' + svg_text(figure, "paper", figure_text(paper))
    write_text(out / "figure.svg", svg)
    write_text(out / "tables.tex", paper_latex(paper))
    write_text(out / "tables.csv", paper.table.to_csv(index=False, lineterminator="\n"))
    write_text(out / "tables.json", json.dumps(paper_data(paper), indent=2, allow_nan=False) + "\n")
    write_text(out / "paper.html", paper_html(paper, figure))
    return [out / name for name in FILES]


FILES = ("figure.png", "figure.svg", "tables.tex", "tables.csv", "tables.json", "paper.html")


def paper_data(paper: Paper) -> dict[str, Any]:
    """Return the tables as plain data."""
    return {
        "schema_version": 1,
        "neuroarena": __version__,
        "definition": paper.definition,
        "simulated": paper.board.simulated,
        "rules": paper.board.rules.model_dump(mode="json"),
        "notes": list(paper.notes),
        "rows": records(paper.table),
    }
