"""People for tests: a password, and the ticket of a letter."""

from __future__ import annotations

import re

from neuroarena.competition.people.letters import Letter

BASE = "http://arena.test"
PASSWORD = "correct horse battery"


def ticket_of(letter: Letter | None) -> str:
    """The secret of the link in a letter."""
    assert letter is not None
    found = re.search(r"ticket=([\w-]+)", letter.text)
    assert found is not None
    return found[1]
