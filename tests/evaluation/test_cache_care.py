"""The cache is measured, checked and pruned by commands; nothing of anybody else is touched."""

from __future__ import annotations

import json
import os
import time

import pytest
from typer.testing import CliRunner

from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.evaluation.cache_care import list_entries, prune_cache, sum_by_kind, verify_cache
from neuroarena.sealed import SealedFolder, reporting_to

DAY_S = 24 * 3600
HEX = "0123456789abcdef" * 4


def key(number: int) -> str:
    return f"{number:02x}{HEX[2:]}"


@pytest.fixture
def cache(tmp_path):
    """Three cells, the first not used for ten days, a shard, a digest, and a file that is not ours."""
    folder = SealedFolder(tmp_path / "cache")
    names = [f"cells/{key(number)[:2]}/{key(number)}.cell" for number in range(3)]
    names += [f"features/ab/{key(9)}/{key(8)[:24]}.{part}" for part in ("features", "starts")]
    names += [f"digests/{key(7)}.note"]
    for name in names:
        folder.write(name, bytes(1000))
    age(folder.path(names[0]), 10)
    (folder.root / "cells" / "notes.txt").write_text("mine")
    return folder


def age(path, days):
    then = time.time() - days * DAY_S
    os.utime(path, (then, then))


def ask(*words, code=0):
    ran = CliRunner().invoke(app, ["cache", *map(str, words)])
    assert ran.exit_code == code, (ran.output, ran.exception)
    return ran


def names(folder):
    return [entry.name for entry in list_entries(folder.root)]


def test_the_size_is_counted_by_kind(cache):
    kinds = json.loads(ask("size", "--cache", cache.root, "--json").stdout)["kinds"]
    assert {kind: each["files"] for kind, each in kinds.items()} == {"cells": 3, "digests": 1, "features": 2}
    assert kinds["cells"]["bytes"] == sum(path.stat().st_size for path in cache.root.rglob("*.cell"))
    assert "total" in ask("size", "--cache", cache.root).stdout


def test_a_good_cache_is_called_good(cache):
    assert "all 6 entries are good" in ask("verify", "--cache", cache.root).stdout


def test_damaged_entries_are_named_and_set_aside(cache):
    name = names(cache)[1]
    cache.path(name).write_bytes(b"x" * 500)
    ran = ask("verify", "--cache", cache.root, code=2)
    assert f"{cache.path(name)}: this entry of the cache is damaged" in ran.stderr
    assert "1 of 6 entries" in ran.stdout
    assert name not in cache
    assert "all 5 entries are good" in ask("verify", "--cache", cache.root).stdout
    assert prune_cache(cache.root).removed == {"damaged": (1, 500)}


def test_pruning_without_a_limit_removes_leftovers_only(cache):
    before = names(cache)
    old = cache.root / "cells" / "ab" / f"{key(5)}.parquet"
    old.parent.mkdir()
    old.write_bytes(b"old")
    left = cache.root / "features" / ".x.abcdef-12345678.part"
    left.write_bytes(b"left")
    age(left, 2)
    orphan = f"features/ab/{key(9)}/{key(6)[:24]}.features"
    cache.write(orphan, b"")
    age(cache.path(orphan), 2)
    counted = prune_cache(cache.root, dry_run=True)
    assert old.exists()
    assert prune_cache(cache.root) == counted
    assert {kind: files for kind, (files, _) in counted.removed.items()} == {
        "of older versions": 1,
        "unfinished": 2,
    }
    assert names(cache) == before
    assert (cache.root / "cells" / "notes.txt").read_text() == "mine"


def test_what_was_not_used_for_long_goes_first(cache):
    _, *others = names(cache)
    ask("prune", "--unused-days", 5, "--cache", cache.root)
    assert names(cache) == others


def test_a_shard_goes_as_a_whole_and_the_cache_is_brought_to_its_size(cache):
    for name in names(cache):
        age(cache.path(name), 3 if name.endswith(".features") else 1)
    age(cache.path(names(cache)[-2]), 30)
    said = json.loads(ask("prune", "--keep", "4.2kB", "--cache", cache.root, "--json").stdout)
    assert said["kept"]["bytes"] <= 4200
    groups = {name.rpartition(".")[0] for name in names(cache) if name.startswith("features")}
    assert all(f"{group}.starts" in cache and f"{group}.features" in cache for group in groups)
    ask("prune", "--keep", "0", "--cache", cache.root)
    assert names(cache) == []
    assert (cache.root / "cells" / "notes.txt").exists()


def test_links_are_not_followed_and_foreign_files_not_listed(cache, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / f"{key(1)}.cell").write_text("precious")
    (cache.root / "cells" / "link").symlink_to(elsewhere)
    before = names(cache)
    prune_cache(cache.root, unused_days=0)
    assert (elsewhere / f"{key(1)}.cell").read_text() == "precious"
    assert not any("link" in name for name in before)


@pytest.mark.parametrize("text", ["much", "-1GB", "3 parsecs", ""])
def test_a_size_that_is_none_is_refused(cache, text):
    ran = CliRunner().invoke(app, ["cache", "prune", f"--keep={text}", "--cache", str(cache.root)])
    assert isinstance(ran.exception, InputError)
    assert sum_by_kind(list_entries(cache.root))["cells"][0] == 3


def test_a_missing_cache_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no cache here"), reporting_to(print):
        verify_cache(tmp_path / "nowhere")


def test_a_folder_that_is_no_cache_is_not_called_good(tmp_path):
    assert "nothing was checked" in ask("verify", "--cache", tmp_path).stdout


def test_what_slurm_had_of_old_jobs_is_counted_and_goes_with_age(cache):
    left = ["7/7_submission.sh", "7_0/7_0_submitted.pkl", "7_0/7_0_0_result.pkl", "7_0/7_0_0_log.out"]
    for name in ("mine/notes.txt", *left):
        path = cache.root / "slurm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes(10))
        age(path, 10)
    age(cache.root / "slurm" / left[-1], 1)
    assert sum_by_kind(list_entries(cache.root))["slurm"] == (4, 40)
    assert verify_cache(cache.root) == (6, [])
    assert prune_cache(cache.root).removed == {}
    assert prune_cache(cache.root, unused_days=5).removed["slurm"] == (1, 10)
    assert prune_cache(cache.root, unused_days=0.5).removed["slurm"] == (3, 30)
    assert [path.name for path in (cache.root / "slurm").iterdir()] == ["mine"]
