"""People at the server in a real browser: a visitor reads, a team registers and hands in, an organiser decides."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from browsing import DESKTOP, PATIENCE_MS, PHONE, browsing, list_violations, measure_overhang, visiting
from neuroarena.demo.simulated_arena import Demonstration, make_demonstration

pytestmark = pytest.mark.drill
PASSWORD = "seven quiet electrodes"


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Demonstration:
    folder = tmp_path_factory.mktemp("people") / "arena"
    demonstration = make_demonstration(folder)
    (folder / "server.toml").write_text('[mail]\nbackend = "file"\n')
    return demonstration


@pytest.fixture(scope="module")
def address(made):
    """The address of the server; a worker judges what is handed in."""
    folder = str(made.arena.folder)
    program = [sys.executable, "-m", "neuroarena"]
    server = subprocess.Popen([*program, "serve", folder, "--port", "0"], stdout=subprocess.PIPE, text=True)
    worker = subprocess.Popen([*program, "worker", "--arena", folder], stdout=subprocess.DEVNULL)
    try:
        yield re.search(r"http://\S+", server.stdout.readline())[0].rstrip("/")
    finally:
        for process in (server, worker):
            process.terminate()
        for process in (server, worker):
            process.wait(300)


@pytest.fixture(scope="module")
def browser(chromium):
    with browsing(chromium) as started:
        yield started


def sign_in(page, address: str, account: tuple[str, str]) -> None:
    page.goto(f"{address}/sign-in")
    page.get_by_label("Email address").fill(account[0])
    page.get_by_label("Password").fill(account[1])
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for()


def read_letter(folder: Path, to: str) -> str:
    """Return the link of the newest letter to an address, waiting for it."""
    for _ in range(1500):
        for path in sorted((folder / "letters").glob("*"), reverse=True):
            text = path.read_text().replace("=\n", "").replace("=3D", "=")
            found = re.search(r"http\S+/verify\S+", text)
            if to in text and found:
                return found[0]
        time.sleep(0.2)
    raise AssertionError(f"no letter to {to}")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_visitor_reads_all_boards_of_the_server(browser, address, viewport):
    scheme = "dark" if viewport is PHONE else "light"
    with visiting(browser, viewport=viewport, color_scheme=scheme, bypass_csp=True) as page:
        page.goto(f"{address}/")
        boards = page.eval_on_selector_all(".card h2 a", "links => links.map(each => each.href)")
        assert len(boards) == 7  # three tracks in two phases, and all tracks together
        for link in (f"{address}/", *boards, f"{address}/method.html", f"{address}/news.html"):
            assert page.goto(link).status == 200
            assert measure_overhang(page) <= 0, link
            assert list_violations(page) == []
            assert page.locator("h1").count() == 1


def test_a_team_registers_submits_bad_and_good_files_watches_and_sees_its_rank(browser, address, made):
    with visiting(browser) as page:
        page.goto(f"{address}/")
        page.get_by_role("link", name="Register").click()
        page.get_by_label("Email address").fill("ada@example.org")
        page.get_by_label("Your name").fill("Ada Example")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Register").click()
        page.get_by_role("heading", name="Look into your mail").wait_for()
        page.goto(read_letter(made.arena.folder, "ada@example.org"))
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Confirm").click()
        if page.get_by_role("button", name="Sign out").count() == 0:
            sign_in(page, address, ("ada@example.org", PASSWORD))
        page.goto(f"{address}/team")
        page.get_by_label("Name of the team").fill("Ada's team")
        page.get_by_role("button", name="Found it").click()
        page.goto(f"{address}/team")
        page.get_by_role("button", name=re.compile("accept", re.IGNORECASE)).click()
        page.goto(f"{address}/submit")
        page.get_by_label("Track").select_option("commands")
        page.locator("#f-file").set_input_files(made.bad)
        page.locator("#verdict .bad").wait_for()
        assert "3" in page.locator("#verdict").inner_text()
        assert page.locator("#send").is_disabled()
        drop_file(page, made.good)
        page.locator("#verdict .good").wait_for()
        assert "good.parquet" in page.locator("#verdict").inner_text()
        assert page.evaluate("window.shares.some((share) => share > 0)")
        page.locator("#send").click()
        page.wait_for_url("**/submissions/*")
        # The page was not loaded again: the state changes by itself.
        page.evaluate("window.still = true")
        page.locator(".chip", has_text="scored").first.wait_for()
        assert page.evaluate("window.still") is True
        assert re.search(r"Balanced accuracy 0\.\d+", page.inner_text("main"))
        page.get_by_role("link", name="See the board").click()
        page.get_by_role("heading", name="Mental commands · Open phase").wait_for()
        page.goto(f"{address}/submissions")
        assert page.locator("tbody tr").count() == 1
        row = find_row(page, address, "Ada's team")
        assert re.match(r"\d+", row)


def drop_file(page, path: Path) -> None:
    """Drop a file on the form, as a mouse does, and write down what the bar of progress shows."""
    page.evaluate(
        """() => { window.shares = []; const bar = document.getElementById("bar");
        new MutationObserver(() => window.shares.push(bar.value)).observe(bar, { attributes: true }); }"""
    )
    dropped = page.evaluate_handle(
        """([bytes, name]) => { const held = new DataTransfer();
        held.items.add(new File([new Uint8Array(bytes)], name)); return held; }""",
        [list(path.read_bytes()), path.name],
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": dropped})


def test_a_report_beside_the_pages_is_shown_and_runs_nothing(browser, address, made):
    folder = made.arena.folder / "site" / "files"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dot.svg").write_text(
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><circle r="20"/></svg>'
    )
    (folder / "report.html").write_text(
        "<h1>Report</h1><img src='dot.svg' alt='dot'><script>document.title = 'ran'</script>"
        "<form action='/sign-out' method='post'><button>Go</button></form>"
    )
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(PATIENCE_MS)
    sign_in(page, address, made.team)
    page.goto(f"{address}/files/report.html")
    assert page.get_by_role("heading", name="Report").is_visible()
    assert page.title() != "ran"
    assert page.evaluate("document.querySelector('img').naturalWidth") == 40
    assert page.evaluate("self.origin") == "null"
    page.get_by_role("button", name="Go").click()  # a sandbox sends no form
    page.goto(f"{address}/team")
    assert page.get_by_role("button", name="Sign out").is_visible()
    context.close()


def find_row(page, address: str, team: str) -> str:
    """Return the row of a team on the board of the track, once the board was made anew."""
    for _ in range(300):
        page.goto(f"{address}/")
        page.get_by_role("link", name="Mental commands · Open phase").click()
        row = page.locator("table.board tbody tr", has_text=team)
        if row.count():
            return str(row.inner_text())
        time.sleep(1)
    raise AssertionError(f"{team} never stood on the board")


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_pages_of_people_fit_and_can_be_read_by_everybody(browser, address, made, viewport):
    scheme = "dark" if viewport is PHONE else "light"
    with visiting(browser, viewport=viewport, color_scheme=scheme, bypass_csp=True) as page:
        for name in ("sign-in", "register", "forgotten"):
            page.goto(f"{address}/{name}")
            assert list_violations(page) == []
            assert measure_overhang(page) <= 0, name
        sign_in(page, address, made.team)
        for name in ("submit", "submissions", "team", "account", "account/data"):
            assert page.goto(f"{address}/{name}").status == 200
            assert list_violations(page) == []
            assert measure_overhang(page) <= 0, name


def list_coins(page, address: str) -> int:
    """Return how many rows the team of chance has on the board of a track, as the server shows it now."""
    page.goto(f"{address}/")
    page.get_by_role("link", name="Sleep onset · Open phase").click()
    return int(page.locator("table.board tbody tr", has_text="Coin Flippers").count())


def wait_for_coins(page, address: str, wanted: int) -> None:
    for _ in range(300):
        if list_coins(page, address) == wanted:
            return
        time.sleep(1)
    raise AssertionError(f"the board never had {wanted} rows of Coin Flippers")


def open_submissions(page, address: str, team: str, track: str) -> list[str]:
    """Return the addresses of a team's submissions to a track, on the desk of the organisers."""
    page.goto(f"{address}/organise/submissions?team={team.replace(' ', '+')}&per_page=50")
    rows = page.locator("tbody tr", has_text=track).filter(has_text="open")
    return [rows.nth(at).locator("th a").get_attribute("href") for at in range(rows.count())]


def test_an_organiser_judges_again_and_undoes_a_delete(browser, address, made):
    with visiting(browser) as page:
        sign_in(page, address, made.organiser)
        page.get_by_role("link", name="Organise", exact=True).click()
        page.get_by_label("Track").select_option("sleep-onset")
        page.get_by_role("button", name="Judge again").click()
        for _ in range(300):
            page.goto(f"{address}/organise")
            row = page.locator("tbody tr", has_text="sleep-onset").first
            if row.count() and "waits" not in row.inner_text():
                break
            time.sleep(1)
        # The scorer has no newer version: it looked, and said so.
        assert row.locator("td").last.inner_text() == "everything was judged already"
        assert list_coins(page, address) == 1
        links = open_submissions(page, address, "Coin Flippers", "sleep-onset")
        assert links
        page.goto(f"{address}/organise/{links[0].split('organise/')[1]}")
        page.get_by_label("Run again: why").fill("a drill")
        # A page that is still on its way cannot be loaded again.
        with page.expect_navigation():
            page.get_by_role("button", name="Run again").click()
        for _ in range(300):
            page.reload()
            if page.get_by_text("run again: scored").count():
                break
            time.sleep(1)
        assert page.get_by_text("run again: scored").count() == 1
        for link in links:
            page.goto(f"{address}/organise/{link.split('organise/')[1]}")
            page.get_by_role("button", name=re.compile("^Delete")).click()
            page.get_by_role("button", name=re.compile("^Undo")).wait_for()
        wait_for_coins(page, address, 0)
        for link in links:
            page.goto(f"{address}/organise/{link.split('organise/')[1]}")
            page.get_by_role("button", name=re.compile("^Undo")).click()
            page.get_by_role("button", name=re.compile("^Delete")).wait_for()
        wait_for_coins(page, address, 1)
        page.goto(f"{address}/organise/events")
        said = page.inner_text("main")
        assert "deleted" in said
        assert "restored" in said


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_the_desk_of_organisers_fits_and_can_be_read_by_everybody(browser, address, made, viewport):
    scheme = "dark" if viewport is PHONE else "light"
    with visiting(browser, viewport=viewport, color_scheme=scheme, bypass_csp=True) as page:
        sign_in(page, address, made.organiser)
        for name in ("", "/queue", "/submissions", "/audits", "/announcements", "/events"):
            assert page.goto(f"{address}/organise{name}").status == 200
            assert list_violations(page) == []
            assert measure_overhang(page) <= 0, name
