"""The file competition.yaml of a Codabench bundle, as plain data: phases, caps, the board and its columns."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Any

from neuroarena.competition.configuration import Competition
from neuroarena.competition.phases import Phase
from neuroarena.competition.tracks import Track
from neuroarena.errors import InputError
from neuroarena.scoring import METRICS, Manifest

PRECISION = 6
LONGEST_COLUMN = 36
LONGEST_TITLE = 64
# Zero would mean "no limit" in one field and be ignored in another; this many nobody reaches.
NO_CAP = 1_000_000
SECONDS = 600  # what the platform's common queue allows
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_ONE_SECOND = datetime.timedelta(seconds=1)


def describe_competition(
    competition: Competition, track: Track, phases: Sequence[Phase], manifest: Manifest, image: str
) -> dict[str, Any]:
    """Return what competition.yaml says about one track.

    Parameters
    ----------
    competition : Competition
    track : Track
    phases : sequence of Phase
        Those in which the track is open, in order.
    manifest : Manifest
    image : str
        The container that the scoring program runs in.

    Raises
    ------
    InputError
        When the track has no phase, or the name of the container is too long for the platform.
    """
    if not phases:
        raise InputError(f'No phase takes the track "{track.name}". Nothing was written.')
    if len(image) > 128:
        raise InputError("The name of the container has more than 128 characters. Nothing was written.")
    sealed = any(phase.sealed for phase in phases)
    said: dict[str, Any] = {
        "version": 2,
        "title": f"{competition.title}: {track.title}",
        "description": manifest.question,
        "image": "logo.png",
        "terms": "terms.md",
        "registration_auto_approve": False,
        "docker_image": image,
        "enable_detailed_results": not sealed,
        "show_detailed_results_in_submission_panel": not sealed,
        "show_detailed_results_in_leaderboard": False,
        "auto_run_submissions": True,
        "can_participants_make_submissions_public": False,
        "make_programs_available": False,
        "make_input_data_available": False,
        "competition_type": "competition",
    }
    if _EMAIL.fullmatch(competition.contact):
        said["contact_email"] = competition.contact
    said["pages"] = [
        {"title": "Overview", "file": "pages/overview.md"},
        {"title": "Evaluation", "file": "pages/evaluation.md"},
        {"title": "How to submit", "file": "pages/submit.md"},
    ]
    said["tasks"] = [
        {
            "index": 0,
            "name": track.title,
            "description": manifest.question,
            "scoring_program": "scoring_program.zip",
            "reference_data": "reference_data.zip",
        }
    ]
    said["solutions"] = [{"index": 0, "tasks": [0], "path": "solution.zip", "name": "Constant answers"}]
    said["phases"] = describe_phases(phases)
    said["leaderboards"] = [describe_board(manifest, hidden=sealed)]
    return said


def describe_phases(phases: Sequence[Phase]) -> list[dict[str, Any]]:
    """Return the phases in UTC, each ending before the next one starts."""
    following = [phase.start for phase in phases[1:]]
    described = []
    for index, phase in enumerate(phases):
        end = phase.end if index == len(following) else min(phase.end, following[index] - _ONE_SECOND)
        described.append(
            {
                "index": index,
                "name": phase.title,
                "description": f"Display: {phase.display}.",
                "start": format_plain(phase.start),
                "end": format_plain(end),
                "tasks": [0],
                **describe_caps(phase),
                "execution_time_limit": SECONDS,
                "auto_migrate_to_this_phase": False,
                # Whatever a scorer says about sealed data is a way to ask for labels.
                "hide_output": phase.sealed,
                "hide_prediction_output": phase.sealed,
                "hide_score_output": phase.sealed,
                "starting_kit": "starting_kit.zip",
            }
        )
    return described


def describe_caps(phase: Phase) -> dict[str, int]:
    """Return both caps of a phase, neither of them zero, which would mean that there is no limit.

    The platform counts by person and not by team.
    """
    days = (phase.end.date() - phase.start.date()).days + 1
    per_day = phase.per_day or phase.in_total or NO_CAP
    in_total = phase.in_total or (phase.per_day * days if phase.per_day else NO_CAP)
    return {"max_submissions_per_day": per_day, "max_submissions": in_total}


def describe_board(manifest: Manifest, *, hidden: bool) -> dict[str, Any]:
    """Return the board: the score, then the tie-break; the best submission of a person counts."""
    columns = [_describe_column(0, "score", manifest.metric)]
    if manifest.tie_break is not None:
        columns.append(_describe_column(1, "tie_break", manifest.tie_break))
    return {
        "title": shorten(manifest.title, LONGEST_TITLE),
        "key": "results",
        "hidden": hidden,
        "submission_rule": "Force_Best",
        "primary_index": 0,
        "columns": columns,
    }


def format_plain(time: datetime.datetime) -> str:
    """Format a time in UTC without its zone: the platform drops a zone instead of converting it."""
    return f"{time.astimezone(datetime.UTC):%Y-%m-%d %H:%M:%S}"


def shorten(words: str, longest: int) -> str:
    """Return the words, cut to the platform's limit if they exceed it."""
    return words if len(words) <= longest else f"{words[: longest - 3].rstrip()}..."


def _describe_column(index: int, key: str, metric: str) -> dict[str, Any]:
    sorting = "desc" if METRICS.get(metric).direction == "higher" else "asc"
    title = shorten(metric.replace("_", " "), LONGEST_COLUMN)
    return {"index": index, "key": key, "title": title, "sorting": sorting, "precision": PRECISION}
