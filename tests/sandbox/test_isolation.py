"""What code in a sandbox tries, and gets nothing for. Each attack has a control: outside it would succeed."""

from __future__ import annotations

import http.server
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from guest_running import alive, run
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.sandbox import Limits, bubblewrap, collect_isolated, run_isolated
from neuroarena.sandbox.backends import choose_backend
from neuroarena.sandbox.child import Child
from neuroarena.sandbox.job import Job
from neuroarena.sandbox.runtime import find_runtime

SECRET = "the-label-is-0.7315"


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
    assert SECRET in run(READ, str(labels), isolation="none").stderr_tail
    assert run(READ, str(labels)).stderr_tail.split() == ["FileNotFoundError"]


def test_no_file_of_the_host_is_found_by_walking_from_the_root(bwrap: None, tmp_path: Path):
    (tmp_path / f"{SECRET}.csv").write_text("1")
    source = """
        import os, sys
        known = ("/usr/lib", "/proc", "/dev", "/runtime")
        for folder, names, files in os.walk("/"):
            names[:] = [n for n in names if os.path.join(folder, n) not in known]
            for file in files:
                print(os.path.join(folder, file))
    """
    found = run(source).stderr_tail.splitlines()
    assert "/guest/wire.py" in found
    assert not [path for path in found if not path.startswith(("/guest/", "/etc/ld.so.cache", "/usr/lib64/"))]


def test_only_the_runtime_can_be_imported_and_nothing_of_neuroarena(bwrap: None):
    source = """
        import os, sys
        print(sys.prefix, os.__file__.startswith("/runtime/"), os.path.exists("/usr/bin"))
        sys.path.append("/guest")
        try:
            import neuroarena
        except ImportError:
            print("no neuroarena")
        folders = [folder for folder in sys.path if os.path.isdir(folder)]
        print(any("neuroarena" in name for folder in folders for name in os.listdir(folder)))
    """
    outcome = run(source)
    assert outcome.stderr_tail.split("\n")[:3] == ["/runtime True False", "no neuroarena", "False"]
    assert outcome.runtime == find_runtime().digest


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
        isolation="none",
    )
    assert "python" in found.stderr_tail, "outside, the parent is seen"


NETWORK = """
    import socket, sys, urllib.request
    for address in sys.argv[2:]:
        try:
            print(urllib.request.urlopen(f"http://{address}:{sys.argv[1]}/", timeout=60).read().decode())
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
    assert SECRET in run(NETWORK, str(server), "127.0.0.1", isolation="none").stderr_tail
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
        assert "connected" in run(source, name[1:], isolation="none").stderr_tail
        assert "ConnectionRefusedError" in run(source, name[1:]).stderr_tail


def test_nothing_is_written_but_a_private_tmp_and_shared_memory(bwrap: None, tmp_path: Path):
    source = """
        for folder in ("/", "/usr/lib", "/etc", "/dev", "/proc", "/guest", "/input", "/input/data", "/runtime"):
            try:
                open(folder + "/planted", "w")
                print("wrote", folder)
            except OSError:
                pass
        open("/tmp/planted-in-tmp", "w").write("42")
        open("/dev/shm/planted-in-shm", "w").write("42")
        print("done")
    """
    tmp_path.chmod(0o755)
    outcome = run(source, inputs={"data": tmp_path})
    assert outcome.stderr_tail == "done\n"
    assert not list(tmp_path.iterdir())
    assert not Path("/tmp/planted-in-tmp").exists()
    assert not Path("/dev/shm/planted-in-shm").exists()


def test_what_a_guest_makes_leaves_through_its_output_and_no_byte_more_than_asked_for(bwrap: None):
    command = [sys.executable, "-I", "-c", "import sys; sys.stdout.write('x' * int(sys.argv[1]))"]
    outcome, made = collect_isolated([*command, "70000"], 70_000)
    assert (outcome.status, made) == ("finished", b"x" * 70_000)
    outcome, made = collect_isolated([*command, "70001"], 70_000)
    assert (outcome.status, len(made) <= 70_001) == ("output", True)


def test_paths_of_a_command_are_given_as_they_are_called_inside(bwrap: None, tmp_path: Path):
    tmp_path.chmod(0o755)
    (tmp_path / "a.txt").write_text("given")
    command = [sys.executable, "-I", "-c", "import sys; print(sys.argv[1], open(sys.argv[1]).read())"]
    for isolation, called in (("bubblewrap", Path("/input/data")), ("none", tmp_path)):
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
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) as bystander:
        outcome = run(source, str(os.getpid()), str(bystander.pid))
        assert bystander.poll() is None
        bystander.kill()
    assert outcome.stderr_tail.split() == ["ProcessLookupError"] * 3


def test_the_settings_of_the_kernel_cannot_be_written_by_a_guest_of_root_either(bwrap: None):
    source = """
        import os
        for folder, _, files in os.walk("/proc/sys"):
            for file in files:
                try:
                    os.close(os.open(os.path.join(folder, file), os.O_WRONLY))
                    print("open", file)
                except OSError:
                    pass
        for path in ("/proc/sysrq-trigger", "/dev/kmsg", "/proc/kmsg", "/proc/1/oom_score_adj"):
            try:
                os.close(os.open(path, os.O_WRONLY))
                print("open", path)
            except OSError:
                pass
    """
    opened = run(source).stderr_tail.splitlines()
    assert set(opened) <= {"open /proc/1/oom_score_adj"}, "that is bubblewrap's own process inside"


def test_guests_of_root_are_users_of_their_own_who_own_nothing(bwrap: None):
    if os.getuid():
        pytest.skip("only root can become somebody else")
    job = Job((sys.executable, "-I", "-c", "import time; time.sleep(600)", f"owned-{os.getpid()}"))
    with Child(job, Limits(), choose_backend(None)), Child(job, Limits(), choose_backend(None)):
        end, seen = time.monotonic() + 120, set()
        while len(seen) < 2 and time.monotonic() < end:
            pids = [pid for pid in alive(f"owned-{os.getpid()}") if Path(f"/proc/{pid}/exe").exists()]
            seen |= {os.stat(f"/proc/{pid}").st_uid for pid in pids} - {0}
    assert len(seen) == 2
    assert min(seen) >= 64001


def test_control_characters_of_a_stranger_do_not_reach_the_terminal():
    assert run(r"print('\x1b[31m\x07red\r')", isolation="none").stderr_tail == "[31mred\n"


def test_a_plain_process_says_what_it_is():
    outcome = run("print(1)", isolation="none")
    assert outcome.isolation == "none"
    assert "can read what its user can read" in outcome.warnings[0]


def test_where_bubblewrap_is_missing_nothing_runs_unless_that_is_asked_for_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    mark = tmp_path / "ran"
    command = [sys.executable, "-I", "-c", f"open({str(mark)!r}, 'w')"]
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(
        NeuroarenaError, match=r"bubblewrap is not installed.*Nothing was run.*--isolation none"
    ):
        run_isolated(command)
    assert not mark.exists()
    outcome = run_isolated(command, isolation="none")
    assert outcome.isolation == "none"
    assert "without isolation" in outcome.warnings[0]
    assert mark.exists()


def test_without_a_filter_of_system_calls_nothing_runs(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bubblewrap, "filter_file", lambda: (None, "system calls are not filtered: a test"))
    # Another search path, so that what was found before does not count.
    monkeypatch.setenv("PATH", f"{os.environ['PATH']}:/nowhere-{os.getpid()}")
    with pytest.raises(NeuroarenaError, match="system calls are not filtered"):
        run_isolated([sys.executable, "-I", "-c", "print(1)"])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"inputs": {"data": Path("/nowhere")}}, "no such folder"),
        ({"inputs": {"../etc": Path("/tmp")}}, "plain word"),
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
