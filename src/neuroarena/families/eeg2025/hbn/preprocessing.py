"""Turn raw releases of HBN-EEG into the copies of the challenge: filtered, at 100 Hz, as BDF."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena import atomic
from neuroarena.datasets.card import CARD
from neuroarena.datasets.twin_folder import Progress
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn.bdf_writer import write_bdf
from neuroarena.families.eeg2025.hbn.facts import CHANNELS, RATE_HZ
from neuroarena.families.eeg2025.hbn.reader import HBN
from neuroarena.recordings import Recording
from neuroarena.recordings.bids import sidecar
from neuroarena.recordings.tsv import MISSING, read_tsv

BAND_HZ = (0.5, 50.0)
# Width of the transitions in Hz: as wide as the lower edge allows.
TRANSITION_HZ = 0.5
# Before resampling: from 0.8 to 1.0 of the new Nyquist frequency, with an attenuation of about 50 dB.
RESAMPLE_EDGES, RESAMPLE_BETA = (0.8, 1.0), 5.0
RECORD = "preprocessing.json"
# Channels are filtered in groups of this many, so that memory scales with a group and not with the recording.
_GROUP = 8


def preprocess(
    raw_root: str | Path, out_root: str | Path, progress: Progress | None = None
) -> dict[str, Any]:
    """Filter and resample every recording of raw releases, and write the challenge's layout.

    The band-pass is a zero-phase FIR filter of 0.5 to 50 Hz (windowed sinc, Hamming, transitions of 0.5 Hz, 3,301
    taps at 500 Hz) at the recorded rate, then the signal is resampled to 100 Hz. Events outside the recording are
    dropped, and the column `sample` is removed. EEGLAB's own filters were used for the published copies: the
    designs agree, the last digits do not.

    Every file is written whole or not at all, the signal of a recording last: run the same call again after an
    interruption, and it continues with the recordings that are missing.

    Parameters
    ----------
    raw_root : path
        Folder of raw releases (``R1``, ``ds005505``, ...).
    out_root : path
        Where ``R1_L100_bdf`` and so on are written; not the same as `raw_root`.
    progress : callable, optional
        Called with the recordings done, their total number, and the recording's key.

    Returns
    -------
    dict
        ``written`` and ``kept`` (numbers of recordings), ``dropped_events``, and the ``settings``.

    Raises
    ------
    InputError
        When a recording is broken, has a rate that is not a multiple of 100 Hz, or when the folder was
        written with other settings.
    """
    raw, out = HBN(raw_root), Path(out_root)
    if out.resolve() == Path(raw_root).resolve():
        raise InputError(f"{out}: is the folder of the raw releases. Choose another one to write to.")
    settings = {
        "band_hz": list(BAND_HZ),
        "transition_hz": TRANSITION_HZ,
        "rate_hz": RATE_HZ,
        "schema_version": 1,
    }
    _check_settings(out, settings)
    for release, folder in raw.folders.items():
        _copy_root(folder, out / f"{release}_L100_bdf")
    if raw.card is not None:
        # What was planted also holds for the copy; the list of files does not.
        atomic.write_json(out / CARD, {key: value for key, value in raw.card.items() if key != "files"})
    done = {"written": 0, "kept": 0, "dropped_events": 0}
    rows = raw.recordings
    for number, (key, release, path) in enumerate(
        zip(rows["key"], rows["release"], rows["path"], strict=True), start=1
    ):
        place = out / f"{release}_L100_bdf" / Path(path).relative_to(raw.folders[release]).parent
        signal = place / f"{Path(path).stem}.bdf"
        if signal.is_file():
            done["kept"] += 1
        else:
            done["dropped_events"] += _copy_recording(raw.recording(key), Path(path), signal)
            done["written"] += 1
        if progress is not None:
            progress(number, len(rows), key)
    return {**done, "settings": settings}


def _check_settings(out: Path, settings: dict[str, Any]) -> None:
    record = out / RECORD
    if record.is_file():
        before = json.loads(record.read_text(encoding="utf-8"))
        if before != settings:
            raise InputError(f"{record}: was written with other settings, {before}. Choose a new folder.")
    elif out.is_dir() and any(out.iterdir()):
        raise InputError(
            f"{out}: is not empty and has no {RECORD}. Choose a new folder. Nothing was written."
        )
    atomic.write_json(record, settings)


def _copy_root(folder: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for file in sorted(folder.iterdir()):
        if file.is_file():
            with atomic.replacing(out / file.name) as temporary:
                shutil.copyfile(file, temporary)


def _copy_recording(recording: Recording, path: Path, signal: Path) -> int:
    """Write one recording and what describes it; return the number of events dropped."""
    stem = path.stem.removesuffix("_eeg")
    signal.parent.mkdir(parents=True, exist_ok=True)
    dropped = _copy_events(path, signal.with_name(f"{stem}_events.tsv"), recording.duration_s)
    channels = ["name\ttype\tunits", *(f"{name}\tEEG\tuV" for name in CHANNELS)]
    atomic.write_text(signal.with_name(f"{stem}_channels.tsv"), "\n".join(channels) + "\n")
    beside = path.with_name(f"{stem}_eeg.json")
    about = json.loads(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    atomic.write_json(signal.with_name(f"{stem}_eeg.json"), {**about, "SamplingFrequency": RATE_HZ})
    # The signal is written last: where it exists, the recording is complete.
    with atomic.replacing(signal) as temporary:
        write_bdf(temporary, CHANNELS, filtered(recording), RATE_HZ)
    return dropped


def _copy_events(path: Path, out: Path, duration_s: float) -> int:
    source = sidecar(path, "events.tsv")
    table = read_tsv(source, required=("onset",))
    onsets = table["onset"].astype(float)
    inside = (onsets >= 0) & (onsets < duration_s)
    kept = table[inside].drop(columns=["sample"], errors="ignore").fillna(MISSING)
    lines = ["\t".join(kept.columns), *("\t".join(map(str, row)) for row in kept.itertuples(index=False))]
    atomic.write_text(out, "\n".join(lines) + "\n")
    return int((~inside).sum())


def filtered(recording: Recording) -> np.ndarray:
    """Band-pass a recording and resample it to 100 Hz: float32 (channels, samples).

    Raises
    ------
    InputError
        When its rate is not a higher whole multiple of 100 Hz.
    """
    from scipy.signal import firwin, kaiserord, oaconvolve, resample_poly

    factor = round(recording.rate_hz / RATE_HZ)
    if factor < 2 or factor * RATE_HZ != recording.rate_hz:
        raise InputError(
            f"{recording.name}: has {recording.rate_hz:g} Hz; expected a raw recording at a whole multiple of "
            f"{RATE_HZ} Hz."
        )
    rate = recording.rate_hz
    # A Hamming window of this many samples has transitions of the width asked for (3.3 / width).
    half = int(np.ceil(3.3 / (TRANSITION_HZ / rate) / 2))
    edges = [BAND_HZ[0] - TRANSITION_HZ / 2, BAND_HZ[1] + TRANSITION_HZ / 2]
    band = firwin(2 * half + 1, edges, pass_zero=False, window="hamming", fs=rate)
    low, high = (edge * RATE_HZ / 2 for edge in RESAMPLE_EDGES)
    taps, _ = kaiserord(50.0, (high - low) / (rate / 2))
    slow = firwin(taps | 1, (low + high) / 2, window=("kaiser", RESAMPLE_BETA), fs=rate)
    out = np.empty((len(recording.channels), -(-recording.n_samples // factor)), dtype=np.float32)
    names = recording.channels["name"].tolist()
    for first in range(0, len(names), _GROUP):
        group = names[first : first + _GROUP]
        samples = recording.read(0, recording.n_samples, group).astype(np.float64)
        # The first and last samples are repeated, so that the edges do not ring from a step to zero.
        padded = np.pad(samples, ((0, 0), (half, half)), mode="edge")
        passed = oaconvolve(padded, band[None, :], mode="valid", axes=1)
        out[first : first + len(group)] = resample_poly(
            passed, 1, factor, axis=1, window=slow, padtype="edge"
        )
    return out
