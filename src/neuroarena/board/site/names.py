"""The address of every page: short, the same on every disk, and never taken from a stranger's text as it is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from neuroarena.fingerprint import digest

LONGEST = 60


def make_slug(text: str) -> str:
    """Return a text as part of a file name: small letters, digits and hyphens.

    Examples
    --------
    >>> make_slug("Linear (raw voltage)"), make_slug("../../x")
    ('linear-raw-voltage', 'x')
    """
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:LONGEST].strip("-")


def assign_slugs(names: Iterable[str]) -> dict[str, str]:
    """Return a file name for each text; texts that would share one, or have none, get digits of their hash besides.

    Examples
    --------
    >>> assign_slugs(["a", "A!"])["a"][:2]
    'a-'
    """
    distinct = list(dict.fromkeys(names))
    slugs = {name: make_slug(name) for name in distinct}
    counts = Counter(slugs.values())
    return {
        name: slug
        if slug and counts[slug] == 1 and len(slug) < LONGEST
        else f"{slug}-{digest(name)[:8]}".strip("-")
        for name, slug in slugs.items()
    }
