"""A site: complete, readable without a script, the same every time, and never half there."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
import yaml

from command_line import neuroarena_in
from entry_making import EVIL, crowd, suite
from neuroarena.board import Board, Rules
from neuroarena.board.descriptions import count_pairs
from neuroarena.board.site import (
    Content,
    Settings,
    Sources,
    build_site,
    describe_site,
    list_pages,
    read_assets,
    read_settings,
    read_sources,
    render_files,
    render_html,
)
from neuroarena.board.site.attachments import list_attachments
from neuroarena.board.site.formulas import FORMULAS
from neuroarena.board.site.names import assign_slugs
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate
from neuroarena.scoring import METRICS
from toy import Mean, toy_benchmark, toy_linear

QUICK = Rules(n_draws=400)


def make_site(entries, out: Path, **words) -> Path:
    sources = Sources(tuple(entries), (), "ab" * 32, {"results": len(entries)})
    build_site(Board(entries, QUICK), sources, out, **words)
    return out


@pytest.fixture(scope="module")
def crowd_site(tmp_path_factory) -> Path:
    return make_site(crowd(), tmp_path_factory.mktemp("crowd") / "site")


@pytest.fixture(scope="module")
def results(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("results")
    for name, decoder in (("mean", Mean()), ("linear", toy_linear())):
        evaluate(decoder, toy_benchmark(), "cross", name=name, cache=folder / "cache", out=folder / "runs")
    return folder / "runs"


class Reader(HTMLParser):
    """Collect what a browser would load or follow, and what the policy of the page would forbid."""

    def __init__(self, page: Path):
        super().__init__()
        self.links, self.loaded, self.inline, self.policy = [], [], [], None
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        if tag == "a":
            self.links.append(known["href"])
        if tag in ("script", "img", "link"):
            self.loaded.append(known.get("src") or known.get("href"))
        self.inline += [name for name, _ in attrs if name == "style" or name.startswith("on")]
        self.inline += [tag] if tag == "style" or (tag == "script" and "src" not in known) else []
        if known.get("http-equiv") == "Content-Security-Policy":
            self.policy = known["content"]


def test_every_link_leads_somewhere_and_nothing_is_inline(crowd_site):
    pages = sorted(crowd_site.rglob("*.html"))
    assert len(pages) > 10
    for page in pages:
        read = Reader(page)
        assert read.inline == []
        assert read.policy.startswith("default-src 'none'")
        for link in (*read.links, *read.loaded):
            if not link.startswith(("#", "https://")):
                assert (page.parent / link).resolve().is_file(), f"{page}: {link}"
                assert (page.parent / link).resolve().is_relative_to(crowd_site.resolve())


def test_a_page_is_made_and_rendered_alone_without_a_folder(crowd_site):
    entries = crowd()
    content = Content(
        Board(entries, QUICK), Sources(tuple(entries), (), "ab" * 32, {"results": len(entries)})
    )
    pages, site = list_pages(content), describe_site(content)
    for make in pages.values():
        page = make()
        kept = dataclasses.replace(page, view=json.loads(json.dumps(page.view, allow_nan=False)))
        assert render_html(kept, site) == render_html(page, site)
    address = next(name for name in pages if name.startswith("boards/"))
    files = dict(render_files(pages[address](), site))
    assert len(files) > 5
    for name, written in (*files.items(), *read_assets().items()):
        assert written == (crowd_site / name).read_bytes(), name
    assert {f"{name}.html" for name in pages} == {
        str(path.relative_to(crowd_site)) for path in crowd_site.rglob("*.html")
    }


def test_a_board_says_who_leads_and_whether_that_is_real(crowd_site):
    board = Board(crowd(), QUICK)
    ranking = board.rankings[0]
    page = next(crowd_site.glob("boards/*.html")).read_text(encoding="utf-8")
    top = ranking.table.iloc[0]
    assert f"<b>{top['team']}</b> leads with {top['score']:.3f}" in page
    beaten = (ranking.table["verdict_leader"].iloc[1:] == "better").sum()
    alike = (ranking.table["verdict_leader"].iloc[1:] == "equivalent").sum()
    n = len(ranking.table) - 1
    expected = (
        "The lead is real" if beaten == n else f"not settled against {n - beaten - alike} of {n} others"
    )
    assert expected in page
    for team in ("alpha again", "guess", "logistic", "hosts"):
        assert team in page
    assert "floor: chance" in page
    assert "2 of 8 cells failed" in page


def test_a_suite_names_its_tasks_by_their_titles():
    plain = suite()
    titles = {"onset": "Beginning of a sentence", "speech": "Speech", "volume": "Loud or quiet"}
    entries = [
        dataclasses.replace(one, manifest=one.manifest.model_copy(update={"title": titles[one.task]}))
        for one in plain
    ]
    board = Board(entries, QUICK)
    overall = next(one for one in board.everything if one.kind == "overall")
    assert "onset, speech, volume" in overall.manifest.question
    content = Content(board, Sources(tuple(entries), (), "ab" * 32, {"results": len(entries)}))
    assert "Beginning of a sentence, Speech, Loud or quiet" in content.question_of(overall)


def test_a_page_that_shows_all_verdicts_does_not_say_that_some_are_missing():
    ranking = Board(crowd(), QUICK).rankings[0]
    n = len(ranking.judgements)
    assert f"the first 2 of {n} shown" in count_pairs(ranking, 2)
    assert "shown" not in count_pairs(ranking, n)


def test_names_of_strangers_stay_text(crowd_site):
    for page in crowd_site.rglob("*.html"):
        assert EVIL not in page.read_text(encoding="utf-8")
    slugs = assign_slugs(["../../etc", EVIL, "a b", "A-B", "", "…"])
    assert all(re.fullmatch(r"[a-z0-9-]+", slug) for slug in slugs.values())
    assert len(set(slugs.values())) == 6


def test_tables_for_programs_hold_the_numbers_of_the_board(crowd_site):
    board = Board(crowd(), QUICK)
    stem = next(crowd_site.glob("boards/*.html")).with_suffix("")
    parquet = pd.read_parquet(f"{stem}.parquet")
    csv = pd.read_csv(f"{stem}.csv")
    data = json.loads(Path(f"{stem}.json").read_text())
    expected = board.rankings[0].table
    for table in (parquet, csv, pd.DataFrame(data["table"])):
        ranked = table[table["score"].notna()]
        assert ranked["team"].tolist() == expected["team"].tolist()
        assert ranked["score"].tolist() == pytest.approx(expected["score"].tolist())
    assert len(pd.read_parquet(f"{stem}.verdicts.parquet")) == len(board.rankings[0].verdicts)
    alpha = json.loads((crowd_site / "entries/alpha.json").read_text())
    assert alpha["boards"][0]["score"] == expected.set_index("team")["score"]["alpha"]


def test_an_entry_is_compared_with_every_other_by_the_verdicts(tmp_path):
    entries = suite()
    board = Board(entries, QUICK)
    site = make_site(entries, tmp_path / "site")
    team = board.teams[0]
    page = json.loads(
        next(p for p in site.glob("entries/*.json") if json.loads(p.read_text())["team"] == team).read_text()
    )
    for other in page["against"]:
        better = worse = boards = 0
        for one in board.rankings:
            rows = one.verdicts
            pair = rows[rows["a"].isin([team, other["team"]]) & rows["c"].isin([team, other["team"]])]
            boards += len(pair)
            better += int(((pair["a"] == team) & (pair["verdict"] == "better")).sum())
            worse += int(((pair["c"] == team) & (pair["verdict"] == "better")).sum())
        assert (other["better"], other["worse"], other["boards"]) == (better, worse, boards)
    address = next(p for p in site.glob("entries/*.json") if json.loads(p.read_text())["team"] == team)
    duels = pd.read_parquet(address.with_suffix(".pairs.parquet"))
    assert set(duels["other"]) == {other["team"] for other in page["against"]}
    assert len(duels) == sum(
        team in set(one.table["team"]) and len(one.table) - 1 for one in board.everything
    )
    pages = {str(p.relative_to(site))[:-5]: json.loads(p.read_text()) for p in site.glob("boards/*.json")}
    for row in duels.itertuples():
        said = pages[row.board]
        own = next(
            one
            for one in board.everything
            if (one.kind, one.benchmark, one.split) == (said["kind"], said["benchmark"], said["split"])
        )
        judged = own.verdicts
        pair = judged[judged["a"].isin([team, row.other]) & judged["c"].isin([team, row.other])].iloc[0]
        sign = 1 if pair["a"] == team else -1
        assert row.delta == sign * pair["delta"]
        assert row.verdict == ("worse" if pair["verdict"] == "better" and sign < 0 else pair["verdict"])
    text = address.with_suffix(".html").read_text()
    assert "Board by board" in text
    assert text.count("<tr data-kind=") == len(duels)


def read_all(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_built_twice_from_anywhere_it_is_the_same_byte_for_byte(results, tmp_path):
    copy = tmp_path / "elsewhere" / "again"
    shutil.copytree(results, copy)
    for source, out in ((results, "one"), (copy, "two")):
        ran = neuroarena_in(tmp_path, "site", "build", str(source), "--out", out, "--title", "Toy")
        assert ran.returncode == 0, ran.stderr
    one, two = read_all(tmp_path / "one"), read_all(tmp_path / "two")
    assert one == two
    assert len([name for name in one if name.endswith(".html")]) >= 5


def test_the_snapshot_changes_with_the_content_and_only_with_it(results, tmp_path):
    first = read_sources([results])
    copy = tmp_path / "copy"
    shutil.copytree(results, copy)
    (copy / ".hidden").write_text("nothing")
    (copy / "report.html").write_text("made from them")
    assert read_sources([copy]).snapshot == first.snapshot
    fewer = sorted(copy.iterdir())
    shutil.rmtree(next(path for path in fewer if path.is_dir() and path.name[0] != "."))
    assert read_sources([copy]).snapshot != first.snapshot
    assert first.updated == max(entry.time for entry in first.entries)


def test_the_citation_names_snapshot_and_date_and_is_yaml(tmp_path):
    settings = Settings(title='A "board": of\nwords', authors=("N. Euro", "A. Rena"), licence="CC-BY-4.0")
    site = make_site(crowd(), tmp_path / "site", settings=settings)
    said = yaml.safe_load((site / "CITATION.cff").read_text())
    assert said["cff-version"] == "1.2.0"
    assert said["title"] == 'A "board": of\nwords'
    assert said["version"] == "ab" * 6
    assert str(said["date-released"]) == "2026-01-01"
    assert [author["name"] for author in said["authors"]] == ["N. Euro", "A. Rena"]


def test_a_site_replaces_a_site_and_nothing_else(tmp_path):
    out = make_site(crowd(), tmp_path / "site")
    (out / "stray.html").write_text("old")
    make_site(suite(), out)
    assert not (out / "stray.html").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["site"]
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years")
    with pytest.raises(InputError, match="not a site"):
        make_site(crowd(), tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "years"


def test_a_frozen_site_is_never_replaced_and_its_sums_hold(tmp_path):
    out = make_site(crowd(), tmp_path / "site", frozen=True)
    before = read_all(out)
    with pytest.raises(InputError, match="frozen"):
        make_site(suite(), out)
    assert read_all(out) == before
    assert "frozen: the final state" in (out / "index.html").read_text()
    import hashlib

    for line in (out / "SHA256SUMS").read_text().splitlines():
        digest, name = line.split("  ", 1)
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest


def test_a_failed_build_leaves_the_old_site(tmp_path, monkeypatch):
    out = make_site(crowd(), tmp_path / "site")
    before = read_all(out)
    monkeypatch.setattr("neuroarena.board.site.build.write_citation", lambda content: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        make_site(suite(), out)
    assert read_all(out) == before
    assert [path.name for path in tmp_path.iterdir()] == ["site"]


def test_pages_of_the_organisers_are_markdown_without_their_html(tmp_path):
    about = tmp_path / "about"
    about.mkdir()
    (about / "site.toml").write_text('title = "Board"\nauthors = ["N. Euro"]\n')
    (about / "faq.md").write_text(
        "# Questions\n\n<script>alert(1)</script> [bad](javascript:alert(1)) **bold**\n"
    )
    settings, texts = read_settings(about)
    site = make_site(crowd(), tmp_path / "site", settings=settings, texts=texts)
    page = (site / "faq.html").read_text()
    assert "<strong>bold</strong>" in page
    assert "<script>alert" not in page
    assert 'href="javascript' not in page
    assert 'href="faq.html"' in (site / "index.html").read_text()


def test_files_beside_the_pages_are_part_of_the_site(tmp_path):
    about = tmp_path / "about"
    (about / "files/maps").mkdir(parents=True)
    (about / "files/maps/onset.html").write_text("<p>A map</p>")
    site = make_site(crowd(), tmp_path / "site", attachments=list_attachments(about))
    assert (site / "files/maps/onset.html").read_text() == "<p>A map</p>"
    assert "  files/maps/onset.html\n" in (site / "SHA256SUMS").read_text()
    for name in ("run.sh", ".hidden.html", "page.php"):
        (about / "files" / name).write_text("x")
        with pytest.raises(InputError, match=re.escape(name)):
            list_attachments(about)
        (about / "files" / name).unlink()
    (about / "files/linked.html").symlink_to(tmp_path / "site/index.html")
    with pytest.raises(InputError, match=r"linked\.html"):
        list_attachments(about)
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/files").symlink_to(about / "files/maps")
    with pytest.raises(InputError, match=r"files: a link is not shown"):
        list_attachments(tmp_path / "linked")


def test_the_method_page_has_the_formulas_of_the_rule_that_concludes(tmp_path):
    entries = crowd()
    sources = Sources(tuple(entries), (), "ab" * 32, {"results": len(entries)})
    said = {}
    for inference in ("verdicts", "seed"):
        build_site(Board(entries, Rules(n_draws=400, inference=inference)), sources, tmp_path / inference)
        said[inference] = (tmp_path / inference / "method.html").read_text()
        assert said[inference].count("<math") == said[inference].count("</math>") >= 7
        assert "400 draws" in said[inference]
    assert "left out in turn" in said["verdicts"]
    assert "with replacement" not in said["verdicts"].partition("Formal definitions</h2>")[2]
    assert "the same units for every entry" in said["seed"]


def test_what_all_tasks_say_alike_is_said_once(tmp_path):
    site = make_site(suite(), tmp_path / "site")
    page = (site / "method.html").read_text()
    rule = suite()[0].manifest.split_rule
    assert page.count(rule) == 1
    assert "Split, of all tasks" in page


REFUSED = [
    ("site.toml", "colour = 3\n", "colour"),
    ("site.toml", "title = \n", "TOML"),
    ("index.md", "# x\n", "a page of this name"),
    ("news.md", b"\xff\xfe", "UTF-8"),
]


@pytest.mark.parametrize(("name", "text", "said"), REFUSED)
def test_what_is_wrong_about_the_pages_is_said_by_file(tmp_path, name, text, said):
    (tmp_path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(InputError, match=said) as refused:
        read_settings(tmp_path)
    assert name in str(refused.value)


def test_a_source_that_is_missing_or_named_twice_is_refused(results, tmp_path):
    for sources, said in (([str(tmp_path / "no")], "no such folder"), ([str(results)] * 2, "named twice")):
        ran = neuroarena_in(tmp_path, "site", "build", *sources, "--out", "site")
        assert ran.returncode == 2
        assert said in ran.stderr
    assert not (tmp_path / "site").exists()
    for out in (results, results.parent):
        ran = neuroarena_in(tmp_path, "site", "build", str(results), "--out", str(out))
        assert ran.returncode == 2
        assert "the place of its source" in ran.stderr


def test_every_metric_of_the_house_has_a_formula_and_pages_show_it(crowd_site):
    # Other tests of this process may have registered something of their own.
    every = {name for name in METRICS.names() if METRICS.origin(name) != "this process"}
    ours = every - families_metrics()
    assert ours == set(FORMULAS)
    assert FORMULAS["accuracy"] in (crowd_site / "method.html").read_text()
    assert FORMULAS["accuracy"] in next(crowd_site.glob("boards/*.html")).read_text()


def families_metrics() -> set[str]:
    """Return the metrics that families bring, found through their entry points."""
    from importlib.metadata import entry_points

    return {each.name for each in entry_points(group="neuroarena.metrics") if ".families." in each.value}


def test_worse_never_looks_like_better(crowd_site):
    looks = {"better": set(), "worse": set()}
    for page in crowd_site.rglob("*.html"):
        for look, words in re.findall(
            r'class="chip (\w+)">(?:<span[^>]*>[^<]*</span>)?\s*(better|worse)<', page.read_text()
        ):
            looks[words].add(look)
    assert looks == {"better": {"sure"}, "worse": {"lost"}}


def test_comparisons_that_a_page_leaves_out_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("neuroarena.board.site.duels.MOST_ROWS", 1)
    site = make_site(suite(), tmp_path / "site")
    said = {
        page.name: re.search(r"the first 1 of (\d+) comparisons", page.read_text())
        for page in site.glob("entries/*.html")
    }
    assert all(said.values())
    assert all(int(found[1]) > 1 for found in said.values())
