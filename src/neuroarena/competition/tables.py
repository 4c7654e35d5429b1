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
)

# The migration that these tables are the outcome of; a test compares the two.
REVISION = "0001"

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
)
Index("ix_run_claim", RUN.c.state, RUN.c.label, RUN.c.priority)

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
