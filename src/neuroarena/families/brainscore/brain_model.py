"""What a benchmark asks of a model: record somewhere, look at images, know how large its field is."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import xarray as xr

from neuroarena.families.brainscore.assemblies import NeuralAssembly, TimeBins, squeeze_time
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError, named
from neuroarena.families.brainscore.repetitions import average_repetitions
from neuroarena.families.brainscore.stimuli import StimulusSet


@runtime_checkable
class BrainModel(Protocol):
    """A model of vision, recorded from like an animal.

    A model remembers what it was last asked to record; :meth:`look_at` then returns those recordings.
    """

    @property
    def identifier(self) -> str:
        """Name of the model."""
        ...

    def visual_degrees(self) -> float:
        """Return the width of the visual field in degrees."""
        ...

    def start_recording(self, region: str, time_bins: TimeBins) -> None:
        """Record from a region, in time bins of (start, end) ms from stimulus onset, from now on."""
        ...

    def look_at(self, stimuli: StimulusSet, number_of_trials: int = 1) -> xr.DataArray:
        """Show stimuli and return the recordings.

        Returns
        -------
        DataArray, presentation x neuroid [x time_bin]
            Coordinates ``stimulus_id`` and the columns of the stimulus set on presentation, ``neuroid_id`` on
            neuroid, ``time_bin_start`` and ``time_bin_end`` on time_bin; a single bin may be left out.
        """
        ...


def check_model(candidate: Any) -> BrainModel:
    """Refuse an object that cannot be recorded from, naming the method it lacks."""
    for method in ("start_recording", "look_at", "visual_degrees"):
        if not callable(getattr(candidate, method, None)):
            raise ConfigError(
                f"A {type(candidate).__name__} is not a model: it has no {method}(). Expected start_recording(region, "
                "time_bins), look_at(stimuli, number_of_trials) and visual_degrees()."
            )
    return candidate  # type: ignore[no-any-return]


def model_name(candidate: Any) -> str:
    """Return a model's identifier, or the name of its class where it has none."""
    return str(getattr(candidate, "identifier", None) or type(candidate).__name__)


def recorded(candidate: BrainModel, stimuli: StimulusSet, number_of_trials: int) -> xr.DataArray:
    """Let a model look at stimuli, and check what it returns.

    Returns
    -------
    DataArray, presentation x neuroid [x time_bin]
        One row per stimulus, in the model's order; repeated trials are averaged, a single time bin is squeezed.

    Raises
    ------
    ConfigError, DataQualityError, AlignmentError
        When dims or coordinates are wrong, a response is NaN, or stimuli are missing, unknown or duplicated.
    """
    name = f'model "{model_name(candidate)}"'
    responses = candidate.look_at(stimuli, number_of_trials=number_of_trials)
    try:
        array = NeuralAssembly(responses).array
    except (ConfigError, DataQualityError) as error:
        raise type(error)(f"{name}: look_at() did not return an assembly: {error}") from error
    _check_stimuli(array, stimuli, name)
    if "repetition" in array.coords:
        array = average_repetitions(array)
    _check_each_once(array, name)
    missing = array.isnull()
    if bool(missing.any()):
        where = missing.any([dim for dim in array.dims if dim != "presentation"]).values
        stimulus = array["stimulus_id"].values[where.argmax()]
        raise DataQualityError(
            f'{name}: {int(missing.sum())} responses are NaN, the first to stimulus "{stimulus}".'
        )
    return squeeze_time(array)


def _check_stimuli(array: xr.DataArray, stimuli: StimulusSet, name: str) -> None:
    shown, answered = set(stimuli.ids), set(array["stimulus_id"].values.tolist())
    unseen = [key for key in stimuli.ids if key not in answered]
    if unseen:
        raise AlignmentError(f"{name}: no response to the stimuli {named(unseen)} of {stimuli.name}.")
    surplus = sorted(str(key) for key in answered - shown)
    if surplus:
        raise AlignmentError(f"{name}: responses to {named(surplus)}, which {stimuli.name} does not hold.")


def _check_each_once(array: xr.DataArray, name: str) -> None:
    ids = array["stimulus_id"].to_index()
    if not ids.is_unique:
        twice = ids[ids.duplicated()].unique()
        raise AlignmentError(
            f"{name}: several responses to the stimuli {named(twice)}. Return one, or distinguish trials by a "
            'coordinate "repetition".'
        )
