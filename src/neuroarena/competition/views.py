"""The public view of a score: what a phase lets a team and the board know."""

from __future__ import annotations

import math
from dataclasses import dataclass

from neuroarena.competition.judging import Judgement
from neuroarena.competition.phases import Display

_ALMOST = 1e-9


@dataclass(frozen=True)
class PublicView:
    """What a team and the board may know of a score.

    Attributes
    ----------
    shown, low, high : float or None
        The score and its interval, in the metric's own direction, as precisely as the phase allows.
    n_units : int
    parts : dict or None
        Values of the parts of a track that has several, where full scores are shown.
    sentence : str
        The same in words.
    """

    shown: float | None
    low: float | None
    high: float | None
    n_units: int
    parts: dict[str, float] | None
    sentence: str


@dataclass(frozen=True)
class Best:
    """The best that a team was shown on a track in a phase, and where it came from."""

    value: float
    run: str
    submission: str


@dataclass(frozen=True)
class Luck:
    """What a score must exceed before it is told from luck.

    Attributes
    ----------
    start : float
        Where the rise begins: the exact score of the team's best that was shown, or what guessing scores.
    rise : float
        How far luck comes from there; at least 0.
    factor : float
        By how much this rise and the step of the ladder are multiplied for this submission; at least 1.
    """

    start: float
    rise: float
    factor: float


def public_view(
    judged: Judgement, display: Display, step: float | None, best: float | None, luck: Luck | None = None
) -> PublicView:
    """Return what may be known of a score.

    Parameters
    ----------
    judged : Judgement
    display : {"full", "ladder", "blind"}
        All of it; only a rise by a step, rounded to the step; or nothing until the reveal.
    step : float or None
        Of the ladder.
    best : float or None
        The best value that was shown to this team on this track in this phase.
    luck : Luck or None
        What a rise must exceed besides; None where no labels are at stake.
    """
    if display == "blind":
        return _without(judged, "scored; the value is shown at the reveal")
    if judged.value is None:
        parts = judged.part_values if display == "full" else None
        return PublicView(
            None, None, None, judged.n_units, parts, "scored; it is ranked against the others on the board"
        )
    low, high = judged.interval or (None, None)
    if display == "full":
        parts = judged.part_values if len(judged.part_values) > 1 else None
        sentence = f"{judged.metric} {judged.value:.6f}"
        return PublicView(judged.value, low, high, judged.n_units, parts, sentence)
    if step is None:
        raise ValueError("a ladder has a step")
    if not _rises(judged, judged.value, step, best, luck):
        # One sentence for every reason: which of them it was would tell something about labels.
        beyond = "" if luck is None else " and by more than luck"
        than = "guessing" if best is None else f"{best:g}"
        return _without(judged, f"no better than {than} by the step of {step:g}{beyond}")
    shown = _round_to(judged.value, step)
    if low is not None and high is not None:
        low, high = _clean(math.floor(low / step) * step), _clean(math.ceil(high / step) * step)
    return PublicView(
        shown, low, high, judged.n_units, None, f"{judged.metric} {shown:g}, in steps of {step:g}"
    )


def choose_step(standard_error: float) -> float:
    """Return the step that a standard error sets: rounded up to two digits, so that shown values read well.

    Examples
    --------
    >>> choose_step(0.01234), choose_step(3.0)
    (0.013, 3.0)
    """
    digits = 1 - math.floor(math.log10(standard_error))
    scaled = math.ceil(standard_error * 10**digits - _ALMOST)
    return round(scaled / 10**digits, max(digits, 0)) if digits >= 0 else float(scaled * 10**-digits)


def _rises(judged: Judgement, value: float, step: float, best: float | None, luck: Luck | None) -> bool:
    """Return whether a score has risen enough to be shown; a ladder begins at chance, where that is stated.

    From a score made bad on purpose, a team could otherwise be shown any number of rises.
    """
    if luck is None:
        start = judged.chance if best is None else best
        needed = 0.0 if best is None else step
        return start is None or judged.sign * (value - start) >= needed - _ALMOST
    start = luck.start if best is None else best
    by_step = judged.sign * (value - start) >= luck.factor * step
    by_luck = judged.sign * (value - luck.start) >= luck.factor * luck.rise
    return by_step and by_luck


def _without(judged: Judgement, sentence: str) -> PublicView:
    return PublicView(None, None, None, judged.n_units, None, sentence)


def _round_to(value: float, step: float) -> float:
    return _clean(round(value / step) * step)


def _clean(value: float) -> float:
    # 3 * 0.1 is 0.30000000000000004: twelve digits are enough for what is rounded to a step.
    return float(f"{value:.12g}")
