"""Another package adds a dataset, a benchmark and a decoder by entry points; everything works with them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The plugin, installed by pip into a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "plugin"
    # Built from a copy: building leaves files behind, and the checkout stays clean.
    subprocess.run(["cp", "-r", str(PLUGIN), str(source)], check=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder


def neuroarena(site: Path, folder: Path, *words: str, code: int = 0) -> str:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path, "NEUROARENA_CACHE": str(folder / "cache")}
    ran = subprocess.run(
        [sys.executable, "-m", "neuroarena", *words],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stderr
    return ran.stdout


def test_the_plugin_is_listed_with_its_origin(site, tmp_path):
    for kind, name in (("datasets", "hum"), ("benchmarks", "hum/loud"), ("decoders", "hum-power")):
        rows = json.loads(neuroarena(site, tmp_path, "list", kind, "--json"))
        assert {row["name"]: row["from"] for row in rows}[name] == "neuroarena-hum"


def test_the_plugin_runs_from_data_to_board(site, tmp_path):
    card = json.loads(
        neuroarena(site, tmp_path, "data", "simulate", "hum", "hums", "--people", "4", "--json")
    )
    assert card["simulated"] is True
    assert "good" in neuroarena(site, tmp_path, "data", "verify", "hum", "hums")
    neuroarena(site, tmp_path, "check", "decoder", "hum-power", "--benchmark", "hum/loud")
    run = [
        "run",
        "hum",
        "--decoder",
        "hum-power",
        "--decoder",
        "chance",
        "--data",
        "hums",
        "--out",
        "results",
    ]
    neuroarena(site, tmp_path, *run)
    board = json.loads(neuroarena(site, tmp_path, "board", "results", "--json"))
    table = board["rankings"][0]["table"]
    assert [row["team"] for row in table] == ["hum-power", "chance"]
    assert table[0]["score"] > 0.9
    assert board["simulated"] is True
