"""A running child of the sandbox: started, watched, read from, and ended with everything it started."""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from neuroarena.errors import NeuroarenaError
from neuroarena.sandbox import bubblewrap
from neuroarena.sandbox.cgroups import Cgroup
from neuroarena.sandbox.job import GUEST_FOLDER, Job, translate_path
from neuroarena.sandbox.limits import Isolation, Limits, Outcome, Status, printable
from neuroarena.sandbox.process_tree import descendants, end_tree, memory_mb, threads
from neuroarena.sandbox.syscalls import filter_file

_MB = 2**20
_TICK_S = 0.1
_LOOK_S = 0.25
_TAIL = 4000
_PIPE_BYTES = 2**20
_SIGXCPU = 128 + 24
_SIGXFSZ = 128 + 25


class Stopped(Exception):
    """A limit was exceeded and the run was ended; the outcome says which."""


def choose_isolation(wanted: Isolation | None) -> tuple[Isolation, list[str]]:
    """Decide how a run is isolated, and return a warning where that is weaker than it could be.

    Parameters
    ----------
    wanted : str or None
        ``bubblewrap`` or ``process``; None takes the best there is.

    Raises
    ------
    NeuroarenaError
        When bubblewrap is asked for and cannot be used.
    """
    if wanted == "process":
        return "process", ["a plain child process was asked for: it can read what its user can read"]
    reason = bubblewrap.unavailable()
    if reason is None:
        return "bubblewrap", []
    if wanted == "bubblewrap":
        raise NeuroarenaError(f"The sandbox needs bubblewrap, and {reason}. Nothing was run.")
    return "process", [f"{reason}: it ran as a plain child process, which can read what its user can read"]


class Child:
    """A child process and everything below it. Use it in a ``with`` block: leaving ends the whole tree.

    Parameters
    ----------
    job : Job
        What to run.
    limits : Limits
        What it may use.
    isolation : {"bubblewrap", "process"} or None, default None
        How; None takes the best there is, and the outcome says what that was.
    talk : bool, default False
        Whether standard output is a channel to the caller (`incoming`) instead of part of the log.
    """

    def __init__(
        self, job: Job, limits: Limits, isolation: Isolation | None = None, *, talk: bool = False
    ) -> None:
        self.job, self.limits = job, limits
        self.isolation, self._warnings = choose_isolation(isolation)
        self.incoming = bytearray()
        self._log, self._log_bytes, self._waited, self._looked = bytearray(), 0, 0.0, 0.0
        self._status: Status | None = None
        self._seen_mb = 0.0
        self._peak_mb: float | None = None
        self._code: int | None = None
        self._sending = False
        self._lifeline: int | None = None
        self._closed = False
        self._scratch = tempfile.TemporaryDirectory(prefix="neuroarena-")
        self._group = Cgroup.create(limits)
        self._warnings += _soft_limits(self._group)
        try:
            self._process = self._start(talk)
        except BaseException:
            self._give_back()
            raise
        self._selector = selectors.DefaultSelector()
        for name, stream in (
            ("line" if talk else "log", self._process.stdout),
            ("log", self._process.stderr),
        ):
            if stream is not None:
                os.set_blocking(stream.fileno(), False)
                self._selector.register(stream, selectors.EVENT_READ, name)
        if self._process.stdin is not None:
            os.set_blocking(self._process.stdin.fileno(), False)
            with contextlib.suppress(OSError):
                fcntl.fcntl(self._process.stdin, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def _start(self, talk: bool) -> subprocess.Popen[bytes]:
        limits = self.limits
        rlimits = {
            "NOFILE": limits.open_files,
            "FSIZE": limits.output_mb * _MB,
            "CORE": 0,
            # Of one process with all its threads: limits what goes on while the caller is not waiting.
            "CPU": math.ceil(limits.seconds) * (os.cpu_count() or 1) + 1,
        }
        settings = {
            "parent": os.getpid(),
            "groups": self._group.procs_files,
            "rlimits": rlimits,
            "guard": self.isolation == "process",
        }
        given: list[int] = []
        if self.isolation == "bubblewrap":
            command = self._wrap_command(given)
        else:
            command = [translate_path(part, {}) for part in self.job.command]
        launch = [sys.executable, "-I", "-S", "-B", str(GUEST_FOLDER / "launch.py"), json.dumps(settings)]
        scratch = Path(self._scratch.name)
        try:
            return subprocess.Popen(
                [*launch, *command],
                stdin=subprocess.PIPE if talk else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if talk else subprocess.STDOUT,
                cwd=self.job.output if self.job.output is not None else scratch,
                env=bubblewrap.environment(scratch),
                pass_fds=given,
                start_new_session=True,
            )
        finally:
            for descriptor in given:
                os.close(descriptor)

    def _wrap_command(self, given: list[int]) -> list[str]:
        """Build the command, and add the descriptors it needs to `given`."""
        there, self._lifeline = os.pipe()
        given.append(there)
        filtered, reason = filter_file()
        if filtered is not None:
            given.append(filtered)
        self._warnings += [reason] if reason else []
        return bubblewrap.arguments(self.job, self.limits, filtered, there)

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def pump(self, outgoing: bytes, done: Callable[[], bool]) -> bool:
        """Send bytes and receive what arrives, until `done` returns true or the child closes its end.

        Returns
        -------
        bool
            Whether `done` was reached.

        Raises
        ------
        Stopped
            When a limit was exceeded; everything was ended.
        """
        rest, stdin = memoryview(outgoing), self._process.stdin
        self._sending = bool(rest) and stdin is not None
        if self._sending and stdin is not None:
            self._selector.register(stdin, selectors.EVENT_WRITE, "send")
        try:
            while not done():
                if not self._selector.get_map():
                    return False
                began = time.monotonic()
                for key, _ in self._selector.select(_TICK_S):
                    if key.data == "send":
                        rest = self._send(rest)
                    elif self._take(key) and key.data == "line":
                        # Nobody is left to read the rest of what was to be sent.
                        return done()
                self._waited += time.monotonic() - began
                self._look()
            return True
        finally:
            if self._sending and stdin is not None and not self._closed:
                self._selector.unregister(stdin)

    def _send(self, rest: memoryview) -> memoryview:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            rest = rest[os.write(stdin.fileno(), rest[:_PIPE_BYTES]) :]
        except BlockingIOError:
            return rest
        except BrokenPipeError:
            rest = rest[:0]
        if not rest:
            self._selector.unregister(stdin)
            self._sending = False
        return rest

    def _take(self, key: selectors.SelectorKey) -> bool:
        """Read what is available, and return whether the stream has ended."""
        try:
            data = os.read(key.fd, _PIPE_BYTES)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(key.fileobj)
            return True
        if key.data == "line":
            self.incoming += data
        else:
            self._log = (self._log + data)[-4 * _TAIL :]
            self._log_bytes += len(data)
        return False

    def _look(self) -> None:
        """Compare what is used with what is allowed."""
        if self._waited > self.limits.seconds:
            self.stop("time")
        if self._log_bytes > self.limits.output_mb * _MB:
            self.stop("output")
        if time.monotonic() - self._looked < _LOOK_S:
            return
        self._looked = time.monotonic()
        if self._wrote_too_much():
            self.stop("output")
        missing = {"memory", "pids"} - set(self._group.folders)
        below = descendants(self._process.pid) if missing else []
        if "memory" in missing:
            self._seen_mb = max(self._seen_mb, memory_mb(below))
        if "pids" in missing and threads(below) > self.limits.processes:
            self.stop("processes")
        if self._seen_mb > self.limits.memory_mb:
            self.stop("memory")

    def _wrote_too_much(self) -> bool:
        return self.job.output is not None and _folder_bytes(self.job.output) > self.limits.output_mb * _MB

    def stop(self, status: Status) -> None:
        """End the run because a limit was exceeded.

        Raises
        ------
        Stopped
            Always.
        """
        self._status = status
        self.close()
        raise Stopped(status)

    def wait(self) -> None:
        """Wait until the child and everything that holds its log has ended.

        Raises
        ------
        Stopped
            When a limit was exceeded.
        """
        self._close_stdin()
        while self._process.poll() is None:
            if not self.pump(b"", lambda: self._process.poll() is not None):
                # It closed its log and is still running.
                time.sleep(_TICK_S / 10)
                self._waited += _TICK_S / 10
                self._look()

    def close(self) -> None:
        """End the whole tree and release every resource; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._close_stdin()
        if self._process.poll() is None:
            if self.isolation == "process":
                end_tree(self._process.pid)
            # The first process of the namespace goes with bubblewrap, and all others with it.
            self._process.kill()
        else:
            self._code = self._process.returncode
        self._process.wait()
        self._drain()
        self._peak_mb = self._group.peak_memory_mb() or self._seen_mb or None
        if self._status is None:
            self._status = self._find_status(self._code)
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._give_back()

    def _give_back(self) -> None:
        self._group.remove()
        self._scratch.cleanup()
        if self._lifeline is not None:
            os.close(self._lifeline)

    def _drain(self) -> None:
        """Read the last output, at most as much as a pipe holds."""
        for key in list(self._selector.get_map().values()):
            if key.data == "log":
                self._take(key)

    def _close_stdin(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _find_status(self, code: int | None) -> Status:
        if self._group.out_of_memory():
            return "memory"
        if self._wrote_too_much():
            return "output"
        if code in (_SIGXCPU, _SIGXFSZ):
            return "time" if code == _SIGXCPU else "output"
        return "finished" if code == 0 else "failed"

    def finish(self, grace_s: float = 5.0) -> Outcome:
        """Close the channel, give the child a moment to end by itself, and return the outcome."""
        self._close_stdin()
        end = time.monotonic() + grace_s
        with contextlib.suppress(Stopped):
            while self._process.poll() is None and time.monotonic() < end:
                self.pump(b"", lambda: self._process.poll() is not None or time.monotonic() > end)
                time.sleep(_TICK_S / 100)
        return self.outcome()

    def outcome(self) -> Outcome:
        """Return the outcome of the run, ending it first if it is still going."""
        self.close()
        assert self._status is not None
        return Outcome(
            status=self._status,
            exit_code=self._code,
            seconds=self._waited,
            peak_memory_mb=self._peak_mb,
            stderr_tail=printable(self._log.decode("utf-8", "replace"), _TAIL),
            isolation=self.isolation,
            warnings=tuple(self._warnings),
        )


def _soft_limits(group: Cgroup) -> list[str]:
    words = {"memory": "memory", "pids": "the number of processes"}
    missing = [words[name] for name in words if name not in group.folders]
    if not missing:
        return []
    return [
        f"no control group can be written: {' and '.join(missing)} were checked every {_LOOK_S} s "
        f"instead of being enforced by the kernel"
    ]


def _folder_bytes(folder: Path) -> int:
    total = 0
    for path, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                # Blocks, not length: a file with holes costs nothing.
                total += os.lstat(os.path.join(path, name)).st_blocks * 512
    return total
