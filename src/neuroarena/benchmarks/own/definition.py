"""What is asked of one's own recordings, as data: the same rules in Python and in a file."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from neuroarena.errors import InputError
from neuroarena.features import BandPass, Baseline, CommonAverage, Crop, Downsample, FeatureChain, Notch

Number = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Texts = tuple[str, ...]


class _Rules(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", coerce_numbers_to_str=True)


class ListedSplit(_Rules):
    """A split given by lists of what is trained on and what is judged.

    Parameters
    ----------
    column : str
        What the lists name: "id", "subject", "session", "run" or any other column of the events.
    test : tuple of str
        What is judged.
    train, validation : tuple of str
        What is learned from; without `train`, everything that is not listed elsewhere.
    folds : mapping of str to tuple of str
        In place of the three: fold -> what it judges, after training on the other folds.
    apart : tuple of str
        Columns of which no value may stand on both sides, such as "subject"; `check leaks` holds the split to it.
    """

    column: str = "id"
    test: Texts = ()
    train: Texts = ()
    validation: Texts = ()
    folds: dict[str, Texts] = {}
    apart: Texts = ()

    @field_validator("test", "train", "validation", "apart", mode="before")
    @classmethod
    def _let_one_be_a_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str | int | float) else value

    @model_validator(mode="after")
    def _judges_something(self) -> ListedSplit:
        if bool(self.folds) == bool(self.test):
            raise ValueError("a split that is listed has either test or folds")
        if self.folds and (self.train or self.validation):
            raise ValueError("a split of folds trains on the other folds; leave train and validation out")
        return self


class Definition(_Rules):
    """The rules of a benchmark over one's own recordings.

    Parameters
    ----------
    name : str
        ``task`` or ``family/task``, as boards call it.
    definition : str, optional
        Version of these rules; by default a digest of them, so that no two questions share a name.
    title, question, licence : str, optional
        For boards and cards.
    target : str, optional
        Column of the events that is to be decoded; by default the only one that can be.
    classes : mapping of str to str, or tuple of str, optional
        Values of the target -> class, or the values that are classes. Events with other values take no part.
    where : mapping of str to tuple of str
        Column -> values: only events with one of these take part.
    window_s : pair of float, optional
        Beginning and end of a window, in seconds from the event; needed for events, and for epochs the whole of them.
    reject_by_annotation : bool
        Whether windows are left out that overlap a stretch which the recording's own annotations mark as bad: one
        whose description begins with "bad", such as ``BAD_blink``, as MNE-Python has it.
    unit, cluster : str, optional
        Column of what is scored by itself, and of what owns several units. By default a unit is a subject where there
        are several, else a session, a run or a recording; a cluster is the subject.
    subject, session, run : str, optional
        Columns with these, where they have other names.
    split : str, tuple of str, or mapping of str to ListedSplit
        ``leave-one-subject-out``, ``leave-one-session-out`` (run, block, any column), ``blocked-5-folds``,
        ``later-sessions``; or lists by name. The first is the default.
    metric, tie_break : str
    additional_metrics : tuple of str
    channels : tuple of str, optional
        Kinds ("eeg", "eog") or names; by default the kind of the brain, or muscle, that there is.
    montage : str, optional
        Template that places channels by their names, such as "standard_1005".
    notch_hz : tuple of float
        Frequencies of line noise to remove.
    band_hz : pair of float, optional
        Frequencies to keep; 0 or inf leaves a side open.
    resample_hz : float, optional
    reference : {"average"}, optional
    baseline_s : pair of float, optional
        Stretch whose mean is subtracted, in seconds from the event.
    pad_s : float
        Seconds read on both sides of a window, so that filters settle; cut off after filtering.
    known : tuple of str
        Columns that decoders may see, such as age.
    split_hashes : mapping of str to str
        Locked hashes of splits: data that are cut differently are refused.
    notes : tuple of str
        What a reader of a result must know.
    """

    name: str = "own/events"
    definition: str | None = None
    title: str | None = None
    question: str | None = None
    licence: str = "not stated"
    target: str | None = None
    classes: dict[str, str] | Texts | None = None
    where: dict[str, Texts] = {}
    window_s: tuple[Number, Number] | None = None
    reject_by_annotation: bool = True
    unit: str | None = None
    cluster: str | None = None
    subject: str | None = None
    session: str | None = None
    run: str | None = None
    split: str | Texts | dict[str, ListedSplit]
    metric: str = "balanced_accuracy"
    tie_break: str | None = None
    additional_metrics: Texts = ()
    channels: Texts | None = None
    montage: str | None = None
    notch_hz: tuple[Positive, ...] = ()
    band_hz: tuple[float, float] | None = None
    resample_hz: Positive | None = None
    reference: Literal["average"] | None = None
    baseline_s: tuple[Number, Number] | None = None
    pad_s: Annotated[float, Field(ge=0, le=60)] = 0.0
    known: Texts = ()
    split_hashes: dict[str, str] = {}
    notes: Texts = ()

    @field_validator("where", mode="before")
    @classmethod
    def _let_one_value_stand_alone(cls, where: Any) -> Any:
        if not isinstance(where, Mapping):
            return where
        return {
            key: [value] if isinstance(value, str | int | float) else value for key, value in where.items()
        }

    @field_validator("notch_hz", "channels", "known", "additional_metrics", "notes", mode="before")
    @classmethod
    def _let_one_be_a_list(cls, value: Any) -> Any:
        return (value,) if isinstance(value, str | int | float) else value

    @field_validator("split", mode="before")
    @classmethod
    def _name_lists(cls, split: Any) -> Any:
        """Call lists that were given without a name "listed"."""
        alone = isinstance(split, Mapping) and any(
            key in ListedSplit.model_fields
            and not (isinstance(value, Mapping) and set(value) & set(ListedSplit.model_fields))
            for key, value in split.items()
        )
        return {"listed": split} if alone else split

    @field_validator("window_s", "baseline_s")
    @classmethod
    def _rise(cls, stretch: tuple[float, float] | None) -> tuple[float, float] | None:
        if stretch is not None and stretch[0] >= stretch[1]:
            raise ValueError(
                f"the end of a stretch comes after its beginning, got {stretch[0]:g} to {stretch[1]:g}"
            )
        return stretch

    @property
    def task_name(self) -> str:
        """The name as a manifest has it: ``family/task``."""
        return self.name if "/" in self.name else f"own/{self.name}"

    def features(self, window_s: tuple[float, float]) -> FeatureChain:
        """Return what every window goes through: reference, notch, band, rate, the cut of padded ends, baseline.

        Parameters
        ----------
        window_s : pair of float
            The window that is used, in seconds from the event.

        Raises
        ------
        InputError
            When a number is out of range.
        """
        steps: list[Any] = [CommonAverage()] if self.reference == "average" else []
        steps += [Notch(self.notch_hz)] if self.notch_hz else []
        steps += [BandPass(*self.band_hz)] if self.band_hz is not None else []
        steps += [Downsample(self.resample_hz)] if self.resample_hz is not None else []
        steps += [Crop(self.pad_s)] if self.pad_s else []
        if self.baseline_s is not None:
            begin, end = (round(edge - window_s[0], 9) for edge in self.baseline_s)
            if begin < 0 or end > window_s[1] - window_s[0] + 1e-9:
                raise InputError(
                    f"baseline_s {_show(self.baseline_s)} lies outside of the window {_show(window_s)}. "
                    "Begin the window earlier; the baseline is a part of it."
                )
            steps.append(Baseline(begin, end))
        return FeatureChain(tuple(steps))


def _show(stretch: tuple[float, float]) -> str:
    return f"{stretch[0]:g} to {stretch[1]:g} s"


def read_rules(model: type[_Rules], given: Mapping[str, Any], where: str) -> Any:
    """Check rules that were given in Python, or read from a file.

    Parameters
    ----------
    model : type of BaseModel
    given : mapping of str to object
    where : str
        What messages begin with: the file, or the function that was called.

    Raises
    ------
    InputError
        Naming the key, what it may be, and the closest key for one that does not exist.
    """
    told = {key: _plain(value, key in ("classes", "where", "split")) for key, value in given.items()}
    try:
        return model.model_validate(told)
    except ValidationError as error:
        raise InputError(f"{where}: {_say(model, error)}") from None


def _plain(value: Any, as_words: bool) -> Any:
    """Return a value of NumPy as one of Python; where values of events are named, true, false and 1.0 are words."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {_plain(key, as_words): _plain(each, as_words) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return (
            type(value)([_plain(each, as_words) for each in value]) if type(value) in (list, tuple) else value
        )
    if as_words and isinstance(value, float) and value.is_integer():
        return str(int(value))  # as the values of events are written
    return str(value) if as_words and isinstance(value, bool) else value


def _say(model: type[BaseModel], error: ValidationError) -> str:
    """Put the first thing that is wrong into one sentence, and count the others."""
    problems = error.errors(include_url=False)
    # A key that does not exist is often the one that is missing, misspelt.
    problems.sort(key=lambda each: each["type"] != "extra_forbidden")
    own = [each for each in problems if each["loc"][:1] == problems[0]["loc"][:1]]
    # Of the kinds of value that a key may have, the one that fits furthest is what was meant.
    first = max(own, key=lambda each: len(each["loc"]))
    places = [str(part) for part in first["loc"]]
    others = {str(each["loc"][0]) for each in problems if each["loc"]} - set(places[:1])
    also = f" ({len(others)} more: {', '.join(sorted(others))}.)" if others else ""
    if first["type"] == "extra_forbidden":
        return f"{_unknown(model, places)}{also}"
    key = places[0] if places else ""
    if first["type"] == "missing":
        return f'the key "{".".join(places)}" is missing. Expected {_MEANS.get(key, "a value")}.{also}'
    said = first["msg"].removeprefix("Value error, ").rstrip(".")
    if not key:
        return f"{said}.{also}"
    expected = _MEANS.get(key)
    words = said if first["type"] == "value_error" or expected is None else f"expected {expected}"
    got = "" if first["type"] == "value_error" else f", got {first['input']!r:.80}"
    # The name of an alternative of pydantic ("tuple[str,...]", "dict[str,str]") means nothing to a reader.
    inner = [part for part in places[1:] if part != "str" and not any(mark in part for mark in "[(")]
    return f'the key "{".".join([key, *inner])}": {words}{got}.{also}'


def _unknown(model: type[BaseModel], places: list[str]) -> str:
    known = list(ListedSplit.model_fields if len(places) > 1 else model.model_fields)
    close = difflib.get_close_matches(places[-1], known, n=1, cutoff=0.6)
    hint = f'Did you mean "{close[0]}"?' if close else f"There are: {', '.join(known)}."
    return f'there is no key "{".".join(part for part in places if "[" not in part)}". {hint}'


# What a key is, as a refusal says it.
_MEANS = {
    "split": "a rule such as leave-one-subject-out, leave-one-run-out or blocked-5-folds, several, or a table of lists",
    "data": "a folder, a file, or a list of files",
    "classes": "a table of value = class, or a list of values",
    "where": "a table of column = value, or of lists of values",
    "window_s": "two numbers, as in [0.5, 3.5]",
    "baseline_s": "two numbers, as in [-0.2, 0.0]",
    "band_hz": "two numbers, as in [8, 30]",
    "notch_hz": "a list of frequencies above zero, as in [50, 100]",
    "resample_hz": "a number above zero",
    "pad_s": "a number of seconds from 0 to 60",
    "reject_by_annotation": "true or false",
    "channels": 'a list of kinds or names, as in ["eeg"]',
    "reference": '"average"',
    "known": "a list of columns",
    "additional_metrics": "a list of metrics",
    "notes": "a list of sentences",
}
