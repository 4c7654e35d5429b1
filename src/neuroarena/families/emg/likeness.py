"""Statistics of typing, for comparing simulated sessions with real ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from neuroarena.datasets.likeness import describe_spread
from neuroarena.decoders.ctc import BACKSPACE, ENTER, SPACE

_PAUSE_S = 2.0


def describe_typing(sessions: Sequence[pd.DataFrame]) -> dict[str, str]:
    """Describe the keys of some sessions: tables of onset_s, duration_s and value, as the readers list them."""
    typed = [session for session in sessions if len(session) > 1]
    spans = [float(session["onset_s"].iloc[-1] - session["onset_s"].iloc[0]) / 60 for session in typed]
    gaps = np.concatenate([np.diff(session["onset_s"]) for session in typed])
    keys = pd.concat(typed, ignore_index=True)
    held = keys["duration_s"][keys["duration_s"] > 0] * 1000
    words = [len(word) for session in typed for word in "".join(session["value"]).split(SPACE) if word]
    most = keys["value"].value_counts(normalize=True)
    rates = [len(session) / span for session, span in zip(typed, spans, strict=True)]
    return {
        "sessions": str(len(typed)),
        "characters per session": describe_spread([len(session) for session in typed], 0),
        "minutes from the first key to the last": describe_spread(spans, 1),
        "keys per minute": describe_spread(rates, 0),
        "from key to key (ms)": describe_spread(gaps * 1000, 0),
        "keys pressed less than 50 ms after another": f"{np.mean(gaps < 0.05):.3f}",
        f"pauses beyond {_PAUSE_S:g} s per minute": f"{np.sum(gaps > _PAUSE_S) / sum(spans):.2f}",
        "a key is held (ms)": describe_spread(held, 0),
        "different characters": str(len(most)),
        "share of the commonest three": ", ".join(f"{share:.3f}" for share in most.iloc[:3]),
        "share of spaces": f"{most.get(SPACE, 0.0):.3f}",
        "share of backspaces": f"{most.get(BACKSPACE, 0.0):.3f}",
        "share of returns": f"{most.get(ENTER, 0.0):.3f}",
        "characters between spaces": describe_spread(words, 0),
    }
