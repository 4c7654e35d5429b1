"""``neuroarena brainscore``, the old name of ``neuroarena run brainscore/NAME -d MODEL``, and ``brainscore-layers``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json, print_table

if TYPE_CHECKING:
    from neuroarena.evaluation import Result
    from neuroarena.families.brainscore.comparison import NeuralComparison
    from neuroarena.families.brainscore.models import LayerChoice


def brainscore(
    model: Annotated[
        str, typer.Argument(help="Name of a model (pixels, tiny-cnn), or module:function of a file here.")
    ],
    benchmarks: Annotated[list[str], typer.Argument(help="Names such as MajajHong2015.IT-pls.")],
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DIR", help="Folder of the recordings; by default $NEUROARENA_BRAINSCORE."
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option("--version", metavar="N", help="Version of the benchmarks: 3 scores by (r / c)^2."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Also keep the scores, for neuroarena board."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare a model of vision with recordings; the scores are normalised by what the recordings allow."""
    from neuroarena.benchmarks.options import read_options
    from neuroarena.evaluation.comparisons import judge_models
    from neuroarena.families.brainscore import load_model
    from neuroarena.families.brainscore.family import FAMILY, LATEST, BrainScoreOptions

    sys.path.insert(0, "")  # a model may be given as module:function of a file in this folder
    candidate = load_model(model)
    given = {} if version is None else {"version": version}
    chosen = read_options(BrainScoreOptions, given, "brainscore", benchmarks[0])
    comparisons = [
        FAMILY.load(name.removeprefix(f"{FAMILY.name}/"), LATEST, data, chosen) for name in benchmarks
    ]
    results = judge_models([(None, candidate)], comparisons, out=out)
    rows = [_row(result, asked) for result, asked in zip(results, comparisons, strict=True)]
    if as_json:
        print_json(rows)
        _exit_with_failures(results)
        return
    columns = ("benchmark", "score", "error", "raw", "ceiling", "formula")
    shown = [[_format_cell(row[column]) for column in columns] for row in rows]
    mark = " (simulated recordings)" if any(row["simulated"] for row in rows) else ""
    print_table(columns, shown, f"{candidate.identifier}{mark}")
    for result in results:
        why = result.record.left_out.get("unit_scores")
        if result.complete and out is not None and why is not None:
            print(f"{result.record.task} is kept, but boards cannot rank it: {why}", file=sys.stderr)
    _exit_with_failures(results)


def brainscore_layers(
    model: Annotated[
        str, typer.Argument(help="A model with layers: torchvision/resnet18@FILE, module:function.")
    ],
    benchmarks: Annotated[
        list[str], typer.Argument(help="One for each region, such as MajajHong2015.IT-pls.")
    ],
    layers: Annotated[
        str | None, typer.Option("--layers", metavar="A,B,...", help="Layers to try. Default: all.")
    ] = None,
    components: Annotated[
        int | None,
        typer.Option(
            "--components",
            min=1,
            help="Try this many principal components of wide layers, fitted on --images.",
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option("--images", metavar="DIR", help="Folder of pictures that components are fitted on."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data", metavar="DIR", help="Folder of the recordings; by default $NEUROARENA_BRAINSCORE."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Choose the layer of a model that stands for each region; every picture is shown once, for all layers."""
    from neuroarena.errors import InputError
    from neuroarena.families.brainscore import load_benchmark, load_model
    from neuroarena.families.brainscore.models import RegionModel, choose_layers

    sys.path.insert(0, "")  # a model may be given as module:function of a file in this folder
    candidate = load_model(model)
    if not isinstance(candidate, RegionModel):
        raise InputError(f'"{model}" is a {type(candidate).__name__}, which has no layers to choose from.')
    if (components is None) != (images is None):
        raise InputError(
            "--components and --images belong together: components are fitted on pictures of their own."
        )
    if components is not None and images is not None:
        candidate.reduction = _reduction(components, images)
    asked = [load_benchmark(name, **({} if data is None else {"data": data})) for name in benchmarks]
    choice = choose_layers(candidate, asked, None if layers is None else layers.split(","))
    if as_json:
        print_json({"region_layer_map": choice.region_layer_map, "scores": choice.scores.to_dict("records")})
        return
    _print_choice(choice, candidate.identifier)


def _print_choice(choice: LayerChoice, name: str) -> None:
    best = set(choice.region_layer_map.items())
    rows = [
        [
            row["region"],
            row["layer"],
            _format_cell(row["score"]),
            "chosen" if (row["region"], row["layer"]) in best else "",
        ]
        for row in choice.scores.to_dict("records")
    ]
    print_table(("region", "layer", "score", ""), rows, name)
    print(
        "The best of many layers is too good a guess of itself: report the model on other recordings.",
        file=sys.stderr,
    )


def _reduction(components: int, images: Path) -> Any:
    from neuroarena.errors import InputError
    from neuroarena.families.brainscore.models import Reduction
    from neuroarena.families.brainscore.stimuli import stimuli_from_paths

    found = sorted(path for path in images.glob("*") if path.suffix.lower() in (".png", ".jpg", ".jpeg"))
    if not found:
        raise InputError(f"{images}: there is no picture here (.png, .jpg).")
    return Reduction(components, stimuli_from_paths(found))


def _exit_with_failures(results: list[Result]) -> None:
    """Print to standard error why a model could not be judged, and exit with code 1 where that happened."""
    failed = [result for result in results if not result.complete]
    for result in failed:
        print(f"{result.record.task}: {result.record.failed_cells[0].error}", file=sys.stderr)
    if failed:
        raise typer.Exit(1)


def _row(result: Result, asked: NeuralComparison) -> dict[str, Any]:
    said = {
        name: result.record.reported.get(name) for name in ("score", "error", "raw", "ceiling", "formula")
    }
    return {
        "benchmark": asked.benchmark.identifier,
        "version": asked.benchmark.version,
        "model": result.record.decoder.name,
        **said,
        "n_neuroids": result.record.reported.get("n_neuroids"),
        "simulated": result.record.simulated,
        "folder": None if result.folder is None else str(result.folder),
    }


def _format_cell(value: Any) -> str:
    return "-" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)
