"""The Neuroprobe leaderboard's submission folders as entries of a board."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.board.entries import Entry
from neuroarena.board.importing import ExtraTable, Imported, Importer
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.family import FAMILY
from neuroarena.families.neuroprobe.submission_checks import (
    DEFAULT_TIME_BIN,
    EXPECTED_FOLDS,
    EXPECTED_SESSIONS,
    SPLIT_FOLDERS,
)
from neuroarena.families.neuroprobe.submission_folder import read_publication
from neuroarena.families.neuroprobe.submissions import (
    LEVELS,
    Submission,
    aggregate,
    read_submission,
    split_name,
    submission_units,
)
from neuroarena.families.neuroprobe.views import sort_folders

# Values of the author field when nobody is named.
_NOBODY = ("", "-", "N/A", "n/a")


def entries_from_neuroprobe(
    folders: Iterable[str | Path],
    split: str | None = None,
    level: str = "population",
    allow_mixed: bool = False,
) -> tuple[list[Entry], tuple[str, ...]]:
    """Turn submission folders of the Neuroprobe leaderboard into entries, one per task and split.

    A missing split, task or session yields entries that cannot be ranked and state why; a missing fold
    is marked and the entry is ranked, as on the leaderboard.

    Parameters
    ----------
    folders : iterable of str or Path
    split : str, optional
        One split ("Within-Session" or "within-session", ...); by default all of them.
    level : {"population", "electrode"}
        All electrodes at once, or the mean over single electrodes.
    allow_mixed : bool
        Whether submissions of different definitions may stand side by side; pass the same to the board.

    Returns
    -------
    entries : list of Entry
        The team is the model's name with its author. Folders that would share a name get their
        definition or their folder's name besides: each folder is one row, never the best of several.
    notes : tuple of str
        What is missing in each submission, and how its definition is known.

    Raises
    ------
    InputError
        When a folder cannot be read or is named twice, when definitions mix (both folders are named),
        or when no submission has the split or the level.
    """
    if level not in LEVELS:
        raise InputError(f'"{level}" is not a level of a submission; expected {" or ".join(LEVELS)}.')
    wanted = tuple(SPLIT_FOLDERS) if split is None else (split_name(split),)
    submissions = [read_submission(folder) for folder in _distinct(folders)]
    if not allow_mixed:
        _check_definitions(submissions)
    present = [one for one in wanted if any(one in submission.splits for submission in submissions)]
    entries: list[Entry] = []
    for submission, team in zip(submissions, _team_names(submissions), strict=True):
        for one in present:
            entries += _entries(submission, team, one, level)
    if not any(entry.unit_scores is not None for entry in entries):
        asked = ", ".join(SPLIT_FOLDERS[one] for one in wanted)
        raise InputError(f'None of the submissions has scores of {asked} at the level "{level}".')
    return entries, tuple(note for submission in submissions for note in _notes(submission, wanted))


def _distinct(folders: Iterable[str | Path]) -> list[Path]:
    paths: list[Path] = []
    for folder in map(Path, folders):
        if any(folder.resolve() == other.resolve() for other in paths):
            raise InputError(f"{folder}: the folder is named twice.")
        paths.append(folder)
    if not paths:
        raise InputError("No folder was named; expected submissions to the Neuroprobe leaderboard.")
    return paths


def _check_definitions(submissions: list[Submission]) -> None:
    first = submissions[0]
    for other in submissions[1:]:
        if other.definition != first.definition:
            raise InputError(
                f"{first.folder.name} follows definition {first.definition} ({first.definition_evidence}), "
                f"{other.folder.name} follows {other.definition} ({other.definition_evidence}). They were judged "
                "on different items and are not ranked together; leave one out, or allow it (--allow-mixed)."
            )


def _team_names(submissions: list[Submission]) -> list[str]:
    names = [
        one.model_name if one.author in _NOBODY else f"{one.model_name} ({one.author})" for one in submissions
    ]
    full = [f"{name} [{one.definition}]" for name, one in zip(names, submissions, strict=True)]
    told_apart = []
    for name, longer, one in zip(names, full, submissions, strict=True):
        if names.count(name) == 1:
            told_apart.append(name)
        else:
            told_apart.append(longer if full.count(longer) == 1 else f"{name} [{one.folder.name}]")
    return told_apart


def _entries(submission: Submission, team: str, split: str, level: str) -> list[Entry]:
    try:
        units, refused = submission_units(submission, split, level), None
    except InputError as error:
        units, refused = pd.DataFrame({"task": []}), str(error)
    entries = []
    for task in FAMILY.tasks(submission.definition):
        own = units[units["task"] == task].drop(columns="task").reset_index(drop=True)
        entries.append(
            Entry(
                team=team,
                benchmark=f"{FAMILY.name}@{submission.definition}/{task}",
                split=split,
                manifest=FAMILY.manifest(task, submission.definition),
                unit_scores=None if own.empty else own,
                time=submission.timestamp,
                simulated=submission.simulated,
                reason=refused or _reason(own, task, split),
                provenance={
                    "folder": submission.folder.name,
                    "organisation": submission.organisation,
                    "definition_evidence": submission.definition_evidence,
                    "bibtex": read_publication(submission.folder),
                    "options": {"level": level},
                },
                notes=_marks(submission, own, split, level, task),
            )
        )
    return entries


def _reason(own: pd.DataFrame, task: str, split: str) -> str | None:
    if own.empty:
        return f"it has no scores of {task}"
    absent = [session for session in EXPECTED_SESSIONS[split] if session not in set(own["unit"])]
    if not absent:
        return None
    return f"it lacks {len(absent)} of {len(EXPECTED_SESSIONS[split])} sessions: {', '.join(absent)}"


def _marks(submission: Submission, own: pd.DataFrame, split: str, level: str, task: str) -> tuple[str, ...]:
    marks = ["mean over single electrodes"] if level == "electrode" else []
    scores = submission.scores
    here = scores[
        (scores["split"] == split)
        & (scores["level"] == level)
        & (scores["task"] == task)
        & (scores["time_bin"] == DEFAULT_TIME_BIN)
    ]
    folds = here.groupby(["session", "electrode"])["fold"].nunique()
    odd = folds[folds != EXPECTED_FOLDS[split]]
    if len(odd):
        n_sessions = odd.index.get_level_values("session").nunique()
        found = " or ".join(str(number) for number in sorted({int(number) for number in odd}))
        of_all = f"{n_sessions} of {own['unit'].nunique()} sessions"
        marks.append(
            f"{found} fold{'' if found == '1' else 's'} instead of {EXPECTED_FOLDS[split]} in {of_all}"
        )
    return tuple(marks)


def _notes(submission: Submission, wanted: tuple[str, ...]) -> list[str]:
    """Return what a reader must know, leaving out splits that were not requested."""
    name = submission.folder.name
    others = tuple(folder for split, folder in SPLIT_FOLDERS.items() if split not in wanted)
    said = [problem for problem in submission.problems if not problem.startswith(others)]
    return [
        f"{name}: definition {submission.definition} ({submission.definition_evidence}).",
        *(f"{name}: {problem}." for problem in said),
    ]


def read_leaderboard(
    paths: Iterable[Path], *, split: str | None = None, allow_mixed: bool = False, level: str = "population"
) -> Imported:
    """Read submission folders, or a folder of them, with the leaderboard's own means beside the board."""
    folders = [folder for path in paths for folder in _folders_in(Path(path))]
    entries, notes = entries_from_neuroprobe(folders, split=split, level=level, allow_mixed=allow_mixed)
    rows = _published_means(folders, split, level)
    return Imported(entries, notes, {"aggregates": rows}, _mean_tables(rows))


def is_submission(path: Path) -> bool:
    """Return whether a folder is a submission to the leaderboard, or holds nothing but such folders."""
    return bool(_folders_in(path, strict=True))


def _folders_in(path: Path, strict: bool = False) -> list[Path]:
    if not path.is_dir() or _looks_like_one(path):
        return [path] if not strict or path.is_dir() else []
    inside = sorted(each for each in path.iterdir() if each.is_dir() and not each.name.startswith("."))
    if inside and all(_looks_like_one(each) for each in inside):
        return inside
    return [] if strict else [path]


def _looks_like_one(folder: Path) -> bool:
    return (folder / "metadata.json").is_file() and any(
        (folder / name).is_dir() for name in SPLIT_FOLDERS.values()
    )


def _published_means(folders: list[Path], split: str | None, level: str) -> list[dict[str, Any]]:
    """Compute mean and SEM of every task and overall, by the leaderboard's own formula."""
    rows = []
    for submission in map(read_submission, folders):
        for name in submission.splits if split is None else (split_name(split),):
            if name not in submission.splits:
                continue
            table = aggregate(submission, name, level=level)
            rows += [
                {"model": submission.model_name, "split": name, "task": task, "mean": mean, "sem": sem}
                for task, mean, sem in zip(table.index, table["mean"], table["sem"], strict=True)
            ]
    return rows


def _mean_tables(rows: list[dict[str, Any]]) -> tuple[ExtraTable, ...]:
    tables = []
    for split in dict.fromkeys(row["split"] for row in rows):
        models = list(dict.fromkeys(row["model"] for row in rows if row["split"] == split))
        cells = {
            (r["task"], r["model"]): f"{r['mean']:.3f} ± {r['sem']:.3f}" for r in rows if r["split"] == split
        }
        tasks = list(dict.fromkeys(task for task, _ in cells))
        body = [[task, *(cells.get((task, model), "-") for model in models)] for task in tasks]
        title = f"Mean ± SEM over sessions, the leaderboard's formula: {split}"
        tables.append(ExtraTable(title, ["task", *models], body))
    return tuple(tables)


IMPORTERS = {
    "neuroprobe": Importer(
        title="submission folders of the Neuroprobe leaderboard",
        recognises=is_submission,
        read=read_leaderboard,
        options={"level": "Which scores of a submission: population (the default) or electrode."},
        sort=lambda paths: sort_folders([folder for path in paths for folder in _folders_in(Path(path))]),
    )
}
