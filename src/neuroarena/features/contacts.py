"""Contacts of depth electrodes: which probe a label belongs to, and which contacts lie next to it."""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from neuroarena.errors import InputError


class Contact(NamedTuple):
    """One contact: the stem of its probe and its number along the probe."""

    stem: str
    number: int


def contact_of(label: str) -> Contact | None:
    """Split a label at its last letter into probe stem and contact number.

    Returns
    -------
    Contact or None
        None where what follows the last letter is not a plain number, or where there is no
        letter: such a channel belongs to no probe and has no neighbours.

    Examples
    --------
    >>> contact_of("F10Fa14")
    Contact(stem='F10Fa', number=14)
    >>> contact_of("Cz") is None and contact_of("A-1") is None
    True
    """
    letters = [position for position, character in enumerate(label) if character.isalpha()]
    if not letters:
        return None
    stem, digits = label[: letters[-1] + 1], label[letters[-1] + 1 :]
    if not (digits.isascii() and digits.isdigit()):
        return None
    return Contact(stem, int(digits))


def contact_rows(names: tuple[str, ...]) -> dict[Contact, int]:
    """Map each contact to its row in the channel table, in the table's order.

    Raises
    ------
    InputError
        When two labels name the same contact (`A1` and `A01`): its neighbours would be ambiguous.
    """
    rows: dict[Contact, int] = {}
    for row, name in enumerate(names):
        contact = contact_of(name)
        if contact is None:
            continue
        if contact in rows:
            raise InputError(
                f'Channels "{names[rows[contact]]}" and "{name}" are both contact {contact.number} of probe '
                f'"{contact.stem}". Keep one of them.'
            )
        rows[contact] = row
    return rows


def probes_of(names: tuple[str, ...]) -> dict[str, list[int]]:
    """List the rows of each probe in contact order; probes in order of first appearance.

    Examples
    --------
    >>> probes_of(("B2", "A1", "B1", "Cz"))
    {'B': [2, 0], 'A': [1]}
    """
    rows = contact_rows(names)
    probes: dict[str, list[Contact]] = {}
    for contact in rows:
        probes.setdefault(contact.stem, []).append(contact)
    return {stem: [rows[contact] for contact in sorted(members)] for stem, members in probes.items()}


class Neighbours(NamedTuple):
    """The neighbours of each channel as two index arrays.

    A channel with one neighbour has it in both arrays, so that the mean of the two is that
    neighbour exactly; `number` is 0, 1 or 2. Where it is 0 both hold the channel itself.
    """

    below: np.ndarray
    above: np.ndarray
    number: np.ndarray


@functools.lru_cache(maxsize=64)
def neighbours_of(names: tuple[str, ...]) -> Neighbours:
    """Find, for each channel, the contacts one below and one above it among the channels present.

    Cached by channel names, because a chain asks again for every run of windows.
    """
    rows = contact_rows(names)
    below, above, count = (np.arange(len(names)), np.arange(len(names)), np.zeros(len(names), dtype=np.intp))
    for contact, row in rows.items():
        found = [
            rows[neighbour]
            for neighbour in (Contact(contact.stem, contact.number + step) for step in (-1, 1))
            if neighbour in rows
        ]
        if found:
            below[row], above[row], count[row] = found[0], found[-1], len(found)
    for array in (below, above, count):
        array.flags.writeable = False
    return Neighbours(below, above, count)
