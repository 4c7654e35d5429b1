"""Fetching onto a real small disk: a full one is called a full one, and nothing that came is lost."""

from __future__ import annotations

import json
import shutil

import pytest

from command_line import neuroarena_in
from file_server import noise
from neuroarena.families.neuroprobe.braintreebank.files import tables_plan


@pytest.mark.parametrize("stated", [True, False], ids=["sizes-stated", "sizes-unknown"])
@pytest.mark.parametrize("pages", [1, 2, 3, 4, 7, 20, 45, 70])
def test_a_full_disk_is_one_sentence_and_exit_code_2_and_the_fetch_goes_on_later(
    site, disk, tmp_path, pages, stated
):
    place, resize = disk
    resize(1024)
    for path in place.iterdir():
        shutil.rmtree(path)
    site.files = {
        file.path: noise(100_000, seed) for seed, file in enumerate(tables_plan(sessions=["4_1"]).files)
    }
    site.lengths = site.head_lengths = stated
    words = ["data", "fetch", "braintreebank", str(place / "new"), "--tables", "--sessions", "4_1"]
    words += ["--url", site.url, "--attempts", "1"]
    resize(pages)
    ran = neuroarena_in(tmp_path, *words)
    said = ran.stderr.strip().splitlines()[-1]
    assert ran.returncode == 2, said
    assert "Traceback" not in ran.stderr
    assert said.startswith(f"neuroarena: {place}")
    assert ("are free, so nothing was fetched" if stated else "the disk is full") in said
    assert ". " not in said
    resize(1024)
    ran = neuroarena_in(tmp_path, *words, "--json")
    assert ran.returncode == 0, ran.stderr
    record = json.loads(ran.stdout)["record"]
    assert record.keys() == site.files.keys()
    for name, entry in record.items():
        assert (place / "new" / entry["products"][0]["file"]).read_bytes() == site.files[name]
    assert not (place / "new" / ".fetch").exists()
