"""The runtime of guests: an interpreter and pinned libraries in a tree of their own, with one digest over all of it.

A guest never sees the interpreter that neuroarena runs in: that one may lie in a private home, holds neuroarena and
whatever else was installed, and changes when somebody installs something. What it sees is a copy, made on first use;
or, where a competition names one, a runtime that was built from a lock file (:mod:`.runtime_lock`).
"""

from __future__ import annotations

import contextlib
import contextvars
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
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

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
CARD = "runtime.json"
_STAGE = "runtime"
_chosen: contextvars.ContextVar[str | None] = contextvars.ContextVar("runtime of guests", default=None)
# Cards of runtimes that this process uses, open and locked for sharing: what is in use is not pruned.
_held: dict[Path, int] = {}


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
    lock_sha256 : str, optional
        Of the lock file that it was built from; None for a copy of this interpreter's libraries.
    """

    folder: Path
    digest: str
    packages: tuple[str, ...]
    lock_sha256: str | None = None


@dataclass(frozen=True)
class Ingredients:
    """What a runtime is made of: files by their place in the tree, and what its card says of them."""

    sources: dict[str, Path]
    packages: tuple[str, ...]
    lock_sha256: str | None = None


class NoRuntime(NeuroarenaError):
    """The runtime of guests is missing, damaged, or cannot be built."""


def find_runtime(progress: Progress | None = None) -> Runtime:
    """Return the runtime that was chosen; else the one for this interpreter and its libraries, built on first use.

    What is chosen is a digest: by :func:`using_runtime`, or by ``NEUROARENA_RUNTIME`` in the environment.

    Raises
    ------
    NoRuntime
        When it was changed since it was built, or cannot be built here.

    Examples
    --------
    >>> len(find_runtime().digest)
    64
    """
    digest = _chosen.get() or os.environ.get("NEUROARENA_RUNTIME")
    return _find(runtime_home(), progress or Silence()) if digest is None else find_named(digest)


@contextlib.contextmanager
def using_runtime(digest: str | None) -> Iterator[None]:
    """Let guests that this thread starts run in the runtime of a digest; None leaves the choice as it is."""
    if digest is None:
        yield
        return
    token = _chosen.set(digest)
    try:
        yield
    finally:
        _chosen.reset(token)


def find_named(digest: str, homes: Sequence[Path] = ()) -> Runtime:
    """Return the runtime of a digest that was built on this machine, in its usual places or those that are given.

    Raises
    ------
    NoRuntime
        When there is none, or it was changed since it was built.
    """
    for home in dict.fromkeys(homes or (runtime_home(), SHARED_HOME)):
        for card in sorted(home.glob(f"*/{CARD}")):
            if read_card(card.parent)["digest"] == digest:
                return _open_once(card.parent)
    raise NoRuntime(
        f"This machine has no runtime of guests with the digest {digest[:12]}. Build it from the competition's lock "
        "file: neuroarena admin runtime build FILE"
    )


def read_card(place: Path) -> dict[str, Any]:
    """Return what a runtime says about itself."""
    card: dict[str, Any] = json.loads((place / CARD).read_text(encoding="utf-8"))
    return card


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
    name = name_installed()
    for place in (home / name, SHARED_HOME / name):
        if (place / CARD).is_file():
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


@functools.lru_cache(maxsize=8)
def _open_once(place: Path) -> Runtime:
    """Return a runtime; whether it was changed is looked at once by each process."""
    return _open(place)


def _open(place: Path) -> Runtime:
    if place not in _held:
        _held[place] = os.open(place / CARD, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(_held[place], fcntl.LOCK_SH)
    card = read_card(place)
    if _marks(place / "tree") != card["marks"]:
        raise NoRuntime(
            f"{place}: the runtime of guests was changed since it was built. Remove the folder; it is built anew."
        )
    return Runtime(place / "tree", card["digest"], tuple(card["packages"]), card.get("lock_sha256"))


def build_runtime(home: Path, progress: Progress | None = None) -> Path:
    """Copy the interpreter, its standard library and the libraries for guests, and return the new folder.

    Two processes that build at once build once. Everything is owned by the builder and readable by all.

    Raises
    ------
    NoRuntime
        When the folder cannot be written or there is not enough room.
    """
    return build_tree(home, name_installed(), _gather_installed, progress or Silence())


def build_tree(home: Path, name: str, gather: Callable[[Path], Ingredients], progress: Progress) -> Path:
    """Build a runtime under a name, unless it is there, from what `gather` finds or puts into a folder for it.

    Raises
    ------
    NoRuntime
        When the folder cannot be written or there is not enough room.
    """
    place = home / name
    try:
        home.mkdir(parents=True, exist_ok=True)
        with open(home / f".{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not (place / CARD).is_file():
                with (
                    tempfile.TemporaryDirectory(dir=home, prefix=f".building-{name}-") as work,
                    tempfile.TemporaryDirectory(dir=home, prefix=f".building-{name}-") as gathered,
                ):
                    _fill(Path(work), gather(Path(gathered)), progress)
                    Path(work).chmod(0o755)
                    shutil.rmtree(place, ignore_errors=True)
                    os.rename(work, place)
                    # The block removes a folder of this name when it ends.
                    os.mkdir(work)
    except OSError as error:
        raise NoRuntime(f"{home}: the runtime of guests cannot be built: {error.strerror}.") from error
    return place


def check_listing(runtime: Runtime, file: Path) -> None:
    """Compare a runtime with a file that lists it, so that two machines run the same; write it where there is none.

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


def _gather_installed(folder: Path) -> Ingredients:  # noqa: ARG001 - nothing needs to be put anywhere first
    distributions = list_distributions()
    sources = dict(interpreter_files())
    for each in distributions:
        sources.update(_library_files(each))
    return Ingredients(sources, tuple(f"{each.name}=={each.version}" for each in distributions))


def _fill(work: Path, made_of: Ingredients, progress: Progress) -> None:
    sources = made_of.sources
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
        "packages": list(made_of.packages),
        "lock_sha256": made_of.lock_sha256,
        "marks": _marks(tree),
    }
    (work / CARD).write_text(json.dumps(card, indent=1), encoding="utf-8")
    (work / CARD).chmod(0o644)


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


def interpreter_files() -> Iterator[tuple[str, Path]]:
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
    for file in distribution.files or ():
        source = Path(str(file.locate()))
        # Scripts lie outside; a library is what can be imported.
        if ".." not in file.parts and source.is_file():
            yield place_library(file.as_posix()), source


def place_library(file: str) -> str:
    """Return the place in the tree of a file of a library."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return str(PurePosixPath(sys.platlibdir, version, "site-packages", file))


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
def name_installed() -> str:
    """Return the name of this interpreter's runtime: versions of Python and of all libraries in it."""
    return name_build(f"{each.name}=={each.version}" for each in list_distributions())


def name_build(content: Iterable[str]) -> str:
    """Return the name of a runtime of this interpreter with some content."""
    build = [platform.python_version(), platform.machine(), sys.base_prefix, *content]
    return f"python-{platform.python_version()}-{hashlib.sha256(json.dumps(build).encode()).hexdigest()[:12]}"
