"""Submission files: what is written is accepted, and every kind of bad file has its own sentence."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, check_submission, submission_words, write_submission
from neuroarena.scoring import parquet as parquet_module
from neuroarena.scoring.parquet_pages import Malformed, look_at_pages

from .bad_submissions import (
    BAD,
    BCI,
    EMG,
    GOOD,
    IDS,
    IMG,
    SLEEP,
    Bad,
    many_row_groups,
    ten_gigabytes,
    track_of,
    write,
)

TRUTH = pd.DataFrame({"id": IDS})
KINDS = [IMG, BCI, SLEEP, EMG]


def good_table(manifest: Manifest) -> pd.DataFrame:
    return pa.table(GOOD[track_of(manifest)]).to_pandas()


def refusal(path: Path, manifest: Manifest, truth: pd.DataFrame = TRUTH) -> str:
    with pytest.raises(InputError) as raised:
        check_submission(path, manifest, truth)
    return str(raised.value)


@pytest.mark.parametrize("manifest", KINDS, ids=track_of)
def test_a_submission_is_read_as_it_was_written(tmp_path: Path, manifest: Manifest) -> None:
    path = tmp_path / "submission.parquet"
    table = good_table(manifest)
    write_submission(path, table, manifest, model="ridge", contact="a@b.c", external_data=["THINGS images"])
    found = check_submission(path, manifest, TRUTH)
    assert (found.model, found.contact, found.external_data) == ("ridge", "a@b.c", ("THINGS images",))
    assert list(found.table.columns) == ["id", *manifest.prediction_columns]
    for column in found.table.columns:
        for kept, given_ in zip(found.table[column], table[column], strict=True):
            assert np.array_equal(kept, given_)


def test_the_files_of_the_tracks_have_the_columns_of_the_specification(tmp_path: Path) -> None:
    columns = {"img": "embedding", "bci": "label", "sleep": "seconds", "emg": "text"}
    for manifest in KINDS:
        path = tmp_path / f"{track_of(manifest)}.parquet"
        write_submission(path, good_table(manifest), manifest, model="m", contact="c")
        assert pa.parquet.read_schema(path).names == ["id", columns[track_of(manifest)]]
    kind = pa.parquet.read_schema(tmp_path / "img.parquet").field("embedding").type
    assert kind.value_type == pa.float32()


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD.keys())
def test_a_bad_file_is_refused_in_one_sentence_and_little_is_read(tmp_path: Path, bad: Bad) -> None:
    path = tmp_path / "submission.parquet"
    bad.make(path)
    pool = pa.default_memory_pool()
    before = pool.bytes_allocated()
    message = refusal(path, bad.manifest)
    assert bad.phrase in message
    assert "submission.parquet" in message.partition(": ")[0]
    assert message.isprintable()
    assert len(message) < 400
    assert message.endswith(("Nothing was read.", "Nothing was scored."))
    assert pool.bytes_allocated() - before < 2**20


def test_every_kind_of_bad_file_has_its_own_sentence(tmp_path: Path) -> None:
    said: dict[str, str] = {}
    for name, bad in BAD.items():
        path = tmp_path / "submission.parquet"
        bad.make(path)
        sentence = refusal(path, bad.manifest)
        assert sentence not in said, (name, said[sentence])
        said[sentence] = name
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert len(said) >= 50


PEAK = """
import sys
from pathlib import Path
import pandas as pd
import pyarrow as pa
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, check_submission
manifest = Manifest.model_validate_json(sys.argv[2])
before = pa.default_memory_pool().max_memory()
try:
    check_submission(Path(sys.argv[1]), manifest, pd.DataFrame({"id": [f"e{row:02d}" for row in range(12)]}))
except InputError as error:
    print(error)
print(pa.default_memory_pool().max_memory() - before)
"""


def test_a_list_of_ten_gigabytes_is_refused_before_it_is_unfolded(tmp_path: Path) -> None:
    path = tmp_path / "submission.parquet"
    ten_gigabytes(path)
    assert path.stat().st_size < 10_000
    values = {column.name: column.values for column in look_at_pages(path)}["embedding"]
    assert values * 8 > 10e9
    command = [sys.executable, "-c", PEAK, str(path), IMG.model_dump_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    sentence, peak = done.stdout.splitlines()
    assert f"holds {values} values in 12 rows" in sentence
    assert int(peak) < 2**20


def test_too_many_row_groups_are_refused_also_where_the_rows_are_wanted(tmp_path: Path) -> None:
    path = tmp_path / "submission.parquet"
    many_row_groups(path)
    truth = pd.DataFrame({"id": [f"r{row}" for row in range(5000)]})
    assert "5000 row groups; the limit is 4096" in refusal(path, BCI, truth)


def test_pages_that_unfold_beyond_the_limit_are_not_unfolded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "submission.parquet"
    write(path, EMG, {"id": IDS, "text": ["z" * 40 + str(row) for row in range(12)]}, use_dictionary=False)
    monkeypatch.setattr(parquet_module, "MAX_BYTES", 800)
    assert "the limit is 800" in refusal(path, EMG)


def test_the_first_bad_rows_are_named(tmp_path: Path) -> None:
    path = tmp_path / "submission.parquet"
    seconds = np.arange(12.0)
    seconds[[2, 5, 7, 8, 11]] = np.nan
    write(path, SLEEP, {"id": IDS, "seconds": seconds})
    message = refusal(path, SLEEP)
    assert 'row 2 (id "e02"): seconds is NaN' in message
    assert "the same in rows 5, 7, 8 and 1 more. Nothing" in message
    write(path, SLEEP, {"id": [*IDS[:10], "x", "y"], "seconds": np.arange(12.0)})
    assert "the id is unknown; expected ids of the truth only; the same in row 11." in refusal(path, SLEEP)


def test_the_laptop_and_the_server_give_the_same_verdict(tmp_path: Path) -> None:
    path = tmp_path / "submission.parquet"
    full = TRUTH.assign(fold="0", unit=IDS, cluster="", target=["left"] * 12)
    for name in ("an unknown id", "a duplicate id", "another track", "an unknown label"):
        BAD[name].make(path)
        assert refusal(path, BCI, TRUTH) == refusal(path, BCI, full)


def test_what_a_file_says_is_read_from_its_footer_alone(tmp_path: Path) -> None:
    path = tmp_path / "submission.parquet"
    write_submission(path, good_table(SLEEP), SLEEP, model="m", contact="c")
    content = bytearray(path.read_bytes())
    content[10:40] = bytes(30)
    path.write_bytes(bytes(content))
    assert submission_words(path, SLEEP)["model"] == "m"
    assert "damaged" in refusal(path, SLEEP)


@pytest.mark.parametrize(
    ("words", "phrase"),
    [
        ({"model": ""}, '"model" is empty'),
        ({"contact": "a\nb"}, '"contact" holds what cannot be printed'),
        ({"external_data": [""]}, "entry 0"),
    ],
)
def test_words_that_would_be_refused_are_not_written(tmp_path: Path, words: dict, phrase: str) -> None:
    path = tmp_path / "submission.parquet"
    with pytest.raises(InputError, match=phrase):
        write_submission(path, good_table(BCI), BCI, **{"model": "m", "contact": "c", **words})
    assert list(tmp_path.iterdir()) == []


def test_a_submission_is_parquet_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "submission.csv"
    path.write_text("id,label\n")
    assert "ends in .parquet" in refusal(path, BCI)


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_flipped_bytes_end_in_a_verdict(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "submission.parquet"
    write_submission(path, good_table(IMG), IMG, model="m", contact="c")
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content))
    try:
        check_submission(path, IMG, TRUTH)
    except InputError as error:
        assert str(error).isprintable()


@given(st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_bytes_for_a_footer_are_read_or_refused(tmp_path: Path, footer: bytes) -> None:
    path = tmp_path / "p.parquet"
    path.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    try:
        assert look_at_pages(path) == []
    except Malformed:
        return


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip"])
@pytest.mark.parametrize("dictionary", [True, False])
def test_pages_are_counted_as_they_are_however_they_were_written(
    tmp_path: Path, version: str, compression: str, dictionary: bool
) -> None:
    path = tmp_path / "p.parquet"
    rng = np.random.default_rng(0)
    lengths = rng.integers(0, 5, 3000)
    table = pa.table(
        {
            "id": [f"r{row}" for row in range(3000)],
            "embedding": [list(rng.integers(0, 3, length).astype(float)) for length in lengths],
            "number": pa.array([None if row % 7 == 0 else row for row in range(3000)], pa.int64()),
        }
    )
    pa.parquet.write_table(
        table,
        path,
        data_page_version=version,
        compression=compression,
        use_dictionary=dictionary,
        row_group_size=700,
        data_page_size=2000,
        write_page_index=True,
    )
    found = {column.name: column.values for column in look_at_pages(path)}
    # An empty list takes a place among the values.
    assert found == {"id": 3000, "embedding": int(np.maximum(lengths, 1).sum()), "number": 3000}
