"""Split rules: what each holds out, and that the order of the rows changes nothing."""

from __future__ import annotations

import functools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuroarena.benchmarks import split_rules
from neuroarena.benchmarks.time_blocks import blocks_in_time
from neuroarena.errors import InputError

LISTS = {"one": ("p0", "absent"), "two": ("p1", "p2"), "none": ("nobody",)}
RULES = {
    "leave one subject out": functools.partial(split_rules.leave_one_out, column="subject"),
    "leave one session out": functools.partial(
        split_rules.leave_one_out, column="session", within="subject", name="sessions"
    ),
    "leave one run out": functools.partial(split_rules.leave_one_out, column="run"),
    "later sessions": split_rules.later_sessions,
    "blocks": functools.partial(split_rules.blocked_folds, n_folds=2, by="subject", name="blocks"),
    "blocks with validation": functools.partial(
        split_rules.blocked_folds,
        n_folds=2,
        by="subject",
        cut=split_rules.cut_list(validation=True),
        name="blocks",
    ),
    "blocks in time": functools.partial(
        split_rules.blocked_folds, n_folds=2, by="subject", cut=blocks_in_time, name="blocks"
    ),
    "published folds": functools.partial(split_rules.published_folds, lists=LISTS, name="published"),
}


def table(people: int = 3, sessions: int = 3, each: int = 8) -> pd.DataFrame:
    rows = [
        (f"p{person}-s{session}-{item:02d}", f"p{person}", str(session + 8), str(item % 2))
        for person in range(people)
        for session in range(sessions)
        for item in range(each)
    ]
    made = pd.DataFrame(rows, columns=["id", "subject", "session", "run"])
    made["start"] = 10 * np.arange(len(made))
    made["stop"] = made["start"] + 3
    made["target"] = np.where(np.arange(len(made)) % 3 == 0, "a", "b")
    return made


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
@settings(max_examples=3, deadline=None)
@given(order=st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_neither_folds_nor_parts(rule, order):
    rows = list(range(len(table())))
    order.shuffle(rows)
    assert rule(table().iloc[rows]) == rule(table())


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES.keys())
def test_every_part_is_of_examples_that_are_there_and_nothing_is_judged_twice(rule):
    examples = table()
    split = rule(examples)
    for fold in split.folds:
        assert {*fold.train, *fold.validation, *fold.test} <= set(examples["id"])
    judged = [each for fold in split.folds for each in fold.test]
    assert len(judged) == len(set(judged))


def test_whoever_is_held_out_teaches_nothing():
    subject = dict(zip(table()["id"], table()["subject"], strict=True))
    for fold in RULES["leave one subject out"](table()).folds:
        assert {subject[each] for each in fold.test} == {fold.name}
        assert fold.name not in {subject[each] for each in fold.train}
    for fold in RULES["leave one session out"](table()).folds:
        assert {subject[each] for each in (*fold.train, *fold.test)} == {fold.name.partition("/")[0]}


def test_the_tenth_session_is_later_than_the_ninth():
    fold = split_rules.later_sessions(table()).fold("p1")
    assert {each[:5] for each in fold.train} == {"p1-s0"}
    assert {each[:5] for each in fold.test} == {"p1-s1", "p1-s2"}


def test_a_person_with_one_session_is_not_judged_on_later_ones():
    examples = pd.concat([table(1, 1), table(2, 2).query("subject == 'p1'")])
    assert [fold.name for fold in split_rules.later_sessions(examples).folds] == ["p1"]


def test_published_lists_pass_over_people_who_are_not_there():
    split = RULES["published folds"](table())
    assert [fold.name for fold in split.folds] == ["one", "two"]
    assert {each[:2] for each in split.fold("one").train} == {"p1", "p2"}
    parts = split_rules.published_parts(
        table(1, 1), ["p0-s0-03", "gone", "p0-s0-01"], ["p0-s0-02"], name="listed"
    )
    assert parts.folds[0].train == ("p0-s0-03", "p0-s0-01")
    assert parts.folds[0].validation == ()


def test_blocks_hold_every_item_out_once_in_equal_shares():
    split = split_rules.blocked_folds(table(1, 1, 11), 3, by="subject", name="blocks")
    assert [len(fold.test) for fold in split.folds] == [4, 4, 3]
    assert tuple(each for fold in split.folds for each in fold.test) == tuple(table(1, 1, 11)["id"])


@pytest.mark.parametrize("n_folds", [1, 5])
def test_too_few_or_too_many_blocks_are_refused(n_folds):
    with pytest.raises(InputError, match="expected at least 2 folds, of at least 2 items each"):
        split_rules.blocked_folds(table(1, 1), n_folds, by="subject", name="blocks")
