"""Published checkpoints of emg2qwerty, by the name of the model."""

from __future__ import annotations

from neuroarena.families.neuroprobe.encoders.checkpoints import convert_emg2qwerty

CHECKPOINTS = {"emg2qwerty": convert_emg2qwerty}
