"""A cache that was damaged on disk, emptied or shared changes no score, and says what it found."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from neuroarena.evaluation import evaluate
from neuroarena.evaluation.cache import CellCache
from neuroarena.evaluation.feature_plan import name_shards
from neuroarena.evaluation.feature_store import FeatureStore
from neuroarena.evaluation.plan import plan_runs
from neuroarena.progress import Silence
from neuroarena.scoring import score
from neuroarena.sealed import SEAL_BYTES
from toy import Mean, toy_benchmark, toy_manifest


class Listener(Silence):
    """Progress that remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, stage: str, text: str) -> None:
        self.lines.append(f"{stage}: {text}")


def labels_benchmark():
    return toy_benchmark(manifest=toy_manifest(metric="accuracy", prediction="label"), strength=0.15)


def assert_same(first, second):
    pd.testing.assert_frame_equal(first.predictions, second.predictions, check_exact=True)
    assert first.score == second.score


def files(cache: Path, ending: str) -> list[Path]:
    return sorted(cache.rglob(f"*{ending}"))


def swap_labels(data: bytes) -> bytes:
    """Flip one bit in each of two bytes: the labels "0" and "1" that the rows of a cell refer to."""
    at = re.search(rb"\x01\0\0\0[01]\x01\0\0\0[01]", data).start()
    changed = bytearray(data)
    changed[at + 4] ^= 1
    changed[at + 9] ^= 1
    return bytes(changed)


def test_two_flipped_bytes_in_a_cell_no_longer_change_the_score(tmp_path):
    benchmark, cache = labels_benchmark(), tmp_path / "cache"
    right = evaluate(Mean(), benchmark, "cross", cache=cache)
    cell = files(cache, ".cell")[0]
    damaged = swap_labels(cell.read_bytes())
    # The bytes are a good table still, with another score: nothing but a checksum can tell.
    wrong = pq.read_table(pa.BufferReader(damaged[:-SEAL_BYTES])).to_pandas()
    predictions = right.predictions.set_index("id")
    predictions.loc[wrong["id"], "label"] = wrong["label"].to_numpy()
    truth = benchmark.truth(benchmark.split("cross"))
    assert abs(score(predictions.reset_index(), truth, benchmark.manifest).value - right.score) > 0.02
    cell.write_bytes(damaged)
    heard = Listener()
    assert_same(evaluate(Mean(), benchmark, "cross", cache=cache, progress=heard), right)
    (line,) = heard.lines
    assert line.startswith(f"cache: {cell}: this entry of the cache is damaged")
    assert (cache / "damaged" / f"cells--{cell.parent.name}--{cell.name}").read_bytes() == damaged
    again = Listener()
    assert_same(evaluate(Mean(), benchmark, "cross", cache=cache, progress=again), right)
    assert again.lines == []


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.drill)])
@pytest.mark.parametrize("ending", [".features", ".starts"])
def test_damaged_features_are_computed_again_and_reported(tmp_path, ending, workers):
    cache = tmp_path / "cache"
    right = evaluate(Mean(), toy_benchmark(), "cross", cache=cache)
    for cell in files(cache, ".cell"):
        cell.unlink()
    shard = files(cache, ending)[0]
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 64
    shard.write_bytes(data)
    heard = Listener()
    again = evaluate(Mean(), toy_benchmark(), "cross", cache=cache, progress=heard, workers=workers)
    assert_same(again, right)
    assert [str(shard) in line for line in heard.lines] == [True]


def test_features_that_vanish_during_a_run_are_computed_again(tmp_path):
    benchmark = toy_benchmark()
    recording = benchmark.recording("1_0")
    store = FeatureStore(tmp_path, recording.fingerprint(), Mean().features, 50)
    starts = np.array([300, 20, 100])
    first = store.gather(recording, starts)
    for path in files(tmp_path, ".features"):
        path.unlink()
    np.testing.assert_array_equal(store.gather(recording, starts), first)


def test_a_cell_finds_its_features_where_the_folder_does_not_list_them_yet(tmp_path, monkeypatch):
    """A network drive may show another machine's files a minute late; opened by name they are there."""
    right = evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path)
    for cell in files(tmp_path, ".cell"):
        cell.unlink()
    cells = plan_runs([("mean", Mean())], [toy_benchmark()], ["cross"])[0].cells
    told = name_shards(cells, [], tmp_path)
    before = {path: path.stat().st_mtime_ns for path in files(tmp_path, ".features")}
    monkeypatch.setattr(FeatureStore, "list_shards", lambda self: [])
    computed = []
    monkeypatch.setattr(FeatureStore, "compute", lambda self, recording, starts: computed.append(starts))
    for cell in told:
        cell.run(tmp_path)
    assert computed == []
    assert {path: path.stat().st_mtime_ns for path in files(tmp_path, ".features")} == before
    assert_same(evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path), right)


def test_a_cell_that_another_process_removes_meanwhile_is_made_again(tmp_path):
    cache = tmp_path / "cache"
    right = evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path / "other")

    class Thief(Silence):
        taken = 0

        def advance(self, stage: str, count: int = 1) -> None:
            if stage == "cells" and not self.taken:
                self.taken += 1
                files(cache, ".cell")[0].unlink()

    assert_same(evaluate(Mean(), toy_benchmark(), "cross", cache=cache, progress=Thief()), right)


def test_a_cell_that_can_never_be_read_back_fails_with_its_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(CellCache, "read", lambda self, key: None)
    result = evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path)
    assert not result.complete
    assert "could not be read back" in result.record.cells[0].error


def test_leftovers_of_a_dead_process_are_gone_after_the_next_run(tmp_path):
    evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path)
    (first,) = {path.name for path in files(tmp_path, ".cell")[:1]}
    code = (
        "import os, sys; from pathlib import Path; from neuroarena.sealed import SealedFolder\n"
        "with SealedFolder(Path(sys.argv[1])).writing(sys.argv[2]) as writer:\n"
        "    writer.write(b'half'); os.kill(os.getpid(), 9)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run(
        [sys.executable, "-c", code, str(tmp_path), f"cells/ab/{first}"], env=environment, check=False
    )
    assert len(os.listdir(tmp_path / "unfinished")) == 1
    evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path)
    assert os.listdir(tmp_path / "unfinished") == []


def test_two_decoders_without_a_fingerprint_never_share_a_cell(tmp_path):
    keys = set()
    for _ in range(2):
        decoder = Mean()
        decoder.rule = lambda level: level
        result = evaluate(decoder, toy_benchmark(), "cross", cache=tmp_path)
        assert result.record.decoder.not_cached_because
        keys |= {cell.key for cell in result.record.cells}
        del decoder  # the next one may be made at the same address
    assert len(keys) == 8
