"""Read what names of files say: ``S{subject}R{run}``."""

from __future__ import annotations

import re
from pathlib import Path

from neuroarena.errors import InputError


def parse_name(pattern: str, path: Path) -> dict[str, str]:
    """Read what the name of a file says.

    Parameters
    ----------
    pattern : str
        The name without its suffix, with entities in braces; with slashes, the end of the path.
    path : Path

    Raises
    ------
    InputError
        When the name does not fit.

    Examples
    --------
    >>> parse_name("S{subject}R{run}", Path("data/S001R04.edf"))
    {'subject': '001', 'run': '04'}
    >>> parse_name("{subject}/{session}", Path("data/anna/day2.edf"))
    {'subject': 'anna', 'session': 'day2'}
    """
    levels = pattern.count("/") + 1
    return match_name(pattern, "/".join([*path.absolute().parts[-levels:-1], path.stem]), str(path))


def match_name(pattern: str, name: str, shown: str) -> dict[str, str]:
    """Read what a name says; see :func:`parse_name`.

    Parameters
    ----------
    pattern, name : str
    shown : str
        What a message calls the name.
    """
    parts = re.split(r"\{(\w+)\}", pattern)
    text = "".join(
        re.escape(part) if place % 2 == 0 else f"(?P<{part}>[^/]+?)" for place, part in enumerate(parts)
    )
    try:
        found = re.fullmatch(text, name)
    except re.error:
        raise InputError(f'The pattern of names "{pattern}" names an entity twice.') from None
    if found is None:
        raise InputError(
            f'{shown}: is not named as "{pattern}" says. Expected, for example, S{{subject}}R{{run}}.'
        )
    return found.groupdict()
