"""Track 5, foundation transfer: one encoder on the examples of all four tracks."""

from __future__ import annotations

from neuroarena.families.transfer.family import FAMILY, Transfer

__all__ = ["FAMILY", "Transfer"]
