"""Ports for servers that must be told one before they bind it, or bind it again after they were killed."""

from __future__ import annotations

import random
import socket
from pathlib import Path

_RANGE = Path("/proc/sys/net/ipv4/ip_local_port_range")
_LOWEST, _USUAL = 15_000, 32_768


def find_free_ports(n: int) -> list[int]:
    """Find ports that nobody has and that the kernel hands to nobody who asks for any port."""
    first_of_kernel = int(_RANGE.read_text().split()[0]) if _RANGE.exists() else _USUAL
    chance, found = random.SystemRandom(), list[int]()
    while len(found) < n:
        port = chance.randrange(_LOWEST, max(first_of_kernel, _LOWEST + 1000))
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in found:
            found.append(port)
    return found
