"""The tracks of the 2026 EEG/EMG challenge, each a family of its own."""

from __future__ import annotations
