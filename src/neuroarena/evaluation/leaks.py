"""The leak check: can the answers of a benchmark be obtained without any brain activity?"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, Split
from neuroarena.benchmarks.faces import families_with
from neuroarena.evaluation import leak_guessing as guessing
from neuroarena.evaluation import leak_signals as signals
from neuroarena.evaluation.leak_guessing import Setting, Targets
from neuroarena.evaluation.leak_identity import identity_probes
from neuroarena.evaluation.leak_report import LeakReport, Probe

__all__ = ["LeakReport", "Probe", "check_leaks"]

MOST_LOOKS, MOST_WINDOWS, MOST_EVENTS = 40, 24, 120
STREAM_PIECES = 16
# Characters that occur in the same order in training and test, in a text that was not typed twice.
RUN_OF_CHARACTERS = 16
LEAST_SHARED_TEXT = 0.1
EVENT_S = 0.1
# Shuffling fewer targets than this cannot give a p of 0.001 with room to spare.
FEWEST_RECORDINGS = 10


def _by_design(benchmark: Benchmark) -> tuple[tuple[str, ...], str]:
    """Return the kinds of links that are not a flaw of these data while hidden, and the reason, if any."""
    family = benchmark.manifest.name.partition("/")[0]
    return families_with("known_leaks").get(family, ((), ""))  # type: ignore[no-any-return]


def _known_answers(benchmark: Benchmark) -> tuple[str, ...]:
    """Return why the answers can be had on public data, where the family knows of a way."""
    family, _, task = benchmark.manifest.name.partition("/")
    reason = families_with("not_rankable").get(family, {}).get(task)
    return () if reason is None else (f"Not rankable on public data: {reason}",)


def check_leaks(benchmark: Benchmark, split: str | None = None, seed: int = 0) -> LeakReport:
    """Look for ways to the answers that need no brain activity.

    Order: the place of an example in its recording, or of a recording among all. Length: of examples, recordings
    and gaps. Channel: steps in the place of a signal, and a level that the target explains. Duplicates: samples
    that are both in training and in test. Text: runs of characters that are. Identity: a person, a session, a run or a
    block on both sides, and windows that overlap; what the split's definition declares is no leak. A link counts when
    it is at least :data:`~neuroarena.evaluation.leak_guessing.LEAST_EFFECT` of the way from chance to certainty and no
    shuffling
    of the targets in 999 does as well. What could be brain activity (power, shape) is not examined; a leak under noise
    as strong as itself in every window is not found.

    Parameters
    ----------
    benchmark : Benchmark
    split : str, optional
        By default the benchmark's first.
    seed : int
        Of the shuffling, and of the choice of windows.

    Raises
    ------
    InputError
        For an unknown split, and for data that cannot be read.
    """
    chosen = benchmark.split(split or benchmark.splits[0])
    case = _Case(benchmark, chosen, np.random.default_rng(seed))
    probes = [*case.guesses(), *case.channels(), case.duplicates(), *case.texts()]
    probes += identity_probes(benchmark, chosen)
    kinds, reason = _by_design(benchmark)
    probes = [
        replace(probe, by_design=True, why=f"{reason}; {probe.why}")
        if probe.found and probe.kind in kinds
        else probe
        for probe in probes
    ]
    notes = (*case.notes(), *_known_answers(benchmark))
    return LeakReport(benchmark.name, chosen.name, benchmark.simulated, tuple(probes), notes)


class _Case:
    """A benchmark under suspicion."""

    def __init__(self, benchmark: Benchmark, split: Split, rng: np.random.Generator) -> None:
        self.benchmark, self.rng = benchmark, rng
        parts = {"train": set[str](), "test": set[str]()}
        for fold in split.folds:
            parts["train"] |= {*fold.train, *fold.validation}
            parts["test"] |= set(fold.test)
        used = parts["train"] | parts["test"]
        table = benchmark.examples
        table = table[table["id"].isin(used)].sort_values(["recording", "start", "id"], ignore_index=True)
        self.table, self.parts = table, parts
        self.stream = benchmark.manifest.stream
        self.folds = _rows_of_folds(table, split)
        self.targets = _targets(benchmark, table)
        per_recording = table.groupby("recording")["target"].nunique()
        self.one_a_recording = bool((per_recording == 1).all()) and len(per_recording) > 1
        self._recordings = {str(key): benchmark.recording(str(key)) for key in table["recording"].unique()}
        self._lengths = {key: recording.n_samples for key, recording in self._recordings.items()}

    def notes(self) -> tuple[str, ...]:
        """Describe where there are too few data for a link to stand out from chance."""
        n = len(self._recordings)
        if not self.one_a_recording or n >= FEWEST_RECORDINGS:
            return ()
        return (
            f"{n} recordings with one target each are too few: no order, length or channel among fewer than "
            f"{FEWEST_RECORDINGS} can be told from chance, so that nothing found does not mean nothing there.",
        )

    def guesses(self) -> list[Probe]:
        """Guess targets from order and from length."""
        setting, order, length = self._by_recording() if self.one_a_recording else self._by_window()
        told = {"order": self._order_hidden(), "length": self._length_hidden()}
        asked = [("order", order, setting), ("length", length, setting)]
        if self.one_a_recording and self.stream is not None and setting.targets.kind == "number":
            asked.append(("order", order, self._from_recordings_start()))
        probes: dict[str, Probe] = {}
        for kind, features, case in asked:
            guess = guessing.best_guess(features, case, self.rng)
            if guess is None or (kind in probes and guess.score <= probes[kind].score):
                continue
            measure = "balanced accuracy" if case.targets.kind == "classes" else "correlation"
            what = f"{guess.feature} ({measure})"
            probes[kind] = Probe(kind, guess.found, what, guess.score, guess.chance, guess.p, *told[kind])
        return list(probes.values())

    def _by_window(self) -> tuple[Setting, dict[str, np.ndarray], dict[str, np.ndarray]]:
        table = self.table
        groups = table.groupby("recording", sort=False)
        place = groups.cumcount().to_numpy(dtype=np.float64)
        count = groups["id"].transform("size").to_numpy(dtype=np.float64)
        order = {"place in the recording": place, "share of the recording": place / np.maximum(count - 1, 1)}
        order |= {f"place in the recording modulo {k}": place % k for k in range(2, 7)}
        before = (table["start"] - groups["start"].shift(1)).fillna(-1.0)
        after = (groups["start"].shift(-1) - table["start"]).fillna(-1.0)
        length = {
            "length of the window": (table["stop"] - table["start"]).to_numpy(dtype=np.float64),
            "gap to the example before": before.to_numpy(dtype=np.float64),
            "gap to the example after": after.to_numpy(dtype=np.float64),
            "length of the recording": table["recording"].map(self._lengths).to_numpy(dtype=np.float64),
        }
        for column in table.columns:
            if column.endswith("_s") and pd.api.types.is_numeric_dtype(table[column]):
                length[f'the column "{column}"'] = table[column].to_numpy(dtype=np.float64)
        setting = guessing.AcrossFolds(self.targets, table["recording"].to_numpy(), self.folds)
        return setting, order, length

    def _by_recording(self) -> tuple[Setting, dict[str, np.ndarray], dict[str, np.ndarray]]:
        rows = self._one_row_each()
        own = self.table.iloc[rows]
        order = {"place of the recording among all": np.arange(len(rows), dtype=np.float64)}
        length = {
            "length of the example": (own["stop"] - own["start"]).to_numpy(dtype=np.float64),
            "length of the recording": own["recording"].map(self._lengths).to_numpy(dtype=np.float64),
        }
        setting = guessing.AcrossSubjects(self.targets.rows(rows), own["subject"].to_numpy())
        return setting, order, length

    def _one_row_each(self) -> np.ndarray:
        """Choose one example of each recording; of very many recordings, evenly."""
        rows = np.flatnonzero(~self.table["recording"].duplicated().to_numpy())
        if len(rows) > guessing.MOST_RECORDINGS:
            rows = rows[np.linspace(0, len(rows) - 1, guessing.MOST_RECORDINGS).astype(int)]
        return rows

    def _from_recordings_start(self) -> Setting:
        """Count answers from where recordings start: a cut that hides an order must not hide it from this check."""
        own = self.table.iloc[self._one_row_each()]
        rates = np.array([self._recordings[str(key)].rate_hz for key in own["recording"]])
        seconds = own["target"].to_numpy(dtype=np.float64) + own["start"].to_numpy() / rates
        return guessing.AcrossSubjects(guessing.number_targets(seconds), own["subject"].to_numpy())

    def _order_hidden(self) -> tuple[bool, str]:
        if self.stream is not None:
            return True, "every stream is played to a fresh copy, without an id"
        return True, "test examples come in an order drawn at random, under tokens in place of ids"

    def _length_hidden(self) -> tuple[bool, str]:
        if self.stream is None:
            return True, "test windows have one length, and a decoder sees neither neighbours nor recordings"
        if self.stream.horizon_s is None:
            return True, "a stream is answered window by window, before its end is known"
        shortest = self._shortest_s()
        if shortest + 0.5 < self.stream.horizon_s:
            return False, (
                f"streams end after {shortest:g} s or more and are played on to {self.stream.horizon_s:g} s with their "
                "own last minutes, which can be recognised"
            )
        return True, f"every stream lasts {self.stream.horizon_s:g} s"

    def _shortest_s(self) -> float:
        rate = self._recordings[str(self.table["recording"].iloc[0])].rate_hz
        return float((self.table["stop"] - self.table["start"]).min() / rate)

    def channels(self) -> list[Probe]:
        """Look for channels that hold the answer."""
        inside = not self.one_a_recording or self._is_typed()
        look = signals.ChannelLook(list(self._looks()), inside)
        seen = (False, "decoders are given every channel")
        probes = [
            Probe(
                "channel",
                True,
                f"{step.name}: steps, not a signal (samples equal to the one before)",
                step.still,
                0.0,
                None,
                *seen,
            )
            for step in look.steps()
        ]
        telling = look.telling(self.rng)
        if telling is not None:
            found = telling.p is not None and telling.p <= guessing.LEVEL
            what = f"{telling.name}: {telling.statistic} of a window (variance that the target explains)"
            probes.append(Probe("channel", found, what, telling.explained, 0.0, telling.p, *seen))
        return probes

    def _is_typed(self) -> bool:
        return self.benchmark.manifest.prediction == "text" and self.benchmark.read_events is not None

    def _looks(self) -> Iterator[signals.Look]:
        """Choose windows: of examples, of the beginning of streams, or of what is annotated in typed ones."""
        keys = list(self._lengths)
        most = guessing.MOST_RECORDINGS if self.one_a_recording and not self._is_typed() else MOST_LOOKS
        if len(keys) > most:
            keys = [keys[place] for place in np.sort(self.rng.choice(len(keys), most, replace=False))]
        rows_of = self.table.groupby("recording").indices
        for key in keys:
            recording = self._recordings[key]
            if self._is_typed():
                look = self._events(key)
                if look is not None:
                    yield look
                continue
            rows = rows_of[key]
            if len(rows) > MOST_WINDOWS:
                rows = np.sort(self.rng.choice(rows, MOST_WINDOWS, replace=False))
            own = self.table.iloc[rows[:1] if self.one_a_recording else rows]
            length = int((own["stop"] - own["start"]).min())
            if self.stream is not None:
                length = min(length, round(self.stream.window_s * recording.rate_hz))
            values = self.targets.values[rows[: len(own)]]
            targets = Targets(values, self.targets.kind, self.targets.names[rows[: len(own)]])
            yield signals.Look(recording, own["start"].to_numpy(dtype=np.int64), length, targets)

    def _events(self, key: str) -> signals.Look | None:
        recording, events = self._recordings[key], self._events_of(key)
        length = max(1, round(EVENT_S * recording.rate_hz))
        starts = (
            np.round(events["onset_s"].to_numpy(dtype=np.float64) * recording.rate_hz).astype(np.int64)
            - length // 2
        )
        inside = np.flatnonzero((starts >= 0) & (starts + length <= recording.n_samples))
        if not len(inside):
            return None
        if len(inside) > MOST_EVENTS:
            inside = np.sort(self.rng.choice(inside, MOST_EVENTS, replace=False))
        names = events["value"].astype(str).to_numpy()[inside]
        common = self._common_events
        coded = (names[:, np.newaxis] == np.array(common, dtype=object)).astype(np.float64)
        return signals.Look(recording, starts[inside], length, Targets(coded, "classes", names))

    @functools.lru_cache(maxsize=MOST_LOOKS)  # noqa: B019 - a case lives for one check
    def _events_of(self, key: str) -> pd.DataFrame:
        assert self.benchmark.read_events is not None
        return self.benchmark.read_events(key)

    @functools.cached_property
    def _common_events(self) -> list[str]:
        counted: Counter[str] = Counter()
        for key in list(self._recordings)[:MOST_LOOKS]:
            counted.update(self._events_of(key)["value"].astype(str))
        return sorted(name for name, _ in counted.most_common(signals.MOST_AXES))

    def duplicates(self) -> Probe:
        """Look for samples that are both in the training and in the test part of a fold."""
        contents = self._contents()
        shared, asked, example = 0, 0, ""
        for train, test in self.folds:
            known = {content: row for row in train for content in contents.get(row, ())}
            own = [(content, row) for row in test for content in contents.get(row, ())]
            twice = [(row, known[content]) for content, row in own if content in known]
            shared, asked = shared + len(twice), asked + len(own)
            if twice and not example:
                one, other = (self.table["recording"].iloc[row] for row in twice[0])
                example = f", for example of {one} in {other}"
        what = f"samples of a test part that are also in its training part (share of pieces){example}"
        seen = (False, "a decoder that remembers its training recognises them")
        return Probe("duplicates", shared > 0, what, shared / max(1, asked), 0.0, None, *seen)

    def _contents(self) -> dict[int, list[bytes]]:
        """Hash pieces of the signals of examples: row of the table -> hashes."""
        found: dict[int, list[bytes]] = {}
        for key, indices in self.table.groupby("recording").indices.items():
            rows = np.asarray(indices)
            recording, own = self._recordings[str(key)], self.table.iloc[rows]
            if self.stream is not None:
                last = max(0, recording.n_samples - signals.PIECE_SAMPLES)
                starts = np.unique(np.linspace(0, last, STREAM_PIECES).astype(np.int64))
                found[rows[0]] = list(signals.pieces(recording, starts, signals.PIECE_SAMPLES).values())
                continue
            if len(rows) > signals.MOST_PIECES:
                # Evenly, so that of a recording that is there twice the same pieces are taken.
                rows = rows[np.linspace(0, len(rows) - 1, signals.MOST_PIECES).astype(int)]
                own = self.table.iloc[rows]
            starts = own["start"].to_numpy(dtype=np.int64)
            length = int((own["stop"] - own["start"]).min())
            for place, content in signals.pieces(recording, starts, length).items():
                found[rows[place]] = [content]
        return found

    def texts(self) -> list[Probe]:
        """Look for texts of training that occur in test."""
        if self.benchmark.manifest.prediction != "text":
            return []
        own = {
            part: self.table.loc[self.table["id"].isin(ids), "target"].astype(str).tolist()
            for part, ids in self.parts.items()
        }
        known = {run for text in own["train"] for run in _runs(text)}
        asked = [run for text in own["test"] for run in _runs(text)]
        share = float(np.mean([run in known for run in asked])) if asked else 0.0
        what = f"runs of {RUN_OF_CHARACTERS} characters of test texts that training texts hold too (share)"
        seen = (False, "a decoder can learn the texts of training by heart")
        return [Probe("text", share >= LEAST_SHARED_TEXT, what, share, 0.0, None, *seen)]


def _runs(text: str) -> list[str]:
    return [
        text[place : place + RUN_OF_CHARACTERS] for place in range(max(0, len(text) - RUN_OF_CHARACTERS + 1))
    ]


def _rows_of_folds(table: pd.DataFrame, split: Split) -> list[tuple[np.ndarray, np.ndarray]]:
    row_of = pd.Series(np.arange(len(table)), index=table["id"])
    return [
        (row_of.loc[list(fold.train)].to_numpy(), row_of.loc[list(fold.test)].to_numpy())
        for fold in split.folds
    ]


def _targets(benchmark: Benchmark, table: pd.DataFrame) -> Targets:
    kind = benchmark.manifest.prediction
    target = table["target"].to_numpy()
    if benchmark.codebook is not None:
        return guessing.vector_targets(target, benchmark.codebook.vectors)
    if kind == "number":
        return guessing.number_targets(target)
    if kind == "text":
        return guessing.class_targets(
            [Counter(str(text)).most_common(1)[0][0] if text else "" for text in target]
        )
    return guessing.class_targets(target)
