"""From a view to HTML: the templates of the server on top of those of the static site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from neuroarena import __version__
from neuroarena.board.site import make_environment
from neuroarena.competition.arena import Arena
from neuroarena.server.origins import FIELD, cookie_name, make_token
from neuroarena.server.settings import Settings
from neuroarena.server.visitors import VISITOR

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.types import Scope

    from neuroarena.server.viewing import View


@dataclass(frozen=True)
class LivePage:
    """What ``base.html.j2`` asks of a page: its address without an ending, its title, its tables."""

    address: str
    title: str
    tables: tuple[str, ...] = ()


@dataclass(frozen=True)
class Templates:
    """The templates of a server, and what all of its pages say."""

    arena: Arena
    settings: Settings
    environment: Environment = field(default_factory=lambda: make_live_environment())

    def describe_site(self) -> dict[str, Any]:
        """Return what every page says of the competition."""
        competition = self.arena.competition
        return {
            "title": competition.title,
            "description": competition.description,
            "contact": competition.contact,
            "snapshot": "",
            "short": "",
            "updated": "",
            "simulated": False,
            "frozen": False,
            "version": __version__,
            "policy": None,
            "repository": None,
            "licence": None,
            "texts": [],
        }

    def render(self, view: View, scope: Scope) -> str:
        """Return a view as HTML; the cookie of forms is set with it where there was none."""
        path, state = scope["path"], scope.setdefault("state", {})

        def csrf_field() -> Markup:
            return Markup('<input type="hidden" name="{}" value="{}">').format(
                FIELD, self._token(view, scope)
            )

        return self.environment.get_template(view.template).render(
            page=LivePage(path.strip("/").removesuffix(".html") or "index", view.title),
            site=self.describe_site(),
            root="../" * (path.count("/") - 1),
            who=state.get("who", VISITOR),
            csrf_field=csrf_field,
            **view.data,
        )

    def _token(self, view: View, scope: Scope) -> str:
        """Return the token of the visitor's forms; a new one is put into a cookie."""
        from starlette.requests import HTTPConnection

        name, state = cookie_name(self.settings), scope["state"]
        token: str | None = HTTPConnection(scope).cookies.get(name) or state.get("new_csrf")
        if token is None:
            token = state["new_csrf"] = make_token()
            view.set_cookie(name, token, httponly=True, samesite="lax", secure=self.settings.secure)
        return str(escape(token))


def make_live_environment() -> Environment:
    """Return where templates are looked up: the server's, then the site's, which are also under ``site/``."""
    from jinja2 import ChoiceLoader, PackageLoader, PrefixLoader

    environment = make_environment("neuroarena.server")
    own = PrefixLoader({"site": PackageLoader("neuroarena.board.site")})
    assert environment.loader is not None
    environment.loader = ChoiceLoader([environment.loader, own])
    return environment
