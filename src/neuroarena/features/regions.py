"""Averages over brain regions: the common ground of people with different electrodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block


def region_average(
    signals: np.ndarray, channels: pd.DataFrame, regions: Sequence[str]
) -> tuple[np.ndarray, pd.DataFrame]:
    """Average over the channels of each region.

    Parameters
    ----------
    signals
        Array (window, channel, ...), signals or features.
    channels
        Channel table; its column `region` is compared as it is.
    regions
        The regions wanted, in this order.

    Returns
    -------
    signals : np.ndarray
        float32 (window, region, ...).
    channels : pd.DataFrame
        Channel table of the regions: name and region are the region, the position is the mean of the
        known positions, the kind is that of the channels where they agree, else "misc".

    Raises
    ------
    InputError
        When a region is requested twice, is empty, or has no channel; or when no region is requested.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["A1", "A2", "B1"], "kind": "ieeg", "x": [0.0, 2.0, 9.0], "y": 0.0,
    ...                       "z": 0.0, "region": ["insula", "insula", "amygdala"]})
    >>> signals = np.array([[[1.0], [3.0], [7.0]]], dtype=np.float32)
    >>> averages, regions = region_average(signals, table, ["amygdala", "insula"])
    >>> averages.ravel().tolist(), regions["x"].tolist()
    ([7.0, 2.0], [9.0, 1.0])
    """
    block = check_block(signals, channels, "region_average")
    rows = _rows_of_regions(channels, regions)
    result = np.empty((len(block), len(rows), *block.shape[2:]), dtype=np.float32)
    for place, members in enumerate(rows.values()):
        result[:, place] = block[:, members].mean(axis=1)
    return result, _region_table(channels, rows)


def _rows_of_regions(channels: pd.DataFrame, regions: Sequence[str]) -> dict[str, np.ndarray]:
    if isinstance(regions, str) or not len(regions):
        raise InputError(f"region_average: regions must be a list of at least one region, got {regions!r}.")
    present = channels["region"].to_numpy()
    rows: dict[str, np.ndarray] = {}
    for region in regions:
        members = np.flatnonzero(present == region) if region else np.empty(0, dtype=np.intp)
        if region in rows:
            raise InputError(f'region_average: region "{region}" is requested twice. Name each region once.')
        if not members.size:
            raise InputError(
                f'region_average: no channel lies in region "{region}". '
                f"Regions present: {_listing(set(present))}."
            )
        rows[region] = members
    return rows


def _region_table(channels: pd.DataFrame, rows: dict[str, np.ndarray]) -> pd.DataFrame:
    members = [channels.iloc[positions] for positions in rows.values()]
    return pd.DataFrame(
        {
            "name": list(rows),
            "kind": [table["kind"].iloc[0] if table["kind"].nunique() == 1 else "misc" for table in members],
            **{axis: [float(table[axis].mean()) for table in members] for axis in ("x", "y", "z")},
            "region": list(rows),
        }
    )


def shared_regions(tables: Sequence[pd.DataFrame]) -> list[str]:
    """List the regions that every channel table has, sorted; channels without a region do not count.

    Raises
    ------
    InputError
        When there is no table, or no region is in all of them.

    Examples
    --------
    >>> shared_regions([pd.DataFrame({"region": ["b", "a", ""]}), pd.DataFrame({"region": ["a", "b", "c"]})])
    ['a', 'b']
    """
    if not len(tables):
        raise InputError("shared_regions: at least one channel table is needed, got none.")
    sides = [set(table["region"]) - {""} for table in tables]
    shared = set.intersection(*sides)
    if not shared:
        listed = "; ".join(f"table {place}: {_listing(side)}" for place, side in enumerate(sides, start=1))
        raise InputError(
            f"shared_regions: the {len(sides)} channel tables have no region in common ({listed}). "
            "Check that their region labels come from one atlas."
        )
    return sorted(shared)


def _listing(regions: set[str]) -> str:
    return ", ".join(sorted(regions - {""})) or "none"
