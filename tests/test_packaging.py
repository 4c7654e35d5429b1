"""The wheel: everything the package reads at run time is in it."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_the_wheel_holds_the_code_and_the_data_it_reads(tmp_path):
    # Built from a copy, so that the checkout stays clean.
    copy = tmp_path / "copy"
    shutil.copytree(ROOT / "src", copy / "src", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, copy / name)
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--wheel-dir", str(tmp_path / "wheels"), str(copy)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    (wheel,) = (tmp_path / "wheels").glob("neuroarena-*.whl")
    inside = set(zipfile.ZipFile(wheel).namelist())
    package = ROOT / "src" / "neuroarena"
    wanted = {
        f"neuroarena/{path.relative_to(package).as_posix()}"
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= inside
    assert any(name.endswith(".toml") for name in wanted)
    assert not any(name.startswith("tests") for name in inside)
