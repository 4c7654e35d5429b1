"""Fingerprints change when what they stand for changes, and only then."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass

import pytest

from neuroarena import fingerprint
from neuroarena.fingerprint import canonical_json, code_fingerprint, digest, file_digest, remember_digests_in
from neuroarena.sealed import SealedFolder, reporting_to


def test_canonical_json_has_one_form():
    @dataclass
    class Point:
        x: int
        y: float

    assert canonical_json({"b": Point(1, 2.5), "a": (1, None)}) == '{"a":[1,null],"b":{"x":1,"y":2.5}}'
    assert digest({"a": 1, "b": 2}) == digest({"b": 2, "a": 1})
    with pytest.raises(ValueError):
        canonical_json(float("nan"))
    with pytest.raises(TypeError):
        canonical_json(object())


def test_a_file_digest_follows_the_content(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"one")
    first = file_digest(path)
    path.write_bytes(b"two")
    os.utime(path, ns=(1, 1))
    assert file_digest(path) != first
    path.write_bytes(b"one")
    assert file_digest(path) == first


@pytest.fixture
def memory(tmp_path, monkeypatch):
    monkeypatch.setattr(fingerprint, "_memory", None)
    monkeypatch.setattr(fingerprint, "_digests", {})
    remember_digests_in(tmp_path / "memory")
    return SealedFolder(tmp_path / "memory")


def test_digests_of_large_files_are_remembered_between_processes(tmp_path, memory, monkeypatch):
    path = tmp_path / "large"
    path.write_bytes(b"x" * 2**20)
    first = file_digest(path)
    (note,) = memory.path("digests").iterdir()
    monkeypatch.setattr(fingerprint, "_digests", {})
    memory.remove(f"digests/{note.name}")  # the first writer of an entry wins
    memory.write(f"digests/{note.name}", b"remembered")
    assert file_digest(path) == "remembered"
    path.write_bytes(b"y" * 2**20)
    assert file_digest(path) not in ("remembered", first)


def test_a_damaged_memory_is_reported_and_the_file_is_read_again(tmp_path, memory, monkeypatch):
    path = tmp_path / "large"
    path.write_bytes(b"x" * 2**20)
    first = file_digest(path)
    (note,) = memory.path("digests").iterdir()
    note.write_bytes(note.read_bytes().replace(b"a", b"b"))
    monkeypatch.setattr(fingerprint, "_digests", {})
    said: list[str] = []
    with reporting_to(said.append):
        assert file_digest(path) == first
    assert len(said) == 1
    assert str(note) in said[0]
    assert bytes(memory.read(f"digests/{note.name}")).decode() == first


@pytest.fixture
def package(tmp_path, monkeypatch):
    folder = tmp_path / "some_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "used.py").write_text("VALUE = 1\n")
    (folder / "unused.py").write_text("VALUE = 1\n")
    (folder / "main.py").write_text("from some_package.used import VALUE\nclass Thing: ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield folder
    for name in [name for name in sys.modules if name.startswith("some_package")]:
        del sys.modules[name]


def test_a_code_fingerprint_follows_the_modules_that_are_used(package):
    thing = importlib.import_module("some_package.main").Thing
    before = code_fingerprint(thing)
    (package / "unused.py").write_text("VALUE = 2\n")
    assert code_fingerprint(thing()) == before
    (package / "used.py").write_text("VALUE = 2  # changed\n")
    assert code_fingerprint(thing) != before


def test_a_file_beside_a_single_file_module_is_followed(tmp_path, monkeypatch):
    (tmp_path / "my_lone_helper.py").write_text("VALUE = 1\n")
    (tmp_path / "my_lone_decoder.py").write_text("import my_lone_helper\nclass Thing: ...\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    thing = importlib.import_module("my_lone_decoder").Thing
    before = code_fingerprint(thing)
    (tmp_path / "my_lone_helper.py").write_text("VALUE = 2  # changed\n")
    assert code_fingerprint(thing) != before
    for name in ("my_lone_helper", "my_lone_decoder"):
        del sys.modules[name]


def test_code_without_a_source_is_refused():
    namespace: dict = {"__name__": "nowhere"}
    exec("class Thing: ...", namespace)
    with pytest.raises(ValueError, match="no source"):
        code_fingerprint(namespace["Thing"])
