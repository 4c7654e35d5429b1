"""Read BrainTreebank as it is laid out on disk."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.datasets.folder import DatasetFolder
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import facts
from neuroarena.families.neuroprobe.braintreebank.published import Published, read_published
from neuroarena.families.neuroprobe.braintreebank.session_recording import SessionRecording
from neuroarena.families.neuroprobe.braintreebank.tables import numbers, read_csv, read_json
from neuroarena.families.neuroprobe.braintreebank.words import check_timings
from neuroarena.recordings import channel_table
from neuroarena.recordings.hdf5 import ElectrodeSource

_SIGNALS = re.compile(r"sub_(\d+)_trial(\d{3})\.h5")
_NOT_ELECTRODES = ("DC", "TRIG")


class BrainTreebank(DatasetFolder):
    """A folder with BrainTreebank, real or simulated.

    Parameters
    ----------
    root : path
        The folder that holds the sub_N_trialNNN.h5 files.

    Attributes
    ----------
    root : Path
        The folder.
    sessions : list of (int, int)
        The (subject, trial) pairs whose signals are there, sorted.
    card : dict or None
        The card of the simulation; None for real data.
    simulated : bool
        Whether the folder is a simulated twin.

    Raises
    ------
    InputError
        When the folder does not exist or holds no session.
    """

    expected = "Name the folder of BrainTreebank."

    def __init__(self, root: str | Path) -> None:
        super().__init__(root)
        matches = [_SIGNALS.fullmatch(path.name) for path in self.root.iterdir()]
        self.sessions = sorted((int(match[1]), int(match[2])) for match in matches if match)
        if not self.sessions:
            raise InputError(
                f"{self.root}: holds no sub_<subject>_trial<NNN>.h5 file, so it is not a BrainTreebank folder."
            )

    def __repr__(self) -> str:
        kind = "simulated, " if self.simulated else ""
        return f"BrainTreebank({str(self.root)!r}, {kind}{len(self.sessions)} sessions)"

    def signal_path(self, subject: int, trial: int) -> Path:
        """Return the path of a session's signals.

        Raises
        ------
        InputError
            When the session is not in the folder.
        """
        if (subject, trial) not in self.sessions:
            there = ", ".join(f"{s}_{t}" for s, t in self.sessions)
            raise InputError(f"{self.root}: there is no session {subject}_{trial}. Sessions there: {there}.")
        return self.root / f"{_stem(subject, trial)}.h5"

    def metadata(self, subject: int, trial: int) -> dict[str, Any]:
        """Read a session's metadata: title, filename (the film's id) and more.

        Raises
        ------
        InputError
            When the file is missing or not a JSON object.
        """
        self.signal_path(subject, trial)
        return dict(
            read_json(self.root / "subject_metadata" / f"{_stem(subject, trial)}_metadata.json", dict)
        )

    def movie(self, subject: int, trial: int) -> str:
        """Return the id of a session's film: from the known table, otherwise from the session's metadata.

        Raises
        ------
        InputError
            When neither names it.
        """
        self.signal_path(subject, trial)
        if (subject, trial) in facts.MOVIES:
            return facts.MOVIES[subject, trial]
        name = self.metadata(subject, trial).get("filename")
        if not isinstance(name, str) or not name:
            path = self.root / "subject_metadata" / f"{_stem(subject, trial)}_metadata.json"
            raise InputError(f'{path}: "filename" must name the film, got {name!r}.')
        return name

    def labels(self, subject: int) -> list[str]:
        """List all labels of a subject, clean, in file order: position i belongs to dataset electrode_{i}.

        Raises
        ------
        InputError
            When the file is missing or is not a list of unique texts.
        """
        path = self.root / "electrode_labels" / f"sub_{subject}" / "electrode_labels.json"
        labels = _texts(read_json(path, list), path)
        clean = [_clean(label) for label in labels]
        twice = sorted({label for label in clean if clean.count(label) > 1})
        if twice:
            raise InputError(f'{path}: the label "{twice[0]}" occurs twice. Labels must be unique.')
        return clean

    def corrupted(self, subject: int) -> set[str]:
        """Return the labels of a subject's corrupted electrodes.

        Raises
        ------
        InputError
            When the list is missing or does not know the subject.
        """
        path = self.root / "corrupted_elec.json"
        lists = read_json(path, dict)
        if f"sub_{subject}" not in lists:
            raise InputError(f'{path}: has no list "sub_{subject}". Add one; it may be empty.')
        return {_clean(label) for label in _texts(lists[f"sub_{subject}"], path)}

    def electrodes(self, subject: int, *, unlocated: bool = False) -> pd.DataFrame:
        """Return the channel table of a subject: usable electrodes only, in the order of the label file.

        Corrupted electrodes, electrodes without a position, and DC and trigger channels are left out.

        Parameters
        ----------
        subject : int
            The subject's number.
        unlocated : bool
            Keep the electrodes without a position; the first definition of Neuroprobe (2025.07) uses some.

        Returns
        -------
        DataFrame
            Channel table; x, y, z are the cortical X, Y, Z (NaN where missing), region is the
            Desikan-Killiany label as written ("" where missing).

        Raises
        ------
        InputError
            When a file is missing, malformed, or lacks a column.
        """
        dropped = self.corrupted(subject)
        if not unlocated:
            dropped = dropped | set(facts.UNLOCATED.get(subject, ()))
        names = [
            label
            for label in self.labels(subject)
            if label not in dropped and not label.upper().startswith(_NOT_ELECTRODES)
        ]
        positions = self._positions(subject).reindex(names)
        regions = self._regions(subject)
        return channel_table(
            names,
            "ieeg",
            xyz=positions.to_numpy(dtype=float),
            region=[regions.get(name, "") for name in names],
        )

    def _positions(self, subject: int) -> pd.DataFrame:
        path = self.root / "localization" / "elec_coords_full.csv"
        table = read_csv(path, facts.COORDINATE_COLUMNS)
        table = table[table["Subject"] == f"sub_{subject}"]
        # In this file only stars are marks; a hash would be part of the name.
        names = table["Electrode"].astype(str).str.replace("*", "", regex=False)
        axes = {axis: numbers(table[axis], path) for axis in ("X", "Y", "Z")}
        return pd.DataFrame(axes).set_axis(names).loc[lambda rows: ~rows.index.duplicated()]

    def _regions(self, subject: int) -> dict[str, str]:
        path = self.root / "localization" / f"sub_{subject}" / "depth-wm.csv"
        table = read_csv(path, facts.DEPTH_COLUMNS)
        regions = table["DesikanKilliany"].fillna("").astype(str)
        return {_clean(str(name)): region for name, region in zip(table["Electrode"], regions, strict=True)}

    def recording(
        self,
        subject: int,
        trial: int,
        electrodes: Sequence[str] | None = None,
        *,
        unlocated: bool = False,
    ) -> SessionRecording:
        """Open the signals of a session.

        Parameters
        ----------
        subject, trial : int
            The session.
        electrodes : list of str, optional
            Labels, in the order wanted; all usable electrodes when left out.
        unlocated : bool
            Count electrodes without a position as usable.

        Returns
        -------
        SessionRecording
            Microvolts at 2048 Hz; only shapes are read until samples are requested, and samples that are not
            finite are refused.

        Raises
        ------
        InputError
            When the session or an electrode is unknown, or a file is missing or broken.
        """
        path = self.signal_path(subject, trial)
        table = self.electrodes(subject, unlocated=unlocated)
        if electrodes is not None:
            table = _choose(table, electrodes, subject)
        place = {label: position for position, label in enumerate(self.labels(subject))}
        source = ElectrodeSource(path, [place[name] for name in table["name"]])
        return SessionRecording(source, table, facts.RATE_HZ, f"{subject}_{trial}")

    def features(self, subject: int, trial: int) -> pd.DataFrame:
        """Read the words of the session's film with all their properties.

        Returns
        -------
        DataFrame
            The columns of features.csv, indexed by its unnamed first column.

        Raises
        ------
        InputError
            When the file is missing, malformed, or lacks a column that alignment and tasks need.
        """
        path = self.root / "transcripts" / self.movie(subject, trial) / "features.csv"
        # pandas treats words such as "None" and "null" as missing; so did the published alignment, which
        # drops their rows. Reading them as words would not reproduce its word tables.
        table = read_csv(path, facts.FEATURE_COLUMNS, index_col=0)
        for column in ("start", "end"):
            table[column] = numbers(table[column], path)
        if not table.index.is_unique:
            raise InputError(f"{path}: the first column must hold every row number once.")
        return table

    def triggers(self, subject: int, trial: int) -> pd.DataFrame:
        """Read the table that maps film time (movie_time, seconds) to samples (index).

        Raises
        ------
        InputError
            When the file is missing, malformed, lacks a column, or cannot align words: no rows, a row
            without a time, a last row without an index.
        """
        self.signal_path(subject, trial)
        path = self.root / "subject_timings" / f"{_stem(subject, trial)}_timings.csv"
        table = read_csv(path, facts.TRIGGER_COLUMNS)
        for column in facts.TRIGGER_COLUMNS:
            table[column] = numbers(table[column], path)
        check_timings(table, str(path))
        return table

    def has_features(self, subject: int, trial: int) -> bool:
        """Return whether the words of the session's film are there."""
        return (self.root / "transcripts" / self.movie(subject, trial) / "features.csv").exists()

    def published(self, subject: int, trial: int) -> Published:
        """Read the published word and non-verbal tables of a session; None for each that is not there.

        Raises
        ------
        InputError
            When a table is there but cannot be used.
        """
        self.signal_path(subject, trial)
        return read_published(self.root, subject, trial)

    def pitch_path(self, movie: str) -> Path | None:
        """Find the table of pitch and volume of a film; None when there is none."""
        name = f"{movie}_pitch_volume_features.json"
        places = (self.root / "transcripts" / movie / name, self.root / "pitch_volume_features" / name)
        return next((path for path in places if path.exists()), None)

    def pitch(self, movie: str) -> dict[str, dict[str, Any]] | None:
        """Read the pitch and volume of a film's words, keyed by start time; None when there is no file.

        Raises
        ------
        InputError
            When the file exists but is not a JSON object.
        """
        path = self.pitch_path(movie)
        return None if path is None else dict(read_json(path, dict))


def _stem(subject: int, trial: int) -> str:
    return f"sub_{subject}_trial{trial:03d}"


def _clean(label: str) -> str:
    return label.replace("*", "").replace("#", "")


def _choose(table: pd.DataFrame, electrodes: Sequence[str], subject: int) -> pd.DataFrame:
    known = list(table["name"])
    for name in electrodes:
        if name not in known:
            close = difflib.get_close_matches(str(name), known, n=3, cutoff=0.5)
            hint = f" Did you mean {' or '.join(close)}?" if close else ""
            raise InputError(f'Subject {subject} has no usable electrode "{name}".{hint}')
    return table.set_index("name").loc[list(electrodes)].reset_index()[list(table.columns)]


def _texts(values: Any, path: Path) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{path}: expected a list of labels (texts).")
    return values
