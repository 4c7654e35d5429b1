"""The runtime of guests: the same on every machine that says so, and refused when it was changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from neuroarena.errors import InputError
from neuroarena.sandbox import runtime
from neuroarena.sandbox.runtime import NoRuntime, Runtime, check_listing, list_distributions

MADE = Runtime(Path("/nowhere"), "ab" * 32, ("numpy==2.0", "scipy==1.0"))


def test_a_listing_is_written_once_and_then_compared(tmp_path: Path):
    listing = tmp_path / "runtime.txt"
    check_listing(MADE, listing)
    check_listing(MADE, listing)
    before = listing.read_text()
    for other in (
        Runtime(MADE.folder, "cd" * 32, MADE.packages),
        Runtime(MADE.folder, MADE.digest, ("numpy==2.1", "scipy==1.0")),
        Runtime(MADE.folder, MADE.digest, (*MADE.packages, "torch==3.0")),
    ):
        with pytest.raises(InputError, match=r"runtime\.txt: "):
            check_listing(other, listing)
    assert listing.read_text() == before


def test_a_runtime_holds_libraries_with_all_that_they_require_and_not_neuroarena():
    names = {each.name.lower() for each in list_distributions()}
    assert {"numpy", "scikit-learn", "joblib", "threadpoolctl"} <= names
    assert not names & {"neuroarena", "sqlalchemy", "pytest", "pip"}


def test_a_runtime_that_was_changed_since_it_was_built_is_refused(tmp_path: Path):
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "python3").write_text("an interpreter")
    marks = runtime._marks(tmp_path / "tree")
    (tmp_path / "runtime.json").write_text(f'{{"digest": "ab", "packages": [], "marks": "{marks}"}}')
    assert runtime._open(tmp_path).digest == "ab"
    (tmp_path / "tree" / "planted").write_text("a backdoor")
    with pytest.raises(NoRuntime, match="changed since it was built"):
        runtime._open(tmp_path)
