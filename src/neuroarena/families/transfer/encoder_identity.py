"""The weights identity check of foundation transfer: one encoder, with one hash, on all tracks."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable
from typing import TYPE_CHECKING

from neuroarena.board import FLOORS, Entry, entries_from_results

if TYPE_CHECKING:
    from neuroarena.evaluation.results import Result

FAMILY = "transfer"
_SHOWN = 12


def transfer_entries(results: Iterable[Result]) -> list[Entry]:
    """Turn runs into entries, and void encoders whose weights are not the same on all tracks.

    Raises
    ------
    InputError
        As :func:`entries_from_results` does.
    """
    return void_changed_encoders(entries_from_results(results))


def void_changed_encoders(entries: Iterable[Entry], as_of: datetime.datetime | None = None) -> list[Entry]:
    """Void the transfer entries of every team that was judged with different weights, or without a hash of them.

    A team's name stands for one encoder: changed weights need another name. Floors are left as they are,
    and so are entries of other benchmarks.

    Parameters
    ----------
    entries : iterable of Entry
    as_of : datetime, optional
        Later entries are ignored, so that a board of an earlier time stays as it was.

    Returns
    -------
    list of Entry
        In the order given; void entries state why in `reason`.
    """
    everything = list(entries)
    teams: dict[str, dict[str, str]] = {}
    for entry in everything:
        known = entry.provenance.get("encoder_weights")
        if _is_judged(entry) and known and (as_of is None or entry.time <= as_of):
            teams.setdefault(entry.team, {}).setdefault(known, entry.task)
    return [_verdict(entry, teams.get(entry.team, {})) for entry in everything]


def _is_judged(entry: Entry) -> bool:
    return entry.family == FAMILY and entry.role not in FLOORS and entry.reason is None


def _verdict(entry: Entry, weights: dict[str, str]) -> Entry:
    if not _is_judged(entry):
        return entry
    if not entry.provenance.get("encoder_weights"):
        return dataclasses.replace(
            entry,
            reason="void: its record holds no hash of an encoder's weights; this track judges encoders only",
        )
    if len(weights) < 2:
        return entry
    found = ", ".join(
        f"{known[:_SHOWN]} on {task}" for known, task in sorted(weights.items(), key=lambda it: it[1])
    )
    return dataclasses.replace(
        entry, reason=f"void: the weights identity check found different weights under one name: {found}"
    )


def show_weights(entry: Entry) -> str | None:
    """Return the beginning of the hash of an entry's weights, as boards show it; None for a floor without weights."""
    known = entry.provenance.get("encoder_weights")
    return None if known is None else str(known)[:_SHOWN]


COLUMNS = {"encoder_weights": show_weights}
