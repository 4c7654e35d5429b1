"""Grids of parameters: one decoder becomes several, each named by what differs."""

from __future__ import annotations

import copy
import dataclasses
import itertools
import json
from collections.abc import Sequence
from typing import Any

from neuroarena.decoders.decoder import Decoder
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain

# Names that papers use for our fields.
ALIASES = {
    "nperseg": "window_samples",
    "poverlap": "overlap",
    "max_frequency": "max_hz",
    "min_frequency": "min_hz",
}


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Read ``name=value,value`` texts; a value is a number, true, false or text.

    Raises
    ------
    InputError
        When a text has a different form.

    Examples
    --------
    >>> parse_grid(["features.nperseg=256,512", "C=0.1,1"])
    {'features.nperseg': [256, 512], 'C': [0.1, 1]}
    """
    grid = {}
    for text in texts:
        name, equals, values = text.partition("=")
        if not equals or not name.strip() or not values.strip():
            raise InputError(
                f'"{text}" is not a grid. Expected name=value,value, as in features.nperseg=256,512.'
            )
        grid[name.strip()] = [_value(value.strip()) for value in values.split(",")]
    return grid


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def decoder_grid(name: str, decoder: Decoder, grid: dict[str, list[Any]]) -> list[tuple[str, Decoder]]:
    """Make the decoder of every combination in a grid.

    Parameters
    ----------
    name : str
        Name of the decoder; what was set is added, as in ``linear[C=0.1]``.
    decoder : Decoder
        A dataclass; not changed.
    grid : mapping of str to list
        Field to values. ``features.FIELD`` sets a field of the feature steps that have it;
        ``schedule.FIELD`` a field of a parameter that has fields of its own.

    Raises
    ------
    InputError
        When there is no such field; the message lists the fields there are.
    """
    made = []
    for combination in itertools.product(*grid.values()):
        changed: Any = decoder
        for field, value in zip(grid, combination, strict=True):
            changed = _with(changed, name, field, value)
        words = ",".join(
            f"{field.rpartition('.')[2]}={value}" for field, value in zip(grid, combination, strict=True)
        )
        made.append((f"{name}[{words}]" if words else name, changed))
    return made


def _with(decoder: Any, name: str, field: str, value: Any) -> Any:
    is_plain: bool = dataclasses.is_dataclass(decoder)
    if not is_plain:
        raise InputError(f'The decoder "{name}" is not a dataclass, so its fields cannot be set from a grid.')
    head, dot, rest = field.partition(".")
    if head == "features" and dot:
        chain = _with_feature(decoder.features, name, ALIASES.get(rest, rest), value)
        return with_features(decoder, chain)
    inner = getattr(decoder, head, None)
    if dot and dataclasses.is_dataclass(inner):
        return dataclasses.replace(decoder, **{head: _with(inner, f"{name}: {head}", rest, value)})
    known = [each.name for each in dataclasses.fields(decoder) if each.init]
    if field not in known:
        raise InputError(f'The decoder "{name}" has no field "{field}"; it has {", ".join(known)}.')
    return dataclasses.replace(decoder, **{field: value})


def with_features(decoder: Any, chain: FeatureChain) -> Any:
    """Return a copy of a dataclass decoder with another feature chain; the original is not changed."""
    if all(each.init for each in dataclasses.fields(decoder) if each.name == "features"):
        return dataclasses.replace(decoder, features=chain)
    # A pretrained encoder makes its own chain.
    changed = copy.copy(decoder)
    changed.features = chain
    return changed


def _with_feature(chain: FeatureChain, name: str, field: str, value: Any) -> FeatureChain:
    steps: list[Any] = list(chain.steps)
    having = [
        place
        for place, step in enumerate(steps)
        if dataclasses.is_dataclass(step) and field in {each.name for each in dataclasses.fields(step)}
    ]
    if not having:
        known = sorted({each.name for step in steps for each in dataclasses.fields(step)})
        raise InputError(
            f'No feature step of the decoder "{name}" has a field "{field}"; there are {", ".join(known) or "none"}.'
        )
    for place in having:
        try:
            steps[place] = dataclasses.replace(steps[place], **{field: value})
        except (TypeError, ValueError) as error:
            raise InputError(f'The decoder "{name}" cannot have {field}={value}: {error}') from error
    return FeatureChain(tuple(steps))
