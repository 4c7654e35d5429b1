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


CORE_ONLY = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"xarray", "h5netcdf", "torch", "safetensors", "mne", "pyriemann", "sqlalchemy"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
from neuroarena.cli import main

for words in (
    "list benchmarks",
    "list decoders --json",
    "list datasets",
    "list metrics",
    "list options",
    "check family brainscore",
    "run brainscore/Kar2019-ost -d pixels --data .",
):
    sys.argv = ["neuroarena", *words.split()]
    try:
        main()
    except SystemExit as left:
        if left.code:
            print(f"{words}: exit code {left.code}")
"""


def test_a_core_install_lists_everything_and_names_the_extra_that_is_missing(tmp_path):
    ran = subprocess.run(
        [sys.executable, "-c", CORE_ONLY], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert [line for line in ran.stdout.splitlines() if "exit code" in line] == [
        "run brainscore/Kar2019-ost -d pixels --data .: exit code 2"
    ]
    assert 'pip install "neuroarena[vision]"' in ran.stderr
    assert "need the extra vision" in ran.stdout
