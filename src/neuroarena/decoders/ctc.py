"""Text from frames (connectionist temporal classification): the alphabet, what frames are taught, greedy decoding."""

from __future__ import annotations

import string
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from neuroarena.errors import InputError

BACKSPACE, ENTER, SPACE, SHIFT = "\u232b", "\u23ce", " ", "\u21e7"


@dataclass(frozen=True)
class Alphabet:
    """The characters of a text, numbered from 0; the blank, which no character stands for, comes last.

    Examples
    --------
    >>> KEYBOARD.blank, KEYBOARD.labels_of("a~ ").tolist(), KEYBOARD.text_of([7, 8, 96, 94])
    (98, [0, 93, 96], 'hi \u232b')
    """

    characters: str

    @property
    def blank(self) -> int:
        """The class number of the blank."""
        return len(self.characters)

    def labels_of(self, text: str) -> np.ndarray:
        """Return the class number of each character: int64 array (n,).

        Raises
        ------
        InputError
            Naming the first character that is not in the alphabet.
        """
        number_of = {character: number for number, character in enumerate(self.characters)}
        for place, character in enumerate(text):
            if character not in number_of:
                raise InputError(
                    f"Character {place} of the text, {character!r}, is not one of the {self.blank} keys. "
                    "Put the text through normal_text first."
                )
        return np.array([number_of[character] for character in text], dtype=np.int64)

    def text_of(self, labels: Iterable[int]) -> str:
        """Return the text of class numbers; the blank must not be among them."""
        return "".join(self.characters[label] for label in labels)


# Printable ASCII, and the keys that act on it as characters of their own.
KEYBOARD = Alphabet(
    string.ascii_lowercase
    + string.ascii_uppercase
    + string.digits
    + string.punctuation
    + BACKSPACE
    + ENTER
    + SPACE
    + SHIFT
)


def frame_labels(
    places: np.ndarray, onsets: np.ndarray, labels: np.ndarray, within: int, blank: int = KEYBOARD.blank
) -> np.ndarray:
    """Label frames that start shortly after a key press with that key, and all others with the blank.

    Parameters
    ----------
    places : int array (n,)
        First sample of each frame.
    onsets, labels : int arrays (m,)
        Sample and class number of each press, in time order.
    within : int
        Samples after a press that belong to it.
    blank : int

    Examples
    --------
    >>> frame_labels(np.array([0, 90, 150, 190]), np.array([80, 150]), np.array([5, 7]), within=80).tolist()
    [98, 5, 7, 7]
    """
    if not len(onsets):
        return np.full(len(places), blank)
    latest = np.searchsorted(onsets, places, side="right") - 1
    near = (latest >= 0) & (places - onsets[latest.clip(min=0)] < within)
    return np.where(near, labels[latest.clip(min=0)], blank)


class GreedyText:
    """Collapse labels that arrive in pieces as if they arrived at once.

    A key held across the border of two pieces is one key: the last label of a piece is remembered.

    Examples
    --------
    >>> text = GreedyText()
    >>> text.take(np.array([98, 7, 7])), text.take(np.array([7, 98, 7, 8]))
    ('h', 'hi')
    """

    def __init__(self, alphabet: Alphabet = KEYBOARD) -> None:
        self.alphabet = alphabet
        self.last = alphabet.blank

    def take(self, labels: np.ndarray) -> str:
        """Take the labels of the next frames, int (n,), and return the characters they add."""
        if not len(labels):
            return ""
        before = np.concatenate([[self.last], labels[:-1]])
        self.last = int(labels[-1])
        return self.alphabet.text_of(labels[(labels != before) & (labels != self.alphabet.blank)].tolist())


def greedy_text(outputs: np.ndarray, alphabet: Alphabet = KEYBOARD) -> str:
    """Decode all frames of a recording: argmax of (frames, classes), ties to the lowest label.

    Examples
    --------
    >>> outputs = np.zeros((3, 99))
    >>> outputs[[0, 1, 2], [0, 98, 0]] = 1.0
    >>> greedy_text(outputs)
    'aa'
    """
    return GreedyText(alphabet).take(outputs.argmax(axis=1))
