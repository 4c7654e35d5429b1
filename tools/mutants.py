"""List changes of single expressions that no test notices: `make mutants`, or one module of a room.

Run it by hand, never in CI: each change costs one run of the room's tests, a module takes an hour and a room a night.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CONFIG = """
[cosmic-ray]
module-path = "{module}"
timeout = {timeout_s}
excluded-modules = []
test-command = "{python} -m pytest -q -x -p no:cacheprovider {tests}"

[cosmic-ray.distributor]
name = "local"

[cosmic-ray.filters.operators-filter]
exclude-operators = {excluded}
"""


def list_survivors(module: str, tests: str, excluded: list[str], timeout_s: float) -> int:
    """Mutate a copy of the checkout and print what survives; return the exit code of cosmic-ray.

    Ctrl-C ends the trying; what survived until then is printed.

    Parameters
    ----------
    module : str
        A module or a room inside ``src/neuroarena``.
    tests : str
        What has to notice, as pytest takes it.
    excluded : list of str
        Patterns of operators that are left out.
    timeout_s : float
        Seconds after which the tests of one change count as failed.
    """
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        copy = Path(folder)
        for name in ("src", "tests", "docs"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        config = {"module": f"src/neuroarena/{module}", "tests": tests, "timeout_s": timeout_s}
        text = CONFIG.format(**config, python=sys.executable, excluded=excluded)
        (copy / "mutants.toml").write_text(text, encoding="utf-8")
        # Without bytecode: two changes of one size within one second would look like the same file.
        environment = {**os.environ, "PYTHONPATH": str(copy / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        scripts = Path(sys.executable).parent
        for words in (
            ("cosmic-ray", "init", "mutants.toml", "session.sqlite"),
            ("cr-filter-operators", "session.sqlite", "mutants.toml"),
            ("cosmic-ray", "baseline", "mutants.toml"),
            ("cosmic-ray", "exec", "mutants.toml", "session.sqlite"),
            ("cr-report", "--surviving-only", "--show-diff", "session.sqlite"),
        ):
            try:
                ran = subprocess.run([scripts / words[0], *words[1:]], cwd=copy, env=environment, check=False)
            except KeyboardInterrupt:
                continue  # what was tried until Ctrl-C is reported
            if ran.returncode and words[1] != "exec":
                return ran.returncode
    return 0


def main() -> int:
    """Read what to change and which tests have to notice; the rooms of pyproject.toml unless a module is named."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mutants"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "module", nargs="?", help="such as scoring/combiners.py; all rooms unless it is given"
    )
    parser.add_argument("--tests", help="which tests have to notice; those of the room unless they are given")
    asked = parser.parse_args()
    rooms = settings["rooms"]
    if asked.module is not None and asked.module.split("/")[0] not in rooms and asked.tests is None:
        parser.error(f"{asked.module} is in no room of [tool.mutants]; name the tests with --tests.")
    codes = [
        list_survivors(
            module,
            asked.tests or rooms[module.split("/")[0]],
            settings["exclude_operators"],
            settings["timeout_s"],
        )
        for module in ([asked.module] if asked.module else list(rooms))
    ]
    return max(codes)


if __name__ == "__main__":
    sys.exit(main())
