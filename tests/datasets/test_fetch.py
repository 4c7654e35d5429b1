"""Fetching: resumed, checked before it is used, refused by name."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import struct
import zipfile
from collections import namedtuple
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from file_server import (
    BIG,
    HASTE,
    LABELS,
    PATIENCE,
    PLAIN,
    everything_below,
    noise,
    plan_of,
    sha256,
    zipped,
)
from neuroarena.datasets.download import Patience
from neuroarena.datasets.fetch import fetch, read_record, survey
from neuroarena.datasets.fetch_plan import FetchError, FetchPlan, FetchStopped, RemoteFile, is_inside
from neuroarena.errors import InputError
from neuroarena.progress import DownloadProgress

# Downloading


@pytest.mark.parametrize("known", [True, False], ids=["hash-known", "hash-unknown"])
@pytest.mark.parametrize("heads", [True, False], ids=["head", "no-head"])
@pytest.mark.parametrize("lengths", [True, False], ids=["length", "no-length"])
def test_a_file_is_fetched_whole_and_its_hash_written_down(site, tmp_path, known, heads, lengths):
    site.files["big.bin"], site.heads, site.lengths, site.head_lengths = BIG, heads, lengths, lengths
    file = RemoteFile("big.bin", ("sub/big.bin",), sha256=sha256(BIG) if known else None)
    fetched = fetch(plan_of(site, file), tmp_path / "new", patience=PATIENCE)
    assert fetched.missing == []
    assert everything_below(tmp_path / "new").keys() == {"sub/big.bin", "fetched.json"}
    assert (tmp_path / "new" / "sub" / "big.bin").read_bytes() == BIG
    entry = read_record(tmp_path / "new")["big.bin"]
    assert (entry["sha256"], entry["size"], entry["hash_was_known"]) == (sha256(BIG), len(BIG), known)


def sha1(content: bytes) -> str:
    return hashlib.sha1(content, usedforsecurity=False).hexdigest()


def test_a_stated_sha1_is_checked_as_a_sha256_is(site, tmp_path):
    site.files["big.bin"] = BIG
    good = RemoteFile("big.bin", ("big.bin",), sha1=sha1(BIG))
    fetch(plan_of(site, good), tmp_path / "good", patience=PATIENCE)
    entry = read_record(tmp_path / "good")["big.bin"]
    assert (entry["sha256"], entry["hash_was_known"]) == (sha256(BIG), True)
    assert [item.state for item in survey(plan_of(site, good), tmp_path / "good")] == ["complete"]
    bad = RemoteFile("big.bin", ("big.bin",), sha1=sha1(b"other"))
    with pytest.raises(FetchError, match=sha1(b"other")):
        fetch(plan_of(site, bad), tmp_path / "bad", patience=HASTE)
    assert not (tmp_path / "bad" / "big.bin").exists()
    with pytest.raises(InputError, match="is not the published file"):
        survey(plan_of(site, bad), tmp_path / "good", HASTE)
    with pytest.raises(InputError, match="40 lower-case"):
        RemoteFile("big.bin", ("big.bin",), sha1="no")


def test_without_asking_the_server_the_stated_sizes_are_listed(site, tmp_path):
    file = RemoteFile("big.bin", ("big.bin",), size=7)
    (item,) = survey(plan_of(site, file), tmp_path, ask=False)
    assert (item.state, item.size, site.log) == ("to fetch", 7, [])


def test_a_file_that_is_complete_is_not_fetched_again(site, tmp_path):
    site.files |= {"big.bin": BIG, "labels.zip": zipped({"labels/a.json": b"[]"})}
    plan = plan_of(site, PLAIN, LABELS)
    fetch(plan, tmp_path, patience=PATIENCE)
    before, asked = everything_below(tmp_path), len(site.log)
    again = fetch(plan, tmp_path, patience=PATIENCE)
    assert [item.state for item in again.items] == ["complete", "complete"]
    assert len(site.log) == asked
    assert everything_below(tmp_path) == before


def test_a_cut_connection_is_continued_where_it_ended(site, tmp_path):
    site.files["big.bin"], site.cuts = BIG, [100_000, 100_000]
    fetch(plan_of(site, PLAIN), tmp_path, patience=PATIENCE)
    assert (tmp_path / "big.bin").read_bytes() == BIG
    starts = [int(span.removeprefix("bytes=").rstrip("-")) for span in site.gets()[1:]]
    assert site.gets()[0] is None
    # Of a cut connection at most the last 16 KiB are asked for again.
    assert 100_000 - 2**14 < starts[0] <= 100_000
    assert 200_000 - 2**15 < starts[1] <= 200_000


def test_a_later_call_continues_what_an_earlier_one_kept(site, tmp_path):
    site.files["big.bin"], site.cuts = BIG, [131_072, 0]
    with pytest.raises(
        FetchStopped, match=r"0 of 1 files and 131\.1 kB of the next are kept in .*again to go on"
    ):
        fetch(plan_of(site, PLAIN), tmp_path, patience=Patience(attempts=2, wait_s=0))
    assert not (tmp_path / "big.bin").exists()
    (item,) = survey(plan_of(site, PLAIN), tmp_path, PATIENCE)
    assert (item.state, item.size, item.have) == ("partial", len(BIG), 131_072)
    fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE)
    assert (tmp_path / "big.bin").read_bytes() == BIG
    assert site.gets()[-1] == "bytes=131072-"
    assert not (tmp_path / ".fetch").exists()


def test_a_cut_answer_without_a_length_does_not_pass_for_the_whole_file(site, tmp_path):
    site.files["big.bin"], site.lengths, site.cuts = BIG, False, [100_000]
    fetch(plan_of(site, PLAIN), tmp_path, patience=PATIENCE)
    assert (tmp_path / "big.bin").read_bytes() == BIG
    assert len(site.gets()) == 2


def test_a_server_without_ranges_sends_the_file_from_the_start(site, tmp_path):
    site.files["big.bin"], site.cuts, site.ranges = BIG, [100_000], False
    fetch(plan_of(site, PLAIN), tmp_path, patience=PATIENCE)
    assert (tmp_path / "big.bin").read_bytes() == BIG
    assert len(site.gets()) == 2
    assert site.gets()[1].startswith("bytes=")


def test_a_server_that_always_cuts_and_never_continues_is_given_up(site, tmp_path):
    site.files["big.bin"], site.cuts, site.ranges = BIG, [100_000] * 50, False
    with pytest.raises(FetchStopped, match="gave up after 3 attempts without a new byte"):
        fetch(plan_of(site, PLAIN), tmp_path, patience=PATIENCE)


def test_a_file_that_changed_on_the_server_is_not_mixed_with_its_old_begin(site, tmp_path):
    site.files["big.bin"], site.cuts = BIG, [100_000]
    with pytest.raises(FetchStopped):
        fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE)
    site.files["big.bin"] = changed = noise(len(BIG), seed=1)
    fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE)
    assert (tmp_path / "big.bin").read_bytes() == changed


def test_a_part_from_one_server_is_not_continued_from_another(site, tmp_path):
    site.files |= {"big.bin": BIG, "mirror/big.bin": BIG}
    site.cuts = [100_000]
    with pytest.raises(FetchStopped):
        fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE)
    fetch(FetchPlan("Some", f"{site.url}mirror", (PLAIN,)), tmp_path, patience=HASTE)
    assert site.gets("mirror/big.bin") == [None]
    assert (tmp_path / "big.bin").read_bytes() == BIG


def test_a_part_of_unknown_origin_is_not_continued(site, tmp_path):
    site.files["big.bin"] = BIG
    (tmp_path / ".fetch").mkdir()
    (tmp_path / ".fetch" / "big.bin.part").write_bytes(b"something else")
    fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE)
    assert site.gets() == [None]
    assert (tmp_path / "big.bin").read_bytes() == BIG


def test_the_bytes_survive_a_process_that_dies_while_the_hash_is_computed(site, tmp_path, monkeypatch):
    import pooch.core

    class Killed(BaseException):
        pass

    def die(*words: Any, **options: Any) -> None:
        raise Killed

    site.files["big.bin"] = BIG
    file = RemoteFile("big.bin", ("big.bin",), sha256=sha256(BIG))
    with monkeypatch.context() as patch:
        patch.setattr(pooch.core, "hash_matches", die)
        with pytest.raises(Killed):
            fetch(plan_of(site, file), tmp_path, patience=HASTE)
    fetch(plan_of(site, file), tmp_path, patience=HASTE)
    assert (tmp_path / "big.bin").read_bytes() == BIG
    assert len(site.gets()) == 1


def test_stopping_by_hand_keeps_what_came(site, tmp_path):
    class Hand(DownloadProgress):
        def advance(self, stage: str, count: int = 1) -> None:
            raise KeyboardInterrupt

    site.files["big.bin"] = BIG
    with pytest.raises(FetchStopped, match=r"Stopped\. 0 of 1 files and .* are kept"):
        fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE, progress=Hand(None))
    fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE)
    assert site.gets()[1].startswith("bytes=")


# Refusals

REFUSED = {
    "wrong hash": (
        RemoteFile("big.bin", ("big.bin",), sha256="0" * 64),
        "big.bin.*" + "0" * 64 + ".*" + sha256(BIG),
    ),
    "wrong size": (RemoteFile("big.bin", ("big.bin",), size=7), "big.bin: has 300000 bytes, expected 7"),
    "404": (RemoteFile("nothing.bin", ("x.bin",)), "nothing.bin: the server answers 404 Not Found.*--url"),
    "no zip": (
        RemoteFile("page.zip", ("a",), archive=True, folder="a"),
        "page.zip: is not a zip archive; it begins with",
    ),
}


@pytest.mark.parametrize("heads", [True, False], ids=["head", "no-head"])
@pytest.mark.parametrize(("file", "sentence"), REFUSED.values(), ids=REFUSED)
def test_a_bad_file_is_named_and_nothing_of_it_is_left(site, tmp_path, file, sentence, heads):
    site.files |= {"big.bin": BIG, "page.zip": b"<!DOCTYPE html><title>Moved</title>"}
    site.heads = heads
    with pytest.raises(FetchError, match=sentence):
        fetch(plan_of(site, file), tmp_path / "new", patience=PATIENCE)
    assert not (tmp_path / "new").exists() or everything_below(tmp_path / "new") == {}


def test_one_bad_file_does_not_hold_up_the_others(site, tmp_path):
    site.files |= {"bad.zip": b"PK nothing", "big.bin": BIG}
    bad = RemoteFile("bad.zip", ("a.h5",), archive=True)
    with pytest.raises(FetchError, match=r"bad\.zip: is a damaged zip archive.* 1 of 2 files are kept"):
        fetch(plan_of(site, bad, PLAIN), tmp_path, patience=HASTE)
    assert (tmp_path / "big.bin").read_bytes() == BIG


def test_files_the_server_does_not_have_are_all_named_before_anything_is_fetched(site, tmp_path):
    site.files["big.bin"] = BIG
    absent = [RemoteFile(f"absent{number}.json", (f"{number}.json",)) for number in (1, 2)]
    with pytest.raises(FetchError, match=r"absent1\.json: .*absent2\.json: .*Nothing was fetched"):
        fetch(plan_of(site, PLAIN, *absent), tmp_path / "new", patience=HASTE)
    assert not (tmp_path / "new").exists()


def test_a_server_in_trouble_is_asked_again_and_then_given_up(site, tmp_path):
    site.status = 503
    with pytest.raises(FetchStopped, match="503 Service Unavailable; gave up after 3 attempts"):
        fetch(plan_of(site, PLAIN), tmp_path, patience=PATIENCE)
    assert len(site.log) == 3


def test_too_little_space_is_refused_before_the_first_byte(site, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr("shutil.disk_usage", lambda folder: usage(10**6, 0, 250_000))
    site.files["big.bin"] = BIG
    with pytest.raises(
        FetchStopped, match=r"at least 300\.0 kB are needed and 250\.0 kB are free, so nothing was fetched"
    ):
        fetch(plan_of(site, PLAIN), tmp_path / "new", patience=HASTE)
    assert not (tmp_path / "new").exists()
    assert site.gets() == []


def test_an_archive_that_does_not_fit_unpacked_stays_until_there_is_room(site, tmp_path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    site.files["labels.zip"] = zipped({"a.json": b" " * 10**6})
    with monkeypatch.context() as patch:
        patch.setattr("shutil.disk_usage", lambda folder: usage(10**6, 0, 500_000))
        with pytest.raises(
            FetchStopped, match=r"unpacking labels\.zip needs 1\.0 MB, and 500\.0 kB are free"
        ):
            fetch(plan_of(site, LABELS), tmp_path, patience=HASTE)
    fetch(plan_of(site, LABELS), tmp_path, patience=HASTE)
    assert (tmp_path / "labels" / "a.json").stat().st_size == 10**6
    assert len(site.gets()) == 1


def test_a_folder_that_another_process_fetches_into_is_refused(site, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    site.files["big.bin"] = BIG
    (tmp_path / ".fetch").mkdir()
    with open(tmp_path / ".fetch" / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(InputError, match="another process is fetching"):
            fetch(plan_of(site, PLAIN), tmp_path, patience=HASTE)


def test_a_file_changed_since_it_was_fetched_is_named_and_left_alone(site, tmp_path):
    site.files["labels.zip"] = zipped({"labels/a.json": b"[]"})
    fetch(plan_of(site, LABELS), tmp_path, patience=HASTE)
    (tmp_path / "labels" / "a.json").write_bytes(b"[1, 2]")
    with pytest.raises(InputError, match=r"a\.json: has 6 bytes, but 2 were fetched"):
        fetch(plan_of(site, LABELS), tmp_path, patience=HASTE)
    assert (tmp_path / "labels" / "a.json").read_bytes() == b"[1, 2]"


BASES = ["ftp://host/", "file:///etc/", "host/data", "http://", "https://host/?a=b", "http://[", ""]


@pytest.mark.parametrize("base", BASES)
def test_an_address_that_is_none_is_refused(base):
    with pytest.raises(InputError, match="is not an address to fetch from"):
        FetchPlan("Some", base, ())


# Unpacking


def odd(name: str, mode: int = 0, flags: int = 0, content: bytes = b"x") -> bytes:
    """A zip with one good file and one odd one."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("labels/a.json", b"[]")
        info = zipfile.ZipInfo("placeholder")
        info.filename, info.external_attr = name, mode << 16
        archive.writestr(info, content)
    made = bytearray(buffer.getvalue())
    if flags:
        place = made.rindex(b"PK\x01\x02") + 8
        made[place : place + 2] = struct.pack("<H", flags)
    return bytes(made)


TWICE = io.BytesIO()
with zipfile.ZipFile(TWICE, "w") as _archive:
    _archive.writestr("labels/a.json", b"[]")
    _archive.writestr("labels/A.json", b"[]")

DAMAGED = bytearray(zipped({"labels/a.json": noise(5000)}))
DAMAGED[2000] ^= 1

EVIL = {
    "parent": (odd("../outside.txt"), "leads outside the folder"),
    "parent inside": (odd("labels/../../outside.txt"), "leads outside the folder"),
    "absolute": (odd("/tmp/outside.txt"), "leads outside the folder"),
    "drive": (odd("C:/outside.txt"), "leads outside the folder"),
    "backslash": (odd("..\\outside.txt"), "leads outside the folder"),
    "link": (odd("labels/link", stat.S_IFLNK | 0o777, content=b"/etc"), "is a link"),
    "device": (odd("labels/pipe", stat.S_IFIFO | 0o644), "is no plain file"),
    "encrypted": (odd("labels/b.json", flags=1), "is encrypted"),
    "twice": (TWICE.getvalue(), 'holds "labels/A.json" twice'),
    "bomb": (
        zipped({"labels/a.json": bytes(101 * 2**20)}),
        r"would grow from .* to 105\.9 MB, more than the",
    ),
    "checksum": (bytes(DAMAGED), "is a damaged zip archive"),
    "short": (zipped({"labels/a.json": noise(5000)})[:-30], "is a damaged zip archive"),
}


@pytest.mark.parametrize(("archive", "sentence"), EVIL.values(), ids=EVIL)
def test_an_evil_archive_is_refused_whole_and_removed(site, tmp_path, archive, sentence):
    site.files["labels.zip"] = archive
    with pytest.raises(FetchError, match=sentence):
        fetch(plan_of(site, LABELS), tmp_path / "folder", patience=HASTE)
    assert everything_below(tmp_path) == {}


def test_an_archive_that_understates_its_sizes_writes_no_more_than_it_stated(site, tmp_path):
    made = bytearray(zipped({"labels/a.json": bytes(10**6)}))
    for header, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = made.rindex(header) + offset
        made[place : place + 4] = struct.pack("<I", 10)
    site.files["labels.zip"] = bytes(made)
    with pytest.raises(FetchError, match="is a damaged zip archive"):
        fetch(plan_of(site, LABELS), tmp_path / "folder", patience=HASTE)
    assert everything_below(tmp_path) == {}


def test_an_archive_larger_than_its_own_limit_is_refused(site, tmp_path):
    site.files["labels.zip"] = zipped({"labels/a.json": noise(2000)})
    small = RemoteFile("labels.zip", ("labels/a.json",), archive=True, folder="labels", unpacked_limit=1999)
    with pytest.raises(FetchError, match=r"to 2\.0 kB, more than the 2\.0 kB allowed"):
        fetch(plan_of(site, small), tmp_path / "folder", patience=HASTE)


def test_no_file_of_the_user_is_replaced_by_one_of_an_archive(site, tmp_path):
    site.files["labels.zip"] = zipped({"labels/b.json": b"new", "labels/a.json": b"[]"})
    (tmp_path / "labels").mkdir()
    (tmp_path / "labels" / "b.json").write_bytes(b"mine")
    with pytest.raises(FetchError, match=r"b\.json: already exists and differs"):
        fetch(plan_of(site, LABELS), tmp_path, patience=HASTE)
    assert not (tmp_path / "labels" / "a.json").exists()
    (tmp_path / "labels" / "b.json").rename(tmp_path / "mine.json")
    fetch(plan_of(site, LABELS), tmp_path, patience=HASTE)
    assert (tmp_path / "labels" / "b.json").read_bytes() == b"new"
    assert len(site.gets()) == 1


def test_a_folder_that_is_a_link_to_elsewhere_is_not_written_through(site, tmp_path):
    site.files["labels.zip"] = zipped({"a.json": b"[]"})
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "labels").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(FetchError, match="already exists"):
        fetch(plan_of(site, LABELS), tmp_path / "folder", patience=HASTE)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_an_archive_without_a_wanted_file_says_so_and_is_not_fetched_for_ever(site, tmp_path):
    site.files["labels.zip"] = zipped({"labels/other.json": b"[]", "__MACOSX/labels/a.json": b"junk"})
    for _ in range(2):
        assert fetch(plan_of(site, LABELS), tmp_path, patience=HASTE).missing == ["labels/a.json"]
    assert len(site.gets()) == 1


@given(st.lists(st.sampled_from(["..", ".", "a", "b", "", "~", " "]), min_size=1, max_size=6))
def test_a_name_that_counts_as_inside_never_leads_outside(parts):
    name = "/".join(parts)
    if is_inside(name):
        folder = "/somewhere/deep/in"
        assert os.path.normpath(os.path.join(folder, name)).startswith(folder)
