"""Prediction files: round trips, the same bytes, and files of strangers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, read_metadata, read_predictions, score, write_predictions
from neuroarena.scoring import parquet as parquet_module

from .tables import IDS, LABELS, NUMBERS, PROBABILITIES, TEXTS, VECTORS, make_predictions, make_truth

KINDS = [LABELS, PROBABILITIES, NUMBERS, VECTORS, TEXTS]


@pytest.mark.parametrize("manifest", KINDS, ids=lambda manifest: manifest.prediction)
def test_predictions_survive_a_round_trip(tmp_path: Path, manifest: Manifest) -> None:
    path = tmp_path / "predictions.parquet"
    table = make_predictions(manifest)
    write_predictions(path, table, manifest)
    again = read_predictions(path, manifest, expected_rows=6)
    assert list(again.columns) == ["id", *manifest.prediction_columns]
    for column in again.columns:
        assert [np.asarray(value).tolist() for value in again[column]] == list(table[column])
    before, after = (score(each, make_truth(manifest), manifest) for each in (table, again))
    pd.testing.assert_frame_equal(before.table, after.table, check_exact=True)


@pytest.mark.parametrize("manifest", KINDS, ids=lambda manifest: manifest.prediction)
def test_two_writes_give_the_same_bytes(tmp_path: Path, manifest: Manifest) -> None:
    table = make_predictions(manifest)
    for name, index in (("one", range(6)), ("two", range(10, 16))):
        write_predictions(tmp_path / f"{name}.parquet", table.set_axis(list(index)), manifest, model="m")
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "two.parquet").read_bytes()


def test_a_file_says_what_it_was_made_for(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    write_predictions(path, make_predictions(LABELS), LABELS, model="linear", external_data=["none"])
    said = json.loads(read_metadata(path) or b"")
    assert said["benchmark"] == "example/faces"
    assert said["manifest"] == LABELS.hash
    assert said["model"] == "linear"


def test_a_file_made_for_another_manifest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    write_predictions(path, make_predictions(LABELS), LABELS)
    with pytest.raises(
        InputError, match=r'p\.parquet: the file metadata names the definition "1", expected "2"'
    ):
        read_predictions(path, LABELS.replace(definition="2"))
    with pytest.raises(InputError, match="names the manifest"):
        read_predictions(path, LABELS.replace(title="Other"))


def test_vectors_are_kept_short_only_where_nothing_is_lost(tmp_path: Path) -> None:
    for name, number, kind in (("short", 0.5, pa.float32()), ("long", 0.1, pa.float64())):
        path = tmp_path / f"{name}.parquet"
        write_predictions(path, make_predictions(VECTORS).assign(vector=[[number, 1.0]] * 6), VECTORS)
        assert pq.read_schema(path).field("vector").type.value_type == kind
        assert read_predictions(path, VECTORS)["vector"][0].tolist() == [number, 1.0]


@pytest.mark.parametrize(
    ("name", "metadata", "change", "phrase"),
    [
        ("p.csv", {}, {}, "ends in .parquet"),
        ("p.parquet", {"benchmark": "x"}, {}, 'key "benchmark" is set from the manifest'),
        ("p.parquet", {"model": object()}, {}, "no JSON form"),
        ("p.parquet", {"loss": float("nan")}, {}, "no JSON form"),
        ("p.parquet", {}, {"label": "piano"}, "not one of the classes"),
    ],
)
def test_bad_predictions_are_not_written(
    tmp_path: Path, name: str, metadata: dict[str, Any], change: dict[str, Any], phrase: str
) -> None:
    with pytest.raises(InputError, match=phrase):
        write_predictions(tmp_path / name, make_predictions(LABELS).assign(**change), LABELS, **metadata)
    assert list(tmp_path.iterdir()) == []


def test_a_plain_parquet_of_pandas_is_read(tmp_path: Path) -> None:
    make_predictions(LABELS).astype({"label": "category"}).to_parquet(tmp_path / "p.parquet", index=False)
    table = read_predictions(tmp_path / "p.parquet", LABELS, expected_rows=6)
    assert score(table, make_truth(LABELS), LABELS).value == 1.0


def parquet_of(**columns: Any) -> Callable[[Path], None]:
    return lambda path: pq.write_table(pa.table(columns), path)


def _cut(path: Path) -> None:
    write_predictions(path, make_predictions(LABELS), LABELS)
    path.write_bytes(path.read_bytes()[:-30])


def _holed(path: Path) -> None:
    write_predictions(path, make_predictions(LABELS), LABELS)
    data = bytearray(path.read_bytes())
    data[40:60] = bytes(20)
    path.write_bytes(bytes(data))


def _broken_footer(path: Path) -> None:
    path.write_bytes(b"PAR1" + b"\xff" * 40 + (40).to_bytes(4, "little") + b"PAR1")


MANY = [f"e{row}" for row in range(100)]

FILE_REFUSALS: dict[str, tuple[str, Callable[[Path], Any], str]] = {
    "a missing file": ("p.parquet", lambda path: None, "there is no such file"),
    "a folder": ("p.parquet", lambda path: path.mkdir(), "this is a folder"),
    "an empty file": ("p.parquet", lambda path: path.touch(), "the file is empty"),
    "an empty CSV": ("p.csv", lambda path: path.touch(), "the file is empty"),
    "a file of three bytes": ("p.parquet", lambda path: path.write_bytes(b"PAR"), "not a parquet file"),
    "a picture": ("p.parquet", lambda path: path.write_bytes(b"\x89PNG" + bytes(99)), "not a parquet file"),
    "a file cut short": ("p.parquet", _cut, "cut short"),
    "a file with a hole": ("p.parquet", _holed, "damaged"),
    "a broken footer": ("p.parquet", _broken_footer, "damaged"),
    "an unknown suffix": ("p.npz", lambda path: path.write_bytes(b"x"), "ends in .parquet or .csv"),
    "no suffix": ("p", lambda path: path.write_bytes(b"x"), "ends in .parquet or .csv"),
    "ten times too many rows": (
        "p.parquet",
        parquet_of(id=MANY, label=MANY),
        "declares 100 rows, expected 6",
    ),
    "ten times too many rows of CSV": (
        "p.csv",
        lambda path: path.write_text("id,label\n" + "a,face\n" * 100),
        "has 100 rows, expected 6",
    ),
    "a nested column": ("p.parquet", parquet_of(id=IDS, label=[["face"]] * 6), 'has the type "list'),
    "a struct": ("p.parquet", parquet_of(id=IDS, label=[{"a": 1}] * 6), 'has the type "struct'),
    "dates": ("p.parquet", parquet_of(id=IDS, label=[pd.Timestamp(0)] * 6), 'has the type "timestamp'),
    "an extra column": ("p.parquet", parquet_of(id=IDS, label=IDS, x=IDS), 'column "x" is not expected'),
    "no label column": ("p.parquet", parquet_of(id=IDS), 'column "label" is missing'),
    "the index of pandas": (
        "p.parquet",
        lambda path: make_predictions(LABELS).set_axis(list("uvwxyz")).to_parquet(path),
        'column "__index_level_0__" is not expected',
    ),
    "a CSV with a cell too many": (
        "p.csv",
        lambda path: path.write_bytes(b"id,label\na,face,1\n"),
        "cannot be read as CSV",
    ),
    "a CSV that is not UTF-8": (
        "p.csv",
        lambda path: path.write_bytes(b"id,label\na,\xff\xfe\n"),
        "cannot be read as CSV",
    ),
    "a CSV without a label": ("p.csv", lambda path: path.write_text("id,lable\na,b\n"), '"label" is missing'),
    "a CSV that is no text": ("p.csv", lambda path: path.write_bytes(bytes(range(256)) * 4), ""),
}


@pytest.mark.parametrize(("name", "make", "phrase"), FILE_REFUSALS.values(), ids=FILE_REFUSALS.keys())
def test_a_file_that_is_none_is_refused_by_name(
    tmp_path: Path, name: str, make: Callable[[Path], Any], phrase: str
) -> None:
    path = tmp_path / name
    make(path)
    with pytest.raises(InputError) as refusal:
        read_predictions(path, LABELS, expected_rows=6)
    message = str(refusal.value)
    assert path.name in message.partition(": ")[0]
    assert phrase in message
    assert "\n" not in message


def test_a_vector_may_be_nested_once_and_hold_numbers_only(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": IDS, "vector": [[[1.0, 2.0]]] * 6}), path)
    with pytest.raises(InputError, match='has the type "list'):
        read_predictions(path, VECTORS)
    (tmp_path / "p.csv").write_text("id,vector\n")
    with pytest.raises(InputError, match="vectors do not fit into CSV"):
        read_predictions(tmp_path / "p.csv", VECTORS)


def test_a_vector_longer_than_the_cap_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": IDS, "vector": [[0.0] * 1000] * 6}), path)
    with pytest.raises(InputError, match='"vector" holds 6000 values in 6 rows; the limit is 12'):
        read_predictions(path, VECTORS.replace(caps={"vector_length": 2}))
    pq.write_table(pa.table({"id": IDS, "vector": [[0.0] * 5, *([[0.0]] * 5)]}), path)
    with pytest.raises(InputError, match="a list holds 5 numbers; the limit is 2"):
        read_predictions(path, VECTORS.replace(caps={"vector_length": 2}))


def test_text_that_unfolds_beyond_the_limit_is_not_unfolded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({"id": IDS, "text": ["x" * 10_000] * 6}), path)
    assert path.stat().st_size < 10_000
    monkeypatch.setattr(parquet_module, "MAX_BYTES", 30_000)
    with pytest.raises(InputError, match="unfolds to more than 30000 bytes"):
        read_predictions(path, TEXTS)
    monkeypatch.setattr(parquet_module, "MAX_BYTES", 5_000)
    with pytest.raises(InputError, match=r"the file declares \d+ bytes; the limit is 5000"):
        read_predictions(path, TEXTS)


@pytest.mark.parametrize(
    ("manifest", "text"),
    [
        (LABELS, "id,label\na,face\nb,house\nc,tool\nd,face\ne,house\nf,tool\n"),
        (NUMBERS, "number,id\n1,a\n2.0,b\n3e0,c\n4,d\n5,e\n6,f"),
        (TEXTS, '\ufeffid,text\r\na,one\r\nb,two\r\nc,"three"\r\nd,four\r\ne,five\r\nf,six\r\n'),
    ],
)
def test_a_csv_is_read_as_its_parquet_would_be(tmp_path: Path, manifest: Manifest, text: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text, encoding="utf-8", newline="")
    table = read_predictions(path, manifest, expected_rows=6)
    expected = score(make_predictions(manifest), make_truth(manifest), manifest)
    assert score(table, make_truth(manifest), manifest).table.equals(expected.table)


def test_ids_and_words_of_a_csv_stay_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "p.csv"
    path.write_text('id,text\n007,NA\n1e3,nan\n"a,b","line\nbreak"\n')
    table = read_predictions(path, TEXTS)
    assert table["id"].tolist() == ["007", "1e3", "a,b"]
    assert table["text"].tolist() == ["NA", "nan", "line\nbreak"]


@pytest.mark.parametrize(
    ("cell", "phrase"),
    [("", "is missing or NaN"), ("high", '"high"'), ("nan", "NaN"), ("inf", r"\+infinity")],
)
def test_a_bad_number_of_a_csv_is_named_by_row(tmp_path: Path, cell: str, phrase: str) -> None:
    path = tmp_path / "p.csv"
    path.write_text("id,number\n" + "".join(f"{i},{cell if i == 'd' else 1}\n" for i in IDS))
    table = read_predictions(path, NUMBERS)
    with pytest.raises(InputError, match=rf'row 3 \(id "d"\).*{phrase}'):
        score(table, make_truth(NUMBERS), NUMBERS, source=path.name)


@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_file_with_flipped_bytes_ends_in_a_score_or_a_refusal(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "p.parquet"
    write_predictions(path, make_predictions(PROBABILITIES), PROBABILITIES)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(0, len(content)))] or content))
    try:
        table = read_predictions(path, PROBABILITIES, expected_rows=6)
        score(table, make_truth(PROBABILITIES), PROBABILITIES)
    except InputError:
        return


ABORT_DRILL = """
import sys
from pathlib import Path
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, read_predictions
path, manifest = Path(sys.argv[1]), Manifest.model_validate_json(sys.argv[2])
content, refused = path.read_bytes(), 0
footer = int.from_bytes(content[-8:-4], "little")
for place in range(len(content) - 8 - footer, len(content) - 8):
    path.write_bytes(content[:place] + bytes([39]) + content[place + 1 :])
    try:
        read_predictions(path, manifest, expected_rows=6)
    except InputError:
        refused += 1
print("refused", refused, "of", footer)
"""


def test_no_damaged_byte_of_the_footer_aborts_the_process(tmp_path: Path) -> None:
    # pyarrow 26.0.1 ends the whole process, without an exception, when the sizes of a column are asked
    # for and its levels are damaged; a stranger's file must not be able to do that to a worker.
    path = tmp_path / "p.parquet"
    write_predictions(path, make_predictions(LABELS), LABELS)
    command = [sys.executable, "-c", ABORT_DRILL, str(path), LABELS.model_dump_json()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-500:]
    assert done.stdout.startswith("refused ")
