"""The channel table: what is known about each channel of a recording."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from neuroarena.errors import InputError

COLUMNS = ("name", "kind", "x", "y", "z", "region")


def channel_table(
    names: Sequence[str],
    kind: str | Sequence[str] = "ieeg",
    xyz: np.ndarray | Sequence[Sequence[float]] | None = None,
    region: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Build a channel table.

    Parameters
    ----------
    names : sequence of str
        One unique name per channel, in the order of the signals.
    kind : str or sequence of str
        "ieeg", "eeg", "emg", "eog", "misc", ...: one for all, or one per channel.
    xyz : array (channels, 3), optional
        Positions, in the unit and frame of the dataset; NaN where unknown. All NaN when left out.
    region : sequence of str, optional
        Brain region of each channel, "" where unknown. All "" when left out.

    Returns
    -------
    DataFrame
        Columns name, kind, x, y, z, region; one row per channel.

    Raises
    ------
    InputError
        When a length does not fit, a name is empty or given twice, or a position is infinite.

    Examples
    --------
    >>> channel_table(["T1", "T2"], region=["insula", ""])[["name", "kind", "region"]].values.tolist()
    [['T1', 'ieeg', 'insula'], ['T2', 'ieeg', '']]
    """
    if isinstance(names, str):
        raise InputError(f'Channel names must be a list of names, got the single text "{names}".')
    names = list(names)
    kinds = [kind] * len(names) if isinstance(kind, str) else list(kind)
    regions = [""] * len(names) if region is None else list(region)
    for label, values in (("kinds", kinds), ("regions", regions)):
        if len(values) != len(names):
            raise InputError(f"{len(names)} channel names but {len(values)} {label}. Pass one per channel.")
    table = pd.DataFrame({"name": names, "kind": kinds})
    table[["x", "y", "z"]] = _positions(xyz, len(names))
    table["region"] = regions
    check_channel_table(table)
    return table


def _positions(xyz: np.ndarray | Sequence[Sequence[float]] | None, n_channels: int) -> np.ndarray:
    if xyz is None:
        return np.full((n_channels, 3), np.nan)
    try:
        positions = np.asarray(xyz, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"Channel positions must be numbers, NaN where unknown: {error}.") from error
    if positions.shape != (n_channels, 3):
        raise InputError(
            f"Channel positions must have the shape ({n_channels}, 3), one x, y, z per channel; "
            f"got {positions.shape}."
        )
    return positions


def check_channel_table(table: pd.DataFrame, name: str = "channel table") -> None:
    """Check that `table` is a channel table, and name the first problem when it is not.

    Parameters
    ----------
    table : DataFrame
        Expected: columns name, kind, x, y, z, region in this order and a plain 0, 1, ... index.
    name : str
        What the error calls the table, such as the file it belongs to.

    Raises
    ------
    InputError
        At the first thing that is wrong, naming the row.

    Examples
    --------
    >>> check_channel_table(channel_table(["Fz", "Cz"], kind="eeg"))
    """
    if not isinstance(table, pd.DataFrame):
        raise InputError(
            f"{name}: expected a pandas DataFrame of channels, got {type(table).__name__}. "
            "Build it with neuroarena.recordings.channel_table."
        )
    if tuple(table.columns) != COLUMNS:
        raise InputError(
            f"{name}: expected exactly the columns {', '.join(COLUMNS)}; "
            f"got {', '.join(map(str, table.columns)) or 'none'}."
        )
    if not table.index.equals(pd.RangeIndex(len(table))):
        raise InputError(f"{name}: expected the index 0, 1, ...; call reset_index(drop=True) on the table.")
    for column in ("name", "kind", "region"):
        _check_text(table[column], name, may_be_empty=column == "region")
    for column in ("x", "y", "z"):
        _check_coordinate(table[column], name)
    _check_unique(table["name"], name)


def _check_text(column: pd.Series, table_name: str, *, may_be_empty: bool) -> None:
    for row, value in enumerate(column):
        if not isinstance(value, str) or not (value or may_be_empty):
            expected = "text" if may_be_empty else "text that is not empty"
            raise InputError(f"{table_name}: row {row}: {column.name} must be {expected}, got {value!r}.")


def _check_coordinate(column: pd.Series, table_name: str) -> None:
    if column.dtype != np.float64:
        raise InputError(f"{table_name}: column {column.name} must be float64, got {column.dtype}.")
    infinite = np.flatnonzero(np.isinf(column.to_numpy()))
    if infinite.size:
        raise InputError(
            f"{table_name}: row {infinite[0]}: {column.name} is infinite. Use NaN for an unknown position."
        )


def _check_unique(names: pd.Series, table_name: str) -> None:
    again = np.flatnonzero(names.duplicated().to_numpy())
    if again.size:
        repeated = names.iloc[again[0]]
        first = int(np.flatnonzero((names == repeated).to_numpy())[0])
        raise InputError(
            f'{table_name}: the channel name "{repeated}" is in row {first} and again in row {again[0]}. '
            "Names must be unique."
        )
