"""One view, two formats: what a page shows as plain data, answered as HTML or as JSON."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fastapi import Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.responses import RedirectResponse

from neuroarena.server.formats import accepts_gzip, has_already, wants_json

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

PUBLIC, PRIVATE = "no-cache", "private, no-store"
SMALLEST_COMPRESSED = 1_000
# A document under it has no origin: it reaches no cookie and no page of ours. Pictures may lie beside it.
SANDBOX = (
    "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'"
)
HTML, JSON_TYPE = "text/html; charset=utf-8", "application/json"


class View(Response):
    """What a page shows, before it is known in which format; rendered when it is sent.

    Parameters
    ----------
    template : str
        Of ``templates``; sees the keys of `data`, and `page`, `site`, `root`, `who`, `csrf_field`.
    title : str
    data : mapping
        Plain data: this is also the JSON.
    status : int
    public : bool
        Whether everybody sees the same: such a page is compressed, and browsers keep it as long as it is unchanged.
    headers : mapping, optional
    """

    def __init__(
        self,
        template: str,
        title: str,
        data: Mapping[str, Any],
        *,
        status: int = 200,
        public: bool = False,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(None, status, headers)
        self.template, self.title, self.data, self.public = template, title, data, public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Render the view in the format that was asked for, and send it."""
        if wants_json(scope):
            content, kind = render_data(self.data), JSON_TYPE
        else:
            render = scope["app"].state.templates.render
            content, kind = (await run_in_threadpool(render, self, scope)).encode(), HTML
        public = self.public and not is_signed_in(scope)
        answer = make_answer(scope, content, kind, status=self.status_code, public=public)
        answer.raw_headers.extend(kept_headers(self))
        answer.background = self.background
        await answer(scope, receive, send)


class Done(Response):
    """The answer to an act: a redirect for a browser, JSON for a program.

    Parameters
    ----------
    location : str
        Where a browser goes next, from the top of the site: ``/submissions``.
    data : mapping
        What a program is told.
    status : int
        For programs: 200, or 201 when something was made.
    """

    def __init__(self, location: str, data: Mapping[str, Any], *, status: int = 200) -> None:
        super().__init__(None, status)
        self.location, self.data = location, data

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the answer in the format that was asked for."""
        if wants_json(scope):
            answer: Response = make_answer(scope, render_data(self.data), JSON_TYPE, status=self.status_code)
        else:
            answer = RedirectResponse(self.location, 303, {"Cache-Control": PRIVATE})
        answer.raw_headers.extend(kept_headers(self))
        answer.background = self.background
        await answer(scope, receive, send)


def kept_headers(view: Response) -> list[tuple[bytes, bytes]]:
    """Return the headers that a route has set, cookies among them, without those of the empty body."""
    return [
        (name, value) for name, value in view.raw_headers if name not in (b"content-length", b"content-type")
    ]


def is_signed_in(scope: Scope) -> bool:
    """Return whether the page shows somebody's own data, if only a name in the corner."""
    who = scope.get("state", {}).get("who")
    return who is not None and who.account is not None


@dataclass(frozen=True)
class Bytes:
    """Public content that is sent many times: its bytes, the same compressed, and its ETag."""

    plain: bytes
    compressed: bytes | None
    etag: str

    @classmethod
    def of(cls, content: bytes) -> Bytes:
        """Compress some content once."""
        compressed = gzip.compress(content, 6, mtime=0) if len(content) >= SMALLEST_COMPRESSED else None
        return cls(content, compressed, make_etag(content))


def make_answer(
    scope: Scope, content: bytes | Bytes, kind: str, *, status: int = 200, public: bool = False
) -> Response:
    """Return bytes as an answer: with an ETag, compressed where that is safe, empty where the visitor has them.

    Pages with somebody's own data are not compressed: the length of a compressed page tells what is in it.
    """
    headers, asked = {"Cache-Control": PUBLIC if public else PRIVATE}, Headers(scope=scope)
    headers["Vary"] = "Accept, Accept-Encoding, Cookie"
    if isinstance(content, Bytes):
        known, plain = content, content.plain
    else:
        known, plain = None, content
    if public and status == 200:
        known = known or Bytes.of(plain)
        headers["ETag"] = known.etag
        if has_already(asked, known.etag):
            return Response(None, 304, headers)
        if known.compressed is not None and accepts_gzip(asked):
            headers["Content-Encoding"] = "gzip"
            return Response(known.compressed, status, headers, media_type=kind)
    return Response(plain, status, headers, media_type=kind)


def make_etag(content: bytes) -> str:
    """Return the ETag of some bytes."""
    return f'"{hashlib.sha256(content).hexdigest()[:32]}"'


def render_data(data: Mapping[str, Any]) -> bytes:
    """Return data as JSON; numbers that are not finite are an error here, and not in some browser."""
    return json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def sandboxed(response: Response) -> Response:
    """Return an answer with a file that somebody made elsewhere: a browser shows it, and runs nothing of it."""
    response.headers["Content-Security-Policy"] = SANDBOX
    # A page without an origin asks for the pictures beside it as if from another site.
    response.headers["Cross-Origin-Resource-Policy"] = "cross-origin"
    return response
