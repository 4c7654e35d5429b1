from __future__ import annotations

from file_server import site

__all__ = ["site"]
