"""Write the table of adapters and kinds of prediction into the docs, from what `check decoder` finds."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sklearn.linear_model import LogisticRegression, Ridge

from neuroarena.decoders import check_decoder, from_braindecode, from_encoder, from_sklearn, from_torch
from neuroarena.recordings import channel_table

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "evaluate-my-decoder.md"
BEGIN, END = "<!-- matrix of adapters: generated -->\n", "<!-- end of the matrix of adapters -->"
KINDS = {"probabilities": "probabilities", "label": "labels", "number": "a number", "vector": "a vector"}
CHANNELS, RATE_HZ, N_SAMPLES = channel_table(["C3", "Cz", "C4", "Pz"]), 128.0, 256


def build(input_shape: tuple[int, ...], n_outputs: int) -> Any:
    """Make a network of one layer."""
    from torch import nn

    return nn.Sequential(nn.Flatten(), nn.Linear(input_shape[0] * input_shape[1], n_outputs))


ADAPTERS: dict[str, Callable[[], Any]] = {
    "`from_sklearn(classifier)`": lambda: from_sklearn(LogisticRegression()),
    "`from_sklearn(regressor)`": lambda: from_sklearn(Ridge()),
    "`from_torch`": lambda: from_torch(build, epochs=1),
    "`from_braindecode`": lambda: from_braindecode("ShallowFBCSPNet", epochs=1),
    "`from_encoder`, head `linear`": lambda: from_encoder("encoder_of_one_layer:OneLayer"),
    "`from_encoder`, head a regressor": lambda: from_encoder("encoder_of_one_layer:OneLayer", head=Ridge()),
    "`from_encoder(finetune=True)`": lambda: from_encoder(
        "encoder_of_one_layer:OneLayer", finetune=True, epochs=1
    ),
}


def keeps_contract(decoder: Any, kind: Any) -> bool:
    """Return whether every point of the contract holds for one kind of prediction."""
    classes = ("a", "b", "c") if kind in ("probabilities", "label") else ()
    checks = check_decoder(decoder, CHANNELS, RATE_HZ, N_SAMPLES, classes, kind=kind, vector_length=3)
    return all(check.passed for check in checks)


def matrix() -> str:
    """Return the table: a row per adapter, and "yes" where every point of the contract holds."""
    lines = ["| adapter | " + " | ".join(KINDS.values()) + " |", "|---" * (len(KINDS) + 1) + "|"]
    for name, make in ADAPTERS.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            said = ["yes" if keeps_contract(make(), kind) else "-" for kind in KINDS]
        lines.append(f"| {name} | {' | '.join(said)} |")
    return "\n".join(lines) + "\n"


def with_matrix(page: str, table: str) -> str:
    """Return the text of a page with the table between its two marks."""
    before, rest = page.split(BEGIN)
    return before + BEGIN + table + END + rest.split(END)[1]


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    PAGE.write_text(with_matrix(PAGE.read_text(encoding="utf-8"), matrix()), encoding="utf-8")
