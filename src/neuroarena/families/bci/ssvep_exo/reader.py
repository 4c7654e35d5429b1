"""Read the SSVEP exoskeleton recordings: subjects, sessions, trials, and what is left out."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.datasets.card import stamp_folder
from neuroarena.datasets.folder import DatasetFolder
from neuroarena.errors import InputError
from neuroarena.families.bci.ssvep_exo.files import SubjectFile, read_subject
from neuroarena.fingerprint import digest, file_digest
from neuroarena.recordings import Recording, channel_table

CLASSES = ("rest", "13Hz", "21Hz", "17Hz")
N_SUBJECTS = 12
# The same samples under two subjects; it was made minutes after the other recording of subject 03.
KNOWN_DUPLICATES = {("07", "2012.07.11-15.33.08"): ("03", "2012.07.11-15.33.08")}
# What the authors of the data left out of their own analysis.
AUTHORS_EXCLUSIONS = frozenset(
    {
        ("08", "2013.04.06-16.22.32"),
        ("10", "2014.02.26-15.10.48"),
        ("10", "2014.02.26-15.50.09"),
        ("11", "2014.02.24-17.56.37"),
        ("11", "2014.02.24-18.02.40"),
    }
)


class SsvepExo(DatasetFolder):
    """A folder of ``subjectNN.npz`` files, real or simulated.

    Parameters
    ----------
    root : path
        The folder.

    Attributes
    ----------
    root : Path
    card : dict or None
        The card of a simulated twin; None for real data.

    Raises
    ------
    InputError
        When the folder does not exist, holds no such file, or its card cannot be read.
    """

    expected = "Expected the folder of subject01.npz, subject02.npz, ..."

    def __init__(self, root: str | Path) -> None:
        super().__init__(root)
        names = (re.fullmatch(r"subject(\d\d)\.npz", path.name) for path in self.root.iterdir())
        self.there = tuple(sorted(found.group(1) for found in names if found))
        if not self.there:
            raise InputError(f"{self.root}: holds no subject01.npz, subject02.npz, ... .")

    @property
    def people(self) -> tuple[str, ...]:
        """The people who must be there: the twelve of the study, or those on a twin's card."""
        if self.card is not None:
            return tuple(self.card.get("subjects", ()))
        return tuple(f"{number:02d}" for number in range(1, N_SUBJECTS + 1))

    def subject(self, subject: str) -> SubjectFile:
        """Read the file of a subject ("03"); a missing one is an error."""
        if subject not in self.there:
            raise InputError(
                f"{self.root}: subject{subject}.npz is missing. Download it, or name the subjects you have; "
                "nothing is left out silently."
            )
        return read_subject(self.root / f"subject{subject}.npz")

    def recordings(
        self, subjects: Iterable[str] | None = None, *, authors_exclusions: bool = False
    ) -> tuple[pd.DataFrame, tuple[str, ...]]:
        """List the recordings that count, and describe those that do not.

        A recording that occurs twice, sample for sample, is kept only with the lowest-numbered subject:
        otherwise a split across subjects would judge what it was trained on. The one of the real study is left
        out whichever subjects were requested; other duplicates are searched for among those subjects.

        Parameters
        ----------
        subjects : iterable of str, optional
            Only these, such as ["01", "02"]; everybody when left out.
        authors_exclusions : bool
            Also leave out the five recordings that the authors of the data left out.

        Returns
        -------
        table : DataFrame
            subject, recording (date and time), in the order of time within a subject.
        notes : tuple of str
            A sentence for everything left out.

        Raises
        ------
        InputError
            When a subject is missing.
        """
        wanted = list(self.people if subjects is None else dict.fromkeys(str(name) for name in subjects))
        unknown = [name for name in wanted if name not in self.people]
        if unknown or not wanted:
            raise InputError(
                f"{self.root}: there is no subject {unknown[0] if unknown else 'among those named'}; "
                f"expected some of {', '.join(self.people)}."
            )
        owner: dict[str, tuple[str, str]] = {}
        rows, notes = [], []
        known = {} if self.simulated else KNOWN_DUPLICATES
        for subject in sorted(wanted):
            for recording, content in self._contents(subject):
                original = known.get((subject, recording)) or owner.setdefault(content, (subject, recording))
                if original != (subject, recording):
                    notes.append(
                        f"Recording {recording} of subject {subject} is left out: it is, sample for sample, "
                        f"{original[1]} of subject {original[0]}."
                    )
                elif authors_exclusions and original in AUTHORS_EXCLUSIONS:
                    notes.append(
                        f"Recording {recording} of subject {subject} is left out, as its authors did."
                    )
                else:
                    rows.append(original)
        return pd.DataFrame(rows, columns=["subject", "recording"]), tuple(notes)

    def _contents(self, subject: str) -> list[tuple[str, str]]:
        file = self.subject(subject)
        names = sorted({str(name) for name in file.recordings})
        return [(name, file.content(name)) for name in names]

    def trials(self, subject: str, recording: str) -> pd.DataFrame:
        """List the trials of a recording in the order in which they were recorded.

        Returns
        -------
        DataFrame
            trial (its index), start and stop (samples of :meth:`recording`), label (class).
        """
        file = self.subject(subject)
        rows = file.rows(recording)
        length = file.signals.shape[2]
        starts = np.arange(len(rows)) * length
        return pd.DataFrame(
            {
                "trial": file.trial_indices[rows],
                "start": starts,
                "stop": starts + length,
                "label": [CLASSES[label] for label in file.labels[rows]],
            }
        )

    def recording(self, subject: str, recording: str) -> Recording:
        """Return the trials of a recording, one after the other, as one signal."""
        file = self.subject(subject)
        if not len(file.rows(recording)):
            raise InputError(f"{self.root}: subject{subject}.npz has no recording {recording}.")
        source = TrialSource(self.root / f"subject{subject}.npz", recording)
        return Recording(source, channel_table(file.channels, kind="eeg"), file.rate_hz)

    def __reduce__(self) -> tuple[Any, ...]:
        return SsvepExo, (self.root.absolute(),)


class TrialSource:
    """The trials of one recording, end to end; sent between processes as its path.

    Parameters
    ----------
    path : path
        The subject's file.
    recording : str
        Which recording.
    """

    def __init__(self, path: str | Path, recording: str) -> None:
        self.path = Path(path).absolute()
        self.recording = recording
        self.name = f"{self.path.name} {recording}"
        trials, self.n_channels, length = self._trials.shape
        self.n_samples = trials * length

    @property
    def _trials(self) -> np.ndarray:
        file = read_subject(self.path)
        return np.asarray(file.signals[file.rows(self.recording)])

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        trials = self._trials
        length = trials.shape[2]
        first, last = start // length, -(-stop // length)
        joined = trials[first:last, indices].transpose(1, 0, 2).reshape(len(indices), -1)
        return np.array(joined[:, start - first * length : stop - first * length])

    def fingerprint(self) -> str:
        """Return a hash of the file's content and the recording's name."""
        return digest([file_digest(self.path), self.recording])


def open_folder(root: str) -> SsvepExo:
    """Open a folder, once for as long as it is the same."""
    return _open_folder(root, stamp_folder(root))


@functools.lru_cache(maxsize=4)
def _open_folder(root: str, stamp: tuple[str, int]) -> SsvepExo:
    del stamp  # only part of the cache key
    return SsvepExo(root)
