"""Write a simulated command set: the layout of PROTEUS, with made-up people, rhythms and drift."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.twin_folder import PLANTED, Limits, Progress, check_options, spell_flag, write_twin
from neuroarena.errors import InputError
from neuroarena.families.bci.bci_commands import latents as planted
from neuroarena.families.bci.bci_commands import twin_files as files
from neuroarena.families.bci.bci_commands import twin_signal as signals

GENERATOR = "neuroarena bci_commands twin"
GENERATOR_VERSION = 2

# Electrodes of the real set, those over the three rhythms first, so that a small cap has them.
ELECTRODES = (
    *("C3", "C4", "Cz", "Fz", "Pz", "F3", "P4", "CPz", "FCz", "C1", "C2", "F4", "P3", "CP3", "CP4", "FC1"),
    *("CP2", "P2", "CP1", "P1", "PO7", "P5", "TP7", "CP5", "PO8", "P6", "TP8", "CP6", "C6", "FC6", "FC4"),
    *("FC2", "F6", "F2", "AF4", "AF3", "F5", "F1", "FC5", "FC3", "C5"),
)
# Cued runs in their order; a context is the environment that gives feedback.
RUNS = ("AcquisitionGraz", "AcquisitionBH", "OnlineRawGraz", "OnlineRawBH", "OnlineRawGraz", "OnlineRawBH")
CONTEXTS = ("Graz", "BH")
LIMITS: Limits = {
    "subjects": (int, 1, 10),
    "sessions": (int, 2, 14),
    "runs": (int, 2, len(RUNS)),
    "trials": (int, 3, 36),
    "channels": (int, 6, len(ELECTRODES)),
    "rate_hz": (int, 100, 500),
    **PLANTED,
    "ideal": (float, 1 / 3, 0.999),
    "drift": (float, 0.0, 10.0),
}
# Independent random streams, so that one part can change without the others.
PERSON, DRIFT, RUN = range(3)


def simulate(
    root: str | Path,
    *,
    subjects: int = 3,
    sessions: int = 4,
    runs: int = 4,
    trials: int = 18,
    channels: int = 8,
    rate_hz: int = 100,
    seed: int = 0,
    ideal: float = 0.85,
    strength: float = 1.0,
    drift: float = 1.0,
    format: str = "edf",
    plant_leak: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a simulated set of three mental commands, in BIDS, into the folder `root`.

    The folder appears whole or not at all. A twin written with the same options is left as it is. The shape of
    the real set: 10 subjects, 3 sessions, 6 runs, 36 trials, 41 channels, 500 Hz.

    Parameters
    ----------
    root : path
        The folder; missing, empty, or an earlier twin (which is replaced when its options differ).
    subjects, sessions, runs, trials, channels, rate_hz : int
        Size; the trials are those of a run, a multiple of three.
    seed : int
        Seed of all randomness; the same seed yields the same numbers.
    ideal : float
        Balanced accuracy of the best possible decoder that knows the drift of every session, 1/3 to 0.999.
    strength : float
        Multiplies the distance between classes that `ideal` asks for; 0 leaves pure chance.
    drift : float
        Multiplies how far rhythms, electrodes and gains drift from session to session; 0 is none.
    format : {"edf", "brainvision"}
        Format of the signal files.
    plant_leak : {"channel", "length", "order"}, optional
        Plant a flaw: a channel typed EEG that holds the label, cues whose duration reveals the class, or classes
        that follow each other in turn.
    progress : callable, optional
        Called with the runs written, their total number, and the file's name.

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    """
    given: dict[str, Any] = {"subjects": subjects, "sessions": sessions, "runs": runs, "trials": trials}
    given |= {"channels": channels, "rate_hz": rate_hz, "seed": seed, "ideal": ideal, "strength": strength}
    given |= {"drift": drift, "format": format, "plant_leak": plant_leak}
    options = check_options("bci_commands", given, LIMITS)
    for name, good, expected in (
        ("trials", trials % 3 == 0, "a multiple of three, so that classes are equally frequent"),
        ("format", format in files.FORMATS, f"one of {', '.join(files.FORMATS)}"),
    ):
        if not good:
            raise InputError(
                f"simulate bci_commands: {spell_flag(name)} must be {expected}, got {given[name]!r}. "
                "Nothing was written."
            )
    return write_twin(
        root, GENERATOR, GENERATOR_VERSION, options, functools.partial(_write, progress=progress)
    )


@dataclass(frozen=True)
class _Person:
    """What is fixed for a person: the cap, and the drift of every cell."""

    number: int
    cap: signals.Cap
    offsets: np.ndarray

    @property
    def label(self) -> str:
        return f"P{self.number:02d}"


def _chance(options: dict[str, Any], *stream: int) -> np.random.Generator:
    return np.random.default_rng([options["seed"], *stream])


def _write(root: Path, options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    d = planted.separation(options["ideal"], options["strength"])
    people = [_person(number, options) for number in range(1, options["subjects"] + 1)]
    files.write_root(root, [person.label for person in people])
    done, total = 0, len(people) * options["sessions"] * options["runs"]
    for person in people:
        files.write_sessions(root, person.label, options["sessions"])
        for session in range(options["sessions"]):
            for run in range(options["runs"]):
                path = _write_run(root, person, session, run, d, options)
                done += 1
                if progress is not None:
                    progress(done, total, path.name)
    return {
        "separation": d,
        "ideal_balanced_accuracy": planted.balanced_accuracy(d),
        "frozen_rule_balanced_accuracy": _frozen_rule(people, d),
        "subjects": [person.label for person in people],
        "planted": _list_planted(people, options),
    }


def _person(number: int, options: dict[str, Any]) -> _Person:
    drift, n_sessions = options["drift"], options["sessions"]
    cap = signals.make_cap(
        ELECTRODES[: options["channels"]], n_sessions, drift, _chance(options, PERSON, number)
    )
    offsets = signals.cell_offsets(n_sessions, len(CONTEXTS), drift, _chance(options, DRIFT, number))
    return _Person(number, cap, offsets)


def _frozen_rule(people: list[_Person], d: float) -> float:
    """Score the best rule of the earlier sessions, unchanged, on the later ones: exact, mean over cells.

    It answers with the largest latent number after taking off the mean drift of the sessions it was made on.
    """
    scores = []
    for person in people:
        earlier = len(person.offsets) // 2
        known = person.offsets[:earlier].mean(axis=(0, 1))
        later = person.offsets[earlier:].reshape(-1, known.size)
        scores += [planted.balanced_accuracy(d, (cell - known).tolist()) for cell in later]
    return float(np.mean(scores))


def _list_planted(people: list[_Person], options: dict[str, Any]) -> dict[str, Any]:
    names = ELECTRODES[: options["channels"]]
    return {
        "rhythms_hz": dict(zip(files.COMMANDS, signals.BANDS_HZ, strict=True)),
        "strongest_electrode": {
            person.label: {
                command: names[int(person.cap.patterns[:, rhythm].argmax())]
                for rhythm, command in enumerate(files.COMMANDS)
            }
            for person in people
        },
        "leak": options["plant_leak"],
    }


def _write_run(
    root: Path, person: _Person, session: int, run: int, d: float, options: dict[str, Any]
) -> Path:
    rng = _chance(options, RUN, person.number, session, run)
    leak, rate, task = options["plant_leak"], options["rate_hz"], RUNS[run]
    order = planted.balanced_order(options["trials"], len(files.COMMANDS), rng, leak == "order")
    z = planted.draw_latents(order, d, len(files.COMMANDS), rng)
    trials = files.timetable(task, order, leak == "length", rate, rng)
    n_samples = trials.length_s * rate
    cues = np.round(trials.cue_s * rate).astype(np.int64)
    offsets = person.offsets[session, next(i for i, name in enumerate(CONTEXTS) if task.endswith(name))]
    mixing, others = person.cap.mixing(session), person.cap.other_mixing(session)
    signal = signals.run_signal(mixing, others, n_samples, cues, z, offsets, rate, rng)
    names = list(ELECTRODES[: options["channels"]])
    if leak == "channel":
        names.append("EX1")
        signal = np.vstack([signal, _label_channel(n_samples, cues, order, rate, rng)])
    stem = f"sub-{person.label}_ses-{session + 1}_task-{task}_run-{run + 1}"
    folder = root / f"sub-{person.label}" / f"ses-{session + 1}" / "eeg"
    folder.mkdir(parents=True, exist_ok=True)
    return files.write_run(folder, stem, task, signal, names, rate, trials, options["format"])


def _label_channel(
    n_samples: int, cues: np.ndarray, order: np.ndarray, rate: int, rng: np.random.Generator
) -> np.ndarray:
    """Make a channel whose level during a trial is the class, under noise as strong as the steps."""
    row = rng.standard_normal(n_samples) * 10.0
    for cue, command in zip(cues, order, strict=True):
        row[cue : cue + round(signals.CUE_S * rate)] += 10.0 * command
    return row
