"""Messages with a guest: what is sent arrives, and nothing else is taken for a message."""

from __future__ import annotations

import json
import struct
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.sandbox.child import Stopped
from neuroarena.sandbox.conversation import Conversation, Silent
from neuroarena.sandbox.guest.wire import PREFIX_BYTES, BadFrame, Message, frame, message, prefix
from neuroarena.sandbox.job import Job
from neuroarena.sandbox.limits import Limits


def read(data: bytes, most_body: int = 10**6) -> Message:
    header, body = prefix(data[:PREFIX_BYTES], most_body)
    middle = PREFIX_BYTES + header
    return message(data[PREFIX_BYTES:middle], data[middle : middle + body])


def raw(header: object, body: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("!4sIQ", b"NAW1", len(text), len(body)) + text + body


@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    seed=st.integers(0, 2**32 - 1),
    number=st.integers(-(2**53), 2**53),
    text=st.text(),
)
def test_what_is_sent_arrives(shape: list[int], seed: int, number: int, text: str):
    array = np.random.default_rng(seed).standard_normal(shape).astype(np.float32)
    got = read(frame("windows", {"number": number, "text": text}, array))
    assert (got.kind, got.fields) == ("windows", {"number": number, "text": text})
    assert got.array is not None
    assert got.array.dtype == np.float32
    np.testing.assert_array_equal(got.array, array)


def test_numbers_in_any_layout_and_order_of_bytes_arrive_as_float32():
    array = np.arange(6, dtype=">f8").reshape(2, 3).T
    got = read(frame("answer", None, array)).array
    np.testing.assert_array_equal(got, array)


@given(st.binary(min_size=PREFIX_BYTES, max_size=200))
def test_random_bytes_are_refused_by_name_or_read(data: bytes):
    try:
        read(data)
    except BadFrame:
        return


@given(st.binary(max_size=100), st.binary(max_size=32))
def test_a_random_header_is_refused_by_name_or_read(header: bytes, body: bytes):
    try:
        read(raw(header, body))
    except BadFrame:
        return


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"hello, I am no message", "expected a message"),
        (struct.pack("!4sIQ", b"NAW1", 2**20, 0), "longer than"),
        (struct.pack("!4sIQ", b"NAW1", 10, 2**40), "longer than"),
        (raw(b"{"), "not JSON"),
        (raw(b"\xff\xfe"), "not JSON"),
        (raw(b"[" * 60_000), "longer than"),
        (raw(b"[" * 4000), "not JSON"),
        (raw([1, 2]), "JSON object"),
        (raw({"shape": [1]}, bytes(4)), "with a kind"),
        (raw({"kind": 3}), "with a kind"),
        (raw({"kind": "answer"}, bytes(4)), "without a shape"),
        (raw({"kind": "answer", "shape": [2]}, bytes(4)), "do not have the shape"),
        (raw({"kind": "answer", "shape": [-1, -1]}, bytes(4)), "do not have the shape"),
        (raw({"kind": "answer", "shape": [True]}, bytes(4)), "do not have the shape"),
        (raw({"kind": "answer", "shape": [1.0]}, bytes(4)), "do not have the shape"),
        (raw({"kind": "answer", "shape": "1"}, bytes(4)), "a list"),
        (raw({"kind": "answer", "shape": [1] * 5}, bytes(4)), "a list"),
        (raw({"kind": "answer", "shape": [2**31, 2**31, 4]}, b""), "do not have the shape"),
    ],
)
def test_what_is_no_message_is_refused(data: bytes, words: str):
    with pytest.raises(BadFrame, match=words):
        read(data)


def talk(source: str, **limits: float) -> Conversation:
    return Conversation(
        Job((sys.executable, "-I", "-c", source)), Limits(**{"seconds": 120, **limits}), "none"
    )


def test_a_guest_that_ends_is_silent_and_its_last_words_are_kept():
    with talk("import sys; print('sorry', file=sys.stderr); sys.exit(4)") as line:
        with pytest.raises(Silent):
            line.ask("windows", None, np.zeros(10**6, np.float32))
        outcome = line.outcome()
    assert (outcome.status, outcome.exit_code, outcome.stderr_tail) == ("failed", 4, "sorry\n")


def test_a_guest_that_answers_without_end_is_cut_at_the_first_message():
    with (
        talk("import sys\nwhile True: sys.stdout.write('x' * 10000)") as line,
        pytest.raises((BadFrame, Stopped)),
    ):
        line.listen()


def test_a_guest_that_announces_more_than_was_asked_for_is_refused_before_it_is_read():
    source = "import os, struct, time; os.write(1, struct.pack('!4sIQ', b'NAW1', 20, 5)); time.sleep(600)"
    with talk(source) as line, pytest.raises(BadFrame, match="longer"):
        line.listen(most_bytes=4)


@pytest.mark.parametrize(
    "source", ["import time; time.sleep(600)", "import os, time; os.write(1, b'NAW1'); time.sleep(600)"]
)
def test_a_guest_that_does_not_answer_in_time_is_ended(source: str):
    with talk(source, seconds=0.5) as line:
        with pytest.raises(Stopped):
            line.ask("windows", None, np.zeros(3 * 10**6, np.float32))
        assert line.outcome().status == "time"
