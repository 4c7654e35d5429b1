"""`neuroarena map RESULTS`: the page of a map, with the parts that only Neuroprobe has."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from command_line import neuroarena_in
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.map_sections import published_section
from neuroarena.families.neuroprobe.map_truth import compare_planted, count_others
from neuroarena.maps import MapGrid, simulate_grid, write_grid
from neuroarena.maps.summaries import region_overlap


@pytest.fixture(scope="module")
def drawn_from(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("maps")
    write_grid(simulate_grid(0, permutations=19), folder / "foreign")
    named = simulate_grid(0, permutations=19)
    provenance = json.dumps({"benchmarks": ["neuroprobe/onset"]})
    write_grid(MapGrid(named.data.assign_attrs(provenance=provenance), named.nulls), folder / "named")
    return folder


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["foreign", "--as-published"], "belongs to no family with published choices"),
        (["foreign", "--with", "films"], "offers nothing"),
        (["named", "--with", "fims"], "offers labels, films, speech, published, planted"),
        (["named", "--label", "end"], "--label is centre or start"),
        (["named", "--as-published", "--label", "centre"], "labels windows by their start"),
        (["foreign", "--data", "."], "its family adds nothing to the page"),
        (["named", "--null", "1000"], "--null cannot be used with a map that was computed before"),
        (["named", "--workers", "2", "--seed", "0"], "--seed, --workers cannot be used with a map"),
        (["neuroprobe/onset", "--as-published"], "--as-published cannot be used with a benchmark"),
        (["neuroprobe/onset", "--with", "speech", "--label", "start"], "--with, --label cannot be used with"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_is_written(
    drawn_from: Path, words: list[str], says: str
):
    done = neuroarena_in(drawn_from, "map", *words, "--out", "page")
    assert done.returncode == 2
    assert says in done.stderr
    assert not (drawn_from / "page").exists()


def test_what_was_planted_stands_beside_what_was_found():
    grid = simulate_grid(0, permutations=99)
    held = grid.electrodes[grid.data["planted"].sel(task="sound").values.astype(bool)]
    name = held.loc[held["subject"] == "1", "name"].iloc[0]
    other = grid.electrodes.loc[
        (grid.electrodes["subject"] == "1") & ~grid.electrodes["name"].isin(held["name"])
    ]
    told = {"latency_s": 0.02, "duration_s": 0.4, "region": "here"}
    planted = {
        "sub_1": {
            "sound": [{"electrode": name, "slot": 0, **told}, {"electrode": "unknown", "slot": 0, **told}],
            "word": [{"electrode": other["name"].iloc[0], "slot": 1, **told}],
        }
    }
    table = compare_planted(grid, planted).set_index("task")
    assert table["name"].tolist() == [name, other["name"].iloc[0]]  # what the map does not have is left out
    assert table["from_s"].tolist() == [0.02, 0.52]  # a slot is half a second
    assert table["planted"].tolist() == [1, 1]
    assert bool(table.loc["sound", "significant"])
    assert table.loc["sound", "place"] <= 33
    assert (
        count_others(grid, table.reset_index()) > 20
    )  # all that was really planted and is not in this table
    with pytest.raises(InputError, match="no electrode of this twin"):
        compare_planted(grid, {"sub_9": planted["sub_1"]})


def test_overlap_with_the_training_subject_stands_beside_the_published_one():
    grid = simulate_grid(0, permutations=19)
    table = published_section(grid, None).tables[-1]
    assert table.header[:3] == ("subject", "AUROC, published", "overlap, published")
    ours = region_overlap(grid, "region_dk").loc[["1", "3"], "2"]
    assert table.rows == [
        ("1", "0.579", "0.042", f"{ours['1']:.3f}"),
        ("3", "0.541", "0.371", f"{ours['3']:.3f}"),
    ]


@pytest.mark.drill
def test_a_map_of_a_twin_is_drawn_with_labels_films_speech_and_published_choices(
    twin_root: Path, tmp_path: Path
):
    data = ["--data", str(twin_root)]
    told = ["--null", "19", "--tmin", "0", "--tmax", "0.5", "--out", "made", "--json"]
    assert neuroarena_in(tmp_path, "map", "neuroprobe/onset", *data, *told).returncode == 0
    parts = ["--with", "speech", "--with", "published", "--with", "planted", "--as-published", "--json"]
    done = neuroarena_in(tmp_path, "map", "made", "--out", "page", *data, *parts)
    assert done.returncode == 0, done.stderr
    page = Path(tmp_path, json.loads(done.stdout)["page"]).read_text(encoding="utf-8")
    assert "Choices of the Neuroprobe papers" in page
    assert "the 100 electrodes with the highest mean" in page
    for title in ("Sentence Onset", "Labels that go together", "Faces on the screen", "Published peaks"):
        assert title in page
    speech = pd.read_csv(tmp_path / "page" / "tables" / "speech.csv")
    assert len(speech) == 32  # 16 electrodes in two sessions
    assert np.isfinite(speech[["t", "q"]]).all(axis=None)
    assert "of 2 planted electrodes are significant" in page  # two of a subject carry sentence onset
    assert {"place", "from_s", "p"} <= set(pd.read_csv(tmp_path / "page" / "tables" / "planted.csv"))
    counts = pd.read_csv(tmp_path / "page" / "tables" / "items.csv")
    assert len(counts) == 15
