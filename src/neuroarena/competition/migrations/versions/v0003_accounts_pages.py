"""Accounts, sessions and tickets; pages of boards, announcements, and what organisers ask of a zone."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from neuroarena.competition.tables import Instant

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the tables."""
    _make_accounts()
    op.create_table(
        "page",
        sa.Column("snapshot", sa.Integer, sa.ForeignKey("snapshot.number"), primary_key=True),
        sa.Column("address", sa.String(200), primary_key=True),
        sa.Column("title", sa.String(300), nullable=False),
        sa.Column("template", sa.String(64), nullable=False),
        sa.Column("view", sa.JSON, nullable=False),
    )
    op.create_table(
        "announcement",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("title", sa.String(200), nullable=False),
        sa.Column("text", sa.Text, nullable=False),
        sa.Column("removed", Instant),
    )
    op.create_table(
        "request",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("label", sa.String(16), nullable=False),
        sa.Column("what", sa.String(32), nullable=False),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("asked", Instant, nullable=False),
        sa.Column("ended", Instant),
        sa.Column("outcome", sa.Text),
    )


def _make_accounts() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("email", sa.String(254), unique=True),
        sa.Column("name", sa.String(200)),
        sa.Column("password", sa.Text),
        sa.Column("team", sa.String(64), sa.ForeignKey("team.name"), index=True),
        sa.Column("captain", sa.Boolean, nullable=False),
        sa.Column("organiser", sa.Boolean, nullable=False),
        sa.Column("created", Instant, nullable=False),
        sa.Column("verified", Instant),
        sa.Column("deleted", Instant),
    )
    op.create_table(
        "session",
        sa.Column("secret_sha256", sa.String(64), primary_key=True),
        sa.Column("account", sa.String(16), sa.ForeignKey("account.id"), nullable=False, index=True),
        sa.Column("created", Instant, nullable=False),
        sa.Column("expires", Instant, nullable=False),
    )
    op.create_table(
        "ticket",
        sa.Column("secret_sha256", sa.String(64), primary_key=True),
        sa.Column("purpose", sa.String(16), nullable=False),
        sa.Column("account", sa.String(16), sa.ForeignKey("account.id")),
        sa.Column("email", sa.String(254), nullable=False),
        sa.Column("team", sa.String(64), sa.ForeignKey("team.name")),
        sa.Column("created", Instant, nullable=False),
        sa.Column("expires", Instant, nullable=False),
        sa.Column("used", Instant),
    )
