"""Where figures were measured: processor, memory, versions, commit and load."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

LIBRARIES = ("numpy", "scipy", "pandas", "pyarrow", "scikit-learn", "h5py")


def describe_environment() -> dict[str, str]:
    """Return what may change a figure, as texts by name."""
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory_gb": f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 1e9:.0f}",
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        **{name: metadata.version(name) for name in LIBRARIES},
        "neuroarena": metadata.version("neuroarena"),
        "commit": _commit(),
    }


def read_load() -> float:
    """Return how many processes wanted a core over the last minute: figures of a busy machine are upper bounds."""
    return round(os.getloadavg()[0], 2)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _commit() -> str:
    asked = ["git", "describe", "--always", "--dirty"]
    try:
        done = subprocess.run(asked, capture_output=True, text=True, check=False, cwd=Path(__file__).parent)
    except FileNotFoundError:
        return "unknown"
    return done.stdout.strip() or "unknown"
