"""Run untrusted code: without labels, without a network, without write access, within limits."""

from __future__ import annotations

from neuroarena.sandbox.limits import Limits, Outcome
from neuroarena.sandbox.run import run_isolated

__all__ = ["Limits", "Outcome", "run_isolated"]
