"""Pretraining cards: on what a model was trained before it met a benchmark, checked against a family's rules."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from neuroarena.errors import InputError

Range = tuple[Annotated[float, Field(ge=0)], float]


class Pretraining(BaseModel):
    """One source of a pretraining: a dataset, and where not all of it was used, what was.

    Attributes
    ----------
    dataset : str
    subjects, sessions : tuple of str
        The people and sessions used, as the dataset names them; all when left out.
    ranges_s : tuple of pairs
        Stretches of each of these sessions, in seconds; the whole sessions when left out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    dataset: Annotated[str, Field(min_length=1)]
    subjects: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    ranges_s: tuple[Range, ...] = ()

    @model_validator(mode="after")
    def _check_ranges(self) -> Pretraining:
        if self.ranges_s and not self.sessions:
            raise ValueError("ranges_s need sessions: name the sessions that they are stretches of")
        if any(stop <= start for start, stop in self.ranges_s):
            raise ValueError("ranges_s: each is [start, stop] in seconds, with the stop after the start")
        return self


class PretrainingCard(BaseModel):
    """What a model was pretrained on; no entry for one that was not pretrained at all."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    schema_version: Literal[1]
    model: Annotated[str, Field(min_length=1)]
    pretraining: tuple[Pretraining, ...] = ()


@dataclass(frozen=True)
class PretrainingRules:
    """What a family allows: its face ``pretraining_rules``.

    Attributes
    ----------
    datasets : tuple of str
        Names of the dataset that the rules are about, in small letters and digits; a card may write them with spaces,
        hyphens and capitals, and more around them ("the Brain-Treebank, v2"). Others are not restricted.
    allowed, forbidden : tuple of str
        Sessions by name, "SUBJECT_SESSION".
    cut_outs : mapping of str to pairs
        Forbidden session -> stretches of it, in seconds, that are allowed.
    """

    datasets: tuple[str, ...]
    allowed: tuple[str, ...]
    forbidden: tuple[str, ...]
    cut_outs: Mapping[str, tuple[tuple[float, float], ...]]

    def find_problems(self, card: PretrainingCard) -> list[str]:
        """Return a sentence for each part of a card that the rules forbid; none where all is allowed."""
        own = [part for part in card.pretraining if self._is_about(part.dataset)]
        return [problem for part in own for problem in self._problems(part)]

    def _is_about(self, dataset: str) -> bool:
        plain = "".join(letter for letter in dataset.casefold() if letter.isalnum())
        return any(name in plain for name in self.datasets)

    def _problems(self, part: Pretraining) -> Iterator[str]:
        for name in part.sessions or self._sessions_of(part.subjects):
            if name in self.allowed:
                continue
            if name not in self.forbidden:
                yield f'{part.dataset} has no session "{name}"'
            elif not part.ranges_s:
                yield f"session {name} is judged, so no model may be pretrained on it"
            else:
                free = self.cut_outs.get(name, ())
                for start, stop in part.ranges_s:
                    if not any(low <= start and stop <= high for low, high in free):
                        listed = ", ".join(f"[{low:g}, {high:g}) s" for low, high in free) or "nothing"
                        yield f"session {name} is judged; of it {listed} may be used, not [{start:g}, {stop:g}) s"

    def _sessions_of(self, subjects: tuple[str, ...]) -> list[str]:
        every = [*self.allowed, *self.forbidden]
        unknown = [name for name in subjects if not any(each.partition("_")[0] == name for each in every)]
        return [*unknown, *(name for name in every if not subjects or name.partition("_")[0] in subjects)]


def read_card(path: str | Path) -> PretrainingCard:
    """Read a pretraining card, a TOML file.

    Raises
    ------
    InputError
        With every mistake of the file.
    """
    path = Path(path)
    try:
        return PretrainingCard.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML: {error}. Expected a pretraining card.") from error
    except ValidationError as error:
        said = "; ".join(
            f"{'.'.join(map(str, each['loc'])) or 'the card'}: {each['msg']}" for each in error.errors()
        )
        raise InputError(f"{path}: this is not a pretraining card: {said}.") from error


def check_card(path: str | Path, rules: PretrainingRules) -> PretrainingCard:
    """Read a card and refuse it where the rules forbid a part of it.

    Raises
    ------
    InputError
        With every part that is forbidden.
    """
    card = read_card(path)
    problems = rules.find_problems(card)
    if problems:
        raise InputError(
            f"{path}: this pretraining is not allowed: {'; '.join(problems)}. Nothing was written."
        )
    return card
