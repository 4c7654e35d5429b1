"""Submission folders of strangers: links, devices, folders in place of files, and too much of everything."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import submission_folder
from neuroarena.families.neuroprobe.submission_verdict import check_submission
from neuroarena.families.neuroprobe.submissions import read_submission


def linked_file(folder: Path, outside: Path) -> None:
    outside.write_text("{}")
    (folder / "metadata.json").unlink()
    (folder / "metadata.json").symlink_to(outside)


def linked_split(folder: Path, outside: Path) -> None:
    (folder / "Within-Session").rename(outside)
    (folder / "Within-Session").symlink_to(outside)


def folder_for_file(folder: Path, outside: Path) -> None:
    path = folder / "Within-Session" / "population_onset.json"
    path.unlink()
    path.mkdir()


def pipe(folder: Path, outside: Path) -> None:
    (folder / "ATTESTATION.txt").unlink()
    os.mkfifo(folder / "ATTESTATION.txt")


def large_file(folder: Path, outside: Path) -> None:
    with open(folder / "Within-Session" / "population_onset.json", "ab") as file:
        file.truncate(300 * 2**20)


def many_files(folder: Path, outside: Path) -> None:
    for number in range(submission_folder.MOST_ENTRIES):
        (folder / f"{number}").touch()


def large_folder(folder: Path, outside: Path) -> None:
    for number in range(20):
        with open(folder / f"notes{number}", "wb") as file:
            file.truncate(15 * 2**20)


HOSTILE: list[tuple[Callable[[Path, Path], None], str]] = [
    (linked_file, r"metadata\.json: it is a link; a submission holds plain files"),
    (linked_split, r"Within-Session: it is a link; a submission holds plain files"),
    (folder_for_file, r"Within-Session/population_onset\.json: it is a folder, expected a file"),
    (pipe, r"ATTESTATION\.txt: it is not a plain file"),
    (large_file, r"population_onset\.json: the file has 314.6 MB, more than the 16.8 MB allowed"),
    (many_files, "the folder holds more than 1000 files and folders"),
    (large_folder, r"the files have 314.6 MB in all, more than the 268.4 MB allowed"),
]


@pytest.mark.parametrize("read", [read_submission, check_submission])
@pytest.mark.parametrize(("harm", "said"), HOSTILE, ids=[harm.__name__ for harm, _ in HOSTILE])
def test_a_folder_that_must_not_be_read_is_refused_by_name(
    plain_submission: Path, tmp_path: Path, read: Callable[[Path], object], harm: Callable, said: str
) -> None:
    harm(plain_submission, tmp_path / "outside")
    with pytest.raises(InputError, match=rf"^{plain_submission.name}.*{said}\. Nothing was read"):
        read(plain_submission)


def test_a_link_to_a_folder_is_not_followed(plain_submission: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(plain_submission)
    with pytest.raises(InputError, match="link: the folder is a link; name the folder itself"):
        read_submission(tmp_path / "link")


@pytest.fixture
def plain_submission(tmp_path: Path) -> Path:
    """A folder of the right shape; it is refused before any of its files matters."""
    folder = tmp_path / "Model_Ada_Lovelace_1_2_2026"
    (folder / "Within-Session").mkdir(parents=True)
    for name in ("metadata.json", "Within-Session/population_onset.json"):
        (folder / name).write_text("{}")
    for name in ("ATTESTATION.txt", "PUBLICATION.bib"):
        (folder / name).write_text("N/A")
    return folder
