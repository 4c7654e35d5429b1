"""The checker: look at a submitted file by its kind, before an attempt counts; the same verdict as on a laptop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from neuroarena.competition.arena import Arena
from neuroarena.competition.tracks import Kind, Track
from neuroarena.errors import InputError
from neuroarena.scoring import check_submission

# How files of a kind are called where they are kept.
ENDING: dict[str, str] = {"predictions": ".parquet", "code": ".zip", "pipeline": ".zip"}
PIPELINE_ENTRY = "pipeline.toml"


@dataclass(frozen=True)
class Checked:
    """What a file that passed says about itself; `rows` counts predictions."""

    model: str | None = None
    external_data: tuple[str, ...] | None = None
    rows: int | None = None


def guess_kind(file: Path) -> Kind:
    """Return the kind of submission that a file is by its ending: a zip is code."""
    return "code" if file.suffix.lower() == ".zip" else "predictions"


def check_file(arena: Arena, track: str, phase: str, kind: str, path: Path) -> Checked:
    """Check a file that was handed in for a phase; nothing in it is run.

    Raises
    ------
    InputError
        Naming the file and what is wrong with it.
    """
    asked = arena.competition.track(track)
    found = _CHECKS[kind](arena, asked, phase, path)
    if arena.competition.external_data == "forbidden" and found.external_data:
        raise InputError(
            f'{path.name}: declares external data ("{found.external_data[0]}"), which {arena.competition.title} '
            "does not allow."
        )
    return found


def _check_predictions(arena: Arena, track: Track, phase: str, path: Path) -> Checked:
    found = check_submission(path, arena.manifest(track.sheet(phase)), arena.ids(track.sheet(phase)))
    return Checked(found.model, tuple(found.external_data), len(found.table))


def _check_code(arena: Arena, track: Track, phase: str, path: Path) -> Checked:  # noqa: ARG001 - the form of a check
    from neuroarena.evaluation.code import check_code

    check_code(track.benchmark, path)
    return Checked()


def _check_pipeline(arena: Arena, track: Track, phase: str, path: Path) -> Checked:  # noqa: ARG001 - the form of a check
    from neuroarena.competition.audit.pipelines import read_pipeline
    from neuroarena.sandbox.archives import unpack_submission

    with unpack_submission(path, PIPELINE_ENTRY) as folder:
        read_pipeline(folder, path.name)
    return Checked()


_CHECKS: dict[str, Callable[[Arena, Track, str, Path], Checked]] = {
    "predictions": _check_predictions,
    "code": _check_code,
    "pipeline": _check_pipeline,
}
