"""Which of its two formats a request asks for, and what it already has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.datastructures import Headers

Scope = Mapping[str, Any]


def wants_json(scope: Scope) -> bool:
    """Return whether a request asks for JSON: by the end of its address, or by ``Accept`` without HTML."""
    if scope["path"].endswith(".json"):
        return True
    accepted = Headers(scope=dict(scope)).get("accept", "")
    return "application/json" in accepted and "text/html" not in accepted


def accepts_gzip(headers: Headers) -> bool:
    """Return whether an answer may be compressed."""
    coded = headers.get("accept-encoding", "")
    return any(
        part.partition(";")[0].strip() == "gzip"
        and part.replace(" ", "").partition(";q=")[2] not in ("0", "0.0")
        for part in coded.split(",")
    )


def has_already(headers: Headers, etag: str) -> bool:
    """Return whether the visitor has this very content, by ``If-None-Match``."""
    said = headers.get("if-none-match")
    if said is None:
        return False
    return said.strip() == "*" or etag in [part.strip().removeprefix("W/") for part in said.split(",")]
