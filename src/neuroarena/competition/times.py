"""Times of a competition: read with their zone, kept in UTC, shown in UTC and Anywhere on Earth."""

from __future__ import annotations

import datetime
import re
from typing import Any

AOE = datetime.timezone(datetime.timedelta(hours=-12), "AoE")
_ZONED = re.compile(
    r"^(?P<day>\d{4}-\d{2}-\d{2})(?:[ T](?P<clock>\d{2}:\d{2}(?::\d{2})?))?\s*(?P<zone>UTC|AoE|Z)$"
)


def parse_time(value: Any) -> datetime.datetime:
    """Read a time with its zone, and return it in UTC.

    Parameters
    ----------
    value : str or datetime
        "2026-10-25 23:59:59 AoE", "2026-10-25 12:00 UTC", or a time of TOML with an offset. A time without a
        zone is refused: deadlines that were off by a day began that way.

    Raises
    ------
    ValueError
        When there is no zone, or no time.

    Examples
    --------
    >>> parse_time("2026-10-25 23:59:59 AoE").isoformat()
    '2026-10-26T11:59:59+00:00'
    """
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise ValueError(f'the time {value} has no zone; write it as "{value} UTC" or "{value} AoE"')
        return value.astimezone(datetime.UTC)
    found = _ZONED.match(value.strip()) if isinstance(value, str) else None
    if found is None:
        raise ValueError(
            f'{value!r} is not a time with a zone; expected "2026-10-25 23:59:59 AoE" or "... UTC"'
        )
    zone = AOE if found["zone"] == "AoE" else datetime.UTC
    plain = datetime.datetime.fromisoformat(f"{found['day']} {found['clock'] or '00:00'}")
    return plain.replace(tzinfo=zone).astimezone(datetime.UTC)


def format_utc(time: datetime.datetime) -> str:
    """Format a time in UTC, to the second.

    Examples
    --------
    >>> format_utc(parse_time("2026-10-25 23:59:59 AoE"))
    '2026-10-26 11:59:59 UTC'
    """
    return f"{time.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S} UTC"


def format_aoe(time: datetime.datetime) -> str:
    """Format a time Anywhere on Earth (UTC-12), to the second."""
    return f"{time.astimezone(AOE):%Y-%m-%d %H:%M:%S} AoE"


def day_of(time: datetime.datetime) -> str:
    """Return the UTC day of a time, by which attempts are counted."""
    return f"{time.astimezone(datetime.UTC):%Y-%m-%d}"


def next_day(day: str) -> datetime.datetime:
    """Return the instant at which the UTC day after `day` begins."""
    begun = datetime.datetime.fromisoformat(day).replace(tzinfo=datetime.UTC)
    return begun + datetime.timedelta(days=1)
