"""The tables of a competition's store; what is secret is not among them."""

from __future__ import annotations

import datetime
from typing import Any

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
)

# The migration that these tables are the outcome of; a test compares the two.
REVISION = "0003"

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_MICROSECOND = datetime.timedelta(microseconds=1)


class Instant(TypeDecorator[datetime.datetime]):
    """A time as whole microseconds since 1970 in UTC: exact, sortable, and the same in every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: datetime.datetime | None, dialect: Any) -> int | None:  # noqa: ARG002
        """Return the microseconds of a time."""
        return None if value is None else (value - _EPOCH) // _MICROSECOND

    def process_result_value(self, value: int | None, dialect: Any) -> datetime.datetime | None:  # noqa: ARG002
        """Return the time of some microseconds."""
        return None if value is None else _EPOCH + value * _MICROSECOND


METADATA = MetaData(
    naming_convention={
        "ix": "ix_%(column_0_label)s",
        "uq": "uq_%(table_name)s_%(column_0_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

ABOUT = Table(
    "about", METADATA, Column("key", String(64), primary_key=True), Column("value", Text, nullable=False)
)

TEAM = Table(
    "team",
    METADATA,
    Column("name", String(64), primary_key=True),
    Column("affiliation", String(200)),
    Column("reveals_affiliation", Boolean, nullable=False),
    Column("organiser", Boolean, nullable=False),
    Column("created", Instant, nullable=False),
    # A sentence that says why a team takes no prize; None when it may.
    Column("no_prize", Text),
)

# The people of a team; whoever has left stays, with the time.
MEMBER = Table(
    "member",
    METADATA,
    Column("team", ForeignKey("team.name"), primary_key=True),
    Column("name", String(200), primary_key=True),
    Column("contact", String(200)),
    Column("joined", Instant, nullable=False),
    Column("left", Instant),
)

# Every version of the terms that was in force, newest last.
TERMS = Table(
    "terms",
    METADATA,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("sha256", String(64), nullable=False, unique=True),
    Column("text", Text, nullable=False),
    Column("since", Instant, nullable=False),
)

ACCEPTANCE = Table(
    "acceptance",
    METADATA,
    Column("team", ForeignKey("team.name"), primary_key=True),
    Column("terms_sha256", String(64), primary_key=True),
    Column("accepted", Instant, nullable=False),
)

TOKEN = Table(
    "token",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("team", ForeignKey("team.name"), nullable=False),
    Column("scope", String(16), nullable=False),
    Column("secret_sha256", String(64), nullable=False),
    Column("created", Instant, nullable=False),
    Column("expires", Instant, nullable=False),
    Column("revoked", Instant),
)

SUBMISSION = Table(
    "submission",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("team", ForeignKey("team.name"), nullable=False),
    Column("track", String(40), nullable=False),
    Column("phase", String(40), nullable=False),
    Column("kind", String(16), nullable=False),
    Column("file", String(255), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("key", String(64), nullable=False),
    Column("received", Instant, nullable=False),
    Column("utc_day", String(10), nullable=False),
    Column("slot", String(16), nullable=False),
    Column("refunded", Instant),
    Column("model", String(200)),
    Column("external_data", JSON),
    # "constant", "shuffled" or "real" for a baseline of the host; None for what teams hand in.
    Column("baseline", String(16)),
    # A pipeline commits the training of this submission.
    Column("commits", String(16)),
    Column("disqualified", Text),
    Column("deleted", Instant),
    Column("file_removed", Instant),
    UniqueConstraint("team", "key"),
)
Index("ix_submission_cap", SUBMISSION.c.team, SUBMISSION.c.phase, SUBMISSION.c.utc_day)

RUN = Table(
    "run",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("submission", ForeignKey("submission.id"), nullable=False, index=True),
    Column("team", String(64), nullable=False),
    Column("received", Instant, nullable=False),
    Column("state", String(16), nullable=False),
    Column("label", String(16), nullable=False),
    Column("priority", Integer, nullable=False),
    Column("owner", String(64)),
    Column("fence", Integer, nullable=False),
    Column("lease_until", Instant),
    Column("tries", Integer, nullable=False),
    Column("not_before", Instant, nullable=False),
    Column("reason", Text),
    Column("fault", String(16)),
    # Why there is a run: "submission", "rerun" or "audit"; `of` is the run that it repeats, or the audit it is part of.
    Column("purpose", String(16), nullable=False, server_default="submission"),
    Column("of", String(16)),
    # What a worker is doing, finer than the state: "unpacking", "asking 120 of 430", ...; for people, not for rules.
    Column("stage", String(64)),
    # Number of workers that went silent on it; two are enough to keep it for an organiser.
    Column("deaths", Integer, nullable=False, server_default="0"),
    Column("quarantined", Boolean, nullable=False, server_default=false()),
    # What code was run with, and what it printed; the latter is for organisers only.
    Column("runtime_digest", String(64)),
    Column("log_sha256", String(64)),
    Column("measured", JSON),
)
Index("ix_run_claim", RUN.c.state, RUN.c.label, RUN.c.priority)
Index("ix_run_team", RUN.c.team, RUN.c.state)

# What code answered, one file of predictions per part of its track; "" is the part of a track that has only one.
ANSWER = Table(
    "answer",
    METADATA,
    Column("run", ForeignKey("run.id"), primary_key=True),
    Column("part", String(64), primary_key=True),
    Column("sha256", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
)

TRANSITION = Table(
    "transition",
    METADATA,
    Column("run", ForeignKey("run.id"), primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("state", String(16), nullable=False),
    Column("at", Instant, nullable=False),
    Column("by", String(64), nullable=False),
    Column("reason", Text),
)

# Documents that a team must hand in to be ranked; a later one replaces an earlier one, and both are kept.
DOCUMENT = Table(
    "document",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("team", ForeignKey("team.name"), nullable=False),
    Column("track", String(40), nullable=False),
    Column("name", String(40), nullable=False),
    Column("file", String(255), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("received", Instant, nullable=False),
    Column("file_removed", Instant),
)

# What is done again and again; a row is claimed as a run is, by a lease and a fence.
SCHEDULE = Table(
    "schedule",
    METADATA,
    Column("name", String(40), primary_key=True),
    Column("label", String(16), nullable=False),
    Column("every_s", Integer, nullable=False),
    Column("due", Instant, nullable=False),
    Column("owner", String(64)),
    Column("fence", Integer, nullable=False),
    Column("lease_until", Instant),
    Column("last", Instant),
    Column("outcome", Text),
)

# Workers that were seen: where they run, what they take, and since when they are silent.
WORKER = Table(
    "worker",
    METADATA,
    Column("owner", String(64), primary_key=True),
    Column("labels", String(200), nullable=False),
    Column("version", String(32), nullable=False),
    Column("started", Instant, nullable=False),
    Column("seen", Instant, nullable=False),
    Column("stopped", Instant),
    Column("self_test", JSON),
)

# The steps of ladders that a baseline of the host has set.
STEP = Table(
    "step",
    METADATA,
    Column("phase", String(40), primary_key=True),
    Column("track", String(40), primary_key=True),
    Column("step", Float, nullable=False),
    Column("run", String(16), nullable=False),
    Column("at", Instant, nullable=False),
)

# Boards as they were published.
SNAPSHOT = Table(
    "snapshot",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("track", String(40), nullable=False),
    Column("phase", String(40), nullable=False),
    Column("rule", String(40), nullable=False),
    Column("as_of", Instant, nullable=False),
    Column("event_hash", String(64), nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("content", JSON, nullable=False),
)
Index("ix_snapshot_newest", SNAPSHOT.c.track, SNAPSHOT.c.phase, SNAPSHOT.c.number)

# An audit of a submission: its replays are runs of the purpose "audit".
AUDIT = Table(
    "audit",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("submission", ForeignKey("submission.id"), nullable=False, index=True),
    Column("rule", String(40), nullable=False),
    Column("asked", Instant, nullable=False),
    Column("ended", Instant),
    Column("verdict", String(32)),
    Column("reason", Text),
    Column("evidence", JSON),
)

# What the phase lets the team know of its score; the sums behind it are in the vault.
PUBLIC_SCORE = Table(
    "public_score",
    METADATA,
    Column("run", ForeignKey("run.id"), primary_key=True),
    Column("scorer_version", String(32), primary_key=True),
    Column("shown", Float),
    Column("low", Float),
    Column("high", Float),
    Column("n_units", Integer, nullable=False),
    # Values of the parts of a track, where the phase displays full scores.
    Column("parts", JSON),
    Column("sentence", Text, nullable=False),
    Column("at", Instant, nullable=False),
)

EVENT = Table(
    "event",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
    Column("actor", String(64), nullable=False),
    Column("what", String(32), nullable=False),
    Column("about", String(64), nullable=False),
    Column("facts", JSON, nullable=False),
    Column("hash", String(64), nullable=False),
)

# People who sign in on the pages; one whose data were deleted keeps the row without name, address and password.
ACCOUNT = Table(
    "account",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("email", String(254), unique=True),
    Column("name", String(200)),
    Column("password", Text),
    Column("team", ForeignKey("team.name"), index=True),
    Column("captain", Boolean, nullable=False),
    Column("organiser", Boolean, nullable=False),
    Column("created", Instant, nullable=False),
    Column("verified", Instant),
    Column("deleted", Instant),
)

SESSION = Table(
    "session",
    METADATA,
    Column("secret_sha256", String(64), primary_key=True),
    Column("account", ForeignKey("account.id"), nullable=False, index=True),
    Column("created", Instant, nullable=False),
    Column("expires", Instant, nullable=False),
)

# What a letter carries: a secret that verifies an address, sets a password or joins a team, once.
TICKET = Table(
    "ticket",
    METADATA,
    Column("secret_sha256", String(64), primary_key=True),
    Column("purpose", String(16), nullable=False),
    Column("account", ForeignKey("account.id")),
    Column("email", String(254), nullable=False),
    Column("team", ForeignKey("team.name")),
    Column("created", Instant, nullable=False),
    Column("expires", Instant, nullable=False),
    Column("used", Instant),
)

# Pages that belong to a published board: what their templates show, made where the unit scores are.
PAGE = Table(
    "page",
    METADATA,
    Column("snapshot", ForeignKey("snapshot.number"), primary_key=True),
    Column("address", String(200), primary_key=True),
    Column("title", String(300), nullable=False),
    Column("template", String(64), nullable=False),
    Column("view", JSON, nullable=False),
)

ANNOUNCEMENT = Table(
    "announcement",
    METADATA,
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Instant, nullable=False),
    Column("title", String(200), nullable=False),
    Column("text", Text, nullable=False),
    Column("removed", Instant),
)

# Work that organisers ask of a zone which may open what they may not, such as judging again.
REQUEST = Table(
    "request",
    METADATA,
    Column("id", String(16), primary_key=True),
    Column("label", String(16), nullable=False),
    Column("what", String(32), nullable=False),
    Column("facts", JSON, nullable=False),
    Column("asked", Instant, nullable=False),
    Column("ended", Instant),
    Column("outcome", Text),
)
