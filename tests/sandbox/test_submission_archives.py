"""Zips of strangers: what is refused before any of their code is run."""

from __future__ import annotations

import stat
import zipfile
from pathlib import Path

import numpy as np
import pytest

from neuroarena.errors import InputError
from neuroarena.families.eeg2025.code_contract import answer_challenges, predict_windows
from neuroarena.sandbox.archives import SubmissionRefused, unpack_submission
from neuroarena.sandbox.limits import Limits
from sample_submissions import code, windows, zipped


def link(folder: Path) -> Path:
    path = folder / "submission.zip"
    info = zipfile.ZipInfo("weights.pt")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(info, "/etc/passwd")
    return path


def damaged(folder: Path) -> Path:
    path = zipped(folder, {"submission.py": code(), "weights.pt": np.random.default_rng(0).bytes(9999)})
    data = bytearray(path.read_bytes())
    data[2000:2100] = bytes(100)
    path.write_bytes(data)
    return path


def text(folder: Path) -> Path:
    path = folder / "submission.zip"
    path.write_text(code())
    return path


def twice(folder: Path) -> Path:
    path = zipped(folder, code())
    with pytest.warns(UserWarning, match="Duplicate"), zipfile.ZipFile(path, "a") as archive:
        archive.writestr("submission.py", "")
    return path


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (text, "is not a zip archive"),
        (lambda folder: folder / "missing.zip", "no such file"),
        (lambda folder: folder, "no such file"),
        (damaged, "damaged zip"),
        (link, "is a link"),
        (twice, "twice"),
        (lambda folder: zipped(folder, {"mine/submission.py": code()}), 'lies in the folder "mine"'),
        (lambda folder: zipped(folder, {"a/b/submission.py": code(), "x": ""}), 'lies in the folder "a/b"'),
        (
            lambda folder: zipped(folder, {"model.py": code()}),
            "has no submission.py at its root; it holds model.py",
        ),
        (lambda folder: zipped(folder, {"Submission.py": code()}), "has no submission.py at its root"),
        (lambda folder: zipped(folder, {"submission.py/x": ""}), "has no submission.py at its root"),
        (lambda folder: zipped(folder, {}), "it holds nothing"),
        (lambda folder: zipped(folder, {"../submission.py": code()}), "leads outside"),
        (lambda folder: zipped(folder, {"/etc/cron.d/x": "", "submission.py": code()}), "leads outside"),
        (lambda folder: zipped(folder, {"submission.py": code(), "bomb": bytes(110 * 2**20)}), "would grow"),
    ],
    ids=[
        "text",
        "missing",
        "folder",
        "damaged",
        "link",
        "twice",
        "nested",
        "deeper",
        "other",
        "case",
        "entry is a folder",
        "empty",
        "outside",
        "absolute",
        "bomb",
    ],
)
def test_a_bad_zip_is_refused_by_name_with_exit_code_2(tmp_path: Path, made, words: str):
    path = made(tmp_path)
    with pytest.raises(SubmissionRefused, match=words) as caught:
        predict_windows(path, 1, [windows(1.0)], stateless=False)
    assert caught.value.exit_code == 2
    assert path.name in str(caught.value)
    assert [file.name for file in tmp_path.iterdir()] in ([], [path.name])


def test_a_folder_of_any_name_beside_submission_py_keeps_its_place(tmp_path: Path):
    files = {"submission.py": code(), "submission/a.txt": "1", "python_packages/p/__init__.py": ""}
    with unpack_submission(zipped(tmp_path, files), "submission.py") as folder:
        assert {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} == set(files)
    assert not folder.exists()


def test_a_zip_inside_a_zip_stays_a_file_whatever_it_would_unpack_to(tmp_path: Path):
    bomb = zipped(tmp_path, {"bomb": bytes(110 * 2**20)}, "inner.zip").read_bytes()
    path = zipped(tmp_path, {"submission.py": code(), "weights/inner.zip": bomb})
    with unpack_submission(path, "submission.py", 2) as folder:
        assert (folder / "weights" / "inner.zip").read_bytes() == bomb
        assert sum(file.is_file() for file in folder.rglob("*")) == 2


def test_the_limit_of_size_can_be_set(tmp_path: Path):
    path = zipped(tmp_path, {"submission.py": code(), "weights.pt": bytes(3 * 2**20)})
    with (
        pytest.raises(SubmissionRefused, match=r"more than the .* allowed"),
        unpack_submission(path, "submission.py", 2),
    ):
        pass


@pytest.mark.parametrize(
    ("given", "options", "words"),
    [
        ({3: []}, {}, "challenges are 1 and 2"),
        ({1: [np.zeros((2, 128, 200), np.float32)]}, {}, r"expected float32 \(b, 129, 200\)"),
        ({1: [np.zeros((2, 129, 200))]}, {}, "float64"),
        ({1: []}, {"stateless": True}, "pass a generator"),
        ({1: []}, {}, "no window"),
    ],
)
def test_wrong_windows_are_refused(tmp_path: Path, given: dict, options: dict, words: str):
    with pytest.raises(InputError, match=words):
        answer_challenges(
            zipped(tmp_path, code()), given, Limits(seconds=300), **{"stateless": False, **options}
        )
