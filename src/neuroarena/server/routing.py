"""Routes that answer in two formats, and the parameters that they share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request

from neuroarena.competition.arena import Arena
from neuroarena.server.refusals import Problem
from neuroarena.server.settings import Settings

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])
Shape = Any
MOST_ROWS = 1_000
_PROBLEMS: dict[int | str, dict[str, Any]] = {
    "4XX": {"model": Problem, "description": "A refusal in one sentence"},
}


class PageRouter(APIRouter):
    """A router of pages and acts, each at ``/x`` for people and at ``/x.json`` for programs."""

    def page(self, path: str, *, shape: Shape = dict[str, Any]) -> Callable[[Endpoint], Endpoint]:
        """Register a view; `shape` is the type of its data in the OpenAPI schema."""
        return self._both("GET", path, shape, 200)

    def action(
        self, path: str, *, shape: Shape = dict[str, Any], status: int = 200
    ) -> Callable[[Endpoint], Endpoint]:
        """Register an act (POST); `shape` is the type of what a program is told."""
        return self._both("POST", path, shape, status)

    def _both(self, method: str, path: str, shape: Shape, status: int) -> Callable[[Endpoint], Endpoint]:
        def register(endpoint: Endpoint) -> Endpoint:
            stem = "/index" if path == "/" else path
            # JSON first: a parameter at the end of the address would take the ending too.
            self.add_api_route(
                f"{stem}.json",
                endpoint,
                methods=[method],
                response_model=shape,
                status_code=status,
                responses=_PROBLEMS,
            )
            also = ["HEAD"] if method == "GET" else []
            for address in (f"{stem}.html", path):
                self.add_api_route(
                    address, endpoint, methods=[method, *also], response_model=None, include_in_schema=False
                )
            return endpoint

        return register


def find_arena(request: Request) -> Arena:
    """Return the competition that is served."""
    arena: Arena = request.app.state.arena
    return arena


def find_settings(request: Request) -> Settings:
    """Return what the server was told."""
    settings: Settings = request.app.state.settings
    return settings


OpenArena = Annotated[Arena, Depends(find_arena)]
ServerSettings = Annotated[Settings, Depends(find_settings)]


@dataclass(frozen=True)
class PagingRequest:
    """Which part of a long list is asked for; pages are counted from 1."""

    page: Annotated[int, Query(ge=1, le=10**6)] = 1
    per_page: Annotated[int, Query(ge=1, le=MOST_ROWS)] = 100

    def cut(self, rows: Sequence[Any]) -> dict[str, Any]:
        """Return the rows of this page, with how many there are: rows, page, pages, total."""
        first = (self.page - 1) * self.per_page
        return {
            "rows": list(rows[first : first + self.per_page]),
            "page": self.page,
            "pages": max(1, -(-len(rows) // self.per_page)),
            "total": len(rows),
        }


Paging = Annotated[PagingRequest, Depends()]
