"""Pretraining cards: what Neuroprobe allows, forbids and cannot read."""

from __future__ import annotations

import pytest

from neuroarena.benchmarks.faces import find_face
from neuroarena.benchmarks.pretraining import check_card
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import FAMILY

HEAD = 'schema_version = 1\nmodel = "mine"\n'


def card(text):
    return HEAD + "".join(f"[[pretraining]]\n{part}\n" for part in text)


ALLOWED = {
    "no pretraining": [],
    "another dataset": ['dataset = "tuh-eeg"'],
    "the other 14 sessions": [
        'dataset = "braintreebank"\nsessions = ["1_0", "2_1", "2_2", "2_3", "2_5", "2_6", "3_2", "4_2", "5_0", "6_0", '
        '"6_1", "6_4", "8_0", "9_0"]'
    ],
    "the files of the cut-outs": [
        'dataset = "BrainTreebank"\nsessions = ["10_100", "10_101", "7_100", "7_101", "7_102"]'
    ],
    "a person who is never judged": ['dataset = "braintreebank"\nsubjects = ["5", "6", "8", "9"]'],
    "stretches inside the cut-outs": [
        'dataset = "braintreebank"\nsessions = ["7_1"]\nranges_s = [[0, 395], [2500, 2760], [3380, 3725]]',
        'dataset = "braintreebank"\nsessions = ["10_1"]\nranges_s = [[0, 930]]',
        'dataset = "braintreebank"\nsessions = ["10_0"]\nranges_s = [[5350, 5645]]',
    ],
}
FORBIDDEN = {
    "a judged session": (
        ['dataset = "braintreebank"\nsessions = ["3_0"]'],
        "session 3_0 is judged, so no model",
    ),
    "a judged session under another spelling": (
        ['dataset = "The Brain Treebank (v2)"\nsessions = ["3_0"]', 'dataset = "btbank"\nsessions = ["4_1"]'],
        r"session 3_0 is judged.*session 4_1 is judged",
    ),
    "all of it": (['dataset = "neuroprobe"'], r"session 1_1 is judged.*session 10_1 is judged"),
    "a judged person": (['dataset = "braintreebank"\nsubjects = ["1"]'], "session 1_2 is judged"),
    "a second too much": (
        ['dataset = "braintreebank"\nsessions = ["10_1"]\nranges_s = [[0, 931]]'],
        r"of it \[0, 930\) s may be used, not \[0, 931\) s",
    ),
    "a stretch of a session without cut-outs": (
        ['dataset = "braintreebank"\nsessions = ["2_0"]\nranges_s = [[0, 10]]'],
        "of it nothing may be used",
    ),
    "a session that does not exist": (
        ['dataset = "braintreebank"\nsessions = ["99_0"]'],
        'no session "99_0"',
    ),
    "a person that does not exist": (['dataset = "braintreebank"\nsubjects = ["99"]'], 'no session "99"'),
    "ranges of nothing": (['dataset = "x"\nranges_s = [[0, 1]]'], "ranges_s need sessions"),
    "a range backwards": (
        ['dataset = "x"\nsessions = ["1"]\nranges_s = [[5, 1]]'],
        "the stop after the start",
    ),
    "an unknown key": (['dataset = "x"\nhours = 5'], "hours: Extra inputs are not permitted"),
}


@pytest.mark.parametrize("case", ALLOWED)
def test_a_card_of_allowed_data_is_accepted(case, tmp_path):
    file = tmp_path / "pretraining.toml"
    file.write_text(card(ALLOWED[case]))
    assert len(check_card(file, find_face(FAMILY, "pretraining_rules")).pretraining) == len(ALLOWED[case])


@pytest.mark.parametrize("case", FORBIDDEN)
def test_a_card_of_judged_data_is_refused_with_the_reason(case, tmp_path):
    text, sentence = FORBIDDEN[case]
    file = tmp_path / "pretraining.toml"
    file.write_text(card(text))
    with pytest.raises(InputError, match=sentence):
        check_card(file, find_face(FAMILY, "pretraining_rules"))
