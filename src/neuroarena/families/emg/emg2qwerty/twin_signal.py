"""The signals of a simulated emg2qwerty, and how well the keys could be decoded from them.

Every electrode hums with white noise. A movement adds a burst of noise around the press, stronger where
the key's muscles are: a smooth profile around the wrist, the same for all people up to a turn of the
wristband and a gain, both the user's own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

ELECTRODES, BANDS = 16, 2
RATE_HZ = 2000
HUM_UV = 12.0
# A converter of 12 bits over +-6.6 mV.
STEP_UV = 2 * 6600.0 / 4096
BURST_BEFORE, BURST_SAMPLES = 120, 200
PEAK = 2.5
MOST_TURN = 1.5
GAIN_SPREAD = 0.25


@dataclass(frozen=True)
class Wrists:
    """How a user's body and wristbands differ from the average: rotation (electrodes) and gain of each band."""

    turns: tuple[float, float]
    gains: tuple[float, float]


@dataclass(frozen=True)
class Profile:
    """Where on the wrists a key is felt: bumps of (band, position in electrodes, width, height)."""

    bumps: tuple[tuple[int, float, float, float], ...]


def draw_wrists(rng: np.random.Generator) -> Wrists:
    """Draw a user."""
    turns = rng.uniform(-MOST_TURN, MOST_TURN, size=BANDS)
    gains = np.exp(GAIN_SPREAD * rng.standard_normal(BANDS))
    return Wrists((float(turns[0]), float(turns[1])), (float(gains[0]), float(gains[1])))


def draw_profiles(n_keys: int, rng: np.random.Generator) -> list[Profile]:
    """Draw the profile of every key: one hand moves most, and the wrist is felt at two places."""
    profiles = []
    for key in range(n_keys):
        band = key % BANDS
        # Keys of one hand are spread evenly round the wrist, so that neighbours are as far apart as possible.
        place = ELECTRODES * (key // BANDS) / max(1, (n_keys + 1) // BANDS) + rng.uniform(-0.3, 0.3)
        second = rng.uniform(0, ELECTRODES)
        profiles.append(Profile(((band, place, 1.5, 1.0), (band, second, 1.0, 0.6))))
    return profiles


def strengths(profile: Profile, wrists: Wrists, strength: float) -> np.ndarray:
    """Return the burst's deviation at every electrode, relative to the hum: float64 (32,)."""
    felt = np.zeros((BANDS, ELECTRODES))
    for band, place, width, height in profile.bumps:
        away = (
            np.arange(ELECTRODES) - place - wrists.turns[band] + ELECTRODES / 2
        ) % ELECTRODES - ELECTRODES / 2
        felt[band] += height * wrists.gains[band] * np.exp(-0.5 * (away / width) ** 2)
    return strength * PEAK * felt.reshape(-1)


def envelope() -> np.ndarray:
    """Return how a burst swells and fades: float64 (samples,), 1 at most."""
    swell: np.ndarray = np.sin(np.pi * (np.arange(BURST_SAMPLES) + 0.5) / BURST_SAMPLES) ** 2
    return swell


def make_signal(
    n_samples: int, moved: np.ndarray, samples: np.ndarray, felt: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Make a session's signals in microvolts: float32 (samples, 32).

    Parameters
    ----------
    n_samples : int
    moved, samples : int arrays (n,)
        Which key the fingers moved for, and the sample of the press.
    felt : float64 array (keys, 32)
        Of :func:`strengths`.
    """
    signal = rng.standard_normal((n_samples, BANDS * ELECTRODES), dtype=np.float32)
    swell = envelope()[:, None]
    for key, press in zip(moved, samples, strict=True):
        begin = press - BURST_BEFORE
        burst = rng.standard_normal((BURST_SAMPLES, BANDS * ELECTRODES)) * swell * felt[key]
        signal[begin : begin + BURST_SAMPLES] += burst.astype(np.float32)
    return (np.round(signal * (HUM_UV / STEP_UV)) * STEP_UV).astype(np.float32)


def ideal_error(
    felts: list[np.ndarray], chances: np.ndarray, slips: float, presses: int, rng: np.random.Generator
) -> float:
    """Estimate the error of the best decoder that knows everything but the keys.

    It knows the user, the profiles and the moment of every press, and takes the likeliest key given
    200 samples of 32 electrodes; keys are typed independently, so that context does not help. What is
    left is chance: slips, and bursts too weak to decode. New presses are simulated by the same law.

    Parameters
    ----------
    felts : list of float64 arrays (keys, 32)
        One for each user.
    chances : float64 array (keys,)
    slips : float
        Chance that the fingers move for a key drawn at random.
    presses : int
        Number of presses to simulate for each user.
    """
    swell = envelope()
    wrong = total = 0
    # In runs of 500 presses: 13 MB of signals at a time.
    sizes = [min(500, presses - done) for done in range(0, presses, 500)]
    for run, n in enumerate(sizes * len(felts)):
        felt = felts[run // len(sizes)]
        # (keys, samples * electrodes): the variance under each key.
        variances = (1 + (swell[None, :, None] * felt[:, None, :]) ** 2).reshape(len(felt), -1)
        keys = rng.choice(len(chances), size=n, p=chances)
        moved = np.where(rng.random(n) < slips, rng.choice(len(chances), size=n, p=chances), keys)
        variances = variances.astype(np.float32)
        power = rng.standard_normal((n, variances.shape[1]), dtype=np.float32) ** 2
        power *= variances[moved]
        # The quantities are compared between keys, so the parts common to all may be left out.
        says = -0.5 * (power @ (1 / variances).T + np.log(variances).sum(axis=1)) + np.log(chances)
        likely = np.exp(says - says.max(axis=1, keepdims=True))
        likely /= likely.sum(axis=1, keepdims=True)
        posterior = (1 - slips) * likely + slips * chances
        wrong += int((posterior.argmax(axis=1) != keys).sum())
        total += n
    return wrong / total
