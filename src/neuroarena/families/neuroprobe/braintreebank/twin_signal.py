"""Made-up signals for the simulated BrainTreebank, with a planted answer of known strength.

Every slot (0.5 s) of every planted electrode carries one response whose size is a hidden number
a = mean + noise, with noise N(0, 1) drawn anew for each slot. A window of 1 s holds two slots. The
means hold the answers:

* word properties, one electrode each: the slot in which a word starts has the mean d z, with z = +1/2 in
  class 1 and -1/2 in class 0. Every other slot draws its z from the words' own distribution, so that
  where words are cannot be seen. The best possible AUROC is then Phi(d / sqrt 2), exactly.
* the gap before a word is answered one slot later than the other properties. It depends on the length
  of the word before; in the first slot it would lie in that word's window and reveal its length.
* onset, speech and word_index, on two electrodes: one has the mean 0.64 d in the slot of a sentence's
  first word, the other 0.77 d in all other slots of word windows, silence has 0. The squares of the
  two add up to d^2, so that a first word's window is at distance d from a silent one (first and second
  slot) and from a second word's (first slot): onset and word_index have the AUROC
  Phi(d / sqrt 2), exactly. Speech, a mixture of both kinds of words, is computed.

Among the words of one class the noise of the class's own electrode is drawn in equal shares from all parts
of the normal distribution (each number alone is still exactly normal), which keeps the score of a
finite session close to the ideal one. With nothing planted all noise is independent.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.signal import lfilter
from scipy.special import ndtr, ndtri

from neuroarena.families.neuroprobe.braintreebank.twin_transcript import Transcript, word_scores

RATE_HZ = 2048
SLOT_SAMPLES = 1024
FIRST_WORDS = "first_words"
OTHER_WORDS = "other_words"
SPEECH_TASKS = ("onset", "speech", "word_index")
PROPERTY_TASKS = (
    "volume",
    "delta_volume",
    "pitch",
    "word_gap",
    "gpt2_surprisal",
    "word_head_pos",
    "word_part_speech",
    "word_length",
    "global_flow",
    "local_flow",
    "frame_brightness",
    "face_num",
)
SOURCES = (FIRST_WORDS, OTHER_WORDS, *PROPERTY_TASKS)

EVOKED_REST_UV = 30.0
EVOKED_STEP_UV = 10.0
BURST_REST_UV = 40.0
BURST_STEP_UV = 10.0
BACKGROUND_UV = 3.0
COMMON_UV = 15.0
CARRIERS = 20
EVOKED_HZ = (4.0, 40.0)
LOWER_BAND_HZ = (68.0, 102.0)
UPPER_BAND_HZ = (110.0, 144.0)
WIDE_BAND_HZ = (68.0, 144.0)
# The legs of a right triangle of hypotenuse 1; the longer one makes up for speech being a mixture.
OTHER_WORDS_LEG = 0.77
FIRST_WORDS_LEG = (1 - OTHER_WORDS_LEG**2) ** 0.5
LINE_HZ = 60.0
LINE_UV = 3.0


def separation(ideal: float, strength: float) -> float:
    """Return d, the distance between two classes in units of the noise, for an ideal AUROC."""
    return float(strength * np.sqrt(2.0) * ndtri(ideal))


def ideal_scores(d: float, first_share: float, draws: int = 200_000) -> dict[str, float]:
    """Return the AUROC of the best possible observer of a 1 s window, for every task.

    Parameters
    ----------
    d : float
        The distance between two classes.
    first_share : float
        Share of first words among all words: speech is a mixture of both kinds.
    draws : int
        Monte Carlo draws for speech, whose likelihood ratio has no closed form; the standard error is
        below 0.001.
    """
    plain = float(ndtr(d / np.sqrt(2.0)))
    scores = dict.fromkeys((*SPEECH_TASKS, *PROPERTY_TASKS), plain)
    if d != 0.0:
        scores["speech"] = _mixture_score(d, first_share, draws)
    return {task: round(score, 4) for task, score in scores.items()}


def _mixture_score(d: float, first_share: float, draws: int) -> float:
    rng = np.random.default_rng(20251024)
    # Columns: first-word electrode in slots 0 and 1, other-word electrode in slots 0 and 1.
    first = d * np.array([FIRST_WORDS_LEG, 0.0, 0.0, OTHER_WORDS_LEG])
    other = d * np.array([0.0, 0.0, OTHER_WORDS_LEG, OTHER_WORDS_LEG])
    is_first = rng.random((draws, 1)) < first_share
    words = np.where(is_first, first, other) + rng.standard_normal((draws, 4))
    silence = rng.standard_normal((draws, 4))
    words_ratio, silence_ratio = (
        first_share * np.exp(x @ first - first @ first / 2)
        + (1 - first_share) * np.exp(x @ other - other @ other / 2)
        for x in (words, silence)
    )
    return float(np.mean(np.searchsorted(np.sort(silence_ratio), words_ratio)) / draws)


@dataclass(frozen=True)
class Layout:
    """Position of a film within a recording.

    Attributes
    ----------
    n_slots : int
        Length of the recording in slots.
    offset : int
        Slot of the recording in which the film starts.
    pause : int
        First slot of the film that lies after the pause.
    pause_sample : int
        Sample of the film at which it was paused, within a word of the slot before.
    pause_slots : int
        Length of the pause in slots.
    """

    n_slots: int
    offset: int
    pause: int
    pause_sample: int
    pause_slots: int

    def recorded(self, film_slots: np.ndarray) -> np.ndarray:
        """Return the slots of the recording for slots of the film."""
        return film_slots + self.offset + np.where(film_slots >= self.pause, self.pause_slots, 0)


def draw_latents(
    transcript: Transcript, layout: Layout, d: float, rng: np.random.Generator
) -> dict[str, np.ndarray]:
    """Draw the hidden number of every slot for every planted electrode of one session.

    Returns
    -------
    dict of str to float array (slots,)
        Keyed by source: "first_words", "other_words", or the name of a word-property task.
    """
    starts = layout.recorded(transcript.slots)
    role = slot_roles(starts, transcript.first, transcript.silences, layout.n_slots)
    spoken = (role >= SPOKEN) & (role != FIRST)
    latents = {
        FIRST_WORDS: d * FIRST_WORDS_LEG * (role == FIRST) + _noise(role, d, rng),
        OTHER_WORDS: d * OTHER_WORDS_LEG * spoken + _noise(role, d, rng),
    }
    for task, scores in word_scores(transcript).items():
        known = ~np.isnan(scores)
        answered = starts[known] + (1 if task == "word_gap" else 0)
        z = rng.choice(scores[known], layout.n_slots)
        z[answered] = scores[known]
        group = np.zeros(layout.n_slots, dtype=np.int64)
        group[answered] = np.select([scores[known] == 0.5, scores[known] == -0.5], [1, 2], 3)
        latents[task] = d * z + _noise(group, d, rng)
    return latents


# What a slot is to the speech tasks; every role from SPOKEN on lies in the window of a word.
MARGIN, SILENT, SPOKEN, AFTER_SECOND, AFTER_FIRST, SECOND, FIRST = range(7)


def slot_roles(starts: np.ndarray, first: np.ndarray, silences: np.ndarray, n_slots: int) -> np.ndarray:
    """Return the role of every slot of a recording, int (slots,).

    Parameters
    ----------
    starts : int array (words,)
        Slot in which each word starts.
    first : bool array (words,)
        Whether the word opens a sentence.
    silences : int array
        Rows of the words that are followed by a long silence.
    n_slots : int
        Length of the recording in slots.
    """
    role = np.full(n_slots, MARGIN)
    for row in silences:
        # 2 s after the word's end (it fills one slot) to 3 s before the next word.
        role[starts[row] + 5 : starts[row + 1] - 6] = SILENT
    openers = np.flatnonzero(first)
    role[starts] = SPOKEN
    role[starts + 1] = SPOKEN
    role[starts[openers + 1] + 1] = AFTER_SECOND
    role[starts[openers] + 1] = AFTER_FIRST
    role[starts[openers + 1]] = SECOND
    role[starts[openers]] = FIRST
    return role


def _noise(group: np.ndarray, d: float, rng: np.random.Generator) -> np.ndarray:
    """Draw N(0, 1) for every slot, spread evenly over the distribution within each group.

    Four members of a group that follow each other in time share the distribution evenly. Were it
    shared by many, one half of a session would be high where the other half is low; and were
    it shared on all electrodes, a decoder trained on one half would then do worse than chance on the
    other (0.40 instead of 0.50 for word_index, in a trial with nothing planted).
    """
    if d == 0.0:
        return rng.standard_normal(len(group))
    # Even and odd slots are drawn separately: the two slots of a window must be independent.
    apart = 2 * group + np.arange(len(group)) % 2
    drawn = np.empty(len(group))
    for number in np.unique(apart):
        members = np.flatnonzero(apart == number)
        for part in np.array_split(members, max(1, len(members) // 4)):
            drawn[part] = (rng.permutation(len(part)) + rng.random(len(part))) / len(part)
    return np.asarray(ndtri(drawn))


@dataclass(frozen=True)
class Response:
    """The response of one planted electrode.

    Attributes
    ----------
    latency_s : float
        Start of the response after the start of the slot.
    duration_s : float
        Length of the response; it ends within the slot.
    evoked_hz : tuple of float
        Lowest and highest frequency of the evoked wave.
    band_hz : tuple of float
        Lowest and highest carrier of the high-gamma burst.
    """

    latency_s: float
    duration_s: float
    evoked_hz: tuple[float, float]
    band_hz: tuple[float, float]

    def templates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the slow wave and the burst, float32 (1024,), both of peak 1."""
        t = np.arange(SLOT_SAMPLES) / RATE_HZ - self.latency_s
        # Rises and falls within an eighth of the response and is flat between.
        ramp = np.clip(np.minimum(t, self.duration_s - t) / (self.duration_s / 8), 0.0, 1.0)
        envelope = np.sin(np.pi / 2 * ramp) ** 2
        return _wave(t, envelope, self.evoked_hz), _wave(t, envelope, self.band_hz)


def _wave(t: np.ndarray, envelope: np.ndarray, band_hz: tuple[float, float]) -> np.ndarray:
    carriers = np.linspace(*band_hz, CARRIERS)
    # Phases that grow with the square of the index keep the sum from piling up at one moment.
    phases = np.pi * np.arange(CARRIERS) ** 2 / CARRIERS
    wave: np.ndarray = envelope * np.cos(2 * np.pi * carriers[:, None] * t + phases[:, None]).sum(axis=0)
    wave /= np.abs(wave).max()
    return wave.astype(np.float32)


def draw_response(upper: bool, wide: bool, rng: np.random.Generator) -> Response:
    """Draw latency, duration and bands of a response that fits into a slot.

    Neighbours on a probe alternate between a lower and an upper band, so that subtracting one
    from the other leaves both readable.
    """
    latency = rng.uniform(0.01, 0.03)
    return Response(
        latency_s=round(float(latency), 4),
        duration_s=round(float(rng.uniform(0.45, 0.465)), 4),
        evoked_hz=EVOKED_HZ,
        band_hz=WIDE_BAND_HZ if wide else UPPER_BAND_HZ if upper else LOWER_BAND_HZ,
    )


def planted_signal(latent: np.ndarray, slow: np.ndarray, burst: np.ndarray) -> np.ndarray:
    """Turn hidden numbers into a signal in microvolts, float32 (slots x 1024,)."""
    a = latent.astype(np.float32)
    signal: np.ndarray = np.multiply.outer(EVOKED_REST_UV + EVOKED_STEP_UV * a, slow)
    signal += np.multiply.outer(np.maximum(0, BURST_REST_UV + BURST_STEP_UV * a), burst)
    return signal.ravel()


def background(
    n_samples: int,
    level_uv: float,
    rng: np.random.Generator,
    corners_hz: tuple[float, float] = (1.0, 40.0),
) -> np.ndarray:
    """Draw noise whose power falls about as 1/f, with the given standard deviation, float32 (n,)."""
    # Two first-order low-pass filters, each weighted by 1 / sqrt(corner), add up to about 1/f. They are
    # run as one filter of second order: one pass over the samples takes half the time of two.
    slow, fast = (np.exp(-2 * np.pi * corner / RATE_HZ) for corner in corners_hz)
    slow_gain, fast_gain = (
        (1 - pole) / np.sqrt(corner) for pole, corner in zip((slow, fast), corners_hz, strict=True)
    )
    numerator = np.array([slow_gain + fast_gain, -slow_gain * fast - fast_gain * slow], dtype=np.float32)
    denominator = np.array([1.0, -slow - fast, slow * fast], dtype=np.float32)
    noise = lfilter(numerator, denominator, rng.standard_normal(n_samples, dtype=np.float32))
    noise *= np.float32(level_uv / noise.std())
    return noise  # type: ignore[no-any-return]


def common_signal(n_samples: int, rng: np.random.Generator) -> np.ndarray:
    """Draw what all electrodes of a session share: slow noise and the mains, float32 (n,)."""
    shared = background(n_samples, COMMON_UV, rng, (1.0, 8.0))
    # 60 Hz at 2048 samples per second repeats every 512 samples.
    cycle = np.sin(2 * np.pi * (LINE_HZ / RATE_HZ * np.arange(512)) + rng.uniform(0, 2 * np.pi))
    shared += np.resize((LINE_UV * cycle).astype(np.float32), n_samples)
    return shared
