"""The rules of a board, as data."""

from __future__ import annotations

import datetime
import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, field_validator

from neuroarena.board.entries import Role
from neuroarena.errors import InputError

_LAST = re.compile(r"best-of-last-([1-9][0-9]{0,5})")


class Rules(BaseModel):
    """Which submission of a team counts, as of when, and how differences are judged.

    Parameters
    ----------
    rule : str
        "best-ever", "latest", or "best-of-last-N" such as "best-of-last-5". Only submissions that can
        rank are counted: a failed one costs no place among the last N.
    as_of : datetime, optional
        Submissions after this time are not seen. It needs a time zone.
    inference : {"verdicts", "seed"}
        What a board concludes from: one verdict per pair, corrected over all pairs
        (:func:`neuroarena.statistics.verdicts`); or the rule of the 2026 challenge (percentile bootstrap, tie groups),
        whose numbers every board stores as ``seed_*`` in any case.
    rope : float, optional
        Teams that differ by less than this are equivalent; by default nu of the manifest.
    mean_rank : bool
        Whether suites of six tasks or more are judged by their mean rank over tasks besides; a second table then
        shows it.
    pairs : {"neighbours", "leader", "all"}
        The comparisons that Holm's correction is made over in the challenge's rule; verdicts always count all pairs.
    alpha : float
        Family-wise level.
    n_draws, seed, method
        Of the bootstrap. Every ranking derives its own seed from this one.
    prizes : bool
        Whether the board is a competition's: pages then show who may take a prize.
    no_prizes : tuple of str
        Roles that are shown where they stand and take no prize.
    cluster : bool
        Whether the challenge's rule draws clusters first, where the manifest names them and one owns several units.

    Examples
    --------
    >>> Rules(rule="best-of-last-5").last
    5
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str = "best-ever"
    as_of: AwareDatetime | None = None
    inference: Literal["verdicts", "seed"] = "verdicts"
    rope: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    mean_rank: bool = False
    pairs: Literal["neighbours", "leader", "all"] = "neighbours"
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    n_draws: Annotated[int, Field(ge=1)] = 10_000
    seed: Annotated[int, Field(ge=0)] = 0
    method: Literal["fast", "exact"] = "fast"
    prizes: bool = False
    no_prizes: tuple[Role, ...] = ("chance", "dummy", "classical", "organiser")
    cluster: bool = True

    @field_validator("rule")
    @classmethod
    def _known_rule(cls, rule: str) -> str:
        if rule not in ("best-ever", "latest") and not _LAST.fullmatch(rule):
            raise ValueError("expected best-ever, latest, or best-of-last-N such as best-of-last-5")
        return rule

    @field_validator("as_of")
    @classmethod
    def _in_utc(cls, time: datetime.datetime | None) -> datetime.datetime | None:
        return None if time is None else time.astimezone(datetime.UTC)

    @property
    def last(self) -> int | None:
        """How many of a team's newest submissions count; None for all."""
        if self.rule == "latest":
            return 1
        match = _LAST.fullmatch(self.rule)
        return int(match[1]) if match else None

    @classmethod
    def from_toml(cls, path: str | Path, **values: Any) -> Rules:
        """Read rules from a TOML file; `values` that are not None replace those of the file.

        Raises
        ------
        InputError
            Naming the file, or the value that is wrong.
        """
        try:
            written = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{path}: cannot be read as TOML: {error}.") from error
        try:
            return cls.of(**written | {name: value for name, value in values.items() if value is not None})
        except InputError as error:
            raise InputError(f"{path}: {error}") from error

    @classmethod
    def of(cls, **values: Any) -> Rules:
        """Build rules from what a user typed; None means the default.

        Raises
        ------
        InputError
            Naming the value that is wrong, in one sentence.
        """
        given = {name: value for name, value in values.items() if value is not None}
        try:
            made = cls(**given)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            if field == "as_of":
                message = "expected a time with its zone, such as 2026-09-01T12:00:00Z"
            raise InputError(f'Rules of a board: "{field}": {message}; got {first["input"]!r}.') from error
        if made.inference == "seed" and made.rope is not None:
            raise InputError(
                "The challenge's rule never calls teams equivalent. Leave out the rope, or these rules."
            )
        return made
