"""Sealed entries: whatever is done to their bytes or names is noticed, reported and set aside."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.sealed import SEAL_BYTES, SealedFolder, reporting_to

CONTENT = bytes(range(256)) * 3


@pytest.fixture
def folder(tmp_path):
    made = SealedFolder(tmp_path / "cache")
    made.write("cells/ab/one.cell", CONTENT)
    return made


READ = {
    "read": lambda folder, name: folder.read(name),
    "map": lambda folder, name: folder.map(name),
}
TOTAL = len(CONTENT) + SEAL_BYTES


@pytest.mark.parametrize("how", READ)
def test_an_entry_comes_back_as_it_was_written(folder, how):
    assert READ[how](folder, "cells/ab/one.cell") == CONTENT
    assert READ[how](folder, "cells/ab/two.cell") is None
    assert os.listdir(folder.root / "unfinished") == []


DAMAGES = {
    "flipped": lambda data, at: data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :],
    "cut": lambda data, at: data[:at],
    "cut in front": lambda data, at: data[at + 1 :],
    "zeros": lambda data, at: data[:at] + bytes(max(8, len(data) - at)),
    "longer": lambda data, at: data + data[at : at + 8],
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("how", READ)
@given(at=st.integers(0, TOTAL - 1))
def test_whatever_happens_to_the_bytes_is_seen(how, damage, at, tmp_path_factory):
    folder = SealedFolder(tmp_path_factory.getbasetemp() / "sealed")
    folder.write("cells/one", CONTENT)
    path = folder.path("cells/one")
    path.write_bytes(DAMAGES[damage](path.read_bytes(), at))
    said: list[str] = []
    with reporting_to(said.append):
        assert folder.check("cells/one") is not None
        assert READ[how](folder, "cells/one") is None
    assert len(said) == 1
    assert said[0].startswith(f"{path}: this entry of the cache is damaged: ")
    assert not path.exists()
    assert (folder.root / "damaged" / "cells--one").exists()


@pytest.mark.parametrize("how", READ)
def test_an_entry_under_the_name_of_another_is_refused(folder, how):
    os.rename(folder.path("cells/ab/one.cell"), folder.path("cells/ab/two.cell"))
    said: list[str] = []
    with reporting_to(said.append):
        assert READ[how](folder, "cells/ab/two.cell") is None
    assert "does not match" in said[0]


def test_an_entry_that_another_process_has_replaced_meanwhile_is_not_set_aside(folder):
    name = "cells/ab/one.cell"
    path = folder.path(name)
    stale = (str(path), 1, 2, 3, 4)
    said: list[str] = []
    with reporting_to(said.append):
        folder.set_aside(name, "it was cut", stale)
    assert "another process has replaced it" in said[0]
    assert folder.read(name) == CONTENT


def test_without_a_listener_the_report_is_a_warning_in_the_log(folder, caplog):
    path = folder.path("cells/ab/one.cell")
    path.write_bytes(b"short")
    assert folder.read("cells/ab/one.cell") is None
    assert str(path) in caplog.text


def test_a_failed_write_leaves_nothing(folder):
    with pytest.raises(TypeError), folder.writing("cells/ab/new") as writer:
        writer.write(b"half", "of it")
    assert "cells/ab/new" not in folder
    assert os.listdir(folder.root / "unfinished") == []
