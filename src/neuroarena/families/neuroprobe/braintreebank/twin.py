"""Write a simulated BrainTreebank: the real folder layout with made-up words, signals and answers."""

from __future__ import annotations

import dataclasses
import functools
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd

from neuroarena.datasets.twin_folder import PLANTED, Limits, Progress, check_options, write_twin
from neuroarena.families.neuroprobe.braintreebank import twin_montage as montages
from neuroarena.families.neuroprobe.braintreebank import twin_signal as signals
from neuroarena.families.neuroprobe.braintreebank import twin_transcript as transcripts

GENERATOR = "neuroarena braintreebank twin"
GENERATOR_VERSION = 2

# The sessions of the leaderboard and their films, in the order in which they are simulated.
SESSIONS: dict[int, tuple[tuple[int, str], ...]] = {
    1: ((1, "the-martian"), (2, "thor-ragnarok")),
    2: ((0, "venom"), (4, "avengers-infinity-war")),
    3: ((0, "cars-2"), (1, "lotr-1")),
    4: ((0, "shrek-the-third"), (1, "megamind")),
    7: ((0, "cars-2"), (1, "megamind")),
    10: ((0, "cars-2"), (1, "spider-man-far-from-home")),
}
LEAST_ELECTRODES, MOST_ELECTRODES = 16, 120
MOST_MINUTES = 240.0
# With twenty sentences every task has at least twenty items in each class.
LEAST_SENTENCES = 20
# Room in the recording around the film: before it, for a pause in it, after it.
MOST_OFFSET, MOST_PAUSE, LEAST_TAIL = 8, 6, 4
SLOTS_A_MINUTE = 120
LEAST_SLOTS = transcripts.slots_needed(LEAST_SENTENCES) + MOST_OFFSET + MOST_PAUSE + LEAST_TAIL
# Independent random streams, so that one part can change without the others.
FILM, MONTAGE, SESSION, LATENTS, ELECTRODE = range(5)

LIMITS: Limits = {
    "subjects": (int, 1, len(SESSIONS)),
    "sessions": (int, 1, 2),
    "electrodes": (int, LEAST_ELECTRODES, MOST_ELECTRODES),
    "minutes": (float, LEAST_SLOTS / SLOTS_A_MINUTE, MOST_MINUTES),
    **PLANTED,
    "ideal": (float, 0.5, 0.999),
}


def simulate(
    root: str | Path,
    *,
    subjects: int = 2,
    sessions: int = 2,
    electrodes: int = 24,
    minutes: float = 8.0,
    seed: int = 0,
    ideal: float = 0.80,
    strength: float = 1.0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a simulated BrainTreebank into the folder `root`.

    The folder appears whole or not at all. A twin written with the same options is left as it is.

    Parameters
    ----------
    root : path
        The folder; missing, empty, or an earlier twin (which is replaced when its options differ).
    subjects : int
        Number of subjects, 1 to 6: subjects 1, 2, 3, 4, 7, 10 in this order.
    sessions : int
        Sessions per subject, 1 or 2: those of the leaderboard.
    electrodes : int
        Electrodes per subject that a reader keeps, 16 to 120 (fewer where the real list is shorter).
    minutes : float
        Length of every recording; at least 2.
    seed : int
        Seed of all randomness; the same seed yields the same numbers.
    ideal : float
        AUROC that the best possible decoder of a one-second window reaches, 0.5 to below 1.
    strength : float
        Multiplies the distance between classes that `ideal` asks for; 0 leaves pure chance.
    progress : callable, optional
        Called with the electrodes written, the total number of electrodes, and the file's name.

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    """
    options: dict[str, Any] = {"subjects": subjects, "sessions": sessions, "electrodes": electrodes}
    options |= {"minutes": minutes, "seed": seed, "ideal": ideal, "strength": strength}
    write = functools.partial(_write, progress=progress)
    return write_twin(
        root, GENERATOR, GENERATOR_VERSION, check_options("braintreebank", options, LIMITS), write
    )


def _chance(options: dict[str, Any], *stream: int) -> np.random.Generator:
    return np.random.default_rng([options["seed"], *stream])


def _write(root: Path, options: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
    d = signals.separation(options["ideal"], options["strength"])
    chosen = {s: SESSIONS[s][: options["sessions"]] for s in list(SESSIONS)[: options["subjects"]]}
    n_slots = int(options["minutes"] * SLOTS_A_MINUTE)
    film_slots = n_slots - MOST_OFFSET - MOST_PAUSE - LEAST_TAIL
    films = {}
    for movie in dict.fromkeys(movie for trials in chosen.values() for _, movie in trials):
        rng = _chance(options, FILM, zlib.crc32(movie.encode()))
        films[movie] = transcripts.write_transcript(movie, film_slots, rng)
        _write_film(root, films[movie])
    mounted = {
        s: montages.make_montage(s, options["electrodes"], _chance(options, MONTAGE, s)) for s in chosen
    }
    _write_electrodes(root, mounted, options)

    total = sum(len(mounted[s].labels) * len(trials) for s, trials in chosen.items())
    done = 0
    listed = []
    for subject, trials in chosen.items():
        for trial, movie in trials:
            layout = _lay_out(films[movie], n_slots, _chance(options, SESSION, subject, trial))
            latents = signals.draw_latents(films[movie], layout, d, _chance(options, LATENTS, subject, trial))
            _write_session_tables(root, subject, trial, films[movie], layout, options)
            path = root / f"sub_{subject}_trial{trial:03d}.h5"
            tick = _counter(progress, done, total, path.name)
            _write_signals(path, mounted[subject], latents, layout, options, trial, tick)
            done += len(mounted[subject].labels)
            listed.append(_session_entry(subject, trial, films[movie], layout))
    return _card(d, listed, mounted, films)


def _counter(progress: Progress | None, done: int, total: int, name: str) -> Callable[[int], None]:
    def tick(written: int) -> None:
        if progress is not None:
            progress(done + written, total, name)

    return tick


def _card(
    d: float,
    listed: list[dict[str, Any]],
    mounted: dict[int, montages.Montage],
    films: dict[str, transcripts.Transcript],
) -> dict[str, Any]:
    any_film = next(iter(films.values()))
    return {
        "separation": d,
        "ideal_auroc": signals.ideal_scores(d, float(any_film.first.mean())),
        "sessions": listed,
        "planted": {f"sub_{s}": _list_planted(montage) for s, montage in mounted.items()},
    }


def _list_planted(montage: montages.Montage) -> dict[str, list[dict[str, Any]]]:
    """List for every task where and how its answer is planted."""
    entries = {
        source: {
            "source": source,
            "electrode": montage.sources[source],
            "region": montage.region(montage.sources[source]),
            "slot": 1 if source == "word_gap" else 0,
        }
        | dataclasses.asdict(montage.responses[source])
        for source in signals.SOURCES
    }
    planted = {task: [entries[task]] for task in signals.PROPERTY_TASKS}
    both = [entries[signals.FIRST_WORDS], entries[signals.OTHER_WORDS]]
    return dict.fromkeys(signals.SPEECH_TASKS, both) | planted


def _session_entry(
    subject: int, trial: int, film: transcripts.Transcript, layout: signals.Layout
) -> dict[str, Any]:
    return {
        "subject": subject,
        "trial": trial,
        "movie": film.movie,
        "n_samples": layout.n_slots * signals.SLOT_SAMPLES,
        "film_start_sample": layout.offset * signals.SLOT_SAMPLES,
        "paused_at_s": layout.pause_sample / signals.RATE_HZ,
        "paused_for_samples": layout.pause_slots * signals.SLOT_SAMPLES,
        "words": len(film.table),
        "items": transcripts.item_counts(film),
    }


def _lay_out(film: transcripts.Transcript, n_slots: int, rng: np.random.Generator) -> signals.Layout:
    """Place the film in the recording, with one pause near its middle.

    The pause falls into the middle of a word, which therefore ends long after it began, as words of real
    sessions do. Its sentence goes on after the pause.
    """
    length = film.table["word_length"].to_numpy()
    goes_on = ~np.append(film.first[1:], True)
    words = np.flatnonzero(goes_on & (length > np.median(length)))
    wanted = rng.uniform(0.4, 0.6) * film.n_slots
    word = words[np.argmin(np.abs(film.slots[words] - wanted))]
    return signals.Layout(
        n_slots=n_slots,
        offset=int(rng.integers(MOST_OFFSET // 2, MOST_OFFSET + 1)),
        pause=int(film.slots[word]) + 1,
        pause_sample=int(film.slots[word]) * signals.SLOT_SAMPLES + int(length[word] * signals.RATE_HZ / 2),
        pause_slots=int(rng.integers(MOST_PAUSE // 2, MOST_PAUSE + 1)),
    )


def _write_film(root: Path, film: transcripts.Transcript) -> None:
    folder = root / "transcripts" / film.movie
    folder.mkdir(parents=True)
    film.written_features().to_csv(folder / "features.csv")
    text = json.dumps(film.written_pitch(), allow_nan=False)
    (folder / f"{film.movie}_pitch_volume_features.json").write_text(text, encoding="utf-8")


def _write_electrodes(root: Path, mounted: dict[int, montages.Montage], options: dict[str, Any]) -> None:
    coordinates = []
    for subject, montage in mounted.items():
        rng = _chance(options, MONTAGE, subject, 1)
        labels = root / "electrode_labels" / f"sub_{subject}"
        places = root / "localization" / f"sub_{subject}"
        labels.mkdir(parents=True)
        places.mkdir(parents=True)
        (labels / "electrode_labels.json").write_text(json.dumps(montages.written_labels(montage)))
        montages.depth_table(montage, rng).to_csv(places / "depth-wm.csv", index=False)
        coordinates += montages.coordinate_rows(montage, rng)
    pd.DataFrame(coordinates).to_csv(root / "localization" / "elec_coords_full.csv", index=False)
    corrupted = {
        f"sub_{s}": [f"{label}#"] if (label := montages.CORRUPTED.get(s)) else [] for s in range(1, 11)
    }
    (root / "corrupted_elec.json").write_text(json.dumps(corrupted))


def _write_session_tables(
    root: Path,
    subject: int,
    trial: int,
    film: transcripts.Transcript,
    layout: signals.Layout,
    options: dict[str, Any],
) -> None:
    stem = f"sub_{subject}_trial{trial:03d}"
    for folder in ("subject_timings", "subject_metadata"):
        (root / folder).mkdir(exist_ok=True)
    rng = _chance(options, SESSION, subject, trial, 1)
    _timings(film.n_slots, layout, rng).to_csv(root / "subject_timings" / f"{stem}_timings.csv", index=False)
    title = film.movie.replace("-", " ").title()
    metadata = {"title": title, "filename": film.movie, "simulated": True}
    (root / "subject_metadata" / f"{stem}_metadata.json").write_text(json.dumps(metadata))


def _timings(film_slots: int, layout: signals.Layout, rng: np.random.Generator) -> pd.DataFrame:
    """Make the trigger table: about ten triggers per second, with a jump of the index at the pause."""
    rate, slot = signals.RATE_HZ, signals.SLOT_SAMPLES
    length = film_slots * slot
    ticks = np.cumsum(rng.integers(203, 208, length // 203))
    # A trigger in the film's first and in its last sample, so that all of it is covered.
    ticks = np.unique(np.concatenate([[0], ticks[ticks < length], [length]]))
    pause = layout.pause_sample
    shift = layout.pause_slots * slot
    rows = [("trigger", int(tick), int(tick) + (shift if tick >= pause else 0)) for tick in ticks]
    at = int(np.searchsorted(ticks, pause))
    rows[at:at] = [("pause", pause, pause), ("unpause", pause, pause + shift)]
    rows = [("beginning", 0, 0), *rows, ("end", length, length + shift)]
    table = pd.DataFrame(rows, columns=["type", "tick", "index"])
    table["index"] += layout.offset * slot
    return pd.DataFrame(
        {
            "type": table["type"],
            # A whole number of samples is written exactly, so that the alignment rounds to the same sample.
            "movie_time": table["tick"] / rate,
            "start_time": (table["index"] / rate).round(6),
            "index": table["index"],
            "diff": table["index"].diff().fillna(0).astype(int),
        }
    )


def _write_signals(
    path: Path,
    montage: montages.Montage,
    latents: dict[str, np.ndarray],
    layout: signals.Layout,
    options: dict[str, Any],
    trial: int,
    tick: Callable[[int], None],
) -> None:
    """Write the HDF5 file one electrode at a time, so that memory holds only a few signals.

    The first session of each subject is stored in double precision, and the very first one holds a dataset
    that no label belongs to: real files differ in both.
    """
    n_samples = layout.n_slots * signals.SLOT_SAMPLES
    is_first = trial == SESSIONS[montage.subject][0][0]
    common = signals.common_signal(n_samples, _chance(options, SESSION, montage.subject, trial, 2))
    source_of = {label: source for source, label in montage.sources.items()}
    with h5py.File(path, "w") as file:
        group = file.create_group("data")
        for number, label in enumerate(montage.labels):
            rng = _chance(options, ELECTRODE, montage.subject, trial, number)
            level = 40.0 if label == montages.CORRUPTED[montage.subject] else 1.0
            signal = signals.background(n_samples, level * signals.BACKGROUND_UV, rng)
            signal += np.float32(rng.uniform(0.9, 1.1)) * common
            if label in source_of:
                slow, burst = montage.responses[source_of[label]].templates()
                signal += signals.planted_signal(latents[source_of[label]], slow, burst)
            group.create_dataset(
                f"electrode_{number}", data=signal, dtype=np.float64 if is_first else np.float32
            )
            tick(number + 1)
        if is_first and montage.subject == next(iter(SESSIONS)):
            # Never written, so that it takes no space; it reads as zeros.
            group.create_dataset(f"electrode_{len(montage.labels)}", shape=(n_samples,), dtype=np.float64)
