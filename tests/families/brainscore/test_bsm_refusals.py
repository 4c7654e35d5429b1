"""What metrics and ceilings refuse, and what they say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bsm_arrays import assembly, pair, renamed, trials, with_value

from neuroarena.errors import InputError, UnknownName
from neuroarena.families.brainscore.ceilings import CEILING_FACTORIES
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError
from neuroarena.families.brainscore.metrics import (
    METRIC_FACTORIES,
    CrossRegressedCorrelation,
    shared_stimuli,
)

SOURCE, TARGET = pair()
TIMED = assembly(np.random.default_rng(0).normal(size=(100, 7, 3)))
ONE_NEUROID = TARGET.isel(neuroid=[0])
FLAT = assembly(np.ones((100, 7)))


def without(array: Any, row: int) -> Any:
    return array.isel(presentation=np.delete(np.arange(array.sizes["presentation"]), row))


def twice(array: Any) -> Any:
    return array.isel(presentation=np.append(np.arange(100), 5))


Refusal = tuple[str, Callable[[], Any], type[InputError], str]
REGRESSED: list[Refusal] = [
    ("pls", lambda: (without(SOURCE, 3), TARGET), AlignmentError, 'source lacks "stim0003"'),
    ("pls", lambda: (SOURCE, without(TARGET, 4)), AlignmentError, 'target lacks "stim0004"'),
    (
        "pls",
        lambda: (renamed(SOURCE, 0, "other"), TARGET),
        AlignmentError,
        'lacks "stim0000" and .* lacks "other"',
    ),
    ("pls", lambda: (twice(SOURCE), twice(TARGET)), AlignmentError, '"stim0005" more than once'),
    (
        "pls",
        lambda: (with_value(SOURCE, 7, 2, np.nan), TARGET),
        DataQualityError,
        'source.*"stim0007".*"unit2"',
    ),
    (
        "pls",
        lambda: (SOURCE, with_value(TARGET, 8, 1, np.nan)),
        DataQualityError,
        'target.*"stim0008".*"unit1"',
    ),
    (
        "pls",
        lambda: (SOURCE, with_value(TARGET, 8, 1, np.inf)),
        DataQualityError,
        'inf for stimulus "stim0008"',
    ),
    ("pls", lambda: (SOURCE, FLAT), DataQualityError, "Every neuroid of the target is constant"),
    ("pls", lambda: (assembly(np.ones((100, 40))), TARGET), DataQualityError, "source is constant"),
    (
        "pls",
        lambda: (SOURCE.drop_vars("object_name"), TARGET.drop_vars("object_name")),
        ConfigError,
        'coordinate "object_name"',
    ),
    (
        "pls",
        lambda: (renamed(SOURCE, 9, "cat", "object_name"), TARGET),
        AlignmentError,
        'object_name of stim0009 is "cat" in the source and "object1" in the target',
    ),
    (
        "pls",
        lambda: (renamed(SOURCE, 9, "cat", "object_name"), renamed(TARGET, 9, "cat", "object_name")),
        DataQualityError,
        '"cat" has fewer than 2 stimuli',
    ),
    (
        "pls",
        lambda: (assembly(SOURCE.values, 20), assembly(TARGET.values, 20)),
        ConfigError,
        "10 of 100 .* 20 values",
    ),
    (
        "pls",
        lambda: (SOURCE, TIMED),
        ConfigError,
        "target has the dims .*time_bin; expected presentation, neuroid",
    ),
    (
        "pls",
        lambda: (SOURCE.isel(neuroid=slice(10)), TARGET),
        ConfigError,
        "25 components .* got 10 features",
    ),
    (
        "pls",
        lambda: (SOURCE.drop_vars("stimulus_id"), TARGET),
        ConfigError,
        'source has no coordinate "stimulus_id"',
    ),
    ("rdm", lambda: (SOURCE, with_value(TARGET, 3, 0, np.nan)), DataQualityError, '"stim0003"'),
    (
        "rdm",
        lambda: (SOURCE, assembly(np.eye(100, 7))),
        DataQualityError,
        'target respond alike to "stim0007"',
    ),
    ("rdm", lambda: (SOURCE, ONE_NEUROID), DataQualityError, "target has 1 neuroid"),
    ("rdm", lambda: (SOURCE, without(TARGET, 4)), AlignmentError, "stim0004"),
    ("rdm_cv", lambda: (SOURCE, ONE_NEUROID), DataQualityError, "target has 1 neuroid"),
    ("cka", lambda: (with_value(SOURCE, 6, 0, np.nan), TARGET), DataQualityError, '"stim0006"'),
    (
        "cka",
        lambda: (SOURCE.isel(presentation=slice(3)), TARGET.isel(presentation=slice(3))),
        DataQualityError,
        "at least 4 stimuli, got 3",
    ),
    ("cka", lambda: (SOURCE, FLAT), DataQualityError, "target is constant"),
    ("spantime_pls", lambda: (SOURCE, TIMED), ConfigError, "source has the dims"),
    (
        "spantime_ridge",
        lambda: (TIMED.isel(time_bin=[0, 1]), TIMED),
        AlignmentError,
        "2 time bins, the target 3",
    ),
    (
        "spantime_ridge",
        lambda: (TIMED.assign_coords(time_bin_start=("time_bin", [0, 80, 90])), TIMED),
        AlignmentError,
        "time_bin_start of bin 0 is 0 ms .* 70 ms",
    ),
]


@pytest.mark.parametrize(("metric", "arguments", "kind", "message"), REGRESSED)
def test_what_cannot_be_compared_is_refused_by_name(
    metric: str, arguments: Callable[[], Any], kind: type[InputError], message: str
):
    with pytest.raises(kind, match=message):
        METRIC_FACTORIES[metric]()(*arguments())


TRIALS = trials(
    np.random.default_rng(1).normal(size=(6, 30, 4)) + np.random.default_rng(2).normal(size=(30, 4))
)
OWNED = TRIALS.assign_coords(subject=("neuroid", ["one", "one", "two", "two"]))
CEILINGS: list[Refusal] = [
    ("internal_consistency", lambda: TRIALS.drop_vars("repetition"), ConfigError, 'coordinate "repetition"'),
    (
        "internal_consistency",
        lambda: TRIALS.drop_vars("stimulus_id"),
        ConfigError,
        'coordinate "stimulus_id"',
    ),
    (
        "internal_consistency",
        lambda: TRIALS.isel(presentation=slice(30)),
        DataQualityError,
        "repetitions, got 1",
    ),
    (
        "internal_consistency",
        lambda: TRIALS.isel(presentation=np.setdiff1d(np.arange(180), np.arange(32, 180, 30))),
        DataQualityError,
        '"stim0002" have no trial in one half .*internal_consistency_per_stimulus',
    ),
    (
        "internal_consistency",
        lambda: TRIALS.isel(presentation=np.append(np.arange(180), 4)),
        AlignmentError,
        '"stim0004" has the repetition 0 more than once',
    ),
    ("internal_consistency", lambda: assembly(np.ones((10, 2, 3))), ConfigError, "time_bin"),
    (
        "internal_consistency_per_stimulus",
        lambda: TRIALS.isel(presentation=slice(35)),
        DataQualityError,
        "5 stimuli have two or more trials, expected at least 10",
    ),
    ("rsa", lambda: TARGET, ConfigError, 'coordinate "subject"'),
    (
        "rsa",
        lambda: TARGET.assign_coords(subject=("neuroid", ["one"] * 7)),
        DataQualityError,
        'two or more subjects, got only "one"',
    ),
    *(
        (
            name,
            lambda: with_value(OWNED, 34, 1, np.inf),
            DataQualityError,
            'holds inf for stimulus "stim0004", neuroid "unit1"',
        )
        for name in ("internal_consistency", "internal_consistency_per_stimulus", "rsa")
    ),
    *(
        (
            name,
            lambda: OWNED.isel(presentation=np.append(np.arange(180), 34)),
            AlignmentError,
            '"stim0004" has the repetition 1 more than once',
        )
        for name in ("internal_consistency_per_stimulus", "rsa")
    ),
    ("rsa", lambda: OWNED.drop_vars("repetition"), AlignmentError, '"stim0000", .* more than once'),
]


@pytest.mark.parametrize(("ceiling", "argument", "kind", "message"), CEILINGS)
def test_a_recording_that_gives_no_ceiling_is_refused_by_name(
    ceiling: str, argument: Callable[[], Any], kind: type[InputError], message: str
):
    with pytest.raises(kind, match=message):
        CEILING_FACTORIES[ceiling]()(argument())


def test_a_constant_neuroid_is_left_out_counted_and_named():
    values = TARGET.values.copy()
    values[:, 2] = 0.7
    score = METRIC_FACTORIES["pls"]()(SOURCE, assembly(values))
    assert (score.n_neuroids_used, score.n_neuroids_total) == (6, 7)
    assert score.attrs["n_nan"] == 10
    assert score.attrs["neuroids_left_out"] == ["unit2"]
    assert np.isnan(score.raw.values[:, 2]).all()
    assert np.isfinite(np.delete(score.raw.values, 2, axis=1)).all()


def test_a_split_in_which_no_neuroid_varies_is_refused():
    values = np.zeros((100, 2))
    values[0] = 1.0
    with pytest.raises(DataQualityError, match=r"No neuroid has a correlation in split \d"):
        METRIC_FACTORIES["ridge"]()(SOURCE, assembly(values))


def test_stimuli_are_intersected_only_on_request():
    source, target = shared_stimuli(without(SOURCE, 3), without(TARGET, 4))
    assert source.sizes["presentation"] == target.sizes["presentation"] == 98
    assert np.isfinite(float(METRIC_FACTORIES["ridge"]()(source, target)))
    with pytest.raises(AlignmentError, match="No stimulus is in both"):
        shared_stimuli(SOURCE.isel(presentation=slice(5)), TARGET.isel(presentation=slice(5, 9)))


def test_the_source_need_not_say_the_object_of_a_stimulus():
    whole = METRIC_FACTORIES["ridge"]()(SOURCE, TARGET)
    assert float(METRIC_FACTORIES["ridge"]()(SOURCE.drop_vars("object_name"), TARGET)) == float(whole)


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: CrossRegressedCorrelation("plz"), UnknownName, 'Did you mean "pls"'),
        (lambda: CrossRegressedCorrelation("pls", "pearson"), UnknownName, 'Did you mean "pearsonr"'),
        (lambda: CrossRegressedCorrelation(3), ConfigError, "needs fit and predict"),
        (lambda: CrossRegressedCorrelation("pls", "pearsonr", {"split": 3}), ConfigError, 'option "split"'),
        (
            lambda: CrossRegressedCorrelation("pls", crossvalidation_kwargs={"split_order": "random"})(
                SOURCE, TARGET
            ),
            ConfigError,
            'split order is "random"',
        ),
        (
            lambda: CrossRegressedCorrelation("pls", crossvalidation_kwargs={"train_size": 1.5})(
                SOURCE, TARGET
            ),
            ConfigError,
            "test part|cannot be divided",
        ),
        (
            lambda: CrossRegressedCorrelation("pls", crossvalidation_kwargs={"kfold": True, "splits": 20})(
                SOURCE, TARGET
            ),
            DataQualityError,
            "fewer than 20 stimuli",
        ),
        (lambda: CEILING_FACTORIES["neuronal_property"](None), ConfigError, "needs a metric"),
        (lambda: METRIC_FACTORIES["ks_similarity"]("x", ns=0), ConfigError, "number of draws is 0"),
    ],
)
def test_a_metric_that_cannot_work_is_refused(make: Callable[[], Any], kind: type[InputError], message: str):
    with pytest.raises(kind, match=message):
        make()
