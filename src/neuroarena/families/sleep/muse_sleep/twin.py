"""Write a simulated Muse sleep-onset set: BIDS, BrainVision, with sleep of a known strength in it."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.twin_folder import PLANTED, Limits, Progress, check_options, write_twin
from neuroarena.errors import MissingDependency
from neuroarena.families.sleep.sleep_edf import twin_sleep as sleep
from neuroarena.families.sleep.sleep_edf.twin_signal import make_eeg

GENERATOR = "neuroarena muse_sleep twin"
GENERATOR_VERSION = 2
RATE_HZ = 128
ELECTRODES = ("TP9", "AF7", "AF8", "TP10")
# No recording of this set was at hand to fit: the forehead sounds like Fpz-Cz of Sleep-EDF, the ears like Pz-Oz.
SITES = (1, 0, 0, 1)
# Metres, CapTrak; the same for everyone.
PLACES = {
    "TP9": (-0.0732, -0.0250, -0.0400),
    "AF7": (-0.0549, 0.0686, 0.0100),
    "AF8": (0.0549, 0.0686, 0.0100),
    "TP10": (0.0732, -0.0250, -0.0400),
}
# Every recording of the real set ends this long after N2.
TAIL_S, LENGTH_LEAK_TAIL_S = 300, 90
# Seconds of the task that the recordings are made for: from the start of a stream to N2, and its length.
LEAST_S, MOST_S, STREAM_S = 120, 330, 420
LIMITS: Limits = {
    "people": (int, 1, 203),
    "recordings": (int, 1, 5),
    "longest": (int, 11, 35),
    **PLANTED,
}


def simulate(
    root: str | Path,
    *,
    people: int = 10,
    recordings: int = 2,
    longest: int = 20,
    seed: int = 0,
    strength: float = 1.0,
    plant_leak: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a simulated Muse sleep-onset set into the folder `root`.

    As in the real set every recording ends exactly 300 s after N2. The folder appears whole or not at all.
    A twin written with the same options is left as it is.

    Parameters
    ----------
    root : path
        The folder; missing, empty, or an earlier twin (which is replaced when its options differ).
    people, recordings : int
        Number of people, 1 to 203, and of recordings of each, 1 to 5.
    longest : int
        Minutes of the longest recording, 11 to 35.
    seed : int
        Seed of all randomness; the same seed yields the same numbers.
    strength : float
        How strongly the spectrum follows the stages; 1 is as in real nights, 0 leaves pure chance.
    plant_leak : {"channel", "length", "order"}, optional
        Plant an answer where none should be: an electrode that counts down to N2; recordings that end
        90 s after N2, too soon for any stream to be cut to the common length; recordings sorted by when N2 comes.
    progress : callable, optional
        Called with the recordings written, their total number, and the file's name.

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    MissingDependency
        When pybv is not installed.
    """
    options: dict[str, Any] = {"people": people, "recordings": recordings, "longest": longest, "seed": seed}
    options |= {"strength": strength, "plant_leak": plant_leak}
    checked = check_options("muse_sleep", options, LIMITS)
    return write_twin(
        root, GENERATOR, GENERATOR_VERSION, checked, functools.partial(_write, progress=progress)
    )


def _write(root: Path, options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    n = options["recordings"]
    wanted = [
        (f"{person + 1:03d}", f"{session + 1:03d}")
        for person in range(options["people"])
        for session in range(n)
    ]
    listed: list[dict[str, Any]] = []
    for number, (subject, session) in enumerate(wanted):
        rng = np.random.default_rng([options["seed"], int(subject), int(session)])
        onset = _onset(number, len(wanted), options, rng)
        listed.append(_write_recording(root, subject, session, onset, options, rng))
        if progress is not None:
            progress(number + 1, len(wanted), f"{listed[-1]['recording']}_eeg.vhdr")
    _write_tables(root, listed, n)
    return {
        "fitted_to": sleep.FITTED_TO,
        "planted": sleep.describe(options["strength"]),
        "ideal_mae_s": sleep.ideal_error(options["strength"], LEAST_S, MOST_S, STREAM_S),
        "chance_mae_s": (MOST_S - LEAST_S) / 4,
        "ideal_says": (
            "Least mean absolute error of task sleep/muse, for whoever sees the planted levels of every epoch "
            "and knows the night; at strength 0 it is that of guessing the median."
        ),
        "recordings": listed,
    }


def _onset(number: int, total: int, options: dict[str, Any], rng: np.random.Generator) -> int:
    if options["plant_leak"] == "order":
        # Early, so that streams begin where recordings do and the order of nights is that of targets.
        return (LEAST_S + (MOST_S - LEAST_S) * (number + 1) // (2 * total)) // sleep.EPOCH_S
    return int(rng.integers(MOST_S // sleep.EPOCH_S, (options["longest"] * 60 - TAIL_S) // sleep.EPOCH_S))


def _write_recording(
    root: Path, subject: str, session: str, onset: int, options: dict[str, Any], rng: np.random.Generator
) -> dict[str, Any]:
    tail = LENGTH_LEAK_TAIL_S if options["plant_leak"] == "length" else TAIL_S
    n_epochs = onset + tail // sleep.EPOCH_S
    states = sleep.draw_states(onset, n_epochs, rng)
    levels = sleep.draw_night(options["strength"], rng) + sleep.draw_levels(states, options["strength"], rng)
    brain = make_eeg(levels, SITES, RATE_HZ, rng)
    noise = _add_nuisance(brain, rng)
    if options["plant_leak"] == "channel":
        brain[-1] = (onset * sleep.EPOCH_S - np.arange(brain.shape[1]) / RATE_HZ) / 20.0
    folder = root / f"sub-{subject}" / f"ses-{session}" / "eeg"
    folder.mkdir(parents=True)
    stem = f"sub-{subject}_ses-{session}_task-sleeponset"
    _write_brainvision(folder, f"{stem}_eeg", brain, onset)
    _write_sidecars(folder, stem, brain.shape[1], onset)
    return {
        "recording": f"sub-{subject}_ses-{session}",
        "n2_onset_s": onset * sleep.EPOCH_S,
        "length_s": n_epochs * sleep.EPOCH_S,
        **noise,
    }


def _add_nuisance(brain: np.ndarray, rng: np.random.Generator) -> dict[str, int]:
    """Add what the real recordings contain: mains hum in many, large offsets in one channel of ten."""
    time = np.arange(brain.shape[1], dtype=np.float32) / RATE_HZ
    hum = {50: 0, 60: 0}
    if rng.random() < 0.5:
        mains = int(rng.choice([50, 60]))
        hum[mains] = len(brain)
        brain += (rng.uniform(5, 40) * np.sin(2 * np.pi * mains * time)).astype(np.float32)
    far = rng.random(len(brain)) < 0.1
    brain += (far * rng.uniform(500, 900, len(brain)))[:, np.newaxis].astype(np.float32)
    return {"hum_50hz": hum[50], "hum_60hz": hum[60], "large_offsets": int(far.sum())}


def _write_brainvision(folder: Path, stem: str, brain: np.ndarray, onset: int) -> None:
    try:
        import pybv
    except ImportError as error:
        raise MissingDependency("pybv", "eeg", "Writing a simulated Muse sleep-onset set") from error
    event = {"onset": onset * sleep.EPOCH_S * RATE_HZ, "duration": 1, "description": 1, "type": "Stimulus"}
    pybv.write_brainvision(
        data=brain.astype(np.float64) * 1e-6,
        sfreq=RATE_HZ,
        ch_names=list(ELECTRODES),
        fname_base=stem,
        folder_out=str(folder),
        events=[event | {"channels": "all"}],
        resolution=0.1,
        unit="µV",
        fmt="binary_float32",
    )


def _write_sidecars(folder: Path, stem: str, n_samples: int, onset: int) -> None:
    start = onset * sleep.EPOCH_S
    event = [[f"{start:.1f}", 0, "n2_onset", 1, start * RATE_HZ]]
    _table(folder / f"{stem}_events.tsv", ["onset", "duration", "trial_type", "value", "sample"], event)
    described = ["EEG", "µV", "n/a", "n/a", "ElectroEncephaloGram", float(RATE_HZ), "good", "n/a"]
    columns = (
        "name type units low_cutoff high_cutoff description sampling_frequency status status_description"
    )
    _table(folder / f"{stem}_channels.tsv", columns.split(), [[name, *described] for name in ELECTRODES])
    short = stem.removesuffix("_task-sleeponset")
    places = [[name, *PLACES[name], "n/a"] for name in ELECTRODES]
    _table(folder / f"{short}_space-CapTrak_electrodes.tsv", ["name", "x", "y", "z", "impedance"], places)
    fiducials = {"NAS": [0, 0.11405, 0], "LPA": [-0.08249, 0, 0], "RPA": [0.08249, 0, 0]}
    _json(
        folder / f"{short}_space-CapTrak_coordsystem.json",
        {
            "EEGCoordinateSystem": "CapTrak",
            "EEGCoordinateUnits": "m",
            "AnatomicalLandmarkCoordinates": fiducials,
        },
    )
    _json(
        folder / f"{stem}_eeg.json",
        {
            "TaskName": "sleeponset",
            "Manufacturer": "Muse",
            "PowerLineFrequency": 60,
            "SamplingFrequency": RATE_HZ,
            "EEGReference": "n/a",
            "EEGGround": "n/a",
            "SoftwareFilters": "n/a",
            "RecordingType": "continuous",
            "RecordingDuration": (n_samples - 1) / RATE_HZ,
            "EEGChannelCount": len(ELECTRODES),
            "SubjectArtefactDescription": "simulated",
        },
    )


def _write_tables(root: Path, listed: list[dict[str, Any]], a_person: int) -> None:
    people = []
    for first in range(0, len(listed), a_person):
        own = listed[first : first + a_person]
        subject = own[0]["recording"].partition("_")[0]
        rows = [
            [
                entry["recording"].partition("_")[2],
                "train",
                float(entry["length_s"]),
                entry["length_s"] * RATE_HZ,
                float(entry["n2_onset_s"]),
                entry["hum_50hz"],
                entry["hum_60hz"],
                entry["large_offsets"],
            ]
            for entry in own
        ]
        columns = ["session_id", "split", "recording_duration", "sample_count", "n2_onset"]
        columns += [f"qc_{what}_channels" for what in ("50hz_peak", "60hz_peak", "large_amplitude")]
        _table(root / subject / f"{subject}_sessions.tsv", columns, rows)
        for entry in own:
            session = entry["recording"].partition("_")[2]
            file = f"eeg/{entry['recording']}_task-sleeponset_eeg.vhdr"
            scans = root / subject / session / f"{entry['recording']}_scans.tsv"
            _table(scans, ["filename", "acq_time"], [[file, "n/a"]])
        people.append([subject, *["n/a"] * 5, len(own), len(own), 0, float(sum(row[2] for row in rows))])
    described = "participant_id age sex hand weight height recording_count train_recording_count"
    described += " test_recording_count total_recording_duration"
    _table(root / "participants.tsv", described.split(), people)
    _json(root / "participants.json", {"age": {"Description": "not given"}})
    _json(root / "sessions.json", {"n2_onset": {"Description": "seconds to N2", "Units": "s"}})
    name = "Muse sleep onset (simulated)"
    _json(root / "dataset_description.json", {"Name": name, "BIDSVersion": "1.9.0", "DatasetType": "raw"})


def _table(path: Path, columns: list[str], rows: list[list[Any]]) -> None:
    lines = ["\t".join(map(str, row)) for row in [columns, *rows]]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _json(path: Path, value: dict[str, Any]) -> None:
    path.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
