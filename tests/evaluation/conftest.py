from __future__ import annotations

from faults import disk

__all__ = ["disk"]
