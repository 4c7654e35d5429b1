"""Write the tables "statistic, real, twin" into the pages, between their marks.

    python tools/twin_tables.py [NAME ...]      (make tables: all)

Real files are read from ``../shared/data``; nothing of them but these statistics enters the project. Each twin is
simulated anew with the options stated under its table. A test recomputes the tables and fails where a page differs.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import twin_readings as readings

from neuroarena.datasets import load_dataset
from neuroarena.datasets.likeness import Statistics, write_table

PROJECT = Path(__file__).resolve().parents[1]
DATA = PROJECT.parent / "shared" / "data"


@dataclass(frozen=True)
class Comparison:
    """A twin, what it is compared with, and where the table stands.

    Attributes
    ----------
    page : str
        File name below docs.
    twin : callable
        Measures the folder of a twin.
    real : callable, optional
        Measures real files, given the folder of data; absent where none is at hand.
    origin : str
        What the real column is.
    options : mapping
        Of the twin; what is left out is as `data simulate` has it.
    published : mapping
        Figures that a publication states, for statistics that no file at hand can give.
    """

    page: str
    twin: Callable[[Path], Statistics]
    origin: str
    real: Callable[[Path], Statistics] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    published: Mapping[str, str] = field(default_factory=dict)


COMPARISONS: dict[str, Comparison] = {
    "sleep_edf": Comparison(
        "track-sleep.md",
        readings.twin_sleep_edf,
        "26 hypnograms of the cassette study; levels from the band powers of 14 nights, which the twin was fitted to",
        readings.real_sleep_edf,
        {"people": 20, "nights": 2, "minutes": 120},
    ),
    "muse_sleep": Comparison(
        "track-sleep.md",
        readings.twin_muse_sleep,
        "no file was at hand; published means the card of the set (NEMAR nm000287). How it sounds is not known here",
        options={"people": 5, "recordings": 2, "longest": 20},
        published={
            "people": "203 (published)",
            "recordings": "540 (published)",
            "electrodes": "TP9, AF7, AF8, TP10 (published)",
            "rate (Hz)": "128 (published)",
            "a file ends so long after stable N2 (s)": "300 (published)",
        },
    ),
    "hbn": Comparison(
        "eeg2025.md",
        readings.twin_hbn,
        "the participants of release 1, and the events of 40 of them; no signals were at hand",
        readings.real_hbn,
        {"releases": "R1,R5"},
    ),
    "emg2qwerty": Comparison(
        "track-emg.md",
        readings.twin_emg2qwerty,
        "the keys of 6 sessions of 2 people in the BIDS copy; their signals were not at hand",
        readings.real_emg2qwerty,
    ),
    "bci_commands": Comparison(
        "track-bci.md",
        readings.twin_bci_commands,
        "**another study**: imagined fists of one person (PhysioNet eegmmidb S001, runs 4 and 8; run 6, feet, too), "
        "since no recording of PROTEUS was at hand",
        readings.real_bci_commands,
    ),
    "ssvep_exo": Comparison(
        "track-bci.md",
        readings.twin_ssvep_exo,
        "all twelve people",
        readings.real_ssvep_exo,
    ),
    "braintreebank": Comparison(
        "neuroprobe.md",
        readings.twin_braintreebank,
        "the published word tables of the twelve lite sessions and the pitch tables of five films; "
        "no signals were at hand",
        readings.real_braintreebank,
        {"electrodes": 16},
    ),
    "things_eeg2": Comparison(
        "track-img.md",
        readings.twin_things_eeg2,
        "the list of images; embeddings are CLIP features of the 200 test images, not the DINOv2 features of the "
        "track. No EEG was at hand",
        readings.real_things_eeg2,
        {"subjects": 1},
    ),
    "brainscore_vision": Comparison(
        "brainscore-tutorial.md",
        readings.twin_brainscore_vision,
        "the dissimilarities of 92 other images in monkey IT (674 neurons, Kriegeskorte et al. 2008); published means "
        "Majaj et al. 2015 as Brain-Score packages it. No assembly of responses was at hand",
        readings.real_brainscore_vision,
        published={
            "V4: neuroids": "88 (published)",
            "IT: neuroids": "168 (published)",
            "V4: images": "3,200 (published)",
            "IT: images": "3,200 (published)",
        },
    ),
}


def measure_real(name: str, data: Path = DATA) -> dict[str, str]:
    """Return the statistics of the real column of a table."""
    chosen = COMPARISONS[name]
    return {**chosen.published, **(chosen.real(data) if chosen.real is not None else {})}


def measure_twin(name: str) -> dict[str, str]:
    """Simulate a twin in a temporary folder and return its statistics."""
    chosen = COMPARISONS[name]
    with tempfile.TemporaryDirectory(prefix="twin-table-") as folder:
        root = Path(folder) / name
        load_dataset(name).simulate(root, **chosen.options)
        return dict(chosen.twin(root))


def write_section(name: str, real: Statistics, twin: Statistics) -> str:
    """Return what stands between the marks of a twin."""
    chosen = COMPARISONS[name]
    options = "".join(f" --{option.replace('_', '-')} {value}" for option, value in chosen.options.items())
    return "\n".join(
        [
            write_table(real, twin),
            "",
            f"Real: {chosen.origin}. Twin: `neuroarena data simulate {name} DIR{options}`, seed 0. "
            "A number with two behind it is a median with its quartiles. Made by `make tables`.",
        ]
    )


def marks(name: str) -> tuple[str, str]:
    """Return the two lines between which the table of a twin stands."""
    return f"<!-- twin table of {name}: generated -->", f"<!-- end of the twin table of {name} -->"


def read_section(name: str) -> str:
    """Return what a page has between the marks of a twin."""
    text = (PROJECT / "docs" / COMPARISONS[name].page).read_text(encoding="utf-8")
    begin, end = marks(name)
    return text.partition(begin)[2].partition(end)[0].strip("\n")


def replace_section(name: str, section: str) -> None:
    """Write a table into its page.

    Raises
    ------
    ValueError
        When the page has no place for it.
    """
    page = PROJECT / "docs" / COMPARISONS[name].page
    begin, end = marks(name)
    before, found, rest = page.read_text(encoding="utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise ValueError(f"{page}: lacks the lines {begin!r} and {end!r}.")
    page.write_text(f"{before}{begin}\n{section}\n{end}{after}", encoding="utf-8")


def main() -> None:
    """Write the tables that were named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(COMPARISONS))
    names = parser.parse_args().names or list(COMPARISONS)
    unknown = [name for name in names if name not in COMPARISONS]
    if unknown:
        sys.exit(f"There is no table of {unknown[0]}; there are those of {', '.join(COMPARISONS)}.")
    if not DATA.is_dir():
        sys.exit(f"{DATA} is not there, so nothing real can be measured; the pages stay as they are.")
    for name in names:
        replace_section(name, write_section(name, measure_real(name), measure_twin(name)))
        print(f"{COMPARISONS[name].page}: {name}")


if __name__ == "__main__":
    main()
