"""Verbs that families provide: their own commands beside the general ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer

from neuroarena.errors import InputError
from neuroarena.registry import Registry

VERBS: Registry[Callable[..., Any]] = Registry("verb", "neuroarena.verbs")


def add_verbs(app: typer.Typer) -> None:
    """Add every installed verb to the application; one that cannot be loaded says so when it is used."""
    for name in VERBS.names():
        try:
            command = VERBS.get(name)
        except InputError as error:
            app.command(name, short_help="Cannot be loaded.")(_broken(error))
        else:
            app.command(name)(command)


def _broken(error: InputError) -> Callable[[], None]:
    def refuse() -> None:
        raise error

    return refuse
