"""Run untrusted code: without labels, without a network, without write access, within limits."""

from __future__ import annotations

from neuroarena.sandbox.job import Control
from neuroarena.sandbox.limits import Limits, Outcome
from neuroarena.sandbox.run import collect_isolated, run_isolated

__all__ = ["Control", "Limits", "Outcome", "collect_isolated", "run_isolated"]
