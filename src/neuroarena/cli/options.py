"""Options that several verbs share."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from neuroarena.cli.completion import (
    complete_benchmarks,
    complete_decoders,
    complete_options,
    complete_splits,
)
from neuroarena.errors import InputError

if TYPE_CHECKING:
    from neuroarena.evaluation import engines

BenchmarkName = Annotated[
    str,
    typer.Argument(
        help="family[@definition]/task, a family for all its tasks, my.toml, or module:attribute.",
        autocompletion=complete_benchmarks,
    ),
]
DecoderNames = Annotated[
    list[str],
    typer.Option(
        "--decoder",
        "-d",
        help="Name of a decoder, or module:attribute; may be repeated.",
        autocompletion=complete_decoders,
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to keep the results in.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Data = Annotated[
    str | None,
    typer.Option(
        "--data",
        metavar="DIR",
        help="Folder of the dataset; by default where its environment variables point.",
    ),
]
Split = Annotated[
    str | None,
    typer.Option("--split", help="Split; by default the benchmark's first.", autocompletion=complete_splits),
]
Splits = Annotated[
    list[str] | None,
    typer.Option(
        "--split",
        "-s",
        help="Split; may be repeated. By default the benchmark's first.",
        autocompletion=complete_splits,
    ),
]
Submission = Annotated[
    Path | None,
    typer.Option(
        "--submission", metavar="FILE.parquet", help="Also write the predictions as a file to submit."
    ),
]
Contact = Annotated[
    str | None, typer.Option("--contact", help="Contact address; goes into the submission file.")
]
ExternalData = Annotated[
    list[str] | None,
    typer.Option("--external-data", help="Declare external data; goes into the submission file."),
]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers", min=1, help="Processes to use; by default one per core. The results stay the same."
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Seed of everything random.")]
Repeats = Annotated[
    int,
    typer.Option(
        "--repeats",
        min=1,
        metavar="N",
        help="Train N times, with the seed and the N - 1 that follow it; boards then include the noise of training.",
    ),
]
TrainFraction = Annotated[
    str,
    typer.Option(
        "--train-fraction",
        metavar="F,F",
        help="Shares of the training part to learn from, as in 0.1,0.3,1.0: a learning curve. --repeats draws anew.",
    ),
]
LeaksToo = Annotated[
    bool,
    typer.Option(
        "--check-leaks", help="Also look for leaks in the signals; what is found is kept with the results."
    ),
]
Profiled = Annotated[
    bool,
    typer.Option(
        "--profile", help="Write time and memory of every step into the folder of the results, as JSON."
    ),
]
Cache = Annotated[
    Path | None,
    typer.Option(
        "--cache",
        metavar="DIR",
        help="Folder of the cache; by default NEUROARENA_CACHE or the user's cache folder.",
    ),
]


Grid = Annotated[
    list[str] | None,
    typer.Option(
        "--grid",
        metavar="NAME=V,V",
        help="Try these values of a parameter; may be repeated. Features' own: features.nperseg=256,512.",
    ),
]


Notch = Annotated[
    str | None,
    typer.Option("--notch", metavar="HZ,HZ", help="Remove line noise at these frequencies first."),
]
Downsample = Annotated[
    float | None,
    typer.Option("--downsample", metavar="HZ", help="Bring signals to this sampling rate first."),
]


Option = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        "-O",
        metavar="NAME=VALUE",
        help="An option of the benchmark's family, shown by: neuroarena list options FAMILY. May be repeated.",
        autocompletion=complete_options,
    ),
]


Engine = Annotated[
    str,
    typer.Option(
        "--engine", metavar="local|slurm|dask", help="Where cells are computed. The results stay the same."
    ),
]
EngineOption = Annotated[
    list[str] | None,
    typer.Option(
        "--engine-option",
        metavar="NAME=VALUE",
        help="An option of the engine, shown by: neuroarena list options slurm. May be repeated.",
    ),
]
Pack = Annotated[
    int | None,
    typer.Option("--pack", min=1, metavar="N", help="Cells that travel to a cluster together."),
]
Scheduler = Annotated[
    str | None,
    typer.Option("--scheduler", metavar="ADDRESS", help="Dask scheduler, such as tcp://head:8786."),
]
Shard = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Compute only this share of the cells, into the cache; the same command without it assembles.",
    ),
]


def parse_values(texts: list[str], flag: str = "-O") -> dict[str, str]:
    """Read ``name=value`` texts; the model of the family's options makes values of them.

    Raises
    ------
    InputError
        When a text has a different form, or a name occurs twice.

    Examples
    --------
    >>> parse_values(["folds=5", "sessions=1_1,1_2", "max-samples = 60"])
    {'folds': '5', 'sessions': '1_1,1_2', 'max_samples': '60'}
    """
    values: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name = name.strip().replace("-", "_")
        if not equals or not name:
            raise InputError(f'"{text}" is not an option. Expected {flag} NAME=VALUE.')
        if name in values:
            raise InputError(f"The option {name} was given twice; several values are separated by commas.")
        values[name] = value.strip()
    return values


def parse_fractions(text: str) -> list[float]:
    """Read shares that are separated by commas.

    Raises
    ------
    InputError
        When one is not a number.

    Examples
    --------
    >>> parse_fractions("0.1, 1")
    [0.1, 1.0]
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            f'--train-fraction "{text}" is not a list of shares. Expected 0.1,0.3,1.0.'
        ) from None


def refuse_unused(given: Mapping[str, object], what: str) -> None:
    """Refuse options that would be ignored; those that are None, False or empty lists were not given.

    Raises
    ------
    InputError

    Examples
    --------
    >>> refuse_unused({"--rule": None, "--fast": False}, "a board that has no unit scores")
    """
    wrong = [
        name for name, value in given.items() if value is not None and value is not False and value != []
    ]
    if wrong:
        raise InputError(f"{', '.join(wrong)} cannot be used with {what}.")


def choose_engine(
    name: str, workers: int | None, pack: int | None, scheduler: str | None, texts: list[str]
) -> engines.Engine:
    """Make the engine that a command line asks for.

    Raises
    ------
    InputError
        For an unknown engine or option, and for what the engine would ignore.
    """
    from neuroarena.evaluation import available_cores
    from neuroarena.evaluation.engines import make_engine

    if name == "slurm":
        refuse_unused(
            {"--workers": workers}, "--engine slurm; --engine-option most_jobs=N limits how many jobs run"
        )
    if scheduler is not None:
        refuse_unused({"--workers": workers}, "--scheduler, whose workers are started with: dask worker")
    told = parse_values(texts, "--engine-option")
    return make_engine(
        name, workers=workers or available_cores(), pack=pack, scheduler=scheduler, options=told
    )


def check_out(out: Path | None) -> None:
    """Refuse the name of a file as the folder of results; until 0.1.0, `score --out` took one.

    Raises
    ------
    InputError
    """
    if out is not None and out.suffix.lower() == ".parquet":
        raise InputError(
            f"--out {out} ends in .parquet, and --out takes a folder now: the result is kept in DIR/<run>/ with "
            "record.json, predictions.parquet and unit_scores.parquet. Name a folder."
        )
    if out is not None and out.is_file():
        raise InputError(f"--out {out} is a file. Name a folder to keep the results in.")


class FamilyCommand(TyperCommand):
    """A command that takes options of families by ``-O``, and says so when one is typed as a flag of its own."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the words of a command line.

        Raises
        ------
        InputError
            For a flag that is an option of a family.
        """
        own = {flag for parameter in self.params for flag in parameter.opts}
        for word in [] if ctx.resilient_parsing else args:
            flag, _, value = word.partition("=")
            if flag.startswith("--") and flag not in own:
                _refuse_family_flag(flag, value or "VALUE")
        return super().parse_args(ctx, args)


def _refuse_family_flag(flag: str, value: str) -> None:
    from neuroarena.benchmarks.faces import families_with
    from neuroarena.benchmarks.options import list_options

    models = families_with("options")
    owners: dict[str, list[str]] = {}
    for family, model in models.items():
        for each in list_options(model):
            owners.setdefault(each.name, []).append(family)
    # Close is enough: --offset became offset_s.
    for name in difflib.get_close_matches(flag[2:].replace("-", "_"), owners, n=1, cutoff=0.85):
        families = " or ".join(owners[name])
        raise InputError(f"{flag} is an option of the family {families}: write -O {name}={value}.")
