"""What the pages of a parquet file will unfold to, found without unfolding them.

A few bytes of a run-length code can stand for gigabytes, and the footer of a submitted file may say anything
about it. The header of every page says how many values the reader will make of it and how many bytes
the page has once it is decompressed; the reader goes by these numbers, and so does this look at them.
Only footer and page headers are read. They are in the compact protocol of Thrift
(field numbers: the parquet format's own definition).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

MAX_FOOTER_BYTES = 16 * 2**20
MAX_HEADER_BYTES = 2**16
MAX_PAGES = 1_000_000
MAX_DEPTH = 32


class Malformed(ValueError):
    """The bytes are not valid Thrift, or not parquet."""


@dataclass(frozen=True)
class Column:
    """What the pages of one column say, over all row groups.

    Attributes
    ----------
    name : str
        Of the top-level column.
    values : int
        Values on the data pages, missing ones included.
    dictionary_values : int
        Values on the dictionary pages.
    unfolded_bytes : int
        Bytes of all pages once they are decompressed.
    """

    name: str
    values: int
    dictionary_values: int
    unfolded_bytes: int


class _Compact:
    """A reader of Thrift's compact protocol: structures become dictionaries of field number to value."""

    def __init__(self, data: bytes) -> None:
        self.data, self.place = data, 0

    def byte(self) -> int:
        if self.place >= len(self.data):
            raise Malformed("it ends inside a structure")
        self.place += 1
        return self.data[self.place - 1]

    def unsigned(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self.byte()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise Malformed("a number has no end")

    def signed(self) -> int:
        value = self.unsigned()
        return (value >> 1) ^ -(value & 1)

    def take(self, count: int) -> bytes:
        if count < 0 or self.place + count > len(self.data):
            raise Malformed("it ends inside a text")
        self.place += count
        return self.data[self.place - count : self.place]

    def value(self, kind: int, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise Malformed("its structures are nested without end")
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return self.byte()
        if kind in (4, 5, 6):
            return self.signed()
        if kind == 7:
            return self.take(8)
        if kind == 8:
            return self.take(self.unsigned())
        if kind in (9, 10):
            return self.items(depth)
        if kind == 12:
            return self.structure(depth + 1)
        raise Malformed(f"it holds a value of the unknown kind {kind}")

    def items(self, depth: int) -> list[Any]:
        head = self.byte()
        count, kind = head >> 4, head & 0x0F
        if count == 15:
            count = self.unsigned()
        if count > len(self.data) - self.place:
            raise Malformed("a list is longer than the file")
        # In a list a boolean takes a byte; in a structure its kind encodes it.
        kind = 3 if kind in (1, 2) else kind
        return [self.value(kind, depth + 1) for _ in range(count)]

    def structure(self, depth: int = 0) -> dict[int, Any]:
        fields: dict[int, Any] = {}
        number = 0
        while (head := self.byte()) != 0:
            number = number + (head >> 4) if head >> 4 else self.signed()
            fields[number] = self.value(head & 0x0F, depth)
        return fields


def look_at_pages(path: str | Path) -> list[Column]:
    """Add up what the pages of a parquet file say, column by column.

    Parameters
    ----------
    path : str or Path
        A file that starts and ends as parquet does.

    Returns
    -------
    list of Column
        In the order of the file.

    Raises
    ------
    Malformed
        When footer or pages are damaged, lie outside the file or are absurdly many.
    """
    sums: dict[str, list[int]] = {}
    with Path(path).open("rb") as file:
        size = file.seek(0, 2)
        pages = 0
        for name, start, length in _chunks(_footer(file, size), size):
            found = sums.setdefault(name, [0, 0, 0])
            for header in _headers(file, start, start + length):
                pages += 1
                if pages > MAX_PAGES:
                    raise Malformed(f"it has more than {MAX_PAGES} pages")
                data = header.get(5) or header.get(8)
                dictionary = header.get(7)
                found[0] += _count(data, 1) if data is not None else 0
                found[1] += _count(dictionary, 1) if dictionary is not None else 0
                found[2] += _count(header, 2)
    return [Column(name, *found) for name, found in sums.items()]


def _footer(file: BinaryIO, size: int) -> dict[int, Any]:
    file.seek(max(0, size - 8))
    length = int.from_bytes(file.read(8)[:4], "little")
    if length > MAX_FOOTER_BYTES:
        raise Malformed(f"its footer takes {length} bytes; the limit is {MAX_FOOTER_BYTES}")
    if length + 12 > size:
        raise Malformed("its footer is longer than the file")
    file.seek(size - 8 - length)
    return _Compact(file.read(length)).structure()


def _chunks(footer: dict[int, Any], size: int) -> Iterator[tuple[str, int, int]]:
    """Return the top-level column, first byte and length of every column chunk."""
    for group in _read_list(footer, 4):
        for chunk in _read_list(group, 1):
            about = chunk.get(3) if isinstance(chunk, dict) else None
            if not isinstance(about, dict) or chunk.get(1):
                raise Malformed("a column says nothing about itself, or is in another file")
            path = _read_list(about, 3)
            if not path or not all(isinstance(part, bytes) for part in path):
                raise Malformed("a column has no name")
            # A column without rows, or without a dictionary, has zero for the place of these pages.
            starts = [_count(about, field) for field in (9, 11) if about.get(field)]
            start, length = min(starts, default=0), _count(about, 7)
            if not start or start + length > size:
                raise Malformed("a column lies outside the file")
            yield path[0].decode("utf-8", errors="replace"), start, length


def _headers(file: BinaryIO, start: int, stop: int) -> Iterator[dict[int, Any]]:
    """Read the headers of the pages between two places, stepping over what they hold."""
    while start < stop:
        file.seek(start)
        reader = _Compact(file.read(min(MAX_HEADER_BYTES, stop - start)))
        header = reader.structure()
        yield header
        start += reader.place + _count(header, 3)
    if start != stop:
        raise Malformed("a page is longer than its column")


def _count(fields: Any, number: int) -> int:
    value = fields.get(number) if isinstance(fields, dict) else None
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise Malformed("a size is missing or negative")
    return value


def _read_list(fields: Any, number: int) -> list[Any]:
    value = fields.get(number) if isinstance(fields, dict) else None
    if not isinstance(value, list):
        raise Malformed("a list is missing")
    return value
