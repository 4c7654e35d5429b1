"""Tracks of a competition: what is asked, what is taken, and what code may use; as data."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9\-]{0,39}$")]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Number = Annotated[float, Field(allow_inf_nan=False)]
Range = tuple[Number, Number]
Kind = Literal["predictions", "code", "pipeline"]
Machine = Literal["cpu", "gpu"]


class Part(BaseModel):
    """A part of the competition file: unknown keys are refused, and nothing changes after it was read."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class CodeRules(Part):
    """What submitted code may use, and how it is asked.

    Attributes
    ----------
    machine : {"cpu", "gpu"}
        The label of the workers that run it.
    windows : {"stateless", "stream", "as-scored"}, optional
        How windows reach the code; by default as the manifest says. "as-scored" asks one process in order, and is
        for public truth only.
    seconds : float
        Wall time of the whole run.
    memory_mb, tmp_mb, processes : int
    """

    machine: Machine = "cpu"
    windows: Literal["stateless", "stream", "as-scored"] | None = None
    seconds: Positive = 3600.0
    memory_mb: Count = 4096
    tmp_mb: Count = 1024
    processes: Count = 64


class Sheet(Part):
    """The questions of a track in one phase, where they are not those of the track: other data, or another split.

    `kinds` may be fewer than those of the track: a file can give answers away that code cannot.
    """

    split: Words | None = None
    data: Words | None = None
    options: dict[str, Any] = {}
    kinds: tuple[Kind, ...] | None = None


class Track(Part):
    """One track: a benchmark, and what is taken for it.

    Attributes
    ----------
    name, title : str
    benchmark, split : str
        What is asked: ``family[@definition]/task``, or a suite (``family[@definition]``) whose tasks are the parts of
        the track; and the split whose test part is to be answered.
    data : str, optional
        Folder of the data, read once, when the truth is sealed.
    options : mapping
        Options of the benchmark's family.
    sheets : mapping of str to Sheet
        Phase -> its own questions. A sealed phase needs its own where another phase shows full scores.
    kinds : tuple of str
        What a team may hand in: files of predictions, code, and training pipelines that are committed for the audit.
    code : CodeRules
    label_range : pair of float, or mapping of part to pair of float, optional
        Predictions of numbers are clipped to it before they are scored: an outlier then says nothing about a label.
        The parts of a suite have labels of their own, and each its own range.
    meaningful : float, optional
        The smallest difference that matters; an audit drops nobody for less.
    description, sponsor, sponsor_url, constraint : str, optional
        What pages say about the track.
    audit : str, optional
        What is checked besides the replay, in words.
    """

    name: Name
    title: Words
    benchmark: Words
    split: Words | None = None
    data: Words | None = None
    options: dict[str, Any] = {}
    sheets: dict[Name, Sheet] = Field(default={})
    kinds: tuple[Kind, ...] = Field(default=("predictions",), min_length=1)
    code: CodeRules = CodeRules()
    label_range: Range | dict[str, Range] | None = None
    meaningful: Positive | None = None
    description: Words | None = None
    sponsor: Words | None = None
    sponsor_url: Annotated[Words, Field(pattern=r"^https?://")] | None = None
    constraint: Words | None = None
    audit: Words | None = None

    @model_validator(mode="after")
    def _check(self) -> Track:
        stated = self.label_range if isinstance(self.label_range, dict) else {"": self.label_range}
        for part, ends in stated.items():
            if ends is not None and ends[0] >= ends[1]:
                where = f" of {part}" if part else ""
                raise ValueError(f'track "{self.name}": label_range{where} must name the lower end first')
        if "/" not in self.benchmark and isinstance(self.label_range, tuple):
            raise ValueError(
                f'track "{self.name}" is the suite "{self.benchmark}", whose parts have labels of their own; '
                "name each: label_range = { PART = [LOWEST, HIGHEST] }"
            )
        if set(self.kinds) == {"pipeline"}:
            raise ValueError(
                f'track "{self.name}" takes only pipelines, which are not scored; add "predictions" or "code"'
            )
        if "predictions" in self.kinds and "/" not in self.benchmark:
            raise ValueError(
                f'track "{self.name}" is the suite "{self.benchmark}"; a file of predictions answers one task, '
                'so that it takes kinds = ["code"]'
            )
        return self

    def range_of(self, part: str) -> Range | None:
        """Return the range that predictions of a part are clipped to; None where it has none."""
        return self.label_range.get(part) if isinstance(self.label_range, dict) else self.label_range

    def kinds_in(self, phase: str) -> tuple[Kind, ...]:
        """Return what a team may hand in during a phase."""
        own = self.sheets[phase].kinds if phase in self.sheets else None
        return self.kinds if own is None else own

    def split_in(self, phase: str | None) -> str | None:
        """Return the split that is asked in a phase."""
        own = self.sheets[phase].split if phase in self.sheets else None
        return self.split if own is None else own

    def data_in(self, phase: str | None) -> str | None:
        """Return the folder of the data that is asked about in a phase."""
        own = self.sheets[phase].data if phase in self.sheets else None
        return self.data if own is None else own

    def options_in(self, phase: str | None) -> dict[str, Any]:
        """Return the options of the benchmark in a phase."""
        return {**self.options, **(self.sheets[phase].options if phase in self.sheets else {})}

    def sheet(self, phase: str) -> str:
        """Return the name of the questions that are asked in a phase: the track's, or ``track@phase``."""
        return f"{self.name}@{phase}" if phase in self.sheets else self.name
