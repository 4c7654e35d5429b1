"""The simulated emg2qwerty: its files, its promises, its planted leaks."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import numpy as np
import pytest

import neuroarena.families.emg.emg2qwerty as package
from emg_sessions import SMALL, small_twin
from neuroarena.datasets.twin_folder import spell_flag
from neuroarena.errors import InputError
from neuroarena.families.emg.emg2qwerty import DATASET, Emg2Qwerty, verify
from neuroarena.families.emg.emg2qwerty import twin_signal as signals
from neuroarena.families.emg.emg2qwerty.characters import CHARACTERS, character_of
from neuroarena.families.emg.emg2qwerty.twin_typing import KEYS, key_chances

TINY = {**SMALL, "users": 2, "minutes": 0.1}


@pytest.fixture(scope="module")
def root() -> Path:
    return small_twin()


def test_the_twin_has_the_real_layout_and_says_that_it_is_simulated(root):
    assert verify(root) == []
    data = Emg2Qwerty(root)
    assert data.simulated
    assert len(data.sessions) == 6
    card = json.loads((root / "simulated.json").read_text())
    assert card["simulated"] is True
    assert card["options"] == {**SMALL, "strength": 1.0, "slips": 0.02, "plant_leak": None}
    assert 0 < card["ideal_cer"] < 5 < card["most_frequent_key_cer"] < card["chance_cer"] == 100
    split = data.split_file()
    assert {user for user, _ in split.test}.isdisjoint(user for user, _ in (*split.train, *split.val))
    assert {user for user, _ in split.val} == {user for user, _ in split.train}


def test_the_reader_finds_every_key_that_was_planted(root):
    data = Emg2Qwerty(root)
    for session in data.sessions:
        logged = data.session(session).keystrokes
        assert "Key.caps_lock" in set(logged["key"])
        text = data.text(session)
        assert len(text) == (logged["key"] != "Key.caps_lock").sum() > 50
        assert set(text) == {character_of(key) for key in KEYS[:4]}
        assert data.events(session)["onset_s"].is_monotonic_increasing


def test_the_twin_can_type_every_key_of_the_set():
    assert {character_of(key) for key in KEYS} == set(CHARACTERS)
    assert len(KEYS) == 98


def test_writer_and_reader_share_no_code():
    folder = Path(package.__file__).parent
    ours = {path.stem for path in folder.glob("*.py")}
    for path in folder.glob("twin*.py"):
        names = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(package.__name__):
                names |= {(node.module or "").rpartition(".")[2], *(alias.name for alias in node.names)}
        assert {name for name in names if name in ours} <= {"twin", "twin_typing", "twin_signal"}, path


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        DATASET.simulate(tmp_path / name, **{**TINY, "seed": seed})
    one, two, other = (Emg2Qwerty(tmp_path / name) for name in "abc")
    assert one.sessions == two.sessions
    for session in one.sessions:
        assert one.text(session) == two.text(session)
        a, b = (data.recording(session).read(0, 5000) for data in (one, two))
        np.testing.assert_array_equal(a, b)
    assert other.text(other.sessions[0]) != one.text(one.sessions[0])


def test_an_earlier_twin_is_replaced_and_anything_else_is_refused(tmp_path):
    DATASET.simulate(tmp_path / "twin", **TINY)
    DATASET.simulate(tmp_path / "twin", **{**TINY, "seed": 9})
    assert json.loads((tmp_path / "twin" / "simulated.json").read_text())["options"]["seed"] == 9
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")
    with pytest.raises(InputError, match="is not empty and was not written by the neuroarena"):
        DATASET.simulate(tmp_path / "mine", **TINY)
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "all of it"


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("users", 1),
        ("sessions", 1),
        ("minutes", 0.0),
        ("keys", 99),
        ("keys", 2.5),
        ("strength", -1.0),
        ("strength", float("nan")),
        ("slips", 1.1),
        ("seed", True),
        ("plant_leak", "colour"),
    ],
)
def test_options_out_of_range_are_refused_and_nothing_is_written(tmp_path, option, value):
    with pytest.raises(InputError, match=f"simulate emg2qwerty: {spell_flag(option)} must be"):
        DATASET.simulate(tmp_path / "twin", **{**TINY, option: value})
    assert list(tmp_path.iterdir()) == []


# --- the ideal -------------------------------------------------------------------------------------


def felt(strength: float, keys: int = 6) -> np.ndarray:
    rng = np.random.default_rng(3)
    wrists = signals.draw_wrists(rng)
    return np.stack(
        [signals.strengths(profile, wrists, strength) for profile in signals.draw_profiles(keys, rng)]
    )


def ideal(strength: float, slips: float, presses: int = 3000) -> float:
    return signals.ideal_error([felt(strength)], key_chances(6), slips, presses, np.random.default_rng(0))


def test_the_ideal_is_the_slips_for_clear_bursts_and_the_commonest_key_for_none():
    chances = key_chances(6)
    # A slip moves the fingers for a key drawn like any other: it is the right one now and then.
    expected = 0.3 * (1 - (chances**2).sum())
    assert ideal(1.0, 0.3) == pytest.approx(expected, abs=0.03)
    assert ideal(0.0, 0.0) == pytest.approx(1 - chances.max(), abs=0.03)
    assert ideal(1.0, 0.0) < 0.005


def test_the_ideal_falls_with_the_strength():
    errors = [ideal(strength, 0.0, 1000) for strength in (0.0, 0.12, 0.2, 1.0)]
    assert errors == sorted(errors, reverse=True)
    assert errors[0] > errors[1] > errors[3]


def test_bursts_are_where_the_keys_are_pressed_and_nowhere_at_strength_zero(tmp_path, root):
    DATASET.simulate(tmp_path / "silent", **{**TINY, "strength": 0.0})
    loud = {}
    for name, folder in (("planted", root), ("silent", tmp_path / "silent")):
        data = Emg2Qwerty(folder)
        session = data.sessions[0]
        signal = data.recording(session).read(0, 11_000)
        onsets = (data.events(session)["onset_s"].to_numpy() * 2000).astype(int)
        at = np.concatenate(
            [signal[:, onset - 60 : onset + 20] for onset in onsets if onset < 10_000], axis=1
        )
        loud[name] = at.std() / signal[:, :2000].std()
    assert loud["planted"] > 1.15
    assert loud["silent"] == pytest.approx(1.0, abs=0.02)


# --- leaks -----------------------------------------------------------------------------------------


def test_a_leak_in_a_channel_tells_the_key(tmp_path):
    DATASET.simulate(tmp_path / "twin", **{**TINY, "strength": 0.0, "plant_leak": "channel"})
    data = Emg2Qwerty(tmp_path / "twin")
    session = data.sessions[0]
    events, signal = data.events(session), data.recording(session).read(0, 12_000)
    onsets = (events["onset_s"].to_numpy() * 2000).astype(int)
    height = np.array([signal[31, onset - 60 : onset + 20].mean() for onset in onsets])
    found = np.rint(height / 60).astype(int) - 1
    keys = [[character_of(key) for key in KEYS].index(value) for value in events["value"]]
    assert (found == keys).mean() > 0.95
    assert abs(signal[30, 4000:].mean()) < 2


def test_a_leak_in_the_order_makes_all_sessions_type_the_same(tmp_path):
    DATASET.simulate(tmp_path / "twin", **{**TINY, "plant_leak": "order"})
    data = Emg2Qwerty(tmp_path / "twin")
    texts = [data.text(session) for session in data.sessions]
    shortest = min(map(len, texts))
    assert len({text[:shortest] for text in texts}) == 1


def test_a_leak_in_the_length_tells_the_commonest_key(tmp_path):
    DATASET.simulate(tmp_path / "twin", **{**TINY, "sessions": 4, "minutes": 0.3, "plant_leak": "length"})
    data = Emg2Qwerty(tmp_path / "twin")
    for session in data.sessions:
        text, extra = data.text(session), data.recording(session).n_samples - 36_000
        assert max(set(text), key=text.count) == character_of(KEYS[extra // 1000])
    lengths = {data.recording(session).n_samples for session in data.sessions}
    assert len(lengths) == 4
