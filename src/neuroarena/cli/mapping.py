"""``neuroarena map``: when and where a feature can be decoded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli import options
from neuroarena.cli.completion import complete_benchmarks
from neuroarena.cli.drawing_maps import AsPublished, Label, With
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from neuroarena.evaluation.shards import Shard
    from neuroarena.maps.grid import MapGrid
    from neuroarena.maps.own import OwnQuestion
    from neuroarena.maps.settings import MapSettings

Source = Annotated[
    str | None,
    typer.Argument(
        metavar="[BENCHMARK|RESULTS]",
        help="A benchmark, or a family for all its tasks, to compute a map of; or a folder with a map, to draw.",
        autocompletion=complete_benchmarks,
    ),
]
Window = Annotated[float | None, typer.Option("--window", metavar="S", help="Length of a time bin; 0.25 s.")]
Stride = Annotated[
    float | None, typer.Option("--stride", metavar="S", help="From one time bin to the next; 0.125 s.")
]
First = Annotated[
    float | None, typer.Option("--tmin", metavar="S", help="Where the first bin begins, from the event.")
]
Last = Annotated[
    float | None, typer.Option("--tmax", metavar="S", help="Where the last bin ends, from the event.")
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features",
        metavar="spectrogram|voltage",
        help="What is decoded; by default voltage below 500 samples per second.",
    ),
]
Null = Annotated[
    int,
    typer.Option(
        "--null", min=0, metavar="N", help="Draws of the null, 19 or more; 0 for a map without one."
    ),
]
Recording = Annotated[
    Path | None,
    typer.Option("--recording", metavar="FILE|BIDS", help="Your own recordings, in place of a benchmark."),
]
Events = Annotated[
    Path | None,
    typer.Option(
        "--events",
        metavar="FILE",
        help="Their events: a .tsv, .csv or .parquet with onset in seconds; by default those of the recordings.",
    ),
]
Target = Annotated[
    str | None, typer.Option("--target", metavar="COLUMN", help="Column of the events that is decoded.")
]
Classes = Annotated[
    str | None, typer.Option("--classes", metavar="A,B", help="Only these values of the target.")
]
Folds = Annotated[
    int | None,
    typer.Option("--folds", metavar="N", help="Most folds in time of your own recordings; by default 5."),
]
HighPass = Annotated[
    float | None,
    typer.Option(
        "--high-pass",
        min=0,
        metavar="HZ",
        help="Remove slower drifts of your own recordings; by default 0.5 Hz for voltage, 0 leaves them.",
    ),
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write into.")]


# What each kind of command would ignore, by the names of its parameters.
_OF_OWN = ("events", "target", "classes", "folds", "high_pass")
_OF_BENCHMARKS = ("split", "data", "option")
_OF_PAGES = ("as_published", "parts")
_OF_COMPUTING = (
    *("split", "option", "window", "stride", "tmin", "tmax", "features", "null", "seed"),
    *("workers", "cache", "engine", "engine_option", "pack", "scheduler", "shard"),
)


def map_things(
    context: typer.Context,
    source: Source = None,
    recording: Recording = None,
    events: Events = None,
    target: Target = None,
    classes: Classes = None,
    folds: Folds = None,
    high_pass: HighPass = None,
    out: Out = Path("map"),
    split: options.Split = None,
    data: options.Data = None,
    option: options.Option = None,
    window: Window = None,
    stride: Stride = None,
    tmin: First = None,
    tmax: Last = None,
    features: Features = None,
    null: Null = 1000,
    seed: options.Seed = 0,
    workers: options.Workers = None,
    cache: options.Cache = None,
    engine: options.Engine = "local",
    engine_option: options.EngineOption = None,
    pack: options.Pack = None,
    scheduler: options.Scheduler = None,
    shard: options.Shard = None,
    as_published: AsPublished = False,
    label: Label = None,
    parts: With = None,
    as_json: options.Json = False,
) -> None:
    """Compute a map of electrodes and time bins with its null, or draw one that was computed."""
    options.check_out(out)
    _check_source(context, source, recording)
    if source is not None and _holds_map(source):
        _draw(source, out, as_json, as_published=as_published, label=label, wanted=parts or [], data=data)
        return
    share = _read_share(shard, label)
    settings = _read_settings(window, stride, tmin, tmax, features, null, seed)
    told: dict[str, Any] = {"cache": cache}
    told["engine"] = options.choose_engine(engine, workers, pack, scheduler, engine_option or [])
    if recording is not None:
        question = _read_question(target, classes, folds, high_pass)
        asked = _ask_own(recording, events, question, settings)
    else:
        asked = _ask(str(source), split, data, option or [], settings)
    if share is not None:
        _compute_share(share, {**asked, **told}, as_json)
        return
    grid = _compute({**asked, **told}, data)
    if recording is not None:
        from neuroarena.maps.own import name_source

        grid = name_source(grid, recording, question)
    _finish(grid, out, as_json, drawn=recording is not None, label=label)


def _check_source(context: typer.Context, source: str | None, recording: Path | None) -> None:
    """Refuse a command that names nothing, or two things, or options that it would ignore."""
    from neuroarena.errors import InputError

    if (source is None) == (recording is None):
        raise InputError(
            "Name a benchmark to compute a map of, a folder with a map to draw, or your own --recording; one of them."
        )
    if recording is not None:
        _refuse(context, (*_OF_BENCHMARKS, *_OF_PAGES), "--recording")
        return
    _refuse(context, _OF_OWN, "anything but --recording")
    if _holds_map(str(source)):
        _refuse(context, _OF_COMPUTING, "a map that was computed before: it is only drawn")
    else:
        later = (
            "a benchmark, whose map is computed here and drawn afterwards, with neuroarena map DIR --out PAGE"
        )
        _refuse(context, (*_OF_PAGES, "label"), later)


def _refuse(context: typer.Context, names: tuple[str, ...], what: str) -> None:
    """Refuse those of some parameters that were given, also where their value is the usual one."""
    flags = {str(each.name): each.opts[0] for each in context.command.params}
    sources = {name: context.get_parameter_source(name) for name in names}
    given = [flags[name] for name, source in sources.items() if source and source.name == "COMMANDLINE"]
    options.refuse_unused(dict.fromkeys(given, True), what)


def _read_share(text: str | None, label: str | None) -> Shard | None:
    """Read a share of a map; refuse what only matters once the map is assembled."""
    from neuroarena.evaluation.shards import Shard

    if text is None:
        return None
    options.refuse_unused(
        {"--label": label},
        "--shard, which computes pieces and draws nothing; name it when the map is assembled",
    )
    return Shard.parse(text)


def _read_settings(
    window: float | None,
    stride: float | None,
    tmin: float | None,
    tmax: float | None,
    features: Any,
    null: int,
    seed: int,
) -> MapSettings:
    from neuroarena.maps.settings import MapSettings

    return MapSettings(window, stride, tmin, tmax, features, null, seed)


def _holds_map(source: str) -> bool:
    """Return whether a name is a map that was computed, rather than a benchmark."""
    from neuroarena.maps.grid import GRID_FILE

    path = Path(source)
    return path.suffix == ".nc" or (path / GRID_FILE).is_file()


def _draw(source: str, out: Path, as_json: bool, **told: Any) -> None:
    """Draw a map and show what is in it."""
    from neuroarena.cli.drawing_maps import draw_map
    from neuroarena.maps.grid import read_grid

    grid = read_grid(source)
    page = draw_map(grid, out, **told)
    _print_map(grid, Path(source), as_json, page)
    if not as_json:
        print(f"Every picture, and what it shows: {page}")


def _ask(
    source: str, split: str | None, data: str | None, option: list[str], settings: MapSettings
) -> dict[str, Any]:
    """Return what a map of a benchmark is computed from."""
    from neuroarena.benchmarks import load_benchmarks, resolve
    from neuroarena.benchmarks.faces import find_face

    sys.path.insert(0, "")  # a benchmark may be given as module:attribute of a file in this folder
    loaded = load_benchmarks(source, data, **options.parse_values(option))
    family = find_face(resolve(source)[0], "maps")
    return {"benchmarks": loaded, "split": split, "settings": settings, "family": family}


def _read_question(
    target: str | None, classes: str | None, folds: int | None, high_pass: float | None
) -> OwnQuestion:
    from neuroarena.errors import InputError
    from neuroarena.maps.own import FOLDS, OwnQuestion

    if target is None:
        raise InputError("Say which column of the events is decoded, with --target COLUMN.")
    names = tuple(each.strip() for each in classes.split(",")) if classes else ()
    return OwnQuestion(target, names, FOLDS if folds is None else folds, high_pass)


def _ask_own(
    recording: Path, events: Path | None, question: OwnQuestion, settings: MapSettings
) -> dict[str, Any]:
    """Return what a map of somebody's own recordings is computed from."""
    from neuroarena.maps.own import own_benchmark

    benchmark, filled = own_benchmark(recording, events, question, settings)
    return {"benchmarks": [benchmark], "settings": filled}


def _compute(asked: dict[str, Any], data: str | None) -> MapGrid:
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.maps.compute import compute_map

    with TerminalProgress() as progress:
        return compute_map(**asked, data=data, progress=progress)


def _compute_share(shard: Shard, asked: dict[str, Any], as_json: bool) -> None:
    """Compute one share of a map into the cache, and say how much it was."""
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.maps.compute import compute_map_share

    with TerminalProgress() as progress:
        done = compute_map_share(**asked, shard=shard, progress=progress)
    if as_json:
        told = {"shard": f"{shard.number}/{shard.of}", "pieces": done.pieces, "planned": done.planned}
        print_json(told)
        return
    print(
        f"Share {shard.number} of {shard.of}: its {done.pieces} of {done.planned} pieces of the map are in the cache. "
        "When every share is done, the same command without --shard assembles the map."
    )


def _finish(grid: MapGrid, out: Path, as_json: bool, *, drawn: bool, label: str | None) -> None:
    """Write the map and say what is in it; one of somebody's own recordings is drawn beside it, with this label."""
    from neuroarena.cli.drawing_maps import draw_map
    from neuroarena.maps.grid import write_grid

    written = write_grid(grid, out)
    page = None
    if drawn:
        page = draw_map(grid, out, as_published=False, label=label, wanted=[], data=None)
    _print_map(grid, written, as_json, page)
    if not as_json:
        how = f"Draw it with: neuroarena map {out} --out PAGE" if page is None else f"Look at {page}"
        print(f"The map is in {written}. {how}")


def _print_map(grid: MapGrid, written: Path, as_json: bool, page: Path | None = None) -> None:
    """Print one row per task, and notes on standard error."""
    rows = _summarise(grid)
    for note in grid.notes:
        print(f"note: {note}", file=sys.stderr)
    if as_json:
        told = {"map": str(written), "split": grid.split, "simulated": grid.simulated, "tasks": rows}
        print_json(told if page is None else {**told, "page": str(page)})
        return
    columns = ["task", "sessions", "electrodes", "significant", "best", "electrode", "centre_s", "p"]
    mark = " (simulated)" if grid.simulated else ""
    print_table(columns, [[str(row[column]) for column in columns] for row in rows], title=f"map{mark}")


def _summarise(grid: MapGrid) -> list[dict[str, object]]:
    """Return one row per task: how much is significant, the best cell of the mean over sessions, and the smallest p."""
    import numpy as np

    from neuroarena.maps.summaries import average_sessions, corrected_p, significant_electrodes

    rows: list[dict[str, object]] = []
    for task in grid.tasks:
        values = average_sessions(grid, task)
        electrode, place = np.unravel_index(np.nanargmax(values), values.shape)
        p = corrected_p(grid, task)
        rows.append(
            {
                "task": task,
                "sessions": int(np.isfinite(grid.data["n_test"].sel(task=task).values).sum()),
                "electrodes": int(np.isfinite(values).all(axis=1).sum()),
                "significant": int(significant_electrodes(grid, task).sum()) if grid.permutations else "-",
                "best": round(float(values[electrode, place]), 4),
                "electrode": str(grid.data["electrode"].values[electrode]),
                "centre_s": round(float(grid.bins["centre_s"].iloc[place]), 4),
                "p": round(float(np.nanmin(p)), 4) if grid.permutations else "-",
            }
        )
    return rows
