"""Bind Neuroprobe to a BrainTreebank folder: which sessions, which windows, which electrodes."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from neuroarena.datasets.card import stamp_folder
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import labels
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank, nonverbal_table, word_table
from neuroarena.families.neuroprobe.braintreebank.published import Published, published_paths
from neuroarena.families.neuroprobe.sessions import (
    FULL,
    SESSIONS,
    Session,
    film_of,
    parse_session,
    recurring_films,
    session_key,
    subset_electrodes,
)
from neuroarena.families.neuroprobe.tasks import tasks_of
from neuroarena.recordings import Recording

# Columns of features.csv that replace the published pitch table where a folder lacks it.
_STAND_INS = {"enhanced_pitch": "pitch", "delta_enhanced_pitch": "delta_pitch"}
# The columns of features.csv that tasks read; the others need not stay in memory.
_READ_COLUMNS = frozenset(task.column for task in tasks_of("2025.07").values())


def open_folder(root: str) -> BrainTreebank:
    """Open a BrainTreebank folder, once for as long as it is the same."""
    return _open_folder(root, stamp_folder(root))


@functools.lru_cache(maxsize=4)
def _open_folder(root: str, stamp: tuple[str, int]) -> BrainTreebank:
    del stamp  # only part of the cache key
    return BrainTreebank(root)


def choose_sessions(dataset: BrainTreebank, subset: str, wanted: Iterable[str] | None) -> list[Session]:
    """Choose the sessions of a subset; a missing one is an error unless the data are a twin.

    A twin is small by design and its card lists the sessions it has; the split hash distinguishes the
    two.
    """
    if subset not in SESSIONS:
        raise InputError(f'"{subset}" is not a subset of Neuroprobe; expected lite, nano or full.')
    table = list(SESSIONS[subset])
    if wanted is not None:
        chosen = list(dict.fromkeys(parse_session(text) for text in wanted))
        foreign = [session_key(session) for session in chosen if session not in table]
        if foreign:
            raise InputError(f"The subset {subset} of Neuroprobe has no session {', '.join(foreign)}.")
        table = chosen
    elif dataset.simulated:
        table = [session for session in table if session in dataset.sessions]
    absent = [session_key(session) for session in table if session not in dataset.sessions]
    if absent or not table:
        raise InputError(
            f"{dataset.root}: the subset {subset} needs the sessions {', '.join(absent) or 'of its table'}, which are "
            "not there. Download them, or name the sessions you have with -O sessions=1_1,1_2; "
            "nothing is left out silently."
        )
    return table


def choose_judged(sessions: Sequence[Session], wanted: Iterable[str] | None) -> frozenset[str] | None:
    """Check the sessions to be judged; None means all that are loaded."""
    if wanted is None:
        return None
    judged = [parse_session(text) for text in wanted]
    foreign = [session_key(session) for session in judged if session not in sessions]
    if foreign or not judged:
        raise InputError(
            f"The option judged names {', '.join(foreign) or 'no session'}; "
            "expected some of the sessions that are loaded: "
            f"{', '.join(session_key(session) for session in sessions)}."
        )
    return frozenset(session_key(session) for session in judged)


def film_notes(sessions: Sequence[Session]) -> tuple[str, ...]:
    """Describe which films recur among the sessions, and which recur in sessions left for pretraining."""
    keys = [session_key(session) for session in sessions]
    notes = [
        f"The film {film} was watched in {', '.join(seen)}: a decoder trained on one of them has seen the film of "
        "the others. No split trains on one to judge another; pooled training may."
        for film, seen in recurring_films(keys).items()
    ]
    for other in (session_key(session) for session in FULL if session not in sessions):
        seen = [key for key in keys if film_of(key) == film_of(other)]
        if seen:
            notes.append(
                f"{other}, which is not part of these data, shows {film_of(other)}, the film of {', '.join(seen)}: "
                "a decoder pretrained on it has seen that film."
            )
    return tuple(notes)


class _Annotations(NamedTuple):
    """The tables that the labels of a session are made from."""

    words: pd.DataFrame
    nonverbal: pd.DataFrame
    features: pd.DataFrame | None
    pitch: dict[str, Any] | None


def _annotations(dataset: BrainTreebank, session: Session, definition: str) -> _Annotations:
    """Read the tables of a session once for all tasks, and again when a file has changed."""
    stem = f"sub_{session[0]}_trial{session[1]:03d}_"
    movie = dataset.movie(*session)
    files = [
        *(dataset.root / "transcripts" / movie).glob("*"),
        *(dataset.root / "subject_timings").glob(f"{stem}*"),
        *(dataset.root / "pitch_volume_features").glob(f"{movie}_*"),
        *(path for path in published_paths(dataset.root, *session) if path.exists()),
    ]
    states = [(path, path.stat()) for path in sorted(files)]
    stamp = tuple((str(path), state.st_mtime_ns, state.st_size) for path, state in states)
    return _read_annotations(dataset, session, definition == "2025.07", stamp)


@functools.lru_cache(maxsize=64)
def _read_annotations(
    dataset: BrainTreebank, session: Session, with_suffixes: bool, stamp: tuple[object, ...]
) -> _Annotations:
    del stamp  # only part of the cache key: it changes when the files change
    published = dataset.published(*session)
    # The published tables suffice for some tasks; a task that needs more asks for features.csv by name.
    only_tables = published.complete and not with_suffixes and not dataset.has_features(*session)
    features = None if only_tables else dataset.features(*session)
    words, nonverbal = _align_words(dataset, session, features, with_suffixes, published)
    pitch = dataset.pitch(dataset.movie(*session))
    if features is None:
        return _Annotations(words, nonverbal, None, pitch)
    read = [column for column in features.columns if column in _READ_COLUMNS]
    return _Annotations(words, nonverbal, features[read], pitch or _pitch_from_columns(features))


def _align_words(
    dataset: BrainTreebank,
    session: Session,
    features: pd.DataFrame | None,
    with_suffixes: bool,
    published: Published,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the word table and the non-verbal table: the published ones, and rebuilt where there is none.

    The words of July 2025 include suffixes, which the published tables, those of today, do not; the windows
    without speech are the same in all definitions.
    """
    words, nonverbal = published
    if words is None or nonverbal is None or with_suffixes:
        assert features is not None
        triggers = dataset.triggers(*session)
        words = word_table(features, triggers) if words is None else words
        if nonverbal is None:
            nonverbal = nonverbal_table(words, int(triggers["index"].iloc[-1]))
        if with_suffixes:
            words = word_table(features, triggers, drop_suffixes=False, drop_duplicates=False)
    return words, nonverbal


def table_notes(dataset: BrainTreebank, sessions: Sequence[Session], definition: str) -> tuple[str, ...]:
    """Describe in which sessions the published tables were used, and in which they were rebuilt.

    A twin without published tables needs no note.
    """
    paths = {session_key(session): published_paths(dataset.root, *session) for session in sessions}
    words = {key: definition != "2025.07" and path.exists() for key, (path, _) in paths.items()}
    nonverbal = {key: path.exists() for key, (_, path) in paths.items()}
    if dataset.simulated and not any((*words.values(), *nonverbal.values())):
        return ()
    return _describe_source("Words", words), _describe_source("Windows without speech", nonverbal)


def _describe_source(what: str, published: dict[str, bool]) -> str:
    sources = {True: "from the published tables", False: "rebuilt from features.csv and the timings"}
    chosen = {there: [key for key, own in published.items() if own is there] for there in sources}
    said = [f"{sources[there]} in {', '.join(keys)}" for there, keys in chosen.items() if keys]
    return f"{what}: {'; '.join(said)}."


def _pitch_from_columns(features: pd.DataFrame) -> dict[str, Any] | None:
    """Make a pitch table from the columns that exist, keyed by start time as the published one is."""
    present = {name: column for name, column in _STAND_INS.items() if column in features.columns}
    if not present:
        return None
    columns = {name: features[column].tolist() for name, column in present.items()}
    return {
        repr(float(start)): {name: values[row] for name, values in columns.items()}
        for row, start in enumerate(features["start"])
    }


def pitch_notes(
    dataset: BrainTreebank, sessions: Sequence[Session], task: str, definition: str
) -> tuple[str, ...]:
    """Describe where the pitch was read from, when it is not the published table."""
    known = tasks_of(definition)
    if task not in known or known[task].column not in _STAND_INS:
        return ()
    films = list(dict.fromkeys(dataset.movie(*session) for session in sessions))
    lacking = [film for film in films if dataset.pitch_path(film) is None]
    if not lacking:
        return ()
    return (
        f'The published pitch table is missing for {", ".join(lacking)}: the column "{_STAND_INS[known[task].column]}" '
        "of features.csv was ranked instead, so that the items differ from the published ones.",
    )


@functools.lru_cache(maxsize=64)
def _n_samples(dataset: BrainTreebank, session: Session) -> int:
    some = dataset.electrodes(session[0])["name"].iloc[:1].tolist()
    return dataset.recording(*session, some).n_samples


def session_examples(dataset: BrainTreebank, session: Session, task: str, **options: Any) -> pd.DataFrame:
    """Make the examples of one session from its tables.

    Raises
    ------
    InputError
        Naming the session; also for a window that lies outside the recording.
    """
    key = session_key(session)
    tables = _annotations(dataset, session, options["definition"])
    try:
        items = labels.examples(task, *tables, **options)
        _check_inside(items, _n_samples(dataset, session), options["offset_s"])
    except InputError as error:
        raise InputError(f"{key}: {error}") from error
    return pd.DataFrame(
        {
            "id": [f"{key}-{item:05d}" for item in range(len(items))],
            "recording": key,
            "start": items["start"],
            "stop": items["stop"],
            "target": items["label"],
            "unit": key,
            "cluster": f"subject {session[0]}",
            "subject": str(session[0]),
            "session": key,
        }
    )


def _check_inside(items: pd.DataFrame, n_samples: int, offset_s: Sequence[float]) -> None:
    """Refuse windows that leave the recording; dropping their items would make it a different task."""
    outside = np.flatnonzero((items["start"] < 0) | (items["stop"] > n_samples))
    if len(outside):
        item = items.iloc[outside[0]]
        raise InputError(
            f"{len(outside)} windows lie outside the recording, which has samples 0 to {n_samples}; the first is item "
            f"{outside[0]}, [{item['start']}, {item['stop']}), {offset_s[0]:g} to {offset_s[1]:g} s from its onset. "
            "The annotation belongs to another recording, the recording is cut short, or the offset is too wide."
        )


def all_examples(
    dataset: BrainTreebank, sessions: Sequence[Session], task: str, **options: Any
) -> pd.DataFrame:
    """Make the examples of all sessions, one recording per session."""
    parts = [session_examples(dataset, session, task, **options) for session in sessions]
    return pd.concat(parts, ignore_index=True)


def electrode_examples(
    dataset: BrainTreebank, electrodes: dict[Session, tuple[str, ...]], task: str, **options: Any
) -> pd.DataFrame:
    """Make the examples of single electrodes: each is a recording and a unit of its own."""
    parts = []
    for session, names in electrodes.items():
        whole = session_examples(dataset, session, task, **options)
        key, item = session_key(session), whole["id"].str.rpartition("-")[2]
        for name in names:
            own = f"{key}/{name}"
            parts.append(whole.assign(id=own + "-" + item, recording=own, unit=own))
    return pd.concat(parts, ignore_index=True)


def session_electrodes(
    dataset: BrainTreebank, session: Session, subset: str, definition: str
) -> tuple[str, ...]:
    """List the electrodes of a session in a subset, in their order.

    Raises
    ------
    InputError
        When the folder lacks electrodes of the subset; a twin may lack some, but not all.
    """
    unlocated = definition == "2025.07"
    present = dataset.electrodes(session[0], unlocated=unlocated)["name"].tolist()
    wanted = subset_electrodes(subset, session[0], definition)
    if wanted is None:
        return tuple(present)
    found = tuple(label for label in wanted if label in set(present))
    absent = [label for label in wanted if label not in set(present)]
    if absent and not (dataset.simulated and found):
        raise InputError(
            f"{session_key(session)}: {len(absent)} electrodes of the subset {subset} are not in this folder, "
            f"for example {absent[0]}."
        )
    return found


def choose_electrodes(
    dataset: BrainTreebank,
    sessions: Sequence[Session],
    subset: str,
    definition: str,
    wanted: Iterable[str] | None,
) -> dict[Session, tuple[str, ...]]:
    """Choose single electrodes of every session: all of its subset, or those that are named.

    Raises
    ------
    InputError
        For a name that a session does not have, with the closest ones.
    """
    names = None if wanted is None else tuple(dict.fromkeys(wanted))
    if names is not None and not names:
        raise InputError("The option electrode is empty; leave it out to use all electrodes.")
    chosen = {}
    for session in sessions:
        known = session_electrodes(dataset, session, subset, definition)
        unknown = [name for name in names or () if name not in known]
        if unknown:
            close = difflib.get_close_matches(unknown[0], known, n=3, cutoff=0.5)
            raise InputError(
                f'{session_key(session)} has no electrode "{unknown[0]}" in the subset {subset}'
                f"{'; did you mean ' + ' or '.join(close) if close else ''}. An electrode belongs to one person: "
                "name that person's sessions with -O sessions=1_1,1_2."
            )
        chosen[session] = known if names is None else names
    return chosen


def open_recording(dataset: BrainTreebank, subset: str, definition: str, key: str) -> Recording:
    """Open the recording of a session, or of one electrode (``session/electrode``), once until its files change."""
    session = parse_session(key.partition("/")[0])
    files = [
        dataset.signal_path(*session),
        dataset.root / "corrupted_elec.json",
        *dataset.root.glob(f"electrode_labels/sub_{session[0]}/*"),
        *dataset.root.glob(f"localization/sub_{session[0]}/*"),
        *dataset.root.glob("localization/*.csv"),
    ]
    states = [(path, path.stat()) for path in sorted(files) if path.exists()]
    stamp = tuple((str(path), state.st_mtime_ns, state.st_size) for path, state in states)
    return _open_recording(dataset, subset, definition, key, stamp)


@functools.lru_cache(maxsize=4096)
def _open_recording(
    dataset: BrainTreebank, subset: str, definition: str, key: str, stamp: tuple[object, ...]
) -> Recording:
    del stamp  # only part of the cache key: it changes when the files change
    name, _, electrode = key.partition("/")
    session = parse_session(name)
    chosen = (electrode,) if electrode else session_electrodes(dataset, session, subset, definition)
    recording = dataset.recording(*session, list(chosen), unlocated=definition == "2025.07")
    recording.check_alive()
    return recording
