"""Seal a track: its truth goes into the vault, its rules and the ids to answer become public."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from neuroarena import atomic
from neuroarena.benchmarks import Benchmark, load_benchmarks
from neuroarena.competition.arena import Arena, write_about
from neuroarena.competition.events import append_event
from neuroarena.competition.tracks import Track
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest


def seal_track(arena: Arena, name: str, data: str | None = None) -> str:
    """Read the truth of a track from its data once, and return the commitment that is published.

    Parameters
    ----------
    arena : Arena
    name : str
        Of the track.
    data : str, optional
        Folder of the data; by default what the competition file says.

    Raises
    ------
    InputError
        When the benchmark cannot be loaded, or the track was sealed with another truth.
    """
    track = arena.competition.track(name)
    benchmark = _load(track, data)
    cut = benchmark.split(track.split or benchmark.splits[0])
    facts = {
        "benchmark": benchmark.name,
        "split": cut.name,
        "split_hash": cut.hash,
        "simulated": benchmark.simulated,
    }
    return keep_truth(arena, name, benchmark.truth(cut), benchmark.manifest, facts)


def keep_truth(
    arena: Arena, name: str, truth: pd.DataFrame, manifest: Manifest, facts: Mapping[str, Any]
) -> str:
    """Put a truth into the vault, publish the rules and the ids, and return the commitment.

    Parameters
    ----------
    arena : Arena
    name : str
        Of the track.
    truth : DataFrame
        id, fold, unit, cluster, target.
    manifest : Manifest
        The rules that every submission to the track is judged by from now on.
    facts : mapping
        What else is published about where the truth comes from.
    """
    commitment = arena.vault.seal_truth(name, truth)
    public = arena.folder / "public" / name
    public.mkdir(parents=True, exist_ok=True)
    with atomic.replacing(public / "ids.parquet") as temporary:
        # Sorted, so that the order of the rows says nothing about the recordings.
        pd.DataFrame({"id": sorted(truth["id"].astype(str))}).to_parquet(temporary, index=False)
    atomic.write_text(public / "manifest.json", manifest.model_dump_json(indent=2) + "\n")
    said = {**facts, "manifest_hash": manifest.hash, "truth_commitment": commitment}
    said["key_commitment"] = arena.vault.key_commitment
    atomic.write_json(public / "track.json", said)
    with arena.store.writing() as connection:
        write_about(connection, f"sealed:{name}", commitment)
        append_event(connection, arena.store.clock(connection), "organiser", "sealed", name, said)
    return commitment


def _load(track: Track, data: str | None) -> Benchmark:
    loaded = load_benchmarks(track.benchmark, data or track.data, **track.options)
    if len(loaded) != 1 or not isinstance(loaded[0], Benchmark):
        raise InputError(
            f'The track "{track.name}" needs one benchmark of recordings; "{track.benchmark}" is something else.'
        )
    return loaded[0]
