"""What code in a sandbox tries, and gets nothing for. Each attack has a control: outside it would succeed."""

from __future__ import annotations

import http.server
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.sandbox import Limits, Outcome, bubblewrap, run_isolated
from neuroarena.sandbox.cgroups import Cgroup

SECRET = "the-label-is-0.7315"


def run(source: str, *arguments: str, isolation: str = "bubblewrap", **options) -> Outcome:
    command = [sys.executable, "-I", "-c", textwrap.dedent(source), *arguments]
    options.setdefault("limits", Limits(seconds=60, memory_mb=500, output_mb=5, processes=24))
    return run_isolated(command, isolation=isolation, **options)


def alive(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def gone(mark: str, patience_s: float = 10.0) -> bool:
    end = time.monotonic() + patience_s
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(mark)


@pytest.fixture
def server() -> Iterator[int]:
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(SECRET.encode())

        def log_message(self, *_: object) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running.server_address[1]
        running.shutdown()


READ = """
    import os, sys
    for path in sys.argv[1:]:
        try:
            print(open(path).read())
        except OSError as error:
            print(type(error).__name__)
"""


def test_labels_beside_the_project_are_read_outside_and_not_inside(bwrap: None, tmp_path: Path):
    labels = tmp_path / "labels.csv"
    labels.write_text(SECRET)
    assert SECRET in run(READ, str(labels), isolation="process").stderr_tail
    assert run(READ, str(labels)).stderr_tail.split() == ["FileNotFoundError"]


def test_no_file_of_the_host_is_found_by_walking_from_the_root(bwrap: None, tmp_path: Path):
    (tmp_path / f"{SECRET}.csv").write_text("1")
    source = """
        import os, sys
        known = ("/usr", "/proc", "/dev", *sys.argv[1:])
        for folder, names, files in os.walk("/"):
            names[:] = [n for n in names if os.path.join(folder, n) not in (*known, "/etc/alternatives")]
            for file in files:
                print(os.path.join(folder, file))
    """
    skipped = [str(folder) for folder in bubblewrap.interpreter_folders()]
    found = run(source, *skipped).stderr_tail.splitlines()
    assert "/guest/neuroarena/sandbox/guest/wire.py" in found
    assert not [
        path
        for path in found
        if not path.startswith(("/guest/", "/etc/ld.so.cache", "/etc/localtime", "/lib64/", "/lib/"))
    ]


def test_accounts_homes_and_the_work_of_others_are_not_there(bwrap: None):
    places = [
        "/etc/shadow",
        "/etc/passwd",
        "/etc/hostname",
        "/var/log/dpkg.log",
        str(Path.home() / ".bashrc"),
    ]
    said = run(READ, *places, __file__).stderr_tail.split()
    assert said == ["FileNotFoundError"] * 6


def test_the_memory_environment_and_number_of_the_parent_are_out_of_reach(
    bwrap: None, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NEUROARENA_TEST_LABEL", SECRET)
    source = """
        import os, sys
        parent = sys.argv[1]
        print("seen" if os.path.exists(f"/proc/{parent}/mem") else "not seen")
        for pid in filter(str.isdigit, os.listdir("/proc")):
            for name in ("environ", "cmdline"):
                try:
                    print(open(f"/proc/{pid}/{name}").read().replace(chr(0), " "))
                except OSError:
                    pass
    """
    said = run(source, str(os.getpid())).stderr_tail
    assert said.startswith("not seen")
    assert SECRET not in said
    found = run(
        "import os, sys; print(open(f'/proc/{sys.argv[1]}/cmdline').read())",
        str(os.getpid()),
        isolation="process",
    )
    assert "python" in found.stderr_tail, "outside, the parent is seen"


NETWORK = """
    import socket, sys, urllib.request
    for address in sys.argv[2:]:
        try:
            print(urllib.request.urlopen(f"http://{address}:{sys.argv[1]}/", timeout=5).read().decode())
        except OSError:
            print("nothing")
    try:
        print(socket.getaddrinfo("example.org", 80))
    except OSError:
        print("no name")
    for family in (40, 38, 17):
        try:
            socket.socket(family, socket.SOCK_STREAM)
            print("opened")
        except OSError as error:
            print(type(error).__name__)
"""


def test_a_server_of_this_machine_is_reached_outside_and_not_inside(bwrap: None, server: int):
    assert SECRET in run(NETWORK, str(server), "127.0.0.1", isolation="process").stderr_tail
    inside = run(NETWORK, str(server), "127.0.0.1", "localhost").stderr_tail.split("\n")
    assert inside[:3] == ["nothing", "nothing", "no name"]
    assert set(inside[3:6]) <= {"PermissionError", "OSError"}, (
        "vsock, crypto and raw sockets pass by namespaces"
    )


def test_an_abstract_socket_of_this_machine_is_not_reached(bwrap: None):
    name = f"\0neuroarena-{os.getpid()}"
    source = (
        "import socket, sys; socket.socket(socket.AF_UNIX).connect(chr(0) + sys.argv[1]); print('connected')"
    )
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(name)
        listening.listen()
        assert "connected" in run(source, name[1:], isolation="process").stderr_tail
        assert "ConnectionRefusedError" in run(source, name[1:]).stderr_tail


def test_nothing_is_written_but_the_output_folder_and_a_private_tmp(bwrap: None, tmp_path: Path):
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    source = """
        import sys
        for folder in ("/", "/usr", "/etc", "/dev", "/proc", "/guest", "/input", "/input/data", *sys.argv[1:]):
            try:
                open(folder + "/planted", "w")
                print("wrote", folder)
            except OSError:
                pass
        open("/output/answer", "w").write("42")
        open("/tmp/planted-in-tmp", "w").write("42")
        open("/dev/shm/planted-in-shm", "w").write("42")
        print("done")
    """
    outcome = run(
        source, sys.prefix, sys.base_prefix, inputs={"data": tmp_path / "in"}, workdir=tmp_path / "out"
    )
    assert outcome.stderr_tail == "done\n"
    assert (tmp_path / "out" / "answer").read_text() == "42"
    assert not list((tmp_path / "in").iterdir())
    assert not Path("/tmp/planted-in-tmp").exists()
    assert not Path("/dev/shm/planted-in-shm").exists()


def test_paths_of_a_command_are_given_as_they_are_called_inside(bwrap: None, tmp_path: Path):
    (tmp_path / "a.txt").write_text("given")
    command = [sys.executable, "-I", "-c", "import sys; print(sys.argv[1], open(sys.argv[1]).read())"]
    for isolation, called in (("bubblewrap", Path("/input/data")), ("process", tmp_path)):
        outcome = run_isolated([*command, tmp_path / "a.txt"], inputs={"data": tmp_path}, isolation=isolation)
        assert outcome.stderr_tail == f"{called / 'a.txt'} given\n"


def test_no_rights_no_new_namespace_no_look_into_processes(bwrap: None):
    source = """
        import ctypes, os
        libc = ctypes.CDLL(None, use_errno=True)
        status = dict(line.split(":", 1) for line in open("/proc/self/status"))
        names = ("CapEff", "CapBnd", "NoNewPrivs", "Seccomp")
        print(os.getuid(), *(status[name].strip() for name in names))
        print(libc.unshare(0x10000000), libc.unshare(0x20000), libc.mount(b"x", b"/tmp", b"tmpfs", 0, 0),
              libc.ptrace(16, 1, 0, 0), libc.setns(0, 0), libc.syscall(250, 0, 0, 0), libc.chroot(b"/tmp"))
    """
    outcome = run(source)
    first, second = outcome.stderr_tail.splitlines()
    filtered = not any("not filtered" in warning for warning in outcome.warnings)
    assert first == f"65534 0000000000000000 0000000000000000 1 {2 if filtered else 0}"
    assert second.split() == ["-1"] * 7


def test_the_parent_cannot_be_signalled(bwrap: None):
    source = """
        import os, signal, sys
        for pid in (*map(int, sys.argv[1:]), -1):
            try:
                os.kill(pid, signal.SIGTERM)
                print("sent")
            except OSError as error:
                print(type(error).__name__)
    """
    # Numbers of the sandbox begin at 1, so one far above any of them is the parent's or nobody's.
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as bystander:
        outcome = run(source, str(os.getpid()), str(bystander.pid))
        assert bystander.poll() is None
        bystander.kill()
    assert outcome.stderr_tail.split() == ["ProcessLookupError"] * 3


BOMB = """
    import os, time
    made = 0
    try:
        while made < 500:
            if os.fork() == 0:
                time.sleep(30)
                os._exit(0)
            made += 1
    except OSError:
        pass
    print(made, flush=True)
    time.sleep(1)
"""


@pytest.mark.parametrize("isolation", ["bubblewrap", "process"])
def test_a_fork_bomb_is_held_and_leaves_nobody_behind(bwrap: None, isolation: str):
    mark = f"bomb-{os.getpid()}-{isolation}"
    outcome = run(BOMB, mark, isolation=isolation)
    # Held by the kernel, or seen from outside where no control group can be written.
    assert outcome.status == "processes" or int(outcome.stderr_tail) < 24
    assert gone(mark)


@pytest.mark.parametrize("isolation", ["bubblewrap", "process"])
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
    assert gone(mark, 2.0)


@pytest.mark.parametrize("moment_s", [0.0, 0.005, 0.02, 0.5])
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
        end = time.monotonic() + 20
        while not alive(mark) and time.monotonic() < end:
            time.sleep(0.001)
        assert alive(mark)
        # Also in the middle of starting, when not every part knows yet whom it has to follow.
        time.sleep(moment_s)
        parent.send_signal(signal.SIGKILL)
    assert gone(mark)
    # The next run sweeps the control group that was left; here it is made only for that.
    Cgroup.create(Limits()).remove()


@pytest.mark.parametrize("isolation", ["bubblewrap", "process"])
@pytest.mark.parametrize(
    ("source", "limits", "status"),
    [
        ("import time; time.sleep(60)", Limits(seconds=0.5), "time"),
        ("import os, time; os.close(1); os.close(2); time.sleep(60)", Limits(seconds=0.5), "time"),
        (
            "a = [b'1' * 10**6 for _ in range(3000)]; import time; time.sleep(9)",
            Limits(memory_mb=200),
            "memory",
        ),
        ("while True: print('x' * 1000)", Limits(output_mb=1), "output"),
        ("[open(f'f{i}', 'wb').write(b'1' * 10**6) for i in range(20)]", Limits(output_mb=3), "output"),
        ("raise SystemExit(7)", Limits(), "failed"),
        ("import os; os.kill(os.getpid(), 11)", Limits(), "failed"),
        ("print('fine')", Limits(), "finished"),
    ],
    ids=["sleep", "mute", "memory", "log", "files", "code", "crash", "fine"],
)
def test_a_limit_ends_the_run_by_its_name(
    bwrap: None, tmp_path: Path, source: str, limits: Limits, status: str, isolation: str
):
    began = time.monotonic()
    # The folder is also looked at after the end: a quick writer is not missed.
    outcome = run(source, limits=limits, workdir=tmp_path, isolation=isolation)
    assert outcome.status == status
    assert time.monotonic() - began < 15
    assert outcome.isolation == isolation
    if source.endswith("(7)"):
        assert outcome.exit_code == 7


def test_open_files_and_single_files_are_limited(bwrap: None, tmp_path: Path):
    many = run("a = [open('/dev/null') for _ in range(500)]", limits=Limits(open_files=64))
    assert "Too many open files" in many.stderr_tail
    large = run("open('large', 'wb').write(bytes(10**7))", limits=Limits(output_mb=2), workdir=tmp_path)
    assert "File too large" in large.stderr_tail
    full = run("[open(f'/tmp/{i}', 'wb').write(bytes(10**6)) for i in range(9)]", limits=Limits(output_mb=2))
    assert "No space left" in full.stderr_tail


def test_a_hidden_folder_inside_the_interpreters_own_is_not_seen(bwrap: None):
    try:
        folder = Path(tempfile.mkdtemp(dir=sys.prefix, prefix="data-"))
    except OSError as error:
        pytest.skip(f"the interpreter's folder cannot be written: {error}")
    try:
        (folder / "labels").write_text(SECRET)
        assert SECRET in run(READ, str(folder / "labels")).stderr_tail
        assert SECRET not in run(READ, str(folder / "labels"), hidden=[folder]).stderr_tail
        assert SECRET not in run(READ, str(folder / "labels"), hidden=[folder / "labels"]).stderr_tail
    finally:
        shutil.rmtree(folder)


def test_control_characters_of_a_stranger_do_not_reach_the_terminal():
    assert run(r"print('\x1b[31m\x07red\r')", isolation="process").stderr_tail == "[31mred\n"


def test_a_plain_process_says_what_it_is():
    outcome = run("print(1)", isolation="process")
    assert outcome.isolation == "process"
    assert "can read what its user can read" in outcome.warnings[0]


def test_where_bubblewrap_is_missing_a_plain_process_is_taken_and_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    bubblewrap.unavailable.cache_clear()
    try:
        outcome = run_isolated([sys.executable, "-I", "-c", "print(1)"])
        assert outcome.isolation == "process"
        assert "bubblewrap is not installed" in outcome.warnings[0]
        with pytest.raises(NeuroarenaError, match=r"needs bubblewrap.*Nothing was run"):
            run_isolated([sys.executable, "-I", "-c", "print(1)"], isolation="bubblewrap")
    finally:
        bubblewrap.unavailable.cache_clear()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inputs": {"data": Path("/nowhere")}}, "no such folder"),
        ({"inputs": {"../etc": Path("/tmp")}}, "plain word"),
        ({"workdir": Path("/nowhere")}, "no such folder"),
    ],
)
def test_folders_that_cannot_be_given_are_refused(options: dict, words: str):
    with pytest.raises(InputError, match=words):
        run_isolated(["true"], **options)


@pytest.mark.parametrize("name", ["memory_mb", "seconds", "output_mb", "processes", "open_files"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_limit_is_a_number_above_zero(name: str, value: float):
    with pytest.raises(InputError, match=name):
        Limits(**{name: value})
