"""Files of DataLad, git-annex and Git LFS whose content was not fetched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import neuroarena_in
from neuroarena.errors import InputError
from neuroarena.recordings import annotations, from_npy, open_file
from neuroarena.recordings.content import ContentNotFetched

ANNEXED = "../../.git/annex/objects/Xw/9K/MD5E-s100--ab/MD5E-s100--ab.bdf"
POINTER = "/annex/objects/MD5E-s233096448--10ef3d91e5dcfef46ae3f82ed5fcab3e.bdf\n"
LFS = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12345\n"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A dataset of three people without content: a link, a pointer, and a pointer of Git LFS."""
    for person in ("01", "02", "03"):
        (tmp_path / f"sub-{person}" / "eeg").mkdir(parents=True)
    (tmp_path / "dataset_description.json").write_text("{}")
    names = [tmp_path / f"sub-{n}" / "eeg" / f"sub-{n}_task-rest_eeg.bdf" for n in ("01", "02", "03")]
    names[0].symlink_to(ANNEXED)
    names[1].write_text(POINTER)
    names[2].write_text(LFS)
    return tmp_path


@pytest.mark.parametrize("read", [open_file, annotations, lambda path: from_npy(path, 100.0)])
@pytest.mark.parametrize(
    ("person", "keeper", "command"),
    [
        ("01", "git-annex", "datalad get"),
        ("02", "git-annex", "datalad get"),
        ("03", "Git LFS", "git lfs pull"),
    ],
)
def test_a_file_without_its_content_says_so_with_the_number_of_others(
    clone: Path, read: object, person: str, keeper: str, command: str
) -> None:
    name = f"sub-{person}/eeg/sub-{person}_task-rest_eeg.bdf"
    with pytest.raises(ContentNotFetched) as refused:
        read(clone / name)  # type: ignore[operator]
    message = str(refused.value)
    assert message.startswith(
        f"{clone / name}: content not fetched from {keeper}, nor that of 2 other .bdf files of {clone}."
    )
    assert f"Run `{command}" in message
    assert f"{name}` in {clone}." in message


def test_samples_beside_a_header_must_be_fetched_too(brainvision: Path, tmp_path: Path) -> None:
    for suffix in (".vhdr", ".vmrk"):
        (tmp_path / brainvision.name).with_suffix(suffix).write_bytes(
            brainvision.with_suffix(suffix).read_bytes()
        )
    (tmp_path / brainvision.name).with_suffix(".eeg").symlink_to(ANNEXED)
    with pytest.raises(ContentNotFetched, match=r"resting\.eeg: content not fetched from git-annex\. Run"):
        open_file(tmp_path / brainvision.name)


def test_any_other_link_that_leads_nowhere_says_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "night.edf").symlink_to("elsewhere/night.edf")
    with pytest.raises(InputError, match=r"there is no such file; it is a link to elsewhere/night\.edf"):
        open_file(tmp_path / "night.edf")


@pytest.mark.parametrize("dataset", ["muse_sleep", "bci_commands", "emg2qwerty", "hbn"])
def test_verify_names_missing_content_once_with_its_number(
    clone: Path, tmp_path_factory: pytest.TempPathFactory, dataset: str
) -> None:
    outcome = neuroarena_in(tmp_path_factory.mktemp("work"), "data", "verify", dataset, str(clone), "--json")
    assert outcome.returncode == 2
    (problem,) = json.loads(outcome.stdout)
    assert problem["problem"].startswith(
        "content not fetched: 3 files of the folder are only a link or a pointer"
    )
    assert "datalad get" in problem["problem"]
