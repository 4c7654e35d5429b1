"""Faults for storage: flipped bits, cut files, full disks and kills, on a run small enough for a thousand of them."""

from __future__ import annotations

import contextlib
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuroarena import fingerprint, sealed
from neuroarena.benchmarks import Benchmark, Fold, Split
from neuroarena.errors import InputError
from neuroarena.evaluation import Result, evaluate, find_results, load_result
from neuroarena.progress import Silence
from neuroarena.recordings import from_npy
from toy import RATE_HZ, WINDOW, Mean, toy_manifest, toy_signal

SESSIONS = ("1_0", "1_1")
# Acts of a process on files that the interpreter announces; a kill may come before each of them.
ACTS = (
    "open",
    "os.rename",
    "os.link",
    "os.remove",
    "os.mkdir",
    "os.chmod",
    "os.rmdir",
    "shutil.rmtree",
    "os.truncate",
)


class Listener(Silence):
    """Progress that remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, stage: str, text: str) -> None:
        self.lines.append(text)


def write_recordings(folder: Path) -> None:
    """Write signals of more than a megabyte: digests of smaller files are not remembered on disk."""
    for session in SESSIONS:
        signal_, _, _ = toy_signal(session, 0.3, n=20)
        long = np.zeros((4, 2**16 + 2**12), dtype=np.float32)
        long[:, : signal_.shape[1]] = signal_
        np.save(folder / f"{session}.npy", long)


def benchmark_of(folder: Path) -> Benchmark:
    """Two recordings in files, each judged by what the other teaches: two cells, two shards, two digests."""
    parts = []
    for session in SESSIONS:
        _, starts, targets = toy_signal(session, 0.3, n=20)
        about = {
            "recording": session,
            "unit": session,
            "cluster": session,
            "subject": "1",
            "session": session,
        }
        ids = [f"{session}-{number:02d}" for number in range(len(starts))]
        parts.append(
            pd.DataFrame({"id": ids, "start": starts, "stop": starts + WINDOW, "target": targets, **about})
        )
    examples = pd.concat(parts, ignore_index=True)

    def cross(table: pd.DataFrame) -> Split:
        ids = {str(name): tuple(sorted(group["id"])) for name, group in table.groupby("session")}
        one, other = SESSIONS
        return Split("cross", (Fold(one, ids[other], ids[one]), Fold(other, ids[one], ids[other])))

    return Benchmark(
        manifest=toy_manifest(),
        make_examples=lambda: examples,
        split_rules={"cross": cross},
        open_recording=lambda key: from_npy(folder / f"{key}.npy", RATE_HZ, ["A1", "A2", "A3", "B1"]),
        simulated=True,
    )


@dataclass
class Bench:
    """A finished run with all its files, against which what is left after a fault is judged."""

    place: Path
    benchmark: Benchmark
    result: Result
    files: dict[str, bytes]

    @classmethod
    def make(cls, place: Path) -> Bench:
        """Run once, undisturbed."""
        (place / "data").mkdir(parents=True)
        write_recordings(place / "data")
        bench = cls(place, benchmark_of(place / "data"), None, {})  # type: ignore[arg-type]
        bench.result = bench.run(place)
        for path in sorted(place.rglob("*")):
            name = path.relative_to(place).as_posix()
            # Notes on where cells were computed differ from run to run, and nothing depends on them.
            if path.is_file() and not name.startswith(("data/", "cache/origins/")):
                bench.files[name] = path.read_bytes()
        return bench

    def run(self, place: Path, listener: Listener | None = None) -> Result:
        """Run with the cache and the results of a folder, as a new process would."""
        folder = str(self.place / "data")
        for identity in [each for each in fingerprint._digests if each[0].startswith(folder)]:
            del fingerprint._digests[identity]
        sealed._checked.clear()
        return evaluate(
            Mean(),
            self.benchmark,
            "cross",
            cache=place / "cache",
            out=place / "out",
            progress=listener or Silence(),
        )

    def lay_out(self, place: Path, without_cells: bool = False, without_results: bool = False) -> None:
        """Put the files of the finished run into a folder."""
        shutil.rmtree(place, ignore_errors=True)
        for name, data in self.files.items():
            if (without_cells and name.endswith(".cell")) or (without_results and name.startswith("out/")):
                continue
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)

    def check_result(self, result: Result) -> None:
        """Assert that a result is the right one."""
        pd.testing.assert_frame_equal(result.predictions, self.result.predictions, check_exact=True)
        pd.testing.assert_frame_equal(
            result.unit_scores.table, self.result.unit_scores.table, check_exact=True
        )
        assert (result.score, result.record.run_key) == (self.result.score, self.result.record.run_key)

    def check_all(self, place: Path) -> None:
        """Assert that a folder holds the whole run again, and nothing half-written."""
        for name, data in self.files.items():
            if name.startswith("cache/"):
                assert (place / name).read_bytes() == data, name
        left = [path for path in place.rglob("*.part") if ".removed" not in path.parts]
        assert left == []
        good = []
        for folder in find_results([place / "out"]):
            with contextlib.suppress(InputError):
                good.append(load_result(folder))
        assert len(good) == 1
        self.check_result(good[0])


def flip(data: bytes, rng: random.Random) -> bytes:
    """Flip one or two bits."""
    changed = bytearray(data)
    for at in rng.sample(range(len(changed)), rng.choice((1, 2))):
        changed[at] ^= 1 << rng.randrange(8)
    return bytes(changed)


def cut(data: bytes, rng: random.Random) -> bytes:
    """Cut the end off, or turn it into zeros as a crashed file system does."""
    length = rng.randrange(len(data))
    return data[:length] + bytes(rng.choice((0, len(data) - length)))


def damage_and_repair(
    bench: Bench, place: Path, change: Callable[[bytes, random.Random], bytes], rng: random.Random
) -> None:
    """Damage one file of a finished run; nothing wrong is read, the file is named, and the next run repairs it."""
    name = rng.choice(sorted(bench.files))
    # While the cells are there nobody reads features.
    bench.lay_out(place, without_cells=name.startswith("cache/features/"))
    path = place / name
    path.write_bytes(change(bench.files[name], rng))
    if path.read_bytes() == bench.files[name]:
        return  # a cut of zeros at the end
    if name.startswith("out/"):
        try:
            found = load_result(path.parent)
        except InputError as error:
            assert str(path) in str(error)
        else:
            # White space of the record, or anything else that leaves its meaning.
            assert path.name == "record.json"
            bench.check_result(found)
    heard = Listener()
    bench.check_result(bench.run(place, heard))
    if name.startswith("cache/"):
        assert [str(path) in line for line in heard.lines] == [True]
    bench.check_all(place)
    if rng.random() < 0.25:
        quiet = Listener()
        bench.check_result(bench.run(place, quiet))
        assert quiet.lines == []


def run_in_child(work: Callable[[], Any]) -> int:
    """Run something in a forked process and return how it ended: an exit code, or minus a signal."""
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child == 0:
        code = 70
        try:
            signal.alarm(600)
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def count_acts(work: Callable[[], Any], folder: Path, counter: Path) -> int:
    """Return how many acts on files in a folder some work takes, counted in a process of its own."""

    def count() -> None:
        acts = [0]
        _watch(folder, lambda: acts.__setitem__(0, acts[0] + 1))
        work()
        counter.write_text(str(acts[0]))

    assert run_in_child(count) == 0
    return int(counter.read_text())


def kill_at(work: Callable[[], Any], folder: Path, number: int) -> int:
    """Run some work in a process that is killed before its n-th act on files in a folder."""

    def doomed() -> None:
        acts = [0]

        def step() -> None:
            acts[0] += 1
            if acts[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)

        _watch(folder, step)
        work()

    return run_in_child(doomed)


def kill_in_a_write(work: Callable[[], Any], size: int) -> int:
    """Run some work in a process that dies in the middle of the first file that grows beyond a size."""

    def doomed() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        work()

    return run_in_child(doomed)


def _watch(folder: Path, step: Callable[[], None]) -> None:
    start = str(folder)

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ACTS and any(
            isinstance(each, str | Path) and str(each).startswith(start) for each in arguments
        ):
            reads = event == "open" and isinstance(arguments[2], int) and not arguments[2] & os.O_ACCMODE
            if not reads:
                step()

    sys.addaudithook(hook)


@contextlib.contextmanager
def small_disk(place: Path) -> Iterator[Callable[[int], None]]:
    """Mount a disk of its own at a folder, and yield a function that changes its size in pages of 4 kB.

    Raises
    ------
    PermissionError
        When this process may not mount.
    """
    place.mkdir(parents=True)

    def mount(*options: str) -> None:
        ran = subprocess.run(
            ["mount", "-t", "tmpfs", "-o", ",".join(options), "tmpfs", str(place)],
            capture_output=True,
            text=True,
            check=False,
        )
        if ran.returncode:
            raise PermissionError(ran.stderr.strip() or "mount was refused")

    mount("size=4M")
    try:
        yield lambda pages: mount("remount", f"size={4 * pages}k")
    finally:
        subprocess.run(["umount", str(place)], check=True)


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Callable[[int], None]]]:
    """The folder of a small disk and what changes its size; tests skip where none can be mounted."""
    place = tmp_path_factory.mktemp("disk") / "small"
    try:
        with small_disk(place) as resize:
            yield place, resize
    except (PermissionError, FileNotFoundError) as error:
        pytest.skip(f"a small disk cannot be mounted here: {error}")
