"""Checking a model of vision: can it be made, recorded from, and shown pictures, without any recordings?"""

from __future__ import annotations

from typing import Any

import numpy as np

from neuroarena.checklist import Check
from neuroarena.errors import NeuroarenaError


def check_model_named(name: str) -> list[Check]:
    """Check a model by its name: it is made, keeps the protocol, and answers alike for the same pictures.

    Parameters
    ----------
    name : str
        Of ``neuroarena list decoders``, or ``module:function``.
    """
    from neuroarena.families.brainscore import load_model

    try:
        model = load_model(name)
    except NeuroarenaError as error:
        return [Check("it is made and can be recorded from", False, str(error))]
    made = Check("it is made and can be recorded from", True)
    try:
        degrees = float(model.visual_degrees())
        seen = Check("it says how much of the visual field it sees", degrees > 0, f"{degrees:g} degrees")
    except Exception as error:  # the border to a stranger's model, which may raise anything
        seen = Check(
            "it says how much of the visual field it sees", False, f"{type(error).__name__}: {error}"
        )
    return [made, seen, _check_recordings(model)]


def _check_recordings(model: Any) -> Check:
    words = "it answers four pictures with finite numbers, and alike when asked again"
    try:
        first, second = (_record_pictures(model) for _ in range(2))
    except Exception as error:  # the border to a stranger's model, which may raise anything
        return Check(words, False, f"{type(error).__name__}: {error}")
    if not np.isfinite(first).all():
        return Check(words, False, "some of its activations are NaN or infinite")
    return Check(words, bool(np.allclose(first, second)), f"{first.shape[1]} neuroids")


def _record_pictures(model: Any) -> np.ndarray:
    import pandas as pd

    from neuroarena.families.brainscore.stimuli import StimulusSet

    rng = np.random.default_rng(0)
    names = [f"picture{number}" for number in range(4)]
    images = {name: rng.integers(0, 256, (32, 32, 3), dtype=np.uint8) for name in names}
    table = pd.DataFrame({"stimulus_id": names, "degrees": 8.0})
    model.start_recording("IT", [(70, 170)])
    answers = np.asarray(model.look_at(StimulusSet(table, images=images), number_of_trials=1))
    return answers.reshape(len(answers), -1)
