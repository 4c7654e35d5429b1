"""The page of one ranking: who leads, by how much, and whether that is real."""

from __future__ import annotations

from typing import Any

import pandas as pd

from neuroarena.benchmarks.faces import face_of
from neuroarena.board.board import describe_ranking, records
from neuroarena.board.descriptions import count_pairs, describe_pairs, describe_rows, list_origins
from neuroarena.board.entries import FLOORS, Entry
from neuroarena.board.ranking import SIMULATED, Ranking, plain_pairs
from neuroarena.board.site.bars import Axis, axis_of_ranking, draw_bars
from neuroarena.board.site.contests import Fact, Heat
from neuroarena.board.site.examples import work_example
from neuroarena.board.site.formulas import FORMULAS
from neuroarena.board.site.leads import (
    AGAINST_LEADER,
    AGAINST_NEXT,
    LOOKS,
    SIGNS,
    describe_lead,
    describe_verdict,
)
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.site.publications import find_publication
from neuroarena.board.wording import (
    clean_name,
    column_heading,
    direction_words,
    is_known,
    levels_words,
    rows_of,
    score_text,
    share_text,
    verdict,
    verdict_words,
)
from neuroarena.scoring import METRICS
from neuroarena.statistics.verdicts import BETTER, NONE

WIDEST_MATRIX, MOST_PAIRS = 40, 500
# Columns of the table of all boards.
SUMMARY = (
    "kind", "benchmark", "split", "title", "metric", "direction", "ranked", "unranked", "leader", "score", "lead",
    "simulated", "page",
)  # fmt: skip
CHOICES = ("floor", "organiser", "simulated")


def make_board_page(content: Content, ranking: Ranking) -> Page:
    """Make the page of one ranking."""
    cited = _cite(ranking)
    frame = content.frame
    own = frame[(frame["benchmark"] == ranking.benchmark) & (frame["split"] == ranking.split)]
    tables = {"": own[own["kind"] == ranking.kind].reset_index(drop=True)}
    if len(ranking.judgements):
        tables["verdicts"] = plain_pairs(ranking.judgements)
    if len(ranking.rank_probabilities):
        tables["ranks"] = _rank_shares(ranking)
    return Page(
        address=content.boards[ranking.name],
        title=content.title_of(ranking),
        template="board.html.j2",
        view=_view(content, ranking),
        data={
            "snapshot": content.sources.snapshot,
            **describe_ranking(ranking),
            "bibtex": cited and cited["bibtex"],
        },
        tables=tables,
    )


def _view(content: Content, ranking: Ranking) -> dict[str, Any]:
    axis, manifest = axis_of_ranking(ranking), ranking.manifest
    rows, metric = make_rows(content, ranking, axis), METRICS.get(manifest.metric)
    return {
        "lead": describe_lead(ranking).to_dict(),
        "verdict": verdict(ranking),
        "question": content.question_of(ranking),
        "contest": describe_heat(content.heats.get(ranking.split)),
        "simulated": ranking.simulated,
        "facts": [
            ("Metric", f"{ranking.metric_title}, {direction_words(ranking)}"),
            *([] if manifest.chance is None else [("Chance", score_text(manifest.chance))]),
            *([] if manifest.ceiling is None else [("Ceiling", score_text(manifest.ceiling))]),
            ("Judged on", f"{levels_words(ranking)} ({manifest.unit})"),
            ("Benchmark", ranking.benchmark),
            ("Split", heat.split if (heat := content.heats.get(ranking.split)) else ranking.split),
        ],
        "updated": last_update(ranking),
        # The banner of every page says that data are simulated.
        "warnings": [said for said in ranking.warnings if said != SIMULATED],
        "ticks": axis.ticks(),
        "rows": rows,
        "affiliations": any(row["affiliation"] for row in rows),
        "external": any(row["external"] for row in rows),
        "tie_break": None if manifest.tie_break is None else METRICS.get(manifest.tie_break).title,
        "extra_heads": [column_heading(ranking, name) for name in ranking.extra_columns],
        "unranked": _unranked(content, ranking),
        "matrix": _matrix(content, ranking),
        "pairs": describe_pairs(ranking, ranking.pairs, MOST_PAIRS),
        "pairs_left": max(0, len(ranking.judgements) - MOST_PAIRS),
        "pairs_words": count_pairs(ranking, MOST_PAIRS) if len(ranking.judgements) <= MOST_PAIRS else "",
        "shares": _shares(content, ranking),
        "example": work_example(ranking, content.question_of(ranking)),
        "citation": _cite(ranking),
        "version": ranking.definition,
        "metric": {"title": metric.title, "undefined": metric.undefined},
        "formula": FORMULAS.get(manifest.metric, ""),
        "origins": list_origins(ranking),
        "counts": f"{len(ranking.table)} of {len(ranking.table) + len(ranking.unranked)}",
    }


def make_rows(content: Content, ranking: Ranking, axis: Axis) -> list[dict[str, Any]]:
    """Return the rows of a ranking with all that a page shows beside the texts of any page."""
    texts = describe_rows(ranking, None)
    bars = draw_bars(ranking, axis)
    rows = []
    for text, bar, row in zip(texts, bars, rows_of(ranking.table), strict=True):
        entry = content.entry_of(ranking, str(row.team))
        rows.append(
            {
                **text,
                "bar": bar,
                "address": content.entries[str(row.team)],
                "is_floor": row.role in FLOORS,
                "role": row.role,
                "simulated": bool(row.simulated),
                "against_leader": describe_verdict(row.verdict_leader, AGAINST_LEADER),
                "against_next": describe_verdict(row.verdict_next, AGAINST_NEXT),
                "sort": [row.rank, row.score, row.delta_leader],
                **describe_entry(entry),
            }
        )
    return rows


def _cite(ranking: Ranking) -> dict[str, str] | None:
    """Return the publication behind a task, as its family's face ``citation`` names it; None where it names none."""
    cite = face_of(ranking.family, "citation")
    return None if cite is None or ranking.kind != "task" else find_publication(cite(ranking.task))


def describe_entry(entry: Entry) -> dict[str, str]:
    """Return what a row says about its entry: which kind it is, from where, and with which external data."""
    known = entry.provenance
    metadata = (known.get("reported") or {}).get("metadata") or {}
    external = known.get("external_data") or metadata.get("external_data") or ()
    return {
        "kind": clean_name(known.get("kind") or "submission"),
        "affiliation": clean_name(known.get("organisation") or ""),
        "external": clean_name(", ".join(external)),
        "audit": clean_name(known.get("audit") or ""),
    }


def describe_heat(heat: Heat | None) -> dict[str, Any] | None:
    """Return what a board of a competition says about its track; None on other boards."""
    if heat is None:
        return None
    submissions = Fact(name="Submissions", text=f"{heat.scored} of {heat.received} scored")
    return {
        "track": heat.track,
        "phase": heat.phase,
        "submissions": f"{heat.scored} of {heat.received}",
        "description": heat.description,
        "facts": [fact.model_dump() for fact in (submissions, *heat.facts)],
    }


def last_update(ranking: Ranking) -> str:
    """Return the newest time of the entries that a ranking shows."""
    times = [said["time"] for said in ranking.provenance.get("entries", [])]
    return max(times)[:16].replace("T", " ") + " UTC" if times else "–"


def _unranked(content: Content, ranking: Ranking) -> list[dict[str, str]]:
    return [
        {
            "team": clean_name(row.team),
            "reason": clean_name(row.reason),
            "address": content.entries[str(row.team)],
        }
        for row in rows_of(ranking.unranked)
    ]


def _matrix(content: Content, ranking: Ranking) -> dict[str, Any] | None:
    """Return one verdict for every pair of teams, seen from the row; None for too many teams, or too few."""
    teams = [str(team) for team in ranking.table["team"]]
    if not 1 < len(teams) <= WIDEST_MATRIX or ranking.pairs.empty:
        return None
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for row in rows_of(ranking.pairs):
        look, words = LOOKS[row.verdict], verdict_words(row, ranking)
        delta = f"{abs(row.delta):.3f}"
        better = row.verdict == BETTER
        above, below = ("better", "worse") if better else (words, words)
        for own, other, said, sign in (
            (row.team_a, row.team_c, above, "+"),
            (row.team_c, row.team_a, below, "−"),
        ):
            shown = "lost" if better and sign == "−" else look
            mark = "▲" if shown == "sure" else "▼" if shown == "lost" else SIGNS[look]
            number = "" if row.verdict == NONE and not is_known(row.delta) else f"{sign}{delta}"
            cells[own, other] = {"look": shown, "mark": mark, "delta": number, "words": said}
    rows = [
        {
            "team": clean_name(team),
            "address": content.entries[team],
            "rank": int(ranking.table["rank"].iloc[at]),
            "cells": [cells.get((team, other)) for other in teams],
        }
        for at, team in enumerate(teams)
    ]
    return {"rows": rows, "heads": [clean_name(team) for team in teams]}


def _rank_shares(ranking: Ranking) -> pd.DataFrame:
    table = ranking.rank_probabilities.copy()
    table.columns = [f"rank_{column}" for column in table.columns]
    return table.rename_axis("team").reset_index()


def _shares(content: Content, ranking: Ranking) -> dict[str, Any] | None:
    """Return how often each team has each rank, shaded in steps of ten percent."""
    table = ranking.rank_probabilities
    if not 1 < len(table) <= WIDEST_MATRIX:
        return None
    rows = [
        {
            "team": clean_name(team),
            "address": content.entries[str(team)],
            "cells": [{"text": share_text(value), "shade": round(10 * float(value))} for value in values],
        }
        for team, values in zip(table.index, table.to_numpy(), strict=True)
    ]
    return {"heads": [str(column) for column in table.columns], "rows": rows}


def summarise_boards(content: Content) -> pd.DataFrame:
    """Return one row per ranking: who leads, the score, and whether the lead is real."""
    rows = []
    for one in content.board.everything:
        lead = describe_lead(one)
        top = records(one.table.head(1))
        rows.append(
            {
                "kind": one.kind,
                "benchmark": one.benchmark,
                "split": one.split,
                "title": content.title_of(one),
                "metric": one.manifest.metric,
                "direction": one.manifest.direction,
                "ranked": len(one.table),
                "unranked": len(one.unranked),
                "leader": top[0]["team"] if top else "",
                "score": top[0]["score"] if top else None,
                "lead": lead.words,
                "simulated": one.simulated,
                "page": f"{content.boards[one.name]}.html",
            }
        )
    return pd.DataFrame(rows, columns=[*SUMMARY]).astype({"score": "float64"})
