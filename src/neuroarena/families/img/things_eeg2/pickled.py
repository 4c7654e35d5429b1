"""Read pickled dictionaries of NumPy arrays without running anything that is in them.

The authors' ``.npy`` files, and files of others with the same suffix, are pickles: small programs that may
name any function and call it. Here a name means only what the table below defines: arrays become descriptions
of where their numbers are in the file, and any other name ends the reading. Large arrays are
not read at all but mapped, so that a file of gigabytes costs memory only for what is used.
"""

from __future__ import annotations

import math
import pickle
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neuroarena.errors import InputError
from neuroarena.pickles import BoundedFile, PickleReader, demand

MAPPED_FROM_BYTES = 2**16
MAX_DEPTH = 20
_SIZES = {
    "f2": 2,
    "f4": 4,
    "f8": 8,
    "i1": 1,
    "i2": 2,
    "i4": 4,
    "i8": 8,
    "u1": 1,
    "u2": 2,
    "u4": 4,
    "u8": 8,
    "b1": 1,
}


@dataclass(frozen=True)
class Stretch:
    """Bytes that stay in the file: where they begin, and how many there are."""

    offset: int
    length: int


@dataclass
class _Dtype:
    """The type of an array's numbers, as stated in the pickle: a code and a byte order."""

    code: str
    order: str = "<"

    def set_state(self, given: Any) -> None:
        demand(
            isinstance(given, tuple) and len(given) > 1 and given[1] in ("<", ">", "|", "="),
            "a type of numbers",
        )
        self.order = given[1]

    def numpy(self) -> np.dtype:
        code = self.code.lstrip("<>|=")
        text = code[:1] in ("U", "S") and code[1:].isdigit() and int(code[1:]) < 2**16
        if code == "O8" or code == "O":
            return np.dtype(object)
        if not text and code not in _SIZES:
            raise pickle.UnpicklingError(f"numbers of the type {code[:20]!r}")
        return np.dtype(self.order.replace("=", "<") + code)


@dataclass
class _Array:
    """An array as described in the pickle; its numbers may still be in the file."""

    shape: tuple[int, ...] = ()
    dtype: _Dtype = field(default_factory=lambda: _Dtype("f8"))
    fortran: bool = False
    content: Any = b""

    def set_state(self, given: Any) -> None:
        demand(isinstance(given, tuple) and len(given) == 5, "the state of an array")
        _, shape, dtype, fortran, content = given
        self._set(shape, dtype, bool(fortran), content)

    def _set(self, shape: Any, dtype: Any, fortran: bool, content: Any) -> None:
        whole = isinstance(shape, tuple) and all(isinstance(n, int) and 0 <= n < 2**40 for n in shape)
        demand(whole and isinstance(dtype, _Dtype), "the shape and type of an array")
        self.shape, self.dtype, self.fortran, self.content = shape, dtype, fortran, content

    @classmethod
    def of_buffer(cls, content: Any, dtype: Any, shape: Any, order: Any) -> _Array:
        made = cls()
        made._set(shape, dtype, order == "F", content)
        return made


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _dtype(code: Any = None, *_: Any) -> _Dtype:
    demand(isinstance(code, str), "a type of numbers")
    return _Dtype(code)


def _scalar(dtype: Any, content: Any) -> _Array:
    return _Array.of_buffer(content, dtype, (), "C")


def _encode(text: Any, coding: Any = "latin1") -> bytes:
    """Return the bytes that pickles of protocol 2 keep as Latin-1 text."""
    demand(isinstance(text, str) and coding == "latin1", "a run of bytes")
    return str(text).encode("latin1")


def _no_bytes(*given: Any) -> bytes:
    demand(not given, "a run of bytes")
    return b""


_CORES = ("numpy.core", "numpy._core")
_NAMES: dict[str, Any] = {
    **{f"{core}.multiarray._reconstruct": _reconstruct for core in _CORES},
    **{f"{core}.multiarray.scalar": _scalar for core in _CORES},
    **{f"{core}.numeric._frombuffer": _Array.of_buffer for core in _CORES},
    "numpy.ndarray": _reconstruct,
    "numpy.dtype": _dtype,
    "_codecs.encode": _encode,
    # How protocols below 3 store empty bytes.
    "__builtin__.bytes": _no_bytes,
}


class _Reader(PickleReader):
    """Leaves large runs of bytes in the file."""

    def take_bytes(self, length: int) -> Any:
        # Inside a frame the bytes are already in memory; the pickler keeps large ones out of frames.
        outside = self._unframer.current_frame is None  # type: ignore[attr-defined]
        if length < MAPPED_FROM_BYTES or not outside:
            return super().take_bytes(length)
        return Stretch(self.bounded.skip(length), length)


def read_pickled(path: str | Path) -> Any:
    """Read a pickled dictionary of arrays and plain containers.

    Parameters
    ----------
    path : path
        A ``.npy`` file that holds one object, or a plain pickle, whatever its name.

    Returns
    -------
    dict, list, tuple, str, number or ndarray
        Arrays are memory maps where they are large.

    Raises
    ------
    InputError
        When the file is missing, damaged, or asks for anything but arrays and plain containers, which is named.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: this file does not exist. Expected a pickled dictionary of arrays.")
    try:
        begin = _begin(path)
        with BoundedFile(path.open("rb"), path.stat().st_size) as file:
            file.skip(begin)
            loaded = _Reader(file, _NAMES).load()
        return _Plain(path).of(loaded)
    except (pickle.UnpicklingError, EOFError, ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"{path}: is refused: {error or 'it is damaged'}; expected NumPy arrays and plain containers only."
        ) from error


def _begin(path: Path) -> int:
    """Find where the pickle begins: after the header of a .npy file, or at the start."""
    with path.open("rb") as file:
        if file.read(6) != b"\x93NUMPY":
            return 0
        file.seek(0)
        version = np.lib.format.read_magic(file)
        read = (
            np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(file)
        if shape != () or dtype != np.dtype(object):
            raise pickle.UnpicklingError(f"it is an array of the shape {shape}, not a pickled dictionary")
        return file.tell()


class _Plain:
    """Turns what was read into arrays and plain containers; nothing else can be in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Every container once, however often it is named: a short pickle must not expand without limit.
        self.made: dict[int, Any] = {}
        self.depth = 0

    def of(self, value: Any) -> Any:
        if isinstance(value, str | bytes | int | float | type(None)):
            return value
        if id(value) in self.made:
            return self.made[id(value)]
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise pickle.UnpicklingError("it is nested too deeply, or contains itself")
        if isinstance(value, _Array):
            made = self.array(value)
        elif isinstance(value, dict):
            made = {self.of(key): self.of(each) for key, each in value.items()}
        elif isinstance(value, list | tuple):
            made = type(value)(self.of(each) for each in value)
        else:
            raise pickle.UnpicklingError(f"it holds {type(value).__name__}")
        self.depth -= 1
        self.made[id(value)] = made
        return made

    def array(self, value: _Array) -> Any:
        dtype = value.dtype.numpy()
        order: Literal["F", "C"] = "F" if value.fortran else "C"
        count = math.prod(value.shape)
        if dtype.hasobject:
            demand(isinstance(value.content, list) and len(value.content) == count, "an array of objects")
            items = [self.of(each) for each in value.content]
            # np.save stores a dictionary as a 0-d array of objects.
            return items[0] if value.shape == () else _box(items, value.shape)
        length = count * dtype.itemsize
        if isinstance(value.content, Stretch):
            demand(value.content.length == length, "an array")
            return np.memmap(self.path, dtype, "r", value.content.offset, value.shape, order)
        content = value.content.encode("latin1") if isinstance(value.content, str) else value.content
        demand(isinstance(content, bytes | bytearray) and len(content) == length, "an array")
        array = np.frombuffer(bytes(content), dtype).reshape(value.shape, order=order)
        return array[()] if value.shape == () else array


def _box(items: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    boxed = np.empty(len(items), dtype=object)
    boxed[:] = items
    return boxed.reshape(shape)
