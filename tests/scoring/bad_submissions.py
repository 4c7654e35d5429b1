"""Submission files that are wrong, each in its own way."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from neuroarena.scoring import Manifest, write_submission

from .tables import make_manifest

LENGTH = 4
IDS = [f"e{row:02d}" for row in range(12)]
IMG = make_manifest(
    name="img/example",
    metric="top5",
    prediction="vector",
    prediction_column="embedding",
    classes=(),
    caps={"vector_length": LENGTH},
)
EMG = make_manifest(name="emg/example", metric="cer", prediction="text", classes=(), caps={"text_length": 50})
SLEEP = make_manifest(
    name="sleep/example", metric="mae", prediction="number", prediction_column="seconds", classes=()
)
BCI = make_manifest(name="bci/example", metric="accuracy", prediction="label", classes=("left", "right"))

VECTORS = np.random.default_rng(0).standard_normal((12, LENGTH)).astype(np.float32)
GOOD: dict[str, dict[str, Any]] = {
    "img": {"id": IDS, "embedding": pa.array(list(VECTORS))},
    "emg": {"id": IDS, "text": [f"line {row}" for row in range(12)]},
    "sleep": {"id": IDS, "seconds": np.arange(12.0)},
    "bci": {"id": IDS, "label": ["left", "right"] * 6},
}
WORDS = {"model": "ridge", "contact": "team@example.org", "external_data": []}


def track_of(manifest: Manifest) -> str:
    return manifest.name.partition("/")[0]


def said_of(manifest: Manifest) -> dict[str, Any]:
    return {"track": track_of(manifest), "manifest": manifest.hash, **WORDS}


def write(path: Path, manifest: Manifest, columns: Any, said: Any = None, **options: Any) -> None:
    """Write any table with any words, without the checks of ours."""
    words = json.dumps(said_of(manifest) if said is None else said)
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    table = table.replace_schema_metadata({"neuroarena": words})
    pq.write_table(table, path, **options)


@dataclass(frozen=True)
class Bad:
    """One kind of bad file: how it is made, for which track, and what its refusal says."""

    manifest: Manifest
    make: Callable[[Path], Any]
    phrase: str


def changed(manifest: Manifest, phrase: str, **columns: Any) -> Bad:
    good = GOOD[track_of(manifest)]
    return Bad(manifest, lambda path: write(path, manifest, {**good, **columns}), phrase)


def saying(phrase: str, **words: Any) -> Bad:
    said = {key: value for key, value in {**said_of(BCI), **words}.items() if value is not LEFT_OUT}
    return Bad(BCI, lambda path: write(path, BCI, GOOD["bci"], said), phrase)


LEFT_OUT = object()


def put(values: Any, row: int, value: Any) -> list[Any]:
    values = list(values)
    values[row] = value
    return values


def rewritten(change: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    """Write a good file with our own writer, then change its bytes."""

    def make(path: Path) -> None:
        write_submission(path, pd.DataFrame(GOOD["bci"]), BCI, model="m", contact="c")
        path.write_bytes(change(path.read_bytes()))

    return make


def holed(content: bytes) -> bytes:
    return content[:30] + bytes(20) + content[50:]


def huge_footer(content: bytes) -> bytes:
    return content[:-8] + struct.pack("<I", 2**30) + b"PAR1"


def ten_gigabytes(path: Path) -> None:
    """Lists of 134 million zeros in each of twelve rows, in a file of a few kilobytes.

    Run-length codes keep a million zeros in some bytes; the counts in the headers of the pages are then raised
    to the highest that takes as many bytes. The footer still says what it said before.
    """
    zeros = np.zeros(2**20)
    column = pa.array([zeros] * 12)
    write(path, IMG, {**GOOD["img"], "embedding": column}, compression="zstd", data_page_size=1)
    content = path.read_bytes()
    a_million, as_many_as_fit = b"\x80\x80\x80\x01", b"\xfe\xff\xff\x7f"
    assert content.count(a_million) >= 12
    path.write_bytes(content.replace(a_million, as_many_as_fit))


def bomb(path: Path) -> None:
    """Text of 25 MB that compresses to some kilobytes."""
    text = pa.array(["x" * 2**21 + str(row) for row in range(12)])
    write(path, EMG, {"id": IDS, "text": text}, compression="zstd", use_dictionary=False)


def dictionary_bomb(path: Path) -> None:
    """A dictionary of one long text, named by every row."""
    write(path, EMG, {"id": IDS, "text": ["y" * 2**21] * 12}, compression="zstd")


def many_row_groups(path: Path) -> None:
    rows = 5000
    columns = {"id": [f"r{row}" for row in range(rows)], "label": ["left"] * rows}
    write(path, BCI, columns, row_group_size=1)


def not_utf8(path: Path) -> None:
    text = pa.array([b"fine"] * 11 + [b"\xff\xfe"], pa.binary())
    words = pa.StringArray.from_buffers(12, *text.buffers()[1:])
    write(path, EMG, {"id": IDS, "text": words})


def no_metadata(path: Path) -> None:
    pq.write_table(pa.table(GOOD["bci"]), path)


def twice_the_same_column(path: Path) -> None:
    table = pa.table(
        [pa.array(IDS), pa.array(["left"] * 12), pa.array(["right"] * 12)], ["id", "label", "label"]
    )
    write(path, BCI, table)


MOMENTS = pa.array(np.arange(12), pa.timestamp("s"))
NESTED = pa.array([[[1.0] * LENGTH]] * 12)
WORD_LISTS = pa.array([["a"] * LENGTH] * 12)

BAD: dict[str, Bad] = {
    # Files that are none
    "an empty file": Bad(BCI, Path.touch, "the file is empty"),
    "a folder": Bad(BCI, Path.mkdir, "this is a folder"),
    "a CSV called parquet": Bad(
        BCI, lambda path: path.write_text("id,label\n"), "this is not a parquet file"
    ),
    "a truncated file": Bad(BCI, rewritten(lambda content: content[:-40]), "cut short"),
    "a file with a hole": Bad(BCI, rewritten(holed), "damaged"),
    "a footer of a gigabyte": Bad(BCI, rewritten(huge_footer), "the footer takes 1073741824 bytes"),
    # What the file says about itself
    "no metadata": Bad(BCI, no_metadata, "has no metadata of neuroarena"),
    "metadata that are no object": Bad(
        BCI, lambda path: write(path, BCI, GOOD["bci"], [1]), "not a JSON object"
    ),
    "metadata without end": saying("the file metadata take", notes="n" * 70_000),
    "another track": saying('names the track "img", expected "bci"', track="img"),
    "another manifest": saying('names the manifest "0000"', manifest="0000"),
    "another definition": saying('names the definition "0"', definition="0"),
    "no manifest": saying('the file metadata lack "manifest"', manifest=LEFT_OUT),
    "no contact": saying('the file metadata lack "contact"', contact=LEFT_OUT),
    "an empty model": saying('"model" is empty', model=" "),
    "a model that is a number": saying('"model" is int, expected text', model=7),
    "a contact without end": saying('"contact" has 300 characters; the limit is 200', contact="c" * 300),
    "a model that rings a bell": saying('"model" holds what cannot be printed', model="m\x07"),
    "external data as text": saying('"external_data" is str, expected a list', external_data="none"),
    "external data of numbers": saying('entry 0 of the metadata "external_data" is int', external_data=[1]),
    "a thousand sources": saying("names 1000 sources; the limit is 100", external_data=["a"] * 1000),
    # Columns
    "an extra column": changed(BCI, 'the column "confidence" is not expected', confidence=[1.0] * 12),
    "no prediction column": Bad(
        BCI, lambda path: write(path, BCI, {"id": IDS}), 'the column "label" is missing'
    ),
    "the column of the kind": Bad(
        IMG, lambda path: write(path, IMG, {"id": IDS, "vector": [[1.0] * 4] * 12}), '"embedding" is missing'
    ),
    "a column twice": Bad(BCI, twice_the_same_column, 'the column "label" occurs twice'),
    "dates": changed(SLEEP, 'the column "seconds" has the type "timestamp', seconds=MOMENTS),
    "a structure": changed(SLEEP, 'has the type "struct', seconds=[{"s": 1.0}] * 12),
    "lists of lists": changed(IMG, "expected a list of numbers", embedding=NESTED),
    "bytes for text": changed(EMG, 'the column "text" has the type "binary"', text=[b"a"] * 12),
    # Sizes
    "no rows": Bad(
        SLEEP,
        lambda path: write(path, SLEEP, pa.table(GOOD["sleep"]).slice(0, 0)),
        "the table has no rows",
    ),
    "too many rows": changed(
        BCI, "the file declares 600 rows, expected 12", id=IDS * 50, label=["left"] * 600
    ),
    "too many row groups": Bad(BCI, many_row_groups, "the file declares 5000 rows"),
    "a list of ten gigabytes": Bad(IMG, ten_gigabytes, "values in 12 rows; the limit is 48"),
    "a long vector": changed(
        IMG, "a list holds 9 numbers; the limit is 4", embedding=[[0.0] * 9, *([[0.0]] * 11)]
    ),
    "a short vector": changed(
        IMG, "embedding has 3 numbers, expected 4", embedding=put(VECTORS.tolist(), 7, [1.0, 2.0, 3.0])
    ),
    "an empty vector": changed(IMG, "embedding has 0 numbers", embedding=put(VECTORS.tolist(), 7, [])),
    "a compressed bomb": Bad(EMG, bomb, "bytes in 12 rows; the limit is 68704"),
    "a dictionary of one long text": Bad(EMG, dictionary_bomb, "unfolds to 209"),
    # Values
    "text for numbers": changed(SLEEP, "seconds must be a number, got text", seconds=["soon"] * 12),
    "truth values for numbers": changed(SLEEP, "got a boolean", seconds=[True] * 12),
    "words in vectors": changed(IMG, "must hold numbers only", embedding=WORD_LISTS),
    "NaN": changed(SLEEP, 'row 5 (id "e05"): seconds is NaN', seconds=put(range(12), 5, float("nan"))),
    "infinity": changed(SLEEP, "seconds is +infinity", seconds=put(np.arange(12.0), 5, float("inf"))),
    "NaN in a vector": changed(
        IMG,
        "embedding holds NaN at position 2",
        embedding=put(VECTORS.tolist(), 3, [0.0, 0.0, float("nan"), 0.0]),
    ),
    "a missing number": changed(SLEEP, "seconds is NaN", seconds=pa.array([None, *range(11)], pa.int64())),
    "a missing vector": changed(
        IMG, "embedding must be a list of numbers, got nothing", embedding=put(VECTORS.tolist(), 0, None)
    ),
    "an absurd number": changed(SLEEP, "seconds is 1e+300; expected", seconds=put(np.arange(12.0), 2, 1e300)),
    "an unknown label": changed(BCI, 'label "up" is not one of the classes', label=["up"] * 12),
    "a missing label": changed(BCI, "label is missing", label=put(["left"] * 12, 4, None)),
    "text with NUL": changed(EMG, "text holds a NUL byte", text=["a\0b"] * 12),
    "text that is not UTF-8": Bad(EMG, not_utf8, 'row 11: "text" holds bytes that are not UTF-8'),
    "long text": changed(EMG, "text has 51 characters; the limit is 50", text=put(["a"] * 12, 6, "b" * 51)),
    # Ids
    "an unknown id": changed(BCI, 'row 11 (id "x"): the id is unknown', id=put(IDS, 11, "x")),
    "a duplicate id": changed(BCI, "the id occurs twice, in rows 0 and 11", id=put(IDS, 11, "e00")),
    "a missing id": changed(BCI, "id is missing", id=put(IDS, 3, None)),
    "an empty id": changed(BCI, "id is empty", id=put(IDS, 3, "")),
    "ids that are numbers": changed(BCI, "id must be text", id=list(range(12))),
    "an id without end": changed(BCI, "id is longer than 1024 bytes", id=put(IDS, 3, "i" * 2000)),
    "fewer ids than wanted": Bad(
        BCI,
        lambda path: write(path, BCI, pa.table(GOOD["bci"]).slice(2)),
        '2 of 12 ids have no prediction, first "e00", "e01"',
    ),
}
