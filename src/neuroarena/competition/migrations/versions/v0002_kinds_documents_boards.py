"""Kinds of submission, documents, schedules, snapshots of boards, audits, members and terms by version."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from neuroarena.competition.tables import Instant

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns and tables."""
    op.add_column("team", sa.Column("no_prize", sa.Text))
    for name, kind in (
        ("baseline", sa.String(16)),
        ("commits", sa.String(16)),
        ("disqualified", sa.Text),
        ("deleted", Instant),
        ("file_removed", Instant),
    ):
        op.add_column("submission", sa.Column(name, kind))
    for column in (
        sa.Column("purpose", sa.String(16), nullable=False, server_default="submission"),
        sa.Column("of", sa.String(16)),
        sa.Column("stage", sa.String(64)),
        sa.Column("deaths", sa.Integer, nullable=False, server_default="0"),
        sa.Column("quarantined", sa.Boolean, nullable=False, server_default=sa.false()),
        sa.Column("runtime_digest", sa.String(64)),
        sa.Column("log_sha256", sa.String(64)),
        sa.Column("measured", sa.JSON),
    ):
        op.add_column("run", column)
    op.create_index("ix_run_team", "run", ["team", "state"])
    op.add_column("public_score", sa.Column("parts", sa.JSON))
    _make_people()
    _make_work()
    _make_boards()


def _make_people() -> None:
    op.create_table(
        "member",
        sa.Column("team", sa.String(64), sa.ForeignKey("team.name"), primary_key=True),
        sa.Column("name", sa.String(200), primary_key=True),
        sa.Column("contact", sa.String(200)),
        sa.Column("joined", Instant, nullable=False),
        sa.Column("left", Instant),
    )
    op.create_table(
        "terms",
        sa.Column("version", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("sha256", sa.String(64), nullable=False, unique=True),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("since", Instant, nullable=False),
    )
    op.create_table(
        "document",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("team", sa.String(64), sa.ForeignKey("team.name"), nullable=False),
        sa.Column("track", sa.String(40), nullable=False),
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("file", sa.String(255), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("received", Instant, nullable=False),
        sa.Column("file_removed", Instant),
    )


def _make_work() -> None:
    op.create_table(
        "answer",
        sa.Column("run", sa.String(16), sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("part", sa.String(64), primary_key=True),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "schedule",
        sa.Column("name", sa.String(40), primary_key=True),
        sa.Column("label", sa.String(16), nullable=False),
        sa.Column("every_s", sa.Integer, nullable=False),
        sa.Column("due", Instant, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("lease_until", Instant),
        sa.Column("last", Instant),
        sa.Column("outcome", sa.Text),
    )
    op.create_table(
        "worker",
        sa.Column("owner", sa.String(64), primary_key=True),
        sa.Column("labels", sa.String(200), nullable=False),
        sa.Column("version", sa.String(32), nullable=False),
        sa.Column("started", Instant, nullable=False),
        sa.Column("seen", Instant, nullable=False),
        sa.Column("stopped", Instant),
        sa.Column("self_test", sa.JSON),
    )


def _make_boards() -> None:
    op.create_table(
        "step",
        sa.Column("phase", sa.String(40), primary_key=True),
        sa.Column("track", sa.String(40), primary_key=True),
        sa.Column("step", sa.Float, nullable=False),
        sa.Column("run", sa.String(16), nullable=False),
        sa.Column("at", Instant, nullable=False),
    )
    op.create_table(
        "snapshot",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("track", sa.String(40), nullable=False),
        sa.Column("phase", sa.String(40), nullable=False),
        sa.Column("rule", sa.String(40), nullable=False),
        sa.Column("as_of", Instant, nullable=False),
        sa.Column("event_hash", sa.String(64), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("content", sa.JSON, nullable=False),
    )
    op.create_index("ix_snapshot_newest", "snapshot", ["track", "phase", "number"])
    op.create_table(
        "audit",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("submission", sa.String(16), sa.ForeignKey("submission.id"), nullable=False, index=True),
        sa.Column("rule", sa.String(40), nullable=False),
        sa.Column("asked", Instant, nullable=False),
        sa.Column("ended", Instant),
        sa.Column("verdict", sa.String(32)),
        sa.Column("reason", sa.Text),
        sa.Column("evidence", sa.JSON),
    )
