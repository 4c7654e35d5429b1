"""Features that were computed elsewhere, scored unchanged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.assemblies import as_array, assembly_digest
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, named
from neuroarena.families.brainscore.stimuli import StimulusSet
from neuroarena.fingerprint import digest


class PrecomputedFeatures:
    """A BrainModel over a stored table of features; region, time bins and trials change nothing.

    Parameters
    ----------
    features : DataArray, DataFrame, or mapping of stimulus-set identifier to one of them
        DataArray presentation x neuroid [x time_bin] with `stimulus_id`; or DataFrame with the stimulus ids as index
        and one column per feature.
    visual_degrees : float
        Visual field the features were computed with. Nothing is placed on a screen here: the features are taken as
        they are.
    identifier : str
        Name of the model.

    Examples
    --------
    >>> table = pd.DataFrame({"x": [1.0, 2.0]}, index=["a", "b"])
    >>> gray = np.zeros((4, 4, 3), np.uint8)
    >>> shown = StimulusSet(pd.DataFrame({"stimulus_id": ["b"]}), images={"b": gray})
    >>> PrecomputedFeatures(table).look_at(shown).values
    array([[2.]])
    """

    def __init__(
        self,
        features: xr.DataArray | pd.DataFrame | Mapping[str, xr.DataArray | pd.DataFrame],
        visual_degrees: float = 8,
        identifier: str = "precomputed",
    ) -> None:
        tables = features if isinstance(features, Mapping) else {"": features}
        self._tables = {name: _checked(table) for name, table in tables.items()}
        self._visual_degrees = visual_degrees
        self._identifier = identifier

    @property
    def identifier(self) -> str:
        """Name of the model."""
        return self._identifier

    def visual_degrees(self) -> float:
        """Return the visual field the features were computed with."""
        return self._visual_degrees

    def content(self) -> dict[str, Any]:
        """Return the hash of the stored features."""
        tables = [[name, assembly_digest(table)] for name, table in sorted(self._tables.items())]
        return {"features": digest(tables), "visual_degrees": float(self._visual_degrees)}

    def start_recording(self, region: str, time_bins: Any = None) -> None:
        """Accept any region and time: the features are what they are."""

    def look_at(
        self,
        stimuli: StimulusSet | Sequence[str | Path],
        number_of_trials: int = 1,
    ) -> xr.DataArray:
        """Return the stored features of the stimuli, in their order.

        Raises
        ------
        AlignmentError
            When stimuli have no features; the message names them.
        """
        ids = stimuli.ids if isinstance(stimuli, StimulusSet) else [str(path) for path in stimuli]
        table = self._table_of(stimuli)
        rows = pd.Index(table["stimulus_id"].values).get_indexer(pd.Index(ids))
        if (rows < 0).any():
            missing = [key for key, row in zip(ids, rows, strict=True) if row < 0]
            raise AlignmentError(
                f"{self.identifier}: there are no features for {len(missing)} of {len(ids)} stimuli: {named(missing)}. "
                "Compute them, or leave the stimuli out of the benchmark."
            )
        chosen = table.isel(presentation=rows)
        if isinstance(stimuli, StimulusSet):
            chosen = chosen.assign_coords(
                {
                    str(name): ("presentation", stimuli.table[name].to_numpy())
                    for name in stimuli.table.columns
                    if name not in chosen.coords
                }
            )
        return chosen

    def _table_of(self, stimuli: StimulusSet | Sequence[str | Path]) -> xr.DataArray:
        if "" in self._tables:
            return self._tables[""]
        identifier = stimuli.identifier if isinstance(stimuli, StimulusSet) else None
        # A set placed on a screen appends the placement to its name.
        name = (identifier or "").partition("--target")[0]
        if name not in self._tables:
            raise ConfigError(
                f'{self.identifier}: there are no features for the stimulus set "{name}"; '
                f"there are {named(self._tables)}."
            )
        return self._tables[name]


def _checked(features: xr.DataArray | pd.DataFrame) -> xr.DataArray:
    if isinstance(features, pd.DataFrame):
        features = xr.DataArray(
            features.to_numpy(),
            dims=("presentation", "neuroid"),
            coords={
                "stimulus_id": ("presentation", features.index.to_numpy()),
                "neuroid_id": ("neuroid", [str(name) for name in features.columns]),
            },
        )
    if (
        isinstance(features, xr.DataArray)
        and "neuroid_id" not in features.coords
        and "neuroid" in features.dims
    ):
        features = features.assign_coords(neuroid_id=("neuroid", np.arange(features.sizes["neuroid"])))
    array = as_array(features)
    index = pd.Index(array["stimulus_id"].values)
    if not index.is_unique:
        raise AlignmentError(
            f"The features of {named(index[index.duplicated()].unique())} occur more than once. Keep one row each."
        )
    return array
