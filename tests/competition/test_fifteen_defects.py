"""Fifteen defects that lost or exposed submissions on another platform, each tried here; 2 and 15 in test_suites.py."""

from __future__ import annotations

import ast
import datetime
import io
import json
import os
import stat
import sys
import time
import zipfile
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import func, select, text
from sqlalchemy.exc import IntegrityError

from arena_making import FILE, MANY, join, make_arena, write_answers
from neuroarena.competition import worker
from neuroarena.competition.artifacts import Artifacts, DamagedArtifact
from neuroarena.competition.boards import list_shown
from neuroarena.competition.intake import submit, withdraw
from neuroarena.competition.queue import Fenced, claim
from neuroarena.competition.receipts import list_submissions, read_receipt
from neuroarena.competition.scorer import score_run
from neuroarena.competition.states import LEASED
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION
from neuroarena.competition.teams import issue_token
from neuroarena.competition.worker import work
from neuroarena.errors import InputError
from neuroarena.sandbox import Limits, run_isolated

PACKAGE = Path(__file__).resolve().parents[2] / "src" / "neuroarena"
WITH_CODE = FILE.replace(
    'benchmark = "bci/commands"\n', 'benchmark = "bci/commands"\nkinds = ["predictions", "code"]\n'
)


@pytest.fixture
def queued(arena, token, tmp_path) -> str:
    """A submission that waits for its score."""
    return submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))


def execute(arena, sql: str) -> None:
    with arena.store.writing() as connection:
        connection.execute(text(sql))


def state_of(arena, submission: str) -> str:
    with arena.store.reading() as connection:
        return connection.execute(select(RUN.c.state).where(RUN.c.submission == submission)).scalar_one()


def count_scores(arena) -> int:
    with arena.store.reading() as connection:
        return connection.execute(select(func.count()).select_from(PUBLIC_SCORE)).scalar_one()


def test_01_nothing_is_scored_before_its_score_is_stored(arena, token, queued, clock):
    refuse = "CREATE TRIGGER no_score BEFORE INSERT ON public_score BEGIN SELECT RAISE(ABORT, 'no'); END"
    execute(arena, refuse)
    job = claim(arena.store, "one", ["scorer"])
    with pytest.raises(IntegrityError):
        score_run(arena, job)
    assert state_of(arena, queued) == "scoring"
    assert "scored" not in [each["state"] for each in read_receipt(arena, token, queued)["states"]]
    execute(arena, "DROP TRIGGER no_score")
    clock.pass_s(61)
    work(arena, until_idle=True)
    assert (state_of(arena, queued), count_scores(arena)) == ("scored", 1)


@pytest.mark.parametrize("kind", [KeyError, OSError, MemoryError])
def test_03_whatever_a_job_raises_is_recorded_retried_and_then_given_up(
    arena, token, queued, clock, kind, monkeypatch
):
    def fail(*_: object) -> None:
        raise kind("secret")

    monkeypatch.setattr(worker, "score_run", fail)
    for _ in range(4):
        work(arena, until_idle=True)
        clock.pass_s(120)
    receipt = read_receipt(arena, token, queued)
    assert (receipt["state"], receipt["attempt"], receipt["fault"]) == ("broken", "refunded", "ours")
    assert kind.__name__ in receipt["reason"]
    assert "secret" not in json.dumps(receipt)


def test_04_a_job_that_is_delivered_twice_has_one_score(arena, queued, clock):
    first = claim(arena.store, "first", ["scorer"])
    clock.pass_s(61)
    second = claim(arena.store, "second", ["scorer"])
    score_run(arena, second)
    with pytest.raises(Fenced):
        score_run(arena, first)
    assert count_scores(arena) == 1


@pytest.mark.parametrize("state", sorted(LEASED))
def test_05_no_state_hangs_when_its_worker_is_gone(arena, queued, clock, state):
    label = {"received": "intake", "running": "cpu", "scoring": "scorer"}[state]
    held = arena.store.clock(None) + datetime.timedelta(seconds=60)
    with arena.store.writing() as connection:
        connection.execute(RUN.update().values(state=state, label=label, owner="dead", lease_until=held))
    assert claim(arena.store, "other", [label]) is None
    clock.pass_s(61)
    assert claim(arena.store, "other", [label]).state == state


def test_06_a_checked_file_is_queued_in_the_same_transaction_or_checked_again(arena, token, tmp_path, clock):
    execute(
        arena,
        "CREATE TRIGGER no_queue BEFORE INSERT ON transition WHEN NEW.state = 'queued' "
        "BEGIN SELECT RAISE(ABORT, 'no'); END",
    )
    with pytest.raises(IntegrityError):
        submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"), key="k")
    submission = submit(arena, token, "commands", tmp_path / "mine.parquet", key="k")
    assert state_of(arena, submission) == "received"
    execute(arena, "DROP TRIGGER no_queue")
    clock.pass_s(61)
    work(arena, until_idle=True)
    assert state_of(arena, submission) == "scored"


def test_07_a_kept_file_is_known_by_its_content_and_never_half_written(arena, token, queued, tmp_path):
    with arena.store.reading() as connection:
        digest = connection.execute(select(SUBMISSION.c.sha256)).scalar_one()
    place = arena.artifacts.path(digest)
    place.chmod(0o600)
    place.write_bytes(place.read_bytes()[:-1])
    with pytest.raises(DamagedArtifact):
        arena.artifacts.open(digest)
    work(arena, until_idle=True)
    receipt = read_receipt(arena, token, queued)
    assert (receipt["state"], receipt["fault"], receipt["score"]) == ("queued", "ours", None)
    artifacts = Artifacts(tmp_path / "kept")
    with pytest.raises(InputError, match="larger than"):
        artifacts.keep(tmp_path / "mine.parquet", 10)
    assert not list(artifacts.folder.iterdir())


def test_08_a_guest_that_never_ends_is_killed_at_its_time_limit():
    mark = f"never-ending-{os.getpid()}"
    code = "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nwhile True: time.sleep(1)"
    outcome = run_isolated([sys.executable, "-I", "-c", code, mark], limits=Limits(seconds=0.5))
    assert outcome.status == "time"
    end = time.monotonic() + 120
    while commands_with(mark) and time.monotonic() < end:
        time.sleep(0.05)
    assert commands_with(mark) == []


def commands_with(mark: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if mark.encode() in entry.read_bytes():
                found.append(entry.parent.name)
        except OSError:
            continue
    return found


def test_09_a_team_without_a_score_never_stands_on_top(clock, tmp_path):
    arena = make_arena(tmp_path, clock, per_unit=MANY)
    tokens = {team: join(arena, team) for team in ("aaa", "zzz")}
    clock.set("2026-03-11 12:00 UTC")
    for team, wrong in (("zzz", 4), ("aaa", 5)):
        answers = write_answers(tmp_path / "mine.parquet", wrong=wrong, per_unit=MANY)
        submit(arena, tokens[team], "commands", answers)
    work(arena, until_idle=True)
    with arena.store.writing() as connection:
        runs = select(RUN.c.id).where(RUN.c.team == "aaa")
        connection.execute(PUBLIC_SCORE.update().where(PUBLIC_SCORE.c.run.in_(runs)).values(shown=None))
    rows = list_shown(arena, "commands", "sealed")
    assert [(row["team"], row["rank"]) for row in rows] == [("zzz", 1), ("aaa", None)]


def test_10_a_score_that_is_no_number_is_our_failure_and_no_score(arena, token, queued, monkeypatch):
    from neuroarena.competition import scorer

    def score_nan(*words, **more):
        units = score(*words, **more)
        units.table["score"] = np.nan
        return units

    score = scorer.score
    monkeypatch.setattr(scorer, "score", score_nan)
    work(arena, until_idle=True)
    receipt = read_receipt(arena, token, queued)
    assert (receipt["state"], receipt["score"], receipt["fault"]) == ("queued", None, "ours")
    assert count_scores(arena) == 0
    json.dumps(receipt, allow_nan=False)


def calls(tree: ast.AST) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}


@pytest.mark.parametrize("room", ["scoring", "sandbox", "competition"])
def test_11_no_room_that_meets_a_strangers_file_can_run_what_is_in_it(room):
    running = {
        "eval",
        "exec",
        "compile",
        "__import__",
        "pickle.load",
        "pickle.loads",
        "marshal.loads",
        "yaml.load",
    }
    for path in (PACKAGE / room).rglob("*.py"):
        if "guest" in path.parts:
            continue  # inside the sandbox a stranger's code runs by design
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not calls(tree) & running, path
        imported = {
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        }
        assert not imported & {"pickle", "yaml", "marshal", "shelve", "dill", "joblib"}, path


def test_12_an_error_that_is_made_is_raised():
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
                made = node.value.func
                name = made.attr if isinstance(made, ast.Attribute) else getattr(made, "id", "")
                assert not name.endswith(("Error", "Refused", "Failed", "Fenced", "Denied")), (
                    f"{path}:{node.lineno}"
                )


def test_12_another_team_and_a_token_that_only_reads_change_nothing(arena, token, queued):
    other = join(arena, "blues")
    reader = issue_token(arena, "reds", scope="read")
    with pytest.raises(InputError, match="no submission"):
        withdraw(arena, other, queued)
    with pytest.raises(InputError, match="may read and not submit"):
        withdraw(arena, reader, queued)
    assert state_of(arena, queued) == "queued"


def test_13_no_id_opens_what_belongs_to_another_team_or_to_the_vault(arena, token, queued):
    other = join(arena, "blues")
    with pytest.raises(InputError, match="no submission"):
        read_receipt(arena, other, queued)
    assert list_submissions(arena, other) == []
    with arena.store.reading() as connection:
        run = connection.execute(select(RUN.c.id)).scalar_one()
    with pytest.raises(InputError, match="no submission"):
        read_receipt(arena, token, run)
    assert stat.S_IMODE(arena.vault.folder.stat().st_mode) == 0o700
    assert "vault" not in json.dumps(read_receipt(arena, token, queued))


BOMBS = {
    "grows a thousand times": {"submission.py": b"", "zeros": bytes(110_000_000)},
    "has ten thousand files": {"submission.py": b"", **{f"f{number}": b"" for number in range(10_000)}},
}


@pytest.mark.parametrize("bomb", BOMBS)
def test_14_a_zip_bomb_is_refused_and_free(tmp_path, clock, bomb):
    arena = make_arena(tmp_path, clock, WITH_CODE)
    token = join(arena, "reds")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in BOMBS[bomb].items():
            archive.writestr(name, content)
    (tmp_path / "bomb.zip").write_bytes(made.getvalue())
    receipt = read_receipt(
        arena, token, submit(arena, token, "commands", tmp_path / "bomb.zip", external_data=())
    )
    assert (receipt["state"], receipt["attempt"]) == ("refused", "free"), receipt["reason"]
    assert receipt["reason"].startswith("bomb.zip: ")
