"""The 98 keys of emg2qwerty as characters: one character per key, and how all others are treated."""

from __future__ import annotations

import unicodedata

from neuroarena.decoders.ctc import BACKSPACE, ENTER, KEYBOARD, SHIFT, SPACE

CHARACTERS, BLANK = KEYBOARD.characters, KEYBOARD.blank
labels_of, text_of = KEYBOARD.labels_of, KEYBOARD.text_of
NAMED_KEYS = {"Key.backspace": BACKSPACE, "Key.enter": ENTER, "Key.space": SPACE, "Key.shift": SHIFT}

# A set: "st" occurs in the string of characters, but is not a key.
_KEYS = frozenset(CHARACTERS)
_REPLACED = {
    "\n": ENTER,
    "\r": ENTER,
    "\x08": BACKSPACE,
    "\u2019": "'",
    "\u201c": '"',
    "\u201d": '"',
    "\u2014": "-",
}
# Letters and signs that Unicode does not decompose, with the one ASCII character they are commonly written as.
_PLAIN = dict(
    zip(
        "\u00f8\u00d8\u0142\u0141\u0111\u0110\u0127\u0126\u0131\u0167\u0166",
        "oOlLdDhHitT",
        strict=True,
    )
)
_PLAIN |= dict.fromkeys("\u2010\u2011\u2012\u2013\u2015\u2212", "-")
_PLAIN |= {"\u2018": "'", "\u201b": "'", "\u201a": ",", "\u00d7": "x", "\u00f7": "/", "\u00a1": "!"}


def character_of(key: str) -> str | None:
    """Return the character of a key as it was logged; None for a key that is not in the set.

    Parameters
    ----------
    key : str
        A character, or a name such as ``Key.space``.

    Examples
    --------
    >>> [character_of(key) for key in ("a", "Key.space", "\u2019", "\u00e9", "Key.caps_lock", "Key.tab")]
    ['a', ' ', "'", 'e', None, None]
    """
    if key in NAMED_KEYS:
        return NAMED_KEYS[key]
    # A named key is never spelled out: "Key.tab" is not text.
    return _normal(key) if len(key) == 1 else None


def normal_text(text: str) -> str:
    """Convert a text to the characters of the set; anything else is dropped.

    Line ends become the sign for enter, the backspace character its sign, curly quotes and dashes
    plain ones; an accented letter is its plain letter. Backspace is a character like any other:
    it is never applied.

    Examples
    --------
    >>> normal_text("caf\u00e9 \u201cno\u201d\\n")
    'cafe "no"\u23ce'
    """
    return "".join(filter(None, map(_normal, text)))


def _normal(character: str) -> str | None:
    character = _REPLACED.get(character, character)
    if character in _KEYS:
        return character
    plain = _PLAIN.get(character) or "".join(
        part for part in unicodedata.normalize("NFKD", character) if not unicodedata.combining(part)
    )
    return plain if plain in _KEYS else None
