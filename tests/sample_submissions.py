"""Submissions of strangers, written into a test's own folder."""

from __future__ import annotations

import textwrap
import zipfile
from pathlib import Path

import numpy as np

# A model that answers with the mean of its window, plus whatever `forward` adds.
_TEMPLATE = """
import torch

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.seen = []

    def forward(self, X):
        answer = X.mean(dim=(1, 2))[:, None]
{forward}
        return answer

class Submission:
    def __init__(self, SFREQ, DEVICE):
        self.rate, self.device = SFREQ, DEVICE

    def get_model_challenge_1(self):
        return Model().to(self.device)

    def get_model_challenge_2(self):
        return Model().to(self.device)
"""


def code(forward: str = "") -> str:
    """Give the text of a submission whose model also does what `forward` says."""
    return _TEMPLATE.format(forward=textwrap.indent(textwrap.dedent(forward), " " * 8))


def zipped(folder: Path, files: dict[str, str | bytes] | str, name: str = "submission.zip") -> Path:
    """Write a zip with files, or with a text as ``submission.py``."""
    path = folder / name
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file, content in ({"submission.py": files} if isinstance(files, str) else files).items():
            archive.writestr(file, content)
    return path


def windows(*means: float) -> np.ndarray:
    """Give windows whose means are known exactly."""
    return np.repeat(np.array(means, np.float32), 129 * 200).reshape(-1, 129, 200)
