"""Bind the sleep tasks to folders: who takes part, when sleep sets in, and which stretch is an example."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.sleep.muse_sleep import MuseSleep
from neuroarena.families.sleep.people import choose_people
from neuroarena.families.sleep.sleep_edf import SleepEDF, first_stable_n2
from neuroarena.families.sleep.sleep_edf.hypnogram import EPOCH_S, slept_before_the_night
from neuroarena.families.sleep.sleep_edf.reader import Night
from neuroarena.families.sleep.stretches import StretchRule
from neuroarena.recordings import Recording

# Nights that were never published: person and night.
UNPUBLISHED = ("SC4132", "SC4361", "SC4521")
MUSE_RECORDINGS = 540


@dataclass(frozen=True)
class Nap:
    """A recording, its person, and when sleep sets in (None: never).

    Attributes
    ----------
    key, subject, session : str
    onset_s : float or None
    usual_onset_s : float or None
        The onset with the track's own k, where another was chosen.
    before_night : bool
        Whether the onset is that of a nap before the night, which counts like any other.
    """

    key: str
    subject: str
    session: str
    onset_s: float | None
    usual_onset_s: float | None = None
    before_night: bool = False


class SleepFolder(Protocol):
    """What the examples of both tasks are made from."""

    def open(self, key: str) -> Recording:
        """Open a recording."""
        ...


def sleep_edf_naps(
    data: SleepEDF, study: str, k: int, subjects: Iterable[str] | None, usual_k: int = 1
) -> tuple[Nap, ...]:
    """List the nights of a study with their first stable N2, whether of a nap or of the night.

    Raises
    ------
    InputError
        When people or nights of the real set are missing, or a hypnogram is broken.
    """
    nights = {key: night for key, night in data.nights.items() if night.study == study}
    if not nights:
        raise InputError(f"{data.root}: holds no night of the {study} study.")
    there = {night.subject for night in nights.values()}
    people = choose_people(study, there, subjects, data.simulated, str(data.root))
    if not data.simulated:
        expected = [f"{person}{night}" for person in people for night in (1, 2)]
        absent = [key for key in expected if key not in nights and key not in UNPUBLISHED]
        if absent:
            raise InputError(
                f"{data.root}: nights are missing ({len(absent)} in all); the first is {absent[0]}."
            )
    return tuple(
        _nap_of_night(data, night, k, usual_k) for night in nights.values() if night.subject in people
    )


def _nap_of_night(data: SleepEDF, night: Night, k: int, usual_k: int) -> Nap:
    epochs = data.stages(night.key)
    stages = epochs["stage"].tolist()

    def onset_s(following: int) -> float | None:
        found = first_stable_n2(stages, following)
        return None if found is None else float(epochs["start_s"].iloc[found])

    return Nap(
        night.key,
        night.subject,
        f"night-{night.night}",
        onset_s(k),
        onset_s(usual_k),
        slept_before_the_night(stages, k),
    )


def describe_targets(naps: Iterable[Nap], k: int, usual_k: int = 1) -> tuple[str, ...]:
    """Describe what is particular about the targets of nights: naps that count, and a k that changes nothing."""
    nights = list(naps)
    early = [nap.key for nap in nights if nap.before_night]
    said = []
    if early:
        said.append(
            f"{len(early)} recordings have a nap before the night, whose stable N2 is the target like any other: "
            f"{', '.join(early)}."
        )
    if k != usual_k and all(nap.onset_s == nap.usual_onset_s for nap in nights):
        said.append(
            f"k = {k} leaves every target as it is with k = {usual_k}: on these recordings it is the same task under "
            "another hash."
        )
    return tuple(said)


def muse_naps(data: MuseSleep, subjects: Iterable[str] | None) -> tuple[Nap, ...]:
    """List the recordings of the Muse set with their N2.

    Raises
    ------
    InputError
        When people or recordings of the real set are missing, or one has no event n2_onset.
    """
    there = {session.subject for session in data.sessions.values()}
    people = choose_people("muse", there, subjects, data.simulated, str(data.root))
    if subjects is None and not data.simulated and len(data.sessions) != MUSE_RECORDINGS:
        raise InputError(
            f"{data.root}: holds {len(data.sessions)} recordings; the set has {MUSE_RECORDINGS}."
        )
    return tuple(
        Nap(key, session.subject, f"ses-{session.session}", data.onset_s(key))
        for key, session in data.sessions.items()
        if session.subject in people
    )


def left_out(naps: Iterable[Nap], rule: StretchRule) -> tuple[str, ...]:
    """Describe which recordings are not examples, and why; empty when all are."""
    never = [nap.key for nap in naps if nap.onset_s is None]
    soon = [nap.key for nap in naps if nap.onset_s is not None and not rule.usable(nap.onset_s)]
    said = []
    if never:
        said.append(f"{len(never)} recordings never reach stable N2 and are left out: {', '.join(never)}.")
    if soon:
        said.append(
            f"{len(soon)} recordings reach N2 sooner than {rule.least_s:g} s after their start and are left out: "
            f"{', '.join(soon)}."
        )
    return tuple(said)


def make_examples(data: SleepFolder, naps: tuple[Nap, ...], rule: StretchRule) -> pd.DataFrame:
    """Make the table of examples: one stretch per recording with a usable onset."""
    rows = []
    for nap in naps:
        if nap.onset_s is None or not rule.usable(nap.onset_s):
            continue
        recording = data.open(nap.key)
        start, stop, target = rule.stretch(nap.key, nap.onset_s, recording.rate_hz, recording.n_samples)
        rows.append(
            {
                "id": nap.key,
                "recording": nap.key,
                "start": start,
                "stop": stop,
                "target": target,
                "unit": nap.key,
                "cluster": nap.subject,
                "subject": nap.subject,
                "session": nap.session,
            }
        )
    columns = ["id", "recording", "start", "stop", "target", "unit", "cluster", "subject", "session"]
    return pd.DataFrame(rows, columns=columns)


def hypnogram_events(data: SleepEDF, key: str) -> pd.DataFrame:
    """Return the hypnogram of a night as events, one per epoch: onset_s, duration_s, value (W, N1, N2, N3, R or ?)."""
    epochs = data.stages(key)
    durations = (-epochs["start_s"].diff(-1)).fillna(EPOCH_S)
    return pd.DataFrame({"onset_s": epochs["start_s"], "duration_s": durations, "value": epochs["stage"]})
