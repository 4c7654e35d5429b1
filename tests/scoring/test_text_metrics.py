"""Character and word error rates against jiwer, and by hand."""

from __future__ import annotations

from typing import Any

import jiwer
import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.scoring import UnitScores, check_truth, columns_of, combine, score, track_score

from .tables import make_manifest

CORPUS = {"metric": "corpus_cer", "combiner": "percentage"}
RULES = make_manifest(name="example/keys", metric="cer", tie_break="wer", prediction="text", classes=())

# Letters, marks that combine, an emoji of two code points, backspace, line ends and odd spaces.
ALPHABET = st.sampled_from(["a", "b", "ß", "é", "e\u0301", "中", "👍🏽", "\u2060", "\b", ".", "'"])
SPACED = st.sampled_from([" ", "  ", "\n", "\t"])
CHARACTERS = st.lists(st.one_of(ALPHABET, ALPHABET, ALPHABET, SPACED), max_size=25).map("".join)


def scored(hypotheses: list[str], references: list[str], unit: Any = "one", **changes: Any) -> UnitScores:
    ids = [f"b{row}" for row in range(len(references))]
    truth = pd.DataFrame({"id": ids, "fold": "0", "unit": unit, "cluster": "", "target": references})
    predictions = pd.DataFrame({"id": ids, "text": hypotheses})
    return score(predictions, truth, RULES.replace(**changes))


def jiwer_cer(references: list[str], hypotheses: list[str]) -> float:
    plain = jiwer.Compose([jiwer.ReduceToListOfListOfChars()])
    return 100 * jiwer.cer(references, hypotheses, reference_transform=plain, hypothesis_transform=plain)


def jiwer_wer(references: list[str], hypotheses: list[str]) -> float:
    # jiwer's own list of words cuts at single spaces; white space is what Python says it is.
    joined = ([" ".join(text.split()) for text in texts] for texts in (references, hypotheses))
    plain = jiwer.Compose([jiwer.ReduceToListOfListOfWords()])
    return 100 * jiwer.wer(*joined, reference_transform=plain, hypothesis_transform=plain)


@given(st.lists(st.tuples(CHARACTERS, CHARACTERS), min_size=1, max_size=6))
def test_error_rates_equal_jiwer_on_random_text(pairs: list[tuple[str, str]]) -> None:
    references, hypotheses = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    # jiwer takes no empty reference beside others; ours counts its insertions.
    assume(all(reference.strip() for reference in references))
    found = scored(hypotheses, references)
    assert found.value == pytest.approx(jiwer_cer(references, hypotheses), abs=1e-9)
    assert found.values()["wer"] == pytest.approx(jiwer_wer(references, hypotheses), abs=1e-9)


def test_an_empty_hypothesis_deletes_every_character() -> None:
    assert scored(["", ""], ["hello world", "x"]).values() == {"cer": 100.0, "wer": 100.0}


def test_a_backspace_is_a_character_and_is_never_applied() -> None:
    assert scored(["helxlo"], ["helx\blo"]).value == pytest.approx(100 / 7)
    assert scored(["hello"], ["helx\blo"]).value == pytest.approx(200 / 7)


def test_insertions_can_pass_a_hundred_per_cent() -> None:
    assert scored(["abcdef"], ["a"]).value == 500.0


def test_nothing_is_normalised() -> None:
    assert scored(["e\u0301"], ["é"]).value == 200.0
    assert scored(["Straße"], ["straße"]).value == pytest.approx(100 / 6)


def test_errors_are_pooled_inside_a_block_and_averaged_over_blocks() -> None:
    # Block u: 1 error of 10 characters and 1 of 2: 2 / 12. Block v: 0 of 3.
    texts = ["abcdefghij", "ab", "xyz"], ["abcdefghiX", "aX", "xyz"]
    found = scored(texts[1], texts[0], ["u", "u", "v"])
    assert found.table["score"].tolist() == [pytest.approx(100 * 2 / 12), 0.0]
    assert found.value == pytest.approx(100 * 2 / 12 / 2)
    corpus = track_score(columns_of(found, RULES, combiner="percentage"), "percentage")
    assert corpus == pytest.approx(100 * 2 / 15)
    assert scored(texts[1], texts[0], ["u", "u", "v"], **CORPUS).value == corpus
    beside = scored(texts[1], texts[0], ["u", "u", "v"], additional_metrics=("corpus_cer",))
    assert beside.values()["corpus_cer"] == corpus
    assert beside.value == found.value


def test_the_corpus_is_pooled_without_being_told() -> None:
    manifest = make_manifest(name="example/keys", metric="corpus_cer", prediction="text", classes=())
    assert manifest.combiner == "percentage"


def test_the_bootstrap_of_the_corpus_equals_recomputing_every_draw() -> None:
    rng = np.random.default_rng(0)
    letters = list("abc ")
    references = ["a" + "".join(rng.choice(letters, 1 + rng.integers(30))) for _ in range(12)]
    hypotheses = ["".join(rng.choice(letters, rng.integers(30))) for _ in range(12)]
    manifest = RULES.replace(**CORPUS)
    found = scored(hypotheses, references, [f"u{row:02d}" for row in range(12)], **CORPUS)
    columns = columns_of(found, manifest)
    drawn = rng.integers(0, 12, (40, 12))
    counts = np.stack([np.bincount(draw, minlength=12) for draw in drawn])
    fast = combine("percentage", {name: counts @ column for name, column in columns.items()})
    slow = [jiwer_cer([references[i] for i in draw], [hypotheses[i] for i in draw]) for draw in drawn]
    np.testing.assert_allclose(fast, slow, rtol=1e-12)


BAD_REFERENCES: dict[str, tuple[list[str], str]] = {
    "an empty block": (["", ""], "the reference text is empty.*metric cer"),
    "a block of spaces": ([" ", "\n"], "holds no word.*metric wer"),
    "one empty block of two": (["word", ""], r'unit "u1", fold "0": the reference text is empty'),
}


@pytest.mark.parametrize(("references", "phrase"), BAD_REFERENCES.values(), ids=BAD_REFERENCES.keys())
def test_an_empty_reference_is_refused_and_not_scored_as_perfect(references: list[str], phrase: str) -> None:
    units = ["u0", "u1"] if "word" in references else ["u0", "u0"]
    ids = ["a", "b"]
    truth = pd.DataFrame({"id": ids, "fold": "0", "unit": units, "cluster": "", "target": references})
    with pytest.raises(InputError, match=phrase):
        check_truth(truth, RULES)


def test_a_text_beyond_the_cap_is_refused_by_row() -> None:
    with pytest.raises(InputError, match=r'row 1 \(id "b1"\): text has 9 characters; the limit is 8'):
        scored(["short", "too long!"], ["a", "b"], caps={"text_length": 8})
