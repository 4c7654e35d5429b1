"""``neuroarena data``: simulate, verify and find datasets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

app = typer.Typer(help="Simulate, verify and find datasets.", no_args_is_help=True)

DatasetName = Annotated[str, typer.Argument(help="Name of a dataset; see neuroarena list datasets.")]


@app.callback()
def _root() -> None:
    """Simulate, verify and find datasets."""


@app.command(
    "simulate",
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="The twin's own options follow as --name value. For braintreebank: --subjects, --sessions, --electrodes, "
    "--minutes, --seed, --ideal (AUROC of the best possible decoder) and --strength (0 is chance).",
)
def simulate(
    context: typer.Context,
    dataset: DatasetName,
    folder: Annotated[Path, typer.Argument(help="Where to write the twin.")],
    as_json: Json = False,
) -> None:
    """Write a simulated twin of a dataset, in the dataset's own format and with a known planted signal."""
    from neuroarena.datasets import load_dataset

    chosen = load_dataset(dataset)
    card = chosen.simulate(folder, **parse_options(context.args, chosen.simulate_options, dataset))
    if as_json:
        print_json(card)
        return
    print(f"{folder}: a simulated {chosen.title}.")
    ideal = card.get("ideal_auroc")
    if ideal:
        print("Best possible AUROC: " + ", ".join(f"{task} {value:.2f}" for task, value in ideal.items()))
    print(f"What was planted where is in {folder / 'simulated.json'}.")


def parse_options(words: list[str], known: Mapping[str, str], dataset: str) -> dict[str, Any]:
    """Read ``--name value`` and ``--name=value`` pairs that a dataset knows.

    Raises
    ------
    InputError
        For an unknown option or one without a value; the known ones are listed with their help.

    Examples
    --------
    >>> parse_options(["--seed", "3", "--ideal=0.7"], {"seed": "", "ideal": ""}, "some")
    {'seed': 3, 'ideal': 0.7}
    """
    from neuroarena.errors import InputError

    listing = "; ".join(f"--{name}: {text}" for name, text in known.items())
    options: dict[str, Any] = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, equals, value = word.removeprefix("--").partition("=")
        name = name.replace("-", "_")
        if not word.startswith("--") or name not in known:
            raise InputError(f'The twin of {dataset} has no option "{word}". It has {listing}.')
        if not equals:
            if not waiting:
                raise InputError(f"The option --{name} needs a value. It means: {known[name]}.")
            value = waiting.pop(0)
        options[name] = _value(value)
    return options


def _value(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@app.command("verify")
def verify(
    dataset: DatasetName,
    folder: Annotated[
        Path | None, typer.Argument(help="Folder; by default where the dataset is found.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a real or simulated folder and name what is missing or wrong."""
    from neuroarena.datasets import load_dataset, locate

    found = locate(dataset, folder)
    problems = load_dataset(dataset).verify(found)
    if as_json:
        print_json([{"file": problem.file, "problem": problem.what} for problem in problems])
    else:
        for problem in problems:
            print(problem)
        print(
            f"{found}: {len(problems)} problem{'s' if len(problems) != 1 else ''}"
            if problems
            else f"{found}: good"
        )
    if problems:
        raise typer.Exit(2)


@app.command("where")
def where(dataset: DatasetName, as_json: Json = False) -> None:
    """Say where a dataset is found on this machine."""
    from neuroarena.datasets import locate

    found = locate(dataset)
    if as_json:
        print_json({"dataset": dataset, "folder": str(found)})
    else:
        print(found)
