"""Split files of emg2qwerty: lists of users and sessions, in the small part of YAML they are written in.

Only what such a file needs is supported: nested mappings, lists of mappings and plain values. Tags, anchors
and anything else that can make a YAML file do something is refused by name, so that untrusted files are safe to read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuroarena.errors import InputError

PARTS = ("train", "val", "test")
_LARGEST_BYTES = 4 << 20
_PAIR = re.compile(r"(?P<key>[A-Za-z_][\w.-]*)\s*:(?:\s+(?P<value>.*))?$")
_FORBIDDEN = "&*!|>%@`"


@dataclass(frozen=True)
class SplitFile:
    """A split as it was published.

    Attributes
    ----------
    user : str
        The user the split is for, or "generic".
    train, val, test : tuple of (str, str)
        User and session of every entry, in the order of the file.
    """

    user: str
    train: tuple[tuple[str, str], ...]
    val: tuple[tuple[str, str], ...]
    test: tuple[tuple[str, str], ...]


def read_split_file(path: str | Path) -> SplitFile:
    """Read a split file.

    Raises
    ------
    InputError
        Naming the file and the line, when it is missing or is not such a file.
    """
    path = Path(path)
    try:
        size = path.stat().st_size
        if size > _LARGEST_BYTES:
            raise InputError(
                f"{path}: is {size} bytes long; a list of sessions has at most {_LARGEST_BYTES}."
            )
        content = _mapping(_lines(path.read_text(encoding="utf-8"), path), 0, path)
    except FileNotFoundError:
        raise InputError(f"{path}: this file does not exist. Expected a split in YAML.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}.") from error
    parts = content.get("dataset")
    if not isinstance(parts, dict) or set(parts) != set(PARTS):
        raise InputError(f'{path}: expected a mapping "dataset" with exactly {", ".join(PARTS)}.')
    found = {part: tuple(_entry(item, part, path) for item in parts[part] or ()) for part in PARTS}
    seen: dict[str, str] = {}
    for part, entries in found.items():
        for _, session in entries:
            if session in seen:
                raise InputError(f'{path}: session "{session}" is in {seen[session]} and again in {part}.')
            seen[session] = part
    return SplitFile(str(content.get("user", "")), **found)


def _entry(item: Any, part: str, path: Path) -> tuple[str, str]:
    if not isinstance(item, dict) or not {"user", "session"} <= set(item):
        raise InputError(f"{path}: every entry of {part} must have user and session, got {item!r}.")
    if not all(isinstance(item[key], str) and item[key] for key in ("user", "session")):
        raise InputError(
            f"{path}: user and session of an entry of {part} must be plain values, got {item!r}."
        )
    if not re.fullmatch(r"[\w.@+-]+", item["session"]) or item["session"].startswith("."):
        raise InputError(f"{path}: {item['session']!r} is not the name of a session.")
    return item["user"], item["session"]


@dataclass(frozen=True)
class _Line:
    number: int
    indent: int
    text: str


def _lines(text: str, path: Path) -> list[_Line]:
    found: list[_Line] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*$", "", raw).rstrip()
        body = line.lstrip(" ")
        if not body or (body == "---" and not found):
            continue
        if "\t" in line:
            raise InputError(f"{path}: line {number}: contains a tab. Indent with spaces.")
        found.append(_Line(number, len(line) - len(body), body))
    return found


def _mapping(lines: Sequence[_Line], indent: int, path: Path) -> dict[str, Any]:
    """Read the mapping formed by the lines of this indentation."""
    made: dict[str, Any] = {}
    place = 0
    while place < len(lines):
        line = lines[place]
        match = _PAIR.match(line.text)
        if line.indent != indent or match is None:
            raise InputError(f'{path}: line {line.number}: expected "name: value", got {line.text!r}.')
        end = place + 1
        # A list may follow its name without further indentation.
        while end < len(lines) and (
            lines[end].indent > indent or (lines[end].indent == indent and _is_item(lines[end]))
        ):
            end += 1
        if match["key"] in made:
            raise InputError(f'{path}: line {line.number}: "{match["key"]}" occurs twice.')
        made[match["key"]] = _value(match["value"], lines[place + 1 : end], line, path)
        place = end
    return made


def _is_item(line: _Line) -> bool:
    return line.text == "-" or line.text.startswith("- ")


def _value(text: str | None, below: Sequence[_Line], line: _Line, path: Path) -> Any:
    if text:
        if below:
            raise InputError(f"{path}: line {below[0].number}: is indented under a value.")
        return _scalar(text.strip(), line, path)
    if not below:
        return None
    return (_list if _is_item(below[0]) else _mapping)(below, below[0].indent, path)


def _list(lines: Sequence[_Line], indent: int, path: Path) -> list[Any]:
    made: list[Any] = []
    place = 0
    while place < len(lines):
        line = lines[place]
        if line.indent != indent or not _is_item(line):
            raise InputError(f'{path}: line {line.number}: expected "- ", got {line.text!r}.')
        end = place + 1
        while end < len(lines) and lines[end].indent > indent:
            end += 1
        rest = line.text[1:].lstrip()
        inner = line.indent + len(line.text) - len(rest)
        if _PAIR.match(rest):
            made.append(_mapping([_Line(line.number, inner, rest), *lines[place + 1 : end]], inner, path))
        else:
            made.append(_value(rest, lines[place + 1 : end], line, path))
        place = end
    return made


def _scalar(text: str, line: _Line, path: Path) -> Any:
    if text == "[]":
        return []
    if text.startswith("{") and text.endswith("}"):
        pairs = [part.strip() for part in text[1:-1].split(",") if part.strip()]
        return _mapping([_Line(line.number, 0, pair) for pair in pairs], 0, path)
    if text[0] in _FORBIDDEN or text[0] in "[{":
        raise InputError(
            f"{path}: line {line.number}: {text[:40]!r} is not a plain value. "
            "Tags, anchors and the like are not supported."
        )
    if text[0] in "'\"":
        if len(text) < 2 or text[-1] != text[0] or text[0] in text[1:-1] or "\\" in text:
            raise InputError(f"{path}: line {line.number}: {text[:40]!r} is not a simply quoted value.")
        return text[1:-1]
    return text
