"""Pages on Brain-Score: the page on bad input names tests that exist; the commands are run by tests/test_docs.py."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from bsm_arrays import pair

from neuroarena.families.brainscore.definitions import BENCHMARK_FACTORIES
from neuroarena.families.brainscore.errors import AlignmentError
from neuroarena.families.brainscore.metrics import METRIC_FACTORIES
from neuroarena.families.brainscore.vision import STIMULUS_SETS, STUDIES

HERE = Path(__file__).resolve().parent
DOCS = HERE.parents[2] / "docs"


def cited() -> list[tuple[str, str]]:
    text = (DOCS / "brainscore-bad-input.md").read_text(encoding="utf-8")
    return re.findall(r"`(test_\w+\.py)::(test_\w+)`", text)


def test_every_row_on_bad_input_names_a_test_that_exists():
    lines = (DOCS / "brainscore-bad-input.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ")][1:]
    # The spec has 31 rows of bad input, some of which are two here.
    assert len(rows) >= 31
    assert all("::test_" in row for row in rows)
    for file, name in cited():
        assert f"def {name}(" in (HERE / file).read_text(encoding="utf-8"), (file, name)


def test_every_benchmark_and_every_file_is_on_a_page():
    text = "".join(page.read_text(encoding="utf-8") for page in DOCS.glob("brainscore-*.md"))
    for name in BENCHMARK_FACTORIES:
        known = name in text or f"`.{name.partition('.')[2]}`" in text
        assert known, name
    for study in STUDIES.values():
        assert study.file in text
    for identifier in STIMULUS_SETS:
        stem = f"stimulus_{identifier.replace('.', '_')}"
        assert stem in text or f"`{stem.removeprefix('stimulus_Marques2020')}`" in text, stem


def test_disjoint_stimuli_are_refused_with_the_first_few_of_both_sides():
    source, target = pair()
    other = source.assign_coords(stimulus_id=("presentation", [f"other{n}" for n in range(100)]))
    with pytest.raises(AlignmentError, match=r'"stim0000".* and 97 more.*"other0"'):
        METRIC_FACTORIES["pls"]()(other, target)
    assert np.isfinite(float(METRIC_FACTORIES["pls"]()(source, target)))
