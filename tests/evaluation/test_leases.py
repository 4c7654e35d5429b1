"""Two runs on one cache divide the work, and neither waits for one that is gone."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pandas as pd
import pytest

from neuroarena.evaluation import evaluate, find_results, load_result
from neuroarena.evaluation.cache_care import list_entries, prune_cache
from neuroarena.evaluation.engines.packs import wanting
from neuroarena.evaluation.evaluate import working_in
from neuroarena.evaluation.leases import Leases
from neuroarena.sealed import SealedFolder
from toy import Mean, Slow, toy_benchmark

RUN = """
import sys
from pathlib import Path
from neuroarena.evaluation import evaluate
from toy import Slow, toy_benchmark
if __name__ == "__main__":
    place = Path(sys.argv[1])
    evaluate(Slow(log=str(place / "log")), toy_benchmark(), "within", workers=int(sys.argv[2]), out=place / "out",
             cache=place / "cache")
"""


# Each worker of its own is one more interpreter.
@pytest.mark.parametrize("workers", ["1", pytest.param("2", marks=pytest.mark.drill)])
def test_two_runs_started_together_share_the_cells_and_leave_one_result(tmp_path, workers):
    script = tmp_path / "run.py"
    script.write_text(RUN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    started = [
        subprocess.Popen([sys.executable, str(script), str(tmp_path), each], env=environment)
        for each in ("1", workers)
    ]
    assert [process.wait(timeout=900) for process in started] == [0, 0]
    assert (tmp_path / "log").read_text().count("fit") == 8
    (folder,) = find_results([tmp_path / "out"])
    alone = evaluate(Slow(log=str(tmp_path / "log")), toy_benchmark(), "within", cache=tmp_path / "other")
    pd.testing.assert_frame_equal(load_result(folder).predictions, alone.predictions)
    assert not list((tmp_path / "cache" / "leases").iterdir())


def test_a_lease_is_held_by_one_and_free_again_when_released(tmp_path):
    one, other = Leases(tmp_path), Leases(tmp_path)
    with one.renewed(), other.renewed():
        assert one.take("cell")
        assert not other.take("cell")
        one.release("cell")
        assert other.take("cell")


# Two processes in one: a run that is killed while it computes a cell, and while packs of it are on their way.
KILLED = """
import os, sys
from pathlib import Path
from neuroarena.evaluation.engines.packs import wanting
from neuroarena.evaluation.leases import Leases
cache = Path(sys.argv[1])
leases = Leases(cache)
with leases.renewed(), wanting(cache):
    leases.take("cell")
    os.kill(os.getpid(), 9)
"""


def test_leases_of_a_killed_process_are_taken_over_or_removed_at_once_and_others_stay(tmp_path):
    cache, folder = tmp_path / "cache", tmp_path / "cache" / "leases"
    subprocess.run([sys.executable, "-c", KILLED, str(cache)], check=False)
    cell, dead = sorted(folder.iterdir())
    assert (cell.name, dead.name[:4]) == ("cell", "run-")
    here = Leases(cache)
    with here.renewed(), wanting(cache) as flag:
        assert here.take("cell")
        assert Leases(cache).sweep() == [dead]
        assert sorted(folder.iterdir()) == [cell, flag]
    assert not list(folder.iterdir())


@pytest.mark.parametrize(
    ("name", "patience_s"), [("cell", 60), ("run-of-theirs", 3600), (".clock-there", 60)]
)
def test_the_next_run_and_pruning_remove_leases_of_another_machine_by_their_age(tmp_path, name, patience_s):
    note = tmp_path / "leases" / name
    note.parent.mkdir()

    def leave(age_s: float) -> None:
        note.write_text(f"not {socket.gethostname()}")
        os.utime(note, (0, os.stat(tmp_path).st_mtime - age_s))

    leave(patience_s / 2)
    assert prune_cache(tmp_path).removed == {}
    with working_in(tmp_path, None):
        assert note.exists()
    leave(2 * patience_s)
    assert list(prune_cache(tmp_path, dry_run=True).removed) == ["leases"]
    assert note.exists()
    assert prune_cache(tmp_path).removed["leases"][0] == 1
    assert not note.exists()
    leave(2 * patience_s)
    with working_in(tmp_path, None):
        assert not note.exists()


def test_leases_of_work_under_way_are_no_entries_of_an_older_version(tmp_path):
    here, key = Leases(tmp_path), "0123456789abcdef" * 4
    with here.renewed():
        here.take(key)
        assert list_entries(tmp_path) == []
        assert prune_cache(tmp_path, unused_days=0).removed == {}
        assert (tmp_path / "leases" / key).exists()


def test_a_lease_of_another_machine_is_taken_over_after_three_missed_beats(tmp_path):
    here = Leases(tmp_path, beat_s=1000.0)
    with here.renewed():
        note = tmp_path / "leases" / "cell"
        note.write_text(f"not {socket.gethostname()}")
        assert not here.take("cell")
        os.utime(note, (0, os.stat(tmp_path).st_mtime - 3001))
        assert here.take("cell")


@pytest.mark.parametrize("name", ["cell", "run-of-ours"])
def test_a_lease_is_renewed_while_it_is_held_and_that_of_a_run_made_again(tmp_path, name):
    here = Leases(tmp_path, beat_s=0.02)
    with here.renewed():
        here.take(name)
        note = tmp_path / "leases" / name
        os.utime(note, (0, 0))
        if name.startswith("run-"):
            note.unlink()
        for _ in range(6000):
            if note.exists() and note.stat().st_mtime > 0:
                break
            threading.Event().wait(0.02)
        assert note.stat().st_mtime > 0


def test_the_first_writer_of_an_entry_wins_unless_it_is_damaged(tmp_path):
    folder = SealedFolder(tmp_path)
    folder.write("entry", b"content")
    first = folder.path("entry").stat().st_ino
    folder.write("entry", b"content")
    assert folder.path("entry").stat().st_ino == first
    folder.path("entry").write_bytes(b"damaged")
    folder.write("entry", b"content")
    assert bytes(folder.read("entry")) == b"content"


def test_what_another_run_finished_meanwhile_is_not_computed(tmp_path):
    cache, log = tmp_path / "cache", tmp_path / "log"
    evaluate(Mean(log=str(log)), toy_benchmark(), "within", cache=cache)
    assert log.read_text().count("fit") == 8
    for path in Path(cache / "cells").rglob("*.cell"):
        assert path.stat().st_nlink == 1
