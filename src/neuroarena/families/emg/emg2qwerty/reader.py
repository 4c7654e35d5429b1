"""A folder of emg2qwerty: session files, what was typed in them, and the published split."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from neuroarena.datasets.folder import DatasetFolder
from neuroarena.errors import InputError
from neuroarena.families.emg.emg2qwerty.sessions import (
    ON_KEYBOARD,
    Session,
    events_of,
    parse_session,
    plain_user,
    text_of_session,
)
from neuroarena.families.emg.emg2qwerty.split_file import SplitFile, read_split_file
from neuroarena.families.emg.emg2qwerty.wristbands import WristbandSource, open_wristbands
from neuroarena.recordings import Recording

SPLIT_FILE = "generic.yaml"


class Emg2Qwerty(DatasetFolder):
    """A folder of session files ``<session>.hdf5``, real or simulated.

    Parameters
    ----------
    root : path
        The folder.

    Attributes
    ----------
    sessions : tuple of str
        Names of the sessions, sorted.
    simulated : bool
        Whether the folder is a simulated twin.

    Raises
    ------
    InputError
        When the folder is missing or holds no session file.
    """

    expected = "Expected one with <session>.hdf5 files."

    def __init__(self, root: str | Path) -> None:
        super().__init__(root)
        self.sessions = tuple(sorted(path.stem for path in self.root.glob("*.hdf5")))
        if not self.sessions:
            raise InputError(
                f"{self.root}: holds no <session>.hdf5 file. Check that it is the folder of emg2qwerty."
            )
        self._about: dict[str, tuple[str, str]] = {}

    def file(self, session: str) -> Path:
        """Return the file of a session.

        Raises
        ------
        InputError
            When the folder has none.
        """
        if session not in self.sessions:
            raise InputError(
                f'{self.root}: there is no session "{session}" ({session}.hdf5); {len(self.sessions)} others exist.'
            )
        return self.root / f"{session}.hdf5"

    def recording(self, session: str) -> Recording:
        """Open the signals of a session: 32 channels at 2 kHz, left wristband first. Nothing is read yet."""
        return open_wristbands(self.file(session))

    def about(self, session: str) -> tuple[str, str]:
        """Return the user and the condition of a session, without reading what was typed.

        Raises
        ------
        InputError
            When the file does not name its user.
        """
        if session not in self._about:
            said = WristbandSource(self.file(session)).attributes(("user", "condition"))
            if "user" not in said:
                raise InputError(f"{self.file(session)}: the group has no attribute user.")
            self._about[session] = plain_user(said["user"]), str(said.get("condition", ON_KEYBOARD))
        return self._about[session]

    def session(self, session: str) -> Session:
        """Read what a session's file holds besides the signals."""
        file = self.file(session)
        return parse_session(WristbandSource(file).attributes(), file.name)

    def events(self, session: str) -> pd.DataFrame:
        """List the keys typed in a session: onset_s, duration_s, value (one character per key)."""
        return events_of(self.session(session), WristbandSource(self.file(session)).times())

    def text(self, session: str) -> str:
        """Return the text of a session, one character per key; backspace is a character like any other."""
        first = WristbandSource(self.file(session)).times(1)[0]
        return text_of_session(self.session(session), float(first))

    def split_file(self, path: str | Path | None = None) -> SplitFile:
        """Read a split file; by default ``generic.yaml`` in the folder.

        Raises
        ------
        InputError
            When there is none, or it is damaged.
        """
        return find_split_file(self.root, path)


def find_split_file(root: Path, path: str | Path | None = None) -> SplitFile:
    """Read a split file, or the one in a folder of the dataset.

    Raises
    ------
    InputError
        When there is none, or it is damaged.
    """
    if path is not None:
        return read_split_file(path)
    for place in (SPLIT_FILE, f"splits/{SPLIT_FILE}", f"config/user/{SPLIT_FILE}"):
        if (root / place).is_file():
            return read_split_file(root / place)
    raise InputError(
        f"{root}: there is no {SPLIT_FILE}, the published list of training, validation and test sessions. "
        "Put it into the folder, or name it with split_file."
    )
