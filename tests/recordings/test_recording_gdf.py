"""GDF files written by the test, field by field: types, units, rates and events."""

from __future__ import annotations

import pickle
import struct
from pathlib import Path
from typing import Any

import mne
import numpy as np
import pytest

from neuroarena.errors import InputError
from neuroarena.recordings import annotations, open_file
from neuroarena.recordings.bids import open_bids

MICROVOLT, MILLIVOLT, VOLT, NONE = 4275, 4274, 4256, 0
WIDTHS = {3: "<i2", 5: "<i4", 16: "<f4", 17: "<f8"}


def write_gdf(path: Path, signals: list[dict[str, Any]], events: bytes = b"", date: int = 0) -> Path:
    """Write GDF 2.20 with ten records of a tenth of a second."""
    count = len(signals)
    head = bytearray(256)
    head[:8] = b"GDF 2.20"
    head[168:176] = struct.pack("<Q", date)
    head[184:186] = struct.pack("<H", count + 1)
    head[236:244] = struct.pack("<q", 10)
    head[244:252] = struct.pack("<II", 1, 10)
    head[252:254] = struct.pack("<H", count)
    table = bytearray(256 * count)
    for row, signal in enumerate(signals):
        table[16 * row : 16 * row + 16] = signal["label"].encode().ljust(16, b"\x00")
        struct.pack_into("<H", table, 102 * count + 2 * row, signal.get("unit", MICROVOLT))
        for place, value in zip(
            (104, 112, 120, 128), signal.get("limits", (-100, 100, -100, 100)), strict=True
        ):
            struct.pack_into("<d", table, place * count + 8 * row, value)
        struct.pack_into("<I", table, 216 * count + 4 * row, len(signal["values"]) // 10)
        struct.pack_into("<I", table, 220 * count + 4 * row, signal.get("type", 3))
    body = b""
    for record in range(10):
        for signal in signals:
            step = len(signal["values"]) // 10
            part = np.asarray(signal["values"][record * step : (record + 1) * step])
            code = signal.get("type", 3)
            if code in WIDTHS:
                body += part.astype(WIDTHS[code]).tobytes()
            else:
                body += b"".join((int(value) & 0xFFFFFF).to_bytes(3, "little") for value in part)
    path.write_bytes(bytes(head) + bytes(table) + body + events)
    return path


VALUES = np.arange(-50, 50)


def test_every_type_and_unit_is_read_as_written(tmp_path: Path) -> None:
    path = write_gdf(
        tmp_path / "types.gdf",
        [
            {"label": "i16", "values": VALUES},
            {"label": "i32 half", "values": VALUES, "type": 5, "limits": (-50, 50, -100, 100)},
            {"label": "f32 mV", "values": VALUES, "type": 16, "unit": MILLIVOLT},
            {"label": "f64 V", "values": VALUES, "type": 17, "unit": VOLT},
            {"label": "i24", "values": VALUES * 1000, "type": 279, "limits": (-100, 100, -100_000, 100_000)},
            {"label": "u24", "values": VALUES + 8_388_658, "type": 535, "limits": (0, 2**24, 0, 2**24)},
            {"label": "none", "values": VALUES, "unit": NONE},
            {"label": "Status", "values": VALUES, "unit": NONE},
        ],
    )
    recording = open_file(path)
    factors = [1, 0.5, 1e3, 1e6, 1, None, 1e6, 1]
    read = recording.read(0, 100)
    for row, factor in enumerate(factors):
        expected = VALUES + 8_388_658 if factor is None else VALUES * factor
        np.testing.assert_allclose(read[row], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(recording.read(37, 62), read[:, 37:62])
    assert recording.rate_hz == 100.0
    assert recording.channels["kind"].tolist() == ["eeg"] * 7 + ["stim"]
    again = pickle.loads(pickle.dumps(recording))
    np.testing.assert_array_equal(again.read(0, 100), read)
    assert again.fingerprint() == recording.fingerprint()


def test_mne_reads_the_same_where_it_can(tmp_path: Path) -> None:
    path = write_gdf(
        tmp_path / "same.gdf",
        [
            {"label": "EEG", "values": VALUES},
            {"label": "EEG", "values": VALUES[::-1]},
            {"label": "Oz", "values": VALUES},
        ],
        events=b"\x03" + (1).to_bytes(3, "little") + struct.pack("<fIHHI", 100.0, 31, 769, 0, 20),
    )
    raw = mne.io.read_raw_gdf(path, preload=True, verbose="error")
    recording = open_file(path)
    assert recording.channels["name"].tolist() == raw.ch_names == ["EEG-0", "EEG-1", "Oz"]
    np.testing.assert_allclose(recording.read(0, 100), raw.get_data() * 1e6, rtol=1e-6, atol=1e-6)
    table = annotations(path)
    assert table.to_numpy().tolist() == [[0.3, 0.2, "769"]]
    np.testing.assert_allclose(raw.annotations.onset, table["onset_s"])


def test_slower_signals_are_left_out_by_name(tmp_path: Path) -> None:
    path = write_gdf(
        tmp_path / "rates.gdf",
        [
            {"label": "Cz", "values": VALUES},
            {"label": "temperature", "values": VALUES[:10]},
            {"label": "Oz", "values": VALUES},
        ],
    )
    with pytest.warns(UserWarning, match=r"rates\.gdf: left out temperature"):
        recording = open_file(path)
    np.testing.assert_allclose(recording.read(0, 100), [VALUES, VALUES])


def test_a_number_that_is_not_a_date_does_not_matter(tmp_path: Path) -> None:
    path = write_gdf(tmp_path / "date.gdf", [{"label": "Cz", "values": VALUES}], date=565_104_705)
    np.testing.assert_allclose(open_file(path).read(0, 100), [VALUES])
    assert annotations(path).empty


@pytest.mark.parametrize(
    ("unit", "written", "factor"), [(MICROVOLT, "mV", 1), (NONE, "mV", 1e3), (NONE, "n/a", 1e6)]
)
def test_in_bids_the_file_states_the_unit_and_else_the_table_does(
    tmp_path: Path, unit: int, written: str, factor: float
) -> None:
    folder = tmp_path / "sub-01" / "ieeg"
    folder.mkdir(parents=True)
    path = write_gdf(
        folder / "sub-01_task-rest_ieeg.gdf",
        [{"label": name, "values": VALUES, "unit": unit} for name in ("G1", "A1", "S1")],
    )
    rows = [f"G1\tECOG\t{written}", f"A1\tSEEG\t{written}", f"S1\tDBS\t{written}"]
    (folder / "sub-01_task-rest_channels.tsv").write_text("\n".join(["name\ttype\tunits", *rows]) + "\n")
    recording = open_bids(path)
    assert recording.channels["kind"].tolist() == ["ecog", "seeg", "dbs"]
    np.testing.assert_allclose(recording.read(0, 100), [VALUES * factor] * 3, rtol=1e-6)
    assert open_bids(path, kinds=["ieeg"]).channels["name"].tolist() == ["G1", "A1", "S1"]
    assert open_bids(path, kinds=["seeg"]).channels["name"].tolist() == ["A1"]


DAMAGE = {
    "a table of events cut short": (
        b"\x01" + (9).to_bytes(3, "little") + bytes(20),
        {},
        "its table of 9 events is cut",
    ),
    "equal limits": (b"", {"limits": (5, 5, 5, 5)}, "limits of the signal Cz in its header cannot scale"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_refused_by_name(tmp_path: Path, damage: str) -> None:
    events, change, said = DAMAGE[damage]
    path = write_gdf(tmp_path / "damaged.gdf", [{"label": "Cz", "values": VALUES} | change], events)
    with pytest.raises(InputError, match=rf"^damaged\.gdf: .*{said}"):
        annotations(path)
