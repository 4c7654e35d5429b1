"""What all tests share: a cache of their own, and honest skips."""

from __future__ import annotations

import functools
import gc
import itertools
import os
import shutil
from collections.abc import Generator
from typing import Any

import pytest
import typer
import typer.main
from hypothesis import HealthCheck, settings

from kept_twins import open_place

# Doctests are collected from modules; a conftest is none, and several of them share a name.
collect_ignore_glob = ["conftest.py", "*/conftest.py", "plugin/*"]

# Machines are shared: how long an example takes, or is made, says nothing about the code.
SHARED: dict[str, Any] = {
    "deadline": None,
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow],
}
# `make drills` tries ten times as many.
settings.register_profile("quick", **SHARED, max_examples=10)
settings.register_profile("storm", **SHARED, max_examples=100)
settings.load_profile("quick")

# A process of a user builds the parser of all verbs once, in 0.1 s; a process of tests runs hundreds of commands.
_build_parser = typer.main.get_command


@functools.cache
def _keep_parser(app: typer.Typer, offers_any_shell: str | None) -> Any:
    return _build_parser(app)


typer.main.get_command = lambda typer_instance: _keep_parser(
    typer_instance, os.environ.get("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION")
)


def pytest_configure(config: pytest.Config) -> None:
    """Open the folder of twins that all workers share."""
    if not hasattr(config, "workerinput"):
        config.add_cleanup(open_place())


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Keep modules and tests, which stay to the end, from being searched for garbage again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        # Objects made between two searches: at Python's 700 they took a tenth of the time of all tests.
        gc.set_threshold(50_000, 20, 100)
        gc.enable()


_NUMBERS = itertools.count()


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    # A name, no folder: most tests write nothing, and making a folder for each costs more than they do.
    cache = tmp_path_factory.getbasetemp() / "caches" / str(next(_NUMBERS))
    monkeypatch.setenv("NEUROARENA_CACHE", str(cache))
    for dataset in ("BRAINTREEBANK", "THINGS_EEG2", "BCI_COMMANDS", "SSVEP_EXO", "SLEEP_EDF", "MUSE_SLEEP"):
        monkeypatch.delenv(f"NEUROARENA_{dataset}", raising=False)
    for name in ("NEUROARENA_DATA", "NEUROARENA_EMG2QWERTY", "NEUROARENA_HBN", "ROOT_DIR_BRAINTREEBANK"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def chromium() -> str:
    """Path of a Chromium; a missing one skips the test, and fails it in CI."""
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        reason = "Chromium is not installed (Debian package chromium)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    return found


@pytest.fixture(scope="session")
def bwrap() -> None:
    """Skip where bubblewrap cannot run, and have the runtime of guests built: 1.7 GB take longer than a test waits."""
    from neuroarena.sandbox.bubblewrap import Bubblewrap
    from neuroarena.sandbox.runtime import find_runtime

    reason = Bubblewrap().find_obstacle()
    if reason is not None:
        pytest.skip(reason)
    find_runtime()
