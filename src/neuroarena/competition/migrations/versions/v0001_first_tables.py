"""The first tables.

Later changes of `tables` are migrations of their own, so this one names the columns as they were.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from neuroarena.competition.tables import Instant

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Make the tables."""
    op.create_table(
        "about",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "team",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("affiliation", sa.String(200)),
        sa.Column("reveals_affiliation", sa.Boolean, nullable=False),
        sa.Column("organiser", sa.Boolean, nullable=False),
        sa.Column("created", Instant, nullable=False),
    )
    op.create_table(
        "acceptance",
        sa.Column("team", sa.String(64), sa.ForeignKey("team.name"), primary_key=True),
        sa.Column("terms_sha256", sa.String(64), primary_key=True),
        sa.Column("accepted", Instant, nullable=False),
    )
    op.create_table(
        "token",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("team", sa.String(64), sa.ForeignKey("team.name"), nullable=False),
        sa.Column("scope", sa.String(16), nullable=False),
        sa.Column("secret_sha256", sa.String(64), nullable=False),
        sa.Column("created", Instant, nullable=False),
        sa.Column("expires", Instant, nullable=False),
        sa.Column("revoked", Instant),
    )
    _make_submissions()
    op.create_table(
        "public_score",
        sa.Column("run", sa.String(16), sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("scorer_version", sa.String(32), primary_key=True),
        sa.Column("shown", sa.Float),
        sa.Column("low", sa.Float),
        sa.Column("high", sa.Float),
        sa.Column("n_units", sa.Integer, nullable=False),
        sa.Column("sentence", sa.Text, nullable=False),
        sa.Column("at", Instant, nullable=False),
    )
    op.create_table(
        "event",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("actor", sa.String(64), nullable=False),
        sa.Column("what", sa.String(32), nullable=False),
        sa.Column("about", sa.String(64), nullable=False),
        sa.Column("facts", sa.JSON, nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
    )


def _make_submissions() -> None:
    op.create_table(
        "submission",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("team", sa.String(64), sa.ForeignKey("team.name"), nullable=False),
        sa.Column("track", sa.String(40), nullable=False),
        sa.Column("phase", sa.String(40), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("file", sa.String(255), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("bytes", sa.BigInteger, nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("received", Instant, nullable=False),
        sa.Column("utc_day", sa.String(10), nullable=False),
        sa.Column("slot", sa.String(16), nullable=False),
        sa.Column("refunded", Instant),
        sa.Column("model", sa.String(200)),
        sa.Column("external_data", sa.JSON),
        sa.UniqueConstraint("team", "key"),
    )
    op.create_index("ix_submission_cap", "submission", ["team", "phase", "utc_day"])
    op.create_table(
        "run",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("submission", sa.String(16), sa.ForeignKey("submission.id"), nullable=False, index=True),
        sa.Column("team", sa.String(64), nullable=False),
        sa.Column("received", Instant, nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("label", sa.String(16), nullable=False),
        sa.Column("priority", sa.Integer, nullable=False),
        sa.Column("owner", sa.String(64)),
        sa.Column("fence", sa.Integer, nullable=False),
        sa.Column("lease_until", Instant),
        sa.Column("tries", sa.Integer, nullable=False),
        sa.Column("not_before", Instant, nullable=False),
        sa.Column("reason", sa.Text),
        sa.Column("fault", sa.String(16)),
    )
    op.create_index("ix_run_claim", "run", ["state", "label", "priority"])
    op.create_table(
        "transition",
        sa.Column("run", sa.String(16), sa.ForeignKey("run.id"), primary_key=True),
        sa.Column("number", sa.Integer, primary_key=True),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("at", Instant, nullable=False),
        sa.Column("by", sa.String(64), nullable=False),
        sa.Column("reason", sa.Text),
    )
