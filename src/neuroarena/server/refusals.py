"""Refusals: one sentence with a status, as a page or as JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from sqlalchemy.exc import DataError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from neuroarena.competition.people.rates import TooOften
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.server.viewing import View

LOG = logging.getLogger("neuroarena.server")
SENTENCES = {
    401: "Sign in first.",
    403: "You may not do this.",
    404: "There is no such page.",
    405: "This address does not take such a request.",
    413: "This is too large.",
    429: "Too many requests. Wait a little, then try again.",
}
UNKEEPABLE = "Something in the request cannot be kept, such as a NUL character. Remove it, and try again."
BROKEN = "The server failed; it was written down, and nothing was changed by this request."


class Problem(BaseModel):
    """What a refusal says to programs."""

    model_config = ConfigDict(extra="forbid")

    status: int
    error: str


class Refusal(InputError):
    """A request that is not answered as asked: a status and one sentence.

    Attributes
    ----------
    status : int
    headers : dict
        To be sent with it, such as ``Retry-After``.
    """

    def __init__(self, status: int, sentence: str | None = None, **headers: str) -> None:
        super().__init__(sentence or SENTENCES[status])
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def make_refusal(status: int, sentence: str, headers: dict[str, str] | None = None) -> View:
    """Return the page of a refusal."""
    data = {"status": status, "error": sentence}
    return View("refusal.html.j2", "This did not work", data, status=status, headers=headers)


def add_refusals(app: FastAPI) -> None:
    """Let every error of an application leave it as one sentence."""

    def on(kind: type[Exception]) -> Callable[[Callable[[Any], View]], None]:
        def add(make: Callable[[Any], View]) -> None:
            def answer(_: Request, error: Exception) -> Response:
                return make(error)

            app.add_exception_handler(kind, answer)

        return add

    on(Refusal)(lambda error: make_refusal(error.status, str(error), error.headers))
    on(InputError)(lambda error: make_refusal(400, str(error)))
    on(TooOften)(lambda error: make_refusal(429, str(error), {"Retry-After": str(error.retry_after_s)}))
    # PostgreSQL keeps no NUL in a text: whoever sends one is told, and nothing is written.
    on(DataError)(lambda _: make_refusal(400, UNKEEPABLE))
    # Nobody reads this answer; without it every broken upload would be a traceback in the log.
    on(ClientDisconnect)(lambda _: make_refusal(400, "The line broke before everything had arrived."))
    on(NeuroarenaError)(_record)
    on(RequestValidationError)(lambda error: make_refusal(422, describe_invalid(error)))
    on(HTTPException)(
        lambda error: make_refusal(
            error.status_code, SENTENCES.get(error.status_code, str(error.detail)), dict(error.headers or {})
        )
    )
    on(Exception)(lambda _: make_refusal(500, BROKEN))


def describe_invalid(error: RequestValidationError) -> str:
    """Return the first thing that is wrong with a request, in words."""
    first = error.errors()[0]
    where = ".".join(str(part) for part in first["loc"][1:]) or "the request"
    message = "this is missing" if first["type"] == "missing" else str(first["msg"])
    return f"{where}: {message.removeprefix('Value error, ')}."


def _record(error: NeuroarenaError) -> View:
    LOG.error("%s: %s", type(error).__name__, error)
    return make_refusal(500, BROKEN)
