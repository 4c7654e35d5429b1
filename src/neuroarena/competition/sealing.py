"""Seal the questions of a track: the truth goes into the vault, rules and ids to answer become public."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from neuroarena import atomic
from neuroarena.benchmarks import Benchmark, load_benchmarks, resolve
from neuroarena.benchmarks.faces import find_face
from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.halves import COLUMN, split_people
from neuroarena.competition.tracks import Track
from neuroarena.errors import InputError
from neuroarena.evaluation.questions import questions_of, write_questions
from neuroarena.scoring import Manifest, Overall


@dataclass(frozen=True, eq=False)
class Questions:
    """One part of a sheet: its truth, its rules, and what else is published about it."""

    truth: pd.DataFrame
    manifest: Manifest
    facts: Mapping[str, Any]


def seal_track(arena: Arena, name: str, data: str | None = None, phase: str | None = None) -> dict[str, str]:
    """Read the truth of a track from its data once, and return the commitments that are published.

    Parameters
    ----------
    arena : Arena
    name : str
        Of the track.
    data : str, optional
        Folder of the data; by default what the competition file says.
    phase : str, optional
        The phase whose own questions are sealed; by default those of the track.

    Returns
    -------
    dict
        Part -> commitment; a track that is not a suite has one part, without a name.

    Raises
    ------
    InputError
        When the benchmark cannot be loaded, or it was sealed with another truth.
    """
    track = arena.competition.track(name)
    if phase is not None and phase not in track.sheets:
        raise InputError(
            f'The track "{name}" asks the same in the phase "{phase}" as elsewhere: the competition file has no '
            f"[tracks.sheets.{phase}]. Seal it without --phase."
        )
    parts: dict[str, Questions] = {}
    loaded = _load(track, data, phase)
    split = track.split if phase is None else track.sheets[phase].split or track.split
    for benchmark in loaded:
        cut = benchmark.split(split or benchmark.splits[0])
        facts = {"benchmark": benchmark.name, "split": cut.name, "split_hash": cut.hash}
        part = benchmark.name.partition("/")[2] if len(loaded) > 1 else ""
        parts[part] = Questions(
            benchmark.truth(cut), benchmark.manifest, {**facts, "simulated": benchmark.simulated}
        )
    _check_ranges(track, parts)
    sheet = track.sheet(phase) if phase is not None else track.name
    if "code" in track.kinds:
        for part, benchmark in zip(parts, loaded, strict=True):
            _write_questions(arena, sheet, part, benchmark, split)
    overall = find_face(resolve(track.benchmark)[0], "overall") if len(parts) > 1 else None
    return keep_sheet(arena, sheet, parts, overall)


def _check_ranges(track: Track, parts: Mapping[str, Questions]) -> None:
    """Refuse a range for a part that is not there: its predictions would not be clipped, and nobody would notice."""
    stated = track.label_range if isinstance(track.label_range, dict) else {}
    for part in stated:
        if part not in parts or parts[part].manifest.prediction != "number":
            numbers = [name for name, asked in parts.items() if asked.manifest.prediction == "number"]
            raise InputError(
                f'The track "{track.name}" has a label_range for "{part}". Parts of it that are answered with '
                f"numbers: {', '.join(numbers) or 'none'}."
            )


def _write_questions(arena: Arena, sheet: str, part: str, benchmark: Benchmark, split: str | None) -> None:
    """Write what code is asked, without any label, where the runner finds it; once."""
    folder = arena.questions_folder(sheet, part)
    chosen = split or benchmark.splits[0]
    contract: Any = find_face(
        resolve(arena.competition.track(sheet.partition("@")[0]).benchmark)[0], "code_contract"
    )
    if hasattr(contract, "make_lesson"):
        arena.vault.keep_lesson(sheet, contract.make_lesson(benchmark, chosen), part)
    if folder.exists():
        return
    if hasattr(contract, "write_questions"):
        folder.parent.mkdir(parents=True, exist_ok=True)
        contract.write_questions(benchmark, chosen, folder)
    else:
        write_questions(questions_of(benchmark, chosen), folder)


def keep_truth(
    arena: Arena, sheet: str, truth: pd.DataFrame, manifest: Manifest, facts: Mapping[str, Any]
) -> str:
    """Keep a sheet with one part, and return the commitment of its truth; see :func:`keep_sheet`."""
    return keep_sheet(arena, sheet, {"": Questions(truth, manifest, facts)})[""]


def keep_sheet(
    arena: Arena, sheet: str, parts: Mapping[str, Questions], overall: Overall | None = None
) -> dict[str, str]:
    """Put the truth of every part into the vault, publish rules and ids, and return the commitments.

    Parameters
    ----------
    arena : Arena
    sheet : str
        Name of the questions: a track, or ``track@phase``.
    parts : mapping of part to Questions
        The rules in it judge every submission from now on.
    overall : Overall, optional
        How several parts become one number.
    """
    commitments = {}
    for part, asked in parts.items():
        truth = _split_halves(arena, sheet, asked.truth)
        commitments[part] = arena.vault.seal_truth(sheet, truth, part)
        folder = arena.public_folder(sheet, part)
        folder.mkdir(parents=True, exist_ok=True)
        with atomic.replacing(folder / "ids.parquet") as temporary:
            # Sorted, so that the order of the rows says nothing about the recordings.
            pd.DataFrame({"id": sorted(truth["id"].astype(str))}).to_parquet(temporary, index=False)
        atomic.write_text(folder / "manifest.json", asked.manifest.model_dump_json(indent=2) + "\n")
    said = _describe_sheet(arena, sheet, parts, overall)
    said["truth_commitment"] = commitments
    atomic.write_json(arena.public_folder(sheet) / "track.json", said)
    with arena.store.writing() as connection:
        append_event(connection, arena.store.clock(connection), "organiser", "sealed", sheet, said)
    return commitments


def _describe_sheet(
    arena: Arena, sheet: str, parts: Mapping[str, Questions], overall: Overall | None
) -> dict[str, Any]:
    first = next(iter(parts.values()))
    return {
        **first.facts,
        "parts": list(parts),
        "benchmarks": {part: asked.facts["benchmark"] for part, asked in parts.items()},
        "manifest_hash": {part: asked.manifest.hash for part, asked in parts.items()},
        "key_commitment": arena.orders.commitment,
        "overall": None if overall is None else overall.model_dump(mode="json"),
        "halves": arena.competition.halves is not None and arena.is_sealed_sheet(sheet),
    }


def _split_halves(arena: Arena, sheet: str, truth: pd.DataFrame) -> pd.DataFrame:
    """Add the half of every example, where the competition has halves and the sheet is asked in a sealed phase."""
    halves = arena.competition.halves
    if halves is None or not arena.is_sealed_sheet(sheet):
        return truth
    try:
        return truth.assign(**{COLUMN: split_people(truth, halves.public_share)})
    except ValueError as error:
        raise InputError(f'"{sheet}": {error}. Leave [halves] out, or seal more people.') from error


def _load(track: Track, data: str | None, phase: str | None) -> tuple[Benchmark, ...]:
    sheet = track.sheets[phase] if phase is not None else None
    where = data or (sheet.data if sheet is not None else None) or track.data
    options = {**track.options, **(sheet.options if sheet is not None else {})}
    loaded = load_benchmarks(track.benchmark, where, **options)
    wrong = [each for each in loaded if not isinstance(each, Benchmark)]
    if not loaded or wrong:
        raise InputError(
            f'The track "{track.name}" needs benchmarks of recordings; "{track.benchmark}" is something else.'
        )
    if len(loaded) > 1:
        overall = find_face(resolve(track.benchmark)[0], "overall")
        counted = () if overall is None else overall.leaves([each.name.partition("/")[2] for each in loaded])
        loaded = tuple(each for each in loaded if not counted or each.name.partition("/")[2] in counted)
    return loaded
