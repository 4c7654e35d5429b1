"""A verb of our own."""

from __future__ import annotations


def hum() -> None:
    """Hum."""
    print("mmmm")
