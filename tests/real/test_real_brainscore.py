"""Real netCDF files of Brain-Score's own tests: read against h5py, or refused by what they hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

from neuroarena.families.brainscore.assembly_files import read_assembly
from neuroarena.families.brainscore.errors import ConfigError

Find = Callable[[str], Path]

READ = {
    "brainio/tests/files/assy_test_TestMe.nc": ("data", (6, 3), None),
    "brainio/tests/files/assy_test_package_assembly.nc": ("__xarray_dataarray_variable__", (6, 3, 1), None),
    "old/tests/test_metrics/ones-mask_testing.nc": ("__xarray_dataarray_variable__", (5, 18, 1), (1, 0, 2)),
    "vision/tests/test_metrics/ones-mask_testing.nc": (
        "__xarray_dataarray_variable__",
        (5, 18, 1),
        (1, 0, 2),
    ),
}
ACTIVATIONS = "vision/tests/test_model_helpers/activations"
REFUSED = {
    "brainio/tests/files/assy_test_package_assembly_extras.nc": ("event", "times of single spikes"),
    "old/tests/test_metrics/alexnet-probabilities.nc": ("presentation, choice", "of a behaviour"),
    "old/tests/test_metrics/resnet18-probabilities.nc": ("presentation, choice", "of a behaviour"),
    "vision/tests/test_benchmarks/resnet-50-pytorch-3deg-Geirhos2021_cue-conflict.nc": (
        "choice, presentation",
        "of a behaviour",
    ),
    f"{ACTIVATIONS}/alexnet-rgb-1000.nc": ("stimulus_path, neuroid", "activations of a model"),
    f"{ACTIVATIONS}/alexnet-rgb-None.nc": ("stimulus_path, neuroid", "activations of a model"),
}


def test_every_real_file_has_its_row(real: Find):
    folder = real("brainscore_nc")
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.nc")} == {*READ, *REFUSED}


@pytest.mark.parametrize("name", READ)
def test_a_real_assembly_is_read_with_its_numbers_and_ids(real: Find, name: str):
    path = real("brainscore_nc") / name
    variable, shape, order = READ[name]
    array = read_assembly(path)
    with h5py.File(path) as file:
        values = file[variable][()]
        ids = [each.decode() if isinstance(each, bytes) else str(each) for each in file["neuroid_id"][()]]
    assert array.dims == ("presentation", "neuroid", "time_bin")[: len(shape)]
    assert array.shape == shape
    np.testing.assert_array_equal(array.values, values if order is None else values.transpose(order))
    assert [str(each) for each in array["neuroid_id"].values] == ids
    assert "xarray" not in array.attrs["identifier"]


@pytest.mark.parametrize("name", REFUSED)
def test_a_real_file_with_other_dims_is_refused_by_what_it_holds(real: Find, name: str):
    path = real("brainscore_nc") / name
    dims, meaning = REFUSED[name]
    with pytest.raises(ConfigError) as refused:
        read_assembly(path)
    said = str(refused.value)
    assert path.name in said
    assert f"dims are {dims}, expected presentation, neuroid" in said
    assert meaning in said
