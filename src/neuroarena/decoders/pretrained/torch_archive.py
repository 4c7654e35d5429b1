"""Read a torch checkpoint without running anything in it.

A checkpoint is a zip of raw tensor data and one pickle that says how they are put together. A
pickle is a program: it may name any function and call it. Here a name means only what the
tables below say: tensors become descriptions of where their data are, the configuration classes that the
published files carry become inert stand-ins, and any other name ends the reading.
"""

from __future__ import annotations

import io
import math
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from neuroarena.errors import InputError
from neuroarena.pickles import BoundedFile, PickleReader, StrangeName, demand

_LARGEST_PROGRAM = 64 << 20
_STORAGES = {
    "FloatStorage": "<f4",
    "DoubleStorage": "<f8",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "ShortStorage": "<i2",
    "CharStorage": "|i1",
    "ByteStorage": "|u1",
    "BoolStorage": "|b1",
}
# The classes of a configuration made with OmegaConf, and what else its pickles name. They are
# read as inert stand-ins: attributes without behaviour. torch.save writes the old names of Python 2
# for built-in types, so `int` is found as `__builtin__.long`. Seen in files of OmegaConf 2.0, 2.1 and 2.3.
CONFIGURATION_CLASSES = frozenset(
    {
        "omegaconf.dictconfig.DictConfig",
        "omegaconf.listconfig.ListConfig",
        "omegaconf.base.ContainerMetadata",
        "omegaconf.base.Metadata",
        "omegaconf.nodes.AnyNode",
        "omegaconf.nodes.BooleanNode",
        "omegaconf.nodes.FloatNode",
        "omegaconf.nodes.IntegerNode",
        "omegaconf.nodes.StringNode",
        "typing.Any",
        *(
            f"{module}.{name}"
            for module in ("builtins", "__builtin__")
            for name in ("bool", "dict", "float", "int", "list", "str", "long", "unicode")
        ),
    }
)


class Refused(InputError):
    """The file names something that a checkpoint of tensors does not need."""


@dataclass(frozen=True)
class StoredTensor:
    """Where a tensor's numbers are in the archive; they are read only when asked for."""

    storage: str
    dtype: str
    n_stored: int
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


@dataclass(frozen=True)
class Storage:
    """One run of raw numbers in the archive."""

    key: str
    dtype: str
    n_stored: int


class TorchArchive:
    """An opened checkpoint.

    Parameters
    ----------
    path : Path
        A file written by torch.save (torch 1.6 or newer).

    Raises
    ------
    InputError
        When the file is not such a zip, is truncated, or its program cannot be read.
    Refused
        When the program names anything but tensors, plain containers and configuration classes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self._zip = zipfile.ZipFile(path)
            programs = [name for name in self._zip.namelist() if name.endswith("/data.pkl")]
            if len(programs) != 1:
                raise InputError(
                    f"{path}: not a torch checkpoint: it holds {len(programs)} files data.pkl, not one."
                )
            self._root = programs[0].removesuffix("data.pkl")
            self.content = _run(self._bytes("data.pkl", _LARGEST_PROGRAM), str(path))
        except (zipfile.BadZipFile, OSError, EOFError) as error:
            raise InputError(
                f"{path}: not a complete torch checkpoint ({error}). Fetch the file again."
            ) from error

    def read(self, tensor: StoredTensor, name: str) -> np.ndarray:
        """Read the numbers of a tensor; `name` is what errors call it.

        Raises
        ------
        InputError
            When its data are missing, too short, or do not cover its shape.
        """
        dtype = np.dtype(tensor.dtype)
        where = f"{self.path}: tensor {name}"
        if any(value < 0 for value in (*tensor.shape, *tensor.strides, tensor.offset, tensor.n_stored)):
            raise InputError(f"{where} has a negative size. The file is damaged.")
        reach = sum((size - 1) * step for size, step in zip(tensor.shape, tensor.strides, strict=True))
        # A stride of zero would make a small file into a huge array.
        if math.prod(tensor.shape) > tensor.n_stored or tensor.offset + reach >= max(tensor.n_stored, 1):
            raise InputError(
                f"{where} of shape {tensor.shape} reaches beyond its {tensor.n_stored} stored numbers."
            )
        try:
            raw = self._bytes(f"data/{tensor.storage}", tensor.n_stored * dtype.itemsize)
        except (KeyError, zipfile.BadZipFile, EOFError, OSError) as error:
            raise InputError(f"{where}: its data cannot be read ({error}). Fetch the file again.") from error
        if len(raw) != tensor.n_stored * dtype.itemsize:
            raise InputError(
                f"{where}: {len(raw)} bytes are stored, expected {tensor.n_stored * dtype.itemsize}. "
                "Fetch the file again."
            )
        if 0 in tensor.shape:
            return np.empty(tensor.shape, dtype=dtype)
        strides = [step * dtype.itemsize for step in tensor.strides]
        flat = np.frombuffer(raw, dtype=dtype)[tensor.offset :]
        return np.lib.stride_tricks.as_strided(flat, tensor.shape, strides, writeable=False).copy()

    def _bytes(self, name: str, most: int) -> bytes:
        entry = self._zip.getinfo(self._root + name)
        if entry.compress_type != zipfile.ZIP_STORED:
            raise InputError(f"{self.path}: {entry.filename} is compressed; torch never does that. Refused.")
        if entry.file_size > most:
            raise InputError(
                f"{self.path}: {entry.filename} holds {entry.file_size} bytes, expected no more than {most}."
            )
        return self._zip.read(entry)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()


def _run(program: bytes, name: str) -> Any:
    try:
        return _Reader(BoundedFile(io.BytesIO(program), len(program)), _known_names(), "utf-8").load()
    except StrangeName as error:
        raise Refused(
            f"{name}: its pickle names {error.name}, which no table of weights needs. "
            "It was not run, and nothing was written."
        ) from error
    except pickle.UnpicklingError as error:
        raise InputError(
            f"{name}: its table of contents cannot be read ({error}). Fetch the file again."
        ) from error


class _Reader(PickleReader):
    """Also makes stand-ins for configuration objects, and resolves references to stored data."""

    def persistent_load(self, pid: Any) -> Storage:
        known = isinstance(pid, tuple) and len(pid) == 5 and pid[0] == "storage" and isinstance(pid[1], str)
        if not known or not isinstance(pid[2], str) or not isinstance(pid[4], int):
            raise pickle.UnpicklingError("it refers to data in an unknown way")
        return Storage(pid[2], _STORAGES[pid[1].removeprefix("dtype ")], pid[4])

    def _load_newobj(self) -> None:
        given = self.stack.pop()  # type: ignore[attr-defined]
        kind = self.stack.pop()  # type: ignore[attr-defined]
        demand(isinstance(kind, type) and isinstance(given, tuple), "a new object")
        self.demand_known(kind)
        self.append(kind())  # type: ignore[attr-defined]

    dispatch: ClassVar[dict[int, Any]] = {
        **PickleReader.dispatch,
        pickle.BINPERSID[0]: pickle._Unpickler.dispatch[pickle.BINPERSID[0]],
        pickle.NEWOBJ[0]: _load_newobj,
    }


def _known_names() -> dict[str, Any]:
    """Make a new table of names for each file: a program must find no lasting state."""
    return {
        "collections.OrderedDict": _dictionary(),
        "collections.defaultdict": _dictionary(),
        "torch._utils._rebuild_tensor_v2": _tensor_maker(),
        "torch._utils._rebuild_parameter": _parameter_maker(),
        **{f"torch.{storage}": f"dtype {storage}" for storage in _STORAGES},
        **{full: _stand_in(full) for full in CONFIGURATION_CLASSES},
    }


def _tensor_maker() -> Callable[..., StoredTensor]:
    def make(
        storage: Storage, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], *_: Any
    ) -> StoredTensor:
        if not isinstance(storage, Storage) or not all(
            isinstance(value, int) for value in (offset, *shape, *strides)
        ):
            raise pickle.UnpicklingError("a tensor is described by something other than numbers")
        if len(shape) != len(strides):
            raise pickle.UnpicklingError("a tensor must have as many strides as axes")
        return StoredTensor(
            storage.key, storage.dtype, storage.n_stored, offset, tuple(shape), tuple(strides)
        )

    return make


def _parameter_maker() -> Callable[..., Any]:
    def make(tensor: Any, *_: Any) -> Any:
        return tensor

    return make


def _dictionary() -> type:
    class Dictionary(dict):  # type: ignore[type-arg]
        """An ordered dictionary, or one with a default that it never uses."""

        def __init__(self, *given: Any) -> None:
            super().__init__(given[0] if given and isinstance(given[0], list) else ())

        def set_state(self, state: Any) -> None:
            """Drop attributes: torch keeps versions of modules there."""

    return Dictionary


def _stand_in(full: str) -> type:
    class StandIn:
        """Keeps the attributes of a configuration object, and does nothing."""

        def __init__(self, *_: Any, **__: Any) -> None: ...

        def set_state(self, state: Any) -> None:
            self.state = state

    StandIn.__name__ = StandIn.__qualname__ = full.rpartition(".")[2]
    return StandIn
