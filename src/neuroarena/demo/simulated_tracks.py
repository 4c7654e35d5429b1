"""Tracks without recordings: questions whose answers are drawn, and answers of teams of any skill."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.scoring import Manifest

N_PEOPLE, PER_PERSON = 24, 20
CLASSES = ("left", "right", "rest")
WORDS = ("brain", "signal", "window", "electrode", "session", "record", "decode", "arena", "track", "board")
LICENCE = "CC0; simulated"
SPLIT_RULE = "every person is judged by decoders that were trained on others"


@dataclass(frozen=True)
class SimulatedTrack:
    """A track whose truth is drawn, with what its page says.

    Attributes
    ----------
    name, title, description, sponsor, constraint : str
    manifest : Manifest
    draw_target : callable
        ``rng -> target`` of one question.
    answer : callable
        ``(target, skill, rng) -> prediction``: the better the skill (0 to 1), the closer.
    """

    name: str
    title: str
    description: str
    sponsor: str
    constraint: str
    manifest: Manifest
    draw_target: Callable[[np.random.Generator], str | float]
    answer: Callable[[str | float, float, np.random.Generator], str | float]

    def make_truth(self, rng: np.random.Generator, prefix: str) -> pd.DataFrame:
        """Draw questions of every person, and return them with their answers."""
        rows = [(person, number) for person in range(N_PEOPLE) for number in range(PER_PERSON)]
        people = [f"{prefix}{person:02d}" for person, _ in rows]
        return pd.DataFrame(
            {
                "id": [f"{person}-{number:02d}" for person, (_, number) in zip(people, rows, strict=True)],
                "fold": "all",
                "unit": people,
                "cluster": people,
                "target": [self.draw_target(rng) for _ in rows],
            }
        )

    def make_answers(self, truth: pd.DataFrame, skill: float, rng: np.random.Generator) -> pd.DataFrame:
        """Answer the questions with a skill; people differ, so that every team finds some of them hard."""
        hard = dict(zip(truth["unit"].unique(), rng.normal(0, 0.07, N_PEOPLE), strict=True))
        answers = [
            self.answer(target, float(np.clip(skill + hard[unit], 0, 1)), rng)
            for target, unit in zip(truth["target"], truth["unit"], strict=True)
        ]
        return pd.DataFrame({"id": truth["id"], self.manifest.prediction_columns[0]: answers})


def _answer_class(target: str | float, skill: float, rng: np.random.Generator) -> str:
    return str(target) if rng.random() < skill else str(rng.choice(CLASSES))


def _answer_seconds(target: str | float, skill: float, rng: np.random.Generator) -> float:
    return round(max(0.0, float(target) + float(rng.normal(0, 300 * (1.05 - skill)))), 1)


def _answer_text(target: str | float, skill: float, rng: np.random.Generator) -> str:
    letters = [letter if rng.random() < 0.5 + skill / 2 else "e" for letter in str(target)]
    return "".join(letters)


def _draw_text(rng: np.random.Generator) -> str:
    return " ".join(str(word) for word in rng.choice(WORDS, 3))


def _manifest(task: str, title: str, question: str, metric: str, prediction: str, **more: object) -> Manifest:
    said = {
        "name": f"simulated/{task}",
        "definition": "demo",
        "title": title,
        "question": question,
        "metric": metric,
        "prediction": prediction,
        "unit": "person",
        "split_rule": SPLIT_RULE,
        "licence": LICENCE,
    }
    return Manifest.model_validate({**said, **more})


TRACKS = (
    SimulatedTrack(
        name="commands",
        title="Mental commands",
        description="Which of three commands did a person think of?",
        sponsor="Example Foundation (simulated)",
        constraint="No calibration on the judged person",
        manifest=_manifest(
            "commands", "Mental commands", "Which of three commands was meant?", "balanced_accuracy", "label",
            classes=CLASSES, chance=1 / 3,
        ),
        draw_target=lambda rng: str(rng.choice(CLASSES)),
        answer=_answer_class,
    ),
    SimulatedTrack(
        name="sleep-onset",
        title="Sleep onset",
        description="How many seconds pass until a person sleeps?",
        sponsor="Example Sleep Lab (simulated)",
        constraint="Two electrodes",
        manifest=_manifest(
            "sleep-onset", "Sleep onset", "How many seconds pass until a person sleeps?", "mae", "number",
            prediction_column="seconds",
        ),
        draw_target=lambda rng: round(float(rng.uniform(120, 1800)), 1),
        answer=_answer_seconds,
    ),
    SimulatedTrack(
        name="typing",
        title="Typing",
        description="What did a person type, by the muscles of the wrist?",
        sponsor="Example Wristbands (simulated)",
        constraint="One model for all people",
        manifest=_manifest("typing", "Typing", "What was typed?", "cer", "text"),
        draw_target=_draw_text,
        answer=_answer_text,
    ),
)  # fmt: skip
