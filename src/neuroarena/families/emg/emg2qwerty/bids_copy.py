"""The BIDS copy of emg2qwerty (NEMAR nm000104): BDF files and tables of events, read as the original is."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.emg.emg2qwerty.characters import character_of
from neuroarena.families.emg.emg2qwerty.reader import find_split_file
from neuroarena.families.emg.emg2qwerty.sessions import ON_KEYBOARD, plain_user
from neuroarena.families.emg.emg2qwerty.split_file import SplitFile
from neuroarena.families.emg.emg2qwerty.wristbands import BANDS, ELECTRODES, RATE_HZ
from neuroarena.recordings import Recording

TASK = "typing"
_KEYSTROKE = "keystroke_"
# Split files name a session by day, Unix time and user; the copy names it by user and Unix time.
_ORIGINAL = re.compile(r"\d{4}-\d\d-\d\d-(?P<time>\d+)-.+")


class Emg2QwertyBids:
    """A folder ``sub-<user>/ses-<Unix time>/emg/``; sessions are named as in split files, or by Unix time.

    Parameters
    ----------
    root : path
        The dataset's folder.

    Recordings outside a session folder are left out with a warning: the published copy holds one such stray file,
    which no split names.

    Raises
    ------
    InputError
        When the folder holds no recording of the task, or two sessions share their Unix time.
    """

    simulated = False
    card = None

    def __init__(self, root: str | Path) -> None:
        from neuroarena.recordings.bids import bids_recordings

        self.root = Path(root)
        table = _with_sessions(bids_recordings(self.root, "emg", task=TASK), self.root)
        self._files: dict[str, Path] = dict(zip(table["session"], map(Path, table["path"]), strict=True))
        self._users = dict(zip(table["session"], map(plain_user, table["subject"]), strict=True))
        if len(self._files) < len(table):
            twice = table.loc[table["session"].duplicated(), "session"].iloc[0]
            raise InputError(
                f"{self.root}: two recordings belong to ses-{twice}. Each Unix time must name one session."
            )
        self.sessions = tuple(self._files)

    def file(self, session: str) -> Path:
        """Return the signal file of a session.

        Raises
        ------
        InputError
            When the folder has none.
        """
        return self._files[self._time(session)]

    def about(self, session: str) -> tuple[str, str]:
        """Return the user and the condition of a session; all sessions of the copy were typed on a keyboard."""
        return self._users[self._time(session)], ON_KEYBOARD

    def recording(self, session: str) -> Recording:
        """Open the signals of a session: EMG0 to EMG15 of the left wristband, EMG16 to EMG31 of the right one.

        Raises
        ------
        InputError
            When a channel is missing, or the rate is not 2 kHz.
        """
        from neuroarena.recordings.bids import open_bids

        opened = open_bids(self.file(session), kinds=["emg"])
        if opened.rate_hz != RATE_HZ:
            raise InputError(
                f"{self.file(session)}: has {opened.rate_hz:g} samples per second, expected {RATE_HZ:g}."
            )
        return opened.select([f"EMG{number}" for number in range(len(BANDS) * ELECTRODES)])

    def events(self, session: str) -> pd.DataFrame:
        """List the keys typed in a session: onset_s, duration_s, value (one character per key)."""
        keys = self.keys(session)
        last = (self.recording(session).n_samples - 1) / RATE_HZ
        # On the grid of samples, as in the original; a key after the last sample counts as pressed at it.
        onsets = np.minimum(np.ceil(keys["onset_s"] * RATE_HZ - 1e-6) / RATE_HZ, last)
        return keys.assign(onset_s=onsets)

    def text(self, session: str) -> str:
        """Return the text of a session, one character per key; backspace is a character like any other."""
        return "".join(self.keys(session)["value"])

    def split_file(self, path: str | Path | None = None) -> SplitFile:
        """Read a split file; by default ``generic.yaml`` in the folder."""
        return find_split_file(self.root, path)

    def keys(self, session: str) -> pd.DataFrame:
        """List the keys typed in a session as :meth:`events` does, but by the clock of the events file alone."""
        from neuroarena.recordings.bids import bids_events

        file = self.file(session)
        table = bids_events(file)
        if "value" not in table:
            raise InputError(f"{file}: its events.tsv has no column value.")
        pressed = table["value"].astype(str).str.startswith(_KEYSTROKE) & (table["onset_s"] >= 0)
        table = table[pressed]
        # Some converters omit the column `key`; the value holds the same information.
        characters = [character_of(value.removeprefix(_KEYSTROKE)) for value in table["value"]]
        made = pd.DataFrame(
            {
                "onset_s": table["onset_s"].to_numpy(),
                "duration_s": table["duration_s"].fillna(0.0).to_numpy(),
                "value": characters,
            }
        )
        made = made[made["value"].notna()].sort_values("onset_s", kind="stable")
        return made.reset_index(drop=True)

    def _time(self, session: str) -> str:
        match = _ORIGINAL.fullmatch(session)
        time = match["time"] if match else session
        if time not in self._files:
            raise InputError(
                f'{self.root}: there is no session "{session}" (ses-{time}); {len(self._files)} others exist.'
            )
        return time


def _with_sessions(table: pd.DataFrame, root: Path) -> pd.DataFrame:
    """Leave out recordings that belong to no session, and say which."""
    stray = table.loc[table["session"] == "", "path"].tolist()
    if not stray:
        return table
    if len(stray) == len(table):
        raise InputError(
            f"{root}: none of its recordings belongs to a session. Expected sub-<user>/ses-<Unix time>/emg/."
        )
    count = "1 recording" if len(stray) == 1 else f"{len(stray)} recordings"
    warnings.warn(
        f"{root}: left out {count} outside a session folder: {Path(stray[0]).relative_to(root)}"
        + (", ..." if len(stray) > 1 else "."),
        stacklevel=4,
    )
    return table[table["session"] != ""].reset_index(drop=True)
