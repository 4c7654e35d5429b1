"""The floor of EMG-to-text: the key typed most often, as often as keys are typed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from neuroarena.decoders.decoder import Context, Part
from neuroarena.decoders.streams import StreamMeta
from neuroarena.errors import InputError
from neuroarena.families.emg.decoders.listening import TRACK_RULE
from neuroarena.features import FeatureChain


@dataclass
class MostFrequentKey:
    """Answer with the most frequent key of the training part, at the training part's typing speed."""

    role: ClassVar[str] = "dummy"
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> MostFrequentKey:
        """Count keys and seconds."""
        counts: Counter[str] = Counter()
        seconds = 0.0
        for group in train:
            counts.update("".join(map(str, group.targets if group.targets is not None else ())))
            seconds += float((group.table["stop"] - group.table["start"]).sum()) / group.rate_hz
        if not counts:
            raise InputError("The training part holds no text, so there is no most frequent key.")
        # Equally frequent keys: the first in code-point order, so that the order of sessions changes nothing.
        self.key_ = min(counts, key=lambda key: (-counts[key], key))
        self.keys_a_second_ = counts.total() / seconds
        rule = (context or Context()).stream or TRACK_RULE
        self.hop_s_ = rule.hop_s
        return self

    def start(self, meta: StreamMeta) -> None:
        """Begin with nothing typed."""
        self.due_ = 0.0

    def step(self, window: np.ndarray) -> str:
        """Type what is due after one more hop."""
        self.due_ += self.keys_a_second_ * self.hop_s_
        count = int(self.due_)
        self.due_ -= count
        return self.key_ * count
