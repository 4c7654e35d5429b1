"""What a test set can resolve, and how many units would resolve more: what ``neuroarena size`` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics import Draws, half_width, meets_resolution, required_units


@dataclass(frozen=True)
class Resolution:
    """How finely a test set of some size resolves scores.

    Attributes
    ----------
    sigma : float or None
        Deviation of a unit score. From draws: the bootstrap standard error times sqrt(n_units), the
        median over the teams, so that clusters and combiners are accounted for; more units then means
        more of the same kind, clusters growing in proportion.
    n_units : int or None
        Units now.
    half_width : float or None
        Of the 95 % interval of one score, with the units there are now.
    nu : float or None
        The half width aimed at.
    meets : bool or None
        Whether the half width is at most nu.
    required_units : int or None
        Units needed for nu.
    smallest_difference : float or None
        Half width of the interval of a difference between two teams: below it, two teams are not told
        apart. From draws it is the median over pairs, paired; without them sqrt(2) times the half width,
        which pairing makes smaller.
    paired : bool
        Whether `smallest_difference` was measured on paired draws.
    """

    sigma: float | None
    n_units: int | None
    half_width: float | None
    nu: float | None
    meets: bool | None
    required_units: int | None
    smallest_difference: float | None
    paired: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return asdict(self)


def size(sigma: float | None, nu: float | None, n_units: int | None = None) -> Resolution:
    """Compute what `n_units` resolve and how many units `nu` needs, from a known deviation.

    Parameters
    ----------
    sigma
        Standard deviation of a unit score, in units of the score; None or 0 when it is unknown.
    nu
        The half width aimed at; None when none is stated.
    n_units
        Units now; None when there are none yet.

    Raises
    ------
    InputError
        When a number is not positive and finite.

    Examples
    --------
    >>> size(0.2, 0.0196, 100).required_units
    400
    """
    if nu is not None and not (math.isfinite(nu) and nu > 0):
        raise InputError(f"nu must be a positive finite number; got {nu}.")
    if not sigma:
        return Resolution(None, n_units, None, nu, None, None, None)
    width = None if n_units is None else half_width(sigma, n_units)
    return Resolution(
        sigma=sigma,
        n_units=n_units,
        half_width=width,
        nu=nu,
        meets=None if nu is None or n_units is None else meets_resolution(sigma, n_units, nu),
        required_units=None if nu is None else required_units(sigma, nu),
        smallest_difference=None if width is None else math.sqrt(2) * width,
    )


def resolution(
    draws: Draws, nu: float | None, pairs: pd.DataFrame | None = None, teams: Sequence[str] | None = None
) -> Resolution:
    """Measure the resolution of a test set from paired draws.

    Parameters
    ----------
    draws
        Of the teams on it.
    nu
        The half width aimed at.
    pairs
        A table of `compare`, from which the smallest difference is taken.
    teams
        Whose deviation counts; by default all. A guessing floor varies less, or more, than decoders do.
    """
    if draws.n_units < 2:
        return Resolution(None, draws.n_units, None, nu, None, None, None)
    errors = draws.sigma()
    chosen = errors if not teams else errors[[team for team in draws.teams if team in set(teams)]]
    sigma = float(np.median(chosen.to_numpy())) * math.sqrt(draws.n_units)
    found = size(sigma, nu, draws.n_units)
    if pairs is None or pairs.empty or found.half_width is None:
        return found
    paired = float(np.median((pairs["ci95_high"] - pairs["ci95_low"]).to_numpy())) / 2
    return Resolution(**{**found.to_dict(), "smallest_difference": paired, "paired": True})


def size_text(found: Resolution, metric: str = "") -> list[str]:
    """Describe a resolution in sentences.

    Examples
    --------
    >>> size_text(size(0.2, 0.0196, 100))[0]
    'Deviation of a unit score: 0.2.'
    """
    of = f" of {metric}" if metric else ""
    if found.sigma is None:
        return ["The deviation of a unit score cannot be estimated from fewer than two units that differ."]
    lines = [f"Deviation of a unit score{of}: {found.sigma:.4g}."]
    if found.n_units is not None and found.half_width is not None:
        lines.append(
            f"With the {found.n_units} units there are now, a score is known to "
            f"± {found.half_width:.4g} (95 %)."
        )
    if found.smallest_difference is not None:
        how = "measured on paired draws" if found.paired else "without pairing; pairing makes it smaller"
        lines.append(
            f"Two teams closer than about {found.smallest_difference:.4g} are not told apart ({how})."
        )
    if found.nu is not None:
        verdict = {True: " They are there.", False: " There are fewer.", None: ""}[found.meets]
        lines.append(f"A half width of {found.nu:.4g} needs {found.required_units} units.{verdict}")
    return lines
