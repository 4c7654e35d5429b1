"""Compare the items of real sessions with the published ones, where hashes or counts of them are known."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Annotated, Literal

import pandas as pd
from pydantic import BaseModel, ConfigDict, StringConstraints, model_validator

from neuroarena.benchmarks.splits import Split
from neuroarena.families.neuroprobe.windows import RATE_HZ, WHOLE_SECOND, WINDOW_SAMPLES

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]

# What the note of a run whose items are not the published ones begins with; such a run cannot be attested.
ITEMS_DIFFER = "The items differ from the published ones"
# The definitions that the published items belong to; strict has the items of 2025.10 in folds of its own.
_LOCKED_DEFINITIONS = ("2025.09", "2025.10", "strict")


class _Published(BaseModel):
    """published_items.toml: by the number of classes and the task."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    schema_version: Literal[1]
    sessions: tuple[str, ...]
    hashes: dict[str, dict[str, dict[str, Sha256]]]
    counts: dict[str, dict[str, tuple[int, ...]]]

    @model_validator(mode="after")
    def _check_sessions(self) -> _Published:
        counts = [each for tasks in self.counts.values() for each in tasks.values()]
        hashed = {session for tasks in self.hashes.values() for each in tasks.values() for session in each}
        if any(len(each) != len(self.sessions) for each in counts) or not hashed <= set(self.sessions):
            raise ValueError("every count needs one number for each session, and every hash a listed session")
        return self


@functools.cache
def _published() -> _Published:
    text = files(__package__).joinpath("published_items.toml").read_text(encoding="utf-8")
    return _Published.model_validate(tomllib.loads(text))


def published_counts(n_classes: int = 2) -> Mapping[str, tuple[int, ...]]:
    """Return the published numbers of items by task, in the order of the lite sessions; word_gap as of 2025.09."""
    return _published().counts.get(str(n_classes), {})


@dataclass(frozen=True)
class Lock:
    """What is known of the published items of a session; None where it is not."""

    sha256: str | None = None
    count: int | None = None


def find_lock(task: str, definition: str, n_classes: int, session: str) -> Lock:
    """Find what is published about the items of a lite session.

    Examples
    --------
    >>> find_lock("onset", "2025.10", 2, "btbank1_1")
    Lock(sha256=None, count=3134)
    >>> find_lock("word_gap", "2025.10", 2, "btbank1_1")
    Lock(sha256=None, count=None)
    """
    known = _published()
    if definition not in _LOCKED_DEFINITIONS or session not in known.sessions:
        return Lock()
    counts = known.counts.get(str(n_classes), {})
    # The rule of word_gap changed after the submissions that its counts come from.
    counted = task in counts and (task != "word_gap" or definition == "2025.09")
    return Lock(
        sha256=known.hashes.get(str(n_classes), {}).get(task, {}).get(session),
        count=counts[task][known.sessions.index(session)] if counted else None,
    )


def hash_items(items: pd.DataFrame, begin_s: float = WHOLE_SECOND[0]) -> str:
    """Hash the items of one session: SHA-256 over a line ``from,to,label`` for each, in their order.

    Parameters
    ----------
    items : DataFrame
        ``start`` (samples) and ``target``.
    begin_s : float
        Where the windows begin, seconds from the onset; the hash is that of the whole second from the onset.
    """
    onsets = items["start"].to_numpy() - round(begin_s * RATE_HZ)
    lines = (
        f"{onset},{onset + WINDOW_SAMPLES},{label}\n"
        for onset, label in zip(onsets.tolist(), items["target"].tolist(), strict=True)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def compare_items(
    examples: pd.DataFrame, task: str, definition: str, n_classes: int, begin_s: float = WHOLE_SECOND[0]
) -> str:
    """Compare the examples of lite sessions with the published items; return a sentence about it.

    Parameters
    ----------
    examples : DataFrame
        The examples of a benchmark; the electrodes of a session share its items.
    task, definition : str
    n_classes : int
    begin_s : float
        Where the windows begin, seconds from the onset.

    Returns
    -------
    str
        Beginning with :data:`ITEMS_DIFFER` when the items of a session are not the published ones.
    """
    equal: dict[str, list[str]] = {"hash": [], "number": [], "": []}
    different = []
    for session, group in examples.groupby("session", sort=False):
        items = group[group["recording"] == group["recording"].iloc[0]]
        lock = find_lock(task, definition, n_classes, str(session))
        problem = _difference(items, lock, begin_s)
        if problem is not None:
            different.append(f"{session} has {problem}")
        else:
            equal["hash" if lock.sha256 else "number" if lock.count else ""].append(str(session))
    if different:
        return (
            f"{ITEMS_DIFFER}: {'; '.join(different)}. The published tables decide; "
            "neuroarena data fetch braintreebank DIR --tables puts them into the folder."
        )
    return _describe(equal)


def _difference(items: pd.DataFrame, lock: Lock, begin_s: float) -> str | None:
    if lock.count is not None and len(items) != lock.count:
        return f"{len(items)} items instead of {lock.count}"
    found = hash_items(items, begin_s) if lock.sha256 else None
    if found != lock.sha256:
        return f"other items (SHA-256 {found} instead of {lock.sha256})"
    return None


def _describe(equal: Mapping[str, Sequence[str]]) -> str:
    said = [
        f"their {what} is the published one in {', '.join(sessions)}"
        for what, sessions in equal.items()
        if what and sessions
    ]
    if equal[""]:
        said.append(f"nothing is published to compare them with in {', '.join(equal[''])}")
    return f"Items: {'; '.join(said)}."


def with_comparison(
    rule: Callable[[pd.DataFrame], Split], compare: Callable[[pd.DataFrame], str], examples: pd.DataFrame
) -> Split:
    """Cut examples by a rule, and note in the split how they compare with the published items."""
    split = rule(examples)
    return replace(split, notes=(*split.notes, compare(examples)))
