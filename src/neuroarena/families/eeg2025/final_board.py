"""The final board of the EEG Foundation Challenge 2025: read, checked, ranked and marked."""

from __future__ import annotations

import csv
import datetime
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.eeg2025.family import FAMILY

if TYPE_CHECKING:
    from rich.console import Console

# The end of 2 November 2025 anywhere on Earth.
DEADLINE = "2025-11-03T12:00:00Z"
SCORES = ("overall", "challenge1", "challenge2")
COLUMNS = ("submission", "account", "team", "created", *SCORES)
# Scores are published with this many decimals, so a weighted sum may be off by two units of the last.
DECIMALS = 5
IDENTITY_TOLERANCE = 2e-5
# Always answering the mean of the test targets yields an nRMSE of exactly 1.
CONSTANT_PREDICTOR = 1.0
NO_INTERVALS = (
    "This board publishes one number per challenge and no scores of subjects, so no interval, no test and no "
    "rank probability can be given: small differences may be chance."
)

_NUMBER = re.compile(r"\d+(\.\d*)?([eE][+-]?\d{1,3})?|\.\d+([eE][+-]?\d{1,3})?")
_NAMED = 5


def read_final_board(path: str | Path, deadline: str | datetime.datetime = DEADLINE) -> pd.DataFrame:
    """Read the final board and rank it: overall = 0.3 x challenge 1 + 0.7 x challenge 2, lower is better.

    Parameters
    ----------
    path : str or Path
        CSV with the columns submission, account, team (may be empty), created (ISO 8601 with a time
        zone), overall, challenge1 and challenge2 (nRMSE). Other columns are ignored.
    deadline : str or datetime
        Entries submitted after it are marked ``late``; they keep their rank.

    Returns
    -------
    DataFrame
        Best first: ``rank`` (equals at five decimals share it), ``submission``, ``account``, ``team``,
        ``created`` (UTC), ``overall``, ``challenge1``, ``challenge2``, ``rank_challenge1``,
        ``rank_challenge2``, ``late``, ``same_team_accounts`` (the team's other accounts, joined by
        ", "), ``tied_overall``, ``tied_challenge1``, ``tied_challenge2``, and ``beats_constant``,
        ``beats_constant_challenge1``, ``beats_constant_challenge2`` (below 1, the score of a constant
        answer). ``attrs["deadline"]`` is the deadline.

    Raises
    ------
    InputError
        Naming the file and the row: a missing column or value, an invalid number, an invalid
        time, a submission that occurs twice, or an overall score that is not the weighted sum.
    """
    path = Path(path)
    limit = _deadline(deadline)
    rows = [_row(cells, f"{path.name}: row {at}") for at, cells in enumerate(_cells(path), start=1)]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table["created"] = pd.to_datetime(table["created"], utc=True)
    _check_submissions(table, path.name)
    _check_identity(table, path.name)
    for name in SCORES:
        rounded = table[name].round(DECIMALS)
        ranks = rounded.rank(method="min").astype(np.int64)
        table["rank" if name == "overall" else f"rank_{name}"] = ranks
        table[f"tied_{name}"] = rounded.duplicated(keep=False)
        table["beats_constant" if name == "overall" else f"beats_constant_{name}"] = (
            table[name] < CONSTANT_PREDICTOR
        )
    table["late"] = table["created"] > limit
    table["same_team_accounts"] = [", ".join(others) for others in _other_accounts(table)]
    order = [
        "rank", *COLUMNS, "rank_challenge1", "rank_challenge2", "late", "same_team_accounts",
        *(f"tied_{name}" for name in SCORES),
        "beats_constant", "beats_constant_challenge1", "beats_constant_challenge2",
    ]  # fmt: skip
    table = table.sort_values(["rank", "created", "submission"], kind="stable", ignore_index=True)[order]
    table.attrs["deadline"] = limit.isoformat()
    return table


def summary(table: pd.DataFrame) -> dict[str, Any]:
    """Summarise a final board as plain data.

    Parameters
    ----------
    table : DataFrame
        What :func:`read_final_board` returns.
    """
    first = table.iloc[0]
    ordered = table["overall"].to_numpy()
    named = table[table["team"] != ""]
    accounts = {
        str(team): sorted(set(own["account"]))
        for team, own in named.groupby("team")
        if own["account"].nunique() > 1
    }
    late = table[table["late"]]
    return {
        "n": len(table),
        "leader": {"submission": first["submission"], "account": first["account"], "team": first["team"]},
        "best": {name: float(table[name].min()) for name in SCORES},
        "worst_overall": float(ordered[-1]),
        "gap_first_second": round(float(ordered[1] - ordered[0]), DECIMALS) if len(table) > 1 else None,
        "beats_constant": {
            "overall": int(table["beats_constant"].sum()),
            "challenge1": int(table["beats_constant_challenge1"].sum()),
            "challenge2": int(table["beats_constant_challenge2"].sum()),
        },
        "constant_challenge2": int(
            np.isclose(table["challenge2"], CONSTANT_PREDICTOR, rtol=0, atol=1e-4).sum()
        ),
        "shared_values": {name: int(table[f"tied_{name}"].sum()) for name in SCORES},
        "deadline": table.attrs.get("deadline"),
        "n_late": len(late),
        "late": [
            {"rank": int(rank), "submission": submission, "created": created.isoformat()}
            for rank, submission, created in zip(
                late["rank"], late["submission"], late["created"], strict=True
            )
        ],
        "rows_with_team": len(named),
        "teams_named": int(named["team"].nunique()),
        "teams_with_several_accounts": accounts,
    }


def final_board_json(table: pd.DataFrame) -> dict[str, Any]:
    """Return a final board as plain data for JSON: rows, summary and caveats."""
    rows: list[dict[str, Any]] = []
    for row, others in zip(table.to_dict("records"), _other_accounts(table), strict=True):
        plain = {
            str(key): value.item() if isinstance(value, np.generic) else value for key, value in row.items()
        }
        rows.append({**plain, "created": row["created"].isoformat(), "same_team_accounts": others})
    return {
        "schema_version": 1,
        "board": "eeg2025",
        "summary": summary(table),
        "notes": [NO_INTERVALS],
        "rows": rows,
    }


def print_final_board(table: pd.DataFrame, top: int = 20, console: Console | None = None) -> None:
    """Print the first rows of a final board and its summary.

    Parameters
    ----------
    table : DataFrame
        What :func:`read_final_board` returns.
    top : int
        How many rows.
    console : rich.console.Console, optional
        Where to print; standard output by default.
    """
    from rich import box
    from rich.console import Console as TheConsole
    from rich.table import Table
    from rich.text import Text

    console = console or TheConsole()
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for heading in ("rank", "account", "team", "overall", "challenge 1", "challenge 2"):
        left = heading in ("account", "team")
        shown.add_column(heading, justify="left" if left else "right", no_wrap=not left)
    shown.add_column("marks")
    for row in table.head(top).to_dict("records"):
        cells = [_rank(row["rank"], row["tied_overall"]), row["account"], row["team"]]
        cells.append(f"{row['overall']:.{DECIMALS}f}")
        for name in ("challenge1", "challenge2"):
            cells.append(f"{row[name]:.{DECIMALS}f} ({_rank(row[f'rank_{name}'], row[f'tied_{name}'])})")
        shown.add_row(*(Text(str(cell)) for cell in (*cells, _marks(row))))
    console.print("EEG Foundation Challenge 2025, final board (nRMSE, lower is better)", highlight=False)
    console.print(shown)
    for line in _sentences(table, top):
        console.print(Text(line))


def _rank(rank: int, tied: bool) -> str:
    return f"{rank}=" if tied else str(rank)


def _marks(row: dict[Any, Any]) -> str:
    marks = ["late"] if row["late"] else []
    if row["same_team_accounts"]:
        marks.append(f"also {row['same_team_accounts']}")
    return "; ".join(marks)


def _sentences(table: pd.DataFrame, top: int) -> list[str]:
    facts = summary(table)
    beats, shared = facts["beats_constant"], facts["shared_values"]
    said = [f"The first {top} of {len(table)} rows."] if top < len(table) else []
    if facts["gap_first_second"] is not None:
        said.append(f"First and second are {facts['gap_first_second']:.{DECIMALS}f} apart.")
    said.append(
        f"A constant answer scores 1: {beats['overall']} of {facts['n']} beat it overall, "
        f"{beats['challenge1']} on challenge 1, {beats['challenge2']} on challenge 2."
    )
    said.append(
        f"Rows that share their value with another: {shared['overall']} overall, "
        f"{shared['challenge1']} on challenge 1, {shared['challenge2']} on challenge 2 (rank marked =)."
    )
    said.append(f"Rows dated after the deadline ({facts['deadline']}): {facts['n_late']}.")
    several = facts["teams_with_several_accounts"]
    if several:
        listed = "; ".join(f"{team} ({', '.join(accounts)})" for team, accounts in several.items())
        said.append(f"Teams with several accounts, {len(several)}: {listed}.")
    return [*said, NO_INTERVALS]


def _deadline(value: str | datetime.datetime) -> datetime.datetime:
    if isinstance(value, str):
        return _time(value, "The deadline")
    if value.tzinfo is None:
        raise InputError(f"The deadline {value} has no time zone; pass it in UTC.")
    return value.astimezone(datetime.UTC)


def _time(text: str, where: str) -> datetime.datetime:
    try:
        time = datetime.datetime.fromisoformat(text)
        if time.tzinfo is None:
            raise ValueError
        return time.astimezone(datetime.UTC)
    except (ValueError, OverflowError):
        raise InputError(
            f'{where} "{text}" is not a time. Expected ISO 8601 with a time zone, such as {DEADLINE}.'
        ) from None


def _cells(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file as text; every row must have as many fields as the heading."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [row for row in csv.reader(file, strict=True) if row]
    except FileNotFoundError:
        raise InputError(f"{path}: this file does not exist. Expected the final board as CSV.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path.name}: cannot be read as CSV: {error}. Nothing was ranked.") from error
    heading = rows[0] if rows else []
    for name in COLUMNS:
        if heading.count(name) != 1:
            problem = "occurs more than once" if name in heading else "is missing"
            raise InputError(f'{path.name}: the column "{name}" {problem}. Nothing was ranked.')
    if len(rows) == 1:
        raise InputError(f"{path.name}: there are no rows below the heading. Nothing was ranked.")
    for at, row in enumerate(rows[1:], start=1):
        if len(row) != len(heading):
            raise InputError(
                f"{path.name}: row {at} has {len(row)} fields, but the heading has {len(heading)}. "
                "Nothing was ranked."
            )
    return [dict(zip(heading, row, strict=True)) for row in rows[1:]]


def _row(cells: dict[str, str], where: str) -> tuple[Any, ...]:
    cells = {name: cells[name].strip() for name in COLUMNS}
    for name in ("submission", "account"):
        if not cells[name]:
            raise InputError(f'{where}: "{name}" is empty. Nothing was ranked.')
    for name in COLUMNS:
        # Names are printed on terminals, which obey control characters.
        if not cells[name].isprintable():
            raise InputError(
                f'{where}: "{name}" holds characters that cannot be printed. Nothing was ranked.'
            )
    named = f"{where} (submission {cells['submission']})"
    values = []
    for name in SCORES:
        if not _NUMBER.fullmatch(cells[name]) or not np.isfinite(float(cells[name])):
            raise InputError(
                f'{named}: "{name}" is "{cells[name]}"; expected a finite number that is not negative. '
                "Nothing was ranked."
            )
        values.append(float(cells[name]))
    time = _time(cells["created"], f'{named}: "created"')
    return (cells["submission"], cells["account"], cells["team"], time, *values)


def _check_submissions(table: pd.DataFrame, source: str) -> None:
    twice = np.flatnonzero(table["submission"].duplicated(keep=False))
    if len(twice):
        same = np.flatnonzero(table["submission"] == table["submission"].iloc[twice[0]])
        raise InputError(
            f"{source}: rows {same[0] + 1} and {same[1] + 1} have the same submission "
            f'"{table["submission"].iloc[same[0]]}". Nothing was ranked.'
        )


def _check_identity(table: pd.DataFrame, source: str) -> None:
    expected = FAMILY.overall.combine(
        dict(zip(FAMILY.overall.leaves(), (table["challenge1"], table["challenge2"]), strict=True))
    )
    off = (expected - table["overall"]).abs().to_numpy()
    # The last term only absorbs the rounding of the sum itself.
    broken = np.flatnonzero(off > IDENTITY_TOLERANCE + 1e-12)
    if len(broken):
        listed = ", ".join(
            f"row {at + 1} (submission {table['submission'].iloc[at]})" for at in broken[:_NAMED]
        )
        more = f" and {len(broken) - _NAMED} more" if len(broken) > _NAMED else ""
        raise InputError(
            f"{source}: overall is not 0.3 x challenge1 + 0.7 x challenge2 within {IDENTITY_TOLERANCE:g} in "
            f"{listed}{more}. Nothing was ranked."
        )


def _other_accounts(table: pd.DataFrame) -> list[list[str]]:
    accounts = {team: sorted(set(own)) for team, own in table.groupby("team")["account"] if team != ""}
    return [
        [other for other in accounts.get(team, []) if other != account]
        for team, account in zip(table["team"], table["account"], strict=True)
    ]
