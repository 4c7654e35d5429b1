"""Ways to damage a submission folder, with the rule that each breaks, its file and its field."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from submission_folders import block, edit

from neuroarena.families.neuroprobe.submission_rules import ATTESTATIONS

ONSET = "Cross-Session/population_onset.json"
FIELD = "evaluation_results.btbank1_1.population.one_second_after_onset"


def levels(data: dict[str, Any]) -> dict[str, Any]:
    return data["evaluation_results"]["btbank1_1"]


def bins(data: dict[str, Any]) -> dict[str, Any]:
    return levels(data)["population"]


def second(data: dict[str, Any]) -> dict[str, Any]:
    return bins(data)["one_second_after_onset"]


def fold(data: dict[str, Any]) -> dict[str, Any]:
    return second(data)["folds"][0]


def onset(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], Any]:
    return lambda folder: edit(folder / ONSET, change)


def metadata(change: Callable[[dict[str, Any]], Any]) -> Callable[[Path], Any]:
    return lambda folder: edit(folder / "metadata.json", change)


def text(file: str, content: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / file).write_text(content)


def remove(file: str) -> Callable[[Path], Any]:
    return lambda folder: (folder / file).unlink()


# case -> what is done, the rule, the file, the field
OFFICIAL: dict[str, tuple[Callable[[Path], Any], str, str, str]] = {
    "no metadata": (remove("metadata.json"), "files", "metadata.json", ""),
    "no publication": (remove("PUBLICATION.bib"), "files", "PUBLICATION.bib", ""),
    "no attestation": (remove("ATTESTATION.txt"), "files", "ATTESTATION.txt", ""),
    "metadata not json": (text("metadata.json", "{"), "metadata", "metadata.json", ""),
    "metadata a list": (text("metadata.json", "[]"), "metadata", "metadata.json", ""),
    "no author": (metadata(lambda d: d.pop("author")), "metadata", "metadata.json", "author"),
    "author a number": (metadata(lambda d: d.update(author=3)), "metadata", "metadata.json", "author"),
    "no time": (metadata(lambda d: d.pop("timestamp")), "metadata", "metadata.json", "timestamp"),
    "time a text": (metadata(lambda d: d.update(timestamp="now")), "metadata", "metadata.json", "timestamp"),
    "no split": (lambda f: shutil.rmtree(f / "Cross-Session"), "splits", ".", ""),
    "a task missing": (remove(ONSET), "tasks", ONSET, ""),
    "a file too many": (
        text("Cross-Session/population_smell.json", "{}"),
        "tasks",
        "Cross-Session/population_smell.json",
        "",
    ),
    "a task not json": (text(ONSET, "{"), "population", ONSET, ""),
    "no model name": (onset(lambda d: d.pop("model_name")), "population", ONSET, "model_name"),
    "no results": (onset(lambda d: d.pop("evaluation_results")), "population", ONSET, "evaluation_results"),
    "no population": (
        onset(lambda d: levels(d).pop("population")),
        "population",
        ONSET,
        "evaluation_results.btbank1_1.population",
    ),
    "a list of bins": (
        onset(lambda d: bins(d).update(time_bins=[])),
        "population",
        ONSET,
        "evaluation_results.btbank1_1.population.time_bins",
    ),
    "no start": (
        onset(lambda d: second(d).pop("time_bin_start")),
        "population",
        ONSET,
        f"{FIELD}.time_bin_start",
    ),
    "end a text": (
        onset(lambda d: second(d).update(time_bin_end="1")),
        "population",
        ONSET,
        f"{FIELD}.time_bin_end",
    ),
    "no folds": (onset(lambda d: second(d).update(folds=[])), "population", ONSET, f"{FIELD}.folds"),
    "no score": (
        onset(lambda d: fold(d).pop("test_roc_auc")),
        "population",
        ONSET,
        f"{FIELD}.folds[0].test_roc_auc",
    ),
    "score above 1": (
        onset(lambda d: fold(d).update(test_roc_auc=1.2)),
        "population",
        ONSET,
        f"{FIELD}.folds[0].test_roc_auc",
    ),
    "score NaN": (
        onset(lambda d: fold(d).update(test_roc_auc=math.nan)),
        "population",
        ONSET,
        f"{FIELD}.folds[0].test_roc_auc",
    ),
    "attestation empty": (text("ATTESTATION.txt", ""), "attestation", "ATTESTATION.txt", ""),
    "attestation not exact": (text("ATTESTATION.txt", "N/A\n"), "attestation", "ATTESTATION.txt", ""),
    "one attestation": (
        text("ATTESTATION.txt", f"{ATTESTATIONS[0]} SIGN SIGN"),
        "attestation",
        "ATTESTATION.txt",
        "",
    ),
    "signed once": (
        text("ATTESTATION.txt", f"{ATTESTATIONS[0]} {ATTESTATIONS[1]} SIGN A"),
        "attestation",
        "ATTESTATION.txt",
        "",
    ),
    "publication empty": (text("PUBLICATION.bib", "\n"), "publication", "PUBLICATION.bib", ""),
    "publication no entry": (text("PUBLICATION.bib", "Example 2025"), "publication", "PUBLICATION.bib", ""),
}


def copied(folder: Path) -> None:
    shutil.copy(folder / ONSET, folder / "Cross-Session" / "population_volume.json")


def repeated_key(folder: Path) -> None:
    content = (folder / ONSET).read_text()
    (folder / ONSET).write_text(
        content.replace('"btbank1_1":', '"btbank1_2": {"population": {}}, "btbank1_1":', 1)
    )


# case -> what is done, the rule, the file, the field, words
OURS: dict[str, tuple[Callable[[Path], Any], str, str, str, str]] = {
    "score true": (
        onset(lambda d: fold(d).update(test_roc_auc=True)),
        "numbers",
        ONSET,
        f"{FIELD}.folds[0].test_roc_auc",
        "got true",
    ),
    "accuracy false": (
        onset(lambda d: fold(d).update(test_accuracy=False)),
        "numbers",
        ONSET,
        f"{FIELD}.folds[0].test_accuracy",
        "got false",
    ),
    "start true": (
        onset(lambda d: second(d).update(time_bin_start=True)),
        "numbers",
        ONSET,
        f"{FIELD}.time_bin_start",
        "got true",
    ),
    "end NaN": (onset(lambda d: second(d).update(time_bin_end=math.nan)), "numbers", ONSET, "", "holds NaN"),
    "accuracy infinite": (
        onset(lambda d: fold(d).update(val_accuracy=math.inf)),
        "numbers",
        ONSET,
        "",
        "holds Infinity",
    ),
    "time true": (
        metadata(lambda d: d.update(timestamp=True)),
        "numbers",
        "metadata.json",
        "timestamp",
        "got true",
    ),
    "time of a file true": (
        onset(lambda d: d.update(timestamp=True)),
        "numbers",
        ONSET,
        "timestamp",
        "got true",
    ),
    "time beyond the calendar": (
        metadata(lambda d: d.update(timestamp=1e14)),
        "numbers",
        "metadata.json",
        "timestamp",
        "since 1970",
    ),
    "a key twice": (repeated_key, "duplicates", ONSET, "btbank1_2", "occurs twice"),
    "a task copied": (
        copied,
        "duplicates",
        "Cross-Session/population_volume.json",
        "evaluation_results",
        "population_onset.json",
    ),
    "a session missing": (
        onset(lambda d: d["evaluation_results"].pop("btbank3_0")),
        "sessions",
        ONSET,
        "evaluation_results",
        "1 of 12 sessions missing: btbank3_0",
    ),
    "a session not tested": (
        onset(lambda d: d["evaluation_results"].update(btbank5_0=levels(d))),
        "sessions",
        ONSET,
        "evaluation_results.btbank5_0",
        "not tested in this split",
    ),
    "no session": (
        onset(lambda d: d.update(evaluation_results={})),
        "sessions",
        ONSET,
        "evaluation_results",
        "no session",
    ),
    "two folds across sessions": (
        onset(lambda d: second(d)["folds"].append({"test_roc_auc": 0.5})),
        "folds",
        ONSET,
        f"{FIELD}.folds",
        "2 folds where 1 is expected, in 1 of 12 sessions: btbank1_1",
    ),
    "an electrode with two folds": (
        onset(
            lambda d: levels(d).update(electrode={"T1": block({"test_roc_auc": 0.5}, {"test_roc_auc": 0.6})})
        ),
        "folds",
        ONSET,
        "evaluation_results.btbank1_1.electrode.T1.one_second_after_onset.folds",
        "2 folds where 1 is expected",
    ),
    "no second after onset": (
        onset(lambda d: bins(d).update(later={**bins(d).pop("one_second_after_onset"), "time_bin_end": 2.0})),
        "window",
        ONSET,
        "evaluation_results.btbank1_1.population",
        "lacks the block one_second_after_onset",
    ),
    "no bin": (
        onset(lambda d: levels(d).update(population={})),
        "window",
        ONSET,
        "evaluation_results.btbank1_1.population",
        "no time bin",
    ),
    "another second": (
        onset(lambda d: second(d).update(time_bin_end=2)),
        "window",
        ONSET,
        FIELD,
        "from 0 to 2 s; expected 0 to 1 s",
    ),
    "an electrode broken": (
        onset(lambda d: levels(d).update(electrode=[])),
        "structure",
        ONSET,
        "evaluation_results.btbank1_1.electrode",
        "an object",
    ),
    "definition unknown": (
        metadata(lambda d: d.update(definition="2024.01")),
        "definition",
        "metadata.json",
        "definition",
        "2025.09 or 2025.10",
    ),
    "model empty": (
        metadata(lambda d: d.update(model_name="")),
        "names",
        "metadata.json",
        "model_name",
        "is empty",
    ),
    "model unprintable": (
        metadata(lambda d: d.update(author="a\x1b[2J")),
        "names",
        "metadata.json",
        "author",
        "cannot be printed",
    ),
    "another model": (
        onset(lambda d: d.update(model_name="Other")),
        "names",
        ONSET,
        "model_name",
        'the model "Other"',
    ),
}
