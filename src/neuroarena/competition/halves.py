"""Two halves of the sealed people: the board shows one, the final ranking counts the other."""

from __future__ import annotations

import math
import secrets
from typing import Literal

import numpy as np
import pandas as pd

Half = Literal["public", "final"]
COLUMN = "half"


def split_people(
    truth: pd.DataFrame, public_share: float, rng: np.random.Generator | None = None
) -> pd.Series:
    """Draw the half of every example; all examples of a person are in one half.

    People are lined up by the mean of their targets where these are numbers, otherwise by how many examples they have,
    and drawn at even distances along the line: both halves then hold easy and hard people alike.

    Parameters
    ----------
    truth : DataFrame
        id, unit, cluster, target; the person is the cluster, or the unit where there is none.
    public_share : float
        Share of the people in the half that boards show.
    rng : Generator, optional
        By default one that nobody can repeat.

    Returns
    -------
    Series of str
        "public" or "final", one per row.

    Raises
    ------
    ValueError
        When one half would be empty.

    Examples
    --------
    >>> truth = pd.DataFrame({"unit": list("aabbccdd"), "cluster": "", "target": [1.0, 1, 2, 2, 3, 3, 4, 4]})
    >>> halves = split_people(truth, 0.5, np.random.default_rng(0))
    >>> int(halves.groupby(truth["unit"]).nunique().max()), sorted(halves.value_counts())
    (1, [4, 4])
    """
    rng = rng or np.random.default_rng(secrets.randbits(256))
    people = name_people(truth)
    numeric = pd.api.types.is_any_real_numeric_dtype(truth["target"].dtype)
    by_person = truth["target"].groupby(people, sort=True)
    key = by_person.mean() if numeric else by_person.size()
    chance = pd.Series(rng.random(len(key)), key.index)
    line = pd.DataFrame({"key": key, "chance": chance}).sort_values(["key", "chance"]).index
    offset = float(rng.random())
    half = {
        person: "public"
        if math.floor((place + 1) * public_share + offset) > math.floor(place * public_share + offset)
        else "final"
        for place, person in enumerate(line)
    }
    if len(set(half.values())) < 2:
        raise ValueError(f"{len(line)} people cannot be split: one half would be empty")
    return people.map(half)


def name_people(truth: pd.DataFrame) -> pd.Series:
    """Return the person of every example: its cluster, or its unit where it has none."""
    cluster = truth["cluster"].astype(str)
    return cluster.where(cluster != "", truth["unit"].astype(str))
