"""A visitor reads every page of a static site from the disk: phone and desktop, light and dark, without scripts too."""

from __future__ import annotations

from pathlib import Path

import pytest

from browsing import DESKTOP, PHONE, browsing, list_violations, measure_overhang, visiting
from neuroarena.cli.site import build
from neuroarena.demo.simulated_arena import make_demonstration

pytestmark = pytest.mark.drill


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("visited")
    made = make_demonstration(folder / "arena")
    made.arena.store.close()
    build([folder / "arena"], folder / "site")
    return folder / "site"


@pytest.fixture(scope="module")
def browser(chromium):
    with browsing(chromium) as started:
        yield started


def list_addresses(site: Path) -> list[str]:
    return [path.as_uri() for path in sorted(site.rglob("*.html"))]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_can_be_read_by_everybody(browser, site, scheme):
    addresses = list_addresses(site)
    assert len(addresses) > 15
    # axe-core is a script that no page of ours allows.
    with visiting(browser, color_scheme=scheme, bypass_csp=True) as page:
        for address in addresses:
            page.goto(address)
            page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
            assert list_violations(page) == []


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_nothing_leaves_any_page_and_no_link_leads_nowhere(browser, site, viewport):
    with visiting(browser, viewport=viewport) as page:
        for address in list_addresses(site):
            page.goto(address)
            assert measure_overhang(page) <= 0, address
            for link in page.eval_on_selector_all("a[href]", "links => links.map(each => each.href)"):
                if link.startswith("file:"):
                    assert Path(link.removeprefix("file://").split("#")[0]).is_file(), (address, link)


def test_a_board_fits_a_laptop_and_shows_every_pair(browser, site):
    with visiting(browser, viewport={"width": 1280, "height": 800}) as page:
        for path in sorted(site.glob("boards/simulated-*.html")):
            page.goto(path.as_uri())
            hidden = page.evaluate("(e => e.scrollWidth - e.clientWidth)(document.getElementById('ranking'))")
            assert hidden <= 0, path
            assert page.locator("table[data-pairs] tbody tr").count() == 66
            assert "writes all" not in page.inner_text("main")


def test_a_board_says_at_a_glance_who_leads_by_how_much_and_whether_that_is_real_without_scripts(
    browser, site
):
    with visiting(browser, java_script_enabled=False) as page:
        page.goto((site / "index.html").as_uri())
        page.get_by_role("link", name="Typing · Open phase").click()
        answer = page.locator(".answer")
        assert "Night Owls leads with" in answer.inner_text()
        assert "The lead is real: better than all 11 others" in answer.inner_text()
        assert "ahead of" in answer.inner_text()
        assert answer.bounding_box()["y"] < 400
        assert page.locator("table.board tbody tr").count() == 12
        page.goto((site / "boards/demo-typing-pilot.html").as_uri())
        assert "No verdict before the reveal" in page.locator(".answer").inner_text()


def test_a_visitor_searches_sorts_and_chooses_a_pair(browser, site):
    with visiting(browser) as page:
        page.goto((site / "index.html").as_uri())
        page.get_by_role("link", name="Mental commands · Open phase").click()
        board = page.locator("table.board")
        page.get_by_role("searchbox").first.fill("owls")
        assert board.locator("tbody tr:visible").count() == 1
        page.get_by_role("searchbox").first.fill("")
        board.get_by_role("button", name="score").click()
        first = board.locator("tbody tr").first
        assert "Coin Flippers" in first.inner_text()
        page.get_by_role("combobox").first.select_option("Coin Flippers")
        assert "Coin Flippers" in page.locator("output.said").inner_text()
        page.get_by_role("link", name="Night Owls").first.click()
        assert page.get_by_role("heading", name="Night Owls").is_visible()
        assert "Against every other entry" in page.inner_text("main")
        page.get_by_text("Board by board").click()
        duels = page.locator(".duels")
        duels.get_by_role("combobox").select_option("Blue Heron")
        assert duels.locator("tbody tr:visible").count() == 3
        assert (
            "better"
            in duels.locator("tbody tr", has_text="Blue Heron").filter(has_text="Typing").inner_text()
        )
