"""What can be chosen when Neuroprobe is loaded."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, field_validator, model_validator

from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.families.neuroprobe.labels import Subset
from neuroarena.families.neuroprobe.windows import WHOLE_SECOND, Offset, check_offset

Level = Literal["population", "electrode"]
TrainOn = Literal["longest", "all"]

N_FOLDS = 2


class NeuroprobeOptions(FamilyOptions):
    """The options of every task of Neuroprobe."""

    subset: Subset = Field(default="lite", description="Which sessions, which electrodes and how many items.")
    multiclass: bool = Field(default=False, description="Ask for the multiclass form of the task.")
    sessions: tuple[str, ...] | None = Field(
        default=None, description="Only these sessions, such as 1_1,1_2; the split hash then differs."
    )
    judged: tuple[str, ...] | None = Field(
        default=None, description="Judge only these sessions; the others serve for training."
    )
    folds: int = Field(default=N_FOLDS, ge=2, description="Folds of the split within-session.")
    max_samples: int | None = Field(
        default=None, ge=2, description="Keep only the earliest items of each session, this many at most."
    )
    train_on: TrainOn = Field(
        default="longest",
        description="Across sessions of the full subset: train on the first other entry of the published table of "
        "longest sessions, or on all other entries, which then share max_samples.",
    )
    level: Level | None = Field(
        default=None,
        description="All electrodes at once, or one at a time, each a recording and a unit of its own; by default "
        "population, or electrode when electrodes are named.",
    )
    electrode: tuple[str, ...] | None = Field(
        default=None,
        description="Only these electrodes, such as T1bIc3, one at a time; every session must have them.",
    )
    offset_s: Offset = Field(
        default=WHOLE_SECOND,
        description="Begin and end of the window, in seconds from the onset, such as -0.25,0.5.",
    )

    @field_validator("offset_s")
    @classmethod
    def _check_offset(cls, offset_s: Offset) -> Offset:
        return check_offset(offset_s)

    @model_validator(mode="after")
    def _check_level(self) -> NeuroprobeOptions:
        if self.level == "population" and self.electrode is not None:
            raise ValueError(
                "an electrode was named, but the level is population; set the level to electrode."
            )
        return self

    @property
    def single(self) -> bool:
        """Whether electrodes are judged one at a time."""
        return self.level == "electrode" or self.electrode is not None
