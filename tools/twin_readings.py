"""Measure real files and simulated twins by the same functions, for the tables of the pages.

Every function here reads a folder and returns statistics: ``real_*`` the data beside the project, ``twin_*`` a twin.
Both call the functions of the family's own module `likeness`.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.datasets import load_dataset
from neuroarena.datasets.likeness import Statistics
from neuroarena.families.bci import likeness as bci
from neuroarena.families.brainscore import likeness as brainscore
from neuroarena.families.eeg2025 import likeness as eeg2025
from neuroarena.families.eeg2025.trials import trial_table
from neuroarena.families.emg import likeness as emg
from neuroarena.families.img import likeness as img
from neuroarena.families.neuroprobe import likeness as neuroprobe
from neuroarena.families.sleep import likeness as sleep

CONTRAST = "contrastChangeDetection"
# Electrodes that the small cap of the simulated commands and the real motor imagery share.
CAP = ("C3", "C4", "Cz", "Fz", "Pz", "F3", "P4", "CPz")
TRIAL_S = 4.0


def real_sleep_edf(data: Path) -> Statistics:
    """Measure the hypnograms and the band powers of real nights."""
    from neuroarena.families.sleep.sleep_edf.hypnogram import stage_epochs
    from neuroarena.families.sleep.sleep_edf.reader import read_annotations
    from neuroarena.families.sleep.sleep_edf.twin_sleep import STAGES

    folder = data / "real/sleep_edf"
    files = sorted((folder / "sleep-cassette").glob("*-Hypnogram.edf"))
    nights = [stage_epochs(read_annotations(path), path.name)["stage"].tolist() for path in files]
    levels, stages = [], []
    with np.load(folder / "bandpowers.npz", allow_pickle=False) as held:
        for key in sorted({name.partition("_")[0] for name in held}):
            found = held[f"{key}_stage"].astype(int)
            cut = sleep.cut_stretch([STAGES[stage] for stage in found])
            levels.append(10 * np.log10(held[f"{key}_uv2_per_hz"].astype(float)).reshape(-1, 2, 5)[cut])
            stages.append(found[cut])
    return {
        **sleep.describe_stages(nights),
        **sleep.describe_levels(np.concatenate(levels), np.concatenate(stages)),
    }


def twin_sleep_edf(root: Path) -> Statistics:
    """Measure simulated nights."""
    from neuroarena.families.sleep.sleep_edf.twin_sleep import STAGES

    opened = load_dataset("sleep_edf").open(root)
    nights, levels, stages = [], [], []
    for key in opened.nights:
        said = opened.stages(key)["stage"].tolist()
        nights.append(said)
        epochs = np.array([at for at in range(len(said))[sleep.cut_stretch(said)] if said[at] in STAGES])
        levels.append(sleep.measure_levels(opened.open(key), epochs))
        stages.append(np.array([STAGES.index(said[epoch]) for epoch in epochs]))
    return {
        **sleep.describe_stages(nights),
        **sleep.describe_levels(np.concatenate(levels), np.concatenate(stages)),
    }


def twin_muse_sleep(root: Path) -> Statistics:
    """Measure simulated recordings of dry electrodes."""
    opened = load_dataset("muse_sleep").open(root)
    keys = list(opened.sessions)
    recordings = [opened.open(key) for key in keys]
    minutes = [recording.n_samples / recording.rate_hz / 60 for recording in recordings]
    after_s = [
        recording.n_samples / recording.rate_hz - opened.onset_s(key)
        for key, recording in zip(keys, recordings, strict=True)
    ]
    return {
        "people": str(len({opened.session(key).subject for key in keys})),
        "recordings": str(len(keys)),
        "electrodes": ", ".join(recordings[0].channels["name"]),
        "rate (Hz)": f"{recordings[0].rate_hz:g}",
        "length of a recording (minutes)": sleep.describe_spread(minutes, 1),
        "a file ends so long after stable N2 (s)": sleep.describe_spread(after_s, 0),
    }


def real_hbn(data: Path) -> Statistics:
    """Measure the people and the trials of release 1."""
    from neuroarena.recordings.tsv import read_tsv

    root = data / "real/hbn_eeg2025/ds005505"
    files = sorted(root.glob(f"sub-*/eeg/*_task-{CONTRAST}_run-*_events.tsv"))
    present = {path.parts[-3] for path in files}
    people = pd.read_csv(root / "participants.tsv", sep="\t")
    tables = [read_tsv(path).rename(columns={"onset": "onset_s"}) for path in files]
    runs = [
        trial_table(table.assign(onset_s=table["onset_s"].astype(float)), path.name)
        for table, path in zip(tables, files, strict=True)
    ]
    return {**eeg2025.describe_people(people), **eeg2025.describe_trials(runs, len(present))}


def twin_hbn(root: Path) -> Statistics:
    """Measure the people and the trials of simulated releases."""
    opened = load_dataset("hbn").open(root)
    people = pd.concat([opened.participants(release) for release in opened.folders], ignore_index=True)
    table = opened.recordings
    keys = table.loc[table["task"] == CONTRAST, "key"]
    runs = [trial_table(opened.events(key), key) for key in keys]
    return {**eeg2025.describe_people(people), **eeg2025.describe_trials(runs, len(people))}


def real_emg2qwerty(data: Path) -> Statistics:
    """Measure the typing of real sessions; their signals are not at hand."""
    from neuroarena.families.emg.emg2qwerty.bids_copy import Emg2QwertyBids

    opened = Emg2QwertyBids(data / "real/emg2qwerty_labels/nm000104")
    return emg.describe_typing([opened.keys(session) for session in opened.sessions])


def twin_emg2qwerty(root: Path) -> Statistics:
    """Measure the typing of simulated sessions."""
    opened = load_dataset("emg2qwerty").open(root)
    return emg.describe_typing([opened.events(session) for session in opened.sessions])


def real_ssvep_exo(data: Path) -> Statistics:
    """Measure the real recordings of flicker."""
    return twin_ssvep_exo(data / "real/ssvep_exo")


def twin_ssvep_exo(root: Path) -> Statistics:
    """Measure a folder of flicker, simulated or real."""
    opened = load_dataset("ssvep_exo").open(root)
    return bci.describe_flicker([opened.subject(person) for person in opened.people])


def real_bci_commands(data: Path) -> Statistics:
    """Measure real motor imagery of another study."""
    from neuroarena.recordings import annotations, open_file

    trials = []
    for path in sorted((data / "real/eegmmidb_p300/eegmmidb/S001").glob("*.edf")):
        recording = open_file(path)
        named = {name.rstrip(".").lower(): name for name in recording.channels["name"]}
        recording = recording.select([named[name.lower()] for name in CAP])
        length = round(TRIAL_S * recording.rate_hz)
        cues = annotations(path)
        starts = cues.loc[cues["description"].isin(["T1", "T2"]), "onset_s"].to_numpy() * recording.rate_hz
        trials += list(recording.windows(np.round(starts).astype(int), length))
    return bci.describe_rhythms(trials, recording.rate_hz, CAP)


def twin_bci_commands(root: Path) -> Statistics:
    """Measure simulated commands."""
    opened = load_dataset("bci_commands").open(root)
    trials = []
    for path in opened.runs()["path"]:
        recording = opened.recording(path).select(list(CAP))
        length = round(TRIAL_S * recording.rate_hz)
        trials += list(recording.windows(opened.trials(path)["start"].to_numpy(), length))
    return bci.describe_rhythms(trials, recording.rate_hz, CAP)


def real_braintreebank(data: Path) -> Statistics:
    """Measure the words of the twelve lite sessions, and the sounds of five films."""
    folder = data / "neuroprobe/annotations"
    sessions = []
    for path in sorted(folder.glob("*_words_df.csv")):
        quiet = pd.read_csv(path.with_name(path.name.replace("words", "nonverbal")))
        sessions.append((pd.read_csv(path), len(quiet)))
    films = [
        pd.DataFrame(json.loads(path.read_text(encoding="utf-8")).values())
        for path in sorted((data / "neuroprobe/pitch").glob("*.json"))
    ]
    return {**neuroprobe.describe_words(sessions), **neuroprobe.describe_sounds(films)}


def twin_braintreebank(root: Path) -> Statistics:
    """Measure the words and the sounds of simulated films."""
    from neuroarena.families.neuroprobe.braintreebank.words import nonverbal_table, word_table

    opened = load_dataset("braintreebank").open(root)
    sessions, films = [], {}
    for subject, trial in opened.sessions:
        timings = opened.triggers(subject, trial)
        words = word_table(opened.features(subject, trial), timings)
        sessions.append((words, len(nonverbal_table(words, float(timings["index"].iloc[-1])))))
        film = opened.movie(subject, trial)
        films[film] = pd.DataFrame((opened.pitch(film) or {}).values())
    return {**neuroprobe.describe_words(sessions), **neuroprobe.describe_sounds(list(films.values()))}


def real_things_eeg2(data: Path) -> Statistics:
    """Measure the real list of images and published features of the test images."""
    from neuroarena.families.img.things_eeg2.pickled import read_pickled

    folder = data / "real/things_eeg2_parts"
    listed = read_pickled(
        folder / "thingseeg2/brainscore_vision/data/gifford2022/data_packaging/image_metadata.npy"
    )
    features = np.load(folder / "nice/dnn_feature/clip_feature_maps_test.npy")
    return {
        **img.describe_images(list(listed["train_img_concepts"]), list(listed["test_img_concepts"])),
        **img.describe_embeddings(features.reshape(len(features), -1)),
    }


def twin_things_eeg2(root: Path) -> Statistics:
    """Measure simulated images and their embeddings."""
    opened = load_dataset("things_eeg2").open(root)
    images = opened.images
    held = opened.embeddings()
    vectors = np.load(held, mmap_mode="r") if isinstance(held, Path) else held
    test = (images["part"] == "test").to_numpy()
    return {
        **img.describe_images(images["concept"][~test].tolist(), images["concept"][test].tolist()),
        **img.describe_embeddings(np.asarray(vectors)[test]),
    }


def real_brainscore_vision(data: Path) -> Statistics:
    """Measure the real dissimilarities of monkey IT; no assembly of responses is at hand."""
    from neuroarena.families.brainscore.definitions.kriegeskorte import kriegeskorte_2008_it

    monkey = kriegeskorte_2008_it(data / "real/rsa_92images").others["monkey IT"]
    return brainscore.describe_dissimilarities("IT", monkey[np.triu_indices(len(monkey), 1)])


def twin_brainscore_vision(root: Path) -> Statistics:
    """Measure the simulated sites of V4 and IT."""
    from neuroarena.families.brainscore import load_dataset as load_assembly

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        held = load_assembly("MajajHong2015.public", data=str(root))
    said: dict[str, str] = {}
    order = np.lexsort([held["stimulus_id"].to_numpy(), held["repetition"].to_numpy()])
    repetitions = len(set(held["repetition"].to_numpy().tolist()))
    values = held.to_numpy()[order, :, 0].reshape(repetitions, -1, held.sizes["neuroid"])
    for region in ("V4", "IT"):
        said |= brainscore.describe_responses(region, values[:, :, held["region"].to_numpy() == region])
    return said
