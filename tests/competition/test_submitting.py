"""From a file to a receipt: what is taken, counted, refused and scored."""

from __future__ import annotations

import threading
from collections import Counter
from pathlib import Path

import pytest
from sqlalchemy import func, select

from arena_making import join, with_clock, write_answers
from neuroarena.competition.intake import dry_run, submit, withdraw
from neuroarena.competition.opening import close_competition
from neuroarena.competition.receipts import list_submissions, read_receipt
from neuroarena.competition.tables import RUN, SUBMISSION
from neuroarena.competition.teams import add_team, issue_token, revoke_token
from neuroarena.competition.worker import work
from neuroarena.errors import InputError


def count_rows(arena) -> int:
    with arena.store.reading() as connection:
        return connection.execute(select(func.count()).select_from(SUBMISSION)).scalar_one()


def test_a_file_of_predictions_ends_as_a_score_with_its_receipt(arena, token, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet", wrong=2)
    submission = submit(arena, token, "commands", answers)
    assert read_receipt(arena, token, submission)["state"] == "queued"
    assert work(arena, until_idle=True) == 1
    receipt = read_receipt(arena, token, submission)
    assert receipt["state"] == "scored"
    assert receipt["score"]["shown"] == pytest.approx(0.8, abs=1e-12)
    assert receipt["score"]["n_units"] == 8
    assert [each["state"] for each in receipt["states"]] == [
        "received",
        "checked",
        "queued",
        "scoring",
        "scored",
    ]
    assert receipt["attempt"] == "counts"
    assert receipt["used"] == "1 of 5"
    assert receipt["received_aoe"] == "2026-03-02 00:00:00 AoE"
    assert receipt["replay"] == "neuroarena score bci/commands mine.parquet"
    spaced = write_answers(tmp_path / "mine; echo 2.parquet")
    again = read_receipt(arena, token, submit(arena, token, "commands", spaced))
    assert again["replay"] == "neuroarena score bci/commands 'mine; echo 2.parquet'"


def test_a_refused_file_costs_no_attempt_and_says_why(arena, token, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    damaged = tmp_path / "cut.parquet"
    damaged.write_bytes(answers.read_bytes()[:-20])
    receipt = read_receipt(arena, token, submit(arena, token, "commands", damaged))
    assert (receipt["state"], receipt["attempt"], receipt["fault"]) == ("refused", "free", "theirs")
    assert receipt["reason"].startswith("cut.parquet: ")
    for _ in range(5):
        submit(arena, token, "commands", answers)
        work(arena, until_idle=True)
    with pytest.raises(InputError, match=r"All 5 attempts .* The next is free at 2026-03-03 00:00:00 UTC"):
        submit(arena, token, "commands", answers)


def test_the_cap_is_counted_anew_on_the_next_utc_day(arena, token, clock, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    clock.set("2026-03-10 23:59:59 UTC")
    waiting = []
    for _ in range(2):
        receipt = submit(arena, token, "commands", answers)
        work(arena, until_idle=True)
        waiting.append(read_receipt(arena, token, receipt)["next_free_utc"])
    # A receipt names a time only where somebody has to wait for it.
    assert waiting == [None, "2026-03-11 00:00:00 UTC"]
    with pytest.raises(InputError, match="All 2 attempts"):
        submit(arena, token, "commands", answers)
    clock.set("2026-03-11 00:00 UTC")
    assert read_receipt(arena, token, receipt)["next_free_utc"] is None
    submit(arena, token, "commands", answers)


@pytest.mark.parametrize(
    ("time", "taken"),
    [
        ("2026-02-28 23:59:59 UTC", False),
        ("2026-03-01 00:00 UTC", True),
        ("2026-03-08 23:59:58 AoE", True),
        ("2026-03-08 23:59:59 AoE", False),
        ("2026-03-20 00:00 UTC", False),
    ],
)
def test_a_phase_opens_and_closes_to_the_second_on_the_servers_clock(
    arena, token, clock, tmp_path, time, taken
):
    clock.set(time)
    answers = write_answers(tmp_path / "mine.parquet")
    if taken:
        submit(arena, token, "commands", answers)
        return
    with pytest.raises(InputError, match="takes no submissions now"):
        submit(arena, token, "commands", answers)
    assert count_rows(arena) == 0


def test_what_a_stranger_or_a_closed_competition_sends_is_not_taken(arena, token, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    add_team(arena, "blues")
    refusals = {
        "not valid": ("nonsense", "commands"),
        "has no track": (token, "sleep"),
        "has not accepted the terms": (issue_token(arena, "blues"), "commands"),
        "may read and not submit": (issue_token(arena, "reds", scope="read"), "commands"),
    }
    for sentence, (given, track) in refusals.items():
        with pytest.raises(InputError, match=sentence):
            submit(arena, given, track, answers)
    revoke_token(arena, token.partition(".")[0])
    with pytest.raises(InputError, match="not valid"):
        submit(arena, token, "commands", answers)
    close_competition(arena)
    with pytest.raises(InputError, match="have closed it"):
        submit(arena, issue_token(arena, "reds"), "commands", answers)
    assert count_rows(arena) == 0


def test_a_file_above_the_limit_or_a_link_is_not_taken_and_leaves_nothing(arena, token, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    (tmp_path / "link.parquet").symlink_to(answers)
    with pytest.raises(InputError, match="not a regular file"):
        submit(arena, token, "commands", tmp_path / "link.parquet")
    with pytest.raises(InputError, match="larger than 0 MB"):
        arena.artifacts.keep(answers, most_bytes=10)
    assert not [path for path in (arena.folder / "artifacts").rglob("*") if path.is_file()]


def test_the_same_key_is_the_same_submission(arena, token, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    assert len({submit(arena, token, "commands", answers, key="once") for _ in range(20)}) == 1
    assert count_rows(arena) == 1


def test_posts_at_the_same_time_never_exceed_the_cap(arena, token, clock, tmp_path):
    clock.set("2026-03-10 12:00 UTC")
    answers = write_answers(tmp_path / "mine.parquet")
    taken: Counter[str] = Counter()

    def post(number: int) -> None:
        mine = with_clock(arena, clock)
        try:
            submit(mine, token, "commands", answers, key=f"post-{number}")
            taken["taken"] += 1
        except InputError as error:
            taken[str(error).partition(".")[0]] += 1

    threads = [threading.Thread(target=post, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert taken == {"taken": 2, "All 2 attempts of your team today are used": 10}
    assert count_rows(arena) == 2


def test_a_dry_run_gives_the_verdict_and_writes_nothing(arena, token, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    assert dry_run(arena, token, "commands", answers).model == "ours"
    (tmp_path / "bad.parquet").write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"bad\.parquet"):
        dry_run(arena, token, "commands", tmp_path / "bad.parquet")
    assert count_rows(arena) == 0


def test_a_team_withdraws_its_own_submission_before_it_is_scored(arena, token, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    submission = submit(arena, token, "commands", answers)
    with pytest.raises(InputError, match="Your team has no submission"):
        withdraw(arena, join(arena, "blues"), submission)
    withdraw(arena, token, submission)
    assert work(arena, until_idle=True) == 0
    receipt = read_receipt(arena, token, submission)
    assert (receipt["state"], receipt["attempt"]) == (
        "withdrawn",
        "counts",
    )  # it was queued: the attempt is used
    with pytest.raises(InputError, match="cannot be withdrawn any more"):
        withdraw(arena, token, submission)


def test_a_team_sees_its_own_submissions_only(arena, token, tmp_path):
    submission = submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))
    blues = join(arena, "blues")
    assert list_submissions(arena, blues) == []
    assert [row["id"] for row in list_submissions(arena, token)] == [submission]
    with pytest.raises(InputError, match="Your team has no submission"):
        read_receipt(arena, blues, submission)


def test_a_team_with_three_unfinished_submissions_waits(arena, token, tmp_path):
    answers = write_answers(tmp_path / "mine.parquet")
    for _ in range(3):
        submit(arena, token, "commands", answers)
    with pytest.raises(InputError, match="3 submissions of your team have not ended yet"):
        submit(arena, token, "commands", answers)


def test_a_checker_that_was_killed_leaves_the_work_to_the_next(arena, token, tmp_path, monkeypatch):
    answers = write_answers(tmp_path / "mine.parquet")
    monkeypatch.setattr("neuroarena.competition.intake.check_received", lambda *_: None)
    submission = submit(arena, token, "commands", answers)
    monkeypatch.undo()
    assert read_receipt(arena, token, submission)["state"] == "received"
    assert work(arena, until_idle=True) == 0  # the lease of the one that died still holds
    arena.store.clock.pass_s(61)
    assert work(arena, until_idle=True) == 2
    assert read_receipt(arena, token, submission)["state"] == "scored"


def test_the_files_and_truth_of_the_vault_are_closed_to_others(arena):
    assert (arena.folder / "vault").stat().st_mode & 0o777 == 0o700
    for path in (arena.folder / "vault").rglob("*.secret"):
        assert path.stat().st_mode & 0o077 == 0
    public = b"".join(
        Path(path).read_bytes() for path in (arena.folder / "public").rglob("*") if path.is_file()
    )
    assert b"right" not in public.replace(b'"right"', b"")  # the class list of the manifest, and no target


def test_a_run_that_fails_on_our_side_is_tried_three_times_and_refunded(arena, token, tmp_path, clock):
    submission = submit(arena, token, "commands", write_answers(tmp_path / "mine.parquet"))
    truth = arena.folder / "vault" / "truth" / "commands.parquet"
    hidden = truth.rename(truth.with_suffix(".hidden"))
    for _ in range(4):
        work(arena, until_idle=True)
        clock.pass_s(120)
    receipt = read_receipt(arena, token, submission)
    assert (receipt["state"], receipt["attempt"], receipt["fault"]) == ("broken", "refunded", "ours")
    assert "FileNotFoundError" in receipt["reason"]
    assert str(arena.folder) not in receipt["reason"]
    hidden.rename(truth)
    with arena.store.reading() as connection:
        assert connection.execute(select(RUN.c.tries)).scalar_one() == 3


def test_an_attempt_that_is_refunded_after_midnight_is_one_more_that_day(arena, token, clock, tmp_path):
    clock.set("2026-03-10 23:59 UTC")
    answers = write_answers(tmp_path / "mine.parquet")
    submit(arena, token, "commands", answers)
    truth = arena.folder / "vault" / "truth" / "commands@sealed.parquet"
    hidden = truth.rename(truth.with_suffix(".hidden"))
    for _ in range(4):
        work(arena, until_idle=True)
        clock.pass_s(120)
    hidden.rename(truth)
    assert clock.now.day == 11
    for _ in range(3):
        submit(arena, token, "commands", answers)
        work(arena, until_idle=True)
    with pytest.raises(InputError, match="All 3 attempts"):
        submit(arena, token, "commands", answers)
