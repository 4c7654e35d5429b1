"""Three zones under three users: each is refused what belongs to the others, and together they score code."""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from test_runner import ANSWER_BY_SIGN, CODE_FILE, RIGHT, sealed_signals

from arena_making import ABOUT, FILE, MANIFEST, Clock, join, make_arena, make_truth, write_answers
from neuroarena.competition.arena import Arena, create_arena, open_arena
from neuroarena.competition.failures import keep_log
from neuroarena.competition.intake import submit
from neuroarena.competition.keeping import upgrade_arena
from neuroarena.competition.opening import open_competition
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.sealing import keep_truth
from neuroarena.competition.tables import RUN
from neuroarena.competition.zones import ZONES, arrange, find_users, record_zones, start_arena
from neuroarena.errors import InputError
from neuroarena.evaluation.questions import write_questions
from neuroarena.sandbox import Limits
from neuroarena.sandbox.cgroups import Cgroup
from sample_submissions import zipped

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give the zones users of their own")


GROUPS = {zone.name: ",".join(map(str, zone.groups)) for zone in ZONES}


def does_as(zone: str, script: str, folder: Path) -> bool:
    """Whether a line of shell succeeds for the user of a zone, inside the competition's folder, wherever that lies."""
    uid = find_users()[zone]
    command = ["setpriv", f"--reuid={uid}", f"--regid={uid}", f"--groups={GROUPS[zone]}", "--"]
    ran = subprocess.run([*command, "sh", "-c", script], cwd=folder, check=False, capture_output=True)
    return ran.returncode == 0


def opened_by(zone: str, places: dict[str, Path], folder: Path) -> set[str]:
    """The names of the places that the user of a zone can read."""
    return {name for name, path in places.items() if does_as(zone, f"cat {path.relative_to(folder)}", folder)}


@needs_root
def test_each_zone_is_refused_what_belongs_to_the_others(tmp_path: Path, clock: Clock):
    arena = make_arena(tmp_path, clock, CODE_FILE)
    for sheet in arena.competition.sheets():
        write_questions(sealed_signals(make_truth()), arena.questions_folder(sheet))
    token = join(arena, "reds")
    submit(arena, token, "commands", zipped(tmp_path, RIGHT.format(body=ANSWER_BY_SIGN)), external_data=())
    submit(arena, token, "commands", write_answers(tmp_path / "answers.parquet"))
    (tmp_path / "method.pdf").write_bytes(b"%PDF-1.4 method")
    document = arena.artifacts.keep(tmp_path / "method.pdf", 1000, ".pdf")
    users = find_users()
    places = {
        "truth": next((arena.folder / "vault").rglob("*.parquet")),
        "sums": arena.folder / "vault" / "vault.sqlite",
        "key": arena.folder / "orders" / "key.secret",
        "signals": next((arena.folder / "questions").rglob("signals.f32")),
        "store": arena.folder / "store.sqlite",
        "upload": next(arena.artifacts.folder.rglob("*.zip")),
        "document": arena.artifacts.path(document.sha256, ".pdf"),
        "log": arena.artifacts.path(keep_log(arena, "it printed a sealed window"), ".log"),
        "predictions": next(arena.artifacts.folder.rglob("*.parquet")),
        "rules": next((arena.folder / "public").rglob("manifest.json")),
        "training": arena.training_folder("commands", "predictions") / "training" / "examples.parquet",
    }
    places["training"].parent.mkdir(parents=True)
    places["training"].write_bytes(b"public training, with labels")
    arrange(arena, users)
    may = {zone: opened_by(zone, places, arena.folder) for zone in users}
    shared = {"store", "rules", "predictions"}
    assert may["intake"] == {*shared, "upload", "document"}
    assert may["runner"] == {*shared, "upload", "document", "log", "key", "signals", "training"}
    assert may["scorer"] == {*shared, "truth", "sums"}
    stranger = {name for name, path in places.items() if _as_stranger(path, arena.folder)}
    assert stranger == set()


@needs_root
def test_what_a_zone_keeps_later_is_open_to_the_same_zones_as_what_was_there(clock: Clock, reachable: Path):
    arena = make_arena(reachable, clock, CODE_FILE)
    arrange(arena, find_users())
    kept = {}
    for zone, ending in (
        ("intake", ".zip"),
        ("intake", ".parquet"),
        ("runner", ".parquet"),
        ("runner", ".log"),
    ):
        name = f"{zone}{ending}"
        source = arena.folder / name
        # As the zone itself does: its user, its groups, its mask of permissions.
        with _being(zone):
            source.write_text(name)
            kept[name] = arena.artifacts.path(arena.artifacts.keep(source, 100, ending).sha256, ending)
            source.unlink()
    for zone, may in {
        "intake": {"intake.zip", "intake.parquet", "runner.parquet"},
        "runner": {"intake.zip", "intake.parquet", "runner.parquet", "runner.log"},
        "scorer": {"intake.parquet", "runner.parquet"},
    }.items():
        assert opened_by(zone, kept, arena.folder) == may
    # The scorer cannot even see which uploads there are, put one there, or take one away.
    uploads = arena.artifacts.home(".zip").relative_to(arena.folder)
    for script in (f"ls {uploads}", f"touch {uploads}/new", f"rm -f {uploads}/*/*.zip; test ! -e {uploads}"):
        assert not does_as("scorer", script, arena.folder)
    assert kept["intake.zip"].exists()


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder that every user may pass through; those of pytest are private."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o711)
        yield Path(folder)


@contextlib.contextmanager
def _being(zone: str) -> Iterator[None]:
    uid, groups, mask = find_users()[zone], os.getgroups(), os.umask(0o007)
    os.setgroups([int(group) for group in GROUPS[zone].split(",")])
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)
        os.setgroups(groups)
        os.umask(mask)


def test_uploads_that_an_older_version_kept_beside_predictions_are_moved(tmp_path: Path, clock: Clock):
    arena = make_arena(tmp_path, clock, CODE_FILE)
    kept = arena.artifacts.keep(zipped(tmp_path, "x = 1"), 10_000, ".zip")
    old = arena.artifacts.folder / kept.sha256[:2] / f"{kept.sha256}.zip"
    old.parent.mkdir()
    arena.artifacts.path(kept.sha256, ".zip").rename(old)
    upgrade_arena(arena.folder)
    assert arena.artifacts.open(kept.sha256, ".zip").exists()
    assert not old.exists()


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
    too_long = threading.Timer(300, stop.set)
    too_long.start()
    # The scorer has nothing to do until the runner has tried its walls and answered, and stays all the same.
    code = start_arena(arena, stop=stop, until_idle=True, report=said.append)
    too_long.cancel()
    assert (code, stop.is_set()) == (0, False), said
    receipt = read_receipt(made, token, submission)
    assert receipt["state"] == "scored", (receipt["states"], said)
    with made.store.reading() as connection:
        measured = connection.execute(select(RUN.c.measured)).scalar_one()
    assert measured["isolation"] == "bubblewrap"
    # An ordinary user has hard limits where root gave a control group away.
    assert measured["hard_limits"] is bool(Cgroup.create(Limits()).folders)
    assert {line.rpartition(" ")[2] for line in said} >= {"63001", "63002", "63003"}
