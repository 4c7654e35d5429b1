"""Bring the tables of a store up to date, one migration after the other."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Engine


def upgrade(engine: Engine) -> None:
    """Run every migration that a database has not seen, in one transaction."""
    settings = _settings()
    with engine.connect().execution_options(writing=True) as connection, connection.begin():
        settings.attributes["connection"] = connection
        command.upgrade(settings, "head")


def newest_revision() -> str | None:
    """Return the name of the last migration there is."""
    return ScriptDirectory.from_config(_settings()).get_current_head()


def _settings() -> Config:
    settings = Config()
    settings.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    return settings
