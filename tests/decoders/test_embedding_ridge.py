"""Ridge regression to embeddings: against scikit-learn, its choices, and its refusals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import StandardScaler

from neuroarena.decoders import Context, Group, check_decoder
from neuroarena.decoders.embedding_ridge import EmbeddingRidge
from neuroarena.errors import InputError
from neuroarena.recordings import channel_table

CHANNELS = channel_table(["Pz", "Oz", "O1"], kind="eeg")
LENGTH = 6


def part(n: int, seed: int, strength: float = 1.0, with_targets: bool = True) -> Group:
    rng = np.random.default_rng(seed)
    mixing = np.random.default_rng(0).standard_normal((LENGTH, 3, 20))
    targets = rng.standard_normal((n, LENGTH)).astype(np.float32) + 3.0
    signals = strength * np.tensordot(targets - 3.0, mixing, 1) + rng.standard_normal((n, 3, 20))
    table = pd.DataFrame({"id": [f"{seed}-{row}" for row in range(n)], "subject": "1", "session": "1"})
    return Group(signals.astype(np.float32), CHANNELS, 100.0, table, targets if with_targets else None)


def context() -> Context:
    return Context((), (CHANNELS,), np.random.default_rng(0), "vector", LENGTH)


def test_the_predictions_are_those_of_scikit_learn() -> None:
    train, validation, test = part(80, 1), part(40, 2), part(10, 3)
    ours = EmbeddingRidge(pool_s=0.01, centred=False).fit([train], [validation], context())
    scaler = StandardScaler().fit(train.signals.reshape(80, -1).astype(float))
    x = scaler.transform(train.signals.reshape(80, -1).astype(float))
    penalty = ours.strength_ * np.trace(x.T @ x) / x.shape[1]
    oracle = Ridge(alpha=penalty).fit(x, train.targets.astype(float))
    expected = oracle.predict(scaler.transform(test.signals.reshape(10, -1).astype(float)))
    np.testing.assert_allclose(ours.predict([test]), expected, rtol=1e-4, atol=1e-4)
    centred = EmbeddingRidge(pool_s=0.01).fit([train], [validation], context())
    np.testing.assert_allclose(
        centred.predict([test]), expected - train.targets.mean(axis=0), rtol=1e-3, atol=1e-4
    )


def test_samples_are_averaged_over_stretches() -> None:
    train, test = part(60, 1), part(5, 2)
    short = [
        Group(g.signals.reshape(len(g), 3, 5, 4).mean(axis=3), g.channels, 25.0, g.table, g.targets)
        for g in (train, test)
    ]
    one = EmbeddingRidge(pool_s=0.04).fit([train], None, context()).predict([test])
    other = EmbeddingRidge(pool_s=0.04).fit([short[0]], None, context()).predict([short[1]])
    np.testing.assert_allclose(one, other, atol=1e-5)


def test_the_penalty_is_the_one_that_finds_most_on_the_validation_part() -> None:
    train, validation = part(60, 1, 0.15), part(60, 2, 0.15)
    ours = EmbeddingRidge(pool_s=0.01).fit([train], [validation], context())
    scaler = StandardScaler().fit(train.signals.reshape(60, -1).astype(float))
    x, held = (scaler.transform(each.signals.reshape(60, -1).astype(float)) for each in (train, validation))
    target = validation.targets.astype(float)
    found = []
    for strength in ours.strengths:
        oracle = Ridge(alpha=strength * np.trace(x.T @ x) / x.shape[1]).fit(x, train.targets.astype(float))
        said = oracle.predict(held) - train.targets.astype(float).mean(axis=0)
        scores = said @ (target / np.linalg.norm(target, axis=1, keepdims=True)).T
        found.append(np.mean((scores > np.diag(scores)[:, None]).sum(axis=1) < 6))
    assert len(set(found)) > 1
    assert found[ours.strengths.index(ours.strength_)] == max(found)
    assert max(found) not in found[ours.strengths.index(ours.strength_) + 1 :]


def test_it_keeps_the_contract_of_decoders() -> None:
    checks = check_decoder(EmbeddingRidge(), CHANNELS, 100.0, 30, (), kind="vector", vector_length=LENGTH)
    assert [check for check in checks if not check.passed] == []


def test_it_predicts_vectors_only_and_needs_two_images() -> None:
    with pytest.raises(InputError, match='predicts vectors; this task asks for "number"'):
        EmbeddingRidge().fit([part(10, 1)], None, Context(kind="number"))
    one = part(10, 1)
    same = Group(one.signals, one.channels, one.rate_hz, one.table, np.tile(one.targets[:1], (10, 1)))
    with pytest.raises(InputError, match="at least two images"):
        EmbeddingRidge().fit([same], None, context())
