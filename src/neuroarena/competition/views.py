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


def public_view(judged: Judgement, display: Display, step: float | None, best: float | None) -> PublicView:
    """Return what may be known of a score.

    Parameters
    ----------
    judged : Judgement
    display : {"full", "ladder", "blind"}
        All of it; only a rise by a step, rounded to the step, and at first what is not worse than chance; or nothing
        until the reveal.
    step : float or None
        Of the ladder.
    best : float or None
        The best value that was shown to this team on this track in this phase.
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
    # A ladder begins at chance: from a score made bad on purpose, a team could be shown any number of rises.
    if best is None and judged.chance is not None and judged.sign * (judged.value - judged.chance) < -_ALMOST:
        return _without(judged, f"worse than chance, {judged.chance:.4g}")
    if best is not None and judged.sign * (judged.value - best) < step - _ALMOST:
        return _without(judged, f"no better than {best:g} by the step of {step:g}")
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


def _without(judged: Judgement, sentence: str) -> PublicView:
    return PublicView(None, None, None, judged.n_units, None, sentence)


def _round_to(value: float, step: float) -> float:
    return _clean(round(value / step) * step)


def _clean(value: float) -> float:
    # 3 * 0.1 is 0.30000000000000004: twelve digits are enough for what is rounded to a step.
    return float(f"{value:.12g}")
