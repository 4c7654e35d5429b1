"""The record of an audit: what was replayed, with which hashes, in which environment; kept in the vault."""

from __future__ import annotations

import hashlib
import statistics
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from neuroarena.competition.arena import Arena
from neuroarena.errors import NeuroarenaError
from neuroarena.statistics.audits import Replays

Rule = Literal["replays", "two-sigma"]


class _Kept(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReplayRecord(_Kept):
    """One replay: its seed, how it ended, its score, and the hash of what it wrote.

    Attributes
    ----------
    seed : int
    status : {"scored", "failed"}
    reason : str, optional
        Why it failed; may hold words of the team's own program.
    score : float, optional
        In the metric's own direction.
    sha256 : str, optional
    seconds, peak_memory_mb : float, optional
    """

    seed: int
    status: Literal["scored", "failed"]
    reason: str | None = None
    score: float | None = None
    sha256: str | None = None
    seconds: float | None = None
    peak_memory_mb: float | None = None


class Hashes(_Kept):
    """What was replayed, and on what: SHA-256 of the committed zip, of the submission, of rules and split."""

    pipeline: str
    submission: str
    manifest: str
    split: str


class AuditRecord(_Kept):
    """Everything that an audit of one submission rests on.

    Scores on sealed data are in it: it stays in the vault, and only verdict and hash are public.

    Attributes
    ----------
    audit, submission, team, track, phase : str
    rule : {"replays", "two-sigma"}
    committed : bool
        Whether the pipeline was committed before the freeze; false for one that was mended afterwards.
    hashes : Hashes
    claimed, sigma, chance, meaningful : float
        The score that was handed in and its standard error, what guessing scores, and the smallest difference
        that matters; `claimed` and `chance` in the metric's own direction.
    sign : float
        +1 where higher is better, otherwise -1.
    replays : tuple of ReplayRecord
    shuffled : tuple of ReplayRecord
        The replays with shuffled labels, up to the first that scored no better than it should.
    weights_problem : str, optional
        Why the weights are not those that were committed.
    limits, environment : mapping
    started, ended : str
    """

    schema_version: Literal[1] = 1
    audit: str
    submission: str
    team: str
    track: str
    phase: str
    rule: Rule
    committed: bool
    hashes: Hashes
    claimed: float
    sigma: float
    chance: float
    meaningful: float
    sign: float
    replays: tuple[ReplayRecord, ...]
    shuffled: tuple[ReplayRecord, ...] = ()
    weights_problem: str | None = None
    limits: dict[str, float]
    environment: dict[str, Any]
    started: str
    ended: str

    @property
    def scores(self) -> tuple[float, ...]:
        """The scores of the replays; empty as soon as one of them failed."""
        found = [each.score for each in self.replays]
        return tuple(score for score in found if score is not None) if None not in found else ()

    @property
    def variance(self) -> float | None:
        """The variance of the scores over training seeds; None for fewer than two."""
        return statistics.variance(self.scores) if len(self.scores) > 1 else None

    @property
    def compared(self) -> Replays:
        """What the rules judge: the claimed score beside its replays, higher is better."""
        scores = tuple(self.sign * score for score in self.scores)
        return Replays(self.sign * self.claimed, scores, self.sigma, self.meaningful)


def keep_record(arena: Arena, record: AuditRecord) -> str:
    """Write a record into the vault, and return its SHA-256."""
    content = record.model_dump_json(indent=2).encode() + b"\n"
    arena.vault.keep_audit(record.audit, content)
    return hashlib.sha256(content).hexdigest()


def read_audit(arena: Arena, audit: str, sha256: str) -> AuditRecord:
    """Read a record from the vault after comparing it with its hash.

    Raises
    ------
    NeuroarenaError
        When it is missing or was changed.
    """
    content = arena.vault.read_audit(audit)
    if content is None:
        raise NeuroarenaError(f"The record of the audit {audit} is missing. Put it back from a backup.")
    if hashlib.sha256(content).hexdigest() != sha256:
        raise NeuroarenaError(f"The record of the audit {audit} was changed after it was written.")
    try:
        return AuditRecord.model_validate_json(content)
    except ValidationError as error:
        raise NeuroarenaError(f"What is kept for the audit {audit} is not its record.") from error
