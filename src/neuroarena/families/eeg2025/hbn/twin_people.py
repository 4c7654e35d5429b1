"""People of a simulated HBN-EEG release: who they are, and what their EEG is made to reveal about them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

# Correlation between a factor, or a response time, and the amplitude that carries it, at strength 1.
FACTOR_LINK, RESPONSE_LINK = 0.85, 0.8
FACTOR_NAMES = ("p_factor", "attention", "internalizing", "externalizing")
# How well age alone predicts a factor: the first two hardly depend on it, the last two do.
AGE_LINK = {"p_factor": 0.0, "attention": 0.0, "internalizing": 0.3, "externalizing": -0.4}
FACTOR_SD = 0.9
# Response times: mean and deviation of the real ones, and the part of the variance that lies between people.
RESPONSE_MEAN_S, RESPONSE_SD_S, BETWEEN_PEOPLE = 1.61, 0.44, 0.3
# One column each: age, four factors, the noise of their amplitudes, the trait of response and its noise.
_COLUMNS = 1 + 2 * len(FACTOR_NAMES) + 2
LEAST_PEOPLE = _COLUMNS + 1


@dataclass
class Person:
    """One person of a twin.

    Attributes
    ----------
    factors : dict of str to float
        The four factors; empty where the questionnaire is missing.
    amplitudes : dict of str to float
        Logarithms of amplitude, in deviations, that carry the four factors and the trait "response".
    trait : float
        How slow the person is, in deviations of people.
    short : bool
        Whether the person has only two recordings.
    """

    name: str
    sex: str
    age: float
    ehq: float | None
    factors: dict[str, float]
    amplitudes: dict[str, float]
    trait: float
    short: bool = False
    notes: list[str] = field(default_factory=list)


def make_people(
    n_people: int, names: dict[int, str], taken: set[str], strength: float, rng: np.random.Generator
) -> list[Person]:
    """Make the people of a release: `n_people` with complete data, and three more with gaps.

    The columns of chance are made orthogonal to each other over the complete people, so that the stated
    links hold exactly in every release, however small it is.
    """
    whole = np.linalg.qr(np.hstack([np.ones((n_people, 1)), rng.standard_normal((n_people, _COLUMNS))]))[0]
    columns = whole[:, 1:] * np.sqrt(n_people)
    gaps = rng.standard_normal((3, _COLUMNS))
    people = []
    for place, row in enumerate(np.vstack([columns, gaps])):
        name = names.get(place) or _new_name(taken, rng)
        taken.add(name)
        people.append(_person(name, row, strength, rng))
    no_questionnaire, no_handedness, few = people[n_people:]
    no_questionnaire.factors = {}
    no_handedness.ehq = None
    few.short = True
    return people


def _person(name: str, row: np.ndarray, strength: float, rng: np.random.Generator) -> Person:
    age, factors, noises, trait, trait_noise = row[0], row[1:5], row[5:9], row[9], row[10]
    link, response_link = FACTOR_LINK * strength, RESPONSE_LINK * strength
    scores, amplitudes = {}, {}
    for factor, own, noise in zip(FACTOR_NAMES, factors, noises, strict=True):
        by_age = AGE_LINK[factor]
        score = by_age * age + np.sqrt(1 - by_age**2) * own
        scores[factor] = round(float(FACTOR_SD * score), 3)
        amplitudes[factor] = float(link * score + np.sqrt(1 - link**2) * noise)
    amplitudes["response"] = float(response_link * trait + np.sqrt(1 - response_link**2) * trait_noise)
    return Person(
        name=name,
        sex="M" if rng.random() < 0.6 else "F",
        age=round(float(np.clip(12 + 3 * age, 5.0, 21.9)), 4),
        ehq=round(float(np.clip(rng.normal(65, 45), -100.05, 100.05)), 2),
        factors=scores,
        amplitudes=amplitudes,
        trait=float(trait),
    )


def _new_name(taken: set[str], rng: np.random.Generator) -> str:
    letters, digits = "ABCDEFGHJKLMNPRTUVWXYZ", "0123456789"
    both = letters + digits
    while True:
        kinds = (letters, letters, digits, digits, digits, both, both, both)
        name = "NDAR" + "".join(kind[int(rng.integers(len(kind)))] for kind in kinds)
        if name not in taken:
            return name


def response_time(trait: float, rng: np.random.Generator) -> float:
    """Draw a response time of a person, in seconds from the target, below the 2.4 s that it lasts."""
    while True:
        deviation = np.sqrt(BETWEEN_PEOPLE) * trait + np.sqrt(1 - BETWEEN_PEOPLE) * rng.standard_normal()
        seconds = RESPONSE_MEAN_S + RESPONSE_SD_S * deviation
        if 0.3 <= seconds <= 2.35:
            return round(float(seconds), 3)


def trial_amplitude(response_s: float, strength: float, rng: np.random.Generator) -> float:
    """Draw the logarithm of amplitude, in deviations, that carries a response time."""
    link = RESPONSE_LINK * strength
    deviation = (response_s - RESPONSE_MEAN_S) / RESPONSE_SD_S
    return float(link * deviation + np.sqrt(1 - link**2) * rng.standard_normal())
