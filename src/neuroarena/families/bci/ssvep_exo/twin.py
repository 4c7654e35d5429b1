"""Write simulated SSVEP exoskeleton recordings, in the layout of the real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.twin_folder import PLANTED, Limits, check_options, write_twin
from neuroarena.errors import InputError
from neuroarena.families.bci.bci_commands import latents as planted

GENERATOR = "neuroarena ssvep_exo twin"
GENERATOR_VERSION = 2
ELECTRODES = ("Oz", "O1", "O2", "PO3", "POz", "PO7", "PO8", "PO4")
LABELS = ("rest", "13Hz", "21Hz", "17Hz")
# Flicker of the classes 1, 2, 3, in the order of the labels.
FLICKER_HZ = (13.0, 21.0, 17.0)
RATE_HZ, TRIAL_S, TRIALS_A_CLASS = 256, 5, 8
JUDGED_S = 4
# Amplitude of the response, of its second harmonic, and of the noise of an electrode; the real unit is not stated. Like
# the noise below, they are chosen so that peaks, spectrum and electrodes are about as in the real recordings.
RESPONSE, HARMONIC, NOISE = 0.045, 0.02, 1.0
LOG_AMPLITUDE = 0.75
# How the power of noise falls with the frequency from 2 Hz on, how far the rhythm at 10 Hz stands out of it, and the
# share of the power that all electrodes have in common.
FALL, FROM_HZ, ALPHA, COMMON = 1.1, 2.0, 3.0, 0.75
LIMITS: Limits = {
    "subjects": (int, 2, 99),
    "sessions": (int, 2, 9),
    **PLANTED,
    "ideal": (float, 1 / 3, 0.999),
}


def simulate(
    root: str | Path,
    *,
    subjects: int = 4,
    sessions: int = 2,
    seed: int = 0,
    ideal: float = 0.85,
    strength: float = 1.0,
    plant_leak: str | None = None,
) -> dict[str, Any]:
    """Write simulated recordings into the folder `root`.

    Each trial holds a response at all three frequencies, each of random strength; the one that was
    looked at is drawn from a higher mean. The order of trials is shuffled, which it was not in the real study.

    Parameters
    ----------
    root : path
        The folder; missing, empty, or an earlier twin (which is replaced when its options differ).
    subjects, sessions : int
        Number of people, and of recordings of each.
    seed : int
        Seed of all randomness; the same seed yields the same numbers.
    ideal : float
        Balanced accuracy of the best possible decoder of the three frequencies, 1/3 to 0.999.
    strength : float
        Multiplies the distance between classes that `ideal` asks for; 0 leaves pure chance.
    plant_leak : {"channel", "order"}, optional
        Plant a flaw: a channel that holds the label, or the same order of trials in every recording, rest first,
        as in the real study.

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    """
    given: dict[str, Any] = {"subjects": subjects, "sessions": sessions, "seed": seed, "ideal": ideal}
    given |= {"strength": strength, "plant_leak": plant_leak}
    options = check_options("ssvep_exo", given, LIMITS)
    if plant_leak == "length":
        raise InputError(
            "simulate ssvep_exo: --plant-leak must be channel or order: all trials of a file have one length. "
            "Nothing was written."
        )
    return write_twin(root, GENERATOR, GENERATOR_VERSION, options, _write)


def _write(root: Path, options: dict[str, Any]) -> dict[str, Any]:
    d = planted.separation(options["ideal"], options["strength"])
    people = [f"{number:02d}" for number in range(1, options["subjects"] + 1)]
    names = [*ELECTRODES, "LBL"] if options["plant_leak"] == "channel" else list(ELECTRODES)
    for number, person in enumerate(people):
        rng = np.random.default_rng([options["seed"], number])
        pattern = rng.uniform(0.3, 1.0, (len(ELECTRODES), len(FLICKER_HZ)))
        parts = [_session(pattern, d, options, rng) for _ in range(options["sessions"])]
        labels = np.concatenate([order for _, order in parts])
        n_trials = len(parts[0][1])
        stamps = [f"2030.{number % 12 + 1:02d}.{s + 1:02d}-10.00.00" for s in range(len(parts))]
        np.savez_compressed(
            root / f"subject{person}.npz",
            X=np.concatenate([signals for signals, _ in parts]).astype(np.float32),
            y=labels.astype(np.int8),
            session=np.repeat(np.arange(len(parts)), n_trials).astype(np.int8),
            trial_index=np.tile(np.arange(n_trials), len(parts)).astype(np.int8),
            recording=np.repeat(stamps, n_trials),
            ch_names=np.array(names),
            sfreq=np.array(float(RATE_HZ)),
            label_names=np.array(LABELS),
        )
    return {
        "separation": d,
        "ideal_balanced_accuracy": planted.balanced_accuracy(d),
        "subjects": people,
        "planted": {
            "flicker_hz": dict(zip(LABELS[1:], FLICKER_HZ, strict=True)),
            "leak": options["plant_leak"],
        },
    }


def _session(
    pattern: np.ndarray, d: float, options: dict[str, Any], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Make the trials of one recording: signals (trials, channels, time) and labels (trials,)."""
    order = np.repeat(np.arange(len(LABELS)), TRIALS_A_CLASS)
    if options["plant_leak"] != "order":
        order = rng.permutation(order)
    z = planted.draw_latents(order - 1, d, len(FLICKER_HZ), rng)
    # The phase of a screen is not locked to a cue.
    phase = rng.uniform(0, 2 * np.pi, (len(order), len(FLICKER_HZ)))
    time = np.arange(RATE_HZ * TRIAL_S) / RATE_HZ
    signals = _noise((len(order), len(ELECTRODES), len(time)), rng)
    for column, flicker in enumerate(FLICKER_HZ):
        angle = 2 * np.pi * flicker * time + phase[:, column : column + 1]
        wave = RESPONSE * np.sin(angle) + HARMONIC * np.sin(2 * angle)
        wave *= np.exp(LOG_AMPLITUDE * z[:, column : column + 1])
        signals += pattern[:, column][np.newaxis, :, np.newaxis] * wave[:, np.newaxis]
    if options["plant_leak"] == "channel":
        label = order[:, np.newaxis] + rng.standard_normal((len(order), len(time)))
        signals = np.concatenate([signals, label[:, np.newaxis]], axis=1)
    return signals, order


def _noise(shape: tuple[int, int, int], rng: np.random.Generator) -> np.ndarray:
    """Make noise with falling power and a rhythm at 10 Hz, of unit variance, most of it common to all electrodes."""
    trials, channels, length = shape
    white = rng.standard_normal((trials, channels + 1, length))
    frequencies = np.fft.rfftfreq(length, 1 / RATE_HZ)
    power = np.maximum(frequencies, FROM_HZ) ** -FALL * (
        1 + ALPHA * np.exp(-(((frequencies - 10) / 1.5) ** 2))
    )
    pink = np.fft.irfft(np.fft.rfft(white, axis=2) * np.sqrt(power), n=length, axis=2)
    pink /= pink.std()
    return np.asarray(NOISE * (np.sqrt(1 - COMMON) * pink[:, :-1] + np.sqrt(COMMON) * pink[:, -1:]))
