"""EDF, BDF and their annotations, parsed by the tests alone: nothing of the package, nothing of MNE."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

ANNOTATIONS = ("EDF Annotations", "BDF Annotations")


@dataclass
class PlainEdf:
    """What a file holds: labels, physical samples of each signal, rates, and annotations."""

    labels: list[str]
    units: list[str]
    samples: list[np.ndarray]
    rates: list[float]
    annotations: list[tuple[float, float, str]]


def read_plain(path: Path) -> PlainEdf:
    """Parse a whole file; no lazy reading, no checks."""
    content = path.read_bytes()
    width = 3 if content[0] == 0xFF else 2
    n_records, record_s, count = int(content[236:244]), float(content[244:252]), int(content[252:256])
    place = 256

    def column(size: int) -> list[str]:
        nonlocal place
        values = [
            content[place + size * i : place + size * (i + 1)].decode("latin-1").strip() for i in range(count)
        ]
        place += size * count
        return values

    labels, _, units = column(16), column(80), column(8)
    physical_min, physical_max, digital_min, digital_max = ([float(v) for v in column(8)] for _ in range(4))
    column(80)
    per_record = [int(value) for value in column(8)]
    body = np.frombuffer(content, np.uint8, offset=256 * (count + 1)).reshape(n_records, -1)
    signals: list[np.ndarray] = []
    stamps: list[tuple[float, float, str]] = []
    begin = 0
    for i in range(count):
        raw = np.ascontiguousarray(body[:, begin : begin + width * per_record[i]])
        begin += width * per_record[i]
        if labels[i] in ANNOTATIONS:
            stamps += [stamp for record in raw for stamp in parse_lists(record.tobytes())]
            signals.append(np.empty(0))
            continue
        bytes_ = raw.reshape(-1, width).astype(np.int64)
        integers = sum(bytes_[:, k] << (8 * k) for k in range(width))
        integers = np.where(integers >= 1 << (8 * width - 1), integers - (1 << (8 * width)), integers)
        gain = (physical_max[i] - physical_min[i]) / (digital_max[i] - digital_min[i])
        signals.append((integers - digital_min[i]) * gain + physical_min[i])
    # The first list of the first record says when its first sample was taken: time counts from there.
    origin = next((onset for onset, _, _ in stamps), 0.0)
    stamps = [(onset - origin, duration, text) for onset, duration, text in stamps if text]
    rates = [count_ / record_s if record_s else 0.0 for count_ in per_record]
    return PlainEdf(labels, units, signals, rates, stamps)


def parse_lists(record: bytes) -> list[tuple[float, float, str]]:
    """Parse the time-stamped annotation lists of one record: ``+onset[\\x15duration]\\x14text\\x14...\\x00``."""
    found = []
    for stamped in record.split(b"\x00"):
        if not stamped.strip(b"\x00"):
            continue
        time, *texts = stamped.split(b"\x14")
        onset, _, duration = time.partition(b"\x15")
        # The first list of a record only keeps time: its text is empty. So is what follows the last text.
        found += [(float(onset), float(duration or 0), text.decode("utf-8")) for text in texts[:-1]]
    return found
