"""Which files of BrainTreebank's site hold which sessions, and where the published tables of Neuroprobe are."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from neuroarena.datasets.fetch_plan import FetchPlan, RemoteFile
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank.facts import MOVIES
from neuroarena.families.neuroprobe.sessions import LITE

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Entry(BaseModel):
    """One entry of files.toml or tables.toml: a single file, or one for each session."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    products: tuple[str, ...] = Field(min_length=1)
    folder: str | None = None
    unpacked_limit_mb: int = Field(default=1000, gt=0)
    sha256: dict[str, Sha256] = Field(default_factory=dict)
    size: dict[str, Annotated[int, Field(gt=0)]] = Field(default_factory=dict)
    checked: bool


class _Site(BaseModel):
    """files.toml or tables.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1]
    base_url: str
    files: tuple[_Entry, ...]


def fetch_plan(
    subjects: Sequence[str] | None = None, sessions: Sequence[str] | None = None, url: str | None = None
) -> FetchPlan:
    """Plan what to fetch for some subjects or sessions.

    Parameters
    ----------
    subjects : sequence of str, optional
        Subjects' numbers, or "all": all their sessions.
    sessions : sequence of str, optional
        Sessions as ``subject_trial``, such as "1_2"; with `subjects`, only these of their sessions.
    url : str, optional
        Address of a mirror with the site's layout.

    Raises
    ------
    InputError
        When nothing is chosen, or a subject or session does not exist.

    Examples
    --------
    >>> [file.path for file in fetch_plan(sessions=["1_2"]).files][-1]
    'subject_data/sub_1/trial002/sub_1_trial002.h5.zip'
    """
    return _plan("BrainTreebank", "files.toml", chosen_sessions(subjects, sessions), url)


def tables_plan(
    subjects: Sequence[str] | None = None, sessions: Sequence[str] | None = None, url: str | None = None
) -> FetchPlan:
    """Plan the published word, non-verbal and pitch tables of some sessions; by default those of the leaderboard.

    Parameters
    ----------
    subjects, sessions, url
        As in :func:`fetch_plan`.

    Raises
    ------
    InputError
        When a subject or session does not exist.

    Examples
    --------
    >>> len(tables_plan().files), [file.path.partition("/")[2] for file in tables_plan(sessions=["3_1"]).files]
    (33, ['subject3_trial1_words_df.csv', 'subject3_trial1_nonverbal_df.csv', 'lotr-1_pitch_volume_features.json'])
    """
    chosen = chosen_sessions(subjects, sessions) if subjects or sessions else list(LITE)
    return _plan("Tables of Neuroprobe", "tables.toml", chosen, url)


def _plan(title: str, site_file: str, sessions: Sequence[tuple[int, int]], url: str | None) -> FetchPlan:
    site = _Site.model_validate(
        tomllib.loads(Path(__file__).with_name(site_file).read_text(encoding="utf-8"))
    )
    files = [file for entry in site.files for file in _remote_files(entry, sessions)]
    return FetchPlan(title, site.base_url if url is None else url, tuple(files))


def chosen_sessions(subjects: Sequence[str] | None, sessions: Sequence[str] | None) -> list[tuple[int, int]]:
    """Return the chosen (subject, trial) pairs, sorted.

    Raises
    ------
    InputError
        When nothing is chosen, or a subject or session does not exist.

    Examples
    --------
    >>> chosen_sessions(["6"], None), chosen_sessions(None, ["7_1", "1_0"])
    ([(6, 0), (6, 1), (6, 4)], [(1, 0), (7, 1)])
    """
    if not subjects and not sessions:
        raise InputError(
            "Choose what to fetch: --subjects 1,2 or --sessions 1_1,1_2; --subjects all is more than 100 GB."
        )
    known = sorted({subject for subject, _ in MOVIES})
    wanted = set(known)
    if subjects and list(subjects) != ["all"]:
        wanted = {_subject(text, known) for text in subjects}
    if not sessions:
        return sorted(session for session in MOVIES if session[0] in wanted)
    chosen = {_session(text) for text in sessions}
    outside = sorted(session for session in chosen if session[0] not in wanted)
    if outside:
        raise InputError(
            f"The session {outside[0][0]}_{outside[0][1]} belongs to none of the given subjects."
        )
    return sorted(chosen)


def _subject(text: str, known: Sequence[int]) -> int:
    if not text.isdecimal() or int(text) not in known:
        raise InputError(f'BrainTreebank has no subject "{text}". It has {known[0]} to {known[-1]}, or all.')
    return int(text)


def _session(text: str) -> tuple[int, int]:
    subject, _, trial = text.partition("_")
    if subject.isdecimal() and trial.isdecimal() and (int(subject), int(trial)) in MOVIES:
        return int(subject), int(trial)
    same = [f"{s}_{t}" for s, t in MOVIES if str(s) == subject] or [f"{s}_{t}" for s, t in MOVIES]
    raise InputError(f'BrainTreebank has no session "{text}". It has {", ".join(same)}.')


def _remote_files(entry: _Entry, sessions: Sequence[tuple[int, int]]) -> list[RemoteFile]:
    """Expand an entry: sessions that share a file share one row, with the products of all of them."""
    products: dict[str, dict[str, None]] = {}
    keys: dict[str, str] = {}
    for subject, trial in sessions:
        values = {"subject": subject, "trial": trial, "movie": MOVIES[subject, trial]}
        path = entry.path.format(**values)
        keys[path] = "all" if path == entry.path else f"{subject}_{trial}"
        products.setdefault(path, {}).update({name.format(**values): None for name in entry.products})
    return [
        RemoteFile(
            path=path,
            products=tuple(names),
            archive=path.endswith(".zip"),
            folder=entry.folder,
            unpacked_limit=entry.unpacked_limit_mb * 10**6,
            sha256=entry.sha256.get(keys[path]),
            size=entry.size.get(keys[path]),
            checked=entry.checked,
        )
        for path, names in products.items()
    ]
