"""The queue: leases, fences, priority and fairness; states that end stay ended; events that cannot be changed."""

from __future__ import annotations

import shlex
import shutil
import threading

import pytest
from sqlalchemy import func, select

from arena_making import FILE, MANY, join, make_arena, write_answers
from command_line import neuroarena_in
from neuroarena.competition.events import BrokenChain, verify_events
from neuroarena.competition.intake import submit
from neuroarena.competition.migrating import newest_revision
from neuroarena.competition.queue import Fenced, claim, give_back, keep_alive
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.scorer import score_run
from neuroarena.competition.states import CHANGES, STATES, TERMINAL
from neuroarena.competition.store import open_store
from neuroarena.competition.tables import EVENT, METADATA, PUBLIC_SCORE, REVISION, RUN
from neuroarena.competition.vault import TwoScores
from neuroarena.competition.worker import do_job, work
from neuroarena.errors import InputError, NeuroarenaError
from postgres import running_postgres
from sample_submissions import zipped


@pytest.fixture
def queued(arena, token, tmp_path) -> str:
    """A submission that waits for its score."""
    return submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))


def test_two_workers_never_hold_one_run(arena, queued):
    first = claim(arena.store, "one", ["scorer"])
    assert first is not None
    assert first.state == "scoring"
    assert claim(arena.store, "two", ["scorer"]) is None


def test_a_worker_that_went_silent_is_replaced_and_its_late_writes_are_refused(arena, token, queued, clock):
    silent = claim(arena.store, "silent", ["scorer"])
    clock.pass_s(59)
    keep_alive(arena.store, silent)
    clock.pass_s(59)
    assert claim(arena.store, "other", ["scorer"]) is None
    clock.pass_s(2)
    taken = claim(arena.store, "other", ["scorer"])
    assert taken.fence == silent.fence + 1
    for late in (
        lambda: keep_alive(arena.store, silent),
        lambda: give_back(arena.store, silent, "too late"),
        lambda: score_run(arena, silent),
    ):
        with pytest.raises(Fenced):
            late()
    score_run(arena, taken)
    with pytest.raises(Fenced):
        score_run(arena, silent)
    assert read_receipt(arena, token, queued)["state"] == "scored"
    with arena.store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(PUBLIC_SCORE)).scalar_one() == 1


def test_other_scores_of_one_run_and_version_are_refused_by_the_vault(arena, queued):
    job = claim(arena.store, "one", ["scorer"])
    score_run(arena, job)
    units = arena.vault.read_scores(job.run, "1") or arena.vault.read_scores(job.run, _version(arena))
    arena.vault.keep_scores(job.run, units)
    units.table.loc[0, "score"] += 0.1
    with pytest.raises(TwoScores):
        arena.vault.keep_scores(job.run, units)


def _version(arena) -> str:
    with arena.store.reading() as connection:
        return connection.execute(select(PUBLIC_SCORE.c.scorer_version)).scalar_one()


def test_a_team_with_less_under_way_comes_first(arena, token, tmp_path, clock):
    answers = write_answers(tmp_path / "mine.parquet")
    for _ in range(2):
        submit(arena, token, "commands", answers)
        clock.pass_s(1)
    late = submit(arena, join(arena, "blues"), "commands", answers)
    assert claim(arena.store, "one", ["scorer"]).team == "reds"
    assert claim(arena.store, "two", ["scorer"]).submission == late
    assert claim(arena.store, "three", ["scorer"]).team == "reds"


def test_a_worker_takes_only_work_with_its_label(arena, queued):
    assert claim(arena.store, "one", ["intake", "cpu"]) is None


def test_a_worker_that_is_asked_to_stop_gives_its_job_back_without_a_try(arena, queued):
    job = claim(arena.store, "one", ["scorer"])
    give_back(arena.store, job, "stopped", counts=False)
    again = claim(arena.store, "two", ["scorer"])
    assert (again.run, again.tries) == (job.run, 1)


def test_a_worker_that_is_asked_to_stop_gives_running_code_back_and_blames_nobody(
    tmp_path, clock, monkeypatch
):
    text = FILE.replace('benchmark = "bci/commands"', 'benchmark = "bci/commands"\nkinds = ["code"]')
    arena = make_arena(tmp_path, clock, text)
    zipped(tmp_path, {"submission.py": "def load_model(meta):\n    return None\n"})
    submission = submit(arena, join(arena, "reds"), "commands", tmp_path / "submission.zip", external_data=())
    stop = threading.Event()

    def run_for_ever(arena, job, cancel):
        stop.set()
        assert cancel.wait(300), "nobody ended the guest"
        raise NeuroarenaError("The run was ended (cancelled).")

    monkeypatch.setattr("neuroarena.competition.worker.run_code", run_for_ever)
    job = claim(arena.store, "one", ["cpu"])
    assert do_job(arena, job, stop=stop) == "given back"
    with arena.store.reading() as connection:
        row = connection.execute(select(RUN).where(RUN.c.submission == submission)).mappings().one()
    assert (row["state"], row["tries"], row["deaths"], row["owner"]) == ("queued", 0, 0, None)


def test_what_has_ended_does_not_change_and_what_has_begun_can_end():
    assert not [change for change in CHANGES if change[0] in TERMINAL]
    going = set(STATES) - TERMINAL
    reaches = {state: {after for before, after in CHANGES if before == state} for state in going}
    for state in going:
        seen, open_ends = {state}, [state]
        while open_ends:
            for after in reaches.get(open_ends.pop(), ()):
                if after not in seen:
                    seen.add(after)
                    open_ends.append(after)
        assert "scored" in seen, state


def test_a_changed_or_removed_event_is_found(arena, queued):
    with arena.store.reading() as connection:
        count = verify_events(connection)
    assert count >= 7
    with arena.store.writing() as connection:
        connection.execute(EVENT.update().where(EVENT.c.number == 3).values(actor="somebody"))
    with arena.store.reading() as connection, pytest.raises(BrokenChain, match="Event 3"):
        verify_events(connection)


def test_the_migrations_lead_to_the_tables_that_the_code_uses(arena):
    assert newest_revision() == REVISION
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with arena.store.engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_a_store_of_another_version_is_refused(arena):
    with arena.store.writing() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(InputError, match="has version 9999"):
        open_store(arena.store.url)


def test_the_ladder_shows_a_rise_by_a_step_and_nothing_else(clock, tmp_path):
    arena = make_arena(tmp_path, clock, per_unit=MANY)
    token = join(arena, "reds")
    clock.set("2026-03-10 12:00 UTC")
    seen = []
    for wrong, day in ((4, 10), (3, 11), (3, 12), (4, 13), (1, 14)):
        clock.set(f"2026-03-{day} 12:00 UTC")
        answers = write_answers(tmp_path / f"{day}.parquet", wrong=wrong, per_unit=MANY)
        submission = submit(arena, token, "commands", answers)
        work(arena, until_idle=True)
        receipt = read_receipt(arena, token, submission)
        seen.append(receipt["score"]["shown"])
    # Without the data and without the truth, the receipt's command gives the checker's verdict.
    assert receipt["replay"].startswith("neuroarena check submission")
    shutil.copy(answers, arena.folder)
    said = neuroarena_in(arena.folder, *shlex.split(receipt["replay"])[1:])
    assert said.returncode == 0, said.stderr
    assert "accepted for bci/commands, 3200 rows" in said.stdout
    (arena.folder / answers.name).write_bytes(answers.read_bytes()[:-9])
    assert neuroarena_in(arena.folder, *shlex.split(receipt["replay"])[1:]).returncode == 2
    assert seen == [pytest.approx(0.6), pytest.approx(0.7), None, None, pytest.approx(0.9)]


def test_no_unit_score_stands_outside_the_vault(arena, token, tmp_path, queued):
    work(arena, until_idle=True)
    outside = [path for path in arena.folder.rglob("*") if path.is_file() and "vault" not in path.parts]
    assert outside
    with arena.store.reading() as connection:
        columns = {column.name for table in METADATA.tables.values() for column in table.columns}
        assert not columns & {"sum_y", "sse", "unit", "target", "parquet"}
        assert connection.execute(select(RUN.c.state)).scalar_one() == "scored"


def test_a_submission_is_judged_on_postgresql_as_on_sqlite(tmp_path, clock):
    with running_postgres() as address:
        arena = make_arena(tmp_path, clock, database=address)
        token = join(arena, "reds")
        answers = write_answers(tmp_path / "mine.parquet", wrong=2)
        submission = submit(arena, token, "commands", answers, key="once")
        assert submit(arena, token, "commands", answers, key="once") == submission
        assert work(arena, until_idle=True) == 1
        receipt = read_receipt(arena, token, submission)
        assert (receipt["state"], receipt["score"]["shown"]) == ("scored", pytest.approx(0.8))
        with arena.store.reading() as connection:
            assert verify_events(connection) >= 9
        arena.store.close()
