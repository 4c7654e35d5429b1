"""From a view to HTML: the templates of the server on top of those of the static site."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from markupsafe import Markup
from starlette.requests import HTTPConnection

from neuroarena import __version__
from neuroarena.board.site import make_environment
from neuroarena.competition.arena import Arena
from neuroarena.server.origins import FIELD, cookie_name, make_token
from neuroarena.server.settings import Settings
from neuroarena.server.visitors import VISITOR, Visitor

if TYPE_CHECKING:
    from jinja2 import Environment
    from starlette.types import Scope

    from neuroarena.server.viewing import View

# Stands where the account of the visitor is shown, in pages that are rendered once for all. What people write is
# escaped, so that it cannot occur anywhere else.
ACCOUNT_MARK = "<!-- account -->"


@dataclass(frozen=True)
class LivePage:
    """What ``base.html.j2`` asks of a page: its address without an ending, its title, its tables."""

    address: str
    title: str
    tables: tuple[str, ...] = ()

    @property
    def root(self) -> str:
        """The way from the page to the top of the site, as links begin."""
        return "../" * self.address.count("/")


@dataclass
class Templates:
    """The templates of a server, and what all of its pages say.

    Attributes
    ----------
    arena : Arena
    settings : Settings
    published : dict
        What the pages of the boards say of themselves: snapshot, last update, texts of the organisers.
    """

    arena: Arena
    settings: Settings
    published: dict[str, Any] = field(default_factory=dict)
    environment: Environment = field(default_factory=lambda: make_live_environment())

    def describe_site(self) -> dict[str, Any]:
        """Return what every page says of the competition."""
        competition = self.arena.competition
        return {
            "title": competition.title,
            "description": competition.description,
            "snapshot": "",
            "short": "",
            "updated": "",
            "simulated": False,
            "frozen": False,
            "version": __version__,
            "repository": None,
            "licence": None,
            "texts": [],
            **self.published,
            "contact": competition.contact,
            "policy": None,
        }

    def render(self, view: View, scope: Scope) -> str:
        """Return a view as HTML; the cookie of forms is set with it where there was none."""
        path = scope["path"].strip("/").removesuffix(".html")
        who = scope.setdefault("state", {}).get("who", VISITOR)

        def csrf_field() -> Markup:
            return Markup('<input type="hidden" name="{}" value="{}">').format(
                FIELD, self._token(view, scope)
            )

        page = LivePage(path or "index", view.title)
        account = self.render_account(page, who, csrf_field)
        return self.render_page(
            page, view.template, {**view.data, "who": who, "csrf_field": csrf_field}, account
        )

    def render_page(self, page: LivePage, template: str, view: Mapping[str, Any], account: str) -> str:
        """Return a page as HTML, with some HTML where the account of the visitor is shown."""
        found = self.environment.get_template(template)
        return found.render(
            page=page, site=self.describe_site(), root=page.root, account=Markup(account), **view
        )

    def render_account(self, page: LivePage, who: Visitor, csrf_field: Callable[[], Markup]) -> str:
        """Return the corner of every page that says who has signed in."""
        found = self.environment.get_template("account.html.j2")
        return found.render(
            page=page, site=self.describe_site(), root=page.root, who=who, csrf_field=csrf_field
        )

    def _token(self, view: View, scope: Scope) -> str:
        """Return the token of the visitor's forms; a new one is put into a cookie."""
        name, state = cookie_name(self.settings), scope["state"]
        token: str | None = HTTPConnection(scope).cookies.get(name) or state.get("new_csrf")
        if token is None:
            token = state["new_csrf"] = make_token()
            view.set_cookie(name, token, httponly=True, samesite="lax", secure=self.settings.secure)
        return token


def make_live_environment() -> Environment:
    """Return where templates are looked up: the server's, then the site's, which are also under ``site/``."""
    from jinja2 import ChoiceLoader, PackageLoader, PrefixLoader

    environment = make_environment("neuroarena.server")
    own = PrefixLoader({"site": PackageLoader("neuroarena.board.site")})
    assert environment.loader is not None
    environment.loader = ChoiceLoader([environment.loader, own])
    return environment
