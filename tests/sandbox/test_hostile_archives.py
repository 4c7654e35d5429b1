"""Zips that mean harm, and zips that chance has damaged: refused in one sentence, or unpacked."""

from __future__ import annotations

import contextlib
import io
import os
import stat
import struct
import tempfile
import unicodedata
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from byte_damage import mutate
from neuroarena.datasets import unpack as unpacking
from neuroarena.errors import NeuroarenaError
from neuroarena.sandbox.archives import SubmissionRefused, unpack_submission

CODE = "class Submission: ...\n"


def with_names(*names: str, method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip with these files beside submission.py; names are written as they are."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        archive.writestr("submission.py", CODE)
        for name in names:
            archive.writestr(name, "content " * 50)
    return made.getvalue()


def special(kind: int) -> bytes:
    made = io.BytesIO()
    info = zipfile.ZipInfo("special")
    info.external_attr = (kind | 0o777) << 16
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("submission.py", CODE)
        archive.writestr(info, "/etc/passwd")
    return made.getvalue()


def bad_utf8() -> bytes:
    # The flag says UTF-8, the bytes are none.
    return with_names("näme.txt").replace("näme".encode(), b"n\xff\xfeme")


def damaged_content(method: int) -> bytes:
    content = bytearray(with_names("weights.bin", method=method))
    place = content.index(b"weights.bin") + len(b"weights.bin")
    content[place : place + 30] = b"\xff" * 30
    return bytes(content)


def with_method(code: int) -> bytes:
    content = bytearray(with_names("weights.bin"))
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = content.rindex(mark)
        content[at + place : at + place + 2] = struct.pack("<H", code)
    return bytes(content)


def shared_bytes() -> bytes:
    """Many entries that all lie in the same bytes, so that a small file unpacks to a large one."""
    content = bytearray(with_names(*(f"{number}.bin" for number in range(20))))
    first = content.index(b"PK\x03\x04", 4)
    place = content.index(b"PK\x01\x02")
    while (place := content.find(b"PK\x01\x02", place + 1)) >= 0:
        content[place + 42 : place + 46] = struct.pack("<I", first)
    return bytes(content)


def huge_directory() -> bytes:
    content = bytearray(with_names())
    end = content.rindex(b"PK\x05\x06")
    content[end + 12 : end + 16] = struct.pack("<I", 2**31)
    return bytes(content)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "traversal": (lambda: with_names("../../etc/x"), "leads outside"),
    "absolute": (lambda: with_names("/etc/x"), "leads outside"),
    "backslash": (lambda: with_names("..\\x"), "leads outside"),
    "link": (lambda: special(stat.S_IFLNK), "is a link"),
    "FIFO": (lambda: special(stat.S_IFIFO), "no plain file"),
    "device": (lambda: special(stat.S_IFCHR), "no plain file"),
    "case": (lambda: with_names("A.txt", "a.txt"), "twice"),
    "accents written in two ways": (
        lambda: with_names(*(unicodedata.normalize(form, "é.txt") for form in ("NFC", "NFD"))),
        "twice",
    ),
    "a name of 300 characters": (lambda: with_names("n" * 300), "up to 300 bytes per part"),
    "3,000 folders deep": (lambda: with_names("d/" * 3000 + "x"), "3001 folders deep"),
    "a file that is also a folder": (
        lambda: with_names("a", "a/b"),
        '"a" is a file and also the folder of "a/b"',
    ),
    "the entry as a folder": (
        lambda: with_names("submission.py/x"),
        '"submission.py" is a file and also the folder',
    ),
    "unknown method": (lambda: with_method(97), "is compressed by method 97, expected the usual one"),
    "bzip2": (lambda: with_names("x", method=zipfile.ZIP_BZIP2), "is compressed by method 12"),
    "LZMA with any dictionary": (
        lambda: with_names("x", method=zipfile.ZIP_LZMA),
        "is compressed by method 14",
    ),
    "damaged deflate": (lambda: damaged_content(zipfile.ZIP_DEFLATED), "damaged zip archive"),
    "entries in the same bytes": (shared_bytes, "damaged zip archive"),
    "the same name twice": (lambda: with_names("a.txt", "b.txt").replace(b"b.txt", b"a.txt"), "twice"),
    "names that are not UTF-8": (bad_utf8, "damaged zip archive"),
    "a directory of two gigabytes": (huge_directory, "table of contents is larger than 33.6 MB"),
    "nothing but the end": (lambda: with_names()[-22:], "damaged zip archive|is not a zip"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_zip_is_refused_in_a_sentence_that_names_it(name: str, tmp_path: Path) -> None:
    make, said = HOSTILE[name]
    path = tmp_path / "mine.zip"
    path.write_bytes(make())
    with (
        pytest.raises(SubmissionRefused, match=rf"^mine\.zip: .*({said})") as refused,
        unpack_submission(path, "submission.py"),
    ):
        pass
    message = str(refused.value)
    assert "/tmp" not in message
    assert "submission.zip" not in message
    assert "\n" not in message


def test_methods_that_datasets_may_use_fail_as_damaged_archives_too(tmp_path: Path) -> None:
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        path = tmp_path / "data.zip"
        path.write_bytes(damaged_content(method))
        described = unpacking.RemoteFile("data.zip", (), archive=True, folder="data")
        with pytest.raises(unpacking.BadArchive, match=r"data\.zip: is a damaged zip archive"):
            unpacking.unpack(path, described, tmp_path, tmp_path)
        assert not (tmp_path / "data").exists()


def test_a_zip_larger_than_the_limit_is_not_opened(tmp_path: Path) -> None:
    path = tmp_path / "large.zip"
    with open(path, "wb") as file:
        file.truncate(3 * 2**20)
    with (
        pytest.raises(SubmissionRefused, match=r"large\.zip: has 3\.1 MB, more than the 2\.1 MB allowed"),
        unpack_submission(path, "submission.py", 2),
    ):
        pass


def test_a_full_disk_is_the_machines_fault_and_its_folder_is_not_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mine.zip"
    path.write_bytes(with_names())
    monkeypatch.setattr(unpacking, "free_bytes", lambda folder: 3)
    with (
        pytest.raises(
            NeuroarenaError, match=r"mine\.zip: could not be unpacked \(this machine: unpacking"
        ) as said,
        unpack_submission(path, "submission.py"),
    ):
        pass
    assert "/tmp" not in str(said.value)
    assert not isinstance(said.value, SubmissionRefused)


def mutants(rng: np.random.Generator, count: int) -> list[bytes]:
    """Zips of four methods with a few bytes changed, most of them in a header."""
    seeds = [
        with_names("weights.bin", "python_packages/p/__init__.py", "näme.txt", method=method)
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA)
    ]
    return [mutate(rng, seeds[number % len(seeds)], b"PK") for number in range(count)]


def check_mutants(folder: Path, seed: int, count: int) -> None:
    path = folder / "mutant.zip"
    described = unpacking.RemoteFile("mutant.zip", (), archive=True, folder="data")
    refused = 0
    for content in mutants(np.random.default_rng(seed), count):
        path.write_bytes(content)
        try:
            with unpack_submission(path, "submission.py") as unpacked:
                assert (unpacked / "submission.py").is_file()
                assert not any(entry.is_symlink() for entry in unpacked.rglob("*"))
        except SubmissionRefused as error:
            refused += 1
            assert str(error).startswith("mutant.zip: ")
            assert tempfile.gettempdir() not in str(error)
            assert "\n" not in str(error)
        # Datasets may use every method that Python knows.
        with contextlib.suppress(unpacking.FetchError), tempfile.TemporaryDirectory() as root:
            unpacking.unpack(path, described, Path(root), Path(root))
    assert refused > count / 4
    assert os.listdir(folder) == ["mutant.zip"]


def test_damaged_zips_are_unpacked_or_refused(tmp_path: Path) -> None:
    check_mutants(tmp_path, seed=1, count=60)


@pytest.mark.drill
@pytest.mark.parametrize("seed", range(4))
def test_two_thousand_damaged_zips_are_unpacked_or_refused(tmp_path: Path, seed: int) -> None:
    check_mutants(tmp_path, seed=10 + seed, count=500)
