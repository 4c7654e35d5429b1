"""``neuroarena compare``: the verdicts of pairs, as the board has them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.boards import (
    AllowMixed,
    AsOf,
    Draws,
    Exact,
    Results,
    Rope,
    Rule,
    RulesOption,
    SplitOption,
    rank_entries,
    read_entries,
    read_typed_rules,
)
from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    import pandas as pd

    from neuroarena.board import Board, Ranking

ALONE = "this pair alone, not corrected for other teams"


class Pairs(StrEnum):
    """Which pairs to show."""

    neighbours = "neighbours"
    leader = "leader"
    all = "all"


def compare(
    results: Results,
    teams: Annotated[
        tuple[str, str] | None,
        typer.Option("--teams", metavar="A B", help="Only the pair of these two teams."),
    ] = None,
    pairs: Annotated[
        Pairs, typer.Option("--pairs", help="Which pairs to show; all pairs are counted in any case.")
    ] = Pairs.all,
    alone: Annotated[
        bool, typer.Option("--alone", help="Judge every pair alone, not corrected for the other teams.")
    ] = False,
    split: SplitOption = None,
    rules_from: RulesOption = None,
    rule: Rule = None,
    as_of: AsOf = None,
    rope: Rope = None,
    draws: Draws = None,
    exact: Exact = False,
    allow_mixed: AllowMixed = False,
    as_json: Json = False,
) -> None:
    """Compare decoders in pairs: difference, 95 % interval, p, p after Holm's correction, and the board's verdict."""
    rules = read_typed_rules(rule, as_of, rope, draws, exact, rules_from)
    made = rank_entries(read_entries(results, split, allow_mixed), rules, allow_mixed)
    chosen = [(each, choose_pairs(each, teams, pairs, alone)) for each in _with(made, teams)]
    if as_json:
        print_json([_as_json(each, found, alone) for each, found in chosen])
        return
    for each, found in chosen:
        _print(each, found, {} if alone else _besides(each, found), alone)
    for note in made.notes:
        print(note)


def _with(made: Board, teams: tuple[str, str] | None) -> list[Ranking]:
    """Return the rankings in which both teams stand; all without teams."""
    from neuroarena.errors import InputError

    if teams is None:
        return list(made.everything)
    found = [each for each in made.everything if set(teams) <= set(each.table["team"])]
    if not found:
        raise InputError(
            f'No ranking has both "{teams[0]}" and "{teams[1]}"; there are: {", ".join(made.teams)}.'
        )
    return found


def choose_pairs(ranking: Ranking, teams: tuple[str, str] | None, pairs: Pairs, alone: bool) -> pd.DataFrame:
    """Return the verdicts to show, as plain columns.

    Parameters
    ----------
    ranking : Ranking
    teams : pair of str, optional
        Only the pair of these.
    pairs : Pairs
    alone : bool
        Whether to judge every pair alone.
    """
    import pandas as pd

    from neuroarena.board.ranking import plain_pairs

    order = ranking.table["team"].tolist()
    place = {team: at for at, team in enumerate(order)}
    if teams is not None:
        return plain_pairs(ranking.judgement_of(*teams, alone=alone))
    rows = ranking.judgements
    if pairs is Pairs.leader:
        rows = rows[rows["a"].isin(order[:1])]
    elif pairs is Pairs.neighbours:
        rows = rows[[place[c] - place[a] == 1 for a, c in zip(rows["a"], rows["c"], strict=True)]]
    if alone and len(rows):
        each = zip(rows["a"], rows["c"], strict=True)
        rows = pd.concat([ranking.judgement_of(a, c, alone=True) for a, c in each], ignore_index=True)
    return plain_pairs(rows)


def _besides(ranking: Ranking, found: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the same pairs as judged on the tasks of a suite alone, and by mean rank; heading -> verdicts."""
    from neuroarena.board.ranking import plain_pairs
    from neuroarena.board.wording import mean_rank_heading

    more = {"On these tasks alone": ranking.on_these_tasks}
    if ranking.mean_ranks is not None:
        more[mean_rank_heading(ranking.mean_ranks)] = ranking.mean_ranks.verdicts
    wanted = {frozenset(pair) for pair in zip(found["team_a"], found["team_c"], strict=True)}
    return {
        heading: plain_pairs(
            rows[[frozenset(pair) in wanted for pair in zip(rows["a"], rows["c"], strict=True)]]
        )
        for heading, rows in more.items()
        if rows is not None and wanted
    }


def _as_json(ranking: Ranking, found: pd.DataFrame, alone: bool) -> dict[str, Any]:
    from neuroarena.board import records

    return {
        "benchmark": ranking.benchmark,
        "split": ranking.split,
        "simulated": ranking.simulated,
        "inference": ranking.rules.inference,
        "alone": alone,
        "n_pairs": 1 if alone else len(ranking.judgements),
        "pairs": records(found),
        "warnings": list(ranking.warnings),
    }


def _print(ranking: Ranking, found: pd.DataFrame, besides: dict[str, pd.DataFrame], alone: bool) -> None:
    from neuroarena.board.wording import alpha_words, describe_scope

    columns = ["first", "second", "difference", "95 % interval", "judged at", "p", "p (Holm)", "verdict"]
    mark = " (simulated)" if ranking.simulated else ""
    title = f"{ranking.benchmark}, {ranking.split}{mark}"
    if len(found):
        print_table(columns, describe_pairs(ranking, found, alone), title=title)
        print(f"  {ALONE if alone else alpha_words(ranking)}")
    else:
        print(f"{title}\n  fewer than two teams are ranked: there is no pair to compare")
    for heading, rows in besides.items():
        print_table(columns, describe_pairs(ranking, rows, alone), title=heading)
        print(f"  {describe_scope(rows)}")
    for warning in ranking.warnings:
        print(f"  {warning}")


def describe_pairs(ranking: Ranking, found: pd.DataFrame, alone: bool) -> list[list[str]]:
    """Return verdicts as the rows that are printed: names, difference, intervals, p, and the verdict in words."""
    from neuroarena.board.wording import UNKNOWN, bounds_text, pair_p_text, rows_of, verdict_words

    return [
        [
            row.team_a,
            row.team_c,
            f"{row.delta:+.4f}",
            bounds_text(row.ci95_low, row.ci95_high, "+.4f") or UNKNOWN,
            bounds_text(row.judged_low, row.judged_high, "+.4f") or UNKNOWN,
            pair_p_text(ranking, row.p, adjusted=False),
            pair_p_text(ranking, row.p_holm),
            verdict_words(row, ranking, alone),
        ]
        for row in rows_of(found)
    ]
