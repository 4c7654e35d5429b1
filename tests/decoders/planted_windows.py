"""Windows with a planted difference, and networks small enough to learn it at once."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.decoders import Context, Group, load_decoder
from neuroarena.decoders.networks import NetworkDecoder
from neuroarena.features import FeatureChain, Laplacian, Spectrogram
from neuroarena.recordings import channel_table

CLASSES = ("0", "1")
SMALL = FeatureChain((Laplacian(), Spectrogram(window_samples=16, max_hz=50.0)))
NAMES = ["A1", "A2", "A3", "B1", "B2", "C1"]
# Published learning rates are for hundreds of steps an epoch; a toy has a handful.
QUICK = {"max_epochs": 12, "learning_rate": 3e-3, "batch_size": 32}


def network(name: str, **options: object) -> NetworkDecoder:
    small = {} if name in ("cnn-raw", "eegnet") else {"features": SMALL}
    narrow = {"hidden": (32, 32)} if name == "mlp" else {}
    made = load_decoder(name, **{**QUICK, **small, **narrow, **options})
    assert isinstance(made, NetworkDecoder)
    return made


def group(decoder, seed, n=96, classes=CLASSES, names=NAMES, regions=None, strength=2.0, known=True) -> Group:
    """Windows of noise; class k has a sine of 10 (k + 1) Hz on the k-th channel."""
    rng = np.random.default_rng(seed)
    numbers = np.arange(n) % len(classes)
    signals = rng.standard_normal((n, len(names), 64)).astype(np.float32)
    for number in range(len(classes)):
        wave = strength * np.sin(2 * np.pi * 10 * (number + 1) * np.arange(64) / 100)
        signals[numbers == number, number] += wave.astype(np.float32)
    table = pd.DataFrame(
        {"id": [f"{seed}-{row:03d}" for row in range(n)], "subject": "1", "session": str(seed)}
    )
    made, channels = decoder.features(signals, channel_table(names, region=regions), 100.0)
    targets = np.array(classes)[numbers] if known else None
    return Group(made, channels, decoder.features.rate_after(100.0), table, targets)


def fitted(decoder, validation=True, seed=0, classes=CLASSES, **options):
    held_out = [group(decoder, 2, classes=classes, **options)] if validation else None
    context = Context(classes, rng=np.random.default_rng(seed))
    return decoder.fit([group(decoder, 1, classes=classes, **options)], held_out, context)
