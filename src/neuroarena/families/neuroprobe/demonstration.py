"""The runs of ``neuroarena demo``: three decoders on three tasks of two simulated people."""

from __future__ import annotations

from neuroarena.demo import DemoPlan

DEMO = DemoPlan(
    family="neuroprobe",
    dataset="braintreebank",
    twin={"subjects": 2, "sessions": 2, "electrodes": 24, "minutes": 8.0, "seed": 0},
    tasks=("onset", "speech", "volume"),
    splits=("within-session", "cross-session"),
    decoders=("chance", "linear", "linear-laplacian-spectrogram"),
    ideal="ideal_auroc",
)
