"""Write a submission folder of the Neuroprobe leaderboard, whole or not at all."""

from __future__ import annotations

import datetime
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena import __version__
from neuroarena.atomic import write_json, write_text
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.families.neuroprobe.submission_checks import (
    DEFAULT_TIME_BIN,
    EXPECTED_FOLDS,
    EXPECTED_SESSIONS,
    SPLIT_FOLDERS,
    SUBMITTED_DEFINITIONS,
)
from neuroarena.families.neuroprobe.submission_rules import (
    ATTESTATIONS,
    NOT_APPLICABLE,
    SIGNATURE,
    publication_problem,
)
from neuroarena.families.neuroprobe.submission_verdict import check_submission
from neuroarena.families.neuroprobe.tasks import TASKS

WRITTEN_COLUMNS = ("split", "task", "session", "fold", "auroc", "accuracy", "n", "run_key", "timestamp")


@dataclass(frozen=True)
class Header:
    """The self-description of a submission.

    Parameters
    ----------
    model_name, author : str
        The author as "First Last"; further names may come between.
    definition : str
        "2025.10" or "2025.09".
    time : datetime
        When it is submitted, with a time zone; its day in UTC is in the folder's name.
    organization, organization_url, description : str
    simulated : bool
        Whether the recordings were generated; stated in the folder's name and in the description.

    Raises
    ------
    InputError
        Naming the field that cannot be used.
    """

    model_name: str
    author: str
    definition: str
    time: datetime.datetime
    organization: str = ""
    organization_url: str = ""
    description: str = ""
    simulated: bool = False

    def __post_init__(self) -> None:
        """Refuse what could not be read back."""
        for name in ("model_name", "author", "organization", "organization_url"):
            value = getattr(self, name)
            if not value.isprintable():
                raise InputError(f"The {name} {value!r} holds characters that cannot be printed.")
        if self.definition not in SUBMITTED_DEFINITIONS:
            raise InputError(
                f'Runs by definition "{self.definition}" cannot be submitted; the leaderboard accepts '
                f"{' and '.join(SUBMITTED_DEFINITIONS)}."
            )
        if self.time.tzinfo is None:
            raise InputError(f"The time of a submission, {self.time}, has no time zone; pass it in UTC.")
        _ = self.folder_name

    @property
    def folder_name(self) -> str:
        """The official name of the folder.

        Examples
        --------
        >>> time = datetime.datetime(2026, 5, 2, tzinfo=datetime.UTC)
        >>> Header("Linear (raw voltage)", "José M. Núñez", "2025.10", time).folder_name
        'Linear_raw_voltage_Jose_Nunez_02_05_2026'
        """
        model = "_".join(_plain_words(self.model_name))
        if not model:
            raise InputError(f'The model name "{self.model_name}" must contain an ASCII letter or digit.')
        names = ["".join(_plain_words(word)) for word in self.author.split()]
        if len(names) < 2 or not (names[0] and names[-1]):
            raise InputError(
                f'The author "{self.author}" must be a first and a last name in Latin letters, for example '
                '"Ada Example": both are in the name of the folder.'
            )
        mark = "_simulated" if self.simulated else ""
        day = self.time.astimezone(datetime.UTC)
        return f"{model}{mark}_{names[0]}_{names[-1]}_{day:%d_%m_%Y}"

    def fields(self) -> dict[str, Any]:
        """Return the five texts of every file."""
        about = self.description or self.model_name
        if self.simulated:
            about = f"simulated: these recordings were generated, not measured. {about}"
        return {
            "model_name": self.model_name,
            "description": about,
            "author": self.author,
            "organization": self.organization,
            "organization_url": self.organization_url,
        }


def _plain_words(text: str) -> list[str]:
    """Cut a text into words of ASCII letters and digits, accents left out."""
    bare = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return re.findall(r"[A-Za-z0-9]+", bare.replace("-", "").replace("'", ""))


def attestation_text(author: str) -> str:
    """Return the two official attestations, signed."""
    return "\n\n".join(f"{words}\n{SIGNATURE} **{author}**" for words in ATTESTATIONS) + "\n"


def write_submission(
    scores: pd.DataFrame, header: Header, out: str | Path, *, bib: str | None = None, attest: bool = False
) -> Path:
    """Write the official folder below `out`.

    Parameters
    ----------
    scores : DataFrame
        One row per fold: ``split`` ("within-session", ...), ``task``, ``session`` ("btbank1_1"), ``fold``
        (0, 1), ``auroc``, ``accuracy``, ``n`` (examples judged), ``run_key``, ``timestamp`` (seconds
        since 1970, of the run). Every split that occurs must be complete with all its tasks, sessions
        and folds.
    header : Header
    out : path
        Created if it does not exist.
    bib : str, optional
        A BibTeX entry; "N/A" without one.
    attest : bool
        Sign the two official attestations in the author's name; otherwise the file reads "N/A".

    Returns
    -------
    Path
        The folder, which passes every rule, official and ours.

    Raises
    ------
    InputError
        When scores are missing or duplicated, all named; when the entry is not BibTeX; or when the folder
        already exists.
    """
    problems = list(missing_scores(scores))
    if problems:
        raise InputError(f"The submission is not complete: {'; '.join(problems)}. Nothing was written.")
    problem = None if bib is None else publication_problem(bib)
    if problem:
        raise InputError(f"The publication cannot be used: {problem}. Nothing was written.")
    out, name = Path(out), header.folder_name
    if (out / name).exists():
        raise InputError(
            f"{out / name}: already exists, and nothing is overwritten; "
            "move it away or choose another folder."
        )
    out.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{name}.", dir=out))
    try:
        _write_files(temporary, scores, header, bib, attest)
        verdict = check_submission(temporary, name)
        if not verdict.accepted:
            raise NeuroarenaError(f"The folder does not pass its own check: {verdict.findings[0].words}.")
        temporary.chmod(0o755)
        os.rename(temporary, out / name)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return out / name


def missing_scores(scores: pd.DataFrame) -> Iterator[str]:
    """Name the tasks, sessions and folds that a table of scores lacks or duplicates as a submission."""
    if scores.empty:
        yield "there are no scores"
        return
    for split, folder in SPLIT_FOLDERS.items():
        own = scores[scores["split"] == split]
        if own.empty:
            continue
        there = set(own["task"])
        absent = [task for task in TASKS if task not in there]
        if absent:
            yield f"{folder} lacks {len(absent)} of {len(TASKS)} tasks ({', '.join(absent)})"
        for task in [task for task in TASKS if task in there]:
            yield from _missing_folds(own[own["task"] == task], split, f"{folder} {task}")


def _missing_folds(own: pd.DataFrame, split: str, where: str) -> Iterator[str]:
    present = list(zip(own["session"], own["fold"], strict=True))
    sessions = dict.fromkeys(own["session"])
    absent = [session for session in EXPECTED_SESSIONS[split] if session not in sessions]
    if absent:
        yield f"{where} lacks {len(absent)} sessions ({', '.join(absent)})"
    foreign = [session for session in sessions if session not in EXPECTED_SESSIONS[split]]
    if foreign:
        yield f"{where} has sessions that this split does not test ({', '.join(foreign)})"
    for session in [one for one in EXPECTED_SESSIONS[split] if one in sessions]:
        folds = sorted(fold for key, fold in present if key == session)
        if folds != list(range(EXPECTED_FOLDS[split])):
            shown = ", ".join(str(fold) for fold in folds)
            wanted = ", ".join(str(fold) for fold in range(EXPECTED_FOLDS[split]))
            yield f"{where} {session} has the folds {shown} instead of {wanted}"


def _write_files(folder: Path, scores: pd.DataFrame, header: Header, bib: str | None, attest: bool) -> None:
    fields = header.fields()
    about: dict[str, Any] = {"definition": header.definition, "neuroarena": __version__}
    if header.simulated:
        about["simulated"] = True
    write_json(folder / "metadata.json", {**fields, "timestamp": int(header.time.timestamp()), **about})
    write_text(folder / "PUBLICATION.bib", bib or NOT_APPLICABLE)
    write_text(folder / "ATTESTATION.txt", attestation_text(header.author) if attest else NOT_APPLICABLE)
    for (split, task), own in scores.groupby(["split", "task"], sort=False):
        path = folder / SPLIT_FOLDERS[str(split)] / f"population_{task}.json"
        results = _results(own, str(split))
        time = int(own["timestamp"].max())
        write_json(path, {**fields, "timestamp": time, "evaluation_results": results})


def _results(own: pd.DataFrame, split: str) -> dict[str, Any]:
    folds: dict[str, list[dict[str, Any]]] = {session: [] for session in EXPECTED_SESSIONS[split]}
    for row in own.sort_values("fold").to_dict(orient="records"):
        folds[row["session"]].append(_fold(row))
    return {
        session: {
            "population": {DEFAULT_TIME_BIN: {"time_bin_start": 0.0, "time_bin_end": 1.0, "folds": each}}
        }
        for session, each in folds.items()
    }


def _fold(row: Mapping[Any, Any]) -> dict[str, Any]:
    accuracy = {} if pd.isna(row["accuracy"]) else {"test_accuracy": float(row["accuracy"])}
    return {
        **accuracy,
        "test_roc_auc": float(row["auroc"]),
        "fold_idx": int(row["fold"]),
        "n_test": int(row["n"]),
        "run_key": str(row["run_key"]),
    }
