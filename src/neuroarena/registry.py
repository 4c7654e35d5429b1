"""Registries of names: built in, registered in this process, or provided by other packages."""

from __future__ import annotations

import difflib
import functools
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Generic, TypeVar

from neuroarena.errors import InputError, UnknownName

T = TypeVar("T")


class Registry(Generic[T]):
    """Find a thing of one kind by its name.

    Three sources, in this order: what was registered in this process with :meth:`register`, what a
    general room provides (written as ``module:attribute`` so that nothing is imported before it is asked
    for), and the entry points of installed packages, which is also how neuroarena's own families
    come. A name with a colon is itself an address.

    Parameters
    ----------
    kind : str
        What the names stand for, as errors say it: "decoder", "benchmark", ...
    group : str
        Name of the entry-point group other packages use.
    builtin : mapping of str to str, optional
        Name to ``module:attribute``, of what belongs to a general room.
    plural : str, optional
        The word `neuroarena list` takes.
    """

    def __init__(
        self, kind: str, group: str, builtin: Mapping[str, str] | None = None, plural: str | None = None
    ) -> None:
        self.kind = kind
        self.group = group
        self.plural = plural or _pluralise(kind)
        self._builtin = dict(builtin or {})
        self._registered: dict[str, T] = {}

    def register(self, name: str) -> Callable[[T], T]:
        """Register the decorated object under `name`, for this process.

        Examples
        --------
        >>> shapes: Registry[type] = Registry("shape", "example.shapes", {})
        >>> @shapes.register("circle")
        ... class Circle: ...
        >>> shapes.get("circle") is Circle
        True
        """

        def keep(thing: T) -> T:
            if name in self._registered or name in self._builtin or name in self._entry_points():
                raise InputError(f'There is already a {self.kind} "{name}". Choose another name.')
            self._registered[name] = thing
            return thing

        return keep

    def names(self) -> list[str]:
        """List every known name, sorted."""
        return sorted({*self._registered, *self._builtin, *self._entry_points()})

    def origin(self, name: str) -> str:
        """Return where a name comes from: "neuroarena", "this process", or the package that provides it."""
        if name in self._registered:
            return "this process"
        if name in self._builtin:
            return "neuroarena"
        point = self._entry_points()[name]
        return point.dist.name if point.dist is not None else point.value

    def is_builtin(self, name: str) -> bool:
        """Return whether a general room provides a name, rather than a family, another package or this process."""
        return name in self._builtin and name not in self._registered

    def get(self, name: str) -> T:
        """Return what `name` stands for.

        Raises
        ------
        UnknownName
            With the closest names, when there is nothing of that name.
        """
        if name in self._registered:
            return self._registered[name]
        if name in self._builtin:
            return self._load(name, self._builtin[name])
        if ":" in name:
            return self._load(name, name)
        points = self._entry_points()
        if name in points:
            return self._load(name, points[name].value)
        raise unknown_name(self.kind, name, self.names(), self.plural)

    def _entry_points(self) -> dict[str, EntryPoint]:
        return installed_points(self.group)

    def _load(self, name: str, address: str) -> T:
        module_name, _, attribute = address.partition(":")
        try:
            found: Any = importlib.import_module(module_name)
            for part in attribute.split("."):
                found = getattr(found, part)
        except (
            Exception,
            SystemExit,
        ) as error:  # a third-party module may raise anything
            raise InputError(
                f'The {self.kind} "{name}" cannot be loaded from {address}: {type(error).__name__}: {error}. '
                "Expected module:attribute with the module importable from here."
            ) from error
        return found  # type: ignore[no-any-return]


def installed_points(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; installed packages are read once for each ``sys.path``."""
    return _points_below(group, tuple(sys.path))


@functools.cache
def _points_below(group: str, _: tuple[str, ...]) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=group)}


# If there are only this many names, all of them are listed.
_FEW = 6


def unknown_name(kind: str, name: str, known: Iterable[str], plural: str | None) -> UnknownName:
    """Make the error for an unknown name, with the closest known ones.

    `plural` is the word that ``neuroarena list`` takes; without one, all known names are listed.
    """
    listed = list(known)
    close = difflib.get_close_matches(name, listed, n=3, cutoff=0.5)
    hint = f" Did you mean {' or '.join(chr(34) + match + chr(34) for match in close)}?" if close else ""
    if not close and 0 < len(listed) <= _FEW:
        noun = kind.partition(" of ")[0].split()[-1]
        hint = f" {_pluralise(noun).capitalize()}: {', '.join(listed)}."
    if plural is None:
        closest = hint if close else ""
        return UnknownName(f'No {kind} "{name}".{closest} There are: {", ".join(listed) or "none"}.')
    return UnknownName(f'No {kind} "{name}".{hint} See: neuroarena list {plural}')


def _pluralise(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
