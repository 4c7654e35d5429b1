"""Reading pickled dictionaries of NumPy arrays without running anything that is in them.

The authors' ``.npy`` files, and files of others that only bear the name, are pickles: small programs that may
name any function and call it. Here a name means only what the table below says: arrays become descriptions
of where their numbers are in the file, and any other name ends the reading. Large arrays are
not read at all but mapped, so that a file of gigabytes costs memory only for what is asked of it.
"""

from __future__ import annotations

import io
import math
import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np

from neuroarena.errors import InputError

MAPPED_FROM_BYTES = 2**16
MAX_TEXT_BYTES = 2**28
MAX_DEPTH = 20
# Plain containers, text, numbers, and calls of the few names below; no instances, persistent ids or extensions.
_OPCODES = frozenset(
    {
        *(pickle.PROTO, pickle.FRAME, pickle.STOP, pickle.MARK, pickle.POP, pickle.POP_MARK, pickle.MEMOIZE),
        *(pickle.PUT, pickle.BINPUT, pickle.LONG_BINPUT, pickle.GET, pickle.BINGET, pickle.LONG_BINGET),
        *(pickle.NONE, pickle.NEWTRUE, pickle.NEWFALSE, pickle.INT, pickle.BININT, pickle.BININT1),
        *(pickle.BININT2, pickle.LONG, pickle.LONG1, pickle.LONG4, pickle.FLOAT, pickle.BINFLOAT),
        *(pickle.STRING, pickle.BINSTRING, pickle.SHORT_BINSTRING, pickle.UNICODE, pickle.BINUNICODE),
        *(pickle.SHORT_BINUNICODE, pickle.BINUNICODE8, pickle.BINBYTES, pickle.SHORT_BINBYTES),
        *(
            pickle.BINBYTES8,
            pickle.BYTEARRAY8,
            pickle.EMPTY_TUPLE,
            pickle.TUPLE,
            pickle.TUPLE1,
            pickle.TUPLE2,
        ),
        *(pickle.TUPLE3, pickle.EMPTY_LIST, pickle.LIST, pickle.APPEND, pickle.APPENDS, pickle.EMPTY_DICT),
        *(pickle.DICT, pickle.SETITEM, pickle.SETITEMS, pickle.GLOBAL, pickle.STACK_GLOBAL, pickle.REDUCE),
        pickle.BUILD,
    }
)
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
    """The type of an array's numbers, as the pickle says it: a code and an order of bytes."""

    code: str
    order: str = "<"

    def state(self, given: Any) -> None:
        _demand(
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
    """An array as the pickle says it; its numbers may still be in the file."""

    shape: tuple[int, ...] = ()
    dtype: _Dtype = field(default_factory=lambda: _Dtype("f8"))
    fortran: bool = False
    content: Any = b""

    def state(self, given: Any) -> None:
        _demand(isinstance(given, tuple) and len(given) == 5, "the state of an array")
        _, shape, dtype, fortran, content = given
        self._set(shape, dtype, bool(fortran), content)

    def _set(self, shape: Any, dtype: Any, fortran: bool, content: Any) -> None:
        whole = isinstance(shape, tuple) and all(isinstance(n, int) and 0 <= n < 2**40 for n in shape)
        _demand(whole and isinstance(dtype, _Dtype), "the shape and type of an array")
        self.shape, self.dtype, self.fortran, self.content = shape, dtype, fortran, content

    @classmethod
    def of_buffer(cls, content: Any, dtype: Any, shape: Any, order: Any) -> _Array:
        made = cls()
        made._set(shape, dtype, order == "F", content)
        return made


def _demand(holds: bool, what: str) -> None:
    if not holds:
        raise pickle.UnpicklingError(f"{what} is damaged")


def _reconstruct(*_: Any) -> _Array:
    return _Array()


def _dtype(code: Any = None, *_: Any) -> _Dtype:
    _demand(isinstance(code, str), "a type of numbers")
    return _Dtype(code)


def _scalar(dtype: Any, content: Any) -> _Array:
    return _Array.of_buffer(content, dtype, (), "C")


def _encode(text: Any, coding: Any = "latin1") -> bytes:
    """Give the bytes that pickles of protocol 2 keep as Latin-1 text."""
    _demand(isinstance(text, str) and coding == "latin1", "a run of bytes")
    return str(text).encode("latin1")


def _no_bytes(*given: Any) -> bytes:
    _demand(not given, "a run of bytes")
    return b""


_CORES = ("numpy.core", "numpy._core")
_NAMES: dict[tuple[str, str], Callable[..., Any]] = {
    **{(f"{core}.multiarray", "_reconstruct"): _reconstruct for core in _CORES},
    **{(f"{core}.multiarray", "scalar"): _scalar for core in _CORES},
    **{(f"{core}.numeric", "_frombuffer"): _Array.of_buffer for core in _CORES},
    ("numpy", "ndarray"): _reconstruct,
    ("numpy", "dtype"): _dtype,
    ("_codecs", "encode"): _encode,
    # How protocols below 3 keep no bytes at all.
    ("__builtin__", "bytes"): _no_bytes,
}


class _Bounded(io.RawIOBase):
    """A file that is never asked for more bytes than it has left."""

    def __init__(self, path: Path, offset: int) -> None:
        self.file = path.open("rb")
        self.size = path.stat().st_size
        self.file.seek(offset)

    def _some(self, wanted: int) -> None:
        if wanted < 0 or wanted > self.size - self.file.tell():
            raise EOFError("it is cut short")

    def read(self, size: int = -1) -> bytes:
        self._some(size)
        if size > MAX_TEXT_BYTES:
            raise pickle.UnpicklingError(f"one piece of {size} bytes")
        return self.file.read(size)

    def readinto(self, buffer: Any) -> int:
        self._some(len(buffer))
        return self.file.readinto(buffer)

    def readline(self, size: int | None = -1) -> bytes:
        return self.file.readline(MAX_TEXT_BYTES)

    def skip(self, length: int) -> Stretch:
        self._some(length)
        stretch = Stretch(self.file.tell(), length)
        self.file.seek(length, 1)
        return stretch

    def close(self) -> None:
        self.file.close()
        super().close()


class _Reader(pickle._Unpickler):
    """The unpickler of the standard library, with a table of the opcodes and names that are admitted."""

    def __init__(self, file: _Bounded) -> None:
        super().__init__(file, encoding="latin1")
        self.bounded = file

    def find_class(self, module: str, name: str) -> Any:
        known = _NAMES.get((module, name))
        if known is None:
            raise pickle.UnpicklingError(f"it asks for {f'{module}.{name}'[:80]!r}")
        return known

    def _bytes(self, length: int) -> None:
        # Inside a frame the bytes are in memory already; the pickler keeps large ones out of frames.
        outside = self._unframer.current_frame is None  # type: ignore[attr-defined]
        large = length >= MAPPED_FROM_BYTES and outside
        self.append(self.bounded.skip(length) if large else self.read(length))  # type: ignore[attr-defined]

    def _load_bytes4(self) -> None:
        self._bytes(int.from_bytes(self.read(4), "little"))  # type: ignore[attr-defined]

    def _load_bytes8(self) -> None:
        self._bytes(int.from_bytes(self.read(8), "little"))  # type: ignore[attr-defined]

    def _load_build(self) -> None:
        state = self.stack.pop()  # type: ignore[attr-defined]
        built = self.stack[-1]  # type: ignore[attr-defined]
        _demand(isinstance(built, _Array | _Dtype), "an object that is built")
        built.state(state)

    def _load_reduce(self) -> None:
        given = self.stack.pop()  # type: ignore[attr-defined]
        called = self.stack[-1]  # type: ignore[attr-defined]
        _demand(isinstance(given, tuple) and any(called is known for known in _NAMES.values()), "a call")
        self.stack[-1] = called(*given)  # type: ignore[attr-defined]

    dispatch: ClassVar[dict[int, Any]] = {
        **{code[0]: pickle._Unpickler.dispatch[code[0]] for code in _OPCODES},
        pickle.BINBYTES[0]: _load_bytes4,
        pickle.BINBYTES8[0]: _load_bytes8,
        pickle.BYTEARRAY8[0]: _load_bytes8,
        pickle.BUILD[0]: _load_build,
        pickle.REDUCE[0]: _load_reduce,
    }


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
        When the file is missing, damaged, or asks for anything but arrays and plain containers, by name.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. Expected a pickled dictionary of arrays.")
    try:
        file = _Bounded(path, _begin(path))
        try:
            loaded = _Reader(file).load()
        finally:
            file.close()
        return _Plain(path).of(loaded)
    except KeyError as error:
        code = error.args[0] if error.args else ""
        raise InputError(
            f"{path}: is refused: it holds {_opcode(code)}; expected NumPy arrays and plain containers only."
        ) from error
    except (
        pickle.UnpicklingError,
        EOFError,
        ValueError,
        TypeError,
        IndexError,
        AttributeError,
        OverflowError,
    ) as error:
        words = " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())[:160]
        raise InputError(
            f"{path}: is refused: {words or 'it is damaged'}; expected NumPy arrays and plain containers only."
        ) from error
    except (RecursionError, MemoryError) as error:
        raise InputError(f"{path}: is refused: it is nested too deep or too large.") from error


def _begin(path: Path) -> int:
    """Find where the pickle begins: behind the header of a .npy file, or at the start."""
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


def _opcode(code: Any) -> str:
    return f"the pickle opcode {code:#04x}" if isinstance(code, int) else "an unknown reference"


class _Plain:
    """Turns what was read into arrays and plain containers; nothing else can be in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        # Every container once, however often it is named: a short pickle must not unfold without end.
        self.made: dict[int, Any] = {}
        self.depth = 0

    def of(self, value: Any) -> Any:
        if isinstance(value, str | bytes | int | float | type(None)):
            return value
        if id(value) in self.made:
            return self.made[id(value)]
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise pickle.UnpicklingError("it is nested too deep, or in itself")
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
            _demand(isinstance(value.content, list) and len(value.content) == count, "an array of objects")
            items = [self.of(each) for each in value.content]
            # A 0-d array of objects is how np.save keeps a dictionary.
            return items[0] if value.shape == () else _boxed(items, value.shape)
        length = count * dtype.itemsize
        if isinstance(value.content, Stretch):
            _demand(value.content.length == length, "an array")
            return np.memmap(self.path, dtype, "r", value.content.offset, value.shape, order)
        content = value.content.encode("latin1") if isinstance(value.content, str) else value.content
        _demand(isinstance(content, bytes | bytearray) and len(content) == length, "an array")
        array = np.frombuffer(bytes(content), dtype).reshape(value.shape, order=order)
        return array[()] if value.shape == () else array


def _boxed(items: list[Any], shape: tuple[int, ...]) -> np.ndarray:
    boxed = np.empty(len(items), dtype=object)
    boxed[:] = items
    return boxed.reshape(shape)
