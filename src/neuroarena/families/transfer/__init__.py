"""Track 5, foundation transfer: one encoder on the examples of all four tracks."""

from __future__ import annotations

from neuroarena.families.transfer.family import FAMILY, Transfer
from neuroarena.lazily import lazy_names

_MODULES: dict[str, tuple[str, ...]] = {
    ".decoders": (
        "ENCODERS",
        "Encoder",
        "EncoderMeta",
        "EncoderProbe",
        "encoded",
        "encoder_handcrafted",
        "encoder_random",
        "encoder_selfsupervised",
        "find_encoder",
        "pretrain",
    ),
    ".encoder_identity": ("transfer_entries", "void_changed_encoders"),
    ".standings": ("transfer_standings",),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = ["FAMILY", "Transfer", *_later]
