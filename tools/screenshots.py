"""Draw the pictures of the documentation anew with a real browser, into docs/images, and the README's docs/report.png.

    python tools/screenshots.py      (make screenshots)

The README's picture shows the report of ``neuroarena demo``, and those of a competition the simulated one of
``neuroarena serve --demo``. Those of a site show the published submissions of Neuroprobe in ``../shared/data``, and are
left as they are where these are missing.
"""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import Browser, Page

from neuroarena.cli.site import build
from neuroarena.demo.simulated_arena import Demonstration, make_demonstration

PROJECT = Path(__file__).resolve().parents[1]
IMAGES = PROJECT / "docs" / "images"
SUBMISSIONS = PROJECT.parent / "shared" / "data" / "neuroprobe" / "submissions"
sys.path.insert(0, str(PROJECT / "tests"))
PATIENCE_MS = 120_000


def main() -> None:
    """Draw every picture."""
    from browsing import PHONE, browsing

    desktop = {"width": 1280, "height": 860}
    with tempfile.TemporaryDirectory() as temporary, browsing("/usr/bin/chromium") as browser:
        folder = Path(temporary)
        if SUBMISSIONS.is_dir():
            build([SUBMISSIONS], folder / "site")
            board = "boards/neuroprobe-2025-09-cross-session.html"
            for name, address, scheme, size in (
                ("site-overview", "index.html", "light", desktop),
                ("site-board-dark", board, "dark", desktop),
                ("site-phone", board, "light", PHONE),
            ):
                _draw(browser, name, (folder / "site" / address).as_uri(), scheme, size)
        subprocess.run(
            [sys.executable, "-m", "neuroarena", "demo"], cwd=folder, check=True, stdout=subprocess.DEVNULL
        )
        report = (folder / "demo-results" / "report.html").as_uri()
        _draw(browser, "../report", report, "light", {"width": 1440, "height": 1735})
        made = make_demonstration(folder / "arena")
        with _serving(made) as address:
            _draw(browser, "competition-overview", f"{address}/", "light", {"width": 1280, "height": 1250})
            with _opened(browser, "light", {"width": 1280, "height": 1400}) as page:
                page.goto(f"{address}/")
                page.get_by_role("link", name="Typing · Open phase").click()
                _keep(page, "competition-board")
                typing = page.url
            _draw(browser, "competition-phone", typing, "dark", PHONE)
            with _opened(browser, "light", desktop) as page:
                _submit(page, address, made)
            with _opened(browser, "light", desktop) as page:
                _sign_in(page, address, made.organiser)
                if page.get_by_role("link", name="Organise", exact=True).count():
                    page.get_by_role("link", name="Organise", exact=True).click()
                    _keep(page, "competition-organise")


@contextlib.contextmanager
def _opened(browser: Browser, scheme: str, size: dict[str, int]) -> Iterator[Page]:
    context = browser.new_context(viewport=size, color_scheme=scheme)  # type: ignore[arg-type]
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    yield page
    context.close()


def _draw(browser: Browser, name: str, address: str, scheme: str, size: dict[str, int]) -> None:
    with _opened(browser, scheme, size) as page:
        page.goto(address)
        _keep(page, name)


def _keep(page: Page, name: str) -> None:
    page.screenshot(path=IMAGES / f"{name}.png")
    print(f"wrote {name}.png")


@contextlib.contextmanager
def _serving(made: Demonstration) -> Iterator[str]:
    folder, program = str(made.arena.folder), [sys.executable, "-m", "neuroarena"]
    server = subprocess.Popen([*program, "serve", folder, "--port", "0"], stdout=subprocess.PIPE, text=True)
    worker = subprocess.Popen([*program, "worker", "--arena", folder], stdout=subprocess.DEVNULL)
    try:
        said = server.stdout.readline() if server.stdout is not None else ""
        found = re.search(r"http://\S+", said)
        if found is None:
            raise SystemExit("The server did not start.")
        yield found[0].rstrip("/")
    finally:
        for process in (server, worker):
            process.terminate()
            process.wait(30)


def _sign_in(page: Page, address: str, account: tuple[str, str]) -> None:
    page.goto(f"{address}/sign-in")
    page.get_by_label("Email address").fill(account[0])
    page.get_by_label("Password").fill(account[1])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for()


def _submit(page: Page, address: str, made: Demonstration) -> None:
    _sign_in(page, address, made.team)
    page.goto(f"{address}/submit")
    page.locator("#f-file").set_input_files(made.bad)
    page.locator("#verdict .bad").wait_for()
    page.locator("#f-file").set_input_files(made.good)
    page.locator("#verdict .good").wait_for()
    _keep(page, "competition-submit")
    page.locator("#send").click()
    page.wait_for_url("**/submissions/*")
    page.locator(".chip", has_text="scored").first.wait_for()
    _keep(page, "competition-receipt")


if __name__ == "__main__":
    main()
