"""Options of a family: one pydantic model, from which refusals, listings and the command line are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.fields import FieldInfo

from neuroarena.errors import InputError
from neuroarena.registry import unknown_name

Model = TypeVar("Model", bound=BaseModel)

_LIMITS = (("ge", "{} or more"), ("gt", "above {}"), ("le", "{} or less"), ("lt", "below {}"))
_KINDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}
_SEVERAL = {int: "whole numbers", float: "numbers", str: "names"}


class FamilyOptions(BaseModel):
    """What can be chosen when a task of a family is loaded; a family derives its own model.

    The description of a field is its help. A field that only some tasks have names them:
    ``Field(default=False, description="...", json_schema_extra={"tasks": ["first", "second"]})``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True, allow_inf_nan=False)


@dataclass(frozen=True)
class OptionInfo:
    """One option as it is listed.

    Attributes
    ----------
    name : str
    value : str
        What it may be, in words.
    choices : tuple of str
        The values there are, where they can be counted; else empty.
    default : object
    help : str
    tasks : tuple of str
        The tasks that have it; empty where all do.
    """

    name: str
    value: str
    choices: tuple[str, ...]
    default: Any
    help: str
    tasks: tuple[str, ...]


def list_options(model: type[BaseModel] | None, task: str | None = None) -> list[OptionInfo]:
    """List the options of a family, or those of one of its tasks, in their order."""
    fields = {} if model is None else model.model_fields
    every = [_option_info(name, field) for name, field in fields.items()]
    return [option for option in every if task is None or not option.tasks or task in option.tasks]


def read_options(model: type[Model], given: Mapping[str, Any], family: str, task: str) -> Model:
    """Check options that were passed in Python, or as text on a command line.

    Parameters
    ----------
    model : type of BaseModel
        The family's options.
    given : mapping of str to object
        Text stands for a value of any kind: yes, no, a number, several values separated by commas.
    family, task : str
        For messages, and to refuse options of other tasks.

    Raises
    ------
    InputError
        For an unknown option, with the closest name, for one of other tasks, and for a value that it cannot have.
    """
    check_names(model, given, family, task)
    told = {name: _split_text(model.model_fields[name], value) for name, value in given.items()}
    for name, value in told.items():
        empty = isinstance(given[name], str) and not given[name].strip(", ")
        if empty or (isinstance(value, bool) and bool not in _types_of(model.model_fields[name])):
            raise _refusal(model, name, given[name], family)
    try:
        return model.model_validate(told)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if not first["loc"] or first["type"] == "value_error":
            said = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{family}: {said}") from None
        name = str(first["loc"][0])
        raise _refusal(model, name, given[name], family) from None


def check_names(model: type[BaseModel] | None, names: Iterable[str], family: str, task: str) -> None:
    """Refuse options that a family, or one of its tasks, does not have.

    Raises
    ------
    InputError
    """
    known = {option.name: option for option in list_options(model)}
    for name in names:
        if not known:
            raise InputError(f'The family "{family}" has no option "{name}"; it has no options at all.')
        if name not in known:
            raise unknown_name(f"{family} option", name, known, f"options {family}")
        tasks = known[name].tasks
        if tasks and task not in tasks:
            owners = ", ".join(f"{family}/{each}" for each in tasks)
            raise InputError(f'{family}/{task} has no option "{name}"; it is an option of {owners}.')


def describe_value(field: FieldInfo) -> str:
    """Describe in words the values an option may have.

    Examples
    --------
    >>> from pydantic import Field
    >>> class Some(FamilyOptions):
    ...     folds: int = Field(default=2, ge=2)
    ...     level: Literal["one", "all"] = "all"
    ...     people: tuple[str, ...] | None = None
    >>> [describe_value(field) for field in Some.model_fields.values()]
    ['a whole number, 2 or more', 'one or all', 'names separated by commas']
    """
    kind = _kind_of(field)
    choices = _choices_of(kind)
    if choices:
        return " or ".join([", ".join(choices[:-1]), choices[-1]] if len(choices) > 1 else choices)
    inner = get_args(kind)
    if get_origin(kind) in (tuple, list, frozenset):
        several = _SEVERAL.get(inner[0], "values")
        count = "" if Ellipsis in inner or len(inner) == 1 else f"{len(inner)} "
        return f"{count}{several} separated by commas"
    limits = [
        text.format(format(getattr(limit, name), "g"))
        for name, text in _LIMITS
        for limit in field.metadata
        if getattr(limit, name, None) is not None
    ]
    return ", ".join([_KINDS.get(kind, "text"), *([" and ".join(limits)] if limits else [])])


def _option_info(name: str, field: FieldInfo) -> OptionInfo:
    extra = field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}
    named: Any = extra.get("tasks") or ()
    return OptionInfo(
        name=name,
        value=describe_value(field),
        choices=tuple(_choices_of(_kind_of(field))),
        default=field.get_default(call_default_factory=True),
        help=field.description or "",
        tasks=tuple(str(task) for task in named),
    )


def _kind_of(field: FieldInfo) -> Any:
    """Return the type of an option without None."""
    if get_origin(field.annotation) in (Union, UnionType):
        kinds = [kind for kind in get_args(field.annotation) if kind is not NoneType]
        return kinds[0] if len(kinds) == 1 else str
    return field.annotation


def _types_of(field: FieldInfo) -> tuple[Any, ...]:
    return (field.annotation, *get_args(field.annotation))


def _choices_of(kind: Any) -> list[str]:
    if kind is bool:
        return ["yes", "no"]
    return [str(value) for value in get_args(kind)] if get_origin(kind) is Literal else []


def _split_text(field: FieldInfo, value: Any) -> Any:
    """Turn text into several values, or into the value of a choice, where the option has them."""
    kind = _kind_of(field)
    if get_origin(kind) in (tuple, list, frozenset):
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return tuple(value) if isinstance(value, Iterable) else value
    if isinstance(value, str) and get_origin(kind) is Literal:
        return next((choice for choice in get_args(kind) if str(choice) == value.strip()), value)
    return value


def _refusal(model: type[BaseModel], name: str, value: Any, family: str) -> InputError:
    got = f'"{value}"' if isinstance(value, str) else repr(value)
    expected = describe_value(model.model_fields[name])
    return InputError(
        f"{family}: the option {name} is {got}; expected {expected}. See: neuroarena list options {family}"
    )
