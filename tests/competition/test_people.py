"""Teams, members, documents and terms: who may hand in, and what must be there to be ranked."""

from __future__ import annotations

import pytest
from sqlalchemy import select

from arena_making import FILE, join, make_arena, write_answers
from command_line import neuroarena_in
from neuroarena.competition import open_arena
from neuroarena.competition.boards import list_shown
from neuroarena.competition.documents import hand_in_document
from neuroarena.competition.final import rank_finally
from neuroarena.competition.intake import submit
from neuroarena.competition.prizes import record_release
from neuroarena.competition.tables import TERMS
from neuroarena.competition.teams import accept_terms, add_member, issue_token, remove_member
from neuroarena.competition.worker import work
from neuroarena.errors import InputError
from sample_submissions import zipped

RULES = (
    FILE
    + """
[[documents]]
name = "method"
title = "Description of the method"
formats = ["pdf", "md"]
due = "2026-03-12 00:00 UTC"

[eligibility]
members_named = true
"""
)


@pytest.fixture
def strict(tmp_path, clock):
    return make_arena(tmp_path, clock, RULES)


def test_a_team_names_its_members_before_it_may_submit(strict, tmp_path):
    token = join(strict, "reds")
    answers = write_answers(tmp_path / "mine.parquet")
    with pytest.raises(InputError, match="must name its members first"):
        submit(strict, token, "commands", answers)
    add_member(strict, "reds", "Ada")
    submit(strict, token, "commands", answers)
    join(strict, "blues")
    with pytest.raises(InputError, match='"Ada" belongs to the team "reds" already'):
        add_member(strict, "blues", "Ada")
    remove_member(strict, "reds", "Ada")
    add_member(strict, "blues", "Ada")
    said = neuroarena_in(tmp_path, "admin", "member", str(strict.folder), "blues")
    assert said.stdout == "Ada\n"
    with pytest.raises(InputError, match='has no member "Ada"'):
        remove_member(strict, "reds", "Ada")


def test_a_team_without_its_document_is_not_in_the_final_ranking(strict, clock, tmp_path):
    clock.set("2026-03-10 12:00 UTC")
    tokens = {}
    for team in ("reds", "blues"):
        tokens[team] = join(strict, team)
        add_member(strict, team, f"Ada of {team}")
        submit(strict, tokens[team], "commands", write_answers(tmp_path / "mine.parquet", wrong=2))
    work(strict, until_idle=True)
    with pytest.raises(InputError, match="No team can be ranked"):
        rank_finally(strict, "commands")
    (tmp_path / "method.md").write_text("# How we did it\n")
    hand_in_document(strict, tokens["reds"], "commands", "method", tmp_path / "method.md")
    ranking = rank_finally(strict, "commands")
    assert list(ranking.board.rankings[0].table["team"]) == ["reds"]
    assert ranking.left_out == {"blues": 'the document "Description of the method" is missing'}
    clock.set("2026-03-12 00:00 UTC")
    with pytest.raises(InputError, match="was due until 2026-03-12 00:00:00 UTC"):
        hand_in_document(strict, tokens["blues"], "commands", "method", tmp_path / "method.md")


DOCUMENTS = {
    "another name": ("poster", "a.md", b"text", 'asks for no document "poster"'),
    "another ending": ("method", "a.docx", b"text", "ends in .pdf or .md"),
    "not a PDF": ("method", "a.pdf", b"text", "this is not a PDF file"),
    "not text": ("method", "a.md", b"a\0b", "this is not text"),
}


@pytest.mark.parametrize("case", DOCUMENTS)
def test_a_document_that_is_not_one_is_refused(strict, tmp_path, case):
    name, file, content, sentence = DOCUMENTS[case]
    (tmp_path / file).write_bytes(content)
    with pytest.raises(InputError, match=sentence):
        hand_in_document(strict, join(strict, "reds"), "commands", name, tmp_path / file)


def test_new_terms_are_a_new_version_and_must_be_accepted_anew(arena, token, clock, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    submit(arena, token, "commands", answers)
    file = arena.folder / "competition.toml"
    file.write_text(file.read_text().replace("Be honest.", "Be honest, and declare everything."))
    changed = open_arena(arena.folder, clock)
    with pytest.raises(InputError, match="has not accepted the terms"):
        submit(changed, token, "commands", answers)
    accept_terms(changed, "reds")
    submit(changed, token, "commands", answers)
    with changed.store.reading() as connection:
        versions = connection.execute(select(TERMS.c.version, TERMS.c.text).order_by(TERMS.c.version)).all()
    assert [tuple(row) for row in versions] == [
        (1, "Be honest."),
        (2, "Be honest, and declare everything."),
    ]


def test_who_takes_no_prize_is_marked_on_the_board(arena, token, tmp_path):
    submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))
    work(arena, until_idle=True)
    assert list_shown(arena, "commands", "warm-up")[0]["prize"]
    words = ("admin", "team", str(arena.folder), "reds", "--no-prize", "Works for the sponsor.")
    assert neuroarena_in(tmp_path, *words).returncode == 0
    assert not list_shown(arena, "commands", "warm-up")[0]["prize"]


def test_the_first_teams_publish_their_code_to_take_a_prize(tmp_path, clock):
    text = FILE + '\n[final]\nphase = "warm-up"\ncode_release = 2\n'
    strict = make_arena(tmp_path, clock, text)
    for wrong, team in enumerate(("reds", "blues", "greens", "greys")):
        answers = write_answers(tmp_path / "mine.parquet", wrong=wrong)
        submit(strict, join(strict, team), "commands", answers)
    work(strict, until_idle=True)
    folder = str(strict.folder)
    both = ("--no-prize", "Sponsor.", "--code-released", "https://example.org/reds")
    said = neuroarena_in(tmp_path, "admin", "team", folder, "reds", *both).stdout
    assert "takes no prize" in said
    assert "has published its code" in said
    why = "its code is not published yet, and the first 2 teams publish their code"
    assert rank_finally(strict, "commands").no_prize == {"reds": "Sponsor", "blues": why, "greens": why}
    before = clock.now
    clock.pass_s(60)
    words = ("admin", "team", folder, "blues", "--code-released", "https://example.org/blues")
    assert neuroarena_in(tmp_path, *words).returncode == 0
    record_release(strict, "greens", "https://example.org/greens")
    assert rank_finally(strict, "commands").no_prize == {"reds": "Sponsor"}
    assert "blues" in rank_finally(strict, "commands", before).no_prize
    said = neuroarena_in(tmp_path, "admin", "board", folder, "commands", "--final")
    assert "No prize: reds (Sponsor)." in said.stdout
    words = ("admin", "team", folder, "nobody", "--code-released", "https://example.org")
    assert neuroarena_in(tmp_path, *words).returncode == 2


def test_code_that_declares_external_data_is_refused_where_they_are_forbidden(tmp_path, clock):
    text = FILE.replace('terms = "Be', 'external_data = "forbidden"\nterms = "Be')
    text = text.replace('benchmark = "bci/commands"\n', 'benchmark = "bci/commands"\nkinds = ["code"]\n')
    strict = make_arena(tmp_path, clock, text)
    file = zipped(tmp_path, "def load_model(meta):\n    return None\n")
    token = join(strict, "reds")
    with pytest.raises(InputError, match=r'external data \("tuh"\), which Spring challenge does not allow'):
        submit(strict, token, "commands", file, external_data=("tuh",))
    submit(strict, token, "commands", file)


def test_a_token_is_invalid_after_its_time(arena, clock, tmp_path):
    join(arena, "reds")
    short = issue_token(arena, "reds", days=1)
    answers = write_answers(tmp_path / "mine.parquet")
    submit(arena, short, "commands", answers)
    clock.pass_s(86400)
    with pytest.raises(InputError, match="not valid"):
        submit(arena, short, "commands", answers)
