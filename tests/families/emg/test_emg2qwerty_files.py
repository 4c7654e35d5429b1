"""emg2qwerty's files: signals, keystrokes, labels and split lists, as other software writes them."""

from __future__ import annotations

import json
import pickle
import string

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from emg_sessions import BEGIN, FIELD_ORDERS, hand_made, press
from neuroarena.errors import InputError
from neuroarena.families.emg.emg2qwerty import Emg2Qwerty, verify
from neuroarena.families.emg.emg2qwerty.characters import (
    BLANK,
    CHARACTERS,
    character_of,
    labels_of,
    normal_text,
    text_of,
)
from neuroarena.families.emg.emg2qwerty.split_file import read_split_file

# --- the character set -----------------------------------------------------------------------------


def test_the_set_has_98_keys_in_the_published_order_and_a_blank():
    assert len(CHARACTERS) == len(set(CHARACTERS)) == BLANK == 98
    anchors = {
        '"': 63,
        "'": 68,
        "-": 74,
        "~": 93,
        "a": 0,
        "z": 25,
        "A": 26,
        "Z": 51,
        "0": 52,
        "9": 61,
        "!": 62,
    }
    anchors |= {"\u232b": 94, "\u23ce": 95, " ": 96, "\u21e7": 97}
    assert {character: CHARACTERS.index(character) for character in anchors} == anchors
    assert CHARACTERS[62:94] == string.punctuation


@pytest.mark.parametrize(
    ("key", "character"),
    [
        ("a", "a"),
        ("A", "A"),
        ("Key.space", " "),
        ("Key.enter", "\u23ce"),
        ("Key.backspace", "\u232b"),
        ("Key.shift", "\u21e7"),
        ("\r", "\u23ce"),
        ("\x08", "\u232b"),
        ("\u2019", "'"),
        ("\u201c", '"'),
        ("\u201d", '"'),
        ("\u2014", "-"),
        ("\u00e9", "e"),
        ("\u00d8", "O"),
        ("\u2013", "-"),
        ("\u00a0", " "),
        ("\u00df", None),  # two letters, "ss", are no key
        ("\u4e2d", None),
        ("\u21e5", None),  # tab is not in the set
        ("\u2191", None),
        ("Key.tab", None),
        ("Key.shift_r", None),
        ("Key.caps_lock", None),
        ("Key.ctrl", None),
    ],
)
def test_a_key_is_one_character_of_the_set_or_nothing(key, character):
    assert character_of(key) == character


@given(st.text())
def test_a_normal_text_holds_keys_only_and_stays_as_it_is(text):
    once = normal_text(text)
    assert set(once) <= set(CHARACTERS)
    assert normal_text(once) == once
    assert text_of(labels_of(once).tolist()) == once


def test_a_character_outside_the_set_has_no_label_and_is_named():
    with pytest.raises(InputError, match="Character 2 of the text, '\u00e9', is not one of the 98 keys"):
        labels_of("ab\u00e9")


# --- signals ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("fields", list(FIELD_ORDERS))
@pytest.mark.parametrize(
    "storage",
    [{}, {"chunks": (100,)}, {"chunks": (333,), "compression": "gzip"}, {"chunks": (64,), "shuffle": True}],
)
def test_files_of_any_field_order_and_chunking_are_read_alike(tmp_path, fields, storage):
    signal = hand_made(tmp_path / "s.hdf5", [press("a", 0.5)], fields=fields, **storage)
    recording = Emg2Qwerty(tmp_path).recording("s")
    assert recording.rate_hz == 2000
    assert recording.channels["name"].tolist() == [f"{side}{e}" for side in "LR" for e in range(16)]
    np.testing.assert_array_equal(recording.read(0, 2000), signal)
    np.testing.assert_array_equal(
        recording.windows([1500, 7], 400, channels=["R3", "L0"])[1], signal[[19, 0], 7:407]
    )
    assert np.array_equal(pickle.loads(pickle.dumps(recording)).read(5, 9), signal[:, 5:9])


def test_samples_are_read_only_where_they_are_asked_for(tmp_path):
    signal = np.zeros((32, 2000), np.float32)
    signal[0, 1999] = np.nan
    hand_made(tmp_path / "s.hdf5", [press("a", 0.5)], signal=signal)
    recording = Emg2Qwerty(tmp_path).recording("s")
    assert not recording.read(0, 1999).any()
    with pytest.raises(InputError, match="sample 1999 of channel 0 is not a finite"):
        recording.read(1990, 2000)


def _drop_field(file):
    values = file["emg2qwerty/timeseries"][:]
    del file["emg2qwerty/timeseries"]
    kept = np.zeros(len(values), dtype=[("emg_left", "<f4", (16,)), ("time", "<f8")])
    file["emg2qwerty"].create_dataset("timeseries", data=kept)


def _narrow(file):
    del file["emg2qwerty/timeseries"]
    kind = [("emg_left", "<f4", (8,)), ("emg_right", "<f4", (16,)), ("time", "<f8")]
    file["emg2qwerty"].create_dataset("timeseries", data=np.zeros(5, dtype=kind))


def _plain_array(file):
    del file["emg2qwerty/timeseries"]
    file["emg2qwerty"].create_dataset("timeseries", data=np.zeros((5, 33)))


def _attribute(name, value):
    def change(file):
        file["emg2qwerty"].attrs[name] = value

    return change


def _remove(name):
    def change(file):
        del file["emg2qwerty"].attrs[name]

    return change


def _backwards(file):
    values = file["emg2qwerty/timeseries"][:]
    values["time"][7] = values["time"][3]
    file["emg2qwerty/timeseries"][:] = values


DAMAGES = {
    "no group": (lambda file: file.pop("emg2qwerty"), 'there is no table "emg2qwerty/timeseries"'),
    "no field": (_drop_field, "has no field emg_right; its fields are emg_left, time"),
    "eight electrodes": (_narrow, r"field emg_left must hold numbers of shape \(16,\)"),
    "plain array": (
        _plain_array,
        "expected a one-dimensional table of the fields emg_left, emg_right and time",
    ),
    "no keystrokes": (_remove("keystrokes"), "the group has no attribute keystrokes"),
    "no user": (_remove("user"), "the group has no attribute user"),
    "not JSON": (_attribute("keystrokes", "[{"), "the attribute keystrokes is not JSON"),
    "no list": (_attribute("prompts", "{}"), "the attribute prompts must be a list of objects"),
    "no key": (_attribute("keystrokes", '[{"start": 1}]'), 'entry 0: "key" must be text'),
    "no start": (
        _attribute("keystrokes", '[{"key": "a"}]'),
        'entry 0: "start" must be Unix seconds, got None',
    ),
    "NaN": (
        _attribute("keystrokes", '[{"key": "a", "start": NaN}]'),
        '"start" must be Unix seconds, got nan',
    ),
    "unsorted": (
        _attribute("keystrokes", json.dumps([press("a", 0.5), press("b", 0.4)])),
        "entry 1 starts before the one before it",
    ),
    "backwards clock": (_backwards, "the time of sample 7 is earlier than that of the sample before"),
}


def read_all(root):
    data = Emg2Qwerty(root)
    data.about("s")
    data.events("s")


@pytest.mark.parametrize("damage", list(DAMAGES))
def test_a_damaged_session_is_refused_by_name(tmp_path, damage):
    hand_made(tmp_path / "s.hdf5", [press("a", 0.5)])
    change, sentence = DAMAGES[damage]
    with h5py.File(tmp_path / "s.hdf5", "a") as file:
        change(file)
    with pytest.raises(InputError, match=sentence) as refusal:
        read_all(tmp_path)
    assert "s.hdf5" in str(refusal.value)
    # The folder's check finds the same, and names the file.
    assert any(problem.file == "s.hdf5" for problem in verify(tmp_path))


def test_a_file_that_is_cut_short_or_not_hdf5_is_refused(tmp_path):
    hand_made(tmp_path / "s.hdf5", [press("a", 0.5)])
    whole = (tmp_path / "s.hdf5").read_bytes()
    for content in (whole[: len(whole) // 2], b"user,session\n"):
        (tmp_path / "s.hdf5").write_bytes(content)
        with pytest.raises(InputError, match=r"s\.hdf5: cannot be opened as HDF5"):
            Emg2Qwerty(tmp_path).recording("s")
    with pytest.raises(InputError, match=r"holds no <session>\.hdf5"):
        Emg2Qwerty(tmp_path / "..")
    with pytest.raises(InputError, match='there is no session "t"'):
        Emg2Qwerty(tmp_path).recording("t")


# --- keystrokes to text ----------------------------------------------------------------------------


def test_keystrokes_become_characters_at_their_samples(tmp_path):
    log = [
        press("x", -0.2),  # before the first sample: left out
        press("Key.shift", 0.0, end=BEGIN + 0.05),
        press("H", 0.1, end=BEGIN + 0.18),
        press("Key.caps_lock", 0.2),  # not in the set
        press("i", 0.30001),
        press("Key.backspace", 0.5),
        press("\u2019", 0.6),
        press("Key.enter", 1.2),  # after the last sample: counts as at it
    ]
    hand_made(tmp_path / "s.hdf5", log)
    data = Emg2Qwerty(tmp_path)
    events = data.events("s")
    assert data.text("s") == "".join(events["value"]) == "\u21e7Hi\u232b'\u23ce"
    np.testing.assert_allclose(
        events["onset_s"] * 2000, [0, 200, 601, 1000, 1200, 1999], atol=1e-6
    )  # the first sample at or after the press
    np.testing.assert_allclose(events["duration_s"], [0.05, 0.08, 0, 0, 0, 0], atol=1e-6)
    assert data.about("s") == ("7", "on_keyboard")


def test_backspace_is_a_label_and_is_never_applied(tmp_path):
    hand_made(
        tmp_path / "s.hdf5",
        [press(key, 0.1 * place) for place, key in enumerate(["a", "Key.backspace", "b"])],
    )
    assert Emg2Qwerty(tmp_path).text("s") == "a\u232bb"


def test_without_a_keyboard_the_prompts_are_the_text_each_ended_by_enter(tmp_path):
    prompts = [
        {"name": "welcome", "start": BEGIN, "end": BEGIN + 1, "payload": None},
        {
            "name": "text_prompt",
            "start": BEGIN,
            "end": BEGIN + 1,
            "payload": {"text": "the \u201cfox\u201d\u23ce"},
        },
        {"name": "text_prompt", "start": BEGIN, "end": BEGIN + 1, "payload": {"text": "caf\u00e9"}},
    ]
    hand_made(tmp_path / "s.hdf5", [press("x", 0.3)], prompts=prompts, attributes={"condition": "on_table"})
    assert Emg2Qwerty(tmp_path).text("s") == 'the "fox"\u23cecafe\u23ce'


# --- split files -----------------------------------------------------------------------------------

GOOD = {
    "block": "user: generic\ndataset:\n  train:\n  - user: 1\n    session: a\n  - user: 2\n    session: b\n"
    "  val: []\n  test:\n  - session: c\n    user: 3\n",
    "indented": "# @package _global_\n---\nuser: generic  # all\n\ndataset:\n    train:\n        - user: 1\n"
    "          session: a\n        - {user: 2, session: 'b'}\n    val:\n    test:\n"
    '        -\n          user: "3"\n          session: c\n',
}


@pytest.mark.parametrize("style", list(GOOD))
def test_a_split_file_is_read_in_the_styles_it_is_written_in(tmp_path, style):
    (tmp_path / "generic.yaml").write_text(GOOD[style])
    split = read_split_file(tmp_path / "generic.yaml")
    assert split.user == "generic"
    assert (split.train, split.val, split.test) == ((("1", "a"), ("2", "b")), (), (("3", "c"),))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("user: !!python/object/apply:os.system ['id']\n", "line 1: .* is not a plain value"),
        ("user: &a 1\n", "is not a plain value"),
        ("user: *a\n", "is not a plain value"),
        ("user: |\n  text\n", "indented under a value"),
        ("user: generic\n", 'expected a mapping "dataset"'),
        ("dataset:\n  train:\n  - user: 1\n", 'expected a mapping "dataset" with exactly train, val, test'),
        (
            "dataset:\n  train:\n  - user: 1\n  val:\n  test:\n",
            "every entry of train must have user and session",
        ),
        ("dataset:\n  train:\n  - a\n  val:\n  test:\n", "every entry of train must have user and session"),
        ("dataset:\n\ttrain:\n", "line 2: contains a tab"),
        ("user: 1\nuser: 2\n", '"user" occurs twice'),
        ("just words\n", 'line 1: expected "name: value"'),
        ('user: "a\\x"\n', "not a simply quoted value"),
        (
            "dataset:\n  train:\n  - {user: 1, session: a}\n  val:\n  - {user: 1, session: a}\n  test:\n",
            'session "a" is in train and again in val',
        ),
        (
            "dataset:\n  train:\n  - {user: 1, session: ../../x}\n  val:\n  test:\n",
            "is not the name of a session",
        ),
    ],
)
def test_a_split_file_that_is_more_than_lists_is_refused(tmp_path, text, sentence):
    (tmp_path / "generic.yaml").write_text(text)
    with pytest.raises(InputError, match=sentence):
        read_split_file(tmp_path / "generic.yaml")


@given(st.text(max_size=200))
def test_any_text_is_a_split_file_or_is_refused(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("yaml") / "generic.yaml"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError):
        read_split_file(path)


# --- the folder's check ----------------------------------------------------------------------------


def test_the_check_names_what_is_wrong_between_files(tmp_path):
    hand_made(tmp_path / "s.hdf5", [press("a", -0.1), press("b", 0.5), press("c", 9.0)])
    hand_made(tmp_path / "e.hdf5", [], attributes={"session_name": "other"})
    (tmp_path / "generic.yaml").write_text(
        "user: generic\ndataset:\n  train:\n  - {user: 8, session: s}\n  val:\n  - {user: 7, session: gone}\n"
        "  test:\n  - {user: 8, session: e}\n"
    )
    said = {str(problem) for problem in verify(tmp_path)}
    for expected in (
        "generic.yaml: states that s belongs to user 8, but its file states 7.",
        "gone.hdf5: is missing, but generic.yaml lists it in val.",
        "generic.yaml: has user 8 in training and in test: the people must differ.",
        "s.hdf5: has 1 keystrokes before its first sample.",
        "s.hdf5: has a keystroke 8.0 s after its last sample.",
        "e.hdf5: has no text: no key of the set was pressed.",
        'e.hdf5: states that it is session "other".',
    ):
        assert expected in said
    assert verify(tmp_path / "nowhere")
