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


def test_a_lease_of_a_killed_process_is_taken_over_at_once(tmp_path):
    code = "import os, sys; from pathlib import Path; from neuroarena.evaluation.leases import Leases\n"
    code += (
        "leases = Leases(Path(sys.argv[1]))\nwith leases.renewed():\n    leases.take('cell')\n    os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert (tmp_path / "leases" / "cell").exists()
    here = Leases(tmp_path)
    with here.renewed():
        assert here.take("cell")


def test_a_lease_of_another_machine_is_taken_over_after_three_missed_beats(tmp_path):
    here = Leases(tmp_path, beat_s=1000.0)
    with here.renewed():
        note = tmp_path / "leases" / "cell"
        note.write_text(f"not {socket.gethostname()}")
        assert not here.take("cell")
        os.utime(note, (0, os.stat(tmp_path).st_mtime - 3001))
        assert here.take("cell")


def test_a_lease_is_renewed_while_it_is_held(tmp_path):
    here = Leases(tmp_path, beat_s=0.02)
    with here.renewed():
        here.take("cell")
        note = tmp_path / "leases" / "cell"
        os.utime(note, (0, 0))
        for _ in range(6000):
            if note.stat().st_mtime > 0:
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
