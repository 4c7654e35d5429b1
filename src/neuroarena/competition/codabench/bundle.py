"""Write a track of a competition as a bundle that Codabench takes."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import pandas as pd

from neuroarena import __version__, atomic
from neuroarena.competition.arena import Arena
from neuroarena.competition.codabench.description import describe_competition
from neuroarena.competition.codabench.pages import (
    draw_logo,
    write_evaluation,
    write_how_to_submit,
    write_overview,
)
from neuroarena.competition.codabench.yaml_text import to_yaml
from neuroarena.competition.constant_answers import answer_constantly
from neuroarena.competition.phases import Phase
from neuroarena.errors import InputError
from neuroarena.scoring import COMBINERS, METRICS, Manifest, write_submission

COMMAND = "python3 score.py /app/input /app/output"
# What the room `scoring` stands on; a test runs the program where nothing else of neuroarena can be imported.
FOUNDATIONS = ("__init__", "atomic", "errors", "fingerprint", "lazily", "registry", "sealed")
LIBRARIES = ("numpy", "pandas", "pydantic", "pyarrow", "rapidfuzz", "scikit-learn", "scipy")
_LONG_AGO = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """A written bundle.

    Attributes
    ----------
    track : str
    file : Path
        The zip to upload. It holds the truth: only its owner may read it.
    image : str
        The container that must exist before the first submission.
    hidden : bool
        Whether the board is hidden, because a phase is sealed.
    """

    track: str
    file: Path
    image: str
    hidden: bool


def write_bundles(
    arena: Arena,
    folder: Path,
    *,
    tracks: Sequence[str] = (),
    phases: Sequence[str] = (),
    image: str | None = None,
) -> list[Bundle]:
    """Write one bundle for each track, or for each set of questions of a track; all of them or none.

    Parameters
    ----------
    arena : Arena
        Its tracks must be sealed.
    folder : Path
        Missing or empty.
    tracks, phases : sequence of str
        Names; by default all that take files of predictions.
    image : str, optional
        Name of the container to score in; by default one that is built from the Dockerfile in `folder`.

    Raises
    ------
    InputError
        When a name is unknown, a track has no truth, or the folder is in use; nothing is written then.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder}: is not an empty folder. Name an empty or a new one. Nothing was written."
        )
    competition = arena.competition
    chosen = [competition.track(name) for name in tracks] or list(competition.tracks)
    wanted = [_find_phase(arena, name) for name in phases] or list(competition.phases)
    image = image or f"neuroarena-scorer:{__version__}"
    bundles = []
    with atomic.building(folder) as workshop:
        for track in chosen:
            # In the order of the competition file, however they were named.
            taking = [
                phase
                for phase in competition.phases
                if phase in wanted and phase.takes(track.name) and "predictions" in track.kinds_in(phase.name)
            ]
            if not taking and tracks:
                raise InputError(
                    f'The track "{track.name}" takes no files of predictions in these phases, and a bundle judges '
                    "nothing else. Nothing was written."
                )
            sheets = dict.fromkeys(track.sheet(phase.name) for phase in taking)
            for sheet in sheets:
                # Phases that ask other questions are competitions of their own there: all phases share one board.
                mine = [phase for phase in taking if track.sheet(phase.name) == sheet]
                name = track.name if len(sheets) == 1 else f"{track.name}-{mine[0].name}"
                content = _make_files(arena, track.name, sheet, mine, image)
                _write_private(workshop / f"{name}.zip", zip_files(content))
                hidden = any(phase.sealed for phase in mine)
                bundles.append(Bundle(track.name, folder / f"{name}.zip", image, hidden))
        if not bundles:
            raise InputError("No track takes files of predictions in these phases. Nothing was written.")
        (workshop / "Dockerfile").write_text(write_dockerfile(), encoding="utf-8")
        os.replace(workshop, folder)
    return bundles


def zip_files(content: Mapping[str, bytes]) -> bytes:
    """Return files as a zip; the same files make the same bytes."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        for name in sorted(content):
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content[name])
    return written.getvalue()


def list_program() -> dict[str, bytes]:
    """Return the files of the scoring program: its command, the script, and the scorer's own modules."""
    package = files("neuroarena")
    content = {
        "metadata.yaml": f"command: {COMMAND}\n".encode(),
        "score.py": package.joinpath("competition", "codabench", "program", "score.py").read_bytes(),
    }
    for name in FOUNDATIONS:
        content[f"neuroarena/{name}.py"] = package.joinpath(f"{name}.py").read_bytes()
    for module in package.joinpath("scoring").iterdir():
        if module.name.endswith(".py"):
            content[f"neuroarena/scoring/{module.name}"] = module.read_bytes()
    return content


def write_dockerfile() -> str:
    """Return the recipe of the container: interpreter and libraries of the scorer, in the versions used here."""
    import sys
    from importlib.metadata import version

    pinned = " ".join(f"{name}=={version(name)}" for name in LIBRARIES)
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    return f"FROM python:{python}-slim\nRUN pip install --no-cache-dir {pinned}\n"


def _make_files(arena: Arena, name: str, sheet: str, phases: Sequence[Phase], image: str) -> dict[str, bytes]:
    competition, manifest = arena.competition, arena.manifest(sheet)
    track = competition.track(name)
    _refuse_foreign_metrics(manifest)
    said = describe_competition(competition, track, phases, manifest, image)
    answers = _write_answers(manifest, arena.ids(sheet))
    pages = {
        "terms.md": f"# Terms\n\n{competition.terms}\n",
        "pages/overview.md": write_overview(competition, track, manifest),
        "pages/evaluation.md": write_evaluation(competition, phases, manifest),
        "pages/submit.md": write_how_to_submit(manifest),
    }
    kit = {
        "README.md": pages["pages/submit.md"].encode(),
        "ids.parquet": (arena.public_folder(sheet) / "ids.parquet").read_bytes(),
        "manifest.json": manifest.model_dump_json(indent=2).encode(),
        "sample_submission.zip": zip_files({"submission.parquet": answers}),
    }
    truth = io.BytesIO()
    arena.vault.truth(sheet).to_parquet(truth, index=False)
    reference = {
        "truth.parquet": truth.getvalue(),
        "manifest.json": kit["manifest.json"],
        "about.json": json.dumps({"sealed": any(phase.sealed for phase in phases)}).encode(),
    }
    return {
        "competition.yaml": to_yaml(said).encode(),
        "logo.png": draw_logo(track.title),
        **{place: text.encode() for place, text in pages.items()},
        "scoring_program.zip": zip_files(list_program()),
        "reference_data.zip": zip_files(reference),
        "starting_kit.zip": zip_files(kit),
        "solution.zip": zip_files({"submission.parquet": answers}),
    }


def _write_answers(manifest: Manifest, ids: pd.DataFrame) -> bytes:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "submission.parquet"
        answers = answer_constantly(manifest, ids)
        write_submission(path, answers, manifest, model="Constant answers", contact="organisers")
        return path.read_bytes()


def _refuse_foreign_metrics(manifest: Manifest) -> None:
    """Refuse rules that need code of another package: the program carries the room `scoring` only."""
    for registry, names in ((METRICS, manifest.metrics), (COMBINERS, (manifest.combiner,))):
        for name in names:
            if not registry.is_builtin(name):
                raise InputError(
                    f'The {registry.kind} "{name}" of {manifest.name} is not one of the room scoring, '
                    "so that a scoring program cannot carry it. Nothing was written."
                )


def _find_phase(arena: Arena, name: str) -> Phase:
    from neuroarena.competition.boards import find_phase

    return find_phase(arena, name)


def _write_private(path: Path, content: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
