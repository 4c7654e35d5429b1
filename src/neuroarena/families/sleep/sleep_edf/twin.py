"""Write a simulated Sleep-EDF: pairs of EDF files in the real layout, with sleep of a known strength in them."""

from __future__ import annotations

import datetime
import functools
import itertools
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.twin_folder import PLANTED, Limits, Progress, check_options, write_twin
from neuroarena.errors import MissingDependency
from neuroarena.families.sleep.sleep_edf import twin_sleep as sleep
from neuroarena.families.sleep.sleep_edf.twin_signal import make_eeg

GENERATOR = "neuroarena sleep_edf twin"
GENERATOR_VERSION = 2
RATE_HZ = 100
RECORD_S = 30
# The people of the cassette study: five numbers were never assigned.
PEOPLE = tuple(number for number in range(83) if number not in (39, 68, 69, 78, 79))
# Seconds of the task that the nights are made for: from the start of a stream to stable N2, and its length.
LEAST_S, MOST_S, STREAM_S = 300, 1500, 1800
LENGTH_LEAK_S = 300
LIMITS: Limits = {
    "people": (int, 1, len(PEOPLE)),
    "nights": (int, 1, 2),
    "minutes": (int, (MOST_S + STREAM_S - LEAST_S + 60) // 60, 1440),
    **PLANTED,
}
_TEXTS = {"W": ("W",), "N1": ("1",), "N2": ("2",), "N3": ("3", "4"), "R": ("R",)}


def simulate(
    root: str | Path,
    *,
    people: int = 10,
    nights: int = 2,
    minutes: int = 60,
    seed: int = 0,
    strength: float = 1.0,
    plant_leak: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a simulated Sleep-EDF (cassette study) into the folder `root`.

    The folder appears whole or not at all. A twin written with the same options is left as it is.

    Parameters
    ----------
    root : path
        The folder; missing, empty, or an earlier twin (which is replaced when its options differ).
    people, nights : int
        Number of people, 1 to 78, and of nights of each, 1 or 2.
    minutes : int
        Length of every recording, 51 to 1440; real ones last 20 to 24 hours.
    seed : int
        Seed of all randomness; the same seed yields the same numbers.
    strength : float
        How strongly the spectrum follows the stages; 1 is as in real nights, 0 leaves pure chance.
    plant_leak : {"channel", "length", "order"}, optional
        Plant an answer where none should be: a channel that counts down to stable N2; recordings that
        end exactly 300 s after it; nights sorted by when it comes.
    progress : callable, optional
        Called with the nights written, their total number, and the file's name.

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    MissingDependency
        When edfio is not installed.
    """
    options: dict[str, Any] = {"people": people, "nights": nights, "minutes": minutes, "seed": seed}
    options |= {"strength": strength, "plant_leak": plant_leak}
    checked = check_options("sleep_edf", options, LIMITS)
    return write_twin(
        root, GENERATOR, GENERATOR_VERSION, checked, functools.partial(_write, progress=progress)
    )


def _write(root: Path, options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    folder = root / "sleep-cassette"
    folder.mkdir()
    wanted = [
        (person, night) for person in PEOPLE[: options["people"]] for night in range(1, options["nights"] + 1)
    ]
    listed = []
    for number, (person, night) in enumerate(wanted):
        rng = np.random.default_rng([options["seed"], person, night])
        onset = _onset(number, len(wanted), options, rng)
        listed.append(_write_night(folder, person, night, onset, options, rng))
        if progress is not None:
            progress(number + 1, len(wanted), f"{listed[-1]['night']}-PSG.edf")
    return {
        "fitted_to": sleep.FITTED_TO,
        "planted": sleep.describe(options["strength"]),
        "ideal_mae_s": sleep.ideal_error(options["strength"], LEAST_S, MOST_S, STREAM_S),
        "chance_mae_s": (MOST_S - LEAST_S) / 4,
        "ideal_says": (
            "Least mean absolute error of task sleep/sleep-edf, for whoever sees the planted levels of every epoch "
            "and knows the night; at strength 0 it is that of guessing the median."
        ),
        "nights": listed,
    }


def _onset(number: int, total: int, options: dict[str, Any], rng: np.random.Generator) -> int:
    """Choose the epoch of stable N2, late enough for a stream to begin anywhere and early enough for it to continue."""
    if options["plant_leak"] == "order":
        # Early, so that streams begin where recordings do and the order of nights is that of targets.
        return (LEAST_S + (MOST_S - LEAST_S) * (number + 1) // (4 * total)) // sleep.EPOCH_S
    latest = options["minutes"] * 60 - (STREAM_S - LEAST_S)
    return int(rng.integers(MOST_S // sleep.EPOCH_S, latest // sleep.EPOCH_S))


def _write_night(
    folder: Path, person: int, night: int, onset: int, options: dict[str, Any], rng: np.random.Generator
) -> dict[str, Any]:
    key = f"SC4{person:02d}{night}"
    n_epochs = options["minutes"] * 60 // sleep.EPOCH_S
    states = sleep.draw_states(onset, n_epochs, rng)
    levels = sleep.draw_night(options["strength"], rng) + sleep.draw_levels(states, options["strength"], rng)
    stages, brain = sleep.STAGE_OF[states], make_eeg(levels, (0, 1), RATE_HZ, rng)
    if options["plant_leak"] == "length":
        n_epochs = onset + LENGTH_LEAK_S // sleep.EPOCH_S
        stages, brain = stages[:n_epochs], brain[:, : n_epochs * sleep.EPOCH_S * RATE_HZ]
    if options["plant_leak"] == "channel":
        # Twenty seconds per microvolt: an hour fits the range of the channel.
        brain[1] = (onset * sleep.EPOCH_S - np.arange(brain.shape[1]) / RATE_HZ) / 20.0
    began = datetime.datetime(1989, 4, 24 + night, 16, int(rng.integers(60)), 0)
    _write_signals(folder / f"{key}E0-PSG.edf", brain, began, rng)
    _write_hypnogram(folder / f"{key}EC-Hypnogram.edf", stages, began, rng)
    return {
        "night": key,
        "stable_n2_s": onset * sleep.EPOCH_S,
        "length_s": n_epochs * sleep.EPOCH_S,
        "epochs": {name: int((stages == number).sum()) for number, name in enumerate(sleep.STAGES)},
    }


def _edfio() -> Any:
    try:
        import edfio
    except ImportError as error:
        raise MissingDependency("edfio", "eeg", "Writing a simulated Sleep-EDF") from error
    return edfio


def _write_signals(path: Path, brain: np.ndarray, began: datetime.datetime, rng: np.random.Generator) -> None:
    edfio = _edfio()
    n_samples = brain.shape[1]
    seconds = n_samples // RATE_HZ

    def signal(
        label: str, data: np.ndarray, rate: int, unit: str, most: float, least: float | None = None
    ) -> Any:
        low = -most if least is None else least
        return edfio.EdfSignal(
            np.clip(data, low, most).astype(np.float64),
            rate,
            label=label,
            physical_dimension=unit,
            physical_range=(low, most),
            digital_range=(-2048, 2047),
        )

    slow: np.ndarray = rng.standard_normal((4, seconds))
    signals = [
        signal("EEG Fpz-Cz", brain[0], RATE_HZ, "uV", 192.0),
        signal("EEG Pz-Oz", brain[1], RATE_HZ, "uV", 192.0),
        signal("EOG horizontal", 40.0 * rng.standard_normal((n_samples,)), RATE_HZ, "uV", 1009.0),
        signal("Resp oro-nasal", 300.0 * slow[0], 1, "", 2047.0),
        signal("EMG submental", 1.0 + 0.2 * slow[1], 1, "uV", 5.0, -5.0),
        signal("Temp rectal", 37.0 + 0.1 * slow[2], 1, "DegC", 40.0, 34.0),
        signal("Event marker", np.zeros(seconds), 1, "", 2047.0),
    ]
    edfio.Edf(
        signals,
        starttime=began.time(),
        recording=edfio.Recording(startdate=began.date()),
        data_record_duration=RECORD_S,
    ).write(path)


def _write_hypnogram(
    path: Path, stages: np.ndarray, began: datetime.datetime, rng: np.random.Generator
) -> None:
    """Write annotations that follow each other without a gap; the last is unscored and outlasts the signal."""
    edfio = _edfio()
    texts = [f"Sleep stage {rng.choice(_TEXTS[sleep.STAGES[stage]])}" for stage in stages[:-1].tolist()]
    borders = [0, *(i for i in range(1, len(texts)) if texts[i] != texts[i - 1]), len(texts)]
    annotations = [
        edfio.EdfAnnotation(first * sleep.EPOCH_S, (last - first) * sleep.EPOCH_S, texts[first])
        for first, last in itertools.pairwise(borders)
    ]
    annotations.append(edfio.EdfAnnotation(len(texts) * sleep.EPOCH_S, 10 * sleep.EPOCH_S, "Sleep stage ?"))
    edfio.Edf(
        [],
        annotations=annotations,
        starttime=began.time(),
        recording=edfio.Recording(startdate=began.date()),
    ).write(path)
