"""Where electrodes are, in the coordinates PopulationTransformer was trained with."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.decoders.decoder import Group
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.encoders.shapes import POSITIONS
from neuroarena.fingerprint import digest, file_digest

# The middle of a cube of 256 voxels of a millimetre.
CENTRE = 128.0


@dataclass(frozen=True)
class Places:
    """How an electrode gets its left, inferior and posterior index.

    PopT was trained with the columns L, I, P of BrainTreebank's ``localization/sub_N/depth-wm.csv``:
    voxels of each subject's own scan. With that folder (:func:`find_places`) these are used.
    Without it they are approximated by the channel table's position, taken as millimetres to the
    right, front and top of the middle of a cube of 256: L = 128 - x, I = 128 - z, P = 128 - y.

    Attributes
    ----------
    localization_sha256 : str
        Of the content of the folder's tables; "" for the approximation.
    """

    localization_sha256: str = ""

    def of(self, group: Group) -> np.ndarray:
        """Return the places of a group's channels: int64 array (channels, 3).

        Raises
        ------
        InputError
            When a channel has no place, or one outside 0 to 4999.
        """
        names = [str(name) for name in group.channels["name"]]
        if self.localization_sha256:
            known: dict[str, dict[str, tuple[float, ...]]] = self.tables_  # type: ignore[attr-defined]
            subject = str(group.table["subject"].iloc[0]) if len(group.table) else ""
            own = known.get(subject.removeprefix("sub_"), {})
            places = np.array([own.get(name, (np.nan,) * 3) for name in names], dtype=float)
        else:
            x, y, z = group.channels[["x", "y", "z"]].to_numpy(dtype=float).T
            places = CENTRE - np.stack([x, z, y], axis=1)
        return _check(places, names)


def _check(places: np.ndarray, names: list[str]) -> np.ndarray:
    unknown = [name for name, place in zip(names, places, strict=True) if np.isnan(place).any()]
    if unknown:
        raise InputError(
            f"PopT: {len(unknown)} of {len(names)} electrodes have no position ({', '.join(unknown[:5])}). "
            "Add their positions, or leave these electrodes out."
        )
    whole: np.ndarray = np.trunc(places).astype(np.int64)
    outside = [
        name
        for name, place in zip(names, whole, strict=True)
        if (place < 0).any() or (place >= POSITIONS).any()
    ]
    if outside:
        raise InputError(
            f"PopT: the position of electrode {outside[0]} lies outside 0 to {POSITIONS - 1} "
            "(left, inferior, posterior). Check the unit of the positions: millimetres are expected."
        )
    return whole


def find_places(localization: str | Path | None = None) -> Places:
    """Read the published places, from BrainTreebank's folder ``localization``.

    Raises
    ------
    InputError
        When the folder holds no ``sub_N/depth-wm.csv``, or one without the columns Electrode, L, I, P.
    """
    if localization is None:
        return Places()
    files = sorted(Path(localization).glob("sub_*/depth-wm.csv"))
    if not files:
        raise InputError(
            f"{localization}: no sub_N/depth-wm.csv here. Expected BrainTreebank's localization."
        )
    places = Places(digest({path.parent.name: file_digest(path) for path in files}))
    tables = {path.parent.name.removeprefix("sub_"): _read(path) for path in files}
    object.__setattr__(places, "tables_", tables)
    return places


def _read(path: Path) -> dict[str, tuple[float, ...]]:
    try:
        table = pd.read_csv(path)
        axes = table[["L", "I", "P"]].to_numpy(dtype=float)
        # Marks of the annotators, which other files leave out.
        names = table["Electrode"].astype(str).str.replace(r"[*#_]", "", regex=True)
    except (KeyError, ValueError, OSError) as error:
        raise InputError(f"{path}: expected columns Electrode, L, I and P of numbers ({error}).") from error
    return {name: tuple(place) for name, place in zip(names, axes.tolist(), strict=True)}
