"""The runtime of guests: an interpreter and pinned libraries in a tree of their own, with one digest over all of it.

A guest never sees the interpreter that neuroarena runs in: that one may lie in a private home, holds neuroarena and
whatever else was installed, and changes when somebody installs something. What it sees is a copy, made on first use.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import shutil
import stat
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from neuroarena import atomic
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.progress import Progress, Silence, readable_size

# What submitted code may import, as far as it is installed here, each with everything it requires.
PACKAGES = (
    *(
        "numpy",
        "scipy",
        "pandas",
        "pyarrow",
        "scikit-learn",
        "joblib",
        "threadpoolctl",
        "h5py",
        "pillow",
        "einops",
    ),
    *("torch", "safetensors", "torchaudio", "braindecode", "mne", "pyriemann"),
)
INSIDE = Path("/runtime")
PYTHON = INSIDE / "bin" / "python3"
SHARED_HOME = Path("/var/lib/neuroarena/runtimes")
# Large parts of the standard library that no submission runs.
_LEFT_OUT = {
    "test",
    "tests",
    "idlelib",
    "turtledemo",
    "ensurepip",
    "lib2to3",
    "site-packages",
    "dist-packages",
}
_CARD = "runtime.json"
_STAGE = "runtime"


@dataclass(frozen=True)
class Runtime:
    """A built runtime.

    Attributes
    ----------
    folder : Path
        What guests see as /runtime.
    digest : str
        SHA-256 over the sorted (path, mode, SHA-256) of every file but compiled bytecode.
    packages : tuple of str
        ``name==version`` of each library in it.
    """

    folder: Path
    digest: str
    packages: tuple[str, ...]


class NoRuntime(NeuroarenaError):
    """The runtime of guests is missing, damaged, or cannot be built."""


def find_runtime(progress: Progress | None = None) -> Runtime:
    """Return the runtime for this interpreter and its libraries; build it first where there is none.

    Raises
    ------
    NoRuntime
        When it was changed since it was built, or cannot be built here.

    Examples
    --------
    >>> len(find_runtime().digest)
    64
    """
    return _find(runtime_home(), progress or Silence())


def runtime_home() -> Path:
    """Return where runtimes are built: ``NEUROARENA_RUNTIMES``, the system's folder for root, or the user's cache."""
    named = os.environ.get("NEUROARENA_RUNTIMES")
    if named:
        return Path(named)
    if os.geteuid() == 0:
        return SHARED_HOME
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(cache) / "neuroarena" / "runtimes"


@functools.lru_cache(maxsize=4)
def _found(home: Path) -> Runtime | None:
    """Return the runtime that is there and unchanged; looked at once by each process."""
    name = _name()
    for place in (home / name, SHARED_HOME / name):
        if (place / _CARD).is_file():
            return _open(place)
    return None


def _find(home: Path, progress: Progress) -> Runtime:
    found = _found(home)
    if found is None:
        build_runtime(home, progress)
        _found.cache_clear()
        found = _found(home)
    assert found is not None
    return found


def _open(place: Path) -> Runtime:
    card = json.loads((place / _CARD).read_text(encoding="utf-8"))
    if _marks(place / "tree") != card["marks"]:
        raise NoRuntime(
            f"{place}: the runtime of guests was changed since it was built. Remove the folder; it is built anew."
        )
    return Runtime(place / "tree", card["digest"], tuple(card["packages"]))


def build_runtime(home: Path, progress: Progress | None = None) -> Path:
    """Copy the interpreter, its standard library and the libraries for guests, and return the new folder.

    Two processes that build at once build once. Everything is owned by the builder and readable by all.

    Raises
    ------
    NoRuntime
        When the folder cannot be written or there is not enough room.
    """
    progress = progress or Silence()
    place = home / _name()
    try:
        home.mkdir(parents=True, exist_ok=True)
        with open(home / f".{place.name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (place / _CARD).is_file():
                with tempfile.TemporaryDirectory(dir=home, prefix=".building-") as work:
                    _fill(Path(work), progress)
                    Path(work).chmod(0o755)
                    shutil.rmtree(place, ignore_errors=True)
                    os.rename(work, place)
                    # The block removes a folder of this name when it ends.
                    os.mkdir(work)
    except OSError as error:
        raise NoRuntime(f"{home}: the runtime of guests cannot be built: {error.strerror}.") from error
    return place


def check_lock(runtime: Runtime, file: Path) -> None:
    """Compare a runtime with a lock file, so that two machines run the same; write the file where there is none.

    Raises
    ------
    InputError
        When something differs; the first is named, and the file is left as it is.
    """
    lines = [f"# runtime {runtime.digest}", *runtime.packages]
    if not file.exists():
        atomic.write_text(file, "\n".join(lines) + "\n")
        return
    expected = [line.strip() for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
    for line in expected:
        if line not in lines:
            raise InputError(
                f"{file.name}: expects {line.removeprefix('# ')}, which is not what this machine has."
            )
    more = [line for line in lines if line not in expected]
    if more:
        raise InputError(f"{file.name}: does not expect {more[0]}, which this machine has.")


def _fill(work: Path, progress: Progress) -> None:
    distributions = list_distributions()
    sources = dict(_interpreter_files())
    for each in distributions:
        sources.update(_library_files(each))
    total = sum(source.stat().st_size for source in sources.values())
    progress.begin(_STAGE, len(sources))
    progress.say(_STAGE, f"building the runtime of guests once, {readable_size(total)}, in {work.parent}")
    tree = work / "tree"
    lines = []
    for path in sorted(sources):
        lines.append(_copy(sources[path], tree / path, path))
        progress.advance(_STAGE)
    for folder, _, _ in os.walk(tree):
        os.chmod(folder, 0o755)
    digest = hashlib.sha256("".join(line for line in lines if line).encode()).hexdigest()
    card = {
        "schema_version": 1,
        "python": platform.python_version(),
        "digest": digest,
        "packages": [f"{each.name}=={each.version}" for each in distributions],
        "marks": _marks(tree),
    }
    (work / _CARD).write_text(json.dumps(card, indent=1), encoding="utf-8")
    (work / _CARD).chmod(0o644)


def _copy(source: Path, target: Path, path: str) -> str:
    """Copy one file with its time, readable by all, and return its line of the digest; none for bytecode."""
    target.parent.mkdir(parents=True, exist_ok=True)
    hasher = hashlib.sha256()
    with source.open("rb") as read, target.open("wb") as written:
        while chunk := read.read(1 << 20):
            hasher.update(chunk)
            written.write(chunk)
    found = source.stat()
    mode = 0o755 if found.st_mode & stat.S_IXUSR else 0o644
    target.chmod(mode)
    # Bytecode is valid for the time of its source.
    os.utime(target, ns=(found.st_mtime_ns, found.st_mtime_ns))
    return "" if path.endswith(".pyc") else f"{path}\0{mode:o}\0{hasher.hexdigest()}\n"


def _marks(tree: Path) -> str:
    """Return a digest of name, size and time of every file: quick to take, and enough to see a change."""
    hasher = hashlib.sha256()
    waiting = [str(tree)]
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in sorted(entries, key=lambda each: each.name):
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                    continue
                found = entry.stat(follow_symlinks=False)
                mark = (entry.path[len(str(tree)) :], found.st_size, found.st_mtime_ns, found.st_mode)
                hasher.update(repr(mark).encode())
    return hasher.hexdigest()


def _interpreter_files() -> Iterator[tuple[str, Path]]:
    """Yield the interpreter's own files by their place in the tree."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    program = Path(os.path.realpath(getattr(sys, "_base_executable", sys.executable)))
    yield "bin/python3", program
    shared = sysconfig.get_config_var("INSTSONAME")
    if sysconfig.get_config_var("Py_ENABLE_SHARED") and shared:
        yield f"lib/{shared}", Path(str(sysconfig.get_config_var("LIBDIR"))) / shared
    for name in ("stdlib", "platstdlib"):
        library = Path(sysconfig.get_path(name, vars={"installed_base": sys.base_prefix}))
        for folder, names, files in os.walk(library):
            names[:] = [each for each in names if each not in _LEFT_OUT and not each.startswith("config-")]
            inside = PurePosixPath(sys.platlibdir, version, Path(folder).relative_to(library).as_posix())
            for file in files:
                source = Path(folder) / file
                if source.is_file():
                    yield str(inside / file), source


def _library_files(distribution: importlib.metadata.Distribution) -> Iterator[tuple[str, Path]]:
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for file in distribution.files or ():
        source = Path(str(file.locate()))
        # Scripts lie outside; a library is what can be imported.
        if ".." not in file.parts and source.is_file():
            yield str(PurePosixPath(sys.platlibdir, version, "site-packages", file.as_posix())), source


def list_distributions(packages: Sequence[str] = PACKAGES) -> list[importlib.metadata.Distribution]:
    """List the libraries for guests that are installed here, with all that they require, sorted by name."""
    from packaging.requirements import Requirement

    found: dict[str, importlib.metadata.Distribution] = {}
    waiting = list(packages)
    while waiting:
        name = waiting.pop().lower().replace("_", "-")
        if name in found or name == "neuroarena":
            continue
        try:
            found[name] = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            continue
        for text in found[name].requires or ():
            required = Requirement(text)
            if required.marker is None or required.marker.evaluate({"extra": ""}):
                waiting.append(required.name)
    return [found[name] for name in sorted(found)]


@functools.cache
def _name() -> str:
    """Return the name of this interpreter's runtime: versions of Python and of all libraries in it."""
    said = [f"{each.name}=={each.version}" for each in list_distributions()]
    build = [platform.python_version(), platform.machine(), sys.base_prefix, *said]
    return f"python-{platform.python_version()}-{hashlib.sha256(json.dumps(build).encode()).hexdigest()[:12]}"
