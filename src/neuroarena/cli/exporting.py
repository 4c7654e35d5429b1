"""``neuroarena export``: results in other formats, which families provide, and bundles for other platforms."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup

GENERAL = {"codabench": "neuroarena.cli.codabench:export_codabench"}


class ExporterGroup(TyperGroup):
    """The commands of ``neuroarena export``: general exporters and those of families, found on first use."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's own signature
        """List the names of all exporters."""
        from neuroarena.benchmarks.faces import named_faces

        return sorted({*GENERAL, *named_faces("exporters")})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - click's own signature
        """Return the command of an exporter.

        Raises
        ------
        UnknownName
            With the closest names.
        """
        from neuroarena.benchmarks.faces import choose_face, load_address

        one = typer.Typer(rich_markup_mode=None)
        exporter = (
            load_address(GENERAL[cmd_name], f'The exporter "{cmd_name}"')
            if cmd_name in GENERAL
            else choose_face("exporters", cmd_name, "exporter")
        )
        one.command(cmd_name)(exporter)
        return typer.main.get_command(one)


app = typer.Typer(
    cls=ExporterGroup,
    help="Write results as a submission or a paper's figure and tables, or a competition as a bundle.",
    no_args_is_help=True,
)


@app.callback()
def _root() -> None:
    """Write results as a submission or a paper's figure and tables, or a competition as a bundle."""
