"""Fetching the public studies of Brain-Score: addresses, hashes, and what a dry run says."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from file_server import HASTE, noise
from neuroarena.cli.app import app
from neuroarena.datasets.fetch import fetch
from neuroarena.datasets.fetch_plan import FetchError
from neuroarena.errors import InputError
from neuroarena.families.brainscore.vision.facts import STUDIES
from neuroarena.families.brainscore.vision.published import fetch_plan

NAMES = [
    "assy_dicarlo_MajajHong2015_public.nc",
    "stimulus_hvm-public.csv",
    "stimulus_hvm-public.zip",
    "assy_movshon_FreemanZiemba2013_public.nc",
    "stimulus_FreemanZiemba2013_aperture-public.csv",
    "stimulus_FreemanZiemba2013_aperture-public.zip",
]


def ask(*words):
    return CliRunner().invoke(app, ["data", "fetch", "brainscore_vision", *map(str, words)])


def test_every_file_of_the_public_studies_has_an_address_and_a_stated_hash():
    plan = fetch_plan()
    assert [file.path for file in plan.files] == NAMES
    assert all(file.known_hash.startswith("sha1:") for file in plan.files)
    assert plan.files[0].sha1 == STUDIES["MajajHong2015.public"].sha1
    assert plan.url(plan.files[1]).startswith(
        "https://brainscore-storage.s3.amazonaws.com/brainio-brainscore/s"
    )


def test_a_file_that_is_not_the_published_one_is_refused_and_not_kept(site, tmp_path):
    site.files = {name: noise(500, seed) for seed, name in enumerate(NAMES)}
    plan = fetch_plan(sessions=["FreemanZiemba2013.public"], url=site.url)
    with pytest.raises(FetchError, match=STUDIES["FreemanZiemba2013.public"].sha1):
        fetch(plan, tmp_path / "new", patience=HASTE)
    assert not list((tmp_path / "new").glob("assy*"))


def test_a_dry_run_prints_addresses_sizes_and_their_total_without_a_folder(site, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    site.files = {name: noise(1000 * (seed + 1), seed) for seed, name in enumerate(NAMES)}
    ran = ask("--dry-run", "--url", site.url)
    assert ran.exit_code == 0, ran.output
    for name in NAMES:
        assert f"{site.url}{name}" in ran.stdout
    assert "21.0 kB" in next(line for line in ran.stdout.splitlines() if line.split()[:1] == ["total"])
    said = json.loads(ask("--dry-run", "--url", site.url, "--json").stdout)
    assert (said["bytes_to_fetch"], said["sizes_unknown"]) == (21_000, 0)
    assert {file["sha1"] for file in said["files"]} == {file.sha1 for file in fetch_plan().files}
    assert list(tmp_path.iterdir()) == []
    assert site.gets() == []


def test_a_dry_run_works_without_a_server_and_says_so(tmp_path):
    ran = ask(tmp_path / "new", "--dry-run", "--attempts", 1, "--url", "http://127.0.0.1:9/")
    assert ran.exit_code == 0, ran.output
    assert "could not be asked" in ran.stderr
    assert "total  6 of unknown size, 6 files" in ran.stdout


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["DIR", "--subjects", "1"], "by study, not by subject"),
        (["DIR", "--sessions", "Kar2019"], "is not public"),
        (["DIR", "--sessions", "Majaj"], "is unknown"),
        ([], "Name the folder to fetch into"),
    ],
)
def test_what_cannot_be_fetched_is_refused_in_a_sentence(words, sentence):
    ran = ask(*words)
    assert isinstance(ran.exception, InputError)
    assert sentence in str(ran.exception)
