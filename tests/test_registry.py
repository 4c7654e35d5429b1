"""Names: registered, built in, by address; unknown ones are answered with close ones."""

from __future__ import annotations

import pytest

from neuroarena.errors import InputError, UnknownName
from neuroarena.registry import Registry


@pytest.fixture
def things() -> Registry:
    return Registry("thing", "neuroarena.no-such-group", {"path": "pathlib:Path", "join": "os:path.join"})


def test_builtin_names_are_loaded_when_asked_for(things):
    import os
    from pathlib import Path

    assert things.get("path") is Path
    assert things.get("join") is os.path.join
    assert things.get("json:dumps") is __import__("json").dumps


def test_a_registered_name_is_found_and_cannot_be_taken_twice(things):
    @things.register("mine")
    class Mine: ...

    assert things.get("mine") is Mine
    assert things.origin("mine") == "this process"
    assert things.names() == ["join", "mine", "path"]
    for name in ("mine", "path"):
        with pytest.raises(InputError, match="already a thing"):
            things.register(name)(Mine)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pth", 'No thing "pth". Did you mean "path"? See: neuroarena list things'),
        ("zzzz", 'No thing "zzzz". Things: join, path. See: neuroarena list things'),
    ],
)
def test_an_unknown_name_is_answered_with_close_ones(things, name, message):
    with pytest.raises(UnknownName) as caught:
        things.get(name)
    assert str(caught.value) == message


@pytest.mark.parametrize("address", ["no_such_module_here:thing", "pathlib:Nothing"])
def test_an_address_that_leads_nowhere_is_refused(things, address):
    with pytest.raises(InputError, match="cannot be loaded"):
        things.get(address)
