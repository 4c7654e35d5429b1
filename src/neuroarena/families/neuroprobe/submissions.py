"""Submissions to the Neuroprobe leaderboard: reading them, what they lack, and their published averages."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import submission_checks as checks
from neuroarena.families.neuroprobe.family import FAMILY
from neuroarena.families.neuroprobe.sessions import parse_session
from neuroarena.families.neuroprobe.submission_checks import (
    DEFAULT_TIME_BIN,
    EXPECTED_FOLDS,
    EXPECTED_SESSIONS,
    SCORE_COLUMNS,
    SPLIT_FOLDERS,
    SUBMITTED_DEFINITIONS,
    SubmissionError,
)
from neuroarena.families.neuroprobe.submission_folder import require_readable
from neuroarena.families.neuroprobe.tasks import TASKS

LEVELS = ("population", "electrode")
HEADER_TEXTS = ("model_name", "description", "author", "organization", "organization_url")
ACCOMPANYING = ("PUBLICATION.bib", "ATTESTATION.txt")

_NUMBER_WORDS = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five"}


@dataclass(frozen=True, eq=False)
class Submission:
    """One folder of the leaderboard, read and checked.

    Attributes
    ----------
    folder : Path
    model_name, author, organisation : str
        As in ``metadata.json``.
    timestamp : datetime
        When it was made, in UTC.
    definition : str
        "2025.09" or "2025.10".
    definition_evidence : str
        How the definition is known, in words.
    scores : DataFrame
        One row per fold: ``split`` ("within-session", ...), ``task``, ``level`` ("population" or
        "electrode"), ``electrode`` (label, or ""), ``session``, ``time_bin``, ``fold`` (0, 1, ...),
        ``auroc``, and ``accuracy`` (NaN where it is not given).
    problems : tuple of str
        What is missing or does not agree, named; none of it makes the scores unreadable.
    simulated : bool
        Whether it states that its recordings were generated.
    """

    folder: Path
    model_name: str
    author: str
    organisation: str
    timestamp: datetime.datetime
    definition: str
    definition_evidence: str
    scores: pd.DataFrame
    problems: tuple[str, ...]
    simulated: bool = False

    @property
    def splits(self) -> tuple[str, ...]:
        """The splits it has scores of, in the canonical order."""
        present = set(self.scores["split"])
        return tuple(split for split in SPLIT_FOLDERS if split in present)


def split_name(text: str) -> str:
    """Return the name of a split, written as a folder ("Within-Session") or as in this package ("within-session").

    Examples
    --------
    >>> split_name("Cross-Subject")
    'cross-subject'
    """
    if text.lower() not in SPLIT_FOLDERS:
        raise InputError(f'Neuroprobe has no split "{text}"; it has {", ".join(SPLIT_FOLDERS.values())}.')
    return text.lower()


def read_submission(folder: str | Path) -> Submission:
    """Read a submission folder of the Neuroprobe leaderboard.

    Parameters
    ----------
    folder : str or Path
        With ``metadata.json`` and at least one of ``Within-Session``, ``Cross-Session`` and
        ``Cross-Subject``, each holding ``population_{task}.json``.

    Returns
    -------
    Submission
        Missing splits, tasks, sessions and folds are named in its ``problems``.

    Raises
    ------
    InputError
        For a link, a folder in place of a file, a file that is too large, JSON that cannot be read, a missing
        field, or a value that is not a number in [0, 1]; the message names the file and the field.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise InputError(
            f"{folder}: this folder does not exist. Expected a submission to the Neuroprobe leaderboard."
        )
    require_readable(folder)
    where = f"{folder.name}/metadata.json"
    metadata = checks.read_object(folder / "metadata.json", where)
    header = {key: checks.text(metadata, key, where) for key in HEADER_TEXTS}
    if not header["model_name"].strip():
        raise SubmissionError("names", where, "model_name", 'field "model_name" is empty')
    time = checks.moment(metadata, where)
    said = read_definition(metadata, where)
    simulated = read_simulated(metadata, where)
    scores, renamed = _read_splits(folder, header["model_name"])
    # The published item counts are those of the recordings: they do not apply to a twin.
    counted = (None, "simulated") if simulated else checks.definition_by_accuracy(scores)
    definition, evidence, doubts = known_definition(said, counted, time)
    return Submission(
        folder=folder,
        model_name=header["model_name"].strip(),
        author=header["author"].strip(),
        organisation=header["organization"].strip(),
        timestamp=time,
        definition=definition,
        definition_evidence=evidence,
        scores=scores,
        problems=(*_missing_files(folder), *_incomplete(scores), *renamed, *doubts),
        simulated=simulated,
    )


def read_definition(metadata: Mapping[str, Any], where: str) -> str | None:
    """Return the definition that ``metadata.json`` names, or None where it names none."""
    if "definition" not in metadata:
        return None
    said = checks.text(metadata, "definition", where).removeprefix("neuroprobe").lstrip("@-")
    if said not in SUBMITTED_DEFINITIONS:
        words = f'field "definition" is "{metadata["definition"]}"; expected '
        words += " or ".join(sorted(SUBMITTED_DEFINITIONS))
        raise SubmissionError("definition", where, "definition", words)
    return said


def read_simulated(metadata: Mapping[str, Any], where: str) -> bool:
    """Return whether ``metadata.json`` says that the recordings were generated."""
    simulated = metadata.get("simulated", False)
    if not isinstance(simulated, bool):
        words = f'field "simulated" must be true or false, got {checks.format_json(simulated)}'
        raise SubmissionError("structure", where, "simulated", words)
    return simulated


def known_definition(
    said: str | None, counted: tuple[str | None, str], time: datetime.datetime
) -> tuple[str, str, tuple[str, ...]]:
    """Return the definition of a submission, how it is known, and any evidence against it.

    Parameters
    ----------
    said : str or None
        By ``metadata.json``.
    counted : (str or None, str)
        By the accuracies, and the evidence in words.
    time : datetime
        Of the submission; decides when nothing else does.
    """
    found, words = counted
    if said is not None:
        evidence = "metadata.json says so"
        if found is None or found == said:
            return said, evidence, ()
        doubt = f"metadata.json states definition {said}, but the scores look like {found}: {words}"
        return said, evidence, (doubt,)
    if found is not None:
        return found, f"accuracy denominators: {words}", ()
    dated, by_date = checks.definition_by_date(time)
    return dated, f"date: {by_date}; {words}", ()


def _read_splits(folder: Path, model_name: str) -> tuple[pd.DataFrame, tuple[str, ...]]:
    rows: list[tuple[Any, ...]] = []
    strangers: list[str] = []
    if not any((folder / name).is_dir() for name in SPLIT_FOLDERS.values()):
        raise InputError(
            f"{folder.name}: expected at least one folder of {', '.join(SPLIT_FOLDERS.values())}."
        )
    for split, name in SPLIT_FOLDERS.items():
        for task in TASKS:
            path = folder / name / f"population_{task}.json"
            if not path.is_file():
                continue
            where = f"{folder.name}/{name}/{path.name}"
            data = checks.read_object(path, where)
            rows += checks.score_rows(data, split, task, where)
            own = data.get("model_name", model_name)
            if own != model_name:
                strangers.append(
                    f'{name}: {path.name} names the model "{own}", but metadata.json names "{model_name}"'
                )
    if not rows:
        raise InputError(
            f"{folder.name}: no file population_TASK.json of a known task in any of its split folders."
        )
    return pd.DataFrame(rows, columns=list(SCORE_COLUMNS)), tuple(strangers)


def _missing_files(folder: Path) -> Iterable[str]:
    for name in ACCOMPANYING:
        if not (folder / name).is_file():
            yield f"{name} is missing"
    for name in SPLIT_FOLDERS.values():
        if not (folder / name).is_dir():
            yield f"{name}: the split is missing"
            continue
        wanted = {f"population_{task}.json": task for task in TASKS}
        present = {path.name for path in (folder / name).iterdir()}
        absent = [task for file, task in wanted.items() if file not in present]
        if absent:
            yield f"{name}: {_count(len(absent), 'task')} missing ({', '.join(absent)})"
        unknown = sorted(file for file in present - set(wanted) if file.endswith(".json"))
        if unknown:
            yield f"{name}: not a task of this benchmark and not read ({', '.join(unknown)})"


def _incomplete(scores: pd.DataFrame) -> Iterable[str]:
    """Name missing sessions and unexpected numbers of folds, for each split and level that has scores."""
    judged = scores[scores["time_bin"] == DEFAULT_TIME_BIN]
    for split in SPLIT_FOLDERS:
        for level in LEVELS:
            own = scores[(scores["split"] == split) & (scores["level"] == level)]
            if own.empty:
                continue
            where = SPLIT_FOLDERS[split] + ("" if level == "population" else ", single electrodes")
            here = judged[(judged["split"] == split) & (judged["level"] == level)]
            tasks = [task for task in TASKS if task in set(own["task"])]
            yield from _missing_sessions(here, split, tasks, where)
            yield from _odd_folds(here, split, tasks, where)


def _missing_sessions(here: pd.DataFrame, split: str, tasks: list[str], where: str) -> Iterable[str]:
    missing: dict[tuple[str, ...], list[str]] = {}
    for task in tasks:
        present = set(here.loc[here["task"] == task, "session"])
        absent = tuple(key for key in EXPECTED_SESSIONS[split] if key not in present)
        if absent:
            missing.setdefault(absent, []).append(task)
    for sessions, concerned in missing.items():
        which = _which(concerned, tasks)
        yield f"{where}: {_count(len(sessions), 'session')} missing in {which} ({', '.join(sessions)})"


def _odd_folds(here: pd.DataFrame, split: str, tasks: list[str], where: str) -> Iterable[str]:
    expected = EXPECTED_FOLDS[split]
    counts = here.groupby(["task", "session", "electrode"], sort=False).size()
    odd = counts[counts != expected].reset_index(name="folds")
    wanted = f"where {_in_words(expected)} {'is' if expected == 1 else 'are'} expected"
    for number in sorted({int(count) for count in odd["folds"]}):
        group = odd[odd["folds"] == number]
        sessions_of = {task: _order(own["session"]) for task, own in group.groupby("task", sort=False)}
        by_sessions: dict[tuple[str, ...], list[str]] = {}
        for task in tasks:
            if task in sessions_of:
                by_sessions.setdefault(sessions_of[task], []).append(task)
        folds = f"{_in_words(number)} fold{'' if number == 1 else 's'}"
        for sessions, concerned in by_sessions.items():
            everywhere = set(concerned) == set(tasks) and set(sessions) == set(here["session"])
            listed = f"({_count(len(sessions), 'session')}: {', '.join(sessions)})"
            if everywhere:
                yield f"{where}: every session has {folds} {wanted} {listed}"
            else:
                has = "has" if len(sessions) == 1 else "have"
                yield f"{where}: {', '.join(sessions)} {has} {folds} {wanted} in {_which(concerned, tasks)}"


def submission_units(
    submission: Submission, split: str, level: str = "population", *, time_bin: str | None = None
) -> pd.DataFrame:
    """Return the unit scores of a submission, for the statistics: the unit is the session.

    Parameters
    ----------
    submission : Submission
    split : str
        "within-session" or "Within-Session", ...
    level : {"population", "electrode"}
        At "electrode" a session has one row: the mean over its electrodes of each electrode's mean
        over folds. Electrodes can differ in their folds, so the folds are not kept separate.
    time_bin : str, optional
        Which block; by default the one second after onset.

    Returns
    -------
    DataFrame
        ``task`` (canonical order), ``unit`` (session), ``fold``, ``cluster`` ("subject N"), ``n``
        (items judged, from the published counts; missing where they are not known),
        ``n_electrodes`` (0 at "population": all of them at once) and ``score`` (AUROC).

    Raises
    ------
    InputError
        When the split, the level or the time bin is not in the submission.
    """
    split = split_name(split)
    own = _choose(submission, split, level, time_bin or DEFAULT_TIME_BIN)
    rows = []
    for (task, session), group in own.groupby(["task", "session"], sort=False):
        task, session = str(task), str(session)
        judged = {
            fold: checks.judged_items(task, split, session, fold, submission.definition)
            for fold in sorted(group["fold"].unique())
        }
        head = {"task": task, "unit": session, "cluster": f"subject {parse_session(session)[0]}"}
        if level == "population":
            for fold, score in zip(group["fold"], group["auroc"], strict=True):
                name = f"{session}/{fold}" if split == "within-session" else session
                rows.append({**head, "fold": name, "n": judged[fold], "n_electrodes": 0, "score": score})
        else:
            each = group.groupby("electrode", sort=False)["auroc"].mean()
            known = [n for n in judged.values() if n is not None]
            n = sum(known) if len(known) == len(judged) else None
            rows.append(
                {**head, "fold": session, "n": n, "n_electrodes": len(each), "score": float(each.mean())}
            )
    columns = ["task", "unit", "fold", "cluster", "n", "n_electrodes", "score"]
    table = pd.DataFrame(rows)[columns].astype({"n": "Int64"})
    tasks = table["task"].map({task: at for at, task in enumerate(TASKS)})
    sessions = table["unit"].map({key: at for at, key in enumerate(checks.ALL_SESSIONS)})
    return table.iloc[np.lexsort((table["fold"], sessions, tasks))].reset_index(drop=True)


def _choose(submission: Submission, split: str, level: str, time_bin: str) -> pd.DataFrame:
    name = submission.folder.name
    if level not in LEVELS:
        raise InputError(f'"{level}" is not a level of a submission; expected {" or ".join(LEVELS)}.')
    scores = submission.scores
    own = scores[scores["split"] == split]
    if own.empty:
        has = ", ".join(SPLIT_FOLDERS[one] for one in submission.splits)
        raise InputError(f"{name}: there are no scores of {SPLIT_FOLDERS[split]}; it has {has}.")
    own = own[own["level"] == level]
    if own.empty:
        raise InputError(f'{name}: {SPLIT_FOLDERS[split]} has no scores at the level "{level}".')
    here = own[own["time_bin"] == time_bin]
    if here.empty:
        there = ", ".join(dict.fromkeys(own["time_bin"]))
        raise InputError(f'{name}: {SPLIT_FOLDERS[split]} has no time bin "{time_bin}"; it has {there}.')
    return here


def aggregate(
    folder: str | Path | Submission, split: str, *, level: str = "population", time_bin: str | None = None
) -> pd.DataFrame:
    """Average a submission as the leaderboard does: each task over its sessions, then over the tasks.

    The score of a session is the mean over its folds; a task's mean and standard error are over its
    sessions (population standard deviation over the root of their number); overall is the mean of
    the 15 task means, its standard error the root of the summed squares over 15.

    Parameters
    ----------
    folder : str, Path or Submission
    split : str
        "Within-Session" or "within-session", ...
    level : {"population", "electrode"}
        At "electrode" the score of a session is the mean over its electrodes of each one's mean over
        folds; ``attrs["n_electrodes"]`` counts them, task -> session -> number.
    time_bin : str, optional
        Which block; by default the one second after onset.

    Returns
    -------
    DataFrame
        Indexed by task in the canonical order and last ``overall``; columns ``mean`` and ``sem``.
        ``attrs["definition"]`` and ``attrs["problems"]`` are those of the submission.

    Raises
    ------
    InputError
        When the split, the level or the time bin is missing, or some of the 15 tasks are; the message names them.
    """
    submission = folder if isinstance(folder, Submission) else read_submission(folder)
    units = submission_units(submission, split, level, time_bin=time_bin)
    sessions = units.groupby(["task", "unit"], sort=False)["score"].mean()
    present = set(units["task"])
    missing = [task for task in TASKS if task not in present]
    if missing:
        raise InputError(
            f"{submission.folder.name}: {SPLIT_FOLDERS[split_name(split)]} lacks {', '.join(missing)}. "
            f"The overall mean is over all {len(TASKS)} tasks; nothing was averaged."
        )
    means, errors = np.empty(len(TASKS)), np.empty(len(TASKS))
    for at, task in enumerate(TASKS):
        scores = sessions.loc[task].to_numpy()
        means[at] = scores.mean()
        errors[at] = scores.std(ddof=0) / np.sqrt(len(scores))
    overall = FAMILY.overall.combine(dict(zip(TASKS, means, strict=True)))
    table = pd.DataFrame(
        {"mean": [*means, overall], "sem": [*errors, np.sqrt((errors**2).sum()) / len(TASKS)]},
        index=pd.Index([*TASKS, "overall"], name="task"),
    )
    table.attrs = {"definition": submission.definition, "problems": submission.problems}
    if level == "electrode":
        by_task = {
            task: own.set_index("unit")["n_electrodes"] for task, own in units.groupby("task", sort=False)
        }
        table.attrs["n_electrodes"] = {
            task: {str(k): int(n) for k, n in own.items()} for task, own in by_task.items()
        }
    return table


def _order(sessions: Iterable[str]) -> tuple[str, ...]:
    present = set(sessions)
    return tuple(key for key in checks.ALL_SESSIONS if key in present)


def _which(concerned: list[str], tasks: list[str]) -> str:
    return f"all {len(tasks)} tasks" if len(concerned) == len(tasks) > 1 else ", ".join(concerned)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _in_words(number: int) -> str:
    return _NUMBER_WORDS.get(number, str(number))
