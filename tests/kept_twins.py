"""Twins that all test processes share: the first that needs one writes it, and the others wait for it."""

from __future__ import annotations

import atexit
import fcntl
import functools
import json
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from neuroarena.datasets import load_dataset
from neuroarena.fingerprint import digest

PLACE = "NEUROARENA_TEST_TWINS"


def open_place() -> Callable[[], None]:
    """Make the folder of the twins, tell it to the processes started from here, and return what removes it."""
    folder = tempfile.TemporaryDirectory(prefix="neuroarena-twins-", ignore_cleanup_errors=True)
    os.environ[PLACE] = folder.name

    def close() -> None:
        os.environ.pop(PLACE, None)
        folder.cleanup()

    return close


def keep_twin(dataset: str, **options: Any) -> Path:
    """Return the folder of a twin, named as its dataset; read it, do not change it."""
    return _keep(dataset, json.dumps(options, sort_keys=True))


def make_place() -> Path:
    """Return a new folder that is removed at the end, for what one process keeps."""
    return Path(tempfile.mkdtemp(dir=_find_place()))


@functools.cache
def _keep(dataset: str, options: str) -> Path:
    parent = _find_place() / digest([dataset, options])[:16]
    parent.mkdir(exist_ok=True)
    with open(parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        # A twin that is there is left as it is.
        load_dataset(dataset).simulate(parent / dataset, **json.loads(options))
    return parent / dataset


def _find_place() -> Path:
    if PLACE not in os.environ:  # outside pytest
        atexit.register(open_place())
    return Path(os.environ[PLACE])
