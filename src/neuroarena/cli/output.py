"""Print tables for people and JSON for programs."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from typing import Any

_PIPE_WIDTH = 200


def print_json(value: Any) -> None:
    """Print a value as JSON on standard output."""
    print(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False))


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    title: str | None = None,
    *,
    unbroken: Sequence[str] = (),
) -> None:
    """Print rows as a table on standard output; the columns `unbroken` are never broken into lines."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, box=box.SIMPLE_HEAD, title_justify="left", pad_edge=False)
    for column in columns:
        # What does not fit is continued on the next line: a name that is cut can be mistaken for another.
        table.add_column(column, no_wrap=column in unbroken, overflow="fold")
    for row in rows:
        # As text: rich reads [words] in brackets as styles and would swallow them.
        table.add_row(*(Text(str(value)) for value in row))
    console = Console(soft_wrap=False)
    # A pipe has no width: what is read by a pager or a program is not broken into words.
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = max(console.width, _PIPE_WIDTH)
    console.print(table)


def format_value(value: object) -> str:
    """Format a value as a cell of a table."""
    if value is None:
        return "-"
    return f"{value:.4f}" if isinstance(value, float) else str(value)
