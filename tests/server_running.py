"""A server on a free port of this machine, in a thread of the test."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

import uvicorn

from neuroarena.competition.arena import Arena
from neuroarena.server import Settings, create_app
from neuroarena.server.serving import open_port


@contextlib.contextmanager
def running(arena: Arena, settings: Settings | None = None) -> Iterator[str]:
    """Serve a competition while the block runs; yield its address."""
    chosen = (settings or Settings()).model_copy(update={"port": 0})
    listening = open_port(chosen)
    config = uvicorn.Config(create_app(arena, chosen), log_level="warning", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        assert server.started
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(120)
        listening.close()
