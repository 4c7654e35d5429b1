"""``neuroarena size``: how many units a board needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli.boards import SplitOption, rank_entries, read_entries, read_typed_rules
from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

if TYPE_CHECKING:
    from neuroarena.board import Ranking, Resolution


def size(
    results: Annotated[list[Path] | None, typer.Argument(help="Folders of results; or pass --sigma.")] = None,
    sigma: Annotated[float | None, typer.Option("--sigma", help="Standard deviation of unit scores.")] = None,
    nu: Annotated[float | None, typer.Option("--nu", help="Smallest difference that matters.")] = None,
    units: Annotated[
        int | None, typer.Option("--units", min=1, help="Number of units there are now.")
    ] = None,
    difference: Annotated[
        float | None,
        typer.Option(
            "--difference-sigma", help="Standard deviation of the difference of two teams on one level."
        ),
    ] = None,
    teams: Annotated[
        int | None, typer.Option("--teams", min=2, help="Number of teams whose pairs are judged. Default: 2.")
    ] = None,
    split: SplitOption = None,
    as_json: Json = False,
) -> None:
    """Compute how many units a board needs, for its scores and for its verdicts, and what those it has can tell."""
    from neuroarena.board import size as resolution_of
    from neuroarena.board import size_text
    from neuroarena.errors import InputError

    if not results and sigma is None and difference is None:
        raise InputError("Pass --sigma (and --nu), or folders of results to estimate it from.")
    if results:
        made = rank_entries(
            read_entries(list(results), split), read_typed_rules(None, None, None, None, False)
        )
        found = [
            (each, _replace_measured(each.resolution, sigma, nu, units, difference, teams))
            for each in made.everything
            if each.resolution is not None
        ]
        if as_json:
            print_json([{"benchmark": r.benchmark, "split": r.split, **each.to_dict()} for r, each in found])
            return
        for ranking, each in found:
            print(_head(ranking))
            print("\n".join(f"  {line}" for line in size_text(each, ranking.manifest.metric)))
        return
    answer = _replace_measured(resolution_of(sigma, nu, units), None, None, None, difference, teams)
    if as_json:
        print_json(answer.to_dict())
    else:
        print("\n".join(size_text(answer)))


def _head(ranking: Ranking) -> str:
    return f"{ranking.benchmark}, {ranking.split}{' (simulated)' if ranking.simulated else ''}"


def _replace_measured(
    own: Resolution,
    sigma: float | None,
    nu: float | None,
    units: int | None,
    difference: float | None,
    teams: int | None,
) -> Resolution:
    """Return a resolution with what was asked for in place of what was measured."""
    from neuroarena.board.sizing import resize, verdict_needs

    if (sigma, nu, units, difference, teams) == (None,) * 5:
        return own
    asked = (sigma or own.sigma, own.nu if nu is None else nu, units or own.n_units)
    found = own if asked == (own.sigma, own.nu, own.n_units) else resize(own, sigma, nu, units)
    spread = difference or own.difference_sigma
    if spread is None:
        return found
    n_teams = teams or own.n_teams or 2
    return replace(found, n_levels=own.n_levels, n_teams=n_teams, **verdict_needs(spread, found.nu, n_teams))
