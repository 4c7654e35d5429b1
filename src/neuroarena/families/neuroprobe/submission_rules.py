"""The rules of a submission folder: the names of all, and the leaderboard's own eight, as it applies them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from neuroarena.families.neuroprobe.submission_checks import SPLIT_FOLDERS, format_json
from neuroarena.families.neuroprobe.submissions import ACCOMPANYING, HEADER_TEXTS
from neuroarena.families.neuroprobe.tasks import TASKS

Kind = Literal["official", "ours"]

# The sentences that the leaderboard's validator requires in an attestation that is not "N/A".
ATTESTATIONS = (
    "I attest that the training and test splits of Neuroprobe were respected and taken from the "
    "`neuroprobe/train_test_splits.py` function.",
    "I attest that the submitted model was not pretrained on any data that intersects with any data of "
    "Neuroprobe.",
)
SIGNATURE = "SIGN"
NOT_APPLICABLE = "N/A"

RULES: dict[str, tuple[Kind, str]] = {
    "folder-name": ("official", "the folder is called MODEL_FIRST_LAST_DAY_MONTH_YEAR"),
    "files": ("official", "metadata.json, PUBLICATION.bib and ATTESTATION.txt exist"),
    "metadata": ("official", "metadata.json has its six fields, five texts and a number"),
    "splits": ("official", "there is at least one of Within-Session, Cross-Session and Cross-Subject"),
    "tasks": ("official", "every split folder holds exactly the 15 files population_TASK.json"),
    "population": ("official", "every block has its times and folds, every fold a test_roc_auc in [0, 1]"),
    "attestation": ("official", 'ATTESTATION.txt is exactly "N/A", or attests twice and is signed twice'),
    "publication": ("official", 'PUBLICATION.bib is "N/A" or holds an entry'),
    "structure": ("ours", "every file is JSON that all readers read alike, electrodes included"),
    "numbers": ("ours", "numbers are finite and in range; true, false and NaN are not numbers"),
    "duplicates": ("ours", "no key, fold or task occurs twice"),
    "window": ("ours", "every session is judged in the second after onset, 0 to 1 s"),
    "sessions": ("ours", "every task has exactly the sessions that its split tests"),
    "folds": ("ours", "two folds per session within sessions, one across"),
    "definition": ("ours", "the definition is a published one and fits the scores"),
    "names": ("ours", "names can be printed, and all files describe one model"),
}

_FOLDER_NAME = re.compile(r".+_[^_\s]+_[^_\s]+_\d{1,2}_\d{1,2}_\d{4}")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: which rule it breaks, in which file and field.

    `file` is relative to the folder, "." for the folder itself; `field` is dotted, "" where the file
    as a whole is meant.
    """

    rule: str
    file: str
    field: str
    words: str

    @property
    def kind(self) -> Kind:
        """Whether the rule is official or ours."""
        return RULES[self.rule][0]

    def to_dict(self) -> dict[str, str]:
        """Return the finding as plain data."""
        return {
            "rule": self.rule,
            "kind": self.kind,
            "file": self.file,
            "field": self.field,
            "words": self.words,
        }


def official_findings(folder: Path, name: str) -> Iterator[Finding]:
    """Judge a folder by the eight rules of the leaderboard's validator.

    Where the published description is ambiguous, the stricter reading is used: what passes here
    passes there.

    Parameters
    ----------
    folder : Path
    name : str
        Future name of the folder.
    """
    yield from _folder_rules(folder, name)
    yield from _metadata_rule(folder)
    yield from _population_rule(folder)
    yield from _attestation_rule(folder)
    yield from _publication_rule(folder)


def population_files(folder: Path) -> Iterator[tuple[str, str, Path]]:
    """Walk through the population files that are there: split, task, path."""
    for split, own in SPLIT_FOLDERS.items():
        for task in TASKS:
            path = folder / own / f"population_{task}.json"
            if path.is_file():
                yield split, task, path


def _folder_rules(folder: Path, name: str) -> Iterator[Finding]:
    if not _FOLDER_NAME.fullmatch(name):
        words = f'the folder is called "{name}"; expected MODEL_FIRST_LAST_DAY_MONTH_YEAR'
        yield Finding("folder-name", ".", "", words)
    for file in ("metadata.json", *ACCOMPANYING):
        if not (folder / file).is_file():
            yield Finding("files", file, "", "the file is missing")
    splits = [own for own in SPLIT_FOLDERS.values() if (folder / own).is_dir()]
    if not splits:
        words = f"none of the expected folders exists: {', '.join(SPLIT_FOLDERS.values())}"
        yield Finding("splits", ".", "", words)
    wanted = [f"population_{task}.json" for task in TASKS]
    for own in splits:
        there = {path.name for path in (folder / own).iterdir()}
        for file in wanted:
            if not (folder / own / file).is_file():
                yield Finding("tasks", f"{own}/{file}", "", "the file is missing")
        for file in sorted(there - set(wanted)):
            yield Finding("tasks", f"{own}/{file}", "", "it is not the file of a task")


def _load(path: Path) -> tuple[Any, str | None]:
    """Read JSON as Python does by default, including NaN and repeated keys; or return why it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8")), None
    except RecursionError:
        return None, "the JSON is nested too deeply"
    except (OSError, ValueError) as error:
        return None, f"cannot be read as JSON: {error}"


def _is_number(value: Any) -> bool:
    """Return whether a lenient reader accepts a value as a number: in Python, true and NaN pass."""
    return isinstance(value, int | float)


def _header_problems(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in HEADER_TEXTS:
        if key not in data:
            yield key, f'field "{key}" is missing'
        elif not isinstance(data[key], str):
            yield key, f'field "{key}" must be text, got {format_json(data[key])}'
    if "timestamp" not in data:
        yield "timestamp", 'field "timestamp" is missing'
    elif not _is_number(data["timestamp"]):
        yield "timestamp", f'field "timestamp" must be a number, got {format_json(data["timestamp"])}'


def _metadata_rule(folder: Path) -> Iterator[Finding]:
    path = folder / "metadata.json"
    if not path.is_file():
        return
    data, problem = _load(path)
    if problem is None and not isinstance(data, dict):
        problem = "the file must hold an object"
    if problem is not None:
        yield Finding("metadata", path.name, "", problem)
        return
    for field, words in _header_problems(data):
        yield Finding("metadata", path.name, field, words)


def _population_rule(folder: Path) -> Iterator[Finding]:
    for _, _, path in population_files(folder):
        file = f"{path.parent.name}/{path.name}"
        data, problem = _load(path)
        if problem is None and not isinstance(data, dict):
            problem = "the file must hold an object"
        if problem is not None:
            yield Finding("population", file, "", problem)
            continue
        for field, words in (*_header_problems(data), *_block_problems(data)):
            yield Finding("population", file, field, words)


def _block_problems(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    sessions = data.get("evaluation_results")
    if not isinstance(sessions, dict):
        yield "evaluation_results", 'field "evaluation_results" must be an object'
        return
    for session, levels in sessions.items():
        field = f"evaluation_results.{session}.population"
        blocks = levels.get("population") if isinstance(levels, dict) else None
        if not isinstance(blocks, dict):
            yield field, f'field "{field}" must be an object'
            continue
        for name, block in blocks.items():
            inner = f"{field}.{name}"
            if not isinstance(block, dict):
                yield inner, f'field "{inner}" must be an object, got {format_json(block)}'
                continue
            for key in ("time_bin_start", "time_bin_end"):
                if not _is_number(block.get(key)):
                    yield f"{inner}.{key}", f'field "{inner}.{key}" must be a number'
            yield from _fold_problems(block.get("folds"), f"{inner}.folds")


def _fold_problems(folds: Any, field: str) -> Iterator[tuple[str, str]]:
    if not isinstance(folds, list) or not folds:
        yield field, f'field "{field}" must be a list of one or more folds, got {format_json(folds)}'
        return
    for at, fold in enumerate(folds):
        own = f"{field}[{at}].test_roc_auc"
        score: Any = fold.get("test_roc_auc") if isinstance(fold, dict) else None
        if not _is_number(score):
            yield own, f'field "{own}" must be a number in [0, 1], got {format_json(score)}'
        elif not 0 <= score <= 1:
            yield own, f'field "{own}" must lie in [0, 1], got {format_json(score)}'


def _say(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def _attestation_rule(folder: Path) -> Iterator[Finding]:
    file = "ATTESTATION.txt"
    if not (folder / file).is_file():
        return
    said = _say(folder / file)
    if said is None:
        yield Finding("attestation", file, "", "cannot be read as text")
    elif said != NOT_APPLICABLE:
        absent = [number for number, words in enumerate(ATTESTATIONS, start=1) if words not in said]
        signed = said.count(SIGNATURE)
        if absent:
            which = " and ".join(str(number) for number in absent)
            words = f'it lacks attestation {which} and is not exactly "{NOT_APPLICABLE}"'
            yield Finding("attestation", file, "", words)
        elif signed < len(ATTESTATIONS):
            words = f'it is signed {signed} times ("{SIGNATURE}"); expected {len(ATTESTATIONS)}'
            yield Finding("attestation", file, "", words)


def _publication_rule(folder: Path) -> Iterator[Finding]:
    file = "PUBLICATION.bib"
    if not (folder / file).is_file():
        return
    problem = publication_problem(_say(folder / file))
    if problem:
        yield Finding("publication", file, "", problem)


def publication_problem(said: str | None) -> str | None:
    """Return what the text of a ``PUBLICATION.bib`` lacks; None when it is complete."""
    if said is None:
        return "cannot be read as text"
    if not said.strip():
        return "the file is empty"
    if said.strip() == NOT_APPLICABLE or all(sign in said for sign in "@{}"):
        return None
    return f'it is not "{NOT_APPLICABLE}" and holds no BibTeX entry'
