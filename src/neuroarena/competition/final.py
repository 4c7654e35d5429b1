"""The final ranking: which submission of a team counts, on which half, and who is left out and why."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.board import Board, Entry, Rules
from neuroarena.competition.arena import Arena
from neuroarena.competition.boards import make_entries, read_scored, read_units
from neuroarena.competition.documents import list_missing_documents
from neuroarena.competition.judging import judge_half
from neuroarena.competition.prizes import find_prize_problems
from neuroarena.competition.tables import AUDIT
from neuroarena.errors import InputError

REPRODUCED, NOT_REPRODUCED = "reproduced", "not reproduced"


@dataclass(frozen=True)
class FinalRanking:
    """The final board of a track.

    Attributes
    ----------
    board : Board
    chosen : dict
        Team -> the submission that counts.
    left_out : dict
        Team -> why it is not ranked.
    no_prize : dict
        Ranked team -> why it takes no prize, or not yet.
    """

    board: Board
    chosen: dict[str, str]
    left_out: dict[str, str]
    no_prize: dict[str, str]


@dataclass(frozen=True)
class FinalChoice:
    """Which submission of each team counts in the end.

    Attributes
    ----------
    rows : dict
        Team -> its submission, as :func:`neuroarena.competition.boards.read_scored` returns it.
    entries : dict
        Team -> its entries on the half that is ranked, one for each part of the track.
    left_out : dict
        Team -> why it is not ranked.
    """

    rows: dict[str, dict[str, Any]]
    entries: dict[str, list[Entry]]
    left_out: dict[str, str]


def rank_finally(
    arena: Arena, track: str, as_of: datetime.datetime | None = None, *, before_audit: bool = False
) -> FinalRanking:
    """Rank a track by the competition's final rule.

    What the audit found "not reproduced" is left out; with ``audited_only``, so is what it has not reproduced.
    `before_audit` ranks as if there were no audit yet, to find whom to audit.

    Of a team's last N scored submissions the one that is best on the public half counts, and it is ranked by its score
    on the other half; where there are no halves, and with ``select_on = "final"``, by the score that it was chosen by.

    Raises
    ------
    InputError
        When no team can be ranked.
    """
    choice = choose_finally(arena, track, as_of, before_audit=before_audit)
    entries = [entry for team, own in choice.entries.items() if team not in choice.left_out for entry in own]
    if not entries:
        raise InputError(f'No team can be ranked on the track "{track}" yet.')
    board = Board(entries, Rules(rule="best-ever", as_of=as_of, prizes=True))
    chosen = {team: row["submission"] for team, row in choice.rows.items()}
    no_prize = find_prize_problems(arena, board, choice.rows, as_of)
    return FinalRanking(board, chosen, choice.left_out, no_prize)


def choose_finally(
    arena: Arena, track: str, as_of: datetime.datetime | None = None, *, before_audit: bool = False
) -> FinalChoice:
    """Choose the submission of each team that counts in the end, and say who is left out and why."""
    competition = arena.competition
    rows = read_scored(arena, track, competition.final_phase, as_of)
    teams: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        if row["baseline"] is None:
            teams.setdefault(row["team"], []).append(row)
    half = "public" if competition.final.select_on == "public" else "final"
    last = Rules(rule=competition.final.rule).last
    chosen = {team: _choose(arena, mine[-last:] if last else mine, half) for team, mine in teams.items()}
    with arena.store.reading() as connection:
        left_out = {
            team: reason
            for team, row in chosen.items()
            if (reason := _find_reason(connection, arena, row, as_of, before_audit)) is not None
        }
    entries = {team: make_entries(arena, row, "final") for team, row in chosen.items()}
    return FinalChoice(chosen, entries, left_out)


def _choose(arena: Arena, rows: list[dict[str, Any]], half: str) -> dict[str, Any]:
    """Return the best of some submissions on one half; of equals the earliest."""

    def value(row: dict[str, Any]) -> float:
        judged = judge_half(arena, row, read_units(arena, row), half, with_interval=False, with_error=False)
        # Parts that are joined by ranks have no number of their own: the newest submission then counts.
        return judged.sign * judged.value if judged.value is not None else row["received"].timestamp()

    return max(rows, key=value)


def _find_reason(
    connection: Connection,
    arena: Arena,
    row: dict[str, Any],
    as_of: datetime.datetime | None,
    before_audit: bool,
) -> str | None:
    """Return why a team is not in the final ranking; None when it is."""
    if not row["organiser"]:
        missing = list_missing_documents(connection, arena, row["team"], row["track"], as_of)
        if missing:
            return f'the document "{missing[0]}" is missing'
    if before_audit:
        return None
    asked = select(AUDIT.c.verdict).where(
        AUDIT.c.submission == row["submission"], AUDIT.c.verdict.is_not(None)
    )
    if as_of is not None:
        asked = asked.where(AUDIT.c.ended <= as_of)
    verdict = connection.execute(asked.order_by(AUDIT.c.ended.desc())).scalar()
    if verdict == NOT_REPRODUCED:
        return NOT_REPRODUCED
    if verdict == REPRODUCED or not arena.competition.final.audited_only:
        return None
    return "not audited" if verdict is None else str(verdict)
