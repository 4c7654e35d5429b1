"""A competition as its site shows it: of every board what is public at a time, and nothing else."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from neuroarena.board.entries import Entry
from neuroarena.board.site.contests import (
    FINAL,
    Contest,
    Fact,
    Heat,
    Scored,
    ShownRow,
    Stretch,
    Words,
)
from neuroarena.competition.arena import Arena
from neuroarena.competition.boards import list_gone, list_shown, make_entries, read_scored
from neuroarena.competition.configuration import Competition
from neuroarena.competition.final import REPRODUCED, choose_finally
from neuroarena.competition.phases import Phase
from neuroarena.competition.prizes import describe_prizes
from neuroarena.competition.reveal import find_reveal
from neuroarena.competition.snapshots import find_public_time, shows_scores
from neuroarena.competition.tables import ANNOUNCEMENT, AUDIT, EVENT, PUBLIC_SCORE, SUBMISSION, TEAM
from neuroarena.competition.times import format_utc, parse_time
from neuroarena.competition.tracks import Track
from neuroarena.scoring import METRICS, Manifest

# What a phase that hides scores says about it, before the reveal.
HIDDEN = {
    "ladder": "Sealed: a value is shown only when it beats the team's best by a step. Unit scores, intervals and "
    "verdicts follow at the reveal.",
    "blind": "Sealed: nothing is shown until the reveal.",
}


def publish_contest(arena: Arena, as_of: datetime.datetime | None = None) -> Contest:
    """Collect what is public of a competition.

    Unit scores are in it for phases that display full scores, and for all phases after the truth was revealed;
    otherwise the values that teams were shown. Addresses of people, logs and reasons of failures never are.

    Parameters
    ----------
    arena : Arena
    as_of : datetime, optional
        What happened later is left out; by default the newest time that is recorded, so that the same competition
        always says the same.
    """
    time = find_newest(arena) if as_of is None else as_of
    competition = arena.competition
    heats: list[Heat] = []
    entries: list[Entry] = []
    for phase in reversed([phase for phase in competition.phases if phase.start <= time]):
        tracks = [track for track in competition.tracks if phase.takes(track.name)]
        if phase == competition.final_phase:
            for track in tracks:
                _add(heats, entries, _rank_finally(arena, track, phase, time))
        for track in tracks:
            _add(heats, entries, _show_phase(arena, track, phase, time))
    with arena.store.reading() as connection:
        teams = _count_teams(connection, time)
        pages = _list_announcements(connection, time)
    manifests = {entry.manifest.hash: entry.manifest for entry in entries}
    return Contest(
        name=competition.name,
        title=competition.title,
        description=competition.description or "",
        contact=competition.contact,
        as_of=time,
        teams=teams,
        phases=_list_stretches(competition, find_reveal(arena), time),
        heats=tuple(heats),
        manifests=manifests,
        entries=tuple(_plain_entry(entry) for entry in entries),
        pages=pages,
    )


def find_newest(arena: Arena) -> datetime.datetime:
    """Return the newest time that is recorded in a competition."""
    with arena.store.reading() as connection:
        found: list[datetime.datetime | None] = [
            connection.execute(select(func.max(column))).scalar()
            for column in (EVENT.c.at, PUBLIC_SCORE.c.at, SUBMISSION.c.received)
        ]
    return max(each for each in found if each is not None)


def label_heat(competition: Competition, track: Track, phase: Phase, *, final: bool = False) -> str:
    """Return the split under which entries of a track and phase stand on a site."""
    return f"{competition.name}: {track.name}, {phase.name}{FINAL if final else ''}"


def _add(heats: list[Heat], entries: list[Entry], made: tuple[Heat, list[Entry]] | None) -> None:
    if made is not None:
        heats.append(made[0])
        entries += made[1]


def name_board(track: Track, phase: Phase) -> str:
    """Return the title of the board of a track in a phase; receipts find its page by it."""
    return f"{track.title} · {phase.title}"


def _show_phase(
    arena: Arena, track: Track, phase: Phase, time: datetime.datetime
) -> tuple[Heat, list[Entry]]:
    """Return the board of a track and phase, with entries where unit scores are public."""
    seen = find_public_time(phase, time)
    rows = read_scored(arena, track.name, phase, seen)
    label = label_heat(arena.competition, track, phase)
    n_scored = sum(row["baseline"] is None for row in rows)
    if rows and shows_scores(arena, phase, time):
        audits = _read_audits(arena, seen)
        entries = [
            _describe(entry, row, label, audits)
            for row in rows
            for entry in make_entries(arena, row, "public")
        ]
        return _make_heat(arena, track, phase, label, n_scored, seen), entries
    shown = tuple(_shown_rows(arena, track, phase, seen))
    why = HIDDEN.get(phase.display, "") if rows else "Nothing was scored yet."
    heat = _make_heat(arena, track, phase, label, n_scored, seen)
    return heat.model_copy(update={"shown": shown, "why": why}), []


def _rank_finally(
    arena: Arena, track: Track, phase: Phase, time: datetime.datetime
) -> tuple[Heat, list[Entry]] | None:
    """Return the final ranking of a track, once its phase has ended and its scores are public; None before."""
    if time < phase.end or not shows_scores(arena, phase, time):
        return None
    choice = choose_finally(arena, track.name, time)
    if not choice.rows:
        return None
    label = label_heat(arena.competition, track, phase, final=True)
    audits = _read_audits(arena, time)
    entries = [
        _describe(entry, choice.rows[team], label, audits, choice.left_out.get(team))
        for team, own in choice.entries.items()
        for entry in own
    ]
    heat = _make_heat(arena, track, phase, label, len(choice.rows), time)
    rule = Fact(name="Final rule", text=arena.competition.final.rule.replace("-", " "))
    title = f"{track.title} · final ranking"
    prizes = Fact(name="Prizes", text=describe_prizes(arena.competition))
    changed = {"title": title, "phase": "Final ranking", "facts": (*heat.facts, rule, prizes)}
    return heat.model_copy(update=changed), entries


def _make_heat(
    arena: Arena,
    track: Track,
    phase: Phase,
    label: str,
    n_scored: int,
    seen: datetime.datetime,
) -> Heat:
    sheet = track.sheet(phase.name)
    about = arena.about(sheet)
    first: Manifest = next(iter(arena.manifests(sheet).values()))
    metric = METRICS.get(first.metric)
    with arena.store.reading() as connection:
        gone = list_gone(connection, seen)
        received = _list_received(connection, track.name, phase.name, seen)
    return Heat(
        label=label,
        title=name_board(track, phase),
        track=track.title,
        phase=phase.title,
        benchmark=track.benchmark,
        split=about["split"],
        metric=f"{metric.title} ({metric.unit_label})" if metric.unit_label else metric.title,
        direction=first.direction,
        description=track.description or "",
        facts=tuple(_list_facts(arena.competition, track)),
        scored=n_scored,
        received=len(set(received) - set(gone)),
        simulated=bool(about["simulated"]),
    )


def _list_facts(competition: Competition, track: Track) -> Iterable[Fact]:
    if track.sponsor is not None:
        yield Fact(name="Sponsor", text=track.sponsor, url=track.sponsor_url)
    if track.constraint is not None:
        yield Fact(name="Constraint", text=track.constraint)
    if track.audit is not None:
        yield Fact(name="Audit", text=track.audit)
    elif competition.audit is not None:
        yield Fact(
            name="Audit", text=f"the first {competition.audit.first} are replayed from committed training"
        )
    yield Fact(name="External data", text=competition.external_data)


def _shown_rows(arena: Arena, track: Track, phase: Phase, seen: datetime.datetime) -> Iterable[ShownRow]:
    for row in list_shown(arena, track.name, phase.name, seen):
        yield ShownRow(
            rank=row["rank"],
            team=row["team"],
            affiliation=row["affiliation"],
            role=row["role"],
            shown=row["shown"],
            scored=row["scored"],
            last=parse_time(row["last_utc"]),
        )


def _describe(
    entry: Entry, row: dict[str, Any], label: str, audits: Mapping[str, str], reason: str | None = None
) -> Entry:
    """Return an entry with what its page shows: kind, model, hash of the file, affiliation, external data."""
    known = {
        **entry.provenance,
        "run_key": row["submission"],
        "kind": row["kind"],
        "model": row["model"],
        "organisation": row["affiliation"],
        "external_data": list(row["external_data"] or ()),
        "sha256": row["sha256"],
        "split": entry.split,
        "manifest_hash": entry.manifest.hash,
        "audit": audits.get(row["submission"]),
    }
    units = None if reason else entry.unit_scores
    return dataclasses.replace(entry, split=label, provenance=known, reason=reason, unit_scores=units)


def _plain_entry(entry: Entry) -> Scored:
    units = entry.unit_scores
    return Scored(
        team=entry.team,
        label=entry.split,
        benchmark=entry.benchmark,
        manifest=entry.manifest.hash,
        time=entry.time,
        role=entry.role,
        simulated=entry.simulated,
        reason=entry.reason,
        provenance=dict(entry.provenance),
        units=None if units is None else {str(name): units[name].tolist() for name in units.columns},
    )


def _read_audits(arena: Arena, time: datetime.datetime) -> dict[str, str]:
    """Return what the audit found of each submission that was audited by a time, in a word or two."""
    asked = (
        select(AUDIT.c.submission, AUDIT.c.verdict)
        .where(AUDIT.c.verdict.is_not(None), AUDIT.c.ended <= time)
        .order_by(AUDIT.c.ended)
    )
    with arena.store.reading() as connection:
        return {
            row.submission: "audited" if row.verdict == REPRODUCED else f"audit: {row.verdict}"
            for row in connection.execute(asked)
        }


def _list_received(connection: Connection, track: str, phase: str, seen: datetime.datetime) -> list[str]:
    asked = select(SUBMISSION.c.id).where(
        SUBMISSION.c.track == track,
        SUBMISSION.c.phase == phase,
        SUBMISSION.c.received <= seen,
        SUBMISSION.c.baseline.is_(None),
        SUBMISSION.c.commits.is_(None),
    )
    return list(connection.execute(asked).scalars())


def _count_teams(connection: Connection, time: datetime.datetime) -> int:
    asked = select(func.count()).select_from(TEAM).where(~TEAM.c.organiser, TEAM.c.created <= time)
    return int(connection.execute(asked).scalar_one())


def _list_announcements(connection: Connection, time: datetime.datetime) -> tuple[Words, ...]:
    """Return the announcements as one page, the newest first; none when there are none."""
    asked = (
        select(ANNOUNCEMENT)
        .where(ANNOUNCEMENT.c.at <= time, ANNOUNCEMENT.c.removed.is_(None))
        .order_by(ANNOUNCEMENT.c.number.desc())
    )
    found = [
        f"## {row['title']}\n\n*{format_utc(row['at'])}*\n\n{row['text']}\n"
        for row in connection.execute(asked).mappings()
    ]
    return (Words(slug="news", title="News", text="\n".join(("# News\n", *found))),) if found else ()


def _list_stretches(
    competition: Competition, revealed: datetime.datetime | None, time: datetime.datetime
) -> tuple[Stretch, ...]:
    """Return the timeline: phases, the audit where it has dates, and the reveal once it was made."""
    found = [
        Stretch(title=phase.title, start=phase.start, end=phase.end, words=_describe_phase(phase))
        for phase in competition.phases
    ]
    audit = competition.audit
    if audit is not None and audit.start is not None:
        found.append(Stretch(title="Audit", start=audit.start, end=audit.end or audit.start))
    if revealed is not None and revealed <= time:
        found.append(
            Stretch(title="Reveal", start=revealed, end=revealed, words="key, truth and scores are public")
        )
    return tuple(found)


def _describe_phase(phase: Phase) -> str:
    words = {
        "full": "scores are shown",
        "ladder": "scores rise in steps",
        "blind": "no scores until the reveal",
    }
    caps = [f"{phase.per_day} a day"] if phase.per_day is not None else []
    caps += [f"{phase.in_total} in all"] if phase.in_total is not None else []
    said = [*(["sealed"] if phase.sealed else []), words[phase.display], *caps]
    return "; ".join(said)
