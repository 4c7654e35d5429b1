"""Code submissions of the challenge: the windows a model is given, and the scores of its answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks.benchmark import Benchmark
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation.intervals import overall_interval, score_interval
from neuroarena.families.eeg2025.family import FAMILY
from neuroarena.families.eeg2025.final_board import DECIMALS
from neuroarena.families.eeg2025.windows import WINDOW
from neuroarena.scoring import UnitScores, score
from neuroarena.statistics import MINIMUM_LEVELS

# Factor of the second challenge; another factor may take its place in the overall score.
CHALLENGE_1, CHALLENGE_2 = FAMILY.overall.leaves()


def overall(challenge1: Any, challenge2: Any) -> Any:
    """Weight the nRMSE of both challenges by 0.3 and 0.7, as in the suite; numbers or arrays of the same shape.

    Examples
    --------
    >>> round(overall(0.9, 1.0), 10)
    0.97
    """
    return FAMILY.overall.combine({CHALLENGE_1: challenge1, CHALLENGE_2: challenge2})


def people_of(benchmark: Benchmark, split: str | None = None) -> dict[str, tuple[str, dict[str, Any]]]:
    """Return by key of :func:`submission_windows` the person, and what a model may know of them."""
    found = {}
    for key, rows in _walk_recordings(benchmark, split):
        first = rows.iloc[0]
        known = {name: _plain(first[name]) for name in benchmark.known}
        found[key] = (str(first["subject"]), known)
    return found


def _plain(value: Any) -> Any:
    """Return a number or text as JSON has it; None for what is not known."""
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def submission_windows(benchmark: Benchmark, split: str | None = None) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the windows that a submission is judged on, one recording or person at a time, without any target.

    Parameters
    ----------
    benchmark : Benchmark
        Of the family eeg2025; not zero-shot, whose input is not a window of 129 channels.
    split : str, optional
        By default the benchmark's first.

    Yields
    ------
    key : str
        The recording; or the person, where one prediction per person is required.
    windows : float32 array (n, channels, 200)
        In microvolts and in time order, as the published scorer passes them.
    """
    _check_definition(benchmark)
    for key, rows in _walk_recordings(benchmark, split):
        recording = benchmark.recording(key)
        windows = [
            recording.read(start, stop).reshape(len(recording.channels), -1, WINDOW).transpose(1, 0, 2)
            for start, stop in zip(rows["start"], rows["stop"], strict=True)
            if stop - start > WINDOW
        ]
        if windows:
            yield key, np.ascontiguousarray(windows[0])
        else:
            yield key, recording.windows(rows["start"].to_numpy(), WINDOW)


Predictions = Mapping[str, Any] | np.ndarray


def prediction_rows(benchmark: Benchmark, predictions: Predictions, split: str | None = None) -> pd.DataFrame:
    """Turn a submission's answers to :func:`submission_windows` into a table of predictions.

    Where one prediction per person is required, it is the mean over the person's windows.

    Parameters
    ----------
    predictions : mapping of str to array, or array
        Key -> one number per window, (n,) or (n, 1), in the order of the windows; or the numbers of all windows
        in one array, in the order of the keys.

    Raises
    ------
    NeuroarenaError
        When a key is missing, or the number of predictions differs from that of the windows, or one is not finite.
    """
    judged = list(_walk_recordings(benchmark, split))
    if isinstance(predictions, np.ndarray):
        predictions = _by_key(benchmark, predictions, judged)
    rows = []
    for key, own in judged:
        if key not in predictions:
            raise NeuroarenaError(f"{benchmark.name}: predictions for {key} are missing. Nothing was scored.")
        answers = np.asarray(predictions[key], dtype=np.float64)
        answers = answers[:, 0] if answers.ndim == 2 and answers.shape[1] == 1 else answers
        expected = _n_windows(own)
        if answers.shape != (expected,):
            raise NeuroarenaError(
                f"{benchmark.name}: {key}: got predictions of shape {answers.shape}; expected one number for each of "
                f"{expected} windows. Nothing was scored."
            )
        if not np.isfinite(answers).all():
            where = int((~np.isfinite(answers)).argmax())
            raise NeuroarenaError(
                f"{benchmark.name}: {key}: the prediction for window {where} is {answers[where]}. Every number must be "
                "finite. Nothing was scored."
            )
        if expected > len(own):
            answers = np.array([answers.mean()])
        rows.append(pd.DataFrame({"id": own["id"].to_numpy(), "number": answers}))
    return pd.concat(rows, ignore_index=True)


def _n_windows(rows: pd.DataFrame) -> int:
    return int((rows["stop"] - rows["start"]).sum()) // WINDOW


def _by_key(
    benchmark: Benchmark, flat: np.ndarray, judged: list[tuple[str, pd.DataFrame]]
) -> dict[str, np.ndarray]:
    cuts = np.cumsum([_n_windows(rows) for _, rows in judged])
    if len(flat) != cuts[-1]:
        raise NeuroarenaError(
            f"{benchmark.name}: got {len(flat)} predictions for {cuts[-1]} windows. Nothing was scored."
        )
    return dict(zip((key for key, _ in judged), np.split(flat, cuts[:-1]), strict=True))


def score_windows(
    challenge1: Benchmark,
    predictions1: Predictions,
    challenge2: Benchmark,
    predictions2: Predictions,
    split: str | None = None,
) -> dict[str, Any]:
    """Score a submission on both challenges: the published keys, and 95 % intervals over people.

    Parameters
    ----------
    challenge1, challenge2 : Benchmark
        ``eeg2025/response-time`` and a factor, of one definition.
    predictions1, predictions2 : mapping of str to array, or array
        As :func:`prediction_rows` takes them.
    split : str, optional

    Returns
    -------
    dict
        ``overall``, ``challenge1``, ``challenge2`` (nRMSE; under as-scored rounded to five decimals, as the
        published scorer does), ``intervals`` ([low, high] of each, or None with the reason in
        ``no_intervals``), ``definition``, ``split``, ``n_people``, ``simulated``.

    Raises
    ------
    InputError
        When the benchmarks are not the two challenges of one definition.
    NeuroarenaError
        When predictions are missing, of another number, or not finite.
    """
    _check_pair(challenge1, challenge2)
    scores: list[UnitScores] = []
    for benchmark, predictions in ((challenge1, predictions1), (challenge2, predictions2)):
        truth = benchmark.truth(benchmark.split(split or benchmark.splits[0]))
        rows = prediction_rows(benchmark, predictions, split)
        scores.append(score(rows, truth, benchmark.manifest, f"challenge{len(scores) + 1}"))
    return report_scores(challenge1, scores[0], challenge2, scores[1], split)


def report_scores(
    challenge1: Benchmark,
    scores1: UnitScores,
    challenge2: Benchmark,
    scores2: UnitScores,
    split: str | None = None,
) -> dict[str, Any]:
    """Report the scores of both challenges as :func:`score_windows` does, from their unit scores."""
    scores = {"challenge1": scores1, "challenge2": scores2}
    points = {name: own.value for name, own in scores.items()}
    points = {"overall": float(overall(**points)), **points}
    digits = DECIMALS if challenge1.manifest.definition == "as-scored" else None
    people = {unit for own in scores.values() for unit in own.table["unit"]}
    said: dict[str, Any] = {name: _round(value, digits) for name, value in points.items()}
    limits = measure_intervals(scores1, challenge1, scores2, challenge2)
    if limits is None:
        reason = f"{len(people)} people are too few, at least {MINIMUM_LEVELS} are needed."
        if len(people) >= MINIMUM_LEVELS:
            reason = "a score is not defined without one of the people."
        said |= {"intervals": None, "no_intervals": reason}
    else:
        said["intervals"] = {name: [_round(edge, digits) for edge in edges] for name, edges in limits.items()}
    return said | {
        "definition": challenge1.manifest.definition,
        "split": split or challenge1.splits[0],
        "n_people": len(people),
        "simulated": challenge1.simulated,
        "notes": list(dict.fromkeys([*challenge1.notes, *challenge2.notes])),
    }


def measure_intervals(
    scores1: UnitScores, challenge1: Benchmark, scores2: UnitScores, challenge2: Benchmark
) -> dict[str, tuple[float, float]] | None:
    """Return the 95 % interval of each score over people, as boards have it; None where one cannot be had."""
    own = {CHALLENGE_1: (scores1, challenge1.manifest), CHALLENGE_2: (scores2, challenge2.manifest)}
    found = {
        "overall": overall_interval(own, FAMILY.overall),
        "challenge1": score_interval(*own[CHALLENGE_1]),
        "challenge2": score_interval(*own[CHALLENGE_2]),
    }
    known = {name: edges for name, edges in found.items() if edges is not None}
    return known if len(known) == len(found) else None


def _walk_recordings(benchmark: Benchmark, split: str | None) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the judged recordings in order of their keys, with their examples in time order."""
    chosen = benchmark.split(split or benchmark.splits[0])
    ids = {example for fold in chosen.folds for example in fold.test}
    judged = benchmark.examples[benchmark.examples["id"].isin(ids)]
    for key, rows in judged.groupby("recording", sort=True):
        # Crops may overtake each other; ids number the windows in their own order.
        yield str(key), rows.sort_values("id", ignore_index=True)


def _round(value: float, digits: int | None) -> float:
    return float(value) if digits is None else round(float(value), digits)


def _check_definition(benchmark: Benchmark) -> None:
    if not benchmark.manifest.name.startswith("eeg2025/") or benchmark.manifest.definition == "zero-shot":
        raise InputError(
            f"{benchmark.name}: does not accept code submissions; eeg2025@as-scored and eeg2025@as-described do."
        )


def _check_pair(challenge1: Benchmark, challenge2: Benchmark) -> None:
    for benchmark in (challenge1, challenge2):
        _check_definition(benchmark)
    first, second = challenge1.manifest, challenge2.manifest
    if first.name != "eeg2025/response-time" or second.name == "eeg2025/response-time":
        raise InputError(
            f"Challenge 1 is eeg2025/response-time and challenge 2 a factor; got {first.name} and {second.name}."
        )
    if first.definition != second.definition or challenge1.options["fast"] != challenge2.options["fast"]:
        raise InputError(
            f"Both challenges need one definition and the same people; got {challenge1.name} and {challenge2.name}."
        )
