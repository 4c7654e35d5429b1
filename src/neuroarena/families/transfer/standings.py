"""The board of encoders: their mean rank over the four tracks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from neuroarena.board import Ranking, Standings, transfer_board
from neuroarena.board.standings import unranked_reasons
from neuroarena.errors import InputError
from neuroarena.families.transfer.family import FAMILY


def transfer_standings(rankings: Sequence[Ranking]) -> Standings | str:
    """Rank the encoders of this family over all its tracks, or explain why that is impossible.

    Parameters
    ----------
    rankings : sequence of Ranking
        Those of other families, and overall ones, are left out.

    Returns
    -------
    Standings or str
        As :func:`neuroarena.board.transfer_board`; in addition, `unranked` holds the reason of those that are void or
        failed.
    """
    own = [one for one in rankings if one.family == FAMILY.name and one.kind == "task"]
    absent = FAMILY.overall.missing(one.task for one in own)
    if absent:
        return f"No transfer board: there are no results on {', '.join(absent)}."
    try:
        standings = transfer_board(own)
    except InputError as error:
        return f"No transfer board: {error}"
    reasons = unranked_reasons(own, {*standings.table["team"], *standings.unranked["team"]})
    unranked = pd.concat([standings.unranked, reasons], ignore_index=True)
    return replace(standings, unranked=unranked.sort_values("team", ignore_index=True))


OWN_STANDINGS = {"transfer": transfer_standings}
