"""Submission files: predictions that say who made them, checked alike on the laptop and on the server."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.errors import InputError
from neuroarena.scoring.checks import check_metadata, check_possible, check_predictions
from neuroarena.scoring.columns import quote
from neuroarena.scoring.files import read_predictions, write_predictions
from neuroarena.scoring.manifest import Manifest
from neuroarena.scoring.parquet import open_parquet

REQUIRED = ("track", "manifest", "model", "contact", "external_data")
MAX_WORDS = 200
MAX_SOURCES = 100
NOTHING = "Nothing was read."


@dataclass(frozen=True, eq=False)
class Submission:
    """What a checked submission file holds.

    Attributes
    ----------
    table : DataFrame
        The predictions, as :func:`neuroarena.scoring.score` takes them.
    model, contact : str
    external_data : tuple of str
        Data besides the track's own that the model was trained on, as declared; empty for none.
    """

    table: pd.DataFrame
    model: str
    contact: str
    external_data: tuple[str, ...]


def write_submission(
    path: str | Path,
    table: pd.DataFrame,
    manifest: Manifest,
    *,
    model: str,
    contact: str,
    external_data: Sequence[str] = (),
) -> None:
    """Write ``submission.parquet``: the predictions, and what the file must say about itself.

    Parameters
    ----------
    path : str or Path
        A file name that ends in ``.parquet``.
    table : DataFrame
        ``id`` and the columns of ``manifest.prediction_columns``; checked first.
    manifest : Manifest
        Track, task, definition and hash are written into the file.
    model, contact : str
        The entry's name on the board, and whom to contact about it.
    external_data : sequence of str
        Declared external data; empty for none.

    Raises
    ------
    InputError
        When the table or the words are refused; nothing is written.
    """
    name = Path(path).name
    said = {"model": model, "contact": contact, "external_data": list(external_data)}
    _check_words(said, name)
    check_possible(table, manifest, name)
    write_predictions(path, table, manifest, **said)


def check_submission(path: str | Path, manifest: Manifest, truth: pd.DataFrame) -> Submission:
    """Check a submission file, and return its content.

    The footer is checked first: a file of another track, with other columns or of
    an absurd size is refused before its rows are read.

    Parameters
    ----------
    path : str or Path
    manifest : Manifest
    truth : DataFrame
        Only its ``id`` is needed, so that a participant without the answers gets the server's verdict.

    Raises
    ------
    InputError
        At the first thing that is wrong, in one sentence.
    """
    path = Path(path)
    if path.suffix.lower() != ".parquet":
        raise InputError(f"{path.name}: a submission is a file that ends in .parquet. {NOTHING}")
    said = submission_words(path, manifest)
    table = read_predictions(path, manifest, expected_rows=len(truth))
    check_predictions(table, truth, manifest, path.name)
    check_possible(table, manifest, path.name)
    return Submission(table, said["model"], said["contact"], tuple(said["external_data"]))


def submission_words(path: str | Path, manifest: Manifest) -> dict[str, Any]:
    """Read the metadata of a submission from its footer alone.

    Raises
    ------
    InputError
        When it says nothing, too little, or that it was made for another track or manifest.
    """
    path = Path(path)
    said = read_words(path, manifest)
    if not said:
        raise InputError(
            f"{path.name}: the file has no metadata of neuroarena; expected {', '.join(REQUIRED)}. "
            f"Write it with neuroarena.write_submission. {NOTHING}"
        )
    missing = [key for key in REQUIRED if key not in said]
    if missing:
        problem = f'the file metadata lack "{missing[0]}"; expected {", ".join(REQUIRED)}'
        raise InputError(f"{path.name}: {problem}. Write it with neuroarena.write_submission. {NOTHING}")
    return said


def read_words(path: str | Path, manifest: Manifest) -> dict[str, Any]:
    """Read and check the metadata of a prediction file; empty where there are none.

    Scoring a file and checking a submission both use this function, so that they refuse the same metadata.

    Raises
    ------
    InputError
        When it was made for another track or manifest, or holds words that are not allowed.
    """
    path = Path(path)
    with open_parquet(path) as (_, metadata):
        said = check_metadata(metadata, manifest, path.name)
    _check_words(said, path.name)
    return said


def check_name(name: str, source: str) -> str:
    """Return the name that boards give an entry, or refuse a name that cannot be shown.

    Raises
    ------
    InputError
        When it is empty, too long, or holds characters that cannot be printed.
    """
    problem = _words_problem(name)
    if problem:
        raise InputError(f"{source}: the name of the entry {problem}. Choose another one with --name.")
    return name


def _check_words(said: dict[str, Any], source: str) -> None:
    for key in ("model", "contact"):
        problem = _words_problem(said[key]) if key in said else None
        if problem:
            raise InputError(f'{source}: the file metadata "{key}" {problem}. {NOTHING}')
    declared = said.get("external_data", [])
    if not isinstance(declared, list):
        got = type(declared).__name__
        raise InputError(f'{source}: the file metadata "external_data" is {got}, expected a list. {NOTHING}')
    if len(declared) > MAX_SOURCES:
        problem = f"names {len(declared)} sources; the limit is {MAX_SOURCES}"
        raise InputError(f'{source}: the file metadata "external_data" {problem}. {NOTHING}')
    for place, each in enumerate(declared):
        problem = _words_problem(each)
        if problem:
            raise InputError(f'{source}: entry {place} of the metadata "external_data" {problem}. {NOTHING}')


def _words_problem(value: Any) -> str | None:
    if not isinstance(value, str):
        return f"is {type(value).__name__}, expected text"
    if not value.strip():
        return "is empty"
    if len(value) > MAX_WORDS:
        return f"has {len(value)} characters; the limit is {MAX_WORDS}"
    if not value.isprintable():
        return f"holds what cannot be printed: {quote(value)}"
    return None
