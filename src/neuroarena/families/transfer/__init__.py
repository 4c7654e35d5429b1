"""Track 5, foundation transfer: one encoder on the examples of all four tracks."""

from __future__ import annotations

from neuroarena.families.transfer.family import FAMILY, Transfer
from neuroarena.lazily import lazy_names

_HOMES = {
    "transfer_entries": ".encoder_identity",
    "transfer_standings": ".standings",
    "void_changed_encoders": ".encoder_identity",
}

__getattr__, __dir__, _lazy = lazy_names(__name__, _HOMES)
__all__ = ["FAMILY", "Transfer", *_lazy]
