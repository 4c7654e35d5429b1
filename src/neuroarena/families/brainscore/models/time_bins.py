"""Convert a model's responses to the time bins of an experiment."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from neuroarena.families.brainscore.assemblies import TimeBins
from neuroarena.families.brainscore.errors import ConfigError


def check_bins(time_bins: Any) -> TimeBins:
    """Return time bins as a list of (start, end) in ms; None means no bins.

    Raises
    ------
    ConfigError
        When a bin is not a pair, or ends before it starts.

    Examples
    --------
    >>> check_bins([[70, 170]])
    [(70, 170)]
    """
    bins = []
    for each in time_bins if time_bins is not None else []:
        # A numpy object array may hold the tuple, as recordings of the public packages give it.
        pair = each.item() if isinstance(each, np.ndarray) and each.ndim == 0 else each
        try:
            start, end = pair
        except (TypeError, ValueError):
            raise ConfigError(f"The time bin {each!r} is not a pair (start, end) in ms.") from None
        if not start < end:
            raise ConfigError(f"The time bin ({start}, {end}) does not end after it starts.")
        bins.append((start, end))
    return bins


def average_into_bins(
    values: npt.NDArray[np.floating], own: TimeBins | None, wanted: TimeBins
) -> npt.NDArray[np.floating]:
    """Return responses in the wanted time bins.

    Parameters
    ----------
    values : ndarray, (n, units) or (n, units, own bins)
    own : list of (start, end), optional
        The bins of `values`; without them the response is the same at all times.
    wanted : list of (start, end)

    Returns
    -------
    ndarray, shape (n, units, wanted bins)
        A response without time is repeated. One with time is averaged into each wanted bin, weighted by the share
        of each own bin that lies in it.

    Raises
    ------
    ConfigError
        When the model's bins do not cover a wanted one.

    Examples
    --------
    >>> average_into_bins(np.array([[[1.0, 3.0]]]), [(0, 10), (10, 20)], [(0, 20), (10, 20)]).tolist()
    [[[2.0, 3.0]]]
    """
    if own is None:
        shape = (*values.shape, len(wanted))
        return np.broadcast_to(values[..., None], shape)
    overlaps = np.array([[max(0.0, min(e, b) - max(s, a)) for s, e in own] for a, b in wanted])
    lengths = np.array([end - start for start, end in own], dtype=np.float64)
    uncovered = [
        f"{a}-{b}" for (a, b), row in zip(wanted, overlaps, strict=True) if row.sum() < (b - a) * (1 - 1e-9)
    ]
    if uncovered:
        raise ConfigError(
            f"The model responds from {min(own)[0]} to {max(e for _, e in own)} ms and does not cover the time bins "
            f"{', '.join(uncovered)} ms."
        )
    weights = overlaps / lengths
    weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(values @ weights.T.astype(values.dtype))
