"""Write plain data as YAML: every text quoted, so that no parser takes a date or a "no" for something else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any


def to_yaml(value: Mapping[str, Any]) -> str:
    """Return a mapping of texts, numbers, booleans, lists and mappings as YAML.

    Examples
    --------
    >>> print(to_yaml({"version": 2, "phases": [{"start": "2026-10-25 11:59:59"}], "tasks": [0]}), end="")
    version: 2
    phases:
      - start: "2026-10-25 11:59:59"
    tasks:
      - 0
    """
    return "".join(f"{line}\n" for line in _lines(value))


def _lines(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(inner, Mapping | list):
                yield f"{key}:"
                yield from (f"  {line}" for line in _lines(inner))
            else:
                yield f"{key}: {_scalar(inner)}"
        return
    for inner in value:
        first, *rest = _lines(inner) if isinstance(inner, Mapping | list) else (_scalar(inner),)
        yield f"- {first}"
        yield from (f"  {line}" for line in rest)


def _scalar(value: str | int | float | bool) -> str:
    # What JSON escapes, YAML reads the same way, but for pairs of surrogates: other characters stay as they are.
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
