"""One's own recordings, on real files: as many events as there are, and scores not below a short standard pipeline."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mne
import numpy as np
import pandas as pd
import pytest

from neuroarena import Benchmark, evaluate, from_sklearn
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain
from neuroarena.features.bands import BandCovariances
from shared_data import SHARED

REAL = SHARED / "data" / "real"
IMAGERY = REAL / "eegmmidb_p300" / "eegmmidb" / "S001"
P300 = REAL / "eegmmidb_p300" / "eegle" / "data_examples" / "P300" / "subject_01_session_01.npz"
# Above the motor cortex; all 64 take six times as long.
CENTRAL = [
    f"{row}{place}{'.' * (3 - len(row))}" for row in ("Fc", "C", "Cp") for place in (5, 3, 1, "z", 2, 4, 6)
]
# What a score may fall below the pipeline's.
ROOM = 0.02

pytestmark = pytest.mark.skipif(not REAL.is_dir(), reason="the real data beside the project are absent")


def motor_imagery(**changes: Any) -> Benchmark:
    """Imagine opening and closing the left or the right fist: runs 4 and 8 of one person; run 6 is another task."""
    rules: dict[str, Any] = {"names": "S{subject}R{run}", "classes": {"T1": "left fist", "T2": "right fist"}}
    rules |= {"window_s": (0.5, 3.5), "split": "leave-one-run-out"}
    return Benchmark.from_events([IMAGERY / "S001R04.edf", IMAGERY / "S001R08.edf"], **{**rules, **changes})


def oddball(**changes: Any) -> Benchmark:
    """Tell letters that were looked for from the others: one person, 768 flashes."""
    with np.load(P300) as stored:
        signals, marks = stored["data"].T[:16], stored["stim"]
    events = pd.DataFrame({"sample": np.flatnonzero(marks), "value": marks[marks > 0].astype(str)})
    rules: dict[str, Any] = {
        "classes": {"1": "other", "2": "target"},
        "window_s": (0.0, 0.7),
        "metric": "auroc",
    }
    rules |= {"band_hz": (1, 16), "pad_s": 1.0, "resample_hz": 64, "split": "blocked-5-folds"}
    return Benchmark.from_events(signals, events=events, rate_hz=128.0, **{**rules, **changes})


@pytest.mark.drill
def test_motor_imagery_is_decoded_as_well_as_by_a_plain_pipeline(tmp_path: Path):
    from pyriemann.estimation import Covariances
    from pyriemann.tangentspace import TangentSpace
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    benchmark = motor_imagery(channels=CENTRAL)
    assert benchmark.examples.groupby(["run", "target"]).size().to_dict() == {
        ("04", "left fist"): 8,
        ("04", "right fist"): 7,
        ("08", "left fist"): 8,
        ("08", "right fist"): 7,
    }

    def run(name: str) -> tuple[np.ndarray, np.ndarray]:
        raw = mne.io.read_raw_edf(IMAGERY / f"S001R{name}.edf", preload=True, verbose="error").pick(CENTRAL)
        raw.filter(8, 30, method="iir", verbose="error")
        events, _ = mne.events_from_annotations(raw, {"T1": 1, "T2": 2}, verbose="error")
        epochs = mne.Epochs(
            raw, events, tmin=0.5, tmax=3.5 - 1 / 160, baseline=None, preload=True, verbose="error"
        )
        return epochs.get_data() * 1e6, epochs.events[:, 2]

    def pipeline() -> Any:
        return make_pipeline(Covariances("oas"), TangentSpace(), LogisticRegression(C=0.1))

    parts = [run("04"), run("08")]
    scores = []
    for (train, labels), (test, truth) in (parts, parts[::-1]):
        answers = pipeline().fit(train, labels).predict(test)
        scores.append(np.mean([(answers[truth == label] == label).mean() for label in (1, 2)]))
    ours = evaluate("riemann-lr", benchmark, cache=tmp_path).score
    assert ours >= np.mean(scores) - ROOM, (ours, scores)


@pytest.mark.drill
def test_p300_is_decoded_as_well_as_by_a_plain_pipeline(tmp_path: Path):
    from scipy.signal import butter, sosfiltfilt
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
    from sklearn.metrics import roc_auc_score

    benchmark = oddball()
    split, table = benchmark.split("blocked-5-folds"), benchmark.examples.set_index("id")
    with np.load(P300) as stored:
        filtered = sosfiltfilt(
            butter(4, (1, 16), "bandpass", fs=128, output="sos"), stored["data"].T[:16], axis=1
        )
    starts = table["start"] + 128
    windows = {key: filtered[:, start : start + 90 : 2].ravel() for key, start in starts.items()}
    answers: dict[str, float] = {}
    for fold in split.folds:
        model = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
        model.fit(np.stack([windows[key] for key in fold.train]), table.loc[list(fold.train), "target"])
        judged = model.decision_function(np.stack([windows[key] for key in fold.test]))
        answers |= dict(zip(fold.test, judged, strict=True))
    folds = [
        roc_auc_score(table.loc[list(fold.test), "target"] == "target", [answers[key] for key in fold.test])
        for fold in split.folds
    ]
    lda = from_sklearn(LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"))
    ours = evaluate(lda, benchmark, cache=tmp_path).score
    assert ours >= np.mean(folds) - ROOM, (ours, folds)


def test_recordings_in_every_format_become_examples():
    eeglab = Benchmark.from_events(
        REAL / "eeglab_sample" / "eeglab_data.set",
        classes=("square", "rt"),
        window_s=(-0.2, 0.5),
        split="blocked-5-folds",
    )
    assert eeglab.examples["target"].value_counts().to_dict() == {"square": 80, "rt": 74}
    # Two of its 32 channels are of the eyes, but the file calls all of them EEG.
    assert len(eeglab.recording("eeglab_data").channels) == 32
    # A BIDS folder with a GDF of one second beside a header without samples, and events of four minutes.
    with pytest.raises(InputError, match=r"no window lies inside .* samples 54488 to 55404 of sub-01_ses-01"):
        Benchmark.from_events(
            REAL / "ieeg" / "ieeg_visual",
            subjects=["01"],
            target="trial_type",
            window_s=(0, 0.3),
            split="blocked-2-folds",
        )
    ecog = Benchmark.from_events(
        REAL / "ieeg" / "mne-misc" / "ecog" / "sample_ecog_ieeg.fif",
        events=pd.DataFrame({"onset_s": np.arange(0.05, 0.5, 0.02), "value": list("ab" * 12)[:23]}),
        window_s=(0, 0.02),
        split="blocked-2-folds",
    )
    assert set(ecog.recording("sample_ecog_ieeg").channels["kind"]) == {"ecog", "seeg"}


def test_features_of_a_benchmark_and_of_a_decoder_are_chained(tmp_path: Path):
    benchmark = motor_imagery(channels=["C3..", "C4..", "Cz.."], resample_hz=80)
    assert benchmark.recording("S001R04").channels["name"].tolist() == ["C3..", "C4..", "Cz.."]
    from neuroarena.decoders.covariances import CspLda

    decoder = CspLda(features=FeatureChain((BandCovariances(((8.0, 30.0),)),)))
    assert 0.3 < evaluate(decoder, benchmark, cache=tmp_path).score <= 1


def flicker(split: str) -> Benchmark:
    """Look at a light that flickers at 13, 17 or 21 Hz: twelve people; the recording that two of them share once."""
    stacks, tables = [], []
    for number in range(1, 13):
        with np.load(REAL / "ssvep_exo" / f"subject{number:02d}.npz") as stored:
            shared = (stored["recording"] == "2012.07.11-15.33.08") & (number == 7)
            kept = (stored["y"] > 0) & ~shared
            stacks.append(stored["X"][kept])
            names, session = stored["ch_names"].tolist(), stored["session"][kept].astype(str)
            tables.append(
                pd.DataFrame({"hz": stored["y"][kept], "subject": f"{number:02d}", "session": session})
            )
    return Benchmark.from_epochs(
        np.concatenate(stacks),
        metadata=pd.concat(tables, ignore_index=True),
        rate_hz=256.0,
        channel_names=names,
        target="hz",
        classes={"1": "13", "2": "21", "3": "17"},
        split=split,
    )


def correlate(windows: np.ndarray, hz: float) -> np.ndarray:
    """Return the largest canonical correlation of each window (n, channels, time) with a flicker and its harmonics."""
    time = np.arange(windows.shape[2]) / 256.0
    waves = [wave(2 * np.pi * hz * k * time) for k in (1, 2) for wave in (np.sin, np.cos)]
    basis = np.linalg.qr(np.stack(waves, axis=1))[0]
    found = []
    for window in windows:
        own = np.linalg.qr((window - window.mean(axis=1, keepdims=True)).T)[0]
        found.append(np.linalg.svd(own.T @ basis, compute_uv=False)[0])
    return np.array(found)


@pytest.mark.drill
@pytest.mark.parametrize("split", ["leave-one-subject-out", "leave-one-session-out"])
def test_flicker_is_decoded_as_well_as_by_a_plain_pipeline(split: str, tmp_path: Path):
    from scipy.signal import butter, sosfiltfilt
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    benchmark = flicker(split)
    table = benchmark.examples.set_index("id")
    sections = butter(4, (6, 60), "bandpass", fs=256, output="sos")
    features = {}
    for key, own in table.groupby("recording"):
        windows = benchmark.recording(str(key)).windows(own["start"].to_numpy(), 1280)
        filtered = sosfiltfilt(sections, windows, axis=2)
        rows = np.stack([correlate(filtered, hz) for hz in (13.0, 17.0, 21.0)], axis=1)
        features |= dict(zip(own.index, rows, strict=True))
    truth, answers = table["target"], {}
    for fold in benchmark.split(split).folds:
        model = LinearDiscriminantAnalysis().fit(
            [features[key] for key in fold.train], truth[list(fold.train)]
        )
        answers |= dict(zip(fold.test, model.predict([features[key] for key in fold.test]), strict=True))
    judged = truth.loc[list(answers)]
    right = pd.Series(answers) == judged
    plain = right.groupby([table.loc[right.index, "subject"], judged]).mean().groupby(level=0).mean().mean()
    assert plain > 0.8
    ours = max(evaluate(name, benchmark, cache=tmp_path).score for name in ("cca", "filterbank-lda"))
    assert ours >= plain - ROOM, (ours, plain)
