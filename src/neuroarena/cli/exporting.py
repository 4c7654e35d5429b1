"""``neuroarena export``: results in other formats, which families provide."""

from __future__ import annotations

from typing import Any

import typer
from typer.core import TyperGroup


class ExporterGroup(TyperGroup):
    """The commands of ``neuroarena export``: one for each exporter of a family, found on first use."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - click's own signature
        """List the names of all exporters."""
        from neuroarena.benchmarks.faces import named_faces

        return sorted(named_faces("exporters"))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - click's own signature
        """Return the command of an exporter.

        Raises
        ------
        UnknownName
            With the closest names.
        """
        from neuroarena.benchmarks.faces import choose_face

        one = typer.Typer(rich_markup_mode=None)
        one.command(cmd_name)(choose_face("exporters", cmd_name, "exporter"))
        return typer.main.get_command(one)


app = typer.Typer(
    cls=ExporterGroup,
    help="Write results as a submission to a leaderboard, or as a paper's figure and tables.",
    no_args_is_help=True,
)


@app.callback()
def _root() -> None:
    """Write results as a submission to a leaderboard, or as a paper's figure and tables."""
