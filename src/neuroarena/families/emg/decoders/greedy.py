"""Greedy decoding of CTC outputs: the likeliest label of each frame, repeats collapsed, blanks dropped."""

from __future__ import annotations

import numpy as np

from neuroarena.families.emg.emg2qwerty.characters import BLANK, text_of


class GreedyText:
    """Collapse labels that come in pieces as if they came at once.

    A key held across the border of two pieces is one key: the last label of a piece is remembered.

    Examples
    --------
    >>> text = GreedyText()
    >>> text.take(np.array([98, 7, 7])), text.take(np.array([7, 98, 7, 8]))
    ('h', 'hi')
    """

    def __init__(self) -> None:
        self.last = BLANK

    def take(self, labels: np.ndarray) -> str:
        """Take the labels of the next frames, int (n,); give the characters they add."""
        if not len(labels):
            return ""
        before = np.concatenate([[self.last], labels[:-1]])
        self.last = int(labels[-1])
        return text_of(labels[(labels != before) & (labels != BLANK)].tolist())


def greedy_text(outputs: np.ndarray) -> str:
    """Decode all frames of a recording: argmax of (frames, 99), ties to the lowest label.

    Examples
    --------
    >>> outputs = np.zeros((3, 99))
    >>> outputs[[0, 1, 2], [0, 98, 0]] = 1.0
    >>> greedy_text(outputs)
    'aa'
    """
    return GreedyText().take(outputs.argmax(axis=1))
