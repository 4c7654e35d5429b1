"""Write simulated HBN-EEG releases: the real layout, with made-up people whose EEG carries known signals."""

from __future__ import annotations

import functools
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.twin_folder import Limits, Progress, check_options, write_twin
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn.bdf_writer import write_bdf
from neuroarena.families.eeg2025.hbn.twin_events import tell
from neuroarena.families.eeg2025.hbn.twin_ideal import ideals
from neuroarena.families.eeg2025.hbn.twin_people import LEAST_PEOPLE, Person, make_people, trial_amplitude
from neuroarena.families.eeg2025.hbn.twin_signal import CARRIERS, make_gains, make_signal
from neuroarena.families.eeg2025.hbn.twin_tables import (
    CHANNEL_NAMES,
    TASK_OF_COLUMN,
    write_participants,
    write_root,
    write_sidecars,
)

GENERATOR = "neuroarena hbn twin"
GENERATOR_VERSION = 1
EVERY_RELEASE = tuple(f"R{number}" for number in range(1, 13))
DEFAULT_RELEASES = ("R1", "R5", "R12")
# Real people whose ids the published code names: one that the start kit leaves out of training, and the one
# on whom the quick run is made. The twin has people of these names, with made-up data.
LEFT_OUT, QUICK = "NDARWV769JM7", "NDARFG568PXZ"
PEOPLE, EVENTS, SIGNAL, GAINS, STATES = range(5)

LIMITS: Limits = {
    "people": (int, LEAST_PEOPLE, 400),
    "trials": (int, 3, 64),
    "seconds": (float, 4.0, 900.0),
    "seed": (int, 0, 2**32 - 1),
    "strength": (float, 0.0, 1.15),
}


@dataclass
class Told:
    """What was planted in the recordings of one person, and how long these are in whole pieces of 2 s."""

    person: Person
    trials: list[tuple[float, float]] = field(default_factory=list)
    contrast_samples: list[int] = field(default_factory=list)
    seconds: float = 0.0


def simulate(
    root: str | Path,
    *,
    releases: str | Iterable[str] = DEFAULT_RELEASES,
    people: int = 14,
    trials: int = 5,
    seconds: float = 6.0,
    raw: bool = False,
    seed: int = 0,
    strength: float = 1.0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write simulated releases of HBN-EEG into the folder `root`.

    The folder appears whole or not at all. A twin written with the same options is left as it is.

    Parameters
    ----------
    root : path
        The folder; missing, empty, or an earlier twin (which is replaced when its options differ).
    releases : iterable of str, or text with commas
        Which releases, of R1 to R12.
    people : int
        People with complete data in each release, 12 to 400; three more have gaps.
    trials : int
        Trials of each run of the contrast change and surround suppression tasks (24 and 64 in the real ones).
    seconds : float
        Length of the recordings of the other tasks.
    raw : bool
        Write raw releases: 500 Hz, folders ``R1`` instead of ``R1_L100_bdf``, events with their sample.
    seed : int
        Seed of all randomness; the same seed yields the same numbers.
    strength : float
        Multiplies the links between targets and EEG; 0 leaves pure chance, at most 1.15.
    progress : callable, optional
        Called with the people written, their total number, and the name of the release.

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    """
    chosen = [word.strip() for word in releases.split(",")] if isinstance(releases, str) else list(releases)
    options: dict[str, Any] = {"releases": chosen, "people": people, "trials": trials, "seconds": seconds}
    options |= {"raw": raw, "seed": seed, "strength": strength}
    _check_choices(options)
    options = check_options("hbn", options, LIMITS)
    write = functools.partial(_write, progress=progress)
    return write_twin(root, GENERATOR, GENERATOR_VERSION, options, write)


def _check_choices(options: dict[str, Any]) -> None:
    unknown = [name for name in options["releases"] if name not in EVERY_RELEASE]
    if unknown or not options["releases"] or len(set(options["releases"])) < len(options["releases"]):
        raise InputError(
            f"simulate hbn: --releases must be some of {', '.join(EVERY_RELEASE)}, each once, "
            f"got {', '.join(map(str, options['releases'])) or 'none'}. Nothing was written."
        )
    if not isinstance(options["raw"], bool):
        raise InputError(f"simulate hbn: --raw must be yes or no, got {options['raw']!r}.")


def _chance(options: dict[str, Any], *stream: int | str) -> np.random.Generator:
    numbers = [word if isinstance(word, int) else zlib.crc32(word.encode()) for word in stream]
    return np.random.default_rng([options["seed"], *numbers])


def _write(root: Path, options: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    taken = {LEFT_OUT, QUICK}
    crowds: dict[str, list[Person]] = {}
    for release in options["releases"]:
        # The person left out of training is one of those with gaps, so that the complete ones stay complete.
        names = {"R1": {options["people"] + 1: LEFT_OUT}, "R5": {0: QUICK}}.get(release, {})
        rng = _chance(options, PEOPLE, release)
        crowds[release] = make_people(options["people"], names, taken, options["strength"], rng)
    total, done = sum(map(len, crowds.values())), 0
    told: dict[str, list[Told]] = {}
    for release, crowd in crowds.items():
        folder = root / (release if options["raw"] else f"{release}_L100_bdf")
        folder.mkdir()
        write_root(folder, release)
        states = {person.name: _states(person, _chance(options, STATES, person.name)) for person in crowd}
        write_participants(folder, release, crowd, states)
        told[release] = []
        for person in crowd:
            told[release].append(_write_person(folder, person, states[person.name], options))
            done += 1
            if progress is not None:
                progress(done, total, release)
    return _card(options, told)


def _states(person: Person, rng: np.random.Generator) -> dict[str, str]:
    """Draw for every task whether its recording was published; some were judged unfit."""
    older = person.age >= 9
    states = {}
    for column, (task, run) in TASK_OF_COLUMN.items():
        absent = task == ("seqLearning6target" if older else "seqLearning8target")
        absent |= person.short and (task, run) not in (("RestingState", 0), ("contrastChangeDetection", 1))
        unfit = task == "symbolSearch" and rng.random() < 0.3
        states[column] = "unavailable" if absent else "caution" if unfit else "available"
    return states


def _write_person(folder: Path, person: Person, states: dict[str, str], options: dict[str, Any]) -> Told:
    place = folder / f"sub-{person.name}" / "eeg"
    place.mkdir(parents=True)
    rate_hz = 500 if options["raw"] else 100
    gains = make_gains(_chance(options, GAINS, person.name))
    told = Told(person)
    for column, (task, run) in TASK_OF_COLUMN.items():
        if states[column] != "available":
            continue
        rng = _chance(options, EVENTS, person.name, column)
        story = tell(task, run, options["seconds"], options["trials"], person.trait, rng)
        trials = [
            (onset, trial_amplitude(response, options["strength"], rng)) for onset, response in story.trials
        ]
        told.trials += [(response, trials[at][1]) for at, (_, response) in enumerate(story.trials)]
        told.seconds += story.duration_s // 2 * 2
        signal = make_signal(
            person, story.duration_s, rate_hz, trials, gains, _chance(options, SIGNAL, person.name, column)
        )
        if task == "contrastChangeDetection":
            told.contrast_samples.append(signal.shape[1] * 100 // rate_hz)
        if options["raw"]:
            # Real raw releases have events after the end of the recording.
            story.add(story.duration_s + 1, "boundary", "boundary")
        stem = place / f"sub-{person.name}_task-{task}{f'_run-{run}' if run else ''}"
        write_sidecars(stem, task, story, rate_hz, samples=options["raw"])
        write_bdf(stem.with_name(f"{stem.name}_eeg.bdf"), CHANNEL_NAMES, signal, rate_hz)
    return told


def _card(options: dict[str, Any], told: dict[str, list[Told]]) -> dict[str, Any]:
    complete = [each.seconds for crowd in told.values() for each in crowd if not each.person.short]
    # Everybody with all recordings passes; those with two recordings do not.
    least_minutes = min(complete) / 60
    return {
        "minimum_minutes": least_minutes,
        "people": {release: [each.person.name for each in crowd] for release, crowd in told.items()},
        "planted": {
            name: {
                "frequency_hz": frequency,
                "amplitude_uv": amplitude,
                "electrodes": f"E{64 * half + 1} to E{64 * half + 64}",
                "tells": "the response time of its trial, 0.5 to 2.5 s after the target"
                if name == "trial"
                else "how slow the person is"
                if name == "response"
                else name,
            }
            for name, (frequency, amplitude, half) in CARRIERS.items()
        },
        **ideals(told, options["strength"]),
    }
