"""Exporters of Neuroprobe: an official submission folder, and the paper's figure and tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import print_json

if TYPE_CHECKING:
    from neuroarena.benchmarks.pretraining import PretrainingCard

Results = Annotated[list[Path], typer.Argument(help="Folders of results, as neuroarena run wrote them.")]
Author = Annotated[str, typer.Option("--author", metavar='"FIRST LAST"', help="First and last name.")]
Organization = Annotated[str, typer.Option("--organization", help="Where the author works.")]
Description = Annotated[str, typer.Option("--description", help="The model in one sentence.")]
AllowSimulated = Annotated[
    bool, typer.Option("--allow-simulated", help="Write simulated runs too, marked as such.")
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="DIR", help="Folder to write into.")]


Attest = Annotated[
    bool,
    typer.Option(
        "--attest",
        help="Sign, in the author's name, that the official splits were respected and that the model was "
        "not pretrained on data of Neuroprobe. Without it the attestation reads N/A. Runs whose items differ "
        "from the published ones are refused, and so is a model without a pretraining card.",
    ),
]
Card = Annotated[
    Path | None,
    typer.Option(
        "--pretraining",
        metavar="FILE",
        help="Pretraining card (TOML): datasets, sessions and time ranges. Needed with --attest.",
    ),
]


def export_neuroprobe(
    results: Results,
    author: Author,
    out: Out,
    decoder: Annotated[
        str | None, typer.Option("--decoder", "-d", help="Decoder to export, where there are several.")
    ] = None,
    split: Annotated[
        list[str] | None,
        typer.Option("--split", "-s", help="Split; may be repeated. By default all splits with runs."),
    ] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Name on the leaderboard; by default the decoder's.")
    ] = None,
    organization: Organization = "",
    organization_url: Annotated[str, typer.Option("--organization-url", help="Its address.")] = "",
    description: Description = "",
    bib: Annotated[
        Path | None, typer.Option("--bib", metavar="FILE", help="BibTeX entry of the publication.")
    ] = None,
    attest: Attest = False,
    pretraining: Card = None,
    allow_simulated: AllowSimulated = False,
    as_json: Json = False,
) -> None:
    """Write the runs of one decoder as an official submission folder, whole or not at all."""
    from neuroarena.evaluation import find_results, load_result
    from neuroarena.families.neuroprobe.submission_export import export_submission

    check_pretraining(pretraining, attest)
    folder = export_submission(
        [load_result(found) for found in find_results(results)],
        out,
        author=author,
        decoder=decoder,
        model_name=model,
        organization=organization,
        organization_url=organization_url,
        description=description,
        bib=None if bib is None else _text_of(bib),
        attest=attest,
        allow_simulated=allow_simulated,
        splits=split or None,
    )
    print_verdict(folder, as_json)


def print_verdict(folder: Path, as_json: bool) -> None:
    """Check a folder that was written, and print where it is and what the rules say."""
    from neuroarena.families.neuroprobe.submission_verdict import check_submission

    verdict = check_submission(folder)
    if as_json:
        print_json({**verdict.to_dict(), "path": str(folder)})
        return
    mark = " (simulated)" if verdict.simulated else ""
    print(f"{folder}{mark}")
    print(f"definition {verdict.definition}. {verdict.sentence}")


def check_pretraining(card: Path | None, attest: bool) -> PretrainingCard | None:
    """Return the card; refuse an attestation without one, and a card that names judged data.

    Raises
    ------
    InputError
    """
    from neuroarena.benchmarks.pretraining import check_card
    from neuroarena.errors import InputError
    from neuroarena.families.neuroprobe.pretraining import RULES

    if attest and card is None:
        raise InputError(
            "--attest signs that the model was not pretrained on judged data, which a pretraining card must show: add "
            '--pretraining FILE. For a model without pretraining the file holds schema_version = 1 and model = "NAME".'
        )
    return None if card is None else check_card(card, RULES)


def _text_of(path: Path) -> str:
    from neuroarena.errors import InputError

    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as text: {error}. Expected a BibTeX entry.") from error


def export_paper(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Folders of results, submission folders, or folders that contain them."),
    ],
    out: Out,
    split: Annotated[str | None, typer.Option("--split", help="Only this split.")] = None,
    allow_mixed: Annotated[
        bool,
        typer.Option("--allow-mixed", help="Show models of different definitions side by side, marked."),
    ] = False,
    draws: Annotated[int | None, typer.Option("--draws", help="Bootstrap draws. Default: 10000.")] = None,
    as_json: Json = False,
) -> None:
    """Write the Neuroprobe paper's bar figure and tables, from our results and submissions side by side."""
    from neuroarena.board.rules import Rules
    from neuroarena.board.wording import clean_name
    from neuroarena.families.neuroprobe.paper import paper_data, read_paper, write_paper

    made = read_paper(paths, split=split, allow_mixed=allow_mixed, rules=Rules.of(n_draws=draws))
    for note in made.notes:
        typer.echo(f"note: {clean_name(note)}", err=True)
    written = write_paper(made, out)
    if as_json:
        print_json({**paper_data(made), "files": [str(path) for path in written]})
        return
    for path in written:
        print(path)


EXPORTERS = {
    "neuroprobe": export_neuroprobe,
    "neuroprobe-run": "neuroarena.families.neuroprobe.suite_export:export_suite",
    "paper": export_paper,
}
