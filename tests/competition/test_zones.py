"""Three zones under three users: each is refused what belongs to the others, and together they score code."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from pathlib import Path

import pytest
from sqlalchemy import select
from test_runner import ANSWER_BY_SIGN, CODE_FILE, RIGHT, sealed_signals

from arena_making import ABOUT, FILE, MANIFEST, Clock, join, make_arena, make_truth
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.intake import submit
from neuroarena.competition.opening import open_competition
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.tables import RUN
from neuroarena.competition.zones import SHARED_GROUP, arrange, find_users, record_zones, start_arena
from neuroarena.errors import InputError
from neuroarena.evaluation.questions import write_questions
from neuroarena.sandbox import Limits
from neuroarena.sandbox.cgroups import Cgroup
from sample_submissions import zipped

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give the zones users of their own")


def opened_as(uid: int, path: Path, folder: Path) -> bool:
    """Whether a user of the zones can read a file: seen from inside the competition's folder, wherever that lies."""
    script = f"cat {path.relative_to(folder)} > /dev/null 2>&1"
    command = [
        "setpriv",
        f"--reuid={uid}",
        f"--regid={uid}",
        f"--groups={SHARED_GROUP}",
        "--",
        "sh",
        "-c",
        script,
    ]
    return subprocess.run(command, cwd=folder, check=False).returncode == 0


@needs_root
def test_each_zone_is_refused_what_belongs_to_the_others(tmp_path: Path, clock: Clock):
    arena = make_arena(tmp_path, clock, CODE_FILE)
    for sheet in arena.competition.sheets():
        write_questions(sealed_signals(make_truth()), arena.questions_folder(sheet))
    token = join(arena, "reds")
    submit(arena, token, "commands", zipped(tmp_path, RIGHT.format(body=ANSWER_BY_SIGN)), external_data=())
    users = find_users()
    arrange(arena, users)
    places = {
        "truth": next((arena.folder / "vault").rglob("*.parquet")),
        "sums": arena.folder / "vault" / "vault.sqlite",
        "key": arena.folder / "orders" / "key.secret",
        "signals": next((arena.folder / "questions").rglob("signals.f32")),
        "store": arena.folder / "store.sqlite",
        "upload": next(arena.artifacts.folder.rglob("*.zip")),
        "rules": next((arena.folder / "public").rglob("manifest.json")),
    }
    may = {
        zone: {name for name, path in places.items() if opened_as(uid, path, arena.folder)}
        for zone, uid in users.items()
    }
    shared = {"store", "rules"}
    assert may["intake"] == {*shared, "upload"}
    assert may["runner"] == {*shared, "upload", "key", "signals"}
    assert may["scorer"] >= {*shared, "truth", "sums"}
    assert not may["scorer"] & {"key", "signals"}
    stranger = {name for name, path in places.items() if _as_stranger(path, arena.folder)}
    assert stranger == set()


def _as_stranger(path: Path, folder: Path) -> bool:
    command = [
        "setpriv",
        "--reuid=64150",
        "--regid=64150",
        "--clear-groups",
        "--",
        "cat",
        str(path.relative_to(folder)),
    ]
    return subprocess.run(command, cwd=folder, check=False, capture_output=True).returncode == 0


def test_a_sealed_phase_opens_for_zones_of_their_own_or_when_told_to(tmp_path: Path):
    (tmp_path / "spring.toml").write_text(FILE)
    arena = create_arena(tmp_path / "arena", tmp_path / "spring.toml")
    for sheet in arena.competition.sheets():
        keep_truth(arena, sheet, make_truth(), MANIFEST, ABOUT)
    record_zones(arena, "one user")
    with pytest.raises(InputError, match=r"sealed.*one user.*arena start"):
        open_competition(arena, without_baselines=True)
    record_zones(arena, "separate")
    open_competition(arena, without_baselines=True)


def test_an_ordinary_user_cannot_arrange_zones(arena: Arena, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(InputError, match="Only root"):
        arrange(arena, find_users())


@needs_root
@pytest.mark.drill
def test_the_three_zones_run_and_score_code_from_a_private_home(tmp_path: Path, bwrap: None):
    # The folder of the test is private, and so may be the interpreter's.
    # Workers go by the clock of the store, so that this competition is open today.
    text = CODE_FILE.replace("2026-03-0", "20{}-03-0").format(20, 97).replace("2026-03-", "2098-03-")
    made = make_arena(tmp_path, None, text)
    for sheet in made.competition.sheets():
        write_questions(sealed_signals(make_truth()), made.questions_folder(sheet))
    token = join(made, "reds")
    submission = submit(
        made, token, "commands", zipped(tmp_path, RIGHT.format(body=ANSWER_BY_SIGN)), external_data=()
    )
    arena, stop, said = open_arena(made.folder), threading.Event(), []
    running = threading.Thread(target=lambda: said.append(start_arena(arena, stop=stop, report=said.append)))
    running.start()
    end = time.monotonic() + 180
    try:
        while time.monotonic() < end and running.is_alive():
            if read_receipt(made, token, submission)["state"] in ("scored", "failed", "broken"):
                break
            time.sleep(0.5)
    finally:
        stop.set()
        running.join()
    receipt = read_receipt(made, token, submission)
    assert receipt["state"] == "scored", (receipt["states"], said)
    with made.store.reading() as connection:
        measured = connection.execute(select(RUN.c.measured)).scalar_one()
    assert measured["isolation"] == "bubblewrap"
    # An ordinary user has hard limits where root gave a control group away.
    assert measured["hard_limits"] is bool(Cgroup.create(Limits()).folders)
    assert {line.rpartition(" ")[2] for line in said if isinstance(line, str)} >= {"63001", "63002", "63003"}
