"""Reading a pickle without running anything that is in it.

A pickle is a small program that may name any function and call it. Here it can do little: it builds plain
containers, text and numbers, and a name in it means what a table of the caller says or ends the reading. What the
table holds is the caller's own: inert descriptions of arrays or tensors, never the thing that is named.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any, BinaryIO, ClassVar

MAX_PIECE_BYTES = 2**28
# Plain containers, text, numbers, and calls of names in the table; no instances, persistent ids or extensions.
PLAIN_OPCODES = frozenset(
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


class StrangeName(pickle.UnpicklingError):
    """The pickle names something that is not in the table; `name` is its full name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"it asks for {name[:80]!r}")
        self.name = name


def demand(holds: bool, what: str) -> None:
    """Refuse the pickle unless something holds of it.

    Raises
    ------
    pickle.UnpicklingError
        Saying that `what` is damaged.
    """
    if not holds:
        raise pickle.UnpicklingError(f"{what} is damaged")


class BoundedFile(io.RawIOBase):
    """A file that is never asked for more bytes than it has left.

    Parameters
    ----------
    file : binary file
        Standing where the pickle begins.
    size : int
        Bytes of the whole file.
    """

    def __init__(self, file: BinaryIO, size: int) -> None:
        self.file = file
        self.size = size

    def _check_room(self, wanted: int) -> None:
        if wanted < 0 or wanted > self.size - self.file.tell():
            raise EOFError("it is cut short")

    def read(self, size: int = -1) -> bytes:
        """Read so many bytes."""
        self._check_room(size)
        if size > MAX_PIECE_BYTES:
            raise pickle.UnpicklingError(f"one piece of {size} bytes")
        return self.file.read(size)

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer."""
        self._check_room(len(buffer))
        return int(self.file.readinto(buffer))  # type: ignore[attr-defined]

    def readline(self, size: int | None = -1) -> bytes:  # noqa: ARG002
        """Read to the end of the line."""
        return self.file.readline(MAX_PIECE_BYTES)

    def skip(self, length: int) -> int:
        """Pass over so many bytes; return where they begin."""
        self._check_room(length)
        begin = self.file.tell()
        self.file.seek(length, 1)
        return begin

    def close(self) -> None:
        """Close the file beneath."""
        self.file.close()
        super().close()


class PickleReader(pickle._Unpickler):
    """The unpickler of the standard library, with a table of the opcodes and of the names that are admitted.

    Parameters
    ----------
    file : BoundedFile
    names : mapping of str to object
        Full name (``module.name``) to what it means here. Values are called where the pickle calls them.
    encoding : str
        Of the text of Python 2.

    Notes
    -----
    What a pickle *builds* (sets the state of) must have a method ``set_state(state)``; nothing else is given one.
    """

    def __init__(self, file: BoundedFile, names: Mapping[str, Any], encoding: str = "latin1") -> None:
        super().__init__(file, encoding=encoding)
        self.bounded = file
        self.names = names

    def load(self) -> Any:
        """Read the pickle.

        Raises
        ------
        pickle.UnpicklingError
            With one printable line that says what is wrong; :class:`StrangeName` for a name that is not in the table.
        """
        try:
            return super().load()
        except pickle.UnpicklingError:
            raise
        except KeyError as error:
            code = error.args[0] if error.args else ""
            what = f"the pickle opcode {code:#04x}" if isinstance(code, int) else "an unknown reference"
            raise pickle.UnpicklingError(f"it holds {what}") from error
        except (RecursionError, MemoryError) as error:
            raise pickle.UnpicklingError("it is nested too deep or too large") from error
        # Whatever damaged bytes make of the reader: nothing of theirs was called.
        except (EOFError, ValueError, TypeError, IndexError, AttributeError, OverflowError) as error:
            words = " ".join("".join(c if c.isprintable() else " " for c in str(error)).split())[:160]
            raise pickle.UnpicklingError(words or "it is damaged") from error

    def find_class(self, module: str, name: str) -> Any:
        """Return what a name means here."""
        full = f"{module}.{name}"
        if full not in self.names:
            raise StrangeName(full)
        return self.names[full]

    def take_bytes(self, length: int) -> Any:
        """Return a run of bytes; a reader may return where they are instead."""
        return self.read(length)  # type: ignore[attr-defined]

    def demand_known(self, called: Any) -> None:
        """Refuse to call anything but what the table holds."""
        demand(any(called is known for known in self.names.values()), "a call")

    def _load_bytes4(self) -> None:
        self.append(self.take_bytes(int.from_bytes(self.read(4), "little")))  # type: ignore[attr-defined]

    def _load_bytes8(self) -> None:
        self.append(self.take_bytes(int.from_bytes(self.read(8), "little")))  # type: ignore[attr-defined]

    def _load_long_binput(self) -> None:
        index = int.from_bytes(self.read(4), "little")  # type: ignore[attr-defined]
        if index > self.bounded.size:
            raise pickle.UnpicklingError(f"it counts to {index}")
        self.memo[index] = self.stack[-1]  # type: ignore[attr-defined]

    def _load_build(self) -> None:
        state = self.stack.pop()  # type: ignore[attr-defined]
        built = self.stack[-1]  # type: ignore[attr-defined]
        # A class of the table has the method too, and is not to be changed.
        demand(hasattr(built, "set_state") and not isinstance(built, type), "an object that is built")
        built.set_state(state)

    def _load_reduce(self) -> None:
        given = self.stack.pop()  # type: ignore[attr-defined]
        called = self.stack[-1]  # type: ignore[attr-defined]
        demand(isinstance(given, tuple), "a call")
        self.demand_known(called)
        self.stack[-1] = called(*given)  # type: ignore[attr-defined]

    dispatch: ClassVar[dict[int, Any]] = {
        **{code[0]: pickle._Unpickler.dispatch[code[0]] for code in PLAIN_OPCODES},
        pickle.BINBYTES[0]: _load_bytes4,
        pickle.BINBYTES8[0]: _load_bytes8,
        pickle.BYTEARRAY8[0]: _load_bytes8,
        pickle.LONG_BINPUT[0]: _load_long_binput,
        pickle.BUILD[0]: _load_build,
        pickle.REDUCE[0]: _load_reduce,
    }
