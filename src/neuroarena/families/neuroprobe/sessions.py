"""Which sessions and electrodes each subset of Neuroprobe holds."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable
from importlib.resources import files
from typing import Literal

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank.facts import MOVIES

Session = tuple[int, int]

LITE: tuple[Session, ...] = (
    (1, 1), (1, 2), (2, 0), (2, 4), (3, 0), (3, 1), (4, 0), (4, 1), (7, 0), (7, 1), (10, 0), (10, 1),
)  # fmt: skip
NANO: tuple[Session, ...] = ((1, 1), (2, 4), (3, 1), (4, 0), (7, 1), (10, 1))
FULL: tuple[Session, ...] = (
    *((1, trial) for trial in range(3)),
    *((2, trial) for trial in range(7)),
    *((3, trial) for trial in range(3)),
    *((4, trial) for trial in range(3)),
    (5, 0), (6, 0), (6, 1), (6, 4), (7, 0), (7, 1), (8, 0), (9, 0), (10, 0), (10, 1),
)  # fmt: skip
SESSIONS: dict[str, tuple[Session, ...]] = {"lite": LITE, "nano": NANO, "full": FULL}

# Training sessions of cross-session decoders on the full subset: the "longest trials" of each subject, as
# published. Subject 6 has no trial 2, and trial 0 of subject 1 is not the longest.
LONGEST: dict[int, tuple[int, ...]] = {
    1: (0, 1), 2: (4, 6), 3: (2, 1), 4: (2, 1), 5: (0,), 6: (0, 2), 7: (1, 0), 8: (0,), 9: (0,), 10: (1, 0),
}  # fmt: skip

_SESSION = re.compile(r"(?:btbank)?(\d+)_(\d+)")
_RUN = re.compile(r"(?P<stem>.*?[A-Za-z])(?P<first>\d+)(-(?P<last>\d+))?")


def session_key(session: Session) -> str:
    """Write a session as Neuroprobe does: ``btbank{subject}_{trial}``."""
    return f"btbank{session[0]}_{session[1]}"


def parse_session(text: str) -> Session:
    """Read ``btbank1_2`` or ``1_2`` as (subject, trial)."""
    match = _SESSION.fullmatch(text)
    if match is None:
        raise InputError(f'"{text}" is not a session. Expected SUBJECT_TRIAL, for example 1_2.')
    return int(match[1]), int(match[2])


def training_sessions(session: str, train_on: Literal["longest", "all"] = "longest") -> tuple[str, ...]:
    """Name the sessions that a cross-session decoder of the full subset is trained on.

    Parameters
    ----------
    session : str
        The session that is judged, such as "btbank1_2".
    train_on : {"longest", "all"}
        The first entry of the subject's table that is another session, or every such entry.

    Raises
    ------
    InputError
        When the subject has a single session, or the table names one that does not exist.

    Examples
    --------
    >>> training_sessions("btbank1_2"), training_sessions("btbank1_2", "all")
    (('btbank1_0',), ('btbank1_0', 'btbank1_1'))
    """
    subject, trial = parse_session(session)
    if len(LONGEST.get(subject, ())) < 2:
        raise InputError(f"{session}: subject {subject} has a single session, so there is none to train on")
    others = [(subject, other) for other in LONGEST[subject] if other != trial]
    chosen = others if train_on == "all" else others[:1]
    for other in chosen:
        if other not in FULL:
            raise InputError(
                f"{session}: the published table trains on {session_key(other)}, a session that does not exist"
            )
    return tuple(session_key(other) for other in chosen)


def recurring_films(sessions: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Find the films that were watched in several of these sessions: film -> sessions, in their order.

    Examples
    --------
    >>> recurring_films(["btbank3_0", "btbank3_1", "btbank7_0"])
    {'cars-2': ('btbank3_0', 'btbank7_0')}
    """
    watched: dict[str, list[str]] = {}
    for session in sessions:
        film = film_of(session)
        if film is not None:
            watched.setdefault(film, []).append(session)
    return {film: tuple(seen) for film, seen in watched.items() if len(seen) > 1}


def film_of(session: str) -> str | None:
    """Return the film of a session, or None for a name that is not a session of BrainTreebank."""
    match = _SESSION.fullmatch(session)
    return None if match is None else MOVIES.get((int(match[1]), int(match[2])))


@functools.cache
def subset_electrodes(subset: str, subject: int, definition: str = "2025.10") -> tuple[str, ...] | None:
    """List the electrodes of a subject in a subset, in order; None means all of them.

    The definition of July 2025 has lists of its own.
    """
    if subset == "full":
        return None
    runs = json.loads(files(__package__).joinpath("electrodes.json").read_text(encoding="utf-8"))
    key = f"{subset}-2025.07" if definition == "2025.07" else subset
    labels: list[str] = []
    for run in runs[key][str(subject)].split():
        match = _RUN.fullmatch(run)
        if match is None:
            raise InputError(
                f'electrodes.json: "{run}" is not a contact or a run of contacts such as T1bIc1-8.'
            )
        first, last = int(match["first"]), int(match["last"] or match["first"])
        labels += [f"{match['stem']}{number}" for number in range(first, last + 1)]
    return tuple(labels)
