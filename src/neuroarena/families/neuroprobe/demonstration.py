"""The runs of ``neuroarena demo``: four decoders on three tasks of six simulated people.

Six people are the fewest that can prove anything. Two of the decoders are about equally good, so that the board has
something to leave undecided.
"""

from __future__ import annotations

from neuroarena.demo import DemoPlan

DEMO = DemoPlan(
    family="neuroprobe",
    dataset="braintreebank",
    twin={"subjects": 6, "sessions": 2, "electrodes": 16, "minutes": 3.0, "seed": 1},
    tasks=("onset", "speech", "volume"),
    splits=("cross-session",),
    decoders=("chance", "linear", "linear-spectrogram", "linear-laplacian-spectrogram"),
    ideal="ideal_auroc",
)
