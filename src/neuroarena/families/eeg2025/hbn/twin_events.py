"""What happens in the recordings of a simulated HBN-EEG release: events of all ten tasks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from neuroarena.families.eeg2025.hbn.twin_people import response_time

Row = dict[str, object]

# Seconds from a trial's start to its target, equally often, and how long a target lasts.
DELAYS_S, TARGET_S = (2.8, 4.4, 6.0), 2.4
LEAD_S, TAIL_S = 3.0, 3.5
SURROUND_PERIOD_S, STIMULUS_S, FIXATION_S = 3.42, 2.4, 0.51
# How often a trial has a second press, a press too early, no press at all, or no target.
DOUBLE, EARLY, MISSED, TARGETLESS = 0.10, 0.08, 0.08, 0.03
_MOVIE_CODES = {
    "DiaryOfAWimpyKid": (81, 101),
    "FunwithFractals": (82, 102),
    "DespicableMe": (83, 103),
    "ThePresent": (84, 104),
}
_SEQUENCES = {6: (1, 6, 4, 2, 3, 5, 2), 8: (1, 6, 4, 2, 7, 3, 8, 5, 2, 7)}


@dataclass
class Story:
    """The events of one recording.

    Attributes
    ----------
    columns : tuple of str
        Columns of events.tsv besides onset, duration, value and event_code.
    rows : list of dict
        onset (seconds), value, event_code and further fields.
    duration_s : float
        Length of the recording.
    trials : list of (float, float)
        Contrast change: onset of the target and response time of every answered trial that a trial
        table keeps.
    """

    duration_s: float
    columns: tuple[str, ...] = ()
    rows: list[Row] = field(default_factory=list)
    trials: list[tuple[float, float]] = field(default_factory=list)

    def add(self, onset: float, value: str, code: int | str, **other: object) -> None:
        """Add an event."""
        self.rows.append({"onset": round(onset, 3), "value": value, "event_code": code, **other})


def tell(task: str, run: int, seconds: float, trials: int, trait: float, rng: np.random.Generator) -> Story:
    """Make up the events of a recording; `seconds` is for tasks without trials."""
    if task == "contrastChangeDetection":
        story = _contrast(run, trials, trait, rng)
    elif task == "surroundSupp":
        story = _surround(run, trials, rng)
    elif task == "symbolSearch":
        story = _symbols(seconds, rng)
    elif task.startswith("seqLearning"):
        story = _sequence(6 if "6" in task else 8, seconds, rng)
    elif task == "RestingState":
        story = _rest(seconds)
    else:
        story = _film(task, seconds)
    story.rows.sort(key=lambda row: float(str(row["onset"])))
    story.rows.insert(0, {"onset": 0.0, "value": "break cnt", "event_code": "break cnt"})
    return story


def _contrast(run: int, trials: int, trait: float, rng: np.random.Generator) -> Story:
    story = Story(0.0, ("feedback",))
    story.add(1.5, f"contrastChangeB{run}_start", 93 + run)
    delays = [DELAYS_S[trial % 3] for trial in range(trials)]
    sides = ["left" if trial % 2 else "right" for trial in range(trials)]
    rng.shuffle(delays)
    rng.shuffle(sides)
    # Most runs close with a start that no trial follows; some with the end of the experiment, some with nothing.
    closing = ("contrastTrial_start", "contrastTrial_start", "end_experiment", "")[int(rng.integers(4))]
    start = LEAD_S
    for trial, (delay, side) in enumerate(zip(delays, sides, strict=True)):
        target = start + delay
        kept = _trial(story, start, target, side, trait, rng)
        if kept is not None and (trial + 1 < trials or closing):
            story.trials.append(kept)
        start = target + TARGET_S
    if closing:
        story.add(start, closing, 5 if closing == "contrastTrial_start" else "n/a")
    story.duration_s = float(np.ceil(start + TAIL_S))
    return story


def _trial(
    story: Story, start: float, target: float, side: str, trait: float, rng: np.random.Generator
) -> tuple[float, float] | None:
    """Add one trial; return the target's onset and the response time where a trial table keeps it."""
    story.add(start, "contrastTrial_start", 5)
    chance = rng.random()
    if rng.random() < EARLY:
        _press(story, start + 0.4 + rng.random(), side, "non_target")
    if chance < TARGETLESS:
        return None
    story.add(target, f"{side}_target", 8 if side == "left" else 9)
    if chance < TARGETLESS + MISSED:
        return None
    response = response_time(trait, rng)
    pressed = side if rng.random() < 0.85 else {"left": "right", "right": "left"}[side]
    _press(story, target + response, pressed, "smiley_face" if pressed == side else "sad_face")
    if rng.random() < DOUBLE and response < TARGET_S - 0.3:
        _press(story, target + response + 0.1 + 0.15 * rng.random(), side, "non_target")
    return round(target, 3), round(round(target + response, 3) - round(target, 3), 3)


def _press(story: Story, onset: float, side: str, feedback: str) -> None:
    story.add(onset, f"{side}_buttonPress", 12 if side == "left" else 13, feedback=feedback)


def _surround(run: int, trials: int, rng: np.random.Generator) -> Story:
    story = Story(
        float(np.ceil(LEAD_S + SURROUND_PERIOD_S * trials + 1)),
        ("background", "foreground_contrast", "stimulus_cond"),
    )
    story.add(1.0, f"surroundSuppB{run}_start", 93 if run == 1 else 97)
    for trial in range(trials):
        onset = LEAD_S + SURROUND_PERIOD_S * trial
        story.add(onset - FIXATION_S, "fixpoint_ON", 4)
        story.add(
            onset,
            "stim_ON",
            8,
            duration=STIMULUS_S,
            background=int(trial % 4 > 0),
            foreground_contrast=(0, 0.3, 0.6, 1)[trial % 4],
            stimulus_cond=int(rng.integers(1, 4)),
        )
    return story


def _symbols(seconds: float, rng: np.random.Generator) -> Story:
    story = Story(seconds, ("user_answer", "correct_answer"))
    story.add(0.5, "symbolSearch_start", 92)
    story.add(0.7, "newPage", 20)
    for onset in np.arange(1.5, seconds - 0.5, 1.2):
        correct = int(rng.integers(2))
        answer = correct if rng.random() < 0.9 else "n/a"
        story.add(float(onset), "trialResponse", 14, user_answer=answer, correct_answer=correct)
    return story


def _sequence(targets: int, seconds: float, rng: np.random.Generator) -> Story:
    story = Story(seconds, ("user_answer", "correct_answer", "target_count"))
    correct = "-".join(map(str, _SEQUENCES[targets]))
    story.add(0.3, "seqLearning_start", 91, target_count=targets)
    step = min(1.9, (seconds - 1.0) / len(_SEQUENCES[targets]))
    answers = {"user_answer": correct if rng.random() < 0.5 else correct[:3], "correct_answer": correct}
    story.add(0.5, "learningBlock_1", 31, target_count=targets, **answers)
    for place, dot in enumerate(_SEQUENCES[targets]):
        onset = 0.6 + step * place
        story.add(onset, f"dot_no{dot}_ON", 10 + dot, target_count=targets)
        story.add(onset + min(0.58, step / 2), f"dot_no{dot}_OFF", 20 + dot, target_count=targets)
    story.add(seconds - 0.2, "seqLearning_stop", 50, target_count=targets)
    return story


def _rest(seconds: float) -> Story:
    story = Story(seconds)
    story.add(0.2, "resting_start", 90)
    # Open for a third of the time, closed for two thirds, as in the real ones (20 s and 40 s).
    period = min(60.0, max(3.0, seconds / 3))
    onset = 0.5
    while onset < seconds - 0.5:
        story.add(onset, "instructed_toOpenEyes", 20)
        if onset + period / 3 < seconds - 0.5:
            story.add(onset + period / 3, "instructed_toCloseEyes", 30)
        onset += period
    return story


def _film(task: str, seconds: float) -> Story:
    story = Story(seconds)
    begin, end = _MOVIE_CODES[task]
    story.add(0.5, "video_start", begin)
    story.add(seconds - 0.5, "video_stop", end)
    return story
