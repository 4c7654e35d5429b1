"""Read signals: recordings, their channels and windows, from arrays, HDF5 and EEG file formats."""

# No `from __future__ import annotations` here: it would bind the name of a function of this room.

from neuroarena.recordings.arrays import ArraySource, from_array, from_npy
from neuroarena.recordings.blocks import Source
from neuroarena.recordings.channels import channel_table, check_channel_table
from neuroarena.recordings.hdf5 import open_electrodes
from neuroarena.recordings.mne_files import annotations, open_file
from neuroarena.recordings.recording import Recording

__all__ = [
    "ArraySource",
    "Recording",
    "Source",
    "annotations",
    "channel_table",
    "check_channel_table",
    "from_array",
    "from_npy",
    "open_electrodes",
    "open_file",
]
