"""Every route from the wrong side: a visitor where one must have signed in, a team where one must be an organiser."""

from __future__ import annotations

import re
from pathlib import Path

from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from arena_making import Clock, join, make_arena
from neuroarena.server import create_app
from neuroarena.server.app import ROUTERS
from neuroarena.server.visitors import require_member, require_organiser


def needs(dependant: object, permission: object) -> bool:
    inner = dependant.dependencies  # type: ignore[attr-defined]
    return any(one.call is permission or needs(one, permission) for one in inner)


ROUTES = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
CLOSED = [one for one in ROUTES if needs(one.dependant, require_member)]
DESK = [one for one in CLOSED if needs(one.dependant, require_organiser)]


def ask(client: TestClient, route: APIRoute, token: str | None = None) -> int:
    headers = {"Sec-Fetch-Site": "same-origin"} | ({"Authorization": f"Bearer {token}"} if token else {})
    method = "POST" if "POST" in route.methods else "GET"
    path = re.sub(r"\{[^}]*\}", "x", route.path)
    return client.request(method, path, headers=headers, follow_redirects=False).status_code


def test_no_closed_route_opens_from_the_wrong_side(tmp_path: Path):
    arena = make_arena(tmp_path, Clock("2026-03-02 12:00 UTC"))
    client, token = TestClient(create_app(arena), raise_server_exceptions=False), join(arena, "reds")
    assert len(CLOSED) > 20
    assert len(DESK) > 5
    assert {one.path: ask(client, one) for one in CLOSED if ask(client, one) != 401} == {}
    assert {one.path: ask(client, one, token) for one in DESK if ask(client, one, token) != 403} == {}
