"""Region averages and the regions that people share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from features.tables import noise, table
from neuroarena.errors import InputError
from neuroarena.features import region_average, shared_regions


def regional() -> pd.DataFrame:
    return table(
        ["A1", "A2", "B1", "B2", "C1"],
        xyz=[(0, 0, 0), (2, 0, 0), (np.nan, 1, 1), (4, 3, 1), (9, 9, 9)],
        region=["insula", "amygdala", "insula", "", "insula"],
    )


def test_regions_are_averaged_in_the_order_asked() -> None:
    signals = np.array([1, 2, 4, 8, 10], dtype=np.float32).reshape(1, 5, 1)
    averages, channels = region_average(signals, regional(), ["insula", "amygdala"])
    assert averages.ravel().tolist() == [5, 2]
    assert averages.dtype == np.float32
    assert channels["name"].tolist() == channels["region"].tolist() == ["insula", "amygdala"]
    assert channels[["x", "y", "z"]].to_numpy().tolist() == [[4.5, 10 / 3, 10 / 3], [2, 0, 0]]
    assert list(channels.columns) == ["name", "kind", "x", "y", "z", "region"]


@pytest.mark.parametrize("trailing", [(7,), (17, 38), (2, 3, 4)])
def test_any_trailing_shape_is_averaged_over_channels(trailing: tuple[int, ...]) -> None:
    signals = noise(3, 5, *trailing)
    averages, _ = region_average(signals, regional(), ["insula"])
    np.testing.assert_allclose(averages[:, 0], signals[:, [0, 2, 4]].mean(axis=1), atol=1e-6)


def test_kinds_that_differ_within_a_region_become_misc() -> None:
    channels = regional()
    channels.loc[0, "kind"] = "eeg"
    _, averaged = region_average(noise(1, 5, 2), channels, ["insula", "amygdala"])
    assert averaged["kind"].tolist() == ["misc", "ieeg"]


def test_shared_regions_are_sorted_and_leave_out_the_unknown() -> None:
    # Twelve of them, so that the order of a set would hardly be sorted by chance.
    common = list("hcalkebdjfig")
    one, two = [*common, "x", ""], ["", "y", *reversed(common)]
    tables = [table([f"A{place}" for place in range(len(regions))], region=regions) for regions in (one, two)]
    assert shared_regions(tables) == list("abcdefghijkl")
    assert shared_regions(tables[:1]) == list("abcdefghijklx")


def test_tables_without_a_common_region_are_refused_with_both_sides() -> None:
    tables = [table(["A1", "A2"], region=["left", "mid"]), table(["A1"], region=["right"]), table(["A1"])]
    with pytest.raises(InputError, match=r"table 1: left, mid; table 2: right\)"):
        shared_regions(tables[:2])
    with pytest.raises(InputError, match=r"3 channel tables .* table 3: none"):
        shared_regions(tables)
    with pytest.raises(InputError, match="at least one channel table"):
        shared_regions([])


@pytest.mark.parametrize(
    ("regions", "message"),
    [
        ([], "at least one region"),
        ("insula", "must be a list"),
        (["insula", "insula"], '"insula" is requested twice'),
        (["cuneus"], 'no channel lies in region "cuneus". Regions present: amygdala, insula'),
        ([""], 'no channel lies in region ""'),
    ],
)
def test_regions_that_cannot_be_averaged_are_refused(regions: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        region_average(noise(1, 5, 2), regional(), regions)


def test_signals_that_disagree_with_the_table_are_refused() -> None:
    with pytest.raises(InputError, match="region_average: axis 1"):
        region_average(noise(1, 4, 2), regional(), ["insula"])
