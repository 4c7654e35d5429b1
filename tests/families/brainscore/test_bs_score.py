"""Score: a number that carries its error, its parts and its origin; normalisations."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.families.brainscore.brain_score import Score, as_score
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError, named
from neuroarena.families.brainscore.normalisation import (
    NORMALISATIONS,
    check_ceiling,
    explained_variance,
    formula_of,
    ratio,
    ratio_squared,
    variance_ratio,
)


def test_a_score_is_a_number():
    score = Score(0.65, error=0.02)
    assert float(score) == 0.65 == score.item() == score.value
    assert score == 0.65
    assert score == Score(0.65)
    assert score == pytest.approx(0.65)
    assert score > 0.5
    assert score < 0.7
    assert max(score, Score(0.7)) == 0.7
    assert score >= 0.65
    assert score <= np.float64(0.65)
    assert score != "0.65"
    assert len({score, Score(0.65)}) == 1
    assert repr(score) == "Score(0.65 ± 0.02)"


@pytest.mark.parametrize(
    ("compute", "value", "error"),
    [
        (lambda a, b: a + b, 1.1, math.hypot(0.03, 0.04)),
        (lambda a, b: a - b, 0.1, math.hypot(0.03, 0.04)),
        (lambda a, b: a * b, 0.3, math.hypot(0.5 * 0.03, 0.6 * 0.04)),
        (lambda a, b: a / b, 1.2, math.hypot(0.03 / 0.5, 0.6 / 0.25 * 0.04)),
        (lambda a, b: a * 2, 1.2, 0.06),
        (lambda a, b: 2 * a, 1.2, 0.06),
        (lambda a, b: np.float64(2) * a, 1.2, 0.06),
        (lambda a, b: 1 - a, 0.4, 0.03),
        (lambda a, b: 1 / b, 2.0, 0.04 / 0.25),
        (lambda a, b: a**2, 0.36, 2 * 0.6 * 0.03),
        (lambda a, b: -a, -0.6, 0.03),
        (lambda a, b: abs(-a), 0.6, 0.03),
        (lambda a, b: sum([a, b]) / 2, 0.55, math.hypot(0.03, 0.04) / 2),
    ],
)
def test_arithmetic_with_numbers_and_scores_propagates_the_error(compute, value, error):
    result = compute(Score(0.6, error=0.03), Score(0.5, error=0.04))
    assert isinstance(result, Score)
    assert result.value == pytest.approx(value)
    assert result.error == pytest.approx(error)


def test_arithmetic_keeps_counts_and_drops_what_no_longer_holds():
    score = Score(0.5, ceiling=0.8, formula="ratio", n_splits=10, n_neuroids_used=3, n_neuroids_total=4)
    doubled = score * 2
    assert (doubled.n_splits, doubled.n_neuroids_used, doubled.n_neuroids_total) == (10, 3, 4)
    assert doubled.formula is None
    assert doubled.ceiling is None
    assert (score + Score(0.1, n_splits=5)).n_splits is None


def test_attrs_are_mutable_and_read_as_attributes():
    score = Score(Score(0.4, error=0.1) / 0.8)
    score.attrs["raw"] = Score(0.4)
    score.attrs["ceiling"] = 1
    assert score.error == pytest.approx(0.125)
    assert score.raw == 0.4
    assert isinstance(score.ceiling, Score)
    score.provenance["model"] = "alexnet"
    assert score.attrs["provenance"] == {"model": "alexnet"}


@pytest.mark.parametrize("value", [np.float32(0.5), np.array(0.5), xr.DataArray(0.5), Score(0.5)])
def test_whatever_is_one_number_makes_a_score(value):
    assert Score(value) == 0.5
    assert as_score(value) == 0.5


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (np.zeros(2), r"shape \(2,\)"),
        ("much", "a str"),
        (None, "a NoneType"),
        (xr.DataArray([1, 2]), "shape"),
    ],
)
def test_what_is_not_one_number_is_refused(value, got):
    with pytest.raises(InputError, match=got):
        Score(value)


def test_values_beyond_the_ceiling_are_also_given_clipped():
    assert [Score(value).clipped for value in (-0.1, 0.5, 1.13)] == [0.0, 0.5, 1.0]


def test_json_gives_back_the_score_with_its_arrays_and_scores():
    raw = xr.DataArray(
        [[0.5, np.nan], [0.7, 0.1]],
        dims=("split", "neuroid"),
        coords={"neuroid_id": ("neuroid", ["a", "b"]), "x": ("neuroid", [0.5, np.nan]), "region": "IT"},
    )
    ceiled = Score(
        0.4,
        error=0.1,
        raw=Score(0.6, raw=raw, n_splits=2),
        ceiling=Score(0.9, error=0.01),
        formula="variance_ratio",
        attrs={
            "provenance": {"seed": np.int64(1)},
            "alpha": [1.0, (2, "x")],
            "none": None,
            "flag": np.bool_(True),
        },
    )
    text = ceiled.to_json()
    assert "NaN" not in text
    back = Score.from_json(text)
    assert (back.value, back.error, back.formula) == (0.4, 0.1, "variance_ratio")
    assert back.ceiling.error == 0.01
    xr.testing.assert_identical(back.raw.raw, raw)
    assert back.attrs["alpha"] == [1.0, [2, "x"]]
    assert back.provenance == {"seed": 1}
    assert back.to_json() == text
    assert Score.from_dict(ceiled.to_dict()).to_json() == text
    assert math.isnan(Score.from_json(Score(math.nan).to_json()).value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "not JSON"),
        ("[]", "does not hold a Score"),
        ('{"kind": "score", "schema_version": 9}', "schema version 9"),
        ('{"kind": "score", "schema_version": 1, "value": "a", "attrs": {}}', "value"),
        (
            '{"kind":"score","schema_version":1,"value":1,"attrs":{"raw":{"kind":"array","values":[1],"shape":[3],"dims":["a"],"coords":{}}}}',
            "damaged array",
        ),
    ],
)
def test_text_that_is_no_score_is_refused(text, said):
    with pytest.raises(InputError, match=said):
        Score.from_json(text)


def test_an_attribute_without_a_json_form_is_refused_by_name():
    with pytest.raises(InputError, match=r'"inner\.function" of the Score is a builtin'):
        Score(1, attrs={"inner": {"function": print}}).to_json()


def test_the_seeds_worked_example():
    assert round(float(ratio_squared(0.65, 0.82)), 2) == 0.63
    assert round(float(variance_ratio(0.65, 0.82)), 3) == 0.515


@pytest.mark.parametrize(
    ("function", "r", "c", "value"),
    [
        (variance_ratio, -0.3, 0.8, -0.1125),
        (ratio_squared, -0.3, 0.8, -0.140625),
        (variance_ratio, 0.95, 0.8, 1.128125),
        (ratio, 0.5, 0.8, 0.625),
        (variance_ratio, 0.584, 0.8218, 0.415),
    ],
)
def test_formulas_keep_the_sign_and_do_not_clip(function, r, c, value):
    score = function(r, c)
    assert score.value == pytest.approx(value, abs=1e-4)
    assert score.formula == function.__name__
    assert (score.raw, score.ceiling) == (r, c)


@given(
    st.sampled_from(sorted(NORMALISATIONS)),
    st.floats(-0.99, 0.99),
    st.floats(0.2, 1.0),
    st.floats(0, 0.1),
    st.floats(0, 0.1),
)
def test_the_error_is_what_small_changes_of_raw_and_ceiling_make(formula, r, c, of_r, of_c):
    normalise, step = NORMALISATIONS[formula], 1e-6
    slopes = [
        (float(normalise(r + step, c)) - float(normalise(r - step, c))) / (2 * step),
        (float(normalise(r, c + step)) - float(normalise(r, c - step))) / (2 * step),
    ]
    expected = math.hypot(slopes[0] * of_r, slopes[1] * of_c)
    found = normalise(Score(r, error=of_r), Score(c, error=of_c)).error
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-5)


def test_the_normalised_score_says_what_it_rests_on():
    raw = Score(0.5, error=0.1, n_splits=10, n_neuroids_used=6, n_neuroids_total=7)
    ceiled = variance_ratio(raw, 0.8)
    assert (ceiled.n_splits, ceiled.n_neuroids_used, ceiled.n_neuroids_total) == (10, 6, 7)
    assert ceiled.raw is raw
    assert repr(ceiled) == "Score(0.3125 ± 0.12, variance_ratio, 6 of 7 neuroids)"


@pytest.mark.parametrize("ceiling", [0, -0.1, math.nan, math.inf, Score(-0.198)])
@pytest.mark.parametrize("formula", sorted(NORMALISATIONS))
def test_a_ceiling_that_is_not_positive_is_refused(formula, ceiling):
    with pytest.raises(DataQualityError, match="do not agree with themselves"):
        NORMALISATIONS[formula](0.5, ceiling)
    with pytest.raises(DataQualityError, match=r"The ceiling of Tiny\.IT-pls is"):
        check_ceiling(ceiling, "Tiny.IT-pls")


def test_a_raw_score_that_is_no_number_is_refused():
    with pytest.raises(DataQualityError, match="raw score is nan"):
        variance_ratio(math.nan, 0.8)


def test_the_version_chooses_the_formula():
    assert [formula_of(version) for version in (1, 3, 4, 7)] == [
        "ratio_squared",
        "ratio_squared",
        "variance_ratio",
        "variance_ratio",
    ]
    assert explained_variance(0.65, 0.82, version=3).formula == "ratio_squared"
    assert explained_variance(0.65, 0.82).formula == "variance_ratio"
    with pytest.raises(ConfigError, match='No normalisation "cubed"'):
        formula_of(4, "cubed")


def test_the_three_errors_are_wrong_input():
    assert all(issubclass(each, InputError) for each in (AlignmentError, DataQualityError, ConfigError))
    assert named(["a"]) == '"a"'
    assert json.dumps(named(range(5), 2)) == json.dumps('"0", "1" and 3 more')


def test_a_score_is_formatted_rounded_and_tested_as_its_number():
    score = Score(1.256, error=0.1)
    assert (f"{score:.1f}", f"{score:>7.2%}", f"{score}") == ("1.3", "125.60%", "Score(1.256 ± 0.1)")
    assert (round(score, 2), round(score), int(score)) == (1.26, 1, 1)
    assert (bool(score), bool(Score(0)), bool(Score(-0.1))) == (True, False, True)


@pytest.mark.parametrize("number", [np.float64(2), np.float32(2), np.int64(2), np.array(2.0)])
def test_numbers_of_numpy_on_either_side_keep_the_error(number):
    score = Score(0.5, error=0.1)
    for found, value, error in (
        (number * score, 1.0, 0.2),
        (score * number, 1.0, 0.2),
        (number - score, 1.5, 0.1),
        (number / score, 4.0, 0.8),
        (score / number, 0.25, 0.05),
        (score**number, 0.25, 0.1),
    ):
        assert isinstance(found, Score)
        assert (found.value, found.error) == (pytest.approx(value), pytest.approx(error))
    assert number > score
    assert score < number
    assert score != number


def test_arrays_on_either_side_see_the_value():
    score, array = Score(0.5, error=0.1), np.array([1.0, 2.0])
    for found, expected in (
        (array * score, [0.5, 1.0]),
        (score * array, [0.5, 1.0]),
        (score - array, [-0.5, -1.5]),
        (array / score, [2.0, 4.0]),
        (xr.DataArray(array) * score, [0.5, 1.0]),
        (score * xr.DataArray(array), [0.5, 1.0]),
        (array > score, [True, True]),
        (score > array, [False, False]),
        (score == np.array([0.5, 1.0]), [True, False]),
    ):
        np.testing.assert_array_equal(found, expected)
    assert np.array([score, Score(1)]).dtype == np.float64
    assert np.mean([score, Score(1)]) == 0.75
    assert np.sqrt(Score(4)) == 2
    assert np.isfinite(score)
    assert pytest.approx(np.array(0.5)) == score


@pytest.mark.parametrize("value", [math.inf, -math.inf])
def test_infinity_survives_json_wherever_it_is(value):
    raw = xr.DataArray([0.5, value, np.nan], dims="neuroid", coords={"x": ("neuroid", [value, 0.0, np.nan])})
    text = Score(
        value, error=math.inf, raw=raw, attrs={"deep": {"list": [value]}, "pure": np.float32(value)}
    ).to_json()
    assert "Infinity" not in text
    back = Score.from_json(text)
    assert (back.value, back.error, back.attrs["deep"], back.attrs["pure"]) == (
        value,
        math.inf,
        {"list": [value]},
        value,
    )
    xr.testing.assert_identical(back.raw, raw)
    with pytest.raises(InputError, match="the number 'much', expected inf or -inf"):
        Score.from_json(text.replace('"inf"', '"much"').replace('"-inf"', '"much"'))


@pytest.mark.parametrize(("error", "said"), [(-0.1, "is -0.1, expected"), ("small", "is 'small', expected")])
def test_an_error_that_cannot_be_is_refused(error, said):
    for make in (lambda: Score(1, error=error), lambda: Score(1, attrs={"error": error})):
        with pytest.raises(InputError, match=said):
            make()
