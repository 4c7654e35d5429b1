"""Boards over several tracks: points, one encoder for all, and the tracks of a competition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from neuroarena.board.board import records
from neuroarena.board.faces import own_standings
from neuroarena.board.ranking import Ranking
from neuroarena.board.site.contests import Contest, Heat
from neuroarena.board.site.leads import Lead
from neuroarena.board.site.names import assign_slugs
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.standings import Standings, points_board
from neuroarena.board.wording import cell_text, clean_name, join_names, score_text

# Columns as people read them; the others are names of tracks.
HEADS = {
    "rank": "#", "all_tracks": "all tracks", "n_tracks": "tracks entered", "mean_rank": "mean rank",
    "against_leader": "against the leader", "p_top1": "P(1st)", "p_top3": "P(top 3)", "p_top5": "P(top 5)",
    "tie_group": "letters", "ci95_low": "95 % from", "ci95_high": "95 % to",
}  # fmt: skip


def name_standings(content: Content) -> dict[str, Standings]:
    """Return each board that a family offers over its own tasks, or a competition over its tracks, by its address."""
    made = {
        name: one for name, one in own_standings(content.board.rankings).items() if isinstance(one, Standings)
    }
    for contest in content.sources.contests:
        made |= count_points(content, contest)
    slugs = assign_slugs(made)
    return {f"boards/over-{slugs[name]}": one for name, one in made.items()}


def count_points(content: Content, contest: Contest) -> dict[str, Standings]:
    """Return the points over all tracks of a competition, for every phase whose scores are public on two or more."""
    phases: dict[str, list[Heat]] = {}
    for heat in contest.heats:
        phases.setdefault(heat.phase, []).append(heat)
    made: dict[str, Standings] = {}
    for phase, heats in phases.items():
        found = {heat.track: _find_ranking(content, heat) for heat in heats}
        ranked = {track: one for track, one in found.items() if one is not None}
        if len(ranked) < 2 or not any(one.table["prize"].notna().any() for one in ranked.values()):
            continue
        absent = [track for track in found if track not in ranked]
        points = points_board(list(ranked.values()), list(ranked), absent)
        made[f"{contest.name} {phase}"] = replace(points, title=f"All tracks · {phase}")
    return made


def _find_ranking(content: Content, heat: Heat) -> Ranking | None:
    """Return the ranking of a track: over its parts, where it has several."""
    own = [one for one in content.board.everything if one.split == heat.label]
    return next((one for one in own if one.kind == "overall"), own[0] if len(own) == 1 else None)


def make_standings_page(content: Content, address: str, standings: Standings) -> Page:
    """Make the page of a board over several tracks."""
    columns = [name for name in standings.table.columns if not name.startswith("seed_")]
    rows = [
        [{"text": _cell(name, value), "address": content.entries.get(str(value)) if name == "team" else None,
          "number": not isinstance(value, str)} for name, value in row.items()]
        for row in records(standings.table[columns])
    ]  # fmt: skip
    view: dict[str, Any] = {
        "rule": standings.rule,
        "lead": describe_overall_lead(standings).to_dict(),
        "heads": [
            {"text": clean_name(HEADS.get(name, name)), "number": name not in ("team", "against_leader")}
            for name in columns
        ],
        "rows": rows,
        "unranked": records(standings.unranked),
        "simulated": standings.simulated,
    }
    data = {
        "snapshot": content.sources.snapshot,
        "title": standings.title,
        "rule": standings.rule,
        "tracks": list(standings.tracks),
        "table": records(standings.table),
        "unranked": view["unranked"],
    }
    table: pd.DataFrame = standings.table
    return Page(address, standings.title, "standings.html.j2", view, data, {"": table})


def describe_overall_lead(standings: Standings) -> Lead:
    """Return who leads over all tracks, by how much, and what verdicts of the tracks say: means of ranks have none."""
    table, scored = standings.table, find_score(standings)
    if table.empty:
        return Lead("none", "Nobody can be ranked", short="nobody")
    top, words = table.iloc[0], "Means of ranks have no verdict of their own"
    team, score = clean_name(top["team"]), score_text(top[scored])
    if len(table) == 1:
        return Lead("none", "The only entry", team, score, short="the only entry")
    sharers = table.loc[table["rank"] == top["rank"], "team"].tolist()
    if len(sharers) > 1:
        return Lead("none", words, join_names(sharers), score, "", "no verdict", "share the lead")
    second, said = table.iloc[1], clean_name(table.iloc[1].get("against_leader") or "")
    name, apart = clean_name(second["team"]), score_text(top[scored] - second[scored])
    # Equal scores have an order where the mean over the tracks entered breaks the tie.
    ahead = f"{apart} ahead of {name}" if float(apart) else f"as high as {name}, before it by the tie-break"
    return Lead("none", words, team, score, f"{ahead}{said and f', which is {said}'}", "no verdict")


def find_score(standings: Standings) -> str:
    """Return the column that a board over tracks is ordered by."""
    numbers = [name for name in standings.table.select_dtypes("number").columns if name != "rank"]
    return next(
        (name for name in ("all_tracks", "score", *numbers) if name in standings.table.columns), "rank"
    )


def _cell(name: str, value: Any) -> str:
    return str(int(value)) if name in ("rank", "n_tracks") and value is not None else cell_text(value)
