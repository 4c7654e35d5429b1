"""EDF and BDF files whose size does not match their header, and those where the header does not say."""

from __future__ import annotations

from pathlib import Path

import edfio
import numpy as np
import pytest

from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn.bdf import BdfSource
from neuroarena.recordings import annotations, open_file


@pytest.fixture(scope="module", params=["edf", "bdf"])
def noisy(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two channels of noise, 40 records: long enough to hold every byte many times."""
    path = tmp_path_factory.mktemp("sizes") / f"noise.{request.param}"
    rng = np.random.default_rng(7)
    made = edfio.EdfSignal if request.param == "edf" else edfio.BdfSignal
    signals = [
        made(
            rng.uniform(-99, 99, 40_000),
            1000,
            label=name,
            physical_dimension="uV",
            physical_range=(-100, 100),
        )
        for name in ("Cz", "Pz")
    ]
    (edfio.Edf if request.param == "edf" else edfio.Bdf)(signals).write(path)
    return path


DAMAGE = {
    "copied as text to Windows": (
        lambda content: content.replace(b"\n", b"\r\n"),
        r"is longer than its header says: 40 data records take \d+ bytes with the header, but the file has \d+ bytes\. "
        "Every line feed in it follows a carriage return: it was copied as text",
    ),
    "cut": (
        lambda content: content[:-1],
        r"is cut short: 40 data records .*The likely cause is an interrupted download\. Fetch it again",
    ),
    "cut in the header": (lambda content: content[:700], "ends inside its header"),
    "longer": (
        lambda content: content + b"more",
        "is longer .*damaged on the way, or something was appended",
    ),
    "one record more": (lambda content: content + bytes(12_000), r"is longer than its header says"),
    "an impossible number of records": (
        lambda content: content[:236] + b"-7      " + content[244:],
        "the number of data records cannot be -7",
    ),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_file_whose_size_does_not_match_its_header_is_refused_with_the_likely_cause(
    noisy: Path, tmp_path: Path, damage: str
) -> None:
    change, said = DAMAGE[damage]
    path = tmp_path / noisy.name
    path.write_bytes(change(noisy.read_bytes()))
    for read in (open_file, annotations, BdfSource):
        with pytest.raises(InputError, match=rf"^{path.name}: .*{said}"):
            read(path)


def test_a_file_copied_as_text_from_windows_is_refused_with_the_likely_cause(tmp_path: Path) -> None:
    # Every sample is CR LF (2573), the worst case of such a copy.
    path = tmp_path / "pairs.edf"
    signal = edfio.EdfSignal(
        np.full(8000, 2573.0), 1000, label="Cz", physical_dimension="uV", physical_range=(-32768, 32767)
    )
    edfio.Edf([signal]).write(path)
    path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n"))
    with pytest.raises(
        InputError, match=r"pairs\.edf: is cut short: .*No line feed in it follows .*copied as text"
    ):
        open_file(path)


@pytest.mark.parametrize("rest", [0, 1, 1999])
def test_a_file_that_is_still_being_recorded_is_read_as_far_as_it_goes(
    noisy: Path, tmp_path: Path, rest: int
) -> None:
    whole = open_file(noisy).read(0, 30_000)
    content = noisy.read_bytes()
    record = 2 * 1000 * (2 if noisy.suffix == ".edf" else 3)
    path = tmp_path / noisy.name
    body = 768 + 30 * record + rest
    path.write_bytes(content[:236] + b"-1      " + content[244:body])
    said = "it holds 30 and" if rest else r"it holds 30\."
    with pytest.warns(UserWarning, match=rf"does not say how many data records there are \(-1.*{said}"):
        recording = open_file(path)
    assert recording.n_samples == 30_000
    np.testing.assert_array_equal(recording.read(0, 30_000), whole)
    path.write_bytes(path.read_bytes()[: 768 + record - 1])
    with pytest.raises(InputError, match="holds no whole data record"):
        open_file(path)


def test_annotations_without_signals_are_all_read_and_open_as_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "hypnogram.edf"
    stages = [edfio.EdfAnnotation(30.0 * i, 30.0, f"Sleep stage {i % 5}") for i in range(50)]
    edfio.Edf([], annotations=stages).write(path)
    table = annotations(path)
    assert table["onset_s"].tolist() == [30.0 * i for i in range(50)]
    assert table["description"].tolist() == [stage.text for stage in stages]
    with pytest.raises(InputError, match=r"^hypnogram\.edf: holds annotations only, no signals\."):
        open_file(path)
