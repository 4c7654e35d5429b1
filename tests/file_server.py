"""A small HTTP server with the faults of real ones, for tests of fetching."""

from __future__ import annotations

import hashlib
import io
import threading
import time
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from neuroarena.datasets.download import Patience
from neuroarena.datasets.fetch_plan import FetchPlan, RemoteFile

PATIENCE = Patience(attempts=3, wait_s=0.01, timeout_s=120)
HASTE = Patience(attempts=1, wait_s=0.01, timeout_s=120)


@dataclass
class Site:
    """What the server serves, how it misbehaves, and what it was asked."""

    files: dict[str, bytes] = field(default_factory=dict)
    ranges: bool = True
    heads: bool = True
    lengths: bool = True
    chunk_s: float = 0.0
    status: int | None = None
    head_lengths: bool = True
    # For each answer with a body: send only so many bytes of it, then close.
    cuts: list[int] = field(default_factory=list)
    log: list[tuple[str, str, str | None]] = field(default_factory=list)
    url: str = ""

    def gets(self, path: str | None = None) -> list[str | None]:
        return [span for method, name, span in self.log if method == "GET" and path in (None, name)]


def _handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: Any) -> None:
            pass

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, body: bool) -> None:
            self.close_connection = True
            name, span = self.path.lstrip("/"), self.headers.get("Range")
            site.log.append((self.command, name, span))
            content = site.files.get(name)
            if not body and not site.heads:
                self.send_error(405)
            elif site.status:
                self.send_error(site.status)
            elif content is None:
                self.send_error(404)
            else:
                self.send_content(content, span if site.ranges else None, body)

        def send_content(self, content: bytes, span: str | None, body: bool) -> None:
            tag = f'"{hashlib.md5(content).hexdigest()}"'
            start = int(span.removeprefix("bytes=").rstrip("-")) if span else 0
            if self.headers.get("If-Range", tag) != tag:
                start, span = 0, None
            if start >= len(content) > 0:
                self.send_error(416)
                return
            self.send_response(206 if span else 200)
            if span:
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
            if site.lengths if body else site.head_lengths:
                self.send_header("Content-Length", str(len(content) - start))
            if site.ranges:
                self.send_header("ETag", tag)
            self.end_headers()
            if body:
                most = site.cuts.pop(0) if site.cuts else len(content)
                rest = content[start : start + most]
                for begin in range(0, len(rest), 2**15):
                    self.wfile.write(rest[begin : begin + 2**15])
                    time.sleep(site.chunk_s)

    return Handler


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setenv("NO_PROXY", "*")
    served = Site()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(served))
    server.handle_error = lambda request, address: None  # type: ignore[method-assign]  # a killed client is expected
    served.url = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield served
    server.shutdown()
    server.server_close()
    thread.join()


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def noise(size: int, seed: int = 0) -> bytes:
    import numpy as np

    return np.random.default_rng(seed).bytes(size)


def everything_below(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def plan_of(site: Site, *files: RemoteFile) -> FetchPlan:
    return FetchPlan("Some", site.url, files)


BIG = noise(300_000)
PLAIN = RemoteFile("big.bin", ("big.bin",))
LABELS = RemoteFile("labels.zip", ("labels/a.json",), archive=True, folder="labels")
