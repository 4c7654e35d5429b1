"""What a board ranks: one judged submission each, from a run, a folder of a real board, or a competition."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

import numpy as np
import pandas as pd
from pydantic import BaseModel

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest
from neuroarena.scoring import COMBINERS, METRICS, Manifest
from neuroarena.scoring.combiners import merged_columns

if TYPE_CHECKING:
    from neuroarena.evaluation.results import Result

Role = Literal["entry", "chance", "dummy", "classical", "organiser"]
ROLES: tuple[str, ...] = get_args(Role)
FLOORS: tuple[str, ...] = ("chance", "dummy", "classical")
# Digits of the hash of a model's content that tell models of one name apart.
CONTENT_DIGITS = 8
# Floors that never look at a signal; boards show them dimmed.
BLIND_FLOORS: tuple[str, ...] = ("chance", "dummy")


@dataclass(frozen=True, eq=False)
class Entry:
    """One submission of one team to one split of one benchmark.

    Parameters
    ----------
    team : str
        Who is ranked; for results of ``neuroarena run``, the decoder's name.
    benchmark : str
        Full name with the definition: ``family@definition/task``.
    split : str
    manifest : Manifest
        The rules it was judged by.
    unit_scores : DataFrame or None
        One row per (unit, fold): unit, fold, cluster, n, score, where the manifest has one tie_break, and
        the additive columns of the metric; in the metrics' own directions. ``fold``, ``cluster`` and
        ``n`` may be left out where neither the manifest nor the combiner needs them.
    time : datetime
        When it was submitted, with a time zone; stored in UTC.
    role : {"entry", "chance", "dummy", "classical", "organiser"}
    simulated : bool
        Whether the data are a simulated twin.
    reason : str, optional
        Why it cannot rank.
    provenance : mapping
        What is known about how it was made: run_key, scorer_version, folder, split_hash, neuroarena, ...
    notes : tuple of str
        Short marks shown beside the team, such as "after the deadline".
    repeats : tuple of DataFrame
        Where it was trained with several seeds: unit scores of each, in the form of `unit_scores`, which is their mean.
    predictions : DataFrame, optional
        Of a model that was shown stimuli: what its family makes verdicts from.

    Raises
    ------
    InputError
        When the time has no zone, the role is unknown, or the benchmark's name is not complete.
    """

    team: str
    benchmark: str
    split: str
    manifest: Manifest
    unit_scores: pd.DataFrame | None
    time: datetime.datetime
    role: Role = "entry"
    simulated: bool = False
    reason: str | None = None
    provenance: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    repeats: tuple[pd.DataFrame, ...] = ()
    predictions: pd.DataFrame | None = None

    def __post_init__(self) -> None:
        """Check what every board relies on, and keep the time in UTC."""
        if not self.team:
            raise InputError(f"{self.benchmark}: an entry needs the name of its team; got an empty one.")
        if self.time.tzinfo is None:
            raise InputError(f'Team "{self.team}": the time {self.time} has no time zone; pass it in UTC.')
        if self.role not in ROLES:
            raise InputError(f'Team "{self.team}": no role "{self.role}"; there are: {", ".join(ROLES)}.')
        family, _, task = self.benchmark.partition("/")
        if not task or not family.partition("@")[2]:
            raise InputError(
                f'Team "{self.team}": "{self.benchmark}" is not the full name of a benchmark. '
                "Expected family@definition/task."
            )
        object.__setattr__(self, "time", self.time.astimezone(datetime.UTC))

    @property
    def family(self) -> str:
        """The family of the benchmark."""
        return self.benchmark.partition("/")[0].partition("@")[0]

    @property
    def definition(self) -> str:
        """The version of the definition."""
        return self.benchmark.partition("/")[0].partition("@")[2]

    @property
    def task(self) -> str:
        """The task within the family."""
        return self.benchmark.partition("/")[2]

    @property
    def split_hash(self) -> str | None:
        """The hash of the split, where it is known."""
        return self.provenance.get("split_hash")


def entries_from_results(results: Iterable[Result]) -> list[Entry]:
    """Turn runs into entries; the team is the decoder's name.

    A run that is not complete becomes an entry that says how many cells failed, and the first error. Where results of
    several kinds bear one name (a decoder that was run, and a file of its predictions), each but the run is shown with
    its kind, as in "ridge (predictions)". Different models that bear one name are different teams, told apart by the
    first digits of the hash of their content. A run whose training seeds are all among those of another run of the same
    decoder is left out: the mean over more seeds replaces it, however lucky it was.
    """
    everything = _with_most_seeds(list(results))
    kinds: dict[tuple[str, str], set[str]] = {}
    contents: dict[tuple[str, str], set[str]] = {}
    for result in everything:
        key = (result.record.family, result.record.decoder.name)
        kinds.setdefault(key, set()).add(result.record.kind)
        if result.record.kind == "model" and result.record.decoder.code is not None:
            contents.setdefault(key, set()).add(result.record.decoder.code)
    return [
        _tell_apart(_entry(each, kinds[key]), each, len(contents.get(key, ())))
        for each in everything
        for key in [(each.record.family, each.record.decoder.name)]
    ]


def _tell_apart(entry: Entry, result: Result, n_models: int) -> Entry:
    """Name a model by its content too, where several bear its name."""
    code = result.record.decoder.code
    if n_models < 2 or result.record.kind != "model":
        return entry
    named = entry.team if code is None else f"{entry.team} #{code[:CONTENT_DIGITS]}"
    return replace(
        entry,
        team=named,
        notes=(*entry.notes, f"one of {n_models} models of this name"),
        provenance={**entry.provenance, "namesake": entry.team},
    )


def describe_namesakes(entries: Iterable[Entry]) -> list[str]:
    """Warn, in one sentence per name, that different models bear it."""
    teams: dict[str, set[str]] = {}
    for entry in entries:
        if "namesake" in entry.provenance:
            teams.setdefault(str(entry.provenance["namesake"]), set()).add(entry.team)
    return [
        f"{len(own)} different models are called {name}: {', '.join(sorted(own))}. Each has a row of its own; "
        "rename one with neuroarena results rename."
        for name, own in sorted(teams.items())
    ]


def _with_most_seeds(results: list[Result]) -> list[Result]:
    """Leave out runs whose seeds are a part of those of another run that differs in nothing else."""

    def question(result: Result) -> str:
        record = result.record
        asked = (record.kind, record.simulated, record.benchmark, record.split, record.decoder)
        return digest([part.model_dump() if isinstance(part, BaseModel) else part for part in asked])

    repeated: dict[str, list[set[int]]] = {}
    for result in results:
        if result.repeats:
            repeated.setdefault(question(result), []).append(set(result.record.seeds))
    if not repeated:
        return results
    return [
        result
        for result in results
        if not any(set(result.record.seeds) < seeds for seeds in repeated.get(question(result), ()))
    ]


def _entry(result: Result, kinds: set[str]) -> Entry:
    record = result.record
    name = record.decoder.name
    return Entry(
        team=name if len(kinds) == 1 or record.kind == "run" else f"{name} ({record.kind})",
        benchmark=record.benchmark.name,
        split=record.split.name,
        manifest=record.manifest,
        unit_scores=None if result.unit_scores is None else result.unit_scores.table,
        time=record.finished,
        role=cast(Role, record.decoder.role),
        simulated=record.simulated,
        reason=_failure(result),
        provenance={
            "run_key": record.run_key,
            "kind": record.kind,
            "scorer_version": record.scorer_version,
            "seed": record.seed,
            "seeds": list(record.seeds),
            "neuroarena": record.neuroarena,
            "manifest_hash": record.benchmark.manifest_hash,
            "split_hash": record.split.hash,
            "options": record.benchmark.options,
            "notes": list(record.benchmark.notes),
            "n_train": _mean_size(result),
            "leaks": list(record.split.leaks),
            "crossings": list(record.split.crossings),
            "encoder_weights": record.decoder.encoder_weights,
            "folder": None if result.folder is None else result.folder.name,
            "decoder": name,
            "decoder_type": record.decoder.type,
            "decoder_code": record.decoder.code,
            "source": None if record.source is None else record.source.model_dump(),
            "reported": record.reported,
        },
        repeats=tuple(each.unit_scores.table for each in result.repeats),
        predictions=result.predictions if record.kind == "model" else None,
    )


def _mean_size(result: Result) -> float | None:
    """Return how many examples a fold was trained on, on average; None where that is not known."""
    sizes = [cell.n_train for cell in result.record.cells if cell.n_train is not None]
    return sum(sizes) / len(sizes) if sizes else None


def _failure(result: Result) -> str | None:
    failed = result.record.failed_cells
    if failed:
        error = " ".join((failed[0].error or "no reason was recorded").split())
        n_cells = len(result.record.cells)
        return f"{len(failed)} of {n_cells} cells failed; the first, fold {failed[0].fold}: {error}"
    if not result.complete:
        return "the run is not complete"
    if result.unit_scores is not None:
        return None
    return result.record.left_out.get("unit_scores", "the run has no unit scores")


@dataclass(frozen=True, eq=False)
class Judged:
    """An entry that can rank: its units in ascending order, its folds merged, its scores oriented.

    Attributes
    ----------
    units, clusters : tuple of str
        One label per unit.
    shown : ndarray, (units,)
        Unit scores in the metric's own direction.
    columns : dict of str to ndarray, (units,)
        What the manifest's combiner takes, without ``count``.
    score, tie_break : float
        Of all units; higher is better.
    repeats : tuple of Judged
        The same for each training seed, where there are several.
    """

    entry: Entry
    units: tuple[str, ...]
    clusters: tuple[str, ...]
    shown: np.ndarray
    columns: dict[str, np.ndarray]
    score: float
    tie_break: float | None
    repeats: tuple[Judged, ...] = ()


class Judge:
    """Judge entries; entries on the same rows share the work of sorting them into units."""

    def __init__(self) -> None:
        self._rows: dict[tuple[Any, ...], _Rows] = {}
        self._last: tuple[list[pd.Series], _Rows] | None = None

    def __call__(self, entry: Entry) -> Judged | str:
        """Merge the folds of an entry and combine its units, or return why it cannot rank."""
        judged = self._judge(entry)
        if isinstance(judged, str) or not entry.repeats:
            return judged
        repeats: list[Judged] = []
        for table in entry.repeats:
            one = self._judge(replace(entry, unit_scores=table, repeats=()))
            if isinstance(one, str):
                return one
            if one.units != judged.units:
                return "its training seeds were not judged on the same units"
            repeats.append(one)
        return replace(judged, repeats=tuple(repeats))

    def _judge(self, entry: Entry) -> Judged | str:
        table = entry.unit_scores
        if entry.reason is not None:
            return entry.reason
        if table is None or table.empty:
            return "it has no unit scores"
        columns = _columns_needed(entry.manifest)
        wanted = ["unit", "score", *columns.values(), *(["tie_break"] if entry.manifest.tie_break else [])]
        # All columns in one pass: asking a table for them by name takes three times as long, for every entry.
        held = {str(name): column for name, column in table.items()}
        missing = [name for name in wanted if name not in held]
        if missing:
            return f'its unit scores lack the column "{missing[0]}"'
        rows = self._rows_of(held)
        if isinstance(rows, str):
            return rows
        values: dict[str, np.ndarray] = {}
        for name in dict.fromkeys(wanted[1:]):
            numbers = _numbers(held[name])
            broken = ~np.isfinite(numbers)
            if broken.any():
                at = int(broken.argmax())
                return f'unit "{held["unit"].iloc[at]}": {name} is {held[name].iloc[at]}'
            values[name] = rows.means(numbers) if name in ("score", "tie_break") else rows.sums(numbers)
        try:
            combined = _combine_columns(entry, values, columns)
        except InputError as error:
            return str(error)
        return _judge_units(entry, rows, values, combined)

    def _rows_of(self, held: dict[str, pd.Series]) -> _Rows | str:
        columns = [held[name] for name in ("unit", "fold", "cluster") if name in held]
        # Comparing with the entry before is four times as fast as making a key of a thousand texts.
        if self._last is not None and _same(columns, self._last[0]):
            return self._last[1]
        # Through NumPy: iterating over pandas' own text column is fifty times as slow.
        key = tuple((column.name, *column.to_numpy(dtype=object)) for column in columns)
        try:
            if key not in self._rows:
                self._rows[key] = _Rows.of(pd.DataFrame({str(column.name): column for column in columns}))
        except InputError as error:
            return str(error)
        self._last = (columns, self._rows[key])
        return self._rows[key]


def _same(columns: list[pd.Series], others: list[pd.Series]) -> bool:
    return len(columns) == len(others) and all(
        one.name == other.name and one.equals(other) for one, other in zip(columns, others, strict=True)
    )


@dataclass(frozen=True, eq=False)
class _Rows:
    """How rows (unit, fold) fall into units."""

    units: tuple[str, ...]
    clusters: tuple[str, ...]
    unit_of: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, labels: pd.DataFrame) -> _Rows:
        names = [str(unit) for unit in labels["unit"]]
        units, first, unit_of = np.unique(
            np.array(names, dtype=object), return_index=True, return_inverse=True
        )
        keys = [name for name in ("unit", "fold") if name in labels.columns]
        twice = labels.duplicated(keys)
        if twice.any():
            raise InputError(f'unit "{labels.loc[twice, "unit"].iloc[0]}" has two rows for one fold')
        if "cluster" in labels.columns:
            of_row = [str(cluster) for cluster in labels["cluster"]]
            clusters = tuple(of_row[at] for at in first)
            torn = [
                name for name, unit, own in zip(names, unit_of, of_row, strict=True) if clusters[unit] != own
            ]
            if torn:
                raise InputError(f'unit "{torn[0]}" is in several clusters')
        else:
            clusters = tuple(str(unit) for unit in units)
        counts = np.bincount(unit_of, minlength=len(units))
        return cls(tuple(str(unit) for unit in units), clusters, unit_of, counts)

    def sums(self, values: np.ndarray) -> np.ndarray:
        return np.bincount(self.unit_of, weights=values, minlength=len(self.units))

    def means(self, values: np.ndarray) -> np.ndarray:
        means: np.ndarray = self.sums(values) / self.counts
        return means


def _numbers(column: pd.Series) -> np.ndarray:
    """Return a column as numbers, NaN for anything else."""
    if not pd.api.types.is_numeric_dtype(column.dtype):
        column = pd.to_numeric(column, errors="coerce")
    numbers: np.ndarray = column.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def _columns_needed(manifest: Manifest) -> dict[str, str]:
    """Map each column that the combiner sums to a column of the table."""
    roles = METRICS.get(manifest.metric).roles
    names = COMBINERS.get(manifest.combiner).columns
    return {name: "score" if name == "score" else roles.get(name, name) for name in names if name != "count"}


def _combine_columns(
    entry: Entry, values: dict[str, np.ndarray], needed: dict[str, str]
) -> dict[str, np.ndarray]:
    """Return the columns that the combiner takes, (units,): folds are summed, or stay apart for medians."""
    manifest, table = entry.manifest, entry.unit_scores
    if COMBINERS.get(manifest.combiner).over == "sums" or table is None:
        return {name: values[source] for name, source in needed.items()}
    named = table.assign(unit=table["unit"].astype(str))
    return merged_columns(named, manifest.combiner, METRICS.get(manifest.metric))


def _judge_units(
    entry: Entry, rows: _Rows, values: dict[str, np.ndarray], columns: dict[str, np.ndarray]
) -> Judged | str:
    manifest = entry.manifest
    combiner = COMBINERS.get(manifest.combiner)
    summaries = combiner.summarise(columns)
    summaries["count"] = np.asarray(float(len(rows.units)))
    with np.errstate(divide="ignore", invalid="ignore"):
        score = float(combiner.apply(summaries))
    if not np.isfinite(score):
        return f"the score of all units is {score}"
    tie_break = None
    if manifest.tie_break is not None:
        metric = METRICS.get(manifest.tie_break)
        tie_break = metric.sign * metric.over_units(values["tie_break"])
    return Judged(
        entry, rows.units, rows.clusters, values["score"], columns, manifest.sign * score, tie_break
    )
