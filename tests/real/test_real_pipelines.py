"""The pipelines that the field expects, on real EEG: not below a short standard pipeline of its own libraries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from test_real_own_recordings import CENTRAL, REAL, ROOM, motor_imagery, oddball

from neuroarena import evaluate, load_benchmark

pytestmark = [
    pytest.mark.skipif(not REAL.is_dir(), reason="the real data beside the project are absent"),
    pytest.mark.drill,
]


def plain_correlations(window: np.ndarray) -> list[float]:
    """Correlate a window (channel, time) of the exoskeleton study with its flickers, by scikit-learn."""
    from scipy.signal import butter, sosfiltfilt
    from sklearn.cross_decomposition import CCA

    time, found = np.arange(window.shape[1]) / 256, []
    for low in (6, 14, 22):
        seen = sosfiltfilt(butter(3, (low, 60), "bandpass", fs=256, output="sos"), window, axis=1).T
        for frequency in (13, 17, 21):
            waves = [f(2 * np.pi * k * frequency * time) for k in (1, 2) for f in (np.sin, np.cos)]
            one, other = CCA(1, max_iter=200).fit_transform(seen, np.stack(waves, axis=1))
            found.append(float(np.corrcoef(one[:, 0], other[:, 0])[0, 1]))
    return found


@pytest.mark.parametrize(("split", "least"), [("leave-one-subject-out", 0.88), ("cross-session", 0.91)])
def test_flicker_is_told_apart_as_well_as_by_a_plain_pipeline(split: str, least: float, tmp_path: Path):
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    benchmark = load_benchmark("bci/ssvep-exo", data=REAL / "ssvep_exo")
    ours = evaluate("fbcca", benchmark, split, cache=tmp_path).score
    assert ours >= least
    table = benchmark.examples.set_index("id")
    rows = {}
    for key, group in table.groupby("recording"):
        length = int(group["stop"].iloc[0] - group["start"].iloc[0])
        windows = benchmark.recording(key).windows(group["start"].to_numpy(), length)
        rows |= dict(zip(group.index, map(plain_correlations, windows), strict=True))
    right = {}
    for fold in benchmark.split(split).folds:
        model = LinearDiscriminantAnalysis()
        model.fit([rows[key] for key in fold.train], table.loc[list(fold.train), "target"])
        said = model.predict([rows[key] for key in fold.test])
        right |= dict(zip(fold.test, said == table.loc[list(fold.test), "target"], strict=True))
    judged = table.loc[list(right)].assign(right=list(right.values()))
    plain = judged.groupby(["unit", "target"])["right"].mean().groupby("unit").mean().mean()
    assert ours >= plain - ROOM, (ours, plain)


def test_imagery_is_decoded_as_well_as_by_a_plain_filter_bank(tmp_path: Path):
    from mne.decoding import CSP
    from scipy.signal import butter, sosfiltfilt
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.feature_selection import SelectKBest, mutual_info_classif
    from sklearn.pipeline import make_pipeline

    benchmark = motor_imagery(channels=CENTRAL)
    table = benchmark.examples.set_index("id")
    windows = {}
    for key, group in table.groupby("recording"):
        length = int(group["stop"].iloc[0] - group["start"].iloc[0])
        found = benchmark.recording(key).windows(group["start"].to_numpy(), length).astype(float)
        windows |= dict(zip(group.index, found, strict=True))
    scores = []
    for fold in benchmark.split("leave-one-run-out").folds:
        targets = [table.loc[list(keys), "target"].to_numpy() for keys in (fold.train, fold.test)]
        columns: list[list[np.ndarray]] = [[], []]
        for low in range(4, 40, 4):
            passed = butter(4, (low, low + 4), "bandpass", fs=160, output="sos")
            parts = [
                sosfiltfilt(passed, np.stack([windows[key] for key in keys]))
                for keys in (fold.train, fold.test)
            ]
            csp = CSP(4, reg="oas").fit(parts[0], targets[0])
            for side, part in zip(columns, parts, strict=True):
                side.append(csp.transform(part))
        rows = [np.concatenate(side, axis=1) for side in columns]
        plain = make_pipeline(
            SelectKBest(lambda X, y: mutual_info_classif(X, y, random_state=0), k=8),
            LinearDiscriminantAnalysis(),
        )
        said = plain.fit(rows[0], targets[0]).predict(rows[1])
        scores.append(np.mean([(said[targets[1] == each] == each).mean() for each in np.unique(targets[1])]))
    ours = evaluate("fbcsp", benchmark, cache=tmp_path).score
    assert ours >= np.mean(scores) - ROOM, (ours, scores)


@pytest.mark.parametrize("name", ["xdawn-tangent", "erp-mdm"])
def test_p300_is_decoded_as_well_as_by_the_same_steps_alone(name: str, tmp_path: Path):
    from pyriemann.classification import MDM
    from pyriemann.estimation import ERPCovariances, XdawnCovariances
    from pyriemann.tangentspace import TangentSpace
    from scipy.signal import butter, sosfiltfilt
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import roc_auc_score
    from sklearn.pipeline import make_pipeline
    from test_real_own_recordings import P300

    benchmark = oddball()
    with np.load(P300) as stored:
        filtered = sosfiltfilt(
            butter(4, (1, 16), "bandpass", fs=128, output="sos"), stored["data"].T[:16], axis=1
        )
    table = benchmark.examples.set_index("id")
    starts = table["start"] + 128
    windows = {key: filtered[:, start : start + 90 : 2] for key, start in starts.items()}
    scores = []
    for fold in benchmark.split("blocked-5-folds").folds:
        plain = {
            "xdawn-tangent": make_pipeline(
                XdawnCovariances(4), TangentSpace(), LogisticRegression(max_iter=1000)
            ),
            "erp-mdm": make_pipeline(ERPCovariances(estimator="oas"), MDM()),
        }[name]
        plain.fit(np.stack([windows[key] for key in fold.train]), table.loc[list(fold.train), "target"])
        said = plain.predict_proba(np.stack([windows[key] for key in fold.test]))[:, 1]
        scores.append(roc_auc_score(table.loc[list(fold.test), "target"] == plain.classes_[1], said))
    ours = evaluate(name, benchmark, cache=tmp_path).score
    assert ours >= np.mean(scores) - ROOM, (ours, scores)
