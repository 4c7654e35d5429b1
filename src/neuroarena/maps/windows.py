"""Time bins of a map."""

from __future__ import annotations

import numpy as np
import pandas as pd


def window_bins(first_s: float, last_s: float, window_s: float, stride_s: float) -> pd.DataFrame:
    """Lay windows side by side from the first start to the last end: start, centre and end of each, in seconds.

    Examples
    --------
    >>> bins = window_bins(-0.5, 1.375, 0.25, 0.125)
    >>> len(bins), bins["start_s"].tolist()[-1], bins["centre_s"].tolist()[0]
    (14, 1.125, -0.375)
    """
    count = int(np.floor((last_s - first_s - window_s) / stride_s + 1e-9)) + 1
    start = first_s + stride_s * np.arange(max(count, 0))
    return pd.DataFrame({"start_s": start, "centre_s": start + window_s / 2, "end_s": start + window_s})
