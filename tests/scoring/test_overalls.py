"""Overalls: how tasks become one number, as data."""

from __future__ import annotations

import numpy as np
import pytest

from neuroarena.benchmarks import FAMILIES
from neuroarena.benchmarks.faces import families_with
from neuroarena.errors import InputError
from neuroarena.scoring import COMBINERS, Overall
from neuroarena.scoring.overalls import TaskUnits, join_units, overall_combiner

TREE = {"a": "V1", "b": "V1", "c": "IT", "V1": "neural", "IT": "neural", "neural": "overall"}


def test_the_three_kinds_by_hand():
    scores = {"a": 0.2, "b": 0.4, "c": 0.9}
    assert Overall().combine(scores) == pytest.approx(0.5)
    assert Overall(tasks=("a", "c")).combine(scores) == pytest.approx(0.55)
    assert Overall(kind="weighted", weights={"a": 0.25, "c": 0.75}).combine(scores) == pytest.approx(0.725)
    # V1 = 0.3, IT = 0.9, so 0.6: a region counts once however many benchmarks it has.
    assert Overall(kind="tree", parents=TREE).combine(scores) == pytest.approx(0.6)


@pytest.mark.parametrize(
    "overall",
    [
        Overall(tasks=("a", "c")),
        Overall(kind="weighted", weights={"a": 0.5, "c": 0.5}),
        Overall(kind="tree", parents={"a": "root", "c": "root"}),
    ],
)
def test_a_missing_task_leaves_no_number_and_is_named(overall):
    assert overall.missing({"a": 0.2}) == ("c",)
    with pytest.raises(InputError, match=r"no score of c\."):
        overall.combine({"a": 0.2})


def test_a_node_of_a_tree_has_no_number_while_a_task_below_it_is_missing():
    nodes = Overall(kind="tree", parents=TREE).nodes({"a": 0.2, "b": 0.4})
    assert nodes == {"V1": pytest.approx(0.3), "IT": None, "neural": None, "overall": None}


def test_arrays_are_combined_element_by_element():
    overall = Overall(kind="weighted", weights={"a": 0.25, "b": 0.75})
    found = overall.combine({"a": np.array([1.0, 0.0]), "b": np.array([0.0, 1.0])})
    assert found.tolist() == [0.25, 0.75]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('kind = "median"', "kind"),
        ('kind = "weighted"', 'needs "weights"'),
        ('kind = "weighted"\n[weights]\na = 0.3\nb = 0.6', "sum to 1"),
        ('kind = "weighted"\n[weights]\na = 1.5\nb = -0.5', "positive"),
        ('kind = "mean"\n[weights]\na = 1', "does not belong"),
        ('kind = "tree"\n[parents]\na = "V1"\nb = "IT"', "one root, got IT, V1"),
        ('kind = "tree"\n[parents]\na = "b"\nb = "a"', "a circle"),
        ('kind = "tree"\n[parents]\na = "b"\nb = "a"\nc = "root"', "circle"),
        ("weight = 3", "weight: Extra inputs"),
        ("kind = ", "TOML"),
    ],
)
def test_a_wrong_file_is_refused_by_name(tmp_path, text, words):
    path = tmp_path / "overall.toml"
    path.write_text(text)
    with pytest.raises(InputError, match=words) as error:
        Overall.from_toml(path)
    assert str(path) in str(error.value)


def test_joined_units_give_the_overall_of_the_tasks_scored_apart():
    rng = np.random.default_rng(2)
    tasks = {}
    for name, people in (("speed", ["p1", "p2", "p3"]), ("mood", ["p2", "p3", "p4"])):
        target = rng.normal(size=(3, 5))
        error = rng.normal(size=(3, 5))
        columns = {
            "n": np.full(3, 5.0),
            "sse": (error**2).sum(axis=1),
            "sum_y": target.sum(axis=1),
            "sum_y2": (target**2).sum(axis=1),
        }
        tasks[name] = TaskUnits(people, people, columns, "nrmse")
    overall = Overall(kind="weighted", weights={"speed": 0.3, "mood": 0.7})
    units, clusters, columns = join_units(tasks)
    assert units == clusters == ("p1", "p2", "p3", "p4")
    assert columns["mood/sse"][0] == 0.0
    apart = {
        name: float(COMBINERS.get("nrmse").function({key: one.sum() for key, one in own.columns.items()}))
        for name, own in tasks.items()
    }
    combine = overall_combiner(overall, {"speed": "nrmse", "mood": "nrmse"})
    found = combine({name: np.asarray(column.sum()) for name, column in columns.items()})
    assert float(found) == pytest.approx(0.3 * apart["speed"] + 0.7 * apart["mood"], rel=1e-12)


def test_a_unit_in_two_clusters_is_refused():
    one = TaskUnits(["p1"], ["left"], {"score": np.ones(1)}, "mean")
    other = TaskUnits(["p1"], ["right"], {"score": np.ones(1)}, "mean")
    with pytest.raises(InputError, match='"p1" lies in different clusters'):
        join_units({"a": one, "b": other})


@pytest.mark.parametrize("family", sorted(families_with("overall")))
def test_every_suite_averages_tasks_that_it_has(family):
    overall = families_with("overall")[family]
    known = {task for each in FAMILIES.get(family).definitions for task in FAMILIES.get(family).tasks(each)}
    assert set(overall.leaves()) <= known


def test_the_tree_of_brain_score_holds_every_benchmark_that_ships_below_its_region():
    from neuroarena.families.brainscore.definitions import QUESTIONS

    overall = FAMILIES.get("brainscore").overall
    assert set(overall.leaves()) == set(QUESTIONS)
    for name in QUESTIONS:
        region = name.partition(".")[2].partition("-")[0]
        if region:
            assert overall.parents[name] == region
    assert set(overall.nodes({})) >= {"V1", "V2", "V4", "IT", "neural", "overall"}
