"""Files damaged at random: bytes changed, removed and repeated, most of them where a header is."""

from __future__ import annotations

import numpy as np


def mutate(rng: np.random.Generator, content: bytes, mark: bytes | None = None, header: int = 60) -> bytes:
    """Return a damaged copy; seven changes in ten fall within `header` bytes of a mark, or of the beginning."""
    made = bytearray(content)
    places = [0]
    at = made.find(mark) if mark else -1
    while at >= 0 and mark:
        places.append(at)
        at = made.find(mark, at + 1)
    for _ in range(rng.integers(1, 5)):
        if not made:
            break
        near = int(rng.choice(places)) + int(rng.integers(0, header))
        at = min(near, len(made) - 1) if rng.random() < 0.7 else int(rng.integers(0, len(made)))
        change = rng.integers(0, 6)
        if change <= 1:
            made[at] = rng.integers(0, 256)
        elif change == 2:
            made[at : at + 4] = (b"\xff" * 4, bytes(4), b"\x80\0\0\0")[rng.integers(0, 3)]
        elif change == 3:
            del made[at : at + int(rng.integers(1, 40))]
        elif change == 4:
            made[at:at] = made[at : at + int(rng.integers(1, 40))]
        else:
            # Digits where digits are: fields of text that stay readable and mean something else.
            digits = [place for place in range(at, min(at + 80, len(made))) if 48 <= made[place] <= 57]
            for place in digits[:3]:
                made[place] = rng.integers(48, 58)
    return bytes(made)
