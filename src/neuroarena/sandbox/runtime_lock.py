"""A runtime of guests from a lock file: every library by version and SHA-256, installed by pip, and nothing else."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from neuroarena.errors import InputError
from neuroarena.progress import Progress, Silence
from neuroarena.sandbox.runtime import (
    Ingredients,
    NoRuntime,
    Runtime,
    build_tree,
    find_named,
    interpreter_files,
    name_build,
    place_library,
    read_card,
    runtime_home,
)

_PINNED = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[A-Za-z0-9.!+_-]+)"
    r"(?P<hashes>(?:\s+--hash=sha256:[0-9a-f]{64})+)"
)
_MOST_BYTES = 10 * 2**20


@dataclass(frozen=True)
class Lock:
    """A lock file that was read: its SHA-256, and ``name==version`` of each library."""

    file: Path
    sha256: str
    packages: tuple[str, ...]


def read_lock(file: str | Path) -> Lock:
    """Read a lock file: requirements of pip with ``==`` and ``--hash=sha256:``, one library each, and nothing else.

    ``pip-compile --generate-hashes`` and ``uv pip compile --generate-hashes`` write such files.

    Raises
    ------
    InputError
        At the first line that is anything else; file and line are named.
    """
    file = Path(file)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise InputError(f"{file}: there is no such file. Expected a lock file of pip.") from error
    if len(content) > _MOST_BYTES:
        raise InputError(f"{file.name}: this is too long for a lock file of pip.")
    packages: dict[str, str] = {}
    for number, line in _logical_lines(content.decode("utf-8", errors="replace")):
        found = _PINNED.fullmatch(line)
        if found is None:
            raise InputError(
                f'{file.name}: line {number} ("{line[:60]}") does not pin a library. Expected '
                "NAME==VERSION --hash=sha256:..., as pip-compile --generate-hashes writes it. Nothing was built."
            )
        name = re.sub(r"[-_.]+", "-", found["name"]).lower()
        if name == "neuroarena" or name in packages:
            why = (
                "names neuroarena, which guests never see" if name == "neuroarena" else f"names {name} again"
            )
            raise InputError(f"{file.name}: line {number} {why}. Nothing was built.")
        packages[name] = f"{name}=={found['version']}"
    if not packages:
        raise InputError(f"{file.name}: pins no library. Nothing was built.")
    ordered = tuple(packages[name] for name in sorted(packages))
    return Lock(file, hashlib.sha256(content).hexdigest(), ordered)


def build_locked(
    file: str | Path,
    *,
    wheels: Path | None = None,
    home: Path | None = None,
    progress: Progress | None = None,
) -> Runtime:
    """Build the runtime of a lock file, unless it is there, and return it.

    pip installs wheels alone, whose hashes it compares (``--require-hashes``); no code of a library runs. Everything is
    owned by the builder and readable by all.

    Parameters
    ----------
    file : path
    wheels : Path, optional
        A folder of wheels to install from, without the network.
    home : Path, optional
        Where runtimes are kept on this machine.
    progress : Progress, optional

    Raises
    ------
    InputError
        When the lock file is refused, or pip refuses it: a hash differs, or a requirement is not in it.
    NoRuntime
        When it cannot be written.
    """
    lock = read_lock(file)
    place = build_tree(
        home or runtime_home(),
        name_build(["lock", lock.sha256]),
        lambda folder: _install(lock, folder, wheels),
        progress or Silence(),
    )
    return find_named(read_card(place)["digest"], (place.parent,))


def _install(lock: Lock, folder: Path, wheels: Path | None) -> Ingredients:
    source = ["--no-index", "--find-links", str(wheels.resolve())] if wheels is not None else []
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--require-hashes", "--only-binary", ":all:", "--target", str(folder / "site"), *source]
    command += ["--requirement", str(lock.file.resolve())]
    plain = {
        name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PIP_CONSTRAINT")
    }
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=plain)
    if ran.returncode != 0:
        said = [line.strip() for line in ran.stderr.splitlines() if line.strip()]
        first = next((line for line in said if line.startswith("ERROR")), said[-1] if said else "no reason")
        raise InputError(
            f"{lock.file.name}: pip refused it: {first.removeprefix('ERROR: ')} Nothing was built."
        )
    site = folder / "site"
    if not site.is_dir():
        raise NoRuntime(f"{lock.file.name}: pip installed nothing.")
    sources = dict(interpreter_files())
    for path in sorted(site.rglob("*")):
        inside = path.relative_to(site)
        # Scripts are not what can be imported, and pip notes where a wheel came from on this machine.
        if path.is_file() and inside.parts[0] != "bin" and path.name not in ("direct_url.json", "REQUESTED"):
            sources[place_library(inside.as_posix())] = path
    return Ingredients(sources, lock.packages, lock.sha256)


def _logical_lines(text: str) -> list[tuple[int, str]]:
    """Return requirements with the number of the line each begins at: comments gone, continued lines joined."""
    found: list[tuple[int, str]] = []
    held: list[str] = []
    begun = 0
    for number, raw in enumerate(text.splitlines(), start=1):
        line = re.sub(r"(^|\s)#.*$", "", raw).strip()
        if not held:
            begun = number
        if line.endswith("\\"):
            held.append(line[:-1].strip())
            continue
        held.append(line)
        whole = " ".join(part for part in held if part)
        held = []
        if whole:
            found.append((begun, whole))
    if held:
        found.append((begun, " ".join(held)))
    return found
