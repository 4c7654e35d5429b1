"""Errors in comparing a model with recordings: one family, three children."""

from __future__ import annotations

from neuroarena.errors import InputError


class AlignmentError(InputError):
    """Two sides do not hold the same stimuli or neuroids; the message names the first few that differ."""


class DataQualityError(InputError):
    """Values cannot carry a score: NaN, constant responses, a ceiling at or below zero."""


class ConfigError(InputError):
    """A benchmark, metric or file is declared in a way that cannot work."""


def named(items: object, limit: int = 3) -> str:
    """List the first few items for a message, and count the rest.

    Examples
    --------
    >>> named(["a", "b", "c", "d", "e"])
    '"a", "b", "c" and 2 more'
    """
    found = [str(item) for item in items]  # type: ignore[attr-defined]
    shown = ", ".join(f'"{item}"' for item in found[:limit])
    return shown if len(found) <= limit else f"{shown} and {len(found) - limit} more"
