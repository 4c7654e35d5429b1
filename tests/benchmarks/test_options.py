"""Options of a family: one model makes refusals, listings and what a command line takes."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from pydantic import Field

from neuroarena.benchmarks import FAMILIES, FamilyOptions
from neuroarena.benchmarks.faces import find_face
from neuroarena.benchmarks.options import list_options, read_options
from neuroarena.errors import InputError


class SomeOptions(FamilyOptions):
    folds: int = Field(default=2, ge=2, description="How many folds.")
    rate_hz: float | None = Field(default=None, gt=0, lt=1000, description="The rate.")
    level: Literal["one", "all"] = Field(default="all", description="Which level.")
    channels: Literal[129, 128] = Field(default=129, description="How many channels.")
    people: tuple[str, ...] | None = Field(default=None, description="Which people.")
    window_s: tuple[float, float] = Field(default=(0.0, 1.0), description="The window.")
    exclude: bool = Field(default=False, description="Leave out.", json_schema_extra={"tasks": ["second"]})


def read(**given: Any) -> SomeOptions:
    return read_options(SomeOptions, given, "some", "second")


def test_text_and_python_values_mean_the_same():
    from_text = read(
        folds="5",
        rate_hz="0.5",
        level="one",
        channels="128",
        people="01, 2,",
        window_s="-0.25,0.5",
        exclude="yes",
    )
    in_python = read(
        folds=5,
        rate_hz=0.5,
        level="one",
        channels=128,
        people=iter(["01", 2]),
        window_s=[-0.25, 0.5],
        exclude=True,
    )
    assert from_text == in_python
    assert from_text.people == ("01", "2")
    assert read(people=np.array(["a", "b"])).people == ("a", "b")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"fold": 3}, 'No some option "fold". Did you mean "folds"? See: neuroarena list options some'),
        (
            {"folds": 1},
            "some: the option folds is 1; expected a whole number, 2 or more. See: neuroarena list",
        ),
        ({"folds": "many"}, 'the option folds is "many"; expected a whole number, 2 or more.'),
        ({"folds": True}, "the option folds is True; expected a whole number"),
        ({"folds": 2.5}, "the option folds is 2.5; expected a whole number"),
        ({"rate_hz": "inf"}, 'the option rate_hz is "inf"; expected a number, above 0 and below 1000.'),
        ({"level": "two"}, 'the option level is "two"; expected one or all.'),
        ({"channels": 64}, "the option channels is 64; expected 129 or 128."),
        ({"people": 3}, "the option people is 3; expected names separated by commas."),
        ({"people": ""}, 'the option people is ""; expected names separated by commas.'),
        ({"people": " ,"}, 'the option people is " ,"; expected names separated by commas.'),
        ({"window_s": "1"}, 'the option window_s is "1"; expected 2 numbers separated by commas.'),
        ({"exclude": "perhaps"}, 'the option exclude is "perhaps"; expected yes or no.'),
    ],
)
def test_what_an_option_cannot_be_is_refused_with_what_it_can(given, message):
    with pytest.raises(InputError) as refused:
        read(**given)
    assert message in str(refused.value)


def test_an_option_of_one_task_is_refused_for_the_others():
    with pytest.raises(
        InputError, match='some/first has no option "exclude"; it is an option of some/second'
    ):
        read_options(SomeOptions, {"exclude": True}, "some", "first")
    assert "exclude" not in [option.name for option in list_options(SomeOptions, "first")]
    assert list_options(SomeOptions, "second")[-1].tasks == ("second",)


@pytest.mark.parametrize("name", FAMILIES.names())
def test_every_option_of_every_family_has_a_help_and_a_default_that_it_accepts(name):
    family = FAMILIES.get(name)
    model = find_face(family, "options")
    if model is None:
        return
    tasks = {task for definition in family.definitions for task in family.tasks(definition)}
    for option in list_options(model):
        assert option.help.endswith("."), option
        assert set(option.tasks) <= tasks, option
        # A family with too many tasks to list has none here; its options belong to all of them.
        owner = option.tasks[0] if option.tasks else next(iter(family.tasks(family.definitions[0])), "")
        if option.default is not None:
            assert (
                getattr(read_options(model, {option.name: option.default}, name, owner), option.name)
                == option.default
            )
