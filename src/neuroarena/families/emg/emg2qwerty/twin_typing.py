"""What the people of a simulated emg2qwerty type, and when.

This module and its neighbours ``twin_*`` share no code with the reader, so that one checks the other.
"""

from __future__ import annotations

import string
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Levenshtein

# Keys in the order in which they come into use, as the logger names them: a few keys first, all 98 in the end.
KEYS = (
    "Key.space",
    *"etaon",
    "Key.backspace",
    "Key.enter",
    *"isrhldcumfpgwybvkxjqz",
    "Key.shift",
    *".,'-0123456789",
    *string.ascii_uppercase,
    *sorted(set(string.punctuation) - set(".,'-")),
)
FEWEST_KEYS = 3
# Presses are at least this far apart, so that bursts never overlap; the rest of a gap is drawn.
LEAST_GAP_S, MEAN_EXTRA_S = 0.14, 0.12
LEAD_S, TAIL_S = 1.5, 0.5
_SIGN = {"Key.space": " ", "Key.enter": "\u23ce", "Key.backspace": "\u232b", "Key.shift": "\u21e7"}
STRANGER = "Key.caps_lock"


@dataclass(frozen=True)
class Typing:
    """One session's keystrokes.

    Attributes
    ----------
    keys : int array (n,)
        Positions in the keys in use, as logged.
    moved : int array (n,)
        What the fingers did: equal to `keys` except for slips.
    samples : int array (n,)
        Sample of each press.
    """

    keys: np.ndarray
    moved: np.ndarray
    samples: np.ndarray


def key_chances(n_keys: int) -> np.ndarray:
    """Return how often each key is typed; the first, space, most often."""
    weights = 1.0 / (np.arange(n_keys) + 3.0)
    chances: np.ndarray = weights / weights.sum()
    return chances


def random_text_error(
    chances: np.ndarray, rng: np.random.Generator, length: int = 200, pairs: int = 20
) -> float:
    """Estimate the error rate (%) of a text that shares only length and frequencies with the reference."""
    texts = rng.choice(len(chances), size=(pairs, 2, length), p=chances).tolist()
    return round(100 * float(np.mean([Levenshtein.normalized_distance(*pair) for pair in texts])), 1)


def type_session(
    n_samples: int, chances: np.ndarray, slips: float, rate_hz: float, rng: np.random.Generator
) -> Typing:
    """Draw keys and times for a session: keys are independent of each other, of the times and of the user."""
    most = int(n_samples / rate_hz / LEAST_GAP_S) + 1
    gaps = LEAST_GAP_S + rng.exponential(MEAN_EXTRA_S, size=most)
    samples = np.round((LEAD_S + np.cumsum(gaps)) * rate_hz).astype(np.int64)
    samples = samples[samples < n_samples - round(TAIL_S * rate_hz)]
    keys = rng.choice(len(chances), size=len(samples), p=chances)
    other = rng.choice(len(chances), size=len(samples), p=chances)
    moved = np.where(rng.random(len(samples)) < slips, other, keys)
    return Typing(keys, moved, samples)


def keystroke_log(typing: Typing, times: np.ndarray, rng: np.random.Generator) -> list[dict[str, object]]:
    """Write the log of a session: every press with its release, and two keys that are not in the set."""
    held = rng.integers(80, 220, size=len(typing.samples))
    last = len(times) - 1
    log: list[dict[str, object]] = [
        {"key": KEYS[key], "start": float(times[sample]), "end": float(times[min(sample + keep, last)])}
        for key, sample, keep in zip(typing.keys, typing.samples, held, strict=True)
    ]
    for place in sorted({len(log) // 3, 2 * len(log) // 3}, reverse=True):
        start = float(log[place]["start"]) - 0.05  # type: ignore[arg-type]
        log.insert(place, {"key": STRANGER, "start": start, "end": start + 0.02})
    return log


def prompt_log(typing: Typing, times: np.ndarray) -> list[dict[str, object]]:
    """Write the prompts that this text could have answered: a line up to each enter."""
    prompts: list[dict[str, object]] = [
        {"name": "welcome", "start": float(times[0]), "end": None, "payload": None}
    ]
    begin = 0
    for place, key in enumerate(typing.keys):
        if KEYS[key] != "Key.enter" and place != len(typing.keys) - 1:
            continue
        text = "".join(_SIGN.get(KEYS[each], KEYS[each]) for each in typing.keys[begin : place + 1])
        start, end = (float(times[typing.samples[at]]) for at in (begin, place))
        prompts.append({"name": "text_prompt", "start": start, "end": end, "payload": {"text": text}})
        begin = place + 1
    return prompts
