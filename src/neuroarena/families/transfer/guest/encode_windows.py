"""The guest of encoders: loads ``encoder.py`` and encodes one window at a time.

Run as ``main([folder, tables])``; `tables` is a folder with one JSON file per channel table. Nothing tells training
windows from test windows, and no label is anywhere near.
"""

from __future__ import annotations

import functools
import json
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from neuroarena.sandbox.guest import serving
    from neuroarena.sandbox.guest.wire import Message
else:
    # By its plain name: in here nothing is called neuroarena.
    import serving

_MOST_HASH = 200


def main(arguments: list[str]) -> None:
    """Serve until the host is done."""
    serving.serve(functools.partial(load, *arguments))


def load(folder: str, tables: str) -> Callable[[Message], serving.Answer]:
    """Import the submission and make its encoder."""
    module = serving.import_submission(folder, name="encoder")
    made = getattr(module, "load_encoder", None)
    if not callable(made):
        raise serving.Problem("method", "encoder.py does not define load_encoder(meta)")
    meta = types.SimpleNamespace(folder=Path(folder))
    serving.check_call(made, (meta,), "load_encoder(meta)")
    encoder = serving.attempt("model", lambda: made(meta))
    for method in ("encode", "weights_hash"):
        if not callable(getattr(encoder, method, None)):
            raise serving.Problem(
                "model", f"load_encoder(meta) returned {type(encoder).__name__} without {method}()"
            )
    said = serving.attempt("model", encoder.weights_hash)
    if not isinstance(said, str) or not 0 < len(said) <= _MOST_HASH:
        raise serving.Problem("model", "weights_hash() must return a hash as text")
    known = {path.stem: pd.DataFrame(json.loads(path.read_text())) for path in Path(tables).glob("*.json")}
    return functools.partial(answer, encoder, said, known)


def answer(encoder: Any, weights: str, known: dict[str, pd.DataFrame], asked: Message) -> serving.Answer:
    """Encode one window, float32 (1, channels, samples): numbers (1, d), or (1, frames, d)."""
    table = known[asked.fields["channels"]].copy()
    given = (asked.array, table, float(asked.fields["rate_hz"]))
    said = serving.attempt("predict", lambda: encoder.encode(*given))
    numbers = serving.attempt("shape", lambda: serving.check_numbers(np.asarray(said), None))
    if numbers.ndim not in (2, 3) or len(numbers) != 1:
        raise serving.Problem("shape", f"encode() returned the shape {numbers.shape} for one window")
    return {"weights": weights}, numbers
