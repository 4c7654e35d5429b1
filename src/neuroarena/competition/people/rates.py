"""Rates: how often somebody may try; counted per address of a client, per account and per team.

They are counted in the process, not in the store: a count in the store would let a stranger write as often as they can
knock, and what is guarded here is this process's time and the guessing of passwords. A restart forgets at most one
window; several processes allow as many times more. Caps of attempts are another matter, and are counted in the store.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from neuroarena.errors import NeuroarenaError

MOST_KEYS = 20_000


class TooOften(NeuroarenaError):
    """Somebody tried too often.

    Attributes
    ----------
    retry_after_s : int
        When the next try is free.
    """

    def __init__(self, retry_after_s: int) -> None:
        self.retry_after_s = retry_after_s
        minutes = math.ceil(retry_after_s / 60)
        wait = f"{retry_after_s} seconds" if retry_after_s < 120 else f"{minutes} minutes"
        super().__init__(f"There were too many tries. Wait {wait}, and try again.")


@dataclass
class Rate:
    """A bucket for each key, which holds `most` tries and refills within `window_s`.

    Attributes
    ----------
    most : int
    window_s : float
    clock : callable
        Seconds that only go forward.
    """

    most: int
    window_s: float
    clock: Callable[[], float] = time.monotonic
    _levels: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, key: str) -> None:
        """Count a try.

        Raises
        ------
        TooOften
            When none is free; this one is not counted then.
        """
        with self._lock:
            now = self.clock()
            level = self._level(key, now)
            if level < 1:
                raise TooOften(max(1, math.ceil((1 - level) * self.window_s / self.most)))
            self._keep(key, level - 1, now)

    def give_back(self, key: str) -> None:
        """Take a try back that turned out right."""
        with self._lock:
            now = self.clock()
            self._keep(key, min(self.most, self._level(key, now) + 1), now)

    def _level(self, key: str, now: float) -> float:
        level, at = self._levels.get(key, (float(self.most), now))
        return min(self.most, level + (now - at) * self.most / self.window_s)

    def _keep(self, key: str, level: float, now: float) -> None:
        self._levels[key] = (level, now)
        self._levels.move_to_end(key)
        while len(self._levels) > MOST_KEYS:
            # The one that has been quiet for longest is the fullest, or nearly.
            self._levels.popitem(last=False)


@dataclass
class Rates:
    """The rates of a server.

    Attributes
    ----------
    client : Rate
        Of everything that costs a hash of a password or a letter, per address of a client.
    sign_in : Rate
        Wrong passwords per address of mail, whether or not it has an account.
    letters : Rate
        Letters per address of mail: nobody's mailbox is filled by us.
    checks : Rate
        Files that a team has checked.
    """

    client: Rate = field(default_factory=lambda: Rate(30, 600))
    sign_in: Rate = field(default_factory=lambda: Rate(10, 900))
    letters: Rate = field(default_factory=lambda: Rate(4, 3600))
    checks: Rate = field(default_factory=lambda: Rate(60, 600))
