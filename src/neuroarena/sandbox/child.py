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
from types import TracebackType

from neuroarena.sandbox import supervise
from neuroarena.sandbox.backends import Backend
from neuroarena.sandbox.cgroups import Cgroup
from neuroarena.sandbox.job import Control, Job
from neuroarena.sandbox.limits import Limits, Outcome, Status, printable

_MB = 2**20
_TICK_S = 0.1
_TAIL = 4000
_GRACE_S = 2.0
_PIPE_BYTES = 2**20
_REPORT_BYTES = 2**16
_SIGXCPU = 128 + 24
_SIGXFSZ = 128 + 25


class Stopped(Exception):
    """A limit was exceeded and the run was ended; the outcome says which."""


class Child:
    """A child process and everything below it. Use it in a ``with`` block: leaving ends the whole tree.

    It may be started in one thread and used in another: a process of its own stands between this one and the guest.

    Parameters
    ----------
    job : Job
        What to run.
    limits : Limits
        What it may use.
    backend : Backend
        How it is isolated.
    talk : bool, default False
        Whether standard output is a channel to the caller (`incoming`) instead of part of the log.
    control : Control, optional
        How the caller can end it early.

    Attributes
    ----------
    incoming : bytearray
        What arrived on the channel and was not taken away yet.
    room : int
        The most bytes that `incoming` may hold. One byte more ends the guest: nothing unasked is ever kept.
    """

    def __init__(
        self,
        job: Job,
        limits: Limits,
        backend: Backend,
        *,
        talk: bool = False,
        control: Control | None = None,
    ) -> None:
        self.job, self.limits, self.backend = job, limits, backend
        self._control = control or Control()
        self.incoming, self.room = bytearray(), 0
        self._log, self._log_bytes, self._waited = bytearray(), 0, 0.0
        self._status: Status | None = None
        self._peak_mb: float | None = None
        self._code: int | None = None
        self._closed = self._line_ended = False
        self._scratch = tempfile.TemporaryDirectory(prefix="neuroarena-")
        self._group = Cgroup.create(limits)
        self._report, report = os.pipe()
        try:
            self._launch = backend.prepare(job, limits, report)
        except BaseException:
            os.close(report)
            self._give_back()
            raise
        self._warnings = [*self._launch.warnings, *_soft_limits(self._group)]
        try:
            self._process = self._start(talk, report)
        except BaseException:
            self._launch.close(self._launch.descriptors)
            self._launch.close(self._launch.kept)
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

    def _start(self, talk: bool, report: int) -> subprocess.Popen[bytes]:
        limits, launch = self.limits, self._launch
        rlimits = {
            "NOFILE": limits.open_files,
            "FSIZE": limits.output_mb * _MB,
            "CORE": 0,
            # Of one process with all its threads: limits what goes on while the caller is not waiting.
            "CPU": math.ceil(limits.seconds) * (os.cpu_count() or 1) + 1,
        }
        watch: dict[str, float] = {}
        if "memory" not in self._group.folders:
            # Of each process, by the kernel; of all together, by looking.
            rlimits["DATA"] = limits.memory_mb * _MB
            watch["memory_mb"] = limits.memory_mb
        if "pids" not in self._group.folders:
            watch["processes"] = limits.processes
        if "inodes" in launch.watched:
            watch["inodes"] = limits.inodes
        settings = {
            "parent": os.getpid(),
            "report": report,
            "groups": self._group.procs_files,
            "rlimits": rlimits,
            "watch": watch,
            "mounts": launch.mounts,
            "kept": launch.kept,
            "command": launch.command,
        }
        try:
            return subprocess.Popen(
                [sys.executable, "-I", "-S", "-B", supervise.__file__, json.dumps(settings)],
                stdin=subprocess.PIPE if talk else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE if talk else subprocess.STDOUT,
                cwd=self._scratch.name,
                env=_environment(self._scratch.name),
                # The lifeline's other end is held by the supervising process too: it must end with that one alone.
                pass_fds=[*launch.descriptors, *launch.kept],
                start_new_session=True,
            )
        finally:
            launch.close(launch.descriptors)
            launch.close(launch.kept)

    def __enter__(self) -> Child:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def list_pids(self) -> list[int]:
        """List the processes of the guest as they are numbered here."""
        return [] if self._closed else supervise.list_descendants(self._process.pid)

    def take_unasked(self) -> None:
        """Stop a guest that has said something it was not asked for.

        Raises
        ------
        Stopped
        """
        self.room = len(self.incoming)
        for key in list(self._selector.get_map().values()):
            if key.data == "line":
                self._take(key)
        if self.incoming:
            self.stop("output")

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
        most = self.room - len(self.incoming) + 1 if key.data == "line" else _PIPE_BYTES
        try:
            data = os.read(key.fd, min(most, _PIPE_BYTES))
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(key.fileobj)
            self._line_ended |= key.data == "line"
            return True
        if key.data == "line":
            self.incoming += data
            if len(self.incoming) > self.room:
                self.stop("output")
        else:
            self._log = (self._log + data)[-4 * _TAIL :]
            self._log_bytes += len(data)
        return False

    def _look(self) -> None:
        """Compare what is used with what is allowed."""
        if self._control.is_over:
            self.stop("cancelled")
        if self._waited > self.limits.seconds:
            self.stop("time")
        if self._log_bytes > self.limits.output_mb * _MB:
            self.stop("output")

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
        # What is left in the line; the supervising process has ended everyone who could write more.
        self.pump(b"", lambda: not any(key.data == "line" for key in self._selector.get_map().values()))

    def close(self) -> None:
        """End the whole tree and release every resource; a second call does nothing."""
        if self._closed:
            return
        self._closed = True
        self._close_stdin()
        if self._line_ended:
            # It closed its end, most likely because it is ending; how it ends is worth a moment.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE_S)
        if self._process.poll() is None:
            # The guest ends with its supervising process, and everything in its namespace with it.
            supervise.end_tree(self._process.pid, also_root=True)
        else:
            self._code = self._process.returncode
        self._process.wait()
        self._drain()
        # The group is removed first: then nobody is left who could write to the report.
        self._peak_mb = self._group.peak_memory_mb()
        out_of_memory = self._group.out_of_memory()
        self._group.remove()
        self._read_report(out_of_memory)
        self._selector.close()
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()
        self._give_back()

    def _give_back(self) -> None:
        self._group.remove()
        self._scratch.cleanup()
        os.close(self._report)

    def _drain(self) -> None:
        """Read the last output, at most as much as a pipe holds; nothing of the line."""
        for key in list(self._selector.get_map().values()):
            if key.data == "log":
                self._take(key)

    def _close_stdin(self) -> None:
        if self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def _read_report(self, out_of_memory: bool) -> None:
        """Find how it ended from what launcher and supervising process reported."""
        os.set_blocking(self._report, False)
        said = b""
        with contextlib.suppress(BlockingIOError):
            said = os.read(self._report, _REPORT_BYTES)
        lines = [line.partition(": ") for line in said.decode("utf-8", "replace").splitlines()]
        heard = {name: value for name, _, value in lines}
        if "peak" in heard and self._peak_mb is None:
            self._peak_mb = float(heard["peak"])
        if "setup" in heard:
            self._log += f"\n{heard['setup']}".encode()
        if self._status is None:
            self._status = self._find_status(heard, out_of_memory)

    def _find_status(self, heard: dict[str, str], out_of_memory: bool) -> Status:
        limits: dict[str, Status] = {"memory": "memory", "processes": "processes", "output": "output"}
        if "hello" not in heard:
            return "not started"
        if out_of_memory:
            return "memory"
        if heard.get("limit") in limits:
            return limits[heard["limit"]]
        if self._code in (_SIGXCPU, _SIGXFSZ):
            return "time" if self._code == _SIGXCPU else "output"
        return "finished" if self._code == 0 else "failed"

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
            isolation=self.backend.name,
            warnings=tuple(self._warnings),
            runtime=self._launch.runtime,
            hard_limits=set(self._group.folders) == {"memory", "pids"},
        )


def _soft_limits(group: Cgroup) -> list[str]:
    words = {"memory": "memory", "pids": "the number of processes"}
    missing = [words[name] for name in words if name not in group.folders]
    if not missing:
        return []
    return [
        f"no control group can be written: {' and '.join(missing)} were checked every {supervise.LOOK_S} s "
        f"instead of being enforced by the kernel"
    ]


def _environment(scratch: str) -> dict[str, str]:
    """Return the environment of a child: programs are found as here, and nothing else of this process is passed on."""
    own = {"PATH": os.environ.get("PATH", os.defpath), "HOME": scratch, "TMPDIR": scratch, "LANG": "C.UTF-8"}
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return {**own, **threads, "PYTHONHASHSEED": "0"}
