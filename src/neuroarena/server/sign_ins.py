"""Signing in and out on the pages: the cookie of a session, rates, letters, and where a person goes next."""

from __future__ import annotations

import datetime
from urllib.parse import urlsplit

from fastapi import Request, Response
from starlette.background import BackgroundTask

from neuroarena.competition.people.letters import Letter, send_or_log
from neuroarena.competition.people.rates import Rate, Rates
from neuroarena.server.settings import Settings
from neuroarena.server.visitors import SESSION_COOKIE

QUARTER_S, HOUR_S = 900, 3600
# A whole institute may share an address.
SHARED = 6


def make_rates(settings: Settings) -> Rates:
    """Return the rates of a server, as its settings say."""
    limits = settings.limits
    return Rates(
        client=Rate(SHARED * limits.sign_ins, QUARTER_S),
        sign_in=Rate(limits.sign_ins, QUARTER_S),
        letters=Rate(limits.letters, HOUR_S),
        checks=Rate(limits.uploads, HOUR_S),
    )


def find_rates(request: Request) -> Rates:
    """Return the rates of the server that answers."""
    rates: Rates = request.app.state.rates
    return rates


def name_client(request: Request) -> str:
    """Return the address that a request comes from; behind a trusted proxy, the one that it states."""
    return "unknown" if request.client is None else request.client.host


def set_session(response: Response, secret: str, settings: Settings) -> None:
    """Put a session's secret into a cookie that scripts cannot read and other sites cannot send."""
    response.set_cookie(
        f"{settings.cookie_prefix}{SESSION_COOKIE}",
        secret,
        max_age=int(datetime.timedelta(days=settings.session_days).total_seconds()),
        httponly=True,
        samesite="lax",
        secure=settings.secure,
        path="/",
    )


def drop_session(response: Response, settings: Settings) -> None:
    """Remove the cookie of a session."""
    name = f"{settings.cookie_prefix}{SESSION_COOKIE}"
    response.delete_cookie(name, path="/", httponly=True, samesite="lax", secure=settings.secure)


def read_session(request: Request, settings: Settings) -> str:
    """Return the secret of the session that a request carries; empty without one."""
    return request.cookies.get(f"{settings.cookie_prefix}{SESSION_COOKIE}", "")


def send_after(response: Response, request: Request, letter: Letter | None) -> None:
    """Send a letter after the answer, so that the answer takes as long with a letter as without one."""
    if letter is not None:
        response.background = BackgroundTask(send_or_log, request.app.state.send, letter)


def find_base(request: Request, settings: Settings) -> str:
    """Return what links in letters begin with; never what the request says of its host, which anybody can write."""
    if settings.public_address is not None:
        return settings.public_address
    host, port = request.scope.get("server") or (settings.host, settings.port)
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def clean_next(address: str, default: str = "/") -> str:
    """Return an address of this site to go on to; anything that leads elsewhere becomes the default.

    Examples
    --------
    >>> clean_next("/team"), clean_next("///elsewhere.org"), clean_next("https://elsewhere.org")
    ('/team', '/', '/')
    """
    try:
        parts = urlsplit(address)
    except ValueError:
        return default
    # Browsers read "///elsewhere.org" as another host, although it has none by the letter of the standard.
    inside = address.startswith("/") and not address.startswith("//")
    safe = inside and address.isprintable() and "\\" not in address and " " not in address
    return address if safe and not parts.scheme and not parts.netloc else default
