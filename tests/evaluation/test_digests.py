"""Kept results: a board reads what was written or nothing, and two that finish at once lose nothing."""

from __future__ import annotations

import json
import threading

import pytest

from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate, find_results, load_result, results
from neuroarena.evaluation.bookkeeping import remove_result, rename_result
from neuroarena.evaluation.digests import DamagedResult
from neuroarena.evaluation.results import save_result
from neuroarena.evaluation.shelf import LOG, REMOVED
from neuroarena.sealed import reporting_to
from toy import Mean, toy_benchmark


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path_factory.mktemp("cache"))


@pytest.fixture
def kept(result, tmp_path):
    return save_result(result, tmp_path).folder


def flip(path, at=None):
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if at is None else at] ^= 1
    path.write_bytes(data)


DAMAGES = {
    "a flipped bit in the predictions": lambda folder: flip(folder / "predictions.parquet"),
    "a flipped bit in the scores": lambda folder: flip(folder / "unit_scores.parquet"),
    "scores cut short": lambda folder: (folder / "unit_scores.parquet").write_bytes(b"PAR1"),
    "no scores": lambda folder: (folder / "unit_scores.parquet").unlink(),
    "a flipped digit of the score": lambda folder: flip_score(folder / "record.json"),
    "another digest": lambda folder: flip_digest(folder / "record.json"),
    "half a record": lambda folder: (folder / "record.json").write_bytes(
        (folder / "record.json").read_bytes()[:300]
    ),
}


def flip_score(path):
    text = path.read_text()
    at = text.index('"score": 0.') + len('"score": 0.')
    flip(path, at)


def flip_digest(path):
    at = path.read_text().index("unit_scores.parquet") + len('unit_scores.parquet": "')
    data = bytearray(path.read_bytes())
    data[at] = ord("0") if data[at] != ord("0") else ord("1")
    path.write_bytes(data)


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_result_is_refused_by_name_and_written_anew_by_the_next_run(damage, result, kept):
    before = {path.name: path.read_bytes() for path in kept.iterdir()}
    DAMAGES[damage](kept)
    with pytest.raises(DamagedResult, match=f"neuroarena results remove {kept}") as caught:
        load_result(kept)
    assert str(caught.value).startswith(f"{kept}/")
    said: list[str] = []
    with reporting_to(said.append):
        again = save_result(result, kept.parent)
    assert again.folder == kept
    assert {path.name: path.read_bytes() for path in kept.iterdir()} == before
    assert len(said) == 1
    assert str(kept) in said[0]
    assert len(list((kept.parent / REMOVED).iterdir())) == 1
    (line,) = (kept.parent / LOG).read_text().splitlines()
    assert json.loads(line)["act"] == "set aside"
    assert find_results([kept.parent]) == [kept]


def test_a_damaged_result_can_be_taken_off_the_boards(kept):
    flip(kept / "unit_scores.parquet")
    assert remove_result(kept).parent.name == REMOVED
    with pytest.raises(InputError, match="no run in this folder"):
        find_results([kept.parent])


def test_a_result_without_digests_is_read_as_before(kept, result):
    record = json.loads((kept / "record.json").read_text())
    assert set(record.pop("digests")) == {"predictions.parquet", "unit_scores.parquet", "record.json"}
    (kept / "record.json").write_text(json.dumps(record))
    assert load_result(kept).score == result.score
    rename_result(kept, "other")
    assert "digests" not in json.loads((kept / "record.json").read_text())


def test_renaming_keeps_the_digests_good(kept):
    rename_result(kept, "other")
    assert load_result(kept).record.decoder.name == "other"
    flip(kept / "unit_scores.parquet")
    with pytest.raises(DamagedResult):
        load_result(kept)


def test_a_foreign_folder_in_the_way_is_left_alone(result, tmp_path):
    folder = tmp_path / results.run_name(result.record)
    folder.mkdir()
    (folder / "precious.txt").write_text("x")
    assert save_result(result, tmp_path).folder.name.endswith("-attempt2")
    assert (folder / "precious.txt").read_text() == "x"


def test_two_that_finish_at_once_keep_one_result_and_both_return_it(result, tmp_path, monkeypatch):
    together = threading.Barrier(2)
    write_json = results.write_json

    def wait_and_write(path, value):
        write_json(path, value)
        together.wait(timeout=300)

    monkeypatch.setattr(results, "write_json", wait_and_write)
    returned: list = []
    threads = [
        threading.Thread(target=lambda: returned.append(save_result(result, tmp_path))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [each.score for each in returned] == [result.score] * 2
    assert {each.folder for each in returned} == {find_results([tmp_path])[0]}
    assert len(list(tmp_path.iterdir())) == 1
