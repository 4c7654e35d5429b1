"""Splits: disjoint, exhaustive, and independent of row order."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.benchmarks import Fold, Split
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.folds import (
    cross_session,
    cross_subject,
    longest_sessions,
    within_session,
)
from neuroarena.families.neuroprobe.sessions import FULL, LONGEST, session_key, training_sessions


def examples_of(sizes: dict[str, int]) -> pd.DataFrame:
    rows = [
        {
            "id": f"{session}-{item:05d}",
            "session": session,
            "subject": session[6:].partition("_")[0],
            "target": item % 2,
        }
        for session, size in sizes.items()
        for item in range(size)
    ]
    return pd.DataFrame(rows)


sizes = st.fixed_dictionaries(
    {session: st.integers(10, 40) for session in ("btbank1_1", "btbank1_2", "btbank2_0", "btbank2_4")}
)


@given(sizes=sizes, seed=st.integers(0, 2**16), validation=st.booleans(), n_folds=st.sampled_from([2, 5]))
def test_folds_are_disjoint_exhaustive_and_independent_of_row_order(sizes, seed, validation, n_folds):
    examples = examples_of(sizes)
    shuffled = examples.sample(frac=1, random_state=seed)
    rules = [
        lambda table: within_session(table, n_folds=n_folds, validation=validation),
        lambda table: cross_session(table, validation=validation),
        lambda table: cross_subject(table, validation=validation),
    ]
    for rule in rules:
        split = rule(examples)
        assert rule(shuffled).hash == split.hash
        for fold in split.folds:
            parts = [set(fold.train), set(fold.validation), set(fold.test)]
            assert sum(map(len, parts)) == len(set.union(*parts))
            assert bool(fold.validation) == validation
    within = within_session(examples, n_folds=n_folds, validation=validation)
    held_out = [example for fold in within.folds for example in (*fold.validation, *fold.test)]
    assert sorted(held_out) == sorted(examples["id"])
    for fold in within.folds:
        session = fold.name.partition("/")[0]
        assert len(fold.train) + len(fold.validation) + len(fold.test) == sizes[session]


def test_the_published_sizes_of_a_session_of_3134_items():
    folds = within_session(examples_of({"btbank1_1": 3134})).folds
    assert [(len(fold.train), len(fold.validation), len(fold.test)) for fold in folds] == [
        (1567, 783, 784)
    ] * 2


def test_cross_session_trains_on_the_other_session_of_the_subject():
    split = cross_session(examples_of({"btbank1_1": 10, "btbank1_2": 8}))
    assert {example[:9] for example in split.fold("btbank1_1").train} == {"btbank1_2"}
    assert split.fold("btbank1_1").validation == tuple(f"btbank1_1-{item:05d}" for item in range(5))


def test_five_folds_hold_out_a_fifth_each():
    split = within_session(examples_of({"btbank1_1": 52}), n_folds=5)
    held_out = [len(fold.validation) + len(fold.test) for fold in split.folds]
    assert held_out == [11, 11, 10, 10, 10]
    assert [len(fold.test) for fold in split.folds] == [6, 6, 5, 5, 5]


FULL_TABLE = examples_of({session_key(session): 12 for session in FULL})


def trained_on(split: Split) -> dict[str, set[str]]:
    return {fold.name: {example.partition("-")[0] for example in fold.train} for fold in split.folds}


def test_the_full_subset_trains_on_the_longest_session_or_the_next():
    judged = [session_key(each) for each in FULL if each[0] not in (5, 6, 8, 9)]
    folds = trained_on(cross_session(FULL_TABLE, training=longest_sessions(), judged=judged))
    assert set(folds) == set(judged)
    assert folds["btbank1_0"] == {"btbank1_1"}
    assert folds["btbank1_1"] == folds["btbank1_2"] == {"btbank1_0"}
    assert folds["btbank2_4"] == {"btbank2_6"}
    assert folds["btbank2_6"] == folds["btbank2_1"] == {"btbank2_4"}
    assert folds["btbank3_2"] == {"btbank3_1"}
    assert folds["btbank10_0"] == {"btbank10_1"}


def test_the_full_subset_may_train_on_all_others_of_its_table_and_divides_max_samples():
    split = cross_session(
        FULL_TABLE, training=longest_sessions("all"), judged=["btbank2_1", "btbank2_4"], max_samples=9
    )
    assert trained_on(split) == {"btbank2_1": {"btbank2_4", "btbank2_6"}, "btbank2_4": {"btbank2_6"}}
    # Nine shared by two sessions are four each, two of a class; a single session keeps what it has.
    assert len(split.fold("btbank2_1").train) == 8
    assert split.fold("btbank2_1").train[:4] == tuple(f"btbank2_4-{item:05d}" for item in range(4))
    assert len(split.fold("btbank2_4").train) == 12


def test_the_flaws_of_the_published_table_are_named():
    flawed = {6: {2}}
    for subject, trials in LONGEST.items():
        missing = {trial for trial in trials if (subject, trial) not in FULL}
        assert missing == flawed.get(subject, set())
    with pytest.raises(InputError) as refused:
        cross_session(FULL_TABLE, training=longest_sessions())
    for words in (
        "btbank6_0: the published table trains on btbank6_2, a session that does not exist",
        "btbank5_0: subject 5 has a single session",
        "btbank8_0: subject 8",
        "btbank9_0: subject 9",
        "nothing is left out silently",
    ):
        assert words in str(refused.value)
    assert "btbank6_1" not in str(refused.value)
    assert trained_on(
        cross_session(FULL_TABLE, training=longest_sessions(), judged=["btbank6_1", "btbank6_4"])
    ) == {
        "btbank6_1": {"btbank6_0"},
        "btbank6_4": {"btbank6_0"},
    }
    with pytest.raises(InputError, match="btbank6_2"):
        training_sessions("btbank6_1", "all")


def test_sessions_that_are_not_judged_still_serve_for_training():
    table = examples_of({"btbank1_1": 10, "btbank1_2": 8, "btbank2_4": 9})
    assert [fold.name for fold in within_session(table, judged=["btbank1_1"]).folds] == [
        "btbank1_1/0",
        "btbank1_1/1",
    ]
    assert trained_on(cross_session(table, judged=["btbank1_1"])) == {"btbank1_1": {"btbank1_2"}}
    assert trained_on(cross_subject(table, judged=["btbank1_2"])) == {"btbank1_2": {"btbank2_4"}}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Fold("f", ("a",), ("a",)), "both in train and in test"),
        (lambda: Fold("f", ("a",), ("b",), ("b",)), "both in validation and in test"),
        (lambda: Fold("f", ("a", "a"), ("b",)), "occurs twice in the train part"),
        (lambda: Fold("f", (), ("b",)), "the train part is empty"),
        (lambda: Fold("f", ("a",), ()), "the test part is empty"),
        (lambda: Split("s", ()), "has no folds"),
        (lambda: Split("s", (Fold("f", ("a",), ("b",)), Fold("f", ("b",), ("a",)))), "the same name"),
        (lambda: Split("s", (Fold("f", ("a",), ("b",)), Fold("g", ("c",), ("b",)))), "judged in two folds"),
        (lambda: Split("s", (Fold("f", ("a",), ("b",)),)).fold("g"), 'no fold "g"'),
        (lambda: cross_session(examples_of({"btbank1_1": 8})), "exactly two are needed"),
        (lambda: cross_subject(examples_of({"btbank1_1": 8})), "training session btbank2_4"),
        (lambda: cross_subject(FULL_TABLE, judged=["btbank2_0"]), "btbank2_0 cannot be judged"),
        (lambda: within_session(examples_of({"btbank1_1": 8}), n_folds=1), "at least 2 folds"),
        (lambda: within_session(examples_of({"btbank1_1": 8}), n_folds=5), "5 folds of btbank1_1, which has 8 items"),
        (lambda: cross_session(FULL_TABLE, training=longest_sessions("all"), judged=["btbank2_1"], max_samples=3),
         "too few for 2 training sessions and 2 classes"),
        (lambda: cross_session(examples_of({"btbank1_1": 8, "btbank1_2": 8}), training=longest_sessions()),
         "btbank1_1: its training session btbank1_0 is not in these data"),
    ],
)  # fmt: skip
def test_bad_folds_are_refused_by_name(make, message):
    with pytest.raises(InputError, match=message):
        make()


def test_the_hash_notices_every_part():
    base = Split("s", (Fold("f", ("a", "b"), ("c",), ("d",)),))
    others = [
        Split("t", (Fold("f", ("a", "b"), ("c",), ("d",)),)),
        Split("s", (Fold("g", ("a", "b"), ("c",), ("d",)),)),
        Split("s", (Fold("f", ("a",), ("c",), ("d",)),)),
        Split("s", (Fold("f", ("a", "b"), ("d",), ("c",)),)),
        Split("s", (Fold("f", ("a", "b"), ("c", "e"), ("d",)),)),
    ]
    assert len({base.hash, *(other.hash for other in others)}) == 6
