"""The publication of an entry: its BibTeX as it was handed in, and a link where it has one."""

from __future__ import annotations

import re
from typing import Any

from neuroarena.board.wording import clean_name

_FIELD = r"\b{}\s*=\s*[{{\"]\s*([^}}\"]+?)\s*[}}\"]"


def find_publication(bibtex: Any) -> dict[str, str] | None:
    """Return the BibTeX of an entry with its title and address; None where there is none.

    Examples
    --------
    >>> find_publication("@article{a, title={On x}, doi={10.1/2}}")["url"]
    'https://doi.org/10.1/2'
    """
    if not isinstance(bibtex, str) or not bibtex.strip():
        return None
    text = "\n".join(clean_name(line.expandtabs(2)) for line in bibtex.strip().splitlines())
    found = {name: _read_field(text, name) for name in ("title", "doi", "url", "eprint")}
    url = found["url"]
    if not re.match(r"https?://", url):
        doi = found["doi"].removeprefix("https://doi.org/")
        url = (
            f"https://doi.org/{doi}"
            if doi
            else f"https://arxiv.org/abs/{found['eprint']}"
            if found["eprint"]
            else ""
        )
    return {"bibtex": text, "title": found["title"].replace("{", "").replace("}", ""), "url": url}


def _read_field(text: str, name: str) -> str:
    match = re.search(_FIELD.format(name), text, re.IGNORECASE)
    return match[1] if match else ""
