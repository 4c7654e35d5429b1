"""``neuroarena data``: simulate, fetch, verify, find and describe datasets."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

from neuroarena.cli.completion import complete_datasets
from neuroarena.cli.describing import describe
from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

if TYPE_CHECKING:
    from neuroarena.datasets import Dataset, Problem
    from neuroarena.datasets.dataset import FetchPlanner
    from neuroarena.datasets.download import Patience
    from neuroarena.datasets.fetch import Fetched, Item
    from neuroarena.datasets.fetch_plan import FetchPlan

app = typer.Typer(help="Simulate, fetch, verify, find and describe datasets.", no_args_is_help=True)

DatasetName = Annotated[
    str,
    typer.Argument(help="Name of a dataset; see neuroarena list datasets.", autocompletion=complete_datasets),
]


class TwinCommand(TyperCommand):
    """The command that writes a twin; its help ends with the options of the dataset that was named."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Remember which dataset was named before the help, which comes first, leaves."""
        ctx.meta["dataset"] = next((word for word in args if not word.startswith("-")), None)
        return super().parse_args(ctx, args)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the options of the dataset's twin, or how to see them."""
        from neuroarena.datasets import load_dataset
        from neuroarena.datasets.twin_folder import spell_flag

        named = ctx.meta.get("dataset")
        if named is None:
            super().format_epilog(ctx, formatter)
            return
        with formatter.section(f"Options of the twin of {named}"):
            options = load_dataset(named).simulate_options
            formatter.write_dl([(spell_flag(name), text) for name, text in options.items()])


@app.callback()
def _root() -> None:
    """Simulate, fetch, verify, find and describe datasets."""


@app.command(
    "simulate",
    cls=TwinCommand,
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True},
    epilog="Every twin has its own options, passed as --name value; see: neuroarena data simulate DATASET --help",
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
    for name, ideal in card.items():
        if name.startswith("ideal_") and _ideal(ideal):
            print(f"Best possible {name.removeprefix('ideal_').replace('_', ' ')}: {_ideal(ideal)}")
    print(f"What was planted where is in {folder / 'simulated.json'}.")


def _ideal(value: Any) -> str:
    """Describe an ideal score, or one for each task, in words; nothing for a deeper table."""
    if isinstance(value, (int, float)):
        return f"{value:.2f}"
    if isinstance(value, dict) and all(isinstance(each, (int, float)) for each in value.values()):
        return ", ".join(f"{task} {each:.2f}" for task, each in value.items())
    return ""


def parse_options(words: list[str], known: Mapping[str, str], dataset: str) -> dict[str, Any]:
    """Read ``--name value`` and ``--name=value`` pairs that a dataset knows.

    Raises
    ------
    InputError
        For an unknown option, with the closest one, and for one without a value.

    Examples
    --------
    >>> parse_options(["--seed", "3", "--rate-hz=0.7", "--raw", "yes"], {"seed": "", "rate_hz": "", "raw": ""}, "some")
    {'seed': 3, 'rate_hz': 0.7, 'raw': True}
    """
    from neuroarena.datasets.twin_folder import spell_flag
    from neuroarena.errors import InputError

    flags = {spell_flag(name): name for name in known}
    options: dict[str, Any] = {}
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        flag, equals, value = word.partition("=")
        flag = flag if not flag.startswith("--") else spell_flag(flag.removeprefix("--"))
        if flag not in flags:
            close = difflib.get_close_matches(flag, flags, n=1, cutoff=0.5)
            hint = f" Did you mean {close[0]}?" if close else ""
            raise InputError(
                f'The twin of {dataset} has no option "{word}".{hint} '
                f"It has {', '.join(flags)}. See: neuroarena data simulate {dataset} --help"
            )
        if not equals:
            if not waiting:
                raise InputError(f"The option {flag} needs a value. It means: {known[flags[flag]]}.")
            value = waiting.pop(0)
        options[flags[flag]] = _value(value)
    return options


def _value(text: str) -> bool | int | float | str:
    if text.lower() in ("yes", "true", "no", "false"):
        return text.lower() in ("yes", "true")
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


@app.command("fetch")
def fetch_dataset(
    dataset: DatasetName,
    folder: Annotated[
        Path | None, typer.Argument(help="Where to put the data; may be left out with --dry-run.")
    ] = None,
    subjects: Annotated[
        str | None, typer.Option("--subjects", metavar="1,2", help="All sessions of these subjects; or: all.")
    ] = None,
    sessions: Annotated[
        str | None, typer.Option("--sessions", metavar="1_1,1_2", help="Only these sessions.")
    ] = None,
    tables: Annotated[
        bool,
        typer.Option("--tables", help="Only the published tables that are not with the recordings."),
    ] = False,
    url: Annotated[
        str | None,
        typer.Option("--url", metavar="BASE", help="Fetch from here, a mirror with the same layout."),
    ] = None,
    attempts: Annotated[
        int, typer.Option("--attempts", min=1, help="Attempts without a new byte before giving up.")
    ] = 6,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Only list what would be fetched, from where and how large; write nothing."
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Fetch the real data, going on where an earlier fetch ended; then check the folder."""
    from neuroarena.datasets import load_dataset
    from neuroarena.datasets.download import Patience
    from neuroarena.datasets.fetch import fetch, survey
    from neuroarena.errors import InputError
    from neuroarena.progress import DownloadProgress

    chosen = load_dataset(dataset)
    plan = _planner(chosen, tables)(_split_list(subjects), _split_list(sessions), url)
    patience = Patience(attempts=attempts)
    if dry_run:
        _print_dry_run(plan, folder or Path(dataset), patience, as_json)
        return
    if folder is None:
        raise InputError(f"Name the folder to fetch into: neuroarena data fetch {dataset} DIR")
    items = survey(plan, folder, patience)
    listing = _fetch_listing(plan, folder, items)
    if not as_json:
        _print_listing(listing)
    sizes = [item.size for item in items if item.state != "complete"]
    total = None if None in sizes else sum(size or 0 for size in sizes)
    with DownloadProgress(total, sum(item.have for item in items)) as progress:
        fetched = fetch(plan, folder, items=items, patience=patience, progress=progress)
    # Tables alone are no dataset; what is made of them is checked when it is used.
    problems = [] if tables else chosen.verify(folder)
    if as_json:
        _print_fetched_json(listing, fetched, problems)
    else:
        _print_fetched(fetched, problems)
    if fetched.missing:
        raise typer.Exit(1)


def _planner(dataset: Dataset, tables: bool) -> FetchPlanner:
    """Return what plans the fetch of a dataset, or of its tables."""
    from neuroarena.errors import InputError

    planner = dataset.tables_plan if tables else dataset.fetch_plan
    if planner is None and tables:
        raise InputError(f"{dataset.title} has no tables to fetch apart from the data; leave out --tables.")
    if planner is None:
        raise InputError(f"{dataset.title} cannot be fetched from here. It comes from {dataset.origin}.")
    return planner


def _print_dry_run(plan: FetchPlan, folder: Path, patience: Patience, as_json: bool) -> None:
    """List what would be fetched; a server that cannot be reached leaves the sizes that public files state."""
    from neuroarena.datasets.fetch import survey
    from neuroarena.datasets.fetch_plan import FetchStopped

    try:
        items, unasked = survey(plan, folder, patience), None
    except FetchStopped as error:
        # What was kept, and how to go on, is no matter of a dry run.
        items, unasked = survey(plan, folder, ask=False), str(error.__cause__ or error)
    listing = {**_fetch_listing(plan, folder, items), "dry_run": True, "server_not_asked_because": unasked}
    if as_json:
        print_json(listing)
        return
    _print_listing(listing)
    if unasked is not None:
        print(
            f"The server could not be asked for sizes, so only stated ones are counted: {unasked}",
            file=sys.stderr,
        )


def _print_fetched(fetched: Fetched, problems: list[Problem]) -> None:
    for problem in problems:
        print(problem)
    for name in fetched.missing:
        print(f"{name}: is missing; the archive that should hold it does not.")
    good = not problems and not fetched.missing
    print(f"{fetched.root}: fetched{' and good' if good else ', with the problems listed above'}")


def _print_fetched_json(listing: dict[str, Any], fetched: Fetched, problems: list[Problem]) -> None:
    wrong = [{"file": problem.file, "problem": problem.what} for problem in problems]
    outcome = {"dry_run": False, "missing": fetched.missing, "problems": wrong, "record": fetched.record}
    print_json({**listing, **outcome})


def _split_list(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _fetch_listing(plan: FetchPlan, folder: Path, items: list[Item]) -> dict[str, Any]:
    """Collect what would be fetched, as data."""
    from neuroarena.datasets.unpack import free_bytes

    files = [
        {
            "path": item.file.path,
            "url": item.url,
            "state": item.state,
            "size": item.size,
            "have": item.have,
            "sha256": item.file.sha256,
            "sha1": item.file.sha1,
            "address_checked": item.file.checked,
        }
        for item in items
    ]
    waiting = [item for item in items if item.state != "complete"]
    return {
        "schema_version": 1,
        "title": plan.title,
        "folder": str(folder),
        "base_url": plan.base_url,
        "files": files,
        "bytes_to_fetch": sum(max((item.size or 0) - item.have, 0) for item in waiting),
        "sizes_unknown": sum(item.size is None for item in waiting),
        "free_bytes": free_bytes(folder),
    }


def _print_listing(listing: dict[str, Any]) -> None:
    from neuroarena.progress import readable_size

    rows = []
    for file in listing["files"]:
        size = "" if file["state"] == "complete" else readable_size(file["size"])
        state = f"{readable_size(file['have'])} here" if file["have"] else file["state"]
        known = next((kind for kind in ("sha256", "sha1") if file[kind]), "-")
        rows.append((size, known, state, file["url"]))
    unknown, known_bytes = listing["sizes_unknown"], listing["bytes_to_fetch"]
    parts = [readable_size(known_bytes)] if known_bytes or not unknown else []
    to_fetch = " and ".join([*parts, *([f"{unknown} of unknown size"] if unknown else [])])
    free = readable_size(listing["free_bytes"])
    # Plain lines: a table would cut the addresses, which are there to be copied.
    print(listing["title"])
    for size, known, state, url in (("size", "checksum", "state", "address"), *rows):
        print(f"  {size:>12}  {known:<8}  {state:<12}  {url}".rstrip())
    print(f"  total  {to_fetch}, {len(listing['files'])} files")
    print(f"{to_fetch} to fetch into {listing['folder']}, where {free} are free.")
    untried = sum(not file["address_checked"] for file in listing["files"] if file["state"] != "complete")
    if untried:
        print(
            f"The addresses of {untried} files were taken from public scripts and we have never tried them."
        )


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
    from neuroarena.datasets.dataset import find_problems

    found = locate(dataset, folder)
    problems = find_problems(load_dataset(dataset), found)
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


@app.command("convert")
def convert(
    model: Annotated[str, typer.Argument(help="Which model the checkpoint is of, such as brainbert.")],
    file: Annotated[Path, typer.Argument(help="The published checkpoint.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Where to write it; by default beside the checkpoint."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Convert a published checkpoint to safetensors; nothing in the file is executed."""
    from neuroarena.decoders.pretrained import convert_checkpoint

    made = convert_checkpoint(model, file, out)
    if as_json:
        print_json(made)
    else:
        print("\n".join(f"{name}: {value}" for name, value in made.items()))


@app.command("preprocess")
def preprocess(
    dataset: Annotated[str, typer.Argument(help="A dataset that benchmarks read in a preprocessed form.")],
    raw: Annotated[Path, typer.Argument(help="Folder of the raw releases.")],
    out: Annotated[Path, typer.Argument(help="Where to write the preprocessed ones.")],
    as_json: Json = False,
) -> None:
    """Filter and resample raw releases as their benchmark does; an interrupted call goes on where it stopped."""
    from neuroarena.datasets import DATASETS, load_dataset
    from neuroarena.errors import InputError
    from neuroarena.progress import TerminalProgress

    make = load_dataset(dataset).preprocess
    if make is None:
        others = [name for name in DATASETS.names() if DATASETS.get(name).preprocess is not None]
        raise InputError(f'The dataset "{dataset}" needs no preprocessing; {", ".join(others)} does.')
    begun = False
    with TerminalProgress() as progress:

        def tell(done: int, total: int, _: str) -> None:
            nonlocal begun
            if not begun:
                progress.begin("recordings", total, max(0, done - 1))
            begun = True
            progress.advance("recordings")

        said = make(raw, out, progress=tell)
    if as_json:
        print_json(said)
        return
    print(f"{out}: {said['written']} recordings written, {said['kept']} already existed.")
    print(f"{said['dropped_events']} events outside their recordings were dropped.")


@app.command("where")
def where(dataset: DatasetName, as_json: Json = False) -> None:
    """Print where a dataset is found on this machine."""
    from neuroarena.datasets import locate

    found = locate(dataset)
    if as_json:
        print_json({"dataset": dataset, "folder": str(found)})
    else:
        print(found)


app.command("describe", short_help="What do these recordings hold?")(describe)
