"""What is shown to somebody new: decoders on simulated recordings, and a competition of simulated teams."""

from __future__ import annotations

from neuroarena.demo.showing import Demo, DemoPlan, find_demo, run_demo

__all__ = ["Demo", "DemoPlan", "find_demo", "run_demo"]
