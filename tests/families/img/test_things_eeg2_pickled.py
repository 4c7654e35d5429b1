"""Pickled dictionaries: arrays and plain containers come through, everything else is refused by name."""

from __future__ import annotations

import argparse
import os
import pickle
import pickletools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.families.img.things_eeg2 import read_pickled

CONTENT: dict[str, Any] = {
    "preprocessed_eeg_data": np.random.default_rng(0).standard_normal((30, 2, 3, 100)),
    "ch_names": ["Pz", "Öz", "O2"],
    "times": np.arange(-20, 80) / 100,
    "big_endian": np.arange(4, dtype=">i2"),
    "files": np.array(["aardvark_01b.jpg", "wok_07s.jpg"]),
    "objects": np.array(["a", None, 3], dtype=object),
    "scalar": np.float32(0.5),
    "empty": np.empty((0, 4)),
    "nested": ({"flag": True, "none": None, "numbers": [1, -2, 2**80, 0.1]}, b"bytes"),
}


def same(one: Any, other: Any) -> bool:
    if isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], value) for key, value in other.items())
    if isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and bool(np.all(one == other))
    return type(one) is type(other) and one == other


def dumped(path: Path, content: Any, protocol: int = 4) -> Path:
    path.write_bytes(pickle.dumps(content, protocol=protocol))
    return path


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_plain_pickle_of_any_protocol_is_read(tmp_path: Path, protocol: int) -> None:
    assert same(read_pickled(dumped(tmp_path / "a.npy", CONTENT, protocol)), CONTENT)


def test_what_numpy_saves_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", CONTENT, allow_pickle=True)
    assert same(read_pickled(tmp_path / "a.npy"), CONTENT)


@pytest.mark.parametrize("order", ["C", "F"])
def test_large_arrays_stay_in_the_file(tmp_path: Path, order: Any) -> None:
    array = np.array(CONTENT["preprocessed_eeg_data"], order=order)
    np.save(tmp_path / "a.npy", {"x": array}, allow_pickle=True)
    found = read_pickled(tmp_path / "a.npy")["x"]
    assert isinstance(found, np.memmap)
    assert np.array_equal(found, array)
    with pytest.raises(ValueError, match="read-only"):
        found[0] = 0


MEMORY = """
import sys
from neuroarena.families.img.things_eeg2 import read_pickled
def peak():
    with open("/proc/self/status") as status:
        return int(next(line.split()[1] for line in status if line.startswith("VmHWM")))
before = peak()
array = read_pickled(sys.argv[1])["x"]
print(float(array[-1, -1]), peak() - before)
"""


def test_a_file_of_a_hundred_megabytes_costs_little_memory(tmp_path: Path) -> None:
    array = np.zeros((1000, 12_500))
    array[-1, -1] = 7.0
    dumped(tmp_path / "a.npy", {"x": array})
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(tmp_path / "a.npy")], capture_output=True, text=True, check=True
    )
    value, kilobytes = done.stdout.split()
    assert float(value) == 7.0
    assert int(kilobytes) < 20_000


class Evil:
    """Asks for a call when it is unpickled."""

    def __init__(self, called: Callable[..., Any], *given: Any) -> None:
        self.call = called, given

    def __reduce__(self) -> Any:
        return self.call


STRANGERS: dict[str, tuple[Any, str]] = {
    "a shell command": (Evil(os.system, "true"), "it asks for 'posix.system'"),
    "an evaluation": (Evil(eval, "1"), "eval'"),
    "an import": (Evil(__import__, "os"), "__import__'"),
    "a file": (Evil(open, "/etc/passwd"), "open'"),
    "an attribute": (Evil(getattr, {}, "keys"), "getattr'"),
    "a numpy function": (Evil(np.fromfile, "x"), "numpy.fromfile'"),
    "a numpy loader": (Evil(np.load, "x"), "load'"),
    "an instance": (argparse.Namespace(x=1), "argparse.Namespace'"),
    "a function": (print, "print'"),
    "a set": ({1}, "opcode 0x8f"),
    "a complex number": (1j, "complex'"),
    "dates": (np.array(["2020-01-01"], dtype="M8[D]"), "numbers of the type 'M8'"),
    "records": (np.zeros(2, dtype=[("a", "f8")]), "'V8'"),
    "a masked array": (np.ma.masked_array([1.0], [True]), "'numpy.ma"),
}


@pytest.mark.parametrize(("thing", "phrase"), STRANGERS.values(), ids=STRANGERS.keys())
def test_anything_else_is_refused_by_name(tmp_path: Path, thing: Any, phrase: str) -> None:
    path = dumped(tmp_path / "a.npy", {"x": [1, thing]})
    with pytest.raises(InputError) as refusal:
        read_pickled(path)
    message = str(refusal.value)
    assert phrase in message
    assert message.startswith(f"{path}: is refused: ")
    assert message.endswith("expected NumPy arrays and plain containers only.")


def test_nothing_of_a_refused_file_is_run(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    path = dumped(tmp_path / "a.npy", [Evil(os.mkdir, str(mark)), 1])
    with pytest.raises(InputError):
        read_pickled(path)
    assert not mark.exists()


def program(*pieces: bytes) -> bytes:
    return pickle.PROTO + b"\x04" + b"".join(pieces) + pickle.STOP


def text(value: str) -> bytes:
    return pickle.SHORT_BINUNICODE + bytes([len(value)]) + value.encode()


DAMAGED: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "cut short"),
    "a picture": (b"\x89PNG\r\n\x1a\n" + bytes(50), "opcode"),
    "an array": (
        b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }",
        "is refused",
    ),
    "ten gigabytes of bytes": (program(pickle.BINBYTES8, (10**10).to_bytes(8, "little")), "cut short"),
    "ten gigabytes of text": (program(pickle.BINUNICODE8, (10**10).to_bytes(8, "little")), "cut short"),
    "a frame of ten gigabytes": (program(pickle.FRAME, (10**10).to_bytes(8, "little")), "cut short"),
    "an instance by its class": (program(pickle.MARK, b"iposix\nsystem\n"), "opcode 0x69"),
    "an object": (
        program(pickle.MARK, text("numpy"), text("dtype"), pickle.STACK_GLOBAL, b"o"),
        "opcode 0x6f",
    ),
    "a new object": (
        program(text("numpy"), text("dtype"), pickle.STACK_GLOBAL, pickle.EMPTY_TUPLE, pickle.NEWOBJ),
        "opcode 0x81",
    ),
    "a persistent id": (program(pickle.NONE, pickle.BINPERSID), "opcode 0x51"),
    "an extension": (program(pickle.EXT1, b"\x01"), "opcode 0x82"),
    "a buffer outside": (program(pickle.NEXT_BUFFER), "opcode 0x97"),
    "a call of a list": (program(pickle.EMPTY_LIST, pickle.EMPTY_TUPLE, pickle.REDUCE), "a call is damaged"),
    "a built list": (program(pickle.EMPTY_LIST, pickle.NONE, pickle.BUILD), "an object that is built"),
    "a function for an answer": (
        program(text("numpy"), text("dtype"), pickle.STACK_GLOBAL),
        "it holds function",
    ),
    "an attribute of a name": (
        program(text("numpy"), text("dtype.__init__"), pickle.STACK_GLOBAL),
        "it asks for 'numpy.dtype.__init__'",
    ),
    "a list in itself": (
        program(pickle.EMPTY_LIST, pickle.MEMOIZE, pickle.BINGET, b"\x00", pickle.APPEND),
        "nested too deep",
    ),
    "an empty stack": (program(pickle.APPEND), "is refused"),
    "an unknown memo": (program(pickle.BINGET, b"\x09"), "is refused"),
}


@pytest.mark.parametrize(("content", "phrase"), DAMAGED.values(), ids=DAMAGED.keys())
def test_a_damaged_or_crafted_file_is_refused(tmp_path: Path, content: bytes, phrase: str) -> None:
    path = tmp_path / "a.npy"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is refused") as refusal:
        read_pickled(path)
    assert phrase in str(refusal.value)
    assert str(refusal.value).isprintable()


def test_an_array_whose_shape_lies_is_refused(tmp_path: Path) -> None:
    content = pickle.dumps({"x": np.zeros(20_000)}, protocol=4)
    lied = content.replace((20_000).to_bytes(2, "little") + b"\x85", (20_001).to_bytes(2, "little") + b"\x85")
    assert lied != content
    (tmp_path / "a.npy").write_bytes(lied)
    with pytest.raises(InputError, match="an array is damaged"):
        read_pickled(tmp_path / "a.npy")


def test_lists_of_lists_do_not_unfold_without_end(tmp_path: Path) -> None:
    deep: list[Any] = ["laugh"]
    for _ in range(15):
        deep = [deep] * 10
    found = read_pickled(dumped(tmp_path / "a.npy", deep))
    assert found[0] is found[9]


def test_there_is_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this file does not exist"):
        read_pickled(tmp_path / "nothing.npy")


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_flipped_bytes_end_in_plain_values_or_a_refusal(tmp_path: Path, data: st.DataObject) -> None:
    content = bytearray(pickle.dumps({"x": np.arange(5.0), "names": ["a", "b"], "n": 3}, protocol=4))
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path / "a.npy"
    path.write_bytes(bytes(content))
    try:
        read_pickled(path)
    except InputError as error:
        assert str(error).isprintable()


def test_every_opcode_that_makes_objects_is_left_out() -> None:
    from neuroarena.families.img.things_eeg2.pickled import _Reader

    admitted = {opcode.name for opcode in pickletools.opcodes if ord(opcode.code) in _Reader.dispatch}
    refused = {
        "INST",
        "OBJ",
        "NEWOBJ",
        "NEWOBJ_EX",
        "EXT1",
        "EXT2",
        "EXT4",
        "PERSID",
        "BINPERSID",
        "NEXT_BUFFER",
    }
    assert not admitted & refused
    assert {"GLOBAL", "STACK_GLOBAL", "REDUCE", "BUILD"} <= admitted
