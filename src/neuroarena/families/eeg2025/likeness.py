"""Statistics of people and trials, for comparing simulated releases with real ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from neuroarena.datasets.likeness import describe_spread
from neuroarena.families.eeg2025.hbn.facts import FACTORS


def describe_people(people: pd.DataFrame) -> dict[str, str]:
    """Describe the participants of a release: sex, age, ehq_total and the four factors."""
    said = {
        "people": str(len(people)),
        "age (years)": describe_spread(people["age"].dropna(), 1),
        "share of girls and women": f"{(people['sex'] == 'F').mean():.2f}",
        "handedness (EHQ)": describe_spread(people["ehq_total"].dropna(), 0),
    }
    factors = people[list(FACTORS)].dropna()
    for name in FACTORS:
        said[f"{name}: mean, deviation"] = f"{factors[name].mean():+.2f}, {factors[name].std():.2f}"
    between = factors.corr().to_numpy()[np.triu_indices(len(FACTORS), 1)]
    said["correlations of two factors: least, largest"] = f"{between.min():+.2f}, {between.max():+.2f}"
    return said


def describe_trials(runs: Sequence[pd.DataFrame], people: int) -> dict[str, str]:
    """Describe the trials of contrast change: one table of `trial_table` per run, of some number of people."""
    trials = pd.concat(runs, ignore_index=True)
    told = trials["correct"].dropna().astype(bool)
    gaps = np.concatenate([np.diff(run["trial_start_onset"]) for run in runs])
    response_s = trials["rt_from_stimulus"].to_numpy(dtype=np.float64)
    return {
        "contrast change: answered trials per run": describe_spread([len(run) for run in runs], 0),
        "contrast change: answered trials per person": f"{len(trials) / people:.1f} (mean)",
        "response time (s)": describe_spread(response_s),
        "response time: mean, deviation (s)": f"{response_s.mean():.2f}, {response_s.std():.2f}",
        "share of right answers among those with feedback": f"{told.mean():.2f}",
        "from one trial to the next (s)": describe_spread(gaps, 1),
        "from the start of a trial to its stimulus (s)": describe_spread(
            trials["stimulus_onset"] - trials["trial_start_onset"]
        ),
    }
