"""What every answer says to browsers, and how large a request may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException

from neuroarena.server.settings import Settings

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

# Nothing from elsewhere and nothing inline: a stranger's words on a page can only be read.
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
TWO_YEARS_S = 63_072_000


class Guard:
    """Middleware that adds the headers of security to every answer, and bounds the body of every request."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.settings = app, settings
        self.headers = dict(HEADERS)
        if settings.secure:
            self.headers["Strict-Transport-Security"] = f"max-age={TWO_YEARS_S}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, bounded, and its answer back, with headers."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        state = scope.setdefault("state", {})
        state["body_limit"] = self.settings.limits.form_bytes
        said = Headers(scope=scope).get("content-length", "")
        stated, received = int(said) if said.isdigit() else 0, 0

        async def bounded() -> Message:
            nonlocal received
            if stated > state["body_limit"]:
                raise HTTPException(413)
            message = await receive()
            received += len(message.get("body", b""))
            if received > state["body_limit"]:
                raise HTTPException(413)
            return message

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(raw=message["headers"])
                for name, value in self.headers.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, bounded, guarded)


def allow_body(request: Request, n_bytes: int) -> None:
    """Let the body of a request be as large as an upload; call it before the stream is read."""
    request.scope["state"]["body_limit"] = n_bytes
