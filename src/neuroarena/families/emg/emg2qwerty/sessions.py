"""What was typed in a session: keystrokes and prompts, and the resulting text."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.decoders.ctc import ENTER
from neuroarena.errors import InputError
from neuroarena.families.emg.emg2qwerty.characters import character_of, normal_text
from neuroarena.families.emg.emg2qwerty.wristbands import RATE_HZ

ON_KEYBOARD = "on_keyboard"
TEXT_PROMPT = "text_prompt"


@dataclass(frozen=True)
class Session:
    """What a session's file holds besides the signals.

    Attributes
    ----------
    name, user, condition : str
        A user's leading zeros are dropped.
    keystrokes : DataFrame
        key (as logged), start (Unix seconds of the press), end (of the release; NaN where it was not
        logged), in time order.
    prompts : DataFrame
        text, start, end of the prompts that contain text.
    """

    name: str
    user: str
    condition: str
    keystrokes: pd.DataFrame
    prompts: pd.DataFrame


def parse_session(attributes: dict[str, Any], file: str) -> Session:
    """Read the attributes of a session's group.

    Raises
    ------
    InputError
        Naming the file, the attribute and the entry that is wrong.
    """
    missing = [name for name in ("user", "keystrokes", "prompts") if name not in attributes]
    if missing:
        raise InputError(f"{file}: the group has no attribute {missing[0]}; it has {', '.join(attributes)}.")
    return Session(
        name=str(attributes.get("session_name", file.removesuffix(".hdf5"))),
        user=plain_user(attributes["user"]),
        condition=str(attributes.get("condition", ON_KEYBOARD)),
        keystrokes=_keystrokes(_entries(attributes["keystrokes"], "keystrokes", file), file),
        prompts=_prompts(_entries(attributes["prompts"], "prompts", file), file),
    )


def plain_user(user: Any) -> str:
    """Return a user's name as split files write it: without leading zeros.

    Examples
    --------
    >>> plain_user("05775561"), plain_user(5775561)
    ('5775561', '5775561')
    """
    text = str(user)
    return str(int(text)) if text.isdecimal() else text


def events_of(session: Session, times: np.ndarray) -> pd.DataFrame:
    """List the keys of the set with their position on the samples' clock.

    A key pressed before the first sample is left out; one pressed after the last sample counts as
    pressed at it. Keys that are not in the set are left out.

    Parameters
    ----------
    session : Session
    times : float64 array (n,)
        Unix seconds of every sample, not decreasing.

    Returns
    -------
    DataFrame
        onset_s (seconds from the first sample, on the grid of samples), duration_s (0 where the release
        is not known) and value (the character), in time order.
    """
    kept, characters = _kept(session, times[0])
    table = session.keystrokes[kept]
    onset = np.searchsorted(times, table["start"].to_numpy()).clip(max=len(times) - 1)
    held = (table["end"] - table["start"]).to_numpy()
    return pd.DataFrame(
        {"onset_s": onset / RATE_HZ, "duration_s": np.where(held > 0, held, 0.0), "value": characters}
    )


def _kept(session: Session, first: float) -> tuple[np.ndarray, np.ndarray]:
    """Find the keystrokes that count, bool (n,), and return their characters."""
    found = [character_of(key) for key in session.keystrokes["key"]]
    in_set = np.array([character is not None for character in found], dtype=bool)
    kept = in_set & (session.keystrokes["start"].to_numpy() >= first)
    return kept, np.array(found, dtype=object)[kept]


def text_of_session(session: Session, first: float) -> str:
    """Return the text of a session: what was typed, or the prompted text where no keyboard was used.

    Parameters
    ----------
    session : Session
    first : float
        Unix seconds of the first sample; keys pressed before it are left out.

    Examples
    --------
    >>> prompts = '[{"name": "text_prompt", "start": 0, "end": 9, "payload": {"text": "go on"}}]'
    >>> read = {"user": "1", "condition": "on_table", "keystrokes": "[]", "prompts": prompts}
    >>> text_of_session(parse_session(read, "s.hdf5"), 0.0)
    'go on\u23ce'
    """
    if session.condition == ON_KEYBOARD:
        return "".join(_kept(session, first)[1])
    lines = [normal_text(text) for text in session.prompts["text"]]
    return "".join(line if line.endswith(ENTER) else line + ENTER for line in lines)


def _entries(text: Any, name: str, file: str) -> list[dict[str, Any]]:
    try:
        found = json.loads(text)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"{file}: the attribute {name} is not JSON: {error}.") from error
    if not isinstance(found, list) or not all(isinstance(entry, dict) for entry in found):
        raise InputError(f"{file}: the attribute {name} must be a list of objects.")
    return found


def _keystrokes(entries: list[dict[str, Any]], file: str) -> pd.DataFrame:
    rows = []
    for number, entry in enumerate(entries):
        where = f"{file}: keystrokes: entry {number}"
        key = entry.get("key")
        if not isinstance(key, str) or not key:
            raise InputError(f'{where}: "key" must be text that is not empty, got {key!r}.')
        rows.append((key, _seconds(entry.get("start"), "start", where), _release(entry, where)))
    table = pd.DataFrame(rows, columns=["key", "start", "end"]).astype({"start": float, "end": float})
    late = np.flatnonzero(np.diff(table["start"].to_numpy()) < 0)
    if len(late):
        raise InputError(
            f"{file}: keystrokes: entry {late[0] + 1} starts before the one before it. They must be in time order."
        )
    return table


def _release(entry: dict[str, Any], where: str) -> float:
    end = entry.get("end")
    return math.nan if end is None else _seconds(end, "end", where)


def _prompts(entries: list[dict[str, Any]], file: str) -> pd.DataFrame:
    rows = []
    for number, entry in enumerate(entries):
        where = f"{file}: prompts: entry {number}"
        payload = entry.get("payload")
        if entry.get("name") != TEXT_PROMPT or payload is None:
            continue
        if not isinstance(payload, dict) or not isinstance(payload.get("text"), str):
            raise InputError(f'{where}: "payload" must have a "text", got {payload!r}.')
        rows.append(
            (
                payload["text"],
                _seconds(entry.get("start"), "start", where),
                _seconds(entry.get("end"), "end", where),
            )
        )
    return pd.DataFrame(rows, columns=["text", "start", "end"])


def _seconds(value: Any, name: str, where: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise InputError(f'{where}: "{name}" must be Unix seconds, got {value!r}.')
