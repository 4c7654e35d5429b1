"""A dataset and a paradigm of MOABB become a benchmark with MOABB's three evaluations as splits."""

from __future__ import annotations

import functools
import importlib.metadata
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks.benchmark import Benchmark
from neuroarena.benchmarks.split_rules import leave_one_out
from neuroarena.benchmarks.splits import Fold, Split
from neuroarena.errors import InputError
from neuroarena.families.moabb.catalogue import check_pair, files_at
from neuroarena.recordings import Recording
from neuroarena.recordings.mne_objects import from_epochs
from neuroarena.recordings.stacked import from_windows
from neuroarena.scoring import Manifest
from neuroarena.scoring.manifest import build_manifest

SPLITS = ("within-session", "cross-session", "cross-subject")
# As in MOABB: five folds within a session, drawn at random, and the seed of its own examples.
N_FOLDS, SEED = 5, 42
METRICS = {"roc_auc": "auroc", "accuracy": "accuracy"}


def from_moabb(
    dataset: Any, paradigm: Any, subjects: Sequence[int] | None = None, data: str | None = None
) -> Benchmark:
    """Make a benchmark of a dataset and a paradigm of MOABB.

    Windows are cut and filtered by the paradigm, exactly as MOABB does, and kept in memory. The splits are MOABB's
    evaluations: ``within-session`` (five stratified folds of each session, drawn at random with the seed 42),
    ``cross-session`` and ``cross-subject`` (each session, or person, after training on the others), as far as the data
    have several. The metric is the paradigm's: AUROC or accuracy, for each session of each person.

    Parameters
    ----------
    dataset, paradigm
        Objects of ``moabb.datasets`` and ``moabb.paradigms``.
    subjects : sequence of int, optional
        Only these people, by MOABB's numbers.
    data : str, optional
        Folder of MOABB's files; by default where MNE's configuration says. MOABB fetches what is not there.

    Raises
    ------
    InputError
        When they do not fit together, or files cannot be read or fetched.
    """
    check_pair(dataset, paradigm)
    known = list(dataset.subject_list)
    asked = known if subjects is None else list(subjects)
    unknown = [each for each in asked if each not in known]
    if unknown:
        raise InputError(
            f"{type(dataset).__name__} has no subject {unknown[0]}; there are {known[0]} to {known[-1]}."
        )
    tables: list[pd.DataFrame] = []
    recordings: dict[str, Recording] = {}
    with files_at(data):
        for subject in asked:
            table, made = _load_subject(dataset, paradigm, subject)
            tables.append(table)
            recordings.update(made)
    examples = pd.concat(tables, ignore_index=True)
    manifest = describe_task(dataset, paradigm)
    _check_labels(examples, manifest)
    return Benchmark(
        manifest=manifest,
        make_examples=examples.copy,
        split_rules=_possible_splits(examples),
        open_recording=recordings.__getitem__,
        simulated=type(dataset).__name__.startswith("Fake"),
        options={} if subjects is None else {"subjects": [int(each) for each in asked]},
    )


def describe_task(dataset: Any, paradigm: Any) -> Manifest:
    """Return the rules of a dataset and a paradigm, which are known without the recordings."""
    words = f"{type(dataset).__name__}-{type(paradigm).__name__}"
    classes = sorted(str(name) for name in paradigm.used_events(dataset))
    metric = METRICS.get(str(paradigm.scoring))
    if len(classes) == 2:
        # MOABB judges two classes by AUROC, whether or not the paradigm was told how many there are.
        metric = "auroc"
    if metric is None or len(classes) < 2:
        raise InputError(
            f"moabb/{words}: is judged by {paradigm.scoring!r} with the classes {', '.join(classes)}; only AUROC and "
            "accuracy of two classes or more can be."
        )
    fields = {
        "name": f"moabb/{words}",
        "definition": "1",
        "title": f"{type(dataset).__name__}, {type(paradigm).__name__}",
        "question": f"Which of {', '.join(classes)} was it?",
        "metric": metric,
        "prediction": "probabilities",
        "classes": tuple(classes),
        "unit": "session",
        "cluster": "subject",
        "split_rule": "the evaluations of MOABB",
        "chance": 0.5 if metric == "auroc" else None,
        "licence": str(getattr(getattr(dataset, "METADATA", None), "license", None) or "not stated"),
        # Another version of MOABB, or other parameters, may cut other windows: boards do not mix them.
        "notes": (f"MOABB {importlib.metadata.version('moabb')}: {_describe(paradigm)}.",),
    }
    return build_manifest(
        {key: value for key, value in fields.items() if value is not None}, f"moabb/{words}"
    )


def _describe(paradigm: Any) -> str:
    said = {name: value for name, value in sorted(vars(paradigm).items()) if value is not None}
    return f"{type(paradigm).__name__}({', '.join(f'{name}={value}' for name, value in said.items())})"


def _load_subject(dataset: Any, paradigm: Any, subject: int) -> tuple[pd.DataFrame, dict[str, Recording]]:
    """Let MOABB cut the windows of one person; one recording per session."""
    import mne

    who = f"{type(dataset).__name__}, subject {subject}"
    try:
        with mne.utils.use_log_level("error"):
            epochs, labels, metadata = paradigm.get_data(dataset, [subject], return_epochs=True)
    except OSError as error:
        raise InputError(
            f"{who}: MOABB cannot read or fetch its recordings ({_say(error)}). Name the folder of its files with "
            "--data, choose people whose files are there (-O subjects=1,2), or let it fetch them once."
        ) from error
    except (ValueError, AssertionError, RuntimeError, KeyError) as error:
        raise InputError(f"{who}: MOABB cannot make its windows ({_say(error)}).") from error
    made: dict[str, Recording] = {}
    tables = []
    for session, rows in metadata.groupby("session", sort=True).indices.items():
        key = f"{subject}_{session}"
        opened = from_epochs(epochs, [int(row) for row in rows], key)
        length = len(epochs.times)
        block = opened.read(0, opened.n_samples).reshape(len(opened.channels), len(rows), length)
        made[key] = from_windows(block.swapaxes(0, 1), opened.rate_hz, opened.channels, key)
        numbers = np.arange(len(rows))
        tables.append(
            pd.DataFrame(
                {
                    "id": [f"{key}-{number:05d}" for number in numbers],
                    "recording": key,
                    "start": numbers * length,
                    "stop": (numbers + 1) * length,
                    "target": [str(labels[row]) for row in rows],
                    "unit": key,
                    "cluster": str(subject),
                    "subject": str(subject),
                    "session": str(session),
                    "run": metadata["run"].iloc[rows].astype(str).to_numpy(),
                }
            )
        )
    if not tables:
        raise InputError(f"{who}: has no window of these events.")
    return pd.concat(tables, ignore_index=True), made


def _say(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _check_labels(examples: pd.DataFrame, manifest: Manifest) -> None:
    found = set(examples["target"])
    if found - set(manifest.classes) or len(found) < 2:
        raise InputError(
            f"{manifest.name}: the windows are of {', '.join(sorted(found))}, and the classes are "
            f"{', '.join(manifest.classes)}. Two or more are needed; choose others with -O events=A,B."
        )


def _possible_splits(examples: pd.DataFrame) -> dict[str, Callable[[pd.DataFrame], Split]]:
    """Return the evaluations that these data allow."""
    sessions = examples.groupby("subject")["session"].nunique()
    rules: dict[str, Callable[[pd.DataFrame], Split]] = {SPLITS[0]: cut_within_sessions}
    if (sessions > 1).any():
        rules[SPLITS[1]] = functools.partial(
            leave_one_out, column="session", within="subject", name=SPLITS[1]
        )
    if len(sessions) > 1:
        rules[SPLITS[2]] = functools.partial(leave_one_out, column="subject", name=SPLITS[2])
    return rules


def cut_within_sessions(examples: pd.DataFrame) -> Split:
    """Cut every session into five stratified folds at random, as MOABB does.

    Raises
    ------
    InputError
        When a session has fewer than five windows of a class.
    """
    from sklearn.model_selection import StratifiedKFold

    folds = []
    for (subject, session), own in examples.sort_values("id").groupby(["subject", "session"]):
        counts = own["target"].value_counts()
        if counts.min() < N_FOLDS or len(counts) < 2:
            raise InputError(
                f"Subject {subject}, session {session}: {counts.min()} windows of {counts.idxmin()}, and {N_FOLDS} "
                "folds need as many of every class. Choose other subjects or events."
            )
        ids = own["id"].to_numpy()
        # A state of its own for every session, as MOABB has it: folds do not depend on who else takes part.
        cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=np.random.RandomState(SEED))
        for number, (train, test) in enumerate(cut.split(ids, own["target"])):
            folds.append(Fold(f"{subject}/{session}/{number}", tuple(ids[train]), tuple(ids[test])))
    note = "Folds are drawn at random within sessions, as in MOABB: windows next to each other stand on both sides."
    return Split(SPLITS[0], tuple(folds), notes=(note,), crosses=("subject", "session", "run"))
