"""Make a benchmark of one's own data: rules and pieces in, a benchmark like any other out."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from neuroarena.benchmarks.benchmark import Benchmark
from neuroarena.benchmarks.own.definition import Definition, read_rules
from neuroarena.benchmarks.own.pieces import Piece
from neuroarena.benchmarks.own.sources import Reading, find_pieces
from neuroarena.benchmarks.own.splitting import SplitRule, split_rules
from neuroarena.benchmarks.own.stacks import Cutting, find_stacks
from neuroarena.benchmarks.own.table import OwnExamples, make_examples
from neuroarena.errors import InputError, UnknownName
from neuroarena.features import FeatureChain
from neuroarena.fingerprint import digest
from neuroarena.recordings import Recording
from neuroarena.recordings.bids import INTRACRANIAL
from neuroarena.scoring import Manifest
from neuroarena.scoring.manifest import build_manifest
from neuroarena.scoring.metrics import METRICS, Prediction

# Of these groups of kinds the first that a recording has is decoded, unless channels are named.
SIGNALS = (("eeg",), ("ieeg", *INTRACRANIAL), ("emg",), ("meg",))
# Boards show the digest that tells two definitions apart; eight digits are enough for one lab.
_DIGITS = 8


def benchmark_from_events(data: Any, rules: Mapping[str, Any]) -> Benchmark:
    """Make a benchmark of recordings and events; see :meth:`Benchmark.from_events`."""
    where = "Benchmark.from_events"
    reading, rules = _take_reading(rules, where)
    definition = read_rules(Definition, rules, where)
    pieces = find_pieces(data, replace(reading, montage=definition.montage))
    return make_benchmark(pieces, definition, where)


def benchmark_from_epochs(data: Any, rules: Mapping[str, Any]) -> Benchmark:
    """Make a benchmark of windows that were cut already; see :meth:`Benchmark.from_epochs`."""
    where = "Benchmark.from_epochs"
    told = dict(rules)
    names = ("metadata", "rate_hz", "channel_names", "names", "folder")
    cutting = Cutting(**{name: told.pop(name) for name in names if name in told})
    definition = read_rules(Definition, told, where)
    return make_benchmark(find_stacks(data, cutting.owned_as(definition)), definition, where)


def _take_reading(rules: Mapping[str, Any], where: str) -> tuple[Reading, dict[str, Any]]:
    """Divide what was given into how data are read and what is asked of them."""
    told = dict(rules)
    names = ("events", "names", "task", "subjects", "stim_channel", "rate_hz", "channel_names", "folder")
    reading = {name: told.pop(name) for name in names if name in told}
    if "folder" in reading:
        reading["folder"] = Path(reading["folder"])
    if reading.get("subjects") is not None:
        reading["subjects"] = tuple(str(subject) for subject in reading["subjects"])
    for name in ("names", "task", "stim_channel"):
        if not isinstance(reading.get(name, ""), str):
            raise InputError(f'{where}: the key "{name}": expected text, got {reading[name]!r}.')
    return Reading(**reading), told


def make_benchmark(
    pieces: Sequence[Piece],
    definition: Definition,
    where: str,
    rules: Mapping[str, SplitRule] | None = None,
) -> Benchmark:
    """Make a benchmark of pieces.

    Parameters
    ----------
    pieces : sequence of Piece
    definition : Definition
    where : str
        What messages begin with.
    rules : mapping of str to callable, optional
        Split rules in place of those that the definition names.

    Raises
    ------
    InputError
        Whatever is wrong with data or rules, by name.
    """
    rules = split_rules(definition, where) if rules is None else rules
    prediction = _prediction_of(definition.metric, where)
    made = make_examples(pieces, definition, prediction == "number", where)
    used = set(made.table["recording"])
    pieces = [piece for piece in pieces if piece.key in used]
    _check_rates(pieces, definition, where)
    kept = {piece.key: tuple(_choose_channels(piece, definition, where)) for piece in pieces}
    chain = _try_features(definition, made, pieces, where)
    for key in definition.known:
        if key not in made.table:
            raise InputError(f'{where}: the key "known" names "{key}", which the events do not have.')
        if key in (made.target, "target"):
            raise InputError(
                f'{where}: the key "known" names "{key}", which is decoded: decoders would be told the answer.'
            )
    openers = {piece.key: piece.open for piece in pieces}

    def open_recording(key: str) -> Recording:
        recording = openers[key]()
        names = list(kept[key])
        return recording if names == recording.channels["name"].tolist() else recording.select(names)

    benchmark = Benchmark(
        manifest=_manifest(definition, made, prediction, where),
        make_examples=made.table.copy,
        split_rules=rules,
        open_recording=open_recording,
        options=describe_rules(definition, made),
        notes=(*definition.notes, *made.notes, *_note_bad(pieces)),
        known=definition.known,
        features=chain,
    )
    for name in rules:
        # A split that cannot be cut is refused now, with the rules at hand, rather than in the middle of a run.
        _cut(benchmark, name, where)
    return benchmark


def _cut(benchmark: Benchmark, name: str, where: str) -> None:
    try:
        benchmark.split(name)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error


def _prediction_of(metric: str, where: str) -> Prediction:
    """Choose what is predicted: probabilities where the metric can judge them, because they say most."""
    try:
        kinds = METRICS.get(metric).predictions
    except UnknownName as error:
        raise InputError(f'{where}: the key "metric": {error}') from None
    return "probabilities" if "probabilities" in kinds else kinds[0]


def describe_rules(definition: Definition, made: OwnExamples) -> dict[str, Any]:
    """Return the rules as they are recorded: what was said, and what was chosen where nothing was."""
    said = definition.model_dump(
        mode="json", exclude_defaults=True, exclude={"name", "definition", "title", "question"}
    )
    return {
        **said,
        "target": made.target,
        "unit": made.unit,
        "window_s": [round(edge, 6) for edge in made.window_s],
    }


def _manifest(definition: Definition, made: OwnExamples, prediction: Prediction, where: str) -> Manifest:
    rules = describe_rules(definition, made)
    family, _, task = definition.task_name.partition("/")
    begin, end = made.window_s
    window = f"{begin:g} to {end:g} s around the event"
    named = f"Which {made.target} was it?" if made.classes else f"How large was {made.target}?"
    # A split has a name and a hash of its own; a licence and notes change no score.
    asked = {
        key: value for key, value in rules.items() if key not in ("split", "split_hashes", "licence", "notes")
    }
    fields = {
        "name": f"{family}/{task}",
        "definition": definition.definition or digest([asked, made.classes])[:_DIGITS],
        "title": definition.title or task.replace("-", " ").replace("_", " "),
        "question": definition.question or named,
        "metric": definition.metric,
        "tie_break": definition.tie_break,
        "additional_metrics": definition.additional_metrics,
        "prediction": prediction,
        "classes": made.classes,
        "unit": made.unit,
        "cluster": made.cluster,
        "split_rule": "as the name of the split says",
        "split_hashes": definition.split_hashes,
        "chance": _chance(definition.metric, len(made.classes)),
        "licence": definition.licence,
        # The rules are part of the manifest, so that no change of them is overlooked.
        "notes": (f"Windows of {window}.", f"Rules: {digest(asked)}."),
    }
    return build_manifest({key: value for key, value in fields.items() if value is not None}, where)


def _chance(metric: str, n_classes: int) -> float | None:
    if not n_classes:
        return None
    return {"auroc": 0.5, "balanced_accuracy": 1 / n_classes}.get(metric)


def _try_features(
    definition: Definition, made: OwnExamples, pieces: Sequence[Piece], where: str
) -> FeatureChain:
    """Return what windows go through, after trying it on one window of every rate."""
    try:
        chain = definition.features(made.window_s)
        for rate in sorted({piece.rate_hz for piece in pieces}):
            seconds = made.window_s[1] - made.window_s[0] + 2 * definition.pad_s
            chain.output_shape(2, round(seconds * rate), rate)
    except InputError as error:
        raise InputError(f"{where}: {error}") from error
    return chain


def _check_rates(pieces: Sequence[Piece], definition: Definition, where: str) -> None:
    rates = {piece.rate_hz: piece.key for piece in pieces}
    if len(rates) > 1 and definition.resample_hz is None:
        (one, first), (two, second) = list(rates.items())[:2]
        raise InputError(
            f"{where}: {first} has {one:g} samples per second and {second} has {two:g}. Bring them to one rate with "
            "resample_hz."
        )


def _choose_channels(piece: Piece, definition: Definition, where: str) -> list[str]:
    """List the channels of a piece that decoders see, in their order; those marked as bad are left out."""
    table = piece.channels[~piece.channels["name"].isin(piece.bad)]
    asked = definition.channels
    if asked is None:
        kinds = next((group for group in SIGNALS if table["kind"].isin(group).any()), None)
        chosen = table[table["kind"].isin(kinds)] if kinds else table[table["kind"] != "stim"]
    elif set(asked) <= {*piece.channels["kind"], *(kind for group in SIGNALS for kind in group)}:
        wanted = {one for kind in asked for one in (SIGNALS[1] if kind == "ieeg" else (kind,))}
        chosen = table[table["kind"].isin(wanted)]
    else:
        absent = [name for name in asked if name not in set(piece.channels["name"])]
        if absent:
            known = piece.channels["name"].tolist()
            shown = ", ".join(known[:8]) + (", ..." if len(known) > 8 else "")
            kinds_there = ", ".join(sorted(set(piece.channels["kind"])))
            near = _closest_channel(absent[0], known)
            hint = f' Did you mean "{near}"?' if near else ""
            raise InputError(
                f'{where}: {piece.key} has no channel or kind "{absent[0]}".{hint} Its kinds are {kinds_there}; its '
                f"channels are {shown}."
            )
        good = set(table["name"])
        return [name for name in asked if name in good]
    if chosen.empty:
        raise InputError(f"{where}: {piece.key} has no channel of the kind {' or '.join(asked or ['eeg'])}.")
    return list(chosen["name"])


def _closest_channel(asked: str, known: Sequence[str]) -> str | None:
    """Return the channel that a name may stand for: files write ``C3..`` or ``EEG C3-Ref`` where people write C3."""
    for name in known:
        if asked.casefold() in re.findall(r"\w+", name.casefold()):
            return name
    return next(iter(difflib.get_close_matches(asked, known, n=1)), None)


def _note_bad(pieces: Sequence[Piece]) -> tuple[str, ...]:
    marked = [piece for piece in pieces if piece.bad]
    if not marked:
        return ()
    first = marked[0]
    return (
        f"Channels marked as bad were left out of {len(marked)} of {len(pieces)} "
        f"{'recording' if len(pieces) == 1 else 'recordings'}, for example {', '.join(first.bad[:4])} of {first.key}.",
    )


__all__ = ["benchmark_from_epochs", "benchmark_from_events", "describe_rules", "make_benchmark"]
