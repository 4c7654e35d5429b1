"""Which stretch of a recording is an example: it begins at an uninformative time and has the same length for all."""

from __future__ import annotations

import hashlib
import hmac
from dataclasses import dataclass, field

from neuroarena.errors import InputError

LEAST_SECRET = 16


@dataclass(frozen=True)
class StretchRule:
    """Where a stream begins and ends.

    A stream begins where its recording begins, but at most D seconds before the onset, and D is drawn for each
    recording by a hash of its id. So the time from the start to the onset depends on the hash, not on the habits
    of a sleep laboratory (whose recordings begin hours before sleep) nor on how the files were cut.

    Without a secret the hash is public: whoever knows the id of a recording that begins early enough knows D, and with
    it the answer. A sealed phase draws with a secret that only its organiser holds.

    Attributes
    ----------
    least_s, most_s : float
        D is drawn evenly from least_s to most_s. An onset sooner than least_s cannot be used.
    length_s : float
        Of every stretch; shorter only where the recording ends earlier.
    secret : bytes, optional
        Key of the drawing, at least 16 bytes; None draws publicly.

    Raises
    ------
    InputError
        When the secret is shorter.

    Examples
    --------
    >>> rule = StretchRule("sleep/sleep-edf", 300.0, 1500.0, 1800.0)
    >>> round(rule.most_before_s("SC4001"), 1)
    674.7
    """

    task: str
    least_s: float
    most_s: float
    length_s: float
    secret: bytes | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        """Refuse a secret that can be guessed."""
        if self.secret is not None and len(self.secret) < LEAST_SECRET:
            raise InputError(
                f"{self.task}: the secret that streams are drawn with has {len(self.secret)} bytes; "
                f"expected at least {LEAST_SECRET}, such as secrets.token_bytes(32) returns."
            )

    def most_before_s(self, key: str) -> float:
        """Draw the largest number of seconds before the onset at which the stream of a recording may begin."""
        text = f"{self.task} {key}".encode()
        public = self.secret is None
        drawn = hashlib.sha256(text).digest() if public else hmac.digest(self.secret or b"", text, "sha256")
        fraction = int.from_bytes(drawn[:8], "big") / 2**64
        return self.least_s + fraction * (self.most_s - self.least_s)

    def usable(self, onset_s: float) -> bool:
        """Return whether the onset is late enough for a stream to begin before it."""
        return onset_s >= self.least_s

    def stretch(self, key: str, onset_s: float, rate_hz: float, n_samples: int) -> tuple[int, int, float]:
        """Return the first and the last sample of a stretch, and the seconds from the first to the onset.

        Raises
        ------
        InputError
            When the onset lies outside the recording.
        """
        if not 0 <= onset_s * rate_hz < n_samples:
            raise InputError(
                f"{key}: the onset at {onset_s:g} s lies outside the recording, "
                f"which lasts {n_samples / rate_hz:g} s."
            )
        start = max(0, round((onset_s - self.most_before_s(key)) * rate_hz))
        stop = min(n_samples, start + round(self.length_s * rate_hz))
        return start, stop, onset_s - start / rate_hz
