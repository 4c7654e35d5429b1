"""The table of adapters and kinds of prediction is what `check decoder` finds."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.mark.drill
@pytest.mark.skipif(find_spec("braindecode") is None, reason="the extra zoo is not installed")
def test_the_table_of_adapters_is_what_the_check_finds():
    code = (
        "import adapter_matrix as a; old = a.PAGE.read_text(); assert a.with_matrix(old, a.matrix()) == old"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT / "tools",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"run: make tables\n{ran.stderr[-2000:]}"
