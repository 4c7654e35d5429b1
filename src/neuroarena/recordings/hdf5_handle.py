"""An HDF5 file that is opened when it is needed, once per process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from neuroarena.errors import InputError


class Hdf5Handle:
    """Keep an HDF5 file open for reading; it travels to other processes closed.

    Used in a ``with``, it yields the open file and closes it at the end.

    Parameters
    ----------
    path : Path
        The file; errors call it by its name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: Any = None
        self._process = -1

    def open(self) -> Any:
        """Return the open file.

        Raises
        ------
        InputError
            When it cannot be opened as HDF5.
        """
        if self._process != os.getpid():
            # The child of a fork holds its parent's handle: HDF5 would share the descriptor and its
            # position with the parent if the file were opened beside it.
            self.close()
            import h5py

            try:
                self._file = h5py.File(self.path, "r")
            except (OSError, RuntimeError, ValueError) as error:
                raise InputError(
                    f"{self.path.name}: cannot be opened as HDF5 (cut short, or of another format): {error}."
                ) from error
            self._process = os.getpid()
        return self._file

    def close(self) -> None:
        """Close the file; it is opened again when it is next needed."""
        if self._file is not None:
            self._file.close()
        self._file, self._process = None, -1

    def __enter__(self) -> Any:
        return self.open()

    def __exit__(self, *_: object) -> None:
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_file": None, "_process": -1}
