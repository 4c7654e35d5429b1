"""Start the server, and stop it: one process, one port."""

from __future__ import annotations

import socket
import sys

from neuroarena.competition.arena import Arena
from neuroarena.competition.worker import check_version
from neuroarena.errors import InputError
from neuroarena.server.settings import Settings


def run_server(arena: Arena, settings: Settings) -> None:
    """Serve a competition until a signal ends it; the address is printed once the port is open.

    Raises
    ------
    InputError
        When the port cannot be opened, or the store belongs to another version.
    """
    import uvicorn

    from neuroarena.server.app import create_app
    from neuroarena.server.uploads import clear_uploads

    check_version(arena)
    listening = open_port(settings)
    cut = clear_uploads(arena)
    if cut:
        print(
            f"Removed {cut} upload{'s' * (cut != 1)} that a killed server left unfinished.", file=sys.stderr
        )
    config = uvicorn.Config(
        create_app(arena, settings),
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=list(settings.trusted_proxies),
        server_header=False,
        log_level="warning",
        timeout_graceful_shutdown=5,
    )
    host, port = listening.getsockname()[:2]
    print(f"{arena.competition.title}: http://{host}:{port}/", flush=True)
    if settings.public_address is not None:
        print(f"Visitors come by {settings.public_address}/", file=sys.stderr)
    uvicorn.Server(config).run(sockets=[listening])


def open_port(settings: Settings) -> socket.socket:
    """Return a socket that listens where the settings say.

    Raises
    ------
    InputError
        When that is not possible, such as for a port in use.
    """
    try:
        family = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][0]
        opened = socket.socket(family, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((settings.host, settings.port))
        opened.listen(2048)
    except OSError as error:
        raise InputError(
            f"{settings.host}, port {settings.port}: {error.strerror}. Name another with --host and --port."
        ) from error
    return opened
