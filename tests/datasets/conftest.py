from __future__ import annotations

from faults import disk
from file_server import site

__all__ = ["disk", "site"]
