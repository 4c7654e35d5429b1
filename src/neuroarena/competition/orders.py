"""Secret orders: the seed of every order is drawn from one key, committed at the start and revealed at the end."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from dataclasses import dataclass
from pathlib import Path

from neuroarena import atomic

KEY_BYTES = 32


@dataclass(frozen=True)
class Orders:
    """The key of a competition's secret orders, in a folder that only the runner's user may enter.

    Attributes
    ----------
    folder : Path
    """

    folder: Path

    def create(self) -> None:
        """Make the folder and draw the key."""
        self.folder.mkdir(parents=True)
        self.folder.chmod(0o700)
        place = self.folder / "key.secret"
        atomic.write_bytes(place, secrets.token_bytes(KEY_BYTES))
        place.chmod(0o600)

    def read_key(self) -> bytes:
        """Return the key."""
        return (self.folder / "key.secret").read_bytes()

    @property
    def commitment(self) -> str:
        """SHA-256 of the key, which is published at the start."""
        return hashlib.sha256(self.read_key()).hexdigest()

    def seed(self, submission: str, sha256: str, purpose: str) -> int:
        """Return the seed of an order; a retry of the same run gets the same one."""
        return int(derive_seed(self.read_key(), submission, sha256, purpose), 16)


def derive_seed(key: bytes, submission: str, sha256: str, purpose: str) -> str:
    """Return the seed that a key gives to a run, as 64 hexadecimal digits.

    It is HMAC-SHA256 of ``submission|sha256|purpose``, so that anyone who has the key can compute it with any tool.

    Examples
    --------
    >>> derive_seed(bytes(32), "s1", "ab", "order")[:16]
    'da739bac034b6e26'
    """
    return hmac.new(key, f"{submission}|{sha256}|{purpose}".encode(), hashlib.sha256).hexdigest()
