"""What can be chosen when a dataset of MOABB is loaded."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from neuroarena.benchmarks.options import FamilyOptions


class MoabbOptions(FamilyOptions):
    """The options of every dataset; all but the subjects are parameters of MOABB's paradigm of the same names."""

    subjects: tuple[int, ...] | None = Field(
        default=None, description="Only these people, by MOABB's numbers, such as 1,2,3; all by default."
    )
    events: tuple[str, ...] | None = Field(
        default=None, description="Only these events, such as left_hand,feet."
    )
    n_classes: int | None = Field(default=None, ge=2, description="How many of the events are told apart.")
    channels: tuple[str, ...] | None = Field(
        default=None, description="Only these channels, such as C3,Cz,C4."
    )
    fmin: float | None = Field(default=None, gt=0, description="Lower edge of the band, in hertz.")
    fmax: float | None = Field(default=None, gt=0, description="Upper edge of the band, in hertz.")
    tmin: float | None = Field(
        default=None, description="Beginning of the window, in seconds from the event."
    )
    tmax: float | None = Field(default=None, description="End of the window, in seconds from the event.")
    resample: float | None = Field(default=None, gt=0, description="Samples per second.")

    def of_paradigm(self) -> dict[str, Any]:
        """Return what was chosen of the paradigm's parameters."""
        said = self.model_dump(exclude={"subjects"}, exclude_none=True)
        if "events" in said:
            # MOABB asks for both; whoever names events has said how many there are.
            said.setdefault("n_classes", len(said["events"]))
        return {name: list(value) if isinstance(value, tuple) else value for name, value in said.items()}
