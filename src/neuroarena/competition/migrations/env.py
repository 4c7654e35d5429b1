"""Alembic runs the migrations inside the transaction that it is given."""

from __future__ import annotations

from alembic import context

from neuroarena.competition.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
context.run_migrations()
