"""Splits: disjoint, exhaustive, and independent of row order."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuroarena.benchmarks import Fold, Split
from neuroarena.benchmarks.neuroprobe.folds import cross_session, cross_subject, within_session
from neuroarena.errors import InputError


def examples_of(sizes: dict[str, int]) -> pd.DataFrame:
    rows = [
        {"id": f"{session}-{item:05d}", "session": session, "subject": session[6:].partition("_")[0]}
        for session, size in sizes.items()
        for item in range(size)
    ]
    return pd.DataFrame(rows)


sizes = st.fixed_dictionaries(
    {session: st.integers(10, 40) for session in ("btbank1_1", "btbank1_2", "btbank2_0", "btbank2_4")}
)


@settings(deadline=None, max_examples=40)
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
    ],
)
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
