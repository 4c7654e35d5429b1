"""The reference job: a fixed piece of work in the sandbox, by which a machine is known to be slow or not."""

from __future__ import annotations

import sys

from neuroarena.errors import NeuroarenaError
from neuroarena.sandbox.limits import Limits
from neuroarena.sandbox.run import run_isolated

# Interpreted arithmetic and hashing, about as much of each; a tenth of a second to half a second on most machines.
SOURCE = """
import hashlib
total = 0
for number in range(1_500_000):
    total += number * number % 7
hasher, block = hashlib.sha256(), bytes(1 << 20)
for _ in range(60):
    hasher.update(block)
"""
_LIMITS = Limits(memory_mb=200, seconds=120, output_mb=4, processes=8)


def time_reference() -> float:
    """Run the reference job once in the sandbox, and return how many seconds it took with its start.

    Raises
    ------
    NeuroarenaError
        When it does not end well: something is wrong with this machine.
    """
    outcome = run_isolated([sys.executable, "-I", "-S", "-c", SOURCE], limits=_LIMITS)
    if outcome.status != "finished":
        raise NeuroarenaError(f"The reference job did not end well on this machine ({outcome.status}).")
    return outcome.seconds
