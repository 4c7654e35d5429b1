"""The electrodes of the simulated BrainTreebank: labels, positions, and which of them are planted."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.families.neuroprobe.braintreebank.twin_signal import SOURCES, Response, draw_response

# The lite electrodes of each subject as runs of contacts, in their published order.
RUNS = {
    1: "T1bIc1-8 T1cIf10-16 T1aIb1-8 T3aHb9-10 T1cIf1-8 T2bHa7-14 T3bOT8-10 F3cId1-9 T2c4-8 F3bIaOFb1-16 "
    "T2d1-6 F3aOFa7-16 F3aOFa2-4 T3bOT1-6 T2bHa3-5 F3dIe1-10 T2aA1-8",
    2: "LT3d1-8 LT1c2-8 LT1bIb1-10 RT1c7-10 RT1aIa1-8 RT1bIb1-8 RT1c1-5 RT2aA1-10 LT2aA4-14 LT2aA1-2 "
    "LT3a1-10 RT2b1-5 LT3cHb4-12 RT3bHb4-8 RT3aHa4-14 LT2b1-6",
    3: "T1cIe5-12 T1b1-6 T1aIc3-6 O1aIb9-16 F3d1-10 F3aOF1-8 F3c1-6 F2Ia1-14 P2a1-9 O1bId8-16 F3b7-8 "
    "O1bId1-5 F3b1-4 P2b3-16 T1cIe1-2",
    4: "LT1bId1-7 LT1cCd1-16 LT3Ha1-9 LF3cIc1-10 LF3bIa1-11 LF3aOFa1-16 LT2bHb1-12 LT2aA1-12 LF1aCaOF1-16 "
    "LT1aIb1-9 RF1cCc1-2",
    7: "LT1A1-14 LF1aCaOF1-16 LT2H1-16 RF1aCaOF1-16 LF1bIb1-16 LF1cCb1-11 LF2b1-14 LF3bOFb1-16",
    10: "T1bId1-10 T1cIf1-12 T1aIa5-10 F10Fa14-16 F2e1-8 T2aA1-4 F3bIb1-10 F10Fa1-4 P2aIe1-12 F3cIc1-10 "
    "T2aA7-14 T1aIa1-3 F3aOFc1-16 P2cCc1-4 T2bH1-2 P2cCc6-13",
}
# Contacts that a reader must drop, per subject: one that counts as corrupted, one without a position.
CORRUPTED = {1: "T1bIc9", 2: "LT3d9", 3: "T1cIe13", 4: "LT1bId8", 7: "LT1A15", 10: "T1bId11"}
UNLOCATED = {1: "F3cId10", 3: "F3c9", 4: "LT1aIb10", 7: "LF3aOFa16", 10: "T1aIa4"}
NOT_ELECTRODES = ("DC10", "TRIG4")

# The sources that most people inspect first: they get the electrodes with free neighbours and the widest bursts.
PROMINENT = ("first_words", "other_words", "volume")

# A source lies in the same region in every subject and is alone in it, so that decoders that pool electrodes
# by region carry over between subjects.
SOURCE_REGIONS = (
    "ctx-lh-superiortemporal",
    "ctx-lh-middletemporal",
    "ctx-lh-transversetemporal",
    "ctx-lh-bankssts",
    "ctx-lh-supramarginal",
    "ctx-lh-parsopercularis",
    "ctx-lh-parstriangularis",
    "ctx-lh-inferiortemporal",
    "ctx-lh-temporalpole",
    "ctx-lh-parsorbitalis",
    "ctx-lh-lateraloccipital",
    "ctx-lh-inferiorparietal",
    "ctx-lh-cuneus",
    "ctx-lh-fusiform",
)
OTHER_REGIONS = (
    "Left-Cerebral-White-Matter",
    "ctx-lh-insula",
    "Left-Hippocampus",
    "ctx-lh-superiorfrontal",
    "Left-Amygdala",
    "ctx-lh-lateralorbitofrontal",
)


@dataclass(frozen=True)
class Montage:
    """The electrodes of one subject.

    Attributes
    ----------
    subject : int
        The subject's number.
    labels : tuple of str
        All labels in file order, clean, including those that a reader must drop.
    kept : tuple of str
        The labels that a reader keeps.
    sources : dict of str to str
        Planted source to label.
    responses : dict of str to Response
        Planted source to its response.
    """

    subject: int
    labels: tuple[str, ...]
    kept: tuple[str, ...]
    sources: dict[str, str]
    responses: dict[str, Response]

    def region(self, label: str) -> str:
        """Return the region of an electrode."""
        for source, planted in self.sources.items():
            if planted == label:
                return SOURCE_REGIONS[SOURCES.index(source)]
        return OTHER_REGIONS[self.labels.index(label) % len(OTHER_REGIONS)]


def lite_labels(subject: int) -> list[str]:
    """List the lite electrodes of a subject in their published order."""
    labels = []
    for run in RUNS[subject].split():
        stem, low, high = re.fullmatch(r"(.*[A-Za-z])(\d+)-(\d+)", run).groups()  # type: ignore[union-attr]
        labels += [f"{stem}{contact}" for contact in range(int(low), int(high) + 1)]
    return labels


def make_montage(subject: int, n_electrodes: int, rng: np.random.Generator) -> Montage:
    """Choose the electrodes of a subject and what is planted on them."""
    kept = lite_labels(subject)[:n_electrodes]
    labels = list(kept)
    labels.insert(2, CORRUPTED[subject])
    if subject in UNLOCATED:
        labels.insert(len(labels) // 2, UNLOCATED[subject])
    labels.extend(NOT_ELECTRODES)
    positions = _planted_positions(kept)
    upper = {position: bool(number % 2) for number, position in enumerate(sorted(positions))}
    rng.shuffle(positions)
    positions.sort(key=lambda position: -_free_neighbours(kept, position, positions))
    sources = {source: kept[position] for source, position in zip(SOURCES, positions, strict=True)}
    responses = {
        source: draw_response(upper[position], source in PROMINENT, rng)
        for source, position in zip(SOURCES, positions, strict=True)
    }
    return Montage(subject, tuple(labels), tuple(kept), sources, responses)


def _planted_positions(kept: list[str]) -> list[int]:
    """Choose one position per source, spread over the probes; direct neighbours only where unavoidable."""
    place = {label: position for position, label in enumerate(kept)}
    apart: list[int] = []
    alone: list[int] = []
    for position, label in enumerate(kept):
        around = [place[other] for other in _neighbours(label) if other in place]
        if not around:
            alone.append(position)
        elif not any(other in apart for other in around):
            apart.append(position)
    if len(apart) >= len(SOURCES):
        picks = np.linspace(0, len(apart) - 1, len(SOURCES)).round().astype(int)
        return [apart[pick] for pick in picks]
    rest = [position for position in range(len(kept)) if position not in apart and position not in alone]
    return (apart + rest + alone)[: len(SOURCES)]


def _neighbours(label: str) -> tuple[str, str]:
    stem, contact = re.fullmatch(r"(.*[A-Za-z])(\d+)", label).groups()  # type: ignore[union-attr]
    return f"{stem}{int(contact) - 1}", f"{stem}{int(contact) + 1}"


def _free_neighbours(kept: list[str], position: int, planted: list[int]) -> int:
    taken = {kept[other] for other in planted}
    return sum(label in kept and label not in taken for label in _neighbours(kept[position]))


def written_labels(montage: Montage) -> list[str]:
    """Return the labels as the label file spells them: some carry a star or a hash."""
    return [
        f"*{label}" if number % 7 == 1 else f"{label}#" if number % 7 == 4 else label
        for number, label in enumerate(montage.labels)
    ]


def depth_table(montage: Montage, rng: np.random.Generator) -> pd.DataFrame:
    """Make localization/sub_N/depth-wm.csv."""
    rows: list[dict[str, Any]] = []
    for number, label in enumerate(montage.labels):
        if label in NOT_ELECTRODES:
            continue
        region = montage.region(label)
        left, posterior, inferior = rng.uniform(60, 200, 3).round(2)
        rows.append(
            {
                "Electrode": f"*{label}" if number % 7 == 1 else label,
                "L": left,
                "P": posterior,
                "I": inferior,
                "DesikanKilliany": region,
                "Destrieux": region.replace("ctx-lh-", "ctx_lh_G_"),
            }
        )
    return pd.DataFrame(rows)


def coordinate_rows(montage: Montage, rng: np.random.Generator) -> list[dict[str, Any]]:
    """Make the subject's rows of localization/elec_coords_full.csv, probe by probe along a line."""
    rows: list[dict[str, Any]] = []
    entries: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for number, label in enumerate(montage.labels):
        if label in NOT_ELECTRODES or label == UNLOCATED.get(montage.subject):
            continue
        stem, contact = re.fullmatch(r"(.*[A-Za-z])(\d+)", label).groups()  # type: ignore[union-attr]
        if stem not in entries:
            direction = rng.normal(0, 1, 3)
            target = np.array([-20.0, 0.0, 10.0]) + rng.normal(0, 12, 3)
            entries[stem] = (target, 3.5 * direction / np.linalg.norm(direction))
        target, pace = entries[stem]
        x, y, z = (target + int(contact) * pace).round(3)
        name = f"{label}*" if number % 5 == 2 else label
        rows.append(
            {
                "ID": f"sub_{montage.subject}-{name}",
                "Subject": f"sub_{montage.subject}",
                "Electrode": name,
                "X": x,
                "Y": y,
                "Z": z,
                "Hemisphere": 1,
                "Region": montage.region(label),
            }
        )
    return rows
