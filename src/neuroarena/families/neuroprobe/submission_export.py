"""Turn runs into a submission to the Neuroprobe leaderboard: choose them and check that none is missing."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.errors import InputError
from neuroarena.evaluation import Result
from neuroarena.families.neuroprobe.family import FAMILY
from neuroarena.families.neuroprobe.item_locks import ITEMS_DIFFER
from neuroarena.families.neuroprobe.submission_checks import SPLIT_FOLDERS, SUBMITTED_DEFINITIONS
from neuroarena.families.neuroprobe.submission_writer import (
    WRITTEN_COLUMNS,
    Header,
    missing_scores,
    write_submission,
)
from neuroarena.families.neuroprobe.submissions import split_name

# What the leaderboard judges: one second of all electrodes of the lite subset, two classes. An option
# that is not named here must be off.
OFFICIAL_OPTIONS: dict[str, tuple[Any, ...]] = {
    "subset": ("lite",),
    "multiclass": (False,),
    "level": ("population",),
    "offset_s": ([0.0, 1.0],),
    "folds": (2,),
    # The sessions are checked by name below.
    "sessions": (),
    "judged": (),
}
NAMED = 4


@dataclass(frozen=True, eq=False)
class Choice:
    """The runs of one decoder that make up a submission.

    Attributes
    ----------
    scores : DataFrame
        The complete table that :func:`write_submission` takes.
    decoder, definition : str
    simulated : bool
    splits : tuple of str
    notes : tuple of str
        What was left out.
    unpublished : tuple of str
        Runs whose items differ from the published ones, each with what its record says.
    """

    scores: pd.DataFrame
    decoder: str
    definition: str
    simulated: bool
    splits: tuple[str, ...]
    notes: tuple[str, ...]
    unpublished: tuple[str, ...] = ()


def export_submission(
    results: Iterable[Result],
    out: str | Path,
    *,
    author: str,
    decoder: str | None = None,
    model_name: str | None = None,
    organization: str = "",
    organization_url: str = "",
    description: str = "",
    bib: str | None = None,
    attest: bool = False,
    allow_simulated: bool = False,
    splits: Sequence[str] | None = None,
    time: datetime.datetime | None = None,
) -> Path:
    """Write the runs of one decoder as an official submission folder.

    Parameters
    ----------
    results : iterable of Result
        Of ``neuroarena run neuroprobe``.
    out : path
        Where the folder ``MODEL_FIRST_LAST_DAY_MONTH_YEAR`` is created; nothing is overwritten.
    author : str
        First and last name.
    decoder : str, optional
        Which one; not needed when there is only one.
    model_name : str, optional
        Name on the leaderboard; by default the decoder's name.
    organization, organization_url, description : str
    bib : str, optional
        A BibTeX entry.
    attest : bool
        Sign the official attestations in the author's name.
    allow_simulated : bool
        Write simulated runs too, marked.
    splits : sequence of str, optional
        By default all splits with runs.
    time : datetime, optional
        When it is submitted; by default now.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    InputError
        As :func:`choose_runs`; when items differ from the published ones and are to be attested; or when the
        folder already exists.
    """
    chosen = choose_runs(results, decoder, splits=splits, allow_simulated=allow_simulated)
    if attest and chosen.unpublished:
        raise InputError(
            f"{len(chosen.unpublished)} runs cannot be attested: {_some(chosen.unpublished)}. "
            "Run them on the published tables; nothing was written."
        )
    header = Header(
        model_name=model_name or chosen.decoder,
        author=author,
        definition=chosen.definition,
        time=time or datetime.datetime.now(datetime.UTC),
        organization=organization,
        organization_url=organization_url,
        description=description,
        simulated=chosen.simulated,
    )
    return write_submission(chosen.scores, header, out, bib=bib, attest=attest)


def choose_runs(
    results: Iterable[Result],
    decoder: str | None = None,
    *,
    splits: Sequence[str] | None = None,
    allow_simulated: bool = False,
) -> Choice:
    """Choose the runs of one decoder that make up a complete submission.

    A failed run is reported unless a run with the same key is complete.

    Raises
    ------
    InputError
        For several decoders without a choice, failed runs, multiclass or other unofficial runs, two runs
        of one task, runs that differ in definition, settings, code or seed, simulated runs, and missing
        tasks, sessions or folds; each is named.
    """
    everything = list(results)
    runs = [result for result in everything if _family(result) == FAMILY.name]
    if not runs:
        raise InputError("There is no run of neuroprobe in these results; nothing can be submitted.")
    others = len(everything) - len(runs)
    notes = [f"left out, of other benchmarks: {others} of {len(everything)} runs"] if others else []
    runs = _of_decoder(runs, decoder)
    wanted = None if splits is None else [split_name(split) for split in splits]
    runs = [run for run in runs if wanted is None or run.record.split.name in wanted]
    if not runs:
        raise InputError(
            f"There is no run of the splits {', '.join(wanted or ())}; nothing can be submitted."
        )
    runs, superseded = _complete(runs)
    notes += [f"{name}: an earlier attempt failed and was left out" for name in superseded]
    _check_official(runs, allow_simulated)
    _check_alike(runs)
    _check_single(runs)
    scores = pd.concat([_scores(run) for run in runs], ignore_index=True)[list(WRITTEN_COLUMNS)]
    problems = list(missing_scores(scores))
    absent = [split for split in wanted or () if split not in set(scores["split"])]
    problems += [f"{SPLIT_FOLDERS[split]} has no run" for split in absent]
    if problems:
        raise InputError(
            f'The runs of "{_decoder(runs[0])}" do not make up a complete submission: {_some(problems)}. '
            "Run what is missing "
            "(finished runs are not computed again); nothing was written."
        )
    return Choice(
        scores=scores,
        decoder=_decoder(runs[0]),
        definition=_definition(runs[0]),
        simulated=any(run.record.simulated for run in runs),
        splits=tuple(split for split in SPLIT_FOLDERS if split in set(scores["split"])),
        notes=tuple(notes),
        unpublished=tuple(
            f"{_name_run(run)}: {note}"
            for run in runs
            for note in run.record.benchmark.notes
            if note.startswith(ITEMS_DIFFER)
        ),
    )


def _family(run: Result) -> str:
    return run.record.family


def _definition(run: Result) -> str:
    return run.record.definition


def _task(run: Result) -> str:
    return run.record.task


def _decoder(run: Result) -> str:
    return run.record.decoder.name


def _name_run(run: Result) -> str:
    """Name a run so that its folder can be found."""
    about = f"{run.record.benchmark.name} {run.record.split.name}"
    return about if run.folder is None else f"{about} ({run.folder.name})"


def _some(words: Sequence[str]) -> str:
    more = f"; and {len(words) - NAMED} more" if len(words) > NAMED else ""
    return "; ".join(words[:NAMED]) + more


def _of_decoder(runs: list[Result], decoder: str | None) -> list[Result]:
    names = list(dict.fromkeys(_decoder(run) for run in runs))
    if decoder is None and len(names) > 1:
        raise InputError(
            f"These are runs of {len(names)} decoders ({', '.join(names)}); choose one with --decoder NAME."
        )
    own = [run for run in runs if decoder is None or _decoder(run) == decoder]
    if not own:
        raise InputError(f'There is no run of the decoder "{decoder}"; there are runs of {", ".join(names)}.')
    return own


def _complete(runs: list[Result]) -> tuple[list[Result], list[str]]:
    """Return the complete runs, and the names of failed ones that a complete run supersedes."""
    complete = [run for run in runs if run.complete and run.unit_scores is not None]
    keys = {run.record.run_key for run in complete}
    failed = [run for run in runs if not (run.complete and run.unit_scores is not None)]
    standing = [run for run in failed if run.record.run_key not in keys]
    if standing:
        raise InputError(
            f"{len(standing)} runs are not complete: {_some([_failure(run) for run in standing])}. Run them "
            "again; nothing was written."
        )
    return complete, [_name_run(run) for run in failed]


def _failure(run: Result) -> str:
    failed = run.record.failed_cells
    if not failed:
        return f"{_name_run(run)} has no unit scores"
    error = " ".join((failed[0].error or "no reason was recorded").split())
    return f"{_name_run(run)}: fold {failed[0].fold}: {error}"


def _check_official(runs: list[Result], allow_simulated: bool) -> None:
    problems = []
    for run in runs:
        problem = _unofficial(run)
        if problem:
            problems.append(f"{_name_run(run)} {problem}")
    if problems:
        raise InputError(f"Not all runs are official: {_some(problems)}. Nothing was written.")
    simulated = [run for run in runs if run.record.simulated]
    if simulated and not allow_simulated:
        raise InputError(
            f"{len(simulated)} of {len(runs)} runs are on simulated recordings, the first is "
            f"{_name_run(simulated[0])}. They are not a submission; --allow-simulated writes them anyway, marked."
        )
    if 0 < len(simulated) < len(runs):
        recorded = next(run for run in runs if not run.record.simulated)
        raise InputError(
            f"{_name_run(simulated[0])} is simulated and {_name_run(recorded)} is not; "
            "a submission must be one or the other."
        )


def _unofficial(run: Result) -> str | None:
    """Explain why a run does not qualify for the leaderboard; None when it does."""
    definition, task = _definition(run), _task(run)
    if definition not in SUBMITTED_DEFINITIONS:
        return (
            f"follows a definition that the leaderboard does not accept ({', '.join(SUBMITTED_DEFINITIONS)})"
        )
    options = run.record.benchmark.options
    if options.get("multiclass") or len(run.manifest.classes) != 2:
        return "is multiclass; the leaderboard accepts only the binary form"
    for name, value in options.items():
        known = OFFICIAL_OPTIONS.get(name)
        value = list(value) if isinstance(value, tuple) else value
        if (known is None and value) or (known and value not in known):
            return f"was run with {name}={value}; expected {known[0] if known else 'the default'}"
    if run.record.split.name not in SPLIT_FOLDERS:
        return f"uses a split that the leaderboard does not accept ({', '.join(SPLIT_FOLDERS)})"
    if task not in FAMILY.tasks(definition) or run.manifest.hash != FAMILY.manifest(task, definition).hash:
        return "was judged by rules other than those of this definition"
    return None


_ALIKE: tuple[tuple[str, Callable[[Result], Any]], ...] = (
    ("definition", _definition),
    ("type of the decoder", lambda run: run.record.decoder.type),
    ("parameters of the decoder", lambda run: run.record.decoder.parameters),
    ("code of the decoder", lambda run: run.record.decoder.code),
    ("seed", lambda run: run.record.seed if run.record.repeats is None else list(run.record.seeds)),
    ("version of the scorer", lambda run: run.record.scorer_version),
)


def _check_alike(runs: list[Result]) -> None:
    """Refuse runs of several decoders or definitions: a submission describes one model."""
    for name, read in _ALIKE:
        first = runs[0]
        for run in runs[1:]:
            if read(run) != read(first):
                raise InputError(
                    f"The {name} differs: {_name_run(first)} has {_brief(read(first))}, {_name_run(run)} has "
                    f"{_brief(read(run))}. A submission describes one decoder under one definition; "
                    "leave the others out."
                )


def _brief(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def _check_single(runs: list[Result]) -> None:
    seen: dict[tuple[str, str], Result] = {}
    for run in runs:
        key = (run.record.split.name, _task(run))
        if key in seen:
            raise InputError(
                f"There are two runs of {_task(run)}, {key[0]}: {_name_run(seen[key])} and {_name_run(run)}. "
                "Pass only one of them."
            )
        seen[key] = run


def _scores(run: Result) -> pd.DataFrame:
    """Return the folds of a run as rows of a submission."""
    assert run.unit_scores is not None
    table, split = run.unit_scores.table, run.record.split.name
    finished = run.record.finished
    return pd.DataFrame(
        {
            "split": split,
            "task": _task(run),
            "session": table["unit"].astype(str),
            "fold": list(_fold_numbers(run, split)),
            "auroc": table["score"],
            "accuracy": table["accuracy"] if "accuracy" in table.columns else float("nan"),
            "n": table["n"],
            "run_key": run.record.run_key,
            "timestamp": finished.timestamp(),
        }
    )


def _fold_numbers(run: Result, split: str) -> Iterator[int]:
    """Yield the number of each fold: "btbank1_1/1" within sessions, "btbank1_1" across."""
    assert run.unit_scores is not None
    for unit, fold in zip(run.unit_scores.table["unit"], run.unit_scores.table["fold"], strict=True):
        session, _, number = str(fold).partition("/")
        good = session == unit and (number.isdecimal() if split == "within-session" else not number)
        if not good:
            raise InputError(
                f'{_name_run(run)}: fold "{fold}" of session {unit} is not one of the published {split} folds.'
            )
        yield int(number or 0)
