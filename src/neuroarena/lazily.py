"""Names of a package that are imported when they are first used, so that importing the package stays light."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from neuroarena.errors import MissingDependency


def lazy_names(
    package: str,
    modules: Mapping[str, tuple[str, ...]],
    extra: str | None = None,
    libraries: tuple[str, ...] = (),
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Make the ``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names live in other modules.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    modules : mapping of str to tuple of str
        Module to the names that live in it; a module of the package itself begins with a dot.
    extra, libraries
        The extra that installs the optional libraries these modules import; a missing one is then named.

    Examples
    --------
    >>> getter, lister, names = lazy_names("neuroarena", {".errors": ("InputError",)})
    >>> getter("InputError").__name__, names
    ('InputError', ['InputError'])
    """

    homes = {name: module for module, names in modules.items() for name in names}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = homes[name]
        with name_extra(extra or "", libraries, f"{package}.{name}"):
            module = importlib.import_module(home if not home.startswith(".") else package + home)
        value = getattr(module, name)
        setattr(sys.modules[package], name, value)
        return value

    names = sorted(homes)
    return find, lambda: names, names


@contextmanager
def name_extra(extra: str, libraries: tuple[str, ...], purpose: str) -> Iterator[None]:
    """Name the extra that brings a missing library, where imports of optional modules fail.

    Raises
    ------
    MissingDependency
        When one of the libraries is not installed.

    Examples
    --------
    >>> with name_extra("vision", ("xarray",), "Reading assemblies"):
    ...     import json
    """
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in libraries:
            raise
        raise MissingDependency(str(error.name), extra, purpose) from error


def lazy_function(address: str) -> Callable[..., Any]:
    """Make a function that is imported from ``module:attribute`` when it is first called.

    Examples
    --------
    >>> lazy_function("math:sqrt")(9.0)
    3.0
    """
    module, _, attribute = address.partition(":")

    def call(*given: Any, **options: Any) -> Any:
        return getattr(importlib.import_module(module), attribute)(*given, **options)

    call.__name__ = attribute
    call.__doc__ = f"Call :func:`{module}.{attribute}`, which is imported only then."
    return call
