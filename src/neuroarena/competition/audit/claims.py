"""What an audit starts from: the score that was claimed, and the pipeline that was committed for it."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from sqlalchemy import select

from neuroarena.competition.arena import Arena
from neuroarena.competition.boards import read_units
from neuroarena.competition.constant_answers import answer_constantly
from neuroarena.competition.judging import judge
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION
from neuroarena.errors import InputError
from neuroarena.fingerprint import digest
from neuroarena.scoring import COMBINERS, Manifest, UnitScores, columns_of, score
from neuroarena.statistics import bootstrap

N_DRAWS = 2000


@dataclass(frozen=True)
class Claim:
    """A scored submission.

    Attributes
    ----------
    row : mapping
        Of the submission, with its newest run and scorer version.
    manifests : mapping of part to Manifest
    value, chance : float
        What it scored, and what guessing scores: what the rules state, else the score of constant answers. In the
        metric's own direction.
    sign : float
        +1 where higher is better, otherwise -1.
    sigma : float
        Bootstrap standard error of the score over units; of several parts, of their overall.
    scales : mapping of part to float, optional
        Where the parts are joined by ranks, which one entry alone does not have: the standard error of each part.
        The score is then the mean over parts of what was scored in units of it, higher being better.
    """

    row: Mapping[str, Any]
    manifests: Mapping[str, Manifest]
    value: float
    chance: float
    sign: float
    sigma: float
    scales: Mapping[str, float] | None = None

    @property
    def rules_hash(self) -> str:
        """The hash of the rules: the manifest's, or one over those of all parts."""
        hashes = {part: manifest.hash for part, manifest in self.manifests.items()}
        return next(iter(hashes.values())) if len(hashes) == 1 else digest(hashes)


def find_claim(arena: Arena, submission: str) -> Claim:
    """Return the newest score of a submission.

    Raises
    ------
    InputError
        When there is no such submission, or it has no score.
    """
    row = find_scored(arena, submission)
    sheet = arena.sheet(row["track"], row["phase"])
    units, manifests = read_units(arena, row), arena.manifests(sheet)
    judged = judge(units, manifests, arena.overall(sheet))
    if judged.value is None:
        scales = {part: bootstrap_sigma(scored, manifests[part]) or 1.0 for part, scored in units.items()}
        value = _join_parts(judged.part_values, manifests, scales)
        chance = _join_parts(_find_chances(arena, sheet, manifests), manifests, scales)
        return Claim(row, manifests, value, chance, 1.0, len(scales) ** -0.5, scales)
    if len(units) == 1:
        ((part, scored),) = units.items()
        sigma = bootstrap_sigma(scored, manifests[part])
    else:
        sigma = judged.standard_error or 0.0
    return Claim(row, manifests, judged.value, _find_chance(arena, sheet, manifests), judged.sign, sigma)


def find_scored(arena: Arena, submission: str) -> dict[str, Any]:
    """Return the row of a submission with its newest scored run.

    Raises
    ------
    InputError
        When there is no such submission, or it has no score.
    """
    asked = (
        select(SUBMISSION, PUBLIC_SCORE.c.run, PUBLIC_SCORE.c.scorer_version)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .join(PUBLIC_SCORE, PUBLIC_SCORE.c.run == RUN.c.id)
        .where(SUBMISSION.c.id == submission, RUN.c.state == "scored")
        .order_by(PUBLIC_SCORE.c.at.desc())
    )
    with arena.store.reading() as connection:
        row = connection.execute(asked).mappings().first()
    if row is None:
        raise InputError(f'There is no scored submission "{submission}".')
    return dict(row)


def _find_chances(arena: Arena, sheet: str, manifests: Mapping[str, Manifest]) -> dict[str, float]:
    """Return what guessing scores in every part: what the rules state, else the score of constant answers."""
    chances = {}
    for part, manifest in manifests.items():
        if manifest.chance is not None:
            chances[part] = manifest.chance
            continue
        constant = answer_constantly(manifest, arena.ids(sheet, part))
        chances[part] = score(constant, arena.vault.truth(sheet, part), manifest).value
    return chances


def _join_parts(
    values: Mapping[str, float], manifests: Mapping[str, Manifest], scales: Mapping[str, float]
) -> float:
    """Return the mean over parts of values in units of their standard errors, higher being better."""
    found = [manifests[part].sign * values[part] / scale for part, scale in scales.items()]
    return float(np.mean(found))


def _find_chance(arena: Arena, sheet: str, manifests: Mapping[str, Manifest]) -> float:
    """Return what guessing scores, over all parts."""
    overall, found = arena.overall(sheet), _find_chances(arena, sheet, manifests)
    return next(iter(found.values())) if overall is None else float(overall.combine(found))


def bootstrap_sigma(units: UnitScores, manifest: Manifest) -> float:
    """Return the standard error of a score over draws of its units; 0 for one unit."""
    combiner = COMBINERS.get(manifest.combiner)
    columns = columns_of(units, manifest)
    columns.pop("count", None)

    def combine(summaries: dict[str, np.ndarray]) -> np.ndarray:
        return np.asarray(combiner.apply(summaries))

    drawn = bootstrap({"": columns}, N_DRAWS, combiner=combine, over=combiner.over)
    return float(drawn.sigma().iloc[0])


def join_scores(arena: Arena, claim: Claim, units: Mapping[str, UnitScores]) -> float:
    """Return the score of a replay from those of its parts, as the claimed score was made."""
    if claim.scales is not None:
        values = {part: scored.value for part, scored in units.items()}
        return _join_parts(values, claim.manifests, claim.scales)
    overall = arena.overall(arena.sheet(claim.row["track"], claim.row["phase"]))
    value = judge(units, claim.manifests, overall, with_interval=False).value
    assert value is not None  # as for the claimed score, which has a value
    return value


def find_pipeline(arena: Arena, submission: str) -> tuple[Path, str]:
    """Return the file of the newest pipeline that was committed for a submission, and its SHA-256.

    Raises
    ------
    InputError
        When none was.
    """
    asked = (
        select(SUBMISSION.c.sha256)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .where(SUBMISSION.c.commits == submission, SUBMISSION.c.kind == "pipeline", RUN.c.state == "kept")
        .order_by(SUBMISSION.c.received.desc())
    )
    with arena.store.reading() as connection:
        sha256 = connection.execute(asked).scalars().first()
    if sha256 is None:
        raise InputError(
            f'No pipeline was committed for the submission "{submission}"; the team commits one with '
            "neuroarena submit --pipeline ZIP before the freeze."
        )
    return arena.artifacts.open(sha256, ".zip"), str(sha256)


def compare_weights(arena: Arena, claim: Claim, weights: Mapping[str, str]) -> str | None:
    """Return why the weights that a pipeline names are not those that were submitted; None when they are.

    Files of a code submission are compared by their SHA-256, so that the encoder that was judged is the encoder
    that was committed. A name stands for one encoder: other weights under the same name on another track of the
    competition are a problem too.
    """
    if not weights:
        return None
    if claim.row["kind"] != "code":
        return "The pipeline names weights, and the submission is not code that could hold them."
    found = hash_files(arena.artifacts.open(claim.row["sha256"], ".zip"), weights)
    for name, sha256 in weights.items():
        if found.get(name) != sha256:
            got = "is not in the submission" if name not in found else f"has the SHA-256 {found[name][:12]}"
            return f'The weights "{name}" were committed as {sha256[:12]}, and the file {got}.'
    return _find_other_weights(arena, claim, weights)


def hash_files(archive: Path | BinaryIO, names: Mapping[str, str]) -> dict[str, str]:
    """Return the SHA-256 of some files of a zip; those it does not hold are left out."""
    with zipfile.ZipFile(archive) as opened:
        there = set(opened.namelist())
        found = {}
        for name in names:
            if name in there:
                with opened.open(name) as file:
                    found[name] = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]
        return found


def _find_other_weights(arena: Arena, claim: Claim, weights: Mapping[str, str]) -> str | None:
    """Look for another code submission of the same team and model whose file of the same name differs."""
    row = claim.row
    if row["model"] is None:
        return None
    asked = select(SUBMISSION.c.id, SUBMISSION.c.track, SUBMISSION.c.sha256).where(
        SUBMISSION.c.team == row["team"],
        SUBMISSION.c.model == row["model"],
        SUBMISSION.c.kind == "code",
        SUBMISSION.c.track != row["track"],
        SUBMISSION.c.slot == "used",
    )
    with arena.store.reading() as connection:
        others = connection.execute(asked).all()
    for submission, track, kept in others:
        found = hash_files(arena.artifacts.open(kept, ".zip"), weights)
        different = [name for name, sha256 in found.items() if sha256 != weights[name]]
        if different:
            return f'The submission {submission} to "{track}" has other weights "{different[0]}" under the same name.'
    return None
