"""Small twins of THINGS-EEG2 that tests start from."""

from __future__ import annotations

from typing import Any

SMALL: dict[str, Any] = {
    "subjects": 2,
    "training_images": 100,
    "test_images": 40,
    "training_repetitions": 2,
    "test_repetitions": 2,
    "length": 48,
    "seed": 3,
}
