"""A real browser for tests: Debian's Chromium through Playwright, and what must hold on every page."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
)  # fmt: skip
# For whatever a page is asked: it goes on as soon as it is there.
PATIENCE_MS = 300_000
DESKTOP, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
# How far something reaches beyond the right edge, where it does not scroll by itself.
OVERHANG = """() => {
  const shown = [...document.querySelectorAll("main *")].filter(
    (each) => each.getClientRects().length && !each.closest(".scroll, .unseen, pre, .skip"));
  const right = Math.max(0, ...shown.map((each) => each.getBoundingClientRect().right));
  return Math.max(right, document.documentElement.scrollWidth) - window.innerWidth;
}"""


@contextlib.contextmanager
def browsing(chromium: str) -> Iterator[Browser]:
    """Start a browser; it is ended with the context."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS), timeout=PATIENCE_MS)
        yield browser
        browser.close()


@contextlib.contextmanager
def visiting(browser: Browser, **options: Any) -> Iterator[Page]:
    """Open a page in a context of its own, and fail when it complains: an error, or something its policy forbids."""
    context = browser.new_context(**{"viewport": DESKTOP, **options})
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "console",
        lambda message: complaints.append(message.text) if "Content Security" in message.text else None,
    )
    yield page
    assert complaints == []
    context.close()


def list_violations(page: Page) -> list[str]:
    """Return what axe-core calls serious or critical, in words."""
    found = Axe().run(page).response["violations"]
    return [
        f"{page.url}: {each['id']}: {each['help']}: {each['nodes'][0]['html'][:200]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]


def measure_overhang(page: Page) -> float:
    """Return by how many pixels something leaves the page to the right."""
    return float(page.evaluate(OVERHANG))
