"""The Laplacian against the rule, written out slowly, and against examples worked by hand."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.tables import RATE_HZ, noise, numbered, real_label_sets, table
from neuroarena.errors import InputError
from neuroarena.features import Laplacian, contact_of, rereference


def slow_laplacian(signals: np.ndarray, names: list[str], both: bool = False) -> tuple[np.ndarray, list[str]]:
    """Apply the rule window by window and channel by channel, in float64."""
    kept = []
    columns = []
    for row, name in enumerate(names):
        neighbours = []
        match = re.fullmatch(r"(.*[a-zA-Z])([0-9]+)", name)
        for other_row, other in enumerate(names):
            other_match = re.fullmatch(r"(.*[a-zA-Z])([0-9]+)", other)
            same_probe = match and other_match and match[1] == other_match[1]
            if same_probe and abs(int(match[2]) - int(other_match[2])) == 1:
                neighbours.append(other_row)
        if both and len(neighbours) < 2:
            continue
        column = np.empty((len(signals), *signals.shape[2:]))
        for window in range(len(signals)):
            own = signals[window, row].astype(np.float64)
            others = [signals[window, neighbour].astype(np.float64) for neighbour in neighbours]
            column[window] = own - sum(others) / len(others) if others else own
        kept.append(name)
        columns.append(column)
    return np.stack(columns, axis=1), kept


def test_a_worked_example_gives_the_numbers_of_the_rule() -> None:
    channels = table(["A1", "B7", "A2", "A3", "A5", "Cz"])
    signals = np.array([10, 1, 20, 50, 7, 3], dtype=np.float32).reshape(1, 6, 1)
    result, after = Laplacian()(signals, channels, RATE_HZ)
    # A1 - A2; B7 alone; A2 - (A1 + A3) / 2; A3 - A2; A5 alone (A4 is absent); Cz without number.
    assert result.ravel().tolist() == [-10, 1, -10, 30, 7, 3]
    assert result.dtype == np.float32
    assert after["name"].tolist() == channels["name"].tolist()


def test_neighbours_are_raw_and_not_already_rereferenced() -> None:
    signals = np.array([1, 10, 100], dtype=np.float32).reshape(1, 3, 1)
    result, _ = Laplacian()(signals, numbered(3), RATE_HZ)
    assert result.ravel().tolist() == [1 - 10, 10 - 50.5, 100 - 10]


@pytest.mark.parametrize("both", [False, True])
def test_real_electrode_lists_agree_with_the_rule_written_out(both: bool) -> None:
    for name, labels in real_label_sets().items():
        signals = noise(2, len(labels), 3, seed=len(labels))
        result, channels = Laplacian(both=both)(signals, table(labels), RATE_HZ)
        expected, kept = slow_laplacian(signals, labels, both)
        assert channels["name"].tolist() == kept, name
        np.testing.assert_allclose(result, expected, atol=1e-6, err_msg=name)


def test_every_lite_electrode_has_a_neighbour_and_the_known_number_has_two() -> None:
    two = {"1": 86, "2": 87, "3": 79, "4": 98, "5": 98, "6": 100, "7": 103, "8": 94, "9": 69, "10": 88}
    sets = real_label_sets()
    for subject, count in two.items():
        labels = sets[f"lite/{subject}"]
        signals = np.ones((1, len(labels), 1), dtype=np.float32)
        assert not Laplacian()(signals, table(labels), RATE_HZ)[0].any()
        assert len(Laplacian(both=True)(signals, table(labels), RATE_HZ)[1]) == count


labels_strategy = st.lists(
    st.tuples(st.sampled_from(["A", "Ab", "A1b", "F10Fa"]), st.integers(0, 12)), min_size=1, unique=True
).map(lambda pairs: [f"{stem}{number}" for stem, number in pairs])


@given(labels_strategy, st.integers(0, 2**32 - 1))
def test_permuting_the_channels_permutes_the_result(labels: list[str], seed: int) -> None:
    signals = noise(3, len(labels), 5, seed=seed)
    order = np.random.default_rng(seed).permutation(len(labels))
    result, _ = Laplacian()(signals, table(labels), RATE_HZ)
    permuted, channels = Laplacian()(signals[:, order], table([labels[i] for i in order]), RATE_HZ)
    np.testing.assert_array_equal(permuted, result[:, order])
    assert channels["name"].tolist() == [labels[i] for i in order]
    np.testing.assert_allclose(result, slow_laplacian(signals, labels)[0], atol=1e-6)


@given(labels_strategy, st.floats(-4, 4, width=32))
def test_the_laplacian_is_linear(labels: list[str], factor: float) -> None:
    first, second = noise(2, len(labels), 4, seed=1), noise(2, len(labels), 4, seed=2)
    channels = table(labels)
    together, _ = Laplacian()(first + np.float32(factor) * second, channels, RATE_HZ)
    apart = Laplacian()(first, channels, RATE_HZ)[0] + factor * Laplacian()(second, channels, RATE_HZ)[0]
    np.testing.assert_allclose(together, apart, atol=2e-5)


@pytest.mark.parametrize("run_bytes", [1, 5000, 1 << 30])
def test_the_size_of_a_run_changes_nothing(run_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    signals, channels = noise(9, 6, 50), numbered(6)
    expected = {both: Laplacian(both)(signals, channels, RATE_HZ)[0] for both in (False, True)}
    monkeypatch.setattr(rereference, "RUN_BYTES", run_bytes)
    for both in (False, True):
        np.testing.assert_array_equal(Laplacian(both)(signals, channels, RATE_HZ)[0], expected[both])


def test_features_with_more_axes_are_rereferenced_along_channels() -> None:
    signals = noise(2, 4, 3, 5)
    result, _ = Laplacian()(signals, numbered(4), RATE_HZ)
    flat, _ = Laplacian()(signals.reshape(2, 4, 15), numbered(4), RATE_HZ)
    np.testing.assert_array_equal(result.reshape(2, 4, 15), flat)


def test_a_broken_channel_spoils_its_neighbours_only() -> None:
    signals = noise(1, 6, 8)
    signals[0, 0] = np.nan
    result, _ = Laplacian()(signals, numbered(6), RATE_HZ)
    assert np.isnan(result[0]).any(axis=1).tolist() == [True, True, False, False, False, False]


def test_the_input_is_not_changed() -> None:
    signals = noise(3, 4, 10)
    before = signals.copy()
    Laplacian()(signals, numbered(4), RATE_HZ)
    Laplacian(both=True)(signals, numbered(4), RATE_HZ)
    np.testing.assert_array_equal(signals, before)


def test_memory_stays_near_one_copy_of_the_block() -> None:
    signals, channels = noise(40, 64, 1024), numbered(64)
    Laplacian()(signals[:1], channels, RATE_HZ)
    tracemalloc.start()
    Laplacian()(signals, channels, RATE_HZ)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.4 * signals.nbytes


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        ("F10Fa14", ("F10Fa", 14)),
        ("T1cIf07", ("T1cIf", 7)),
        ("a0", ("a", 0)),
        ("É12", ("É", 12)),
        ("Cz", None),
        ("12", None),
        ("", None),
        ("A-1", None),
        ("A1'", None),
        ("A 1", None),
        ("A1_2", None),
        ("A²", None),
        ("A1.5", None),
    ],
)
def test_a_label_is_split_at_its_last_letter(label: str, expected: tuple[str, int] | None) -> None:
    assert contact_of(label) == expected


@pytest.mark.parametrize(
    ("step", "signals", "names", "message"),
    [
        (Laplacian(), noise(1, 3, 4), ["A1", "A2"], "axis 1 of the signals holds 3 channels .* 2 rows"),
        (Laplacian(), noise(3, 4), ["A1", "A2", "A3"], r"axes \(window, channel, time"),
        (Laplacian(), noise(1, 2, 4) + 1j, ["A1", "A2"], "must be real numbers, got complex"),
        (Laplacian(), noise(1, 2, 4) > 0, ["A1", "A2"], "must be real numbers, got bool"),
        (Laplacian(), noise(1, 2, 4), ["A1", "A01"], '"A1" and "A01" are both contact 1 of probe "A"'),
        (Laplacian(both=True), noise(1, 2, 4), ["A1", "A2"], r"none of the 2 channels .* \(A1, A2\)"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    step: Laplacian, signals: np.ndarray, names: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        step(signals, table(names), RATE_HZ)


def test_a_channel_table_without_names_is_refused() -> None:
    with pytest.raises(InputError, match='no column "name"'):
        Laplacian()(noise(1, 2, 3), numbered(2).drop(columns="name"), RATE_HZ)
