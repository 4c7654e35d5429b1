"""Metrics of text: character and word error rates, in per cent.

Edit operations are insertions, deletions and substitutions. A character is a Unicode code point, taken as it
is: nothing is normalised, folded or stripped, and a backspace is a character like any other. Words are
separated by white space.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from rapidfuzz.distance import Levenshtein

from neuroarena.scoring.metrics import Metric

if TYPE_CHECKING:
    from neuroarena.scoring.manifest import Manifest


def edit_operations(hypotheses: list[str] | list[list[int]], references: list[str] | list[list[int]]) -> int:
    """Count the least edit operations that turn each hypothesis into its reference, summed over pairs.

    Parameters
    ----------
    hypotheses, references : list of str, or list of list of int
        Two lists of the same length.

    Returns
    -------
    int

    Examples
    --------
    >>> edit_operations(["kitten", ""], ["sitting", "ab"])
    5
    """
    return sum(map(Levenshtein.distance, hypotheses, references))


def words_as_numbers(texts: list[str], known: dict[str, int]) -> list[list[int]]:
    """Number the words of texts, adding new words to `known`.

    Examples
    --------
    >>> words_as_numbers(["to be or", "not to be"], {})
    [[0, 1, 2], [3, 0, 1]]
    """
    return [[known.setdefault(word, len(known)) for word in text.split()] for text in texts]


def _cer(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    references = target.tolist()
    errors, characters = edit_operations(prediction.tolist(), references), sum(map(len, references))
    return {"score": 100.0 * errors / characters, "errors": float(errors), "characters": float(characters)}


def _wer(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    known: dict[str, int] = {}
    hypotheses = words_as_numbers(prediction.tolist(), known)
    references = words_as_numbers(target.tolist(), known)
    errors, words = edit_operations(hypotheses, references), sum(map(len, references))
    return {"score": 100.0 * errors / words, "errors": float(errors), "words": float(words)}


def _some_characters(target: np.ndarray, manifest: Manifest) -> str | None:  # noqa: ARG001
    return None if any(target) else "the reference text is empty, and there is nothing to divide errors by"


def _some_words(target: np.ndarray, manifest: Manifest) -> str | None:  # noqa: ARG001
    if any(map(str.strip, target)):
        return None
    return "the reference text holds no word, and there is nothing to divide errors by"


_CHARACTERS = {"numerator": "errors", "denominator": "characters"}

CER = Metric(
    name="cer",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("text",),
    function=_cer,
    title="Character error rate",
    unit_label="%",
    undefined=(
        "Edit operations / reference characters over the whole unit, in per cent; above 100 where more is inserted "
        "than there is. A unit without any reference character is refused when the truth is checked."
    ),
    columns=("errors", "characters"),
    roles=_CHARACTERS,
    truth_rule=_some_characters,
)

CORPUS_CER = Metric(
    name="corpus_cer",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("text",),
    function=_cer,
    title="Character error rate of the corpus",
    unit_label="%",
    undefined=(
        "Edit operations / reference characters over all units together, in per cent. A unit without any "
        "reference character is refused when the truth is checked."
    ),
    columns=("errors", "characters"),
    combiner="percentage",
    roles=_CHARACTERS,
    truth_rule=_some_characters,
)

WER = Metric(
    name="wer",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("text",),
    function=_wer,
    title="Word error rate",
    unit_label="%",
    undefined=(
        "Edit operations on words / reference words over the whole unit, in per cent. A unit without any "
        "reference word is refused when the truth is checked."
    ),
    columns=("errors", "words"),
    roles={"numerator": "errors", "denominator": "words"},
    truth_rule=_some_words,
)
