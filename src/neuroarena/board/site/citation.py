"""How a snapshot of a board is cited."""

from __future__ import annotations

import json

from neuroarena.board.site.pages import Content


def write_citation(content: Content) -> str:
    """Return the text of ``CITATION.cff`` (version 1.2.0 of its format): the snapshot is the version."""
    settings, sources = content.settings, content.sources
    authors = settings.authors or (f"Entrants of {content.title}",)
    lines = [
        "cff-version: 1.2.0",
        "message: Please cite the snapshot that you read.",
        f"title: {_quote(content.title + (' (simulated data)' if content.simulated else ''))}",
        "type: dataset",
        f"version: {_quote(sources.short)}",
        f"date-released: {sources.updated:%Y-%m-%d}",
        "authors:",
        *(f"  - name: {_quote(author)}" for author in authors),
        "identifiers:",
        "  - type: other",
        f"    value: {_quote('sha256:' + sources.snapshot)}",
        "    description: SHA-256 of the sources",
    ]
    if settings.url is not None:
        lines.append(f"url: {_quote(str(settings.url))}")
    if settings.repository is not None:
        lines.append(f"repository-code: {_quote(str(settings.repository))}")
    if settings.licence is not None:
        lines.append(f"license: {_quote(settings.licence)}")
    return "\n".join(lines) + "\n"


def _quote(text: str) -> str:
    # A JSON string is a YAML string: nothing in a title can become another field.
    return json.dumps(text, ensure_ascii=False)
