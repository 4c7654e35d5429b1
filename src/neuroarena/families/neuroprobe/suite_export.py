"""``neuroarena export neuroprobe-run``: from a checkpoint to a checked submission folder in one command."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli import options
from neuroarena.families.neuroprobe import exporters

if TYPE_CHECKING:
    from neuroarena.evaluation import Result

DEFINITION = "2025.10"


Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="MODULE:NAME",
        help="A torch module, or a class or function that makes one, of a file in this folder.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option("--checkpoint", metavar="FILE", help="Its weights: safetensors, or torch.save."),
]
Pooled = Annotated[str, typer.Option("--pooling", metavar="mean|flatten", help="Of embeddings.")]
Finetune = Annotated[
    bool, typer.Option("--finetune", help="Train the encoder with its head; by default it is frozen.")
]
Device = Annotated[str, typer.Option("--device", help="As torch names it.")]
Named = Annotated[
    str | None,
    typer.Option("--decoder", "-d", help="A decoder by name or module:attribute, in place of an encoder."),
]
Model = Annotated[
    str | None, typer.Option("--model", help="Name on the leaderboard; by default that of the card.")
]
Some = Annotated[
    list[str] | None, typer.Option("--split", "-s", help="Split; may be repeated. By default all three.")
]
Runs = Annotated[Path, typer.Option("--results", metavar="DIR", help="Folder to keep the runs in.")]


def export_suite(
    author: exporters.Author,
    out: exporters.Out,
    encoder: Encoder = None,
    checkpoint: Checkpoint = None,
    pooling: Pooled = "mean",
    finetune: Finetune = False,
    device: Device = "auto",
    decoder: Named = None,
    model: Model = None,
    pretraining: exporters.Card = None,
    attest: exporters.Attest = False,
    organization: exporters.Organization = "",
    description: exporters.Description = "",
    data: options.Data = None,
    split: Some = None,
    results: Runs = Path("results"),
    workers: options.Workers = None,
    cache: options.Cache = None,
    allow_simulated: exporters.AllowSimulated = False,
    as_json: options.Json = False,
) -> None:
    """Run every task and split with an encoder, write the submission folder, and check it by the official rules."""
    from neuroarena.families.neuroprobe.submission_export import export_submission

    sys.path.insert(0, "")  # an encoder may be module:attribute of a file in this folder
    _check_choice(encoder, checkpoint, finetune, decoder)
    card = exporters.check_pretraining(pretraining, attest)
    name = model or (card.model if card is not None else None) or decoder or str(encoder).partition(":")[2]
    _check_words(name, author, organization, description)
    judged = _make_decoder(encoder, checkpoint, pooling, finetune, device, decoder)
    runs = _run_suite(name, judged, data, split, results, workers, cache, allow_simulated)
    folder = export_submission(
        runs,
        out,
        author=author,
        organization=organization,
        description=description,
        attest=attest,
        allow_simulated=allow_simulated,
    )
    exporters.print_verdict(folder, as_json)


def _check_words(name: str, author: str, organization: str, description: str) -> None:
    """Refuse what cannot be written into a submission before hours are spent."""
    import datetime

    from neuroarena.families.neuroprobe.submission_writer import Header

    Header(name, author, DEFINITION, datetime.datetime.now(datetime.UTC), organization, "", description)


def _check_choice(encoder: str | None, checkpoint: Path | None, finetune: bool, decoder: str | None) -> None:
    from neuroarena.errors import InputError

    if (encoder is None) == (decoder is None):
        raise InputError("Name what is to be judged: either --encoder MODULE:NAME or --decoder NAME.")
    if decoder is not None:
        options.refuse_unused(
            {"--checkpoint": checkpoint, "--finetune": finetune}, "--decoder; they belong to --encoder"
        )


def _make_decoder(
    encoder: str | None,
    checkpoint: Path | None,
    pooling: str,
    finetune: bool,
    device: str,
    decoder: str | None,
) -> Any:
    from neuroarena.decoders import from_encoder, load_decoder

    if decoder is not None:
        return load_decoder(decoder)
    return from_encoder(
        str(encoder),
        pooling,  # type: ignore[arg-type]  # refused by name where it is none
        checkpoint=checkpoint,
        finetune=finetune,
        device=device,
    )


def _run_suite(
    name: str,
    judged: Any,
    data: str | None,
    split: list[str] | None,
    out: Path,
    workers: int | None,
    cache: Path | None,
    allow_simulated: bool,
) -> list[Result]:
    """Run all tasks on the splits asked for, by default all three; finished runs are not computed again.

    Raises
    ------
    InputError
        For simulated recordings that were not allowed, and when a run failed; nothing is exported then.
    """
    from neuroarena.benchmarks import load_benchmarks
    from neuroarena.errors import InputError
    from neuroarena.evaluation import TerminalProgress, available_cores, evaluate_all
    from neuroarena.families.neuroprobe.folds import SPLITS

    options.check_out(out)
    tasks = load_benchmarks(f"neuroprobe@{DEFINITION}", data)
    if tasks[0].simulated and not allow_simulated:
        raise InputError(
            "These recordings are simulated, and the leaderboard judges real ones. Name the folder of BrainTreebank "
            "with --data, or try the way with --allow-simulated."
        )
    with TerminalProgress() as progress:
        runs = evaluate_all(
            [(name, judged)],
            tasks,
            list(split or SPLITS),
            out=out,
            workers=workers or available_cores(),
            cache=cache,
            progress=progress,
        )
    failed = [run for run in runs if not run.complete]
    if failed:
        first = failed[0].record
        raise InputError(
            f"{len(failed)} of {len(runs)} runs failed, the first on {first.benchmark.name}, {first.split.name}: "
            f"{first.failed_cells[0].error}. Mend it and start again; finished cells are not computed again."
        )
    return runs
