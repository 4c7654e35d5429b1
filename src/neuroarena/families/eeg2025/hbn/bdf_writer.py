"""Write BDF files: 24-bit samples in records of one second. Shares no code with the reader."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

# Eight million steps of 1/32 microvolt on either side of zero: exact in binary, zero is a step itself, and the
# limits fit into the eight letters that a header has for them.
STEP_UV = 2.0**-5
MOST_STEPS = 8_000_000


def write_bdf(path: str | Path, labels: Sequence[str], samples_uv: np.ndarray, rate_hz: int) -> None:
    """Write signals as BDF; the last second is padded with the last sample.

    Parameters
    ----------
    path : path
    labels : sequence of str
        Names of the channels, up to 16 letters of ASCII.
    samples_uv : array (channels, samples)
        Microvolts; rounded to 1/32, and clipped at +-250000.
    rate_hz : int
        Samples per second.
    """
    n_channels, n_samples = samples_uv.shape
    n_records = -(-n_samples // rate_hz)
    steps = np.clip(np.rint(np.asarray(samples_uv, dtype=np.float64) / STEP_UV), -MOST_STEPS, MOST_STEPS)
    stored = np.empty((n_channels, n_records * rate_hz), dtype="<i4")
    stored[:, :n_samples] = steps
    stored[:, n_samples:] = stored[:, n_samples - 1 : n_samples]
    records = stored.reshape(n_channels, n_records, rate_hz).transpose(1, 0, 2)
    # The lower three bytes of a little-endian 32-bit integer are the 24-bit one.
    data = np.ascontiguousarray(records).view(np.uint8).reshape(-1, 4)[:, :3]
    with open(path, "wb") as file:
        file.write(_header(labels, n_records, rate_hz))
        file.write(np.ascontiguousarray(data).tobytes())


def _header(labels: Sequence[str], n_records: int, rate_hz: int) -> bytes:
    n = len(labels)
    start = (
        b"\xffBIOSEMI"
        + _field("X X X X", 80)
        + _field("Startdate X X X X", 80)
        + _field("01.01.85", 8)
        + _field("00.00.00", 8)
        + _field(256 * (n + 1), 8)
        + _field("24BIT", 44)
        + _field(n_records, 8)
        + _field(1, 8)
        + _field(n, 4)
    )
    signals = (
        [_field(label, 16) for label in labels],
        [_field("EGI electrode", 80)] * n,
        [_field("uV", 8)] * n,
        [_field(f"{-MOST_STEPS * STEP_UV:.0f}", 8)] * n,
        [_field(f"{MOST_STEPS * STEP_UV:.0f}", 8)] * n,
        [_field(-MOST_STEPS, 8)] * n,
        [_field(MOST_STEPS, 8)] * n,
        [_field("", 80)] * n,
        [_field(rate_hz, 8)] * n,
        [_field("", 32)] * n,
    )
    return start + b"".join(b"".join(fields) for fields in signals)


def _field(value: object, width: int) -> bytes:
    text = str(value).encode("ascii")
    if len(text) > width:
        raise ValueError(f'"{value}" takes more than the {width} letters that BDF has for it')
    return text.ljust(width)
