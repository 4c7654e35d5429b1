"""Plugin folders: packages that register benchmarks, data, metrics or models when they are imported.

A plugin is a folder with ``__init__.py`` (registration), ``benchmark.py`` and ``test.py``. Folders are found below
the paths given to :func:`add_plugins` and below those in the environment variable NEUROARENA_PLUGINS. Importing a
plugin runs its code: name only folders you trust.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from neuroarena.families.brainscore.errors import ConfigError

VARIABLE = "NEUROARENA_PLUGINS"
_PARENT = "neuroarena_plugins"

_imported: dict[Path, str | None] = {}


def add_plugins(path: str | Path) -> list[str]:
    """Import a plugin folder, or every plugin in a folder of them.

    Returns
    -------
    list of str
        Names of the plugins that were imported.

    Raises
    ------
    ConfigError
        When there is no such folder, no plugin in it, or when one cannot be imported; the message names it.
    """
    folder = Path(path).resolve()
    plugins = _plugins_in(folder)
    if not plugins:
        raise ConfigError(
            f"{path}: there is no plugin here. Expected a folder with __init__.py, or a folder of such folders."
        )
    for plugin in plugins:
        _import_once(plugin)
        problem = _imported[plugin]
        if problem is not None:
            # A plugin that was asked for by name may be fixed and asked for again.
            del _imported[plugin]
            raise ConfigError(f"The plugin {plugin} could not be imported: {problem}.")
    return [plugin.name for plugin in plugins]


def import_plugins() -> None:
    """Import every plugin of NEUROARENA_PLUGINS that is not imported yet; a broken one is remembered, not raised."""
    for text in os.environ.get(VARIABLE, "").split(os.pathsep):
        if text:
            folder = Path(text).resolve()
            if not folder.is_dir():
                raise ConfigError(f"${VARIABLE} names {text}, which is not a folder.")
            for plugin in _plugins_in(folder):
                _import_once(plugin)


def broken_plugins() -> dict[str, str]:
    """Return the plugins that could not be imported, with the reason."""
    return {str(folder): why for folder, why in _imported.items() if why is not None}


def _plugins_in(folder: Path) -> list[Path]:
    if (folder / "__init__.py").is_file():
        return [folder]
    if not folder.is_dir():
        return []
    return sorted(each.parent for each in folder.glob("*/__init__.py"))


def _import_once(plugin: Path) -> None:
    if plugin in _imported:
        return
    # Marked first: a plugin that loads a benchmark while being imported must not import itself again.
    _imported[plugin] = None
    try:
        _import(plugin)
    except (Exception, SystemExit) as error:  # the boundary to third-party code, which may raise anything
        _imported[plugin] = f"{type(error).__name__}: {error}"


def _import(plugin: Path) -> None:
    parent = sys.modules.setdefault(_PARENT, ModuleType(_PARENT))
    parent.__path__ = []
    # Two folders with the same name in different places are two plugins.
    mark = hashlib.sha256(str(plugin).encode()).hexdigest()[:8]
    name = f"{_PARENT}.{plugin.name}_{mark}"
    spec = importlib.util.spec_from_file_location(
        name, plugin / "__init__.py", submodule_search_locations=[str(plugin)]
    )
    if spec is None or spec.loader is None:
        raise ConfigError(f"{plugin} is not a package")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        for loaded in [each for each in sys.modules if each == name or each.startswith(f"{name}.")]:
            del sys.modules[loaded]
        raise
