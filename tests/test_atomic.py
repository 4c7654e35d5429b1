"""Files are written whole or not at all, a full disk is called one, and only the dead lose their leftovers."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time

import pytest

from neuroarena import atomic
from neuroarena.atomic import building, replacing, sweep, write_text
from neuroarena.errors import DiskFull

WRITER = """
import sys, time
from pathlib import Path
from neuroarena.atomic import building, replacing
make = {"file": replacing, "folder": building}[sys.argv[2]]
with make(Path(sys.argv[1])) as temporary:
    print(temporary, flush=True)
    time.sleep(900)
"""


def start_writer(target, kind) -> tuple[subprocess.Popen, str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", WRITER, str(target), kind]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    return process, process.stdout.readline().strip()


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_leftovers_of_a_killed_process_go_and_those_of_a_living_one_stay(tmp_path, kind):
    process, temporary = start_writer(tmp_path / "target", kind)
    try:
        assert sweep(tmp_path) == []
        assert os.path.exists(temporary)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert [str(path) for path in sweep(tmp_path)] == [temporary]
    assert os.listdir(tmp_path) == []


def test_writing_a_file_again_clears_its_own_leftovers_only(tmp_path):
    process, temporary = start_writer(tmp_path / "target", "file")
    process.kill()
    process.wait()
    write_text(tmp_path / "other", "x")
    assert os.path.exists(temporary)
    write_text(tmp_path / "target", "x")
    assert sorted(os.listdir(tmp_path)) == ["other", "target"]


def test_what_another_machine_left_goes_after_a_day(tmp_path):
    left = tmp_path / ".target.abcdef-12345678.part"
    left.write_text("half")
    assert sweep(tmp_path) == []
    yesterday = time.time() - 25 * 3600
    os.utime(left, (yesterday, yesterday))
    assert sweep(tmp_path) == [left]


def test_a_sweep_leaves_links_and_files_of_others_alone(tmp_path):
    (tmp_path / "precious").write_text("x")
    (tmp_path / ".link.part").symlink_to(tmp_path / "precious")
    (tmp_path / "mine.part").write_text("x")
    assert sweep(tmp_path) == []
    assert len(os.listdir(tmp_path)) == 3


def write_and_fail(path, number):
    path.write_text("ne")
    raise OSError(number, os.strerror(number))


@pytest.mark.parametrize(
    ("number", "words"), [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "the quota on this disk")]
)
def test_a_full_disk_is_called_one_and_leaves_the_old_file(tmp_path, number, words):
    path = tmp_path / "table.csv"
    path.write_text("old")
    with pytest.raises(DiskFull, match=words) as caught, replacing(path) as temporary:
        write_and_fail(temporary, number)
    assert str(caught.value).startswith(f"{tmp_path}: ")
    assert "table.csv was not written" in str(caught.value)
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["table.csv"])


def test_a_folder_that_cannot_be_built_is_named_instead_of_its_temporary_place(tmp_path):
    with (
        pytest.raises(DiskFull) as caught,
        building(tmp_path / "run") as temporary,
        replacing(temporary / "record.json") as part,
    ):
        write_and_fail(part, errno.EDQUOT)
    assert str(caught.value).startswith(
        f"{tmp_path}: the quota on this disk is used up, so run was not written"
    )
    assert os.listdir(tmp_path) == []


def test_other_errors_are_passed_on(tmp_path):
    with pytest.raises(PermissionError), replacing(tmp_path / "x"):
        raise PermissionError(errno.EACCES, "no")
    assert os.listdir(tmp_path) == []


def test_names_of_any_length_can_be_written(tmp_path):
    name = "n" * 255
    write_text(tmp_path / name, "x")
    assert os.listdir(tmp_path) == [name]


def test_without_locks_the_age_alone_decides(tmp_path, monkeypatch):
    process, temporary = start_writer(tmp_path / "target", "file")
    process.kill()
    process.wait()
    monkeypatch.setattr(atomic, "fcntl", None)
    assert sweep(tmp_path) == []
    write_text(tmp_path / "other", "x")
    os.utime(temporary, (0, 0))
    assert [str(path) for path in sweep(tmp_path)] == [temporary]
