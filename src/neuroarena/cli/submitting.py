"""``neuroarena submit``, ``status``, ``withdraw`` and ``worker``: a team's side of a competition, and its judge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from neuroarena.cli.options import Json
from neuroarena.cli.output import format_value, print_json, print_table
from neuroarena.cli.remote import Url, open_remote, send

if TYPE_CHECKING:
    from neuroarena.competition.arena import Arena as OpenArena
    from neuroarena.competition.queue import Job

Arena = Annotated[Path, typer.Option("--arena", metavar="DIR", help="Folder of the competition.")]
ArenaOrServer = Annotated[
    Path | None, typer.Option("--arena", metavar="DIR", help="Folder of the competition.")
]
TokenFile = Annotated[
    Path | None,
    typer.Option(
        "--token-file",
        metavar="FILE",
        help="File with your team's token; by default NEUROARENA_TOKEN is read.",
    ),
]
Model = Annotated[
    str | None, typer.Option("--model", help="What boards call code; predictions say it themselves.")
]
ExternalData = Annotated[
    list[str] | None,
    typer.Option("--external-data", metavar="NAME", help="Other data that code was trained on; repeat."),
]
NoExternalData = Annotated[
    bool, typer.Option("--no-external-data", help="Code was trained on the track's own data alone.")
]
DocumentName = Annotated[
    str | None,
    typer.Option("--document", metavar="NAME", help="The file is a document that the competition asks for."),
]
AcceptTerms = Annotated[
    bool, typer.Option("--accept-terms", help="Accept the competition's terms for your team.")
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Check the file and the caps; nothing is sent or counted.")
]
Key = Annotated[
    str | None,
    typer.Option("--key", help="A repeated post with the same key is one submission."),
]
Pipeline = Annotated[
    Path | None,
    typer.Option("--pipeline", metavar="ZIP", help="Commit the training that made FILE, for the audit."),
]
Commits = Annotated[
    str | None,
    typer.Option("--commits", metavar="ID", help="FILE is the training of this submission of yours."),
]


def submit(
    track: Annotated[str, typer.Argument(help="Name of a track of the competition.")],
    file: Annotated[
        Path, typer.Argument(help="Predictions (neuroarena.write_submission), code in a zip, or a document.")
    ],
    arena: ArenaOrServer = None,
    url: Url = None,
    token_file: TokenFile = None,
    accept_terms: AcceptTerms = False,
    dry_run: DryRun = False,
    key: Key = None,
    pipeline: Pipeline = None,
    commits: Commits = None,
    model: Model = None,
    external_data: ExternalData = None,
    no_external_data: NoExternalData = False,
    document: DocumentName = None,
    as_json: Json = False,
) -> None:
    """Submit predictions or code to a competition, and print the receipt; a refused file costs no attempt."""
    from neuroarena import competition
    from neuroarena.competition.teams import find_team
    from neuroarena.errors import InputError

    if external_data and no_external_data:
        raise InputError("Name external data, or say --no-external-data; both is not possible.")
    if url is not None:
        _refuse_remotely({"--accept-terms": accept_terms, "--document": document, "--pipeline": pipeline})
        kind = "pipeline" if commits else None
        named: dict[str, Any] = {"track": track, "key": key, "model": model, "commits": commits, "kind": kind}
        named |= {
            "external_data": ",".join(external_data or ()),
            "no_external_data": no_external_data and "yes",
        }
        _submit_remotely(url, _read_token(token_file), file, named, dry_run, as_json)
        return
    opened, token = competition.open_arena(_demand_folder(arena)), _read_token(token_file)
    if accept_terms and not dry_run:
        competition.accept_terms(opened, find_team(opened, token, "submit"))
    if document is not None:
        _hand_in(opened, token, track, document, file, as_json)
        return
    if dry_run:
        kind = None if commits is None else "pipeline"
        checked = competition.dry_run(opened, token, track, file, kind=kind, accepting=accept_terms)
        answer = {"accepted": True, "model": checked.model, "rows": checked.rows}
        rows = "" if checked.rows is None else f"{checked.rows} rows, "
        sentence = f"{file.name}: {rows}would be taken now. Nothing was sent."
        print_json(answer) if as_json else print(sentence)
        return
    if commits is not None:
        sent = competition.submit(opened, token, track, file, kind="pipeline", key=key, commits=commits)
    else:
        declared = () if no_external_data else tuple(external_data) if external_data else None
        sent = competition.submit(opened, token, track, file, key=key, model=model, external_data=declared)
    _show_receipt(competition.read_receipt(opened, token, sent), as_json)
    if pipeline is not None:
        kept = competition.submit(opened, token, track, pipeline, kind="pipeline", commits=sent)
        _show_receipt(competition.read_receipt(opened, token, kept), as_json)


def _demand_folder(arena: Path | None) -> Path:
    from neuroarena.errors import InputError

    if arena is None:
        raise InputError("Name the competition: --arena DIR for a folder, or --url URL for a server.")
    return arena


def _submit_remotely(
    url: str, token: str, file: Path, named: dict[str, Any], dry_run: bool, as_json: bool
) -> None:
    """Send a file to a server, and print the receipt, or the checker's verdict."""
    fields = {name: str(value) for name, value in named.items() if value}
    answer = send(open_remote(url, token), file, fields, dry_run)
    if not dry_run:
        _show_receipt(answer, as_json)
    elif as_json:
        print_json(answer)
    else:
        print(f"{file.name}: would be taken now. No attempt was used.")


def _refuse_remotely(given: dict[str, Any]) -> None:
    """Refuse what a server does not take from programs: its pages do."""
    from neuroarena.errors import InputError

    for name, value in given.items():
        if value:
            raise InputError(f"{name} needs the folder of the competition; on a server, use its pages.")


def _hand_in(opened: Any, token: str, track: str, document: str, file: Path, as_json: bool) -> None:
    from neuroarena.competition.documents import hand_in_document

    kept = hand_in_document(opened, token, track, document, file)
    print_json({"id": kept}) if as_json else print(f"{kept}: {file.name} is kept as your {document}.")


def _show_receipt(receipt: dict[str, Any], as_json: bool) -> None:
    """Print a receipt, and end with the exit code of bad input if it was refused."""
    from neuroarena.errors import InputError

    if receipt["state"] == "refused" and not as_json:
        raise InputError(f"Refused, and no attempt counted ({receipt['id']}): {receipt['reason']}")
    print_json(receipt) if as_json else _print_receipt(receipt)
    if receipt["state"] == "refused":
        raise typer.Exit(2)


def status(
    arena: ArenaOrServer = None,
    url: Url = None,
    token_file: TokenFile = None,
    submission: Annotated[str | None, typer.Argument(help="Id of a submission; without it, all.")] = None,
    as_json: Json = False,
) -> None:
    """Print the receipt of a submission, or list all of your team's."""
    from neuroarena import competition

    token = _read_token(token_file)
    if url is not None:
        remote = open_remote(url, token)
        if submission is None:
            _list(remote.list_submissions(), as_json)
            return
        receipt = remote.read_receipt(submission)
    else:
        opened = competition.open_arena(_demand_folder(arena))
        if submission is None:
            _list(competition.list_submissions(opened, token), as_json)
            return
        receipt = competition.read_receipt(opened, token, submission)
    print_json(receipt) if as_json else _print_receipt(receipt)


def _list(rows: list[dict[str, Any]], as_json: bool) -> None:
    if as_json:
        print_json(rows)
    elif rows:
        columns = list(rows[0])
        print_table(
            columns, [[format_value(row[name]) for name in columns] for row in rows], unbroken=("id",)
        )
    else:
        print("Your team has submitted nothing yet.")


def withdraw(
    submission: Annotated[str, typer.Argument(help="Id of the submission.")],
    arena: Arena,
    token_file: TokenFile = None,
) -> None:
    """Withdraw a submission that is not being scored yet."""
    from neuroarena import competition

    opened = competition.open_arena(arena)
    competition.withdraw(opened, _read_token(token_file), submission)
    print(f"{submission} is withdrawn.")


def worker(
    arena: Arena,
    labels: Annotated[
        str, typer.Option("--labels", help="Kinds of work to take, with commas: intake, scorer, cpu, gpu.")
    ] = "intake,scorer",
    until_idle: Annotated[
        bool, typer.Option("--until-idle", help="End when there is nothing to do.")
    ] = False,
    beside: Annotated[
        str,
        typer.Option(
            "--beside",
            help="Labels of workers started together with this one: with --until-idle, end when they have nothing "
            "to do either.",
        ),
    ] = "",
    soft_limits: Annotated[
        bool,
        typer.Option(
            "--soft-limits", help="Run code of sealed phases where no control group enforces its limits."
        ),
    ] = False,
) -> None:
    """Check and score submissions until stopped; any number of workers share the work."""
    import signal
    import sys
    import threading

    from neuroarena.competition import open_arena, work
    from neuroarena.competition.runner import accept_soft_limits
    from neuroarena.competition.worker import LABELS
    from neuroarena.errors import InputError

    # A runner is a worker that runs code; which machine it is says the other label.
    wanted = [label for label in (each.strip() for each in labels.split(",")) if label != "runner"] or ["cpu"]
    others = [each.strip() for each in beside.split(",") if each]
    unknown = [label for label in (*wanted, *others) if label not in LABELS]
    if unknown:
        raise InputError(f'There is no work of the kind "{unknown[0]}". Kinds: {", ".join(LABELS)}.')
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())

    def report(job: Job, outcome: str) -> None:
        print(f"{job.run}  {job.state}  {outcome}", file=sys.stderr)

    opened = open_arena(arena)
    if {"cpu", "gpu"} & set(wanted):
        prepare_sandbox(opened)
    if soft_limits:
        accept_soft_limits(opened)
    done = work(opened, wanted, until_idle=until_idle, stop=stop, report=report, beside=others)
    print(f"{done} jobs done" if done != 1 else "1 job done")


def prepare_sandbox(arena: OpenArena) -> None:
    """Find the runtime of guests that a competition names; where it names none, build this interpreter's."""
    from neuroarena.competition.runtimes import read_chosen_runtime
    from neuroarena.evaluation import TerminalProgress
    from neuroarena.sandbox.runtime import find_runtime, using_runtime

    with using_runtime(read_chosen_runtime(arena)), TerminalProgress() as progress:
        find_runtime(progress)


def _read_token(file: Path | None) -> str:
    """Return the token from its file, or from the environment; never from the command line, which others can read."""
    import os

    from neuroarena.errors import InputError

    if file is not None:
        if not file.is_file():
            raise InputError(f"{file}: there is no such file. Expected your team's token.")
        try:
            return file.read_text(encoding="utf-8").strip()
        except UnicodeDecodeError as error:
            raise InputError(f"{file}: this is not text. Expected your team's token.") from error
    if "NEUROARENA_TOKEN" not in os.environ:
        raise InputError("Name your team's token with --token-file FILE, or set NEUROARENA_TOKEN.")
    return os.environ["NEUROARENA_TOKEN"]


def _print_receipt(receipt: dict[str, Any]) -> None:
    print(
        f"{receipt['id']}  {receipt['state']}  {receipt['track']}, {receipt['phase']}, team {receipt['team']}"
    )
    print(f"  received  {receipt['received_utc']} ({receipt['received_aoe']})")
    print(f"  file      {receipt['file']}, {receipt['bytes']} bytes, sha256 {receipt['sha256']}")
    free = f"; the next is free at {receipt['next_free_utc']}" if receipt["next_free_utc"] else ""
    print(f"  attempt   {receipt['attempt']}; that day {receipt['used']}{free}")
    if receipt["disqualified"]:
        print(f"  disqualified: {receipt['disqualified']}")
    for each in receipt["states"]:
        print(f"  {each['state']:<9} {each['at']}{': ' + each['reason'] if each['reason'] else ''}")
    if receipt["score"] is not None:
        score = receipt["score"]
        edges = "" if score["interval"] is None else " [{:.6g}, {:.6g}]".format(*score["interval"])
        print(f"  score     {score['sentence']}{edges} over {score['n_units']} units")
    print(f"  again     {receipt['replay']}")
