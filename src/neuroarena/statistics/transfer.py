"""Foundation transfer: one encoder judged on several tracks by its mean rank, ranked again in every draw."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.bootstrap import Draws
from neuroarena.statistics.ranks import ranks, standing

TRANSFER_RULE = (
    "100 (1 - (R - 1) / (N - 1)), with R the mean rank over the tracks and N the number of encoders "
    "on all of them; 100 when N = 1"
)


@dataclass(frozen=True, eq=False)
class TransferDraws(Draws):
    """Hold the transfer scores S = -R, R the mean rank of an encoder over the tracks.

    Attributes
    ----------
    left_out
        Team -> the tracks it lacks; such a team is not on this board.
    """

    left_out: dict[Any, tuple[str, ...]] = field(default_factory=dict)

    @property
    def mean_rank(self) -> pd.Series:
        """Mean rank R of each team on the track scores."""
        return pd.Series(-self.point, index=pd.Index(self.teams, name="team"), name="mean_rank")

    @property
    def visible(self) -> pd.Series:
        """Visible score of each team, 0 to 100."""
        n = len(self.teams)
        scores = [visible_transfer_score(rank, n) for rank in -self.point]
        return pd.Series(scores, index=pd.Index(self.teams, name="team"), name="visible")


def visible_transfer_score(mean_rank: float, n: int) -> float:
    """Turn a mean rank among `n` encoders into a score from 0 to 100; 100 when the encoder is alone.

    Raises
    ------
    InputError
        When `n` is below 1 or the mean rank is not between 1 and `n`.

    Examples
    --------
    >>> visible_transfer_score(1.5, 3)
    75.0
    """
    if n < 1:
        raise InputError(f"A transfer score needs at least one encoder; got N = {n}.")
    if not 1 <= mean_rank <= n:
        raise InputError(f"A mean rank among {n} encoders must lie between 1 and {n}; got {mean_rank}.")
    return 100.0 if n == 1 else 100.0 * (1 - (mean_rank - 1) / (n - 1))


def transfer_score(draws_by_track: Mapping[str, Draws], ties: str = "min") -> TransferDraws:
    """Rank the encoders on each track inside each draw and average the ranks.

    Parameters
    ----------
    draws_by_track
        Track -> draws of that track, all with the same number of draws. Only teams on every track
        are ranked, among themselves. `fast` draws of different tracks should have different seeds.
    ties
        As in `ranks`.

    Returns
    -------
    TransferDraws
        Scores are -R, higher is better; teams in the order of the first track; `left_out` names the
        others. `n_units` is that of the smallest track.

    Raises
    ------
    InputError
        When there is no track, no team on all of them, or the numbers of draws differ.

    Examples
    --------
    >>> img = Draws(["a", "b"], np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([2.0, 1.0]), 9)
    >>> scores = np.array([[2.0, 1.0, 0.0], [1.0, 2.0, 3.0]])
    >>> bci = Draws(["b", "a", "z"], scores, np.array([2.0, 1.0, 0.0]), 9)
    >>> both = transfer_score({"img": img, "bci": bci})
    >>> both.scores.tolist(), both.visible.to_dict(), both.left_out
    ([[-1.5, -1.5], [-1.5, -1.5]], {'a': 50.0, 'b': 50.0}, {'z': ('img',)})
    """
    if not draws_by_track:
        raise InputError("The transfer score needs at least one track; got none.")
    sizes = {track: draws.n_draws for track, draws in draws_by_track.items()}
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{track} has {size}" for track, size in sizes.items())
        raise InputError(f"The transfer score needs the same number of draws on every track: {found}.")
    everyone = dict.fromkeys(team for draws in draws_by_track.values() for team in draws.teams)
    lacking = {
        team: tuple(track for track, draws in draws_by_track.items() if team not in draws.teams)
        for team in everyone
    }
    teams = [team for team in everyone if not lacking[team]]
    left_out = {team: tracks for team, tracks in lacking.items() if tracks}
    if not teams:
        raise InputError(f"No team is on every one of the tracks {', '.join(draws_by_track)}.")
    parts = {track: _among(draws, teams) for track, draws in draws_by_track.items()}
    recipe = {
        "method": "mean rank over tracks",
        "ties": ties,
        "rule": TRANSFER_RULE,
        "n_teams": len(teams),
        "n_draws": next(iter(sizes.values())),
        "tracks": {track: draws.recipe for track, draws in draws_by_track.items()},
    }
    return TransferDraws(
        teams=teams,
        scores=-np.mean([ranks(part, ties) for part in parts.values()], axis=0),
        point=-np.mean([_point_ranks(part, ties) for part in parts.values()], axis=0),
        n_units=min(part.n_units for part in parts.values()),
        recipe=recipe,
        left_out=left_out,
    )


def _among(draws: Draws, teams: list[Any]) -> Draws:
    """Return the draws of these teams, in this order."""
    columns = [draws.position(team) for team in teams]
    return Draws(teams, draws.scores[:, columns], draws.point[columns], draws.n_units, draws.recipe)


def _point_ranks(draws: Draws, ties: str) -> np.ndarray:
    shared, order = standing(draws)
    if ties == "order":
        shared[order] = np.arange(1, len(order) + 1)
    return shared
