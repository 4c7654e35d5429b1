"""What code in a sandbox uses up or leaves behind: each limit ends it by name, and nobody outlives a run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from guest_running import alive, gone, run
from neuroarena.sandbox import Control, Limits, run_isolated
from neuroarena.sandbox.backends import choose_backend
from neuroarena.sandbox.cgroups import Cgroup
from neuroarena.sandbox.child import Child
from neuroarena.sandbox.job import Job

BOMB = """
    import os, time
    made = 0
    try:
        while made < 500:
            if os.fork() == 0:
                time.sleep(300)
                os._exit(0)
            made += 1
    except OSError:
        pass
    print(made, flush=True)
    # Who was not held lives to be seen.
    time.sleep(300 if made >= 24 else 0)
"""


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
def test_a_fork_bomb_is_held_and_leaves_nobody_behind(bwrap: None, isolation: str):
    mark = f"bomb-{os.getpid()}-{isolation}"
    outcome = run(BOMB, mark, isolation=isolation)
    # Held by the kernel, or seen from outside where no control group can be written.
    assert outcome.status == "processes" or int(outcome.stderr_tail) < 24
    assert gone(mark)


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
def test_a_process_that_is_left_behind_is_ended(bwrap: None, isolation: str):
    mark = f"daemon-{os.getpid()}-{isolation}"
    source = """
        import os, sys, time
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(300)
            os._exit(0)
        os.wait()
        print("left")
    """
    outcome = run(source, mark, isolation=isolation)
    assert (outcome.status, outcome.stderr_tail) == ("finished", "left\n")
    assert gone(mark)


@pytest.mark.parametrize(
    "moment_s",
    [0.0, 0.02, pytest.param(0.005, marks=pytest.mark.drill), pytest.param(0.5, marks=pytest.mark.drill)],
)
def test_the_sandbox_ends_with_the_process_that_started_it(bwrap: None, tmp_path: Path, moment_s: float):
    mark = f"orphan-{os.getpid()}-{moment_s}"
    code = f"""
        import sys
        from neuroarena.sandbox import run_isolated
        run_isolated([sys.executable, "-I", "-c", "import time; time.sleep(300)", {mark!r}])
    """
    # What a killed process cannot clean up stays in the test's own folder.
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)], env=environment) as parent:
        end = time.monotonic() + 300
        while not alive(mark) and time.monotonic() < end:
            time.sleep(0.001)
        assert alive(mark)
        # Also in the middle of starting, when not every part knows yet whom it has to follow.
        time.sleep(moment_s)
        parent.send_signal(signal.SIGKILL)
    assert gone(mark)
    # The next run sweeps the control group that was left; here it is made only for that.
    Cgroup.create(Limits()).remove()


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
@pytest.mark.parametrize(
    ("source", "limits", "status"),
    [
        ("import time; time.sleep(600)", Limits(seconds=0.5), "time"),
        ("import os, time; os.close(1); os.close(2); time.sleep(600)", Limits(seconds=0.5), "time"),
        (
            "a = [b'1' * 10**6 for _ in range(3000)]; import time; time.sleep(300)",
            Limits(memory_mb=200),
            "memory",
        ),
        ("while True: print('x' * 1000)", Limits(output_mb=1), "output"),
        ("raise SystemExit(7)", Limits(), "failed"),
        ("import os; os.kill(os.getpid(), 11)", Limits(), "failed"),
        ("print('fine')", Limits(), "finished"),
    ],
    ids=["sleep", "mute", "memory", "log", "code", "crash", "fine"],
)
def test_a_limit_ends_the_run_by_its_name(
    bwrap: None, source: str, limits: Limits, status: str, isolation: str
):
    outcome = run(source, limits=limits, isolation=isolation)
    assert outcome.status == status
    assert outcome.isolation == isolation
    if source.endswith("(7)"):
        assert outcome.exit_code == 7


def test_open_files_and_single_files_are_limited(bwrap: None):
    many = run("a = [open('/dev/null') for _ in range(500)]", limits=Limits(open_files=64))
    assert "Too many open files" in many.stderr_tail
    large = run("open('large', 'wb').write(bytes(10**7))", limits=Limits(output_mb=2))
    assert "File too large" in large.stderr_tail
    full = run("[open(f'/tmp/{i}', 'wb').write(bytes(10**6)) for i in range(9)]", limits=Limits(output_mb=2))
    assert "No space left" in full.stderr_tail


@pytest.mark.parametrize(
    ("source", "limit"),
    [
        ("[os.mkdir(f'/tmp/{i}') for i in range(3000)]", {"inodes": 500}),
        ("[os.mkdir(f'/dev/shm/{i}') for i in range(3000)]", {"inodes": 500}),
        ("[open(f'/tmp/{i}', 'w') and None for i in range(3000)]", {"inodes": 500}),
        (
            "kept = []\nfor i in range(9):\n"
            "    f = open('/tmp/f', 'wb', 0); os.unlink('/tmp/f'); f.write(bytes(10**6)); kept.append(f)",
            {"output_mb": 2},
        ),
    ],
    ids=["folders", "shared memory", "empty files", "unlinked files"],
)
def test_tmp_is_sized_for_folders_and_for_files_without_a_name(bwrap: None, source: str, limit: dict):
    # Where the walls are looked at every quarter of a second, it must live to be seen.
    outcome = run(f"import os, time\n{source}\ntime.sleep(120)", limits=Limits(seconds=300, **limit))
    assert outcome.status == "output" or "No space left" in outcome.stderr_tail


def test_a_guest_outlives_the_thread_that_started_it(bwrap: None):
    source = "import sys, time; time.sleep(0.5); print('still here')"
    started: list[Child] = []
    job = Job((sys.executable, "-I", "-c", source))
    thread = threading.Thread(target=lambda: started.append(Child(job, Limits(), choose_backend(None))))
    thread.start()
    thread.join()
    with started[0] as child:
        child.wait()
        outcome = child.outcome()
    assert (outcome.status, outcome.stderr_tail) == ("finished", "still here\n")


def test_a_run_can_be_cancelled_from_another_thread_and_has_a_deadline(bwrap: None):
    sleeping = [sys.executable, "-I", "-c", "import time; time.sleep(300)"]
    cancel = threading.Event()
    threading.Timer(0.3, cancel.set).start()
    assert run_isolated(sleeping, control=Control(cancel)).status == "cancelled"
    assert run_isolated(sleeping, control=Control(deadline=time.monotonic() + 0.3)).status == "cancelled"
