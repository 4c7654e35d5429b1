"""Acts of other sites are refused: by what browsers say of a request, or by a token where they say nothing."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from fastapi import Request
from starlette.datastructures import Headers

from neuroarena.server.refusals import Refusal, make_refusal
from neuroarena.server.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

SAFE = ("GET", "HEAD", "OPTIONS")
FIELD, HEADER, COOKIE = "csrf", "x-csrf-token", "csrf"
_OTHER_SITE = (
    "This request came from another site, and nothing was done. Go back, load the page again, and retry."
)


class RefuseOtherSites:
    """Middleware that lets an act through only if it comes from these pages, or carries the token of a team.

    ``Sec-Fetch-Site`` decides, then ``Origin``. A request with neither comes from an old browser or from a program: it
    needs a token of ours, which :func:`demand_token` compares.
    """

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on."""
        if scope["type"] == "http" and scope["method"] not in SAFE:
            verdict = judge_origin(Headers(scope=scope), scope["scheme"], self.settings)
            if verdict is False:
                await make_refusal(403, _OTHER_SITE)(scope, receive, send)
                return
            scope.setdefault("state", {})["needs_token"] = verdict is None
        await self.app(scope, receive, send)


def judge_origin(headers: Headers, scheme: str, settings: Settings) -> bool | None:
    """Return whether an act comes from these pages; None when the request does not say.

    A bearer token is sent by programs alone: no page of another site can make a browser send one.
    """
    if headers.get("authorization", "").lower().startswith("bearer "):
        return True
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    if site is not None:
        return site in ("same-origin", "none")
    if origin is not None:
        own = settings.public_address or f"{scheme}://{headers.get('host', '')}"
        return _normal(origin) == _normal(own)
    return None


async def demand_token(request: Request) -> None:
    """Refuse an act of unknown origin without the token that our forms carry.

    Raises
    ------
    Refusal
        When the token of the form is not that of the cookie.
    """
    if request.method in SAFE or not request.scope.get("state", {}).get("needs_token", True):
        return
    kept = request.cookies.get(cookie_name(request.app.state.settings), "")
    sent = request.headers.get(HEADER, "")
    if not sent and request.headers.get("content-type", "").startswith(
        ("application/x-www-form-urlencoded", "multipart/form-data")
    ):
        sent = str((await request.form()).get(FIELD, ""))
    if not kept or not hmac.compare_digest(kept.encode(), sent.encode()):
        raise Refusal(403, _OTHER_SITE)


def cookie_name(settings: Settings) -> str:
    """Return the name of the cookie that keeps the token of forms."""
    return f"{settings.cookie_prefix}{COOKIE}"


def make_token() -> str:
    """Return a new token of forms."""
    return secrets.token_urlsafe(24)


def _normal(address: str) -> tuple[str, str | None, int | None]:
    try:
        parts = urlsplit(address)
        return parts.scheme, parts.hostname, parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    except ValueError:
        return "", None, None
