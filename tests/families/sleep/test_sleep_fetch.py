"""Fetching Sleep-EDF: the published list is complete, and its hashes are those of real files."""

from __future__ import annotations

import hashlib

import pytest

from neuroarena.errors import InputError
from neuroarena.families.sleep.sleep_edf.published import fetch_plan, read_nights
from neuroarena.families.sleep.sleep_edf.reader import _HYPNOGRAM, _SIGNALS
from shared_data import SHARED

HYPNOGRAMS = sorted((SHARED / "data" / "real").rglob("SC4*-Hypnogram.edf"))


def test_the_list_holds_the_153_nights_of_78_people_in_names_that_the_reader_knows():
    nights = read_nights()
    assert (len(nights), len({night[:5] for night in nights})) == (153, 78)
    for night, (signals, hypnogram) in nights.items():
        assert _SIGNALS.fullmatch(signals.path.rpartition("/")[2])[1] == night
        assert _HYPNOGRAM.fullmatch(hypnogram.path.rpartition("/")[2])[1] == night
    assert len({file.sha1 for pair in nights.values() for file in pair}) == 306


@pytest.mark.skipif(not HYPNOGRAMS, reason="the real hypnograms beside the project are absent")
def test_the_stated_hashes_are_those_of_the_real_hypnograms():
    stated = {pair[1].path.rpartition("/")[2]: pair[1].sha1 for pair in read_nights().values()}
    found = {
        path.name: hashlib.sha1(path.read_bytes(), usedforsecurity=False).hexdigest() for path in HYPNOGRAMS
    }
    assert found == {name: stated[name] for name in found}


def test_people_and_nights_are_chosen_by_name():
    assert len(fetch_plan(["all"]).files) == 306
    assert len(fetch_plan(["SC400", "SC413"]).files) == 6
    assert [file.path for file in fetch_plan(["SC400"], ["SC4002"]).files] == [
        "sleep-cassette/SC4002E0-PSG.edf",
        "sleep-cassette/SC4002EC-Hypnogram.edf",
    ]


@pytest.mark.parametrize(
    ("subjects", "sessions", "sentence"),
    [
        (None, None, "Choose what to fetch"),
        (["SC439"], None, 'no person "SC439"'),
        (None, ["SC4361"], 'no night "SC4361"'),
        (["SC400"], ["SC4011"], "belongs to none"),
    ],
)
def test_what_there_is_not_is_refused_by_name(subjects, sessions, sentence):
    with pytest.raises(InputError, match=sentence):
        fetch_plan(subjects, sessions)
