"""Messages between the two sides of a sandbox: a length, a JSON header, raw float32 numbers. No pickle.

A frame is ``NAW1``, the length of the header (4 bytes, big-endian), the length of the body (8 bytes), the header,
the body. The header is one JSON object with ``kind`` and, where there are numbers, ``shape``.
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_PREFIX = struct.Struct("!4sIQ")
PREFIX_BYTES = _PREFIX.size
_MAGIC = b"NAW1"
MOST_HEADER = 4096
_MOST_AXES = 4


class BadFrame(ValueError):
    """The bytes received are not a message."""


@dataclass(frozen=True)
class Message:
    """One message.

    Attributes
    ----------
    kind : str
        What it is.
    fields : dict
        What else the header says.
    array : ndarray of float32 or None
        Its numbers.
    """

    kind: str
    fields: dict[str, Any] = field(default_factory=dict)
    array: np.ndarray | None = None


def frame(kind: str, fields: Mapping[str, Any] | None = None, array: np.ndarray | None = None) -> bytes:
    """Turn a message into bytes.

    Examples
    --------
    >>> data = frame("windows", {"number": 3}, np.zeros((1, 2), np.float32))
    >>> lengths = prefix(data[:PREFIX_BYTES], most_body=100)
    >>> message(data[PREFIX_BYTES : PREFIX_BYTES + lengths[0]], data[PREFIX_BYTES + lengths[0] :]).array.shape
    (1, 2)
    """
    head: dict[str, Any] = {**(fields or {}), "kind": kind}
    body = b""
    if array is not None:
        numbers = np.ascontiguousarray(array, dtype="<f4")
        head["shape"] = list(numbers.shape)
        body = numbers.tobytes()
    header = json.dumps(head, ensure_ascii=False).encode(errors="replace")
    return _PREFIX.pack(_MAGIC, len(header), len(body)) + header + body


def prefix(data: bytes, most_body: int, most_header: int = MOST_HEADER) -> tuple[int, int]:
    """Read the lengths of header and body.

    Raises
    ------
    BadFrame
        When the bytes are not the beginning of a message, or header or body are longer than allowed.
    """
    magic, header, body = _PREFIX.unpack(data)
    if magic != _MAGIC:
        raise BadFrame(f"expected a message, got {bytes(data[:8])!r}")
    if header > most_header or body > most_body:
        raise BadFrame(
            f"a message of {header} + {body} bytes is longer than the {most_header} + {most_body} allowed"
        )
    return header, body


def message(header: bytes, body: bytes) -> Message:
    """Read a message from its header and body.

    Raises
    ------
    BadFrame
        When the header is not a JSON object with a kind, or its shape does not match the length of the body.
    """
    try:
        fields = json.loads(header)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"the header is not JSON ({type(error).__name__})") from error
    if not isinstance(fields, dict) or not isinstance(fields.get("kind"), str):
        raise BadFrame("the header is not a JSON object with a kind")
    kind, shape = fields.pop("kind"), fields.pop("shape", None)
    if shape is None:
        if body:
            raise BadFrame("numbers without a shape")
        return Message(kind, fields)
    if not isinstance(shape, list) or len(shape) > _MOST_AXES:
        raise BadFrame(f"a shape must be a list of at most {_MOST_AXES} numbers")
    if not all(type(size) is int and 0 <= size <= 2**32 for size in shape) or math.prod(shape) * 4 != len(
        body
    ):
        raise BadFrame(f"{len(body)} bytes of numbers do not have the shape {shape[:_MOST_AXES]}")
    return Message(kind, fields, np.frombuffer(body, dtype="<f4").reshape(shape).astype(np.float32))
