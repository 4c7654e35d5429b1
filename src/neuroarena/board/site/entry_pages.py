"""The page of one entry: its scores on all boards, how it compares with the others, and how it was made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from neuroarena.board.entries import FLOORS, Entry, Judge, Judged
from neuroarena.board.ranking import Ranking
from neuroarena.board.site.board_pages import describe_entry
from neuroarena.board.site.duels import list_duels, tabulate_duels
from neuroarena.board.site.leads import AGAINST_LEADER, describe_verdict
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.site.publications import find_publication
from neuroarena.board.site.reruns import explain_rerun
from neuroarena.board.site.shown_pages import count_digits, format_shown
from neuroarena.board.wording import (
    ROLE_WORDS,
    cell_text,
    clean_name,
    interval_text,
    is_known,
    letters_text,
    ranks_text,
    rows_of,
)

# What a record says about an entry that is nobody's secret; contact addresses are not among it.
SHOWN = {
    "folder": "Folder",
    "run_key": "Run key",
    "kind": "Kind",
    "model": "Model",
    "sha256": "SHA-256 of the file",
    "audit": "Audit",
    "neuroarena": "neuroarena",
    "scorer_version": "Scorer",
    "manifest_hash": "Hash of the rules",
    "split_hash": "Hash of the split",
    "encoder_weights": "Hash of the encoder",
    "decoder_code": "Hash of the code",
    "definition_evidence": "Definition known by",
}
# Pages of a thousand entries that name a thousand others each would be a million rows.
MOST_OTHERS, FIRST, NEIGHBOURS = 200, 20, 10


def make_entry_page(content: Content, team: str) -> Page:
    """Make the page of one team."""
    entries = content.teams[team]
    newest = entries[-1]
    rows = [row for one in content.board.everything for row in _rows_of_team(content, one, team)]
    judge = Judge()
    history = [_describe_attempt(content, entry, judge(entry)) for entry in entries]
    ranked = [row for row in rows if row["rank"] is not None]
    duels, n_duels = list_duels(content, team)
    view = {
        "team": clean_name(team),
        "role": ROLE_WORDS.get(newest.role, newest.role),
        "is_floor": newest.role in FLOORS,
        "simulated": any(entry.simulated for entry in entries),
        "description": clean_name(newest.provenance.get("description") or ""),
        **describe_entry(newest),
        "rows": rows,
        "sealed": list(_sealed_rows(content, team)),
        "firsts": sum(row["rank"] == 1 for row in ranked),
        "ranked": len(ranked),
        "others": _compare(content, team),
        "n_duels": n_duels,
        "duels": [{name: text for name, text in row.items() if name != "data"} for row in duels],
        "history": history,
        "reruns": _distinct_reruns(entries),
        "publication": find_publication(newest.provenance.get("bibtex")),
    }
    data = {
        "snapshot": content.sources.snapshot,
        "team": team,
        "role": newest.role,
        "simulated": view["simulated"],
        "boards": [row["data"] for row in rows],
        "entries": [attempt["data"] for attempt in history],
        "against": [other["data"] for other in view["others"]],
        "bibtex": view["publication"]["bibtex"] if view["publication"] else None,
    }
    return Page(
        address=content.entries[team],
        title=clean_name(team),
        template="entry.html.j2",
        view=view,
        data=data,
        tables={
            "": pd.DataFrame([row["data"] for row in rows]),
            **({"pairs": tabulate_duels(duels)} if duels else {}),
        },
    )


def _rows_of_team(content: Content, ranking: Ranking, team: str) -> Iterable[dict[str, Any]]:
    head = {"kind": ranking.kind, "benchmark": ranking.benchmark, "split": ranking.split}
    about = {
        "title": content.title_of(ranking),
        "address": content.boards[ranking.name],
        "metric": ranking.metric_title,
    }
    for at, row in content.places[ranking.name].get(team, ()):
        number = {"rank": int(row.rank), "of": len(ranking.table), "score": float(row.score)}
        bounds = {
            name: _plain(getattr(row, name)) for name in ("ci95_low", "ci95_high", "delta_leader", "p_top1")
        }
        words = {name: _word(getattr(row, name)) for name in ("letters", "verdict_leader")}
        yield {
            **about,
            "rank": int(row.rank),
            "of": len(ranking.table),
            "score": interval_text(row.score, row.ci95_low, row.ci95_high),
            "bar": content.bars[ranking.name][at],
            "letters": letters_text(row.letters),
            "ranks": ranks_text(row.rank_low, row.rank_high),
            "against_leader": describe_verdict(row.verdict_leader, AGAINST_LEADER) if at else None,
            "data": {**head, **number, **bounds, **words, "reason": ""},
        }
    for row in rows_of(ranking.unranked):
        if str(row.team) == team:
            nothing = dict.fromkeys(("rank", "score", "ci95_low", "ci95_high", "delta_leader", "p_top1"))
            words = {"letters": "", "verdict_leader": "", "reason": str(row.reason)}
            yield {
                **about,
                "rank": None,
                "reason": clean_name(row.reason),
                "data": {**head, "of": len(ranking.table), **nothing, **words},
            }


def _sealed_rows(content: Content, team: str) -> Iterable[dict[str, Any]]:
    """Yield what a team was shown on every board whose unit scores are not public."""
    for heat in content.heats.values():
        rows = heat.shown or ()
        for row in rows:
            if row.team == team:
                yield {
                    "title": heat.title,
                    "address": content.boards[heat.label],
                    "rank": row.rank or "–",
                    "of": len(rows),
                    "metric": heat.metric,
                    "value": format_shown(row.shown, count_digits(heat)),
                }


def _plain(value: Any) -> float | None:
    return float(value) if is_known(value) else None


def _word(value: Any) -> str:
    return str(value) if is_known(value) else ""


def _describe_attempt(content: Content, entry: Entry, judged: Judged | str) -> dict[str, Any]:
    score = entry.manifest.sign * judged.score if isinstance(judged, Judged) else None
    counts = any(entry is one for one in content.counted.values())
    known = [
        (label, clean_name(entry.provenance[name]))
        for name, label in SHOWN.items()
        if entry.provenance.get(name)
    ]
    seeds = entry.provenance.get("seeds") or []
    known += [("Seeds", ", ".join(str(seed) for seed in seeds))] if seeds else []
    time = f"{entry.time:%Y-%m-%d %H:%M} UTC"
    data = {
        "benchmark": entry.benchmark,
        "split": entry.split,
        "time": entry.time.isoformat(timespec="seconds"),
        "score": score,
        "counts": counts,
        "reason": entry.reason,
        **{name: entry.provenance.get(name) for name in SHOWN},
    }
    heat = content.heats.get(entry.split)
    where = f"{entry.benchmark} · {entry.split}" if heat is None else heat.title
    return {
        "where": where,
        "time": time,
        "score": cell_text(score),
        "counts": counts,
        "known": known,
        "reason": entry.reason,
        "data": data,
    }


def _distinct_reruns(entries: list[Entry]) -> list[dict[str, str]]:
    found = {}
    for entry in entries:
        rerun = explain_rerun(entry)
        found[rerun["command"]] = rerun
    return list(found.values())


def _choose_others(content: Content, team: str) -> list[str]:
    """Return whom a team is compared with: everybody, or on a large board the first ones and its neighbours."""
    teams = list(content.board.teams)
    if len(teams) <= MOST_OTHERS or team not in teams:
        return teams[:MOST_OTHERS]
    at = teams.index(team)
    near = range(max(0, at - NEIGHBOURS), min(len(teams), at + NEIGHBOURS + 1))
    return [teams[place] for place in sorted({*range(FIRST), *near})]


def _compare(content: Content, team: str) -> list[dict[str, Any]]:
    rows, counts = [], content.verdict_counts
    for other in _choose_others(content, team):
        better, together = counts.get((team, other), [0, 0])
        if not together:
            continue
        worse = counts[other, team][0]
        rest = together - better - worse
        rows.append(
            {
                "team": clean_name(other),
                "address": content.entries[other],
                "better": better,
                "worse": worse,
                "rest": rest,
                "together": together,
                "data": {
                    "team": other,
                    "better": better,
                    "worse": worse,
                    "not_settled": rest,
                    "boards": together,
                },
            }
        )
    return rows
