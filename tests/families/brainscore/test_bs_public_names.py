"""Names of the public registry resolve, or are refused with what to use instead."""

from __future__ import annotations

import pytest
from tiny_recordings import recordings

from neuroarena.errors import UnknownName
from neuroarena.families.brainscore import load_ceiling, load_metric
from neuroarena.families.brainscore.ceilings import InternalConsistency, RSACeiling

SOURCE, TARGET = recordings(neuroids=40, noise=0.1), recordings(seed=2)


@pytest.mark.parametrize("name", ["pls", "ridge", "linear_predictivity", "neuron_to_neuron", "reverse_pls"])
def test_names_with_and_without_cv_are_the_same_metric(name):
    options = {"regression_kwargs": {"n_components": 3}} if "pls" in name else {}
    first, second = (load_metric(each, **options)(SOURCE, TARGET) for each in (name, f"{name}_cv"))
    assert float(first) == float(second)
    assert (first.raw.values == second.raw.values).all()


def test_ceilings_answer_to_their_public_names():
    assert isinstance(load_ceiling("rsa_ceiling"), RSACeiling)
    assert isinstance(load_metric("rsa_ceiling"), RSACeiling)
    assert isinstance(load_metric("internal_consistency"), InternalConsistency)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("mask_regression", '"mask_regression" is not offered.*nearest is "linear_predictivity"'),
        ("neuron_to_neurons", 'Did you mean "neuron_to_neuron"'),
        ("linear_predictivity_cvs", 'Did you mean "linear_predictivity_cv"'),
        ("dual_ridgecv_splits", 'Did you mean "dual_ridgecv_split"'),
    ],
)
def test_other_names_are_refused_with_the_nearest(name, says):
    with pytest.raises(UnknownName, match=says):
        load_metric(name)
