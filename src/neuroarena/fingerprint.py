"""Fingerprints of values, files and code: what the cache keys and the records are made of."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
import functools
import hashlib
import importlib.util
import inspect
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from neuroarena.sealed import SealedFolder

PACKAGE = __name__.partition(".")[0]


def canonical_json(value: Any) -> str:
    """Return the canonical JSON text of a value: sorted keys, no spaces, no NaN.

    Tuples become lists, dataclasses become objects, and paths become text.

    Raises
    ------
    TypeError
        When the value holds something that has no JSON form (an array, a function).

    Examples
    --------
    >>> canonical_json({"b": (1, 2), "a": None})
    '{"a":null,"b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "item") and getattr(value, "shape", None) == ():
        return value.item()
    raise TypeError(f"{type(value).__name__} has no canonical JSON form")


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON of a value, in hexadecimal."""
    return hashlib.sha256(canonical_json(value).encode("utf-8")).hexdigest()


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file's content; it is remembered as long as size and times do not change."""
    path = os.path.realpath(path)
    status = os.stat(path)
    identity = (path, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)
    if identity not in _digests:
        _digests[identity] = _recall_digest(path, identity)
    return _digests[identity]


_digests: dict[tuple[str, int, int, int, int], str] = {}
_memory: SealedFolder | None = None


def remember_digests_in(cache: Path) -> None:
    """Keep the digests of large files in a cache, so that the next process need not read them again."""
    global _memory
    _memory = SealedFolder(cache)


def _recall_digest(path: str, identity: tuple[str, int, int, int, int]) -> str:
    memory = _memory if identity[1] >= 2**20 else None
    note = f"digests/{digest(identity)}.note"
    remembered = memory.read(note) if memory is not None else None
    if remembered is not None:
        return str(remembered, "ascii")
    with open(path, "rb") as file:
        content = hashlib.file_digest(file, "sha256").hexdigest()
    if memory is not None:
        memory.write(note, content.encode("ascii"))
    return content


def code_fingerprint(thing: Any) -> str:
    """Fingerprint the code behind an object: its module and every module of its package that it imports.

    Parameters
    ----------
    thing
        A module, class, function, or an instance of a class.

    Returns
    -------
    str
        SHA-256 over the sources of the module that defines `thing` and, transitively, of the
        modules it imports from the same top-level package, from files beside a single-file module,
        or from neuroarena. Editing any of them changes the fingerprint; editing anything else does not.

    Raises
    ------
    ValueError
        When there is no source to read, as for something defined at an interactive prompt.
    """
    name = _module_of(thing).__name__
    if _known_code is None:
        return _module_fingerprint(name)
    if name not in _known_code:
        _known_code[name] = _module_fingerprint(name)
    return _known_code[name]


_known_code: dict[str, str] | None = None


@contextlib.contextmanager
def reading_code_once() -> Iterator[None]:
    """Fingerprint each module at most once while the block runs.

    A plan of many decoders asks for the same modules again and again (80 ms each time); the next plan reads them
    anew, so that an edit between two plans is seen.
    """
    global _known_code
    before = _known_code
    _known_code = {} if before is None else before
    try:
        yield
    finally:
        _known_code = before


def _module_of(thing: Any) -> ModuleType:
    if isinstance(thing, ModuleType):
        return thing
    owner = thing if inspect.isclass(thing) or inspect.isroutine(thing) else type(thing)
    module = sys.modules.get(owner.__module__)
    if module is None or not getattr(module, "__file__", None):
        raise ValueError(f"{owner.__module__}.{owner.__qualname__} has no source file to fingerprint")
    return module


def _module_fingerprint(name: str) -> str:
    sources: dict[str, str] = {}
    waiting, met = [name], {name}
    while waiting:
        current = waiting.pop()
        path = _source_path(current)
        if path is None:
            continue
        # The entry script is known as __main__ in one process and __mp_main__ in its workers.
        label = "__main__" if current == "__mp_main__" else current
        sources[label] = file_digest(path)
        found = [each for each in _imports(path, current, sources[label]) if each not in met]
        met.update(found)
        waiting.extend(found)
    if not sources:
        raise ValueError(f"{name} has no source file to fingerprint")
    return digest(sources)


def _source_path(name: str) -> str | None:
    """Find the source of a module without importing it or its parents; None if it is not a module.

    Asked for hundreds of names at every evaluation, so paths are plain text here.
    """
    file = getattr(sys.modules.get(name), "__file__", None)
    if file is not None:
        return file if file.endswith(".py") and os.path.exists(file) else None
    parent = sys.modules.get(name.rpartition(".")[0])
    if parent is not None and not hasattr(parent, "__path__"):
        return None  # a class or a function of a module
    top, *rest = name.split(".")
    package = sys.modules.get(top) or importlib.util.find_spec(top)
    if not rest:
        origin = getattr(package, "origin", None)
        if isinstance(origin, str) and origin.endswith(".py"):
            return origin
    roots = getattr(package, "__path__", None) or getattr(package, "submodule_search_locations", None) or ()
    for root in roots:
        place = os.path.join(root, *rest)
        for path in (os.path.join(place, "__init__.py"), f"{place}.py"):
            if os.path.exists(path):
                return path
    return None


@functools.lru_cache(maxsize=4096)
def _imports(path: str, module: str, content: str) -> tuple[str, ...]:  # noqa: ARG001 - part of the cache key
    """List the modules of its own package, and of neuroarena, that a source file names in imports."""
    own = module.partition(".")[0]
    names: set[str] = set()
    package = module if path.endswith("__init__.py") else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parent = package.split(".")
                base = ".".join([*parent[: len(parent) - node.level + 1], *filter(None, [node.module])])
            names.add(base)
            names.update(f"{base}.{alias.name}" for alias in node.names)
    beside = Path(path).parent if module == own and not path.endswith("__init__.py") else None
    return tuple(sorted(name for name in names if _is_followed(name.partition(".")[0], own, beside)))


def _is_followed(top: str, own: str, beside: Path | None) -> bool:
    """Return whether an imported module is part of the fingerprint: ours, its own, or a file beside it."""
    if top in (own, PACKAGE):
        return True
    return beside is not None and ((beside / f"{top}.py").exists() or (beside / top / "__init__.py").exists())
