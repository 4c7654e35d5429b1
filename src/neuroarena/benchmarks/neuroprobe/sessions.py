"""Which sessions and electrodes each subset of Neuroprobe holds."""

from __future__ import annotations

import functools
import json
import re
from importlib.resources import files

from neuroarena.errors import InputError

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

_RUN = re.compile(r"(?P<stem>.*?[A-Za-z])(?P<first>\d+)(-(?P<last>\d+))?")


def session_key(session: Session) -> str:
    """Write a session as Neuroprobe does: ``btbank{subject}_{trial}``."""
    return f"btbank{session[0]}_{session[1]}"


def parse_session(text: str) -> Session:
    """Read ``btbank1_2`` or ``1_2`` as (subject, trial)."""
    match = re.fullmatch(r"(?:btbank)?(\d+)_(\d+)", text)
    if match is None:
        raise InputError(f'"{text}" is not a session. Expected SUBJECT_TRIAL, for example 1_2.')
    return int(match[1]), int(match[2])


@functools.cache
def subset_electrodes(subset: str, subject: int) -> tuple[str, ...] | None:
    """List the electrodes of a subject in a subset, in order; None means all of them."""
    if subset == "full":
        return None
    runs = json.loads(files(__package__).joinpath("electrodes.json").read_text(encoding="utf-8"))
    labels: list[str] = []
    for run in runs[subset][str(subject)].split():
        match = _RUN.fullmatch(run)
        if match is None:
            raise InputError(
                f'electrodes.json: "{run}" is not a contact or a run of contacts such as T1bIc1-8.'
            )
        first, last = int(match["first"]), int(match["last"] or match["first"])
        labels += [f"{match['stem']}{number}" for number in range(first, last + 1)]
    return tuple(labels)
