"""What the docs site changes in pages: roles of docstrings, which Markdown does not know, become plain code."""

from __future__ import annotations

import re
from typing import Any

_ROLE = re.compile(r":(?:class|func|meth|data|mod|attr|exc):<code>(?P<name>[^<]+)</code>")


def on_page_content(html: str, **_: Any) -> str:
    """Show ``:func:`~neuroarena.score``` as ``score``: a tilde stands for the last part of a name."""

    def show(role: re.Match[str]) -> str:
        name = role["name"]
        return f"<code>{name.rpartition('.')[2] if name.startswith('~') else name.lstrip('.')}</code>"

    return _ROLE.sub(show, html)
