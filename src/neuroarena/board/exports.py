"""Boards as files: CSV, JSON, parquet, LaTeX and HTML, each written completely or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd

from neuroarena import __version__
from neuroarena.atomic import replacing, write_text
from neuroarena.board.board import Board
from neuroarena.board.ranking import Ranking, plain_pairs
from neuroarena.board.wording import (
    alpha_words,
    cells_of,
    clean_name,
    column_heading,
    direction_words,
    explain_letters,
    find_breaks,
    interval_text,
    letters_text,
    levels_words,
    marks_of,
    p_cell,
    p_heading,
    ranks_text,
    rows_of,
    share_text,
)
from neuroarena.errors import InputError


def export(board: Board, kind: str, path: str | Path) -> None:
    """Write a board as a file.

    Parameters
    ----------
    board : Board
    kind : {"csv", "json", "parquet", "latex", "html", "verdicts"}
        "verdicts" writes one row per pair of every ranking, as parquet or, where the name ends in .csv, as CSV.
    path : path
        Replaced when it exists, and left as it was when something fails.

    Raises
    ------
    InputError
        For an unknown kind.
    """
    if kind not in EXPORTS:
        raise InputError(f'No export "{kind}"; there are: {", ".join(EXPORTS)}.')
    EXPORTS[kind](board, Path(path))


def _csv(board: Board, path: Path) -> None:
    # repr-exact floats, so that what is read back equals the table.
    write_text(path, board.frame().to_csv(index=False, lineterminator="\n"))


def _json(board: Board, path: Path) -> None:
    write_text(path, board.to_json() + "\n")


def _parquet(board: Board, path: Path) -> None:
    with replacing(path) as temporary:
        board.frame().to_parquet(temporary, index=False)


def _verdicts(board: Board, path: Path) -> None:
    table = verdict_table(board)
    if path.suffix == ".csv":
        write_text(path, table.to_csv(index=False, lineterminator="\n"))
        return
    with replacing(path) as temporary:
        table.to_parquet(temporary, index=False)


def verdict_table(board: Board) -> pd.DataFrame:
    """Return the verdicts of every ranking as one long table: one row per pair.

    A suite's verdicts on its tasks alone, and by mean rank over tasks, have a `kind` of their own.
    """
    made = [
        (one, kind, rows)
        for one in board.everything
        for kind, rows in (
            (one.kind, one.judgements),
            ("on these tasks", one.on_these_tasks),
            ("mean rank", None if one.mean_ranks is None else one.mean_ranks.verdicts),
        )
        if rows is not None
    ]
    parts = [
        plain_pairs(rows).assign(benchmark=one.benchmark, split=one.split, kind=kind)
        for one, kind, rows in made
    ]
    head = ["kind", "benchmark", "split"]
    table = pd.concat(parts, ignore_index=True)
    return table[[*head, *(name for name in table.columns if name not in head)]]


def _latex(board: Board, path: Path) -> None:
    write_text(path, latex(board))


def _html(board: Board, path: Path) -> None:
    from neuroarena.board.report import write_report

    write_report(board, path)


EXPORTS: dict[str, Callable[[Board, Path], None]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "latex": _latex,
    "html": _html,
    "verdicts": _verdicts,
}

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "–": "--",
    "·": r"\textperiodcentered{}",
    "±": r"$\pm$",
    "…": r"\ldots{}",
    "\ufffd": "?",
    # A quote alone is harmless; two of them, and a bracket after \\, would be read as commands.
    '"': r"\textquotedbl{}",
    "[": "{[}",
    "]": "{]}",
}


def escape_latex(text: str) -> str:
    r"""Escape a text for LaTeX.

    Examples
    --------
    >>> escape_latex("a_b & 5 %")
    'a\\_b \\& 5 \\%'
    """
    return "".join(_SPECIAL.get(letter, letter) for letter in clean_name(text))


def latex(board: Board) -> str:
    """Return a board as LaTeX tables for the packages booktabs and fontenc (T1), one per ranking."""
    head = f"% neuroarena {__version__}. Needs \\usepackage[T1]{{fontenc}} and \\usepackage{{booktabs}}.\n"
    return head + "\n".join(_latex_table(ranking) for ranking in board.everything)


def _latex_table(ranking: Ranking) -> str:
    note = " Simulated data." if ranking.simulated else ""
    about = (
        f"{ranking.benchmark}, {ranking.split}: {ranking.metric_title} ({direction_words(ranking)}) "
        f"with 95 % interval, {levels_words(ranking)}; {alpha_words(ranking)}; * means better; "
        f"{explain_letters(ranking.rules)}.{note}"
    )
    extra = _latex_columns(ranking)
    heads = "".join(f" & {escape_latex(column_heading(ranking, name))}" for name in extra)
    lines = [
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{escape_latex(about)}}}",
        rf"\begin{{tabular}}{{rlcrcrr{'r' * len(extra)}}}",
        r"\toprule",
        rf"\# & Team & Score [95\,\%] & {p_heading(ranking.rules)} & Groups & $P$(1st) & Ranks{heads} \\",
        r"\midrule",
    ]
    breaks = find_breaks(ranking)
    several = len(breaks) < len(ranking.table) - 1
    for at, (row, more) in enumerate(zip(rows_of(ranking.table), cells_of(ranking, extra), strict=True)):
        if several and at in breaks:
            lines.append(r"\addlinespace")
        marks = marks_of(row)
        p, sure = p_cell(row, ranking)
        cells = [
            str(row.rank),
            f"{row.team} ({marks})" if marks else str(row.team),
            interval_text(row.score, row.ci95_low, row.ci95_high),
            p + ("*" if sure else ""),
            letters_text(row.letters),
            share_text(row.p_top1),
            ranks_text(row.rank_low, row.rank_high),
            *more,
        ]
        lines.append(" & ".join(escape_latex(cell) for cell in cells) + r" \\")
    for row in rows_of(ranking.unranked):
        words = escape_latex(f"not ranked: {row.reason}")
        lines.append(
            f"-- & {escape_latex(row.team)} & \\multicolumn{{{5 + len(extra)}}}{{p{{0.6\\linewidth}}}}{{{words}}} \\\\"
        )
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _latex_columns(ranking: Ranking) -> tuple[str, ...]:
    """List the columns after the usual ones: the tie-break where there is one, then the extra ones."""
    broken = ranking.table["tie_break"].notna().any()
    return (*(("tie_break",) if broken else ()), *ranking.extra_columns)
