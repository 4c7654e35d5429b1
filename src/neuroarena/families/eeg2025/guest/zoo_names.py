"""What braindecode needs beside a CPU build of torch, and a name that it has given up since 2025.

Used on both sides: inside the sandbox, where a submission imports braindecode, and by the package's own decoder. It
imports nothing of the package, and nothing at all until braindecode is imported.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.metadata
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any

_EXTENSION = "torchaudio._extension"
_MODELS = "braindecode.models"
# The start kit of 2025 builds EEGNetv4; later versions call the same network EEGNet.
_OLD_NAMES = {"EEGNetv4": "EEGNet"}


def prepare_imports() -> None:
    """Make later imports of braindecode work; calling it twice changes nothing more.

    braindecode imports torchaudio, whose usual build loads CUDA libraries that are absent beside a CPU torch. The
    networks of EEG need none of that, so a stand-in that reports every compiled part as missing takes its place. It is
    used only where torch has no CUDA and torchaudio is not a CPU build.
    """
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder(importlib.abc.MetaPathFinder):
    """Finds the two modules that need help, and nothing else."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return how to load a module; None for all that the usual finders can load as they are."""
        if fullname == _EXTENSION and _lacks_cuda():
            return importlib.machinery.ModuleSpec(fullname, _StandIn())
        if fullname != _MODELS:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path)
        if spec is not None and spec.loader is not None:
            spec.loader = _WithOldNames(spec.loader)
        return spec


def _lacks_cuda() -> bool:
    import torch

    return torch.version.cuda is None and not importlib.metadata.version("torchaudio").endswith("+cpu")


class _StandIn(importlib.abc.Loader):
    """Makes a module that reports every compiled extension of torchaudio as missing."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        """Leave the making of the module to Python."""
        return None

    def exec_module(self, module: types.ModuleType) -> None:
        """Fill the module."""

        def leave(function: Any) -> Any:
            return function

        def decorate(*_: Any, **__: Any) -> Callable[[Any], Any]:
            return leave

        names: dict[str, Any] = {
            "_IS_TORCHAUDIO_EXT_AVAILABLE": False,
            "_IS_RIR_AVAILABLE": False,
            "_IS_ALIGN_AVAILABLE": False,
            "lazy_import_sox_ext": decorate,
            "fail_if_no_rir": leave,
            "fail_if_no_align": leave,
            "_check_cuda_version": lambda: None,
        }
        vars(module).update(names)


class _WithOldNames(importlib.abc.Loader):
    """Loads a module as its own loader does, then adds the names that it once had."""

    def __init__(self, loader: importlib.abc.Loader) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType | None:
        """Make the module as its own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module, and add what is missing."""
        self._loader.exec_module(module)
        for old, new in _OLD_NAMES.items():
            if not hasattr(module, old) and hasattr(module, new):
                setattr(module, old, getattr(module, new))
