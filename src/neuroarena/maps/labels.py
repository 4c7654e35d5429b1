"""From targets to tasks with two sides: two classes, one class against the rest, or the outer quarters of numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd


def label_tasks(
    items: pd.DataFrame, classes: Sequence[str], name: str
) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """Label items with 0 and 1, for one task or for several that share the items.

    Parameters
    ----------
    items : DataFrame
        With a column ``target``.
    classes : sequence of str
        In their order; empty where targets are numbers.
    name : str
        Of the task. With more than two classes each is a task, ``name: class``, against the rest.

    Returns
    -------
    items : DataFrame
        Those that take part: of numbers the lowest and the highest quarter.
    labels : dict of task to array (items,)
        1 for the second of two classes, for the class itself against the rest, and for high numbers.

    Examples
    --------
    >>> table = pd.DataFrame({"target": [3.0, 1.0, 2.0, 4.0, 2.5]})
    >>> kept, labels = label_tasks(table, (), "volume")
    >>> kept["target"].tolist(), labels["volume"].tolist()
    ([3.0, 1.0, 2.0, 4.0], [1, 0, 0, 1])
    """
    target = items["target"]
    if not classes:
        values = target.astype(float)
        low, high = np.quantile(values, [0.25, 0.75])
        kept = (values <= low) | (values >= high)
        # Where more than a quarter of the numbers are equal, one that is both low and high is neither.
        kept &= low < high
        return items[kept], {name: (values[kept] >= high).to_numpy(dtype=np.int64)}
    words = target.astype(str)
    present = [each for each in classes if (words == each).any()]
    if len(classes) == 2 or len(present) == 2:
        chosen = list(classes) if len(classes) == 2 else present
        return items, {name: (words == chosen[1]).to_numpy(dtype=np.int64)}
    return items, {f"{name}: {each}": (words == each).to_numpy(dtype=np.int64) for each in present}
