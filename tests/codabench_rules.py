"""The rules of a Codabench bundle and its traps, written down independently of our exporter."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from collections.abc import Iterator
from typing import Any

import yaml

REQUIRED = ("title", "image", "terms", "pages", "tasks", "phases", "leaderboards")
KNOWN = {
    *("version", "title", "description", "image", "terms", "pages", "tasks", "solutions", "phases"),
    *("leaderboards", "registration_auto_approve", "docker_image", "queue", "enable_detailed_results"),
    *("show_detailed_results_in_submission_panel", "show_detailed_results_in_leaderboard"),
    *("auto_run_submissions", "can_participants_make_submissions_public", "make_programs_available"),
    *(
        "make_input_data_available",
        "competition_type",
        "reward",
        "contact_email",
        "forum_enabled",
        "fact_sheet",
    ),
}
RULES = (
    "Add",
    "Add_And_Delete",
    "Add_And_Delete_Multiple",
    "Force_Last",
    "Force_Latest_Multiple",
    "Force_Best",
)
PLAIN_TIME = re.compile(r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}")


def complaints(bundle: bytes) -> list[str]:
    """List everything that is wrong with a bundle."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        names = set(archive.namelist())
        if "competition.yaml" not in names:
            return ["competition.yaml is not at the root"]
        said = yaml.safe_load(archive.read("competition.yaml"))
        sizes = {each.filename: each.file_size for each in archive.infolist()}
    return [
        *top_level(said, sizes),
        *tasks_and_solutions(said, sizes),
        *phases_in_order(said, sizes),
        *boards(said.get("leaderboards")),
    ]


def top_level(said: dict[str, Any], sizes: dict[str, int]) -> Iterator[str]:
    if said.get("version") != 2:
        yield "version is not 2: the bundle is read as one of 1.5"
    yield from (f"{name} is missing" for name in REQUIRED if not said.get(name))
    yield from (f"{name} is not a key of the platform" for name in set(said) - KNOWN)
    pages = said.get("pages") or []
    for name in (said.get("image"), said.get("terms"), *(page.get("file") for page in pages)):
        if not sizes.get(name):
            yield f"the file {name} is missing or empty"
    if len(said.get("docker_image", "")) > 128:
        yield "docker_image is longer than 128"
    if said.get("competition_type") not in ("competition", "benchmark"):
        yield "competition_type is unknown"


def tasks_and_solutions(said: dict[str, Any], sizes: dict[str, int]) -> Iterator[str]:
    indexes = [task.get("index") for task in said["tasks"]]
    if None in indexes or len(set(indexes)) != len(indexes):
        yield "tasks need unique indexes"
    for task in said["tasks"]:
        if "scoring_program" not in task:
            yield "a task has no scoring program"
        for kind in ("scoring_program", "reference_data", "input_data", "ingestion_program"):
            if kind in task and task[kind] not in sizes:
                yield f"{task[kind]} is missing"
    for solution in said.get("solutions", []):
        if not set(solution["tasks"]) <= set(indexes):
            yield "a solution names a task that does not exist"
        if solution["path"] not in sizes or "index" not in solution:
            yield "a solution has no file or index"


def phases_in_order(said: dict[str, Any], sizes: dict[str, int]) -> Iterator[str]:
    indexes = {task["index"] for task in said["tasks"]}
    before: datetime.datetime | None = None
    for place, phase in enumerate(said["phases"]):
        for edge in ("start", "end"):
            if not isinstance(phase.get(edge), str):
                yield f"{edge} of phase {place} is not quoted, so that its time of day is lost"
            elif not PLAIN_TIME.fullmatch(phase[edge]):
                yield f"{edge} of phase {place} carries a zone, which is dropped"
        start, end = (_read(phase[edge]) for edge in ("start", "end"))
        if before is not None and start <= before:
            yield f"phase {place} does not start later than the one before ends"
        if end <= start:
            yield f"phase {place} ends before it starts"
        before = end
        for cap in ("max_submissions", "max_submissions_per_day"):
            if not isinstance(phase.get(cap), int) or phase[cap] < 1:
                yield f"{cap} of phase {place} is missing or zero, which means no limit"
        if not phase.get("tasks") or not set(phase["tasks"]) <= indexes:
            yield f"phase {place} names no task, or one that does not exist"
        if phase.get("starting_kit") not in {None, *sizes}:
            yield f"the starting kit of phase {place} is missing"


def boards(found: Any) -> Iterator[str]:
    if not isinstance(found, list) or len(found) != 1:
        yield "leaderboards must be a list with one board"
        return
    (board,) = found
    if len(board["title"]) > 64 or len(board["key"]) > 36:
        yield "the title or key of the board is too long"
    if board.get("submission_rule") not in RULES:
        yield "the submission rule is not explicit"
    columns = board["columns"]
    if board.get("primary_index") not in [column["index"] for column in columns]:
        yield "primary_index names no column"
    for name in ("key", "index"):
        if len({column[name] for column in columns}) != len(columns):
            yield f"two columns have the same {name}"
    for column in columns:
        if len(column["title"]) > 36 or len(column["key"]) > 36:
            yield f"the title or key of column {column['key']} is too long"
        if column.get("sorting") not in ("asc", "desc"):
            yield f"column {column['key']} has no direction"
        if column.get("precision", 2) < 6:
            yield f"column {column['key']} shows fewer than 6 decimals"


def _read(time: Any) -> datetime.datetime:
    """As the platform does: whatever zone there is, is dropped."""
    return datetime.datetime.fromisoformat(str(time)).replace(tzinfo=None)
