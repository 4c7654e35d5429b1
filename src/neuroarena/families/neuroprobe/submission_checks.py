"""Read the files of a Neuroprobe submission without trusting them, and identify its definition."""

from __future__ import annotations

import datetime
import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.item_locks import published_counts
from neuroarena.families.neuroprobe.sessions import LITE, session_key

# The definitions the leaderboard has judged by; runs by any other cannot be submitted.
SUBMITTED_DEFINITIONS = ("2025.10", "2025.09")
DEFAULT_TIME_BIN = "one_second_after_onset"
SPLIT_FOLDERS = {
    "within-session": "Within-Session",
    "cross-session": "Cross-Session",
    "cross-subject": "Cross-Subject",
}
SCORE_COLUMNS = ("split", "task", "level", "electrode", "session", "time_bin", "fold", "auroc", "accuracy")
# The day the validation part was introduced; results without other evidence are classified by it.
VALIDATION_SINCE = datetime.datetime(2025, 10, 23, tzinfo=datetime.UTC)

ALL_SESSIONS = tuple(session_key(session) for session in LITE)
# Cross-subject decoders are trained on subject 2, who is therefore not tested.
EXPECTED_SESSIONS: dict[str, tuple[str, ...]] = {
    split: tuple(key for key in ALL_SESSIONS if split != "cross-subject" or not key.startswith("btbank2_"))
    for split in SPLIT_FOLDERS
}
EXPECTED_FOLDS = {"within-session": 2, "cross-session": 1, "cross-subject": 1}

# Items of each lite session (binary form), in the order of ALL_SESSIONS; word_gap as of 2025.09.
ITEM_COUNTS = published_counts()

_SESSION = re.compile(r"btbank\d+_\d+")
# Below the smallest distance from a whole number that a fraction of half the items can have (1/1750), and
# above what storing an accuracy in single precision costs (2e-4 of 3,500 items).
_WHOLE_NUMBER = 3e-4
# Half of all fractions of a whole block are fractions of its half too; eight by accident: 0.4 %.
_FOLDS_THAT_CONVINCE = 8


class SubmissionError(InputError):
    """A file of a submission is refused.

    Parameters
    ----------
    rule : str
        The rule that it breaks: "structure", "numbers", "duplicates", "sessions", "window" or "names".
    where : str
        The file, as messages name it.
    field : str
        The field, dotted; "" for the file as a whole.
    words : str
        What is wrong, without the file and without a full stop.
    """

    def __init__(self, rule: str, where: str, field: str, words: str) -> None:
        super().__init__(f"{where}: {words}. Nothing was read.")
        self.rule, self.where, self.field, self.words = rule, where, field, words


class _Forbidden(ValueError):
    """JSON that most readers accept and we do not."""

    def __init__(self, rule: str, field: str, words: str) -> None:
        super().__init__(words)
        self.rule, self.field = rule, field


def read_object(path: Path, where: str) -> dict[str, Any]:
    """Read a JSON file that holds one object; NaN, infinities and repeated keys are refused.

    Parameters
    ----------
    path : Path
    where : str
        How messages name the file.

    Raises
    ------
    SubmissionError
        Naming the file.
    """
    try:
        data = json.loads(
            path.read_text(encoding="utf-8"), parse_constant=_no_constant, object_pairs_hook=_no_repeated_keys
        )
    except FileNotFoundError:
        raise SubmissionError("structure", where, "", "the file does not exist") from None
    except RecursionError:
        raise SubmissionError("structure", where, "", "the JSON is nested too deeply") from None
    except _Forbidden as error:
        words = f"cannot be read as JSON: {error}"
        raise SubmissionError(error.rule, where, error.field, words) from error
    except (OSError, ValueError) as error:
        raise SubmissionError("structure", where, "", f"cannot be read as JSON: {error}") from error
    return as_object(data, "", where)


def _no_constant(name: str) -> NoReturn:
    raise _Forbidden("numbers", "", f"it holds {name}, and every number must be finite")


def _no_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise _Forbidden("duplicates", repeated, f'the key "{repeated}" occurs twice in one object')
    return data


def as_object(value: Any, field: str, where: str) -> dict[str, Any]:
    """Return a value that must be a JSON object."""
    if isinstance(value, dict):
        return value
    named = f'field "{field}"' if field else "the file"
    raise SubmissionError("structure", where, field, f"{named} must be an object, got {format_json(value)}")


def required(data: Mapping[str, Any], key: str, field: str, where: str) -> Any:
    """Return the value of a required key."""
    if key not in data:
        name = _join(field, key)
        raise SubmissionError("structure", where, name, f'field "{name}" is missing')
    return data[key]


def text(data: Mapping[str, Any], key: str, where: str) -> str:
    """Return a field that must be text, on one line where it is shown on boards."""
    value = required(data, key, "", where)
    if not isinstance(value, str):
        raise SubmissionError(
            "structure", where, key, f'field "{key}" must be text, got {format_json(value)}'
        )
    # Names are printed on terminals, which obey control characters.
    if key != "description" and not value.isprintable():
        words = f'field "{key}" holds characters that cannot be printed: {format_json(value)}'
        raise SubmissionError("names", where, key, words)
    return value


def number(
    data: Mapping[str, Any], key: str, field: str, where: str, *, unit_interval: bool = False
) -> float:
    """Return a field that must be a finite number, where asked in [0, 1]; true and false are not numbers."""
    value = required(data, key, field, where)
    expected = "a number in [0, 1]" if unit_interval else "a finite number"
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if good and unit_interval:
        good = 0 <= value <= 1
    elif good:
        good = abs(value) < 2**53 if isinstance(value, int) else math.isfinite(value)
    if not good:
        name = _join(field, key)
        words = f'field "{name}" must be {expected}, got {format_json(value)}'
        raise SubmissionError("numbers", where, name, words)
    return float(value)


def moment(data: Mapping[str, Any], where: str) -> datetime.datetime:
    """Return the field ``timestamp``, seconds since 1970, as a time in UTC."""
    seconds = number(data, "timestamp", "", where)
    try:
        return datetime.datetime.fromtimestamp(seconds, datetime.UTC)
    except (OverflowError, OSError, ValueError):
        words = f'field "timestamp" must be seconds since 1970, got {seconds:g}'
        raise SubmissionError("numbers", where, "timestamp", words) from None


def score_rows(data: Mapping[str, Any], split: str, task: str, where: str) -> Iterator[tuple[Any, ...]]:
    """Walk through a population file and yield a row of :data:`SCORE_COLUMNS` for every fold in it.

    Raises
    ------
    SubmissionError
        Naming the file and the field.
    """
    sessions = as_object(required(data, "evaluation_results", "", where), "evaluation_results", where)
    if not sessions:
        words = 'field "evaluation_results" holds no session'
        raise SubmissionError("sessions", where, "evaluation_results", words)
    for session, levels in sessions.items():
        field = f"evaluation_results.{session}"
        if session not in EXPECTED_SESSIONS[split]:
            known = ", ".join(EXPECTED_SESSIONS[split])
            what = "is not tested in this split" if _SESSION.fullmatch(session) else "is not a session"
            raise SubmissionError("sessions", where, field, f'"{session}" {what}; expected some of {known}')
        levels = as_object(levels, field, where)
        head = (split, task)
        blocks = as_object(required(levels, "population", field, where), f"{field}.population", where)
        yield from _block_rows(blocks, (*head, "population", "", session), f"{field}.population", where)
        electrodes = as_object(levels.get("electrode", {}), f"{field}.electrode", where)
        for label, own in electrodes.items():
            inner = f"{field}.electrode.{label}"
            if not label.strip():
                words = f'field "{field}.electrode" has an electrode without a label'
                raise SubmissionError("names", where, f"{field}.electrode", words)
            yield from _block_rows(
                as_object(own, inner, where), (*head, "electrode", label, session), inner, where
            )


def _block_rows(
    blocks: Mapping[str, Any], head: tuple[str, ...], field: str, where: str
) -> Iterator[tuple[Any, ...]]:
    if not blocks:
        raise SubmissionError("window", where, field, f'field "{field}" holds no time bin')
    for name, block in blocks.items():
        inner = f"{field}.{name}"
        block = as_object(block, inner, where)
        start = number(block, "time_bin_start", inner, where)
        end = number(block, "time_bin_end", inner, where)
        if not start < end or (name == DEFAULT_TIME_BIN and (start, end) != (0.0, 1.0)):
            expected = "0 to 1 s" if name == DEFAULT_TIME_BIN else "an end after the start"
            words = f'field "{inner}" runs from {start:g} to {end:g} s; expected {expected}'
            raise SubmissionError("window", where, inner, words)
        folds = required(block, "folds", inner, where)
        if not isinstance(folds, list) or not folds:
            words = f'field "{inner}.folds" must be a list of one or more folds, got {format_json(folds)}'
            raise SubmissionError("structure", where, f"{inner}.folds", words)
        for position, fold in enumerate(folds):
            own = f"{inner}.folds[{position}]"
            fold = as_object(fold, own, where)
            auroc = number(fold, "test_roc_auc", own, where, unit_interval=True)
            optional = {
                key: number(fold, key, own, where, unit_interval=True)
                for key in ("test_accuracy", "train_accuracy", "train_roc_auc")
                if key in fold
            }
            yield (*head, name, position, auroc, optional.get("test_accuracy", math.nan))


def judged_items(task: str, split: str, session: str, fold: int, definition: str) -> int | None:
    """Count the items a fold was judged on; None where the count is not published."""
    if task not in ITEM_COUNTS or (task == "word_gap" and definition != "2025.09"):
        return None
    n_items = ITEM_COUNTS[task][ALL_SESSIONS.index(session)]
    if split == "within-session":
        if fold > 1:
            return None
        n_items = n_items - n_items // 2 if fold == 0 else n_items // 2
    return n_items if definition == "2025.09" else n_items - n_items // 2


def definition_by_accuracy(scores: pd.DataFrame) -> tuple[str | None, str]:
    """Identify the definition by the accuracies of onset, whose item counts are known.

    An accuracy is a whole number of correct answers out of the items judged: the whole test block
    in 2025.09, its second half in 2025.10.

    Parameters
    ----------
    scores : DataFrame
        The columns of :data:`SCORE_COLUMNS`.

    Returns
    -------
    definition : str or None
        None when there is no accuracy of onset, or when they fit neither or both.
    evidence : str
        In words.
    """
    known = scores[(scores["task"] == "onset") & scores["accuracy"].notna()]
    fits = {"2025.09": 0, "2025.10": 0}
    counted = 0
    example = ""
    for split, session, fold, accuracy in zip(
        known["split"], known["session"], known["fold"], known["accuracy"], strict=True
    ):
        whole = judged_items("onset", split, session, fold, "2025.09")
        half = judged_items("onset", split, session, fold, "2025.10")
        if whole is None or half is None:
            continue
        counted += 1
        fits["2025.09"] += _is_fraction(accuracy, whole)
        fits["2025.10"] += _is_fraction(accuracy, half)
        example = example or f"{SPLIT_FOLDERS[split]} {session}: {whole} and {half} items"
    if not counted:
        return None, "no accuracy of onset is given"
    words = (
        f"of {counted} accuracies of onset {fits['2025.09']} are whole numbers of correct answers out of the "
        f"whole test block and {fits['2025.10']} out of its second half ({example})"
    )
    # What fits the half of an even block also fits the whole, so the half is tested first.
    if fits["2025.10"] == counted and (fits["2025.09"] < counted or counted >= _FOLDS_THAT_CONVINCE):
        return "2025.10", words
    if fits["2025.09"] == counted and fits["2025.10"] < counted:
        return "2025.09", words
    return None, words


def definition_by_date(time: datetime.datetime) -> tuple[str, str]:
    """Identify the definition by the time of a submission, and return the evidence."""
    earlier = time < VALIDATION_SINCE
    side = "before" if earlier else "not before"
    return (
        "2025.09" if earlier else "2025.10",
        f"{time:%Y-%m-%d} is {side} {VALIDATION_SINCE:%Y-%m-%d}, when the validation part was introduced",
    )


def _is_fraction(value: float, n_items: int) -> bool:
    return abs(value * n_items - round(value * n_items)) < _WHOLE_NUMBER


def _join(field: str, key: str) -> str:
    return f"{field}.{key}" if field else key


def format_json(value: Any) -> str:
    """Format a value as JSON for a message, truncated when it is long."""
    try:
        words = json.dumps(value)
    except ValueError:
        words = type(value).__name__
    return words if len(words) <= 40 else f"{words[:37]}..."
