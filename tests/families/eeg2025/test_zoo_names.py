"""Imports of braindecode beside a CPU torch, on packages of the test that fail as the real ones do."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from neuroarena.families.eeg2025.guest import zoo_names

torch = pytest.importorskip("torch")


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A torchaudio whose compiled part cannot be loaded, and a braindecode that imports it and has no EEGNetv4."""
    for name in ("torchaudio/_extension", "braindecode/models", "torchaudio-2.11.0.dist-info"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "torchaudio/__init__.py").write_text("from torchaudio import _extension\n")
    (tmp_path / "torchaudio/_extension/__init__.py").write_text("raise OSError('libc10_cuda.so')\n")
    (tmp_path / "torchaudio-2.11.0.dist-info/METADATA").write_text("Name: torchaudio\nVersion: 2.11.0\n")
    (tmp_path / "braindecode/__init__.py").write_text("from . import models\n")
    (tmp_path / "braindecode/models/__init__.py").write_text(
        "import torchaudio\nfrom .eegnet import EEGNet\n"
    )
    (tmp_path / "braindecode/models/eegnet.py").write_text("class EEGNet: ...\n")
    for name in [name for name in sys.modules if name.partition(".")[0] in ("torchaudio", "braindecode")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "meta_path", [f for f in sys.meta_path if not isinstance(f, zoo_names._Finder)])
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(torch.version, "cuda", None)
    yield tmp_path
    for name in [name for name in sys.modules if name.partition(".")[0] in ("torchaudio", "braindecode")]:
        del sys.modules[name]


def test_without_preparation_the_import_fails(packages: Path) -> None:
    with pytest.raises(OSError, match="libc10_cuda"):
        importlib.import_module("braindecode.models")


def test_a_stand_in_replaces_the_compiled_part_and_the_old_name_is_there(packages: Path) -> None:
    zoo_names.prepare_imports()
    zoo_names.prepare_imports()
    models = importlib.import_module("braindecode.models")
    assert models.EEGNetv4 is models.EEGNet
    extension = sys.modules["torchaudio._extension"]
    assert extension._IS_ALIGN_AVAILABLE is False
    assert extension.fail_if_no_align(len) is len
    assert sum(isinstance(finder, zoo_names._Finder) for finder in sys.meta_path) == 1


@pytest.mark.parametrize("why", ["torch has CUDA", "torchaudio is a CPU build"])
def test_the_compiled_part_is_left_alone_where_it_can_be_loaded(
    packages: Path, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    (packages / "torchaudio/_extension/__init__.py").write_text("LOADED = True\n")
    if why == "torch has CUDA":
        monkeypatch.setattr(torch.version, "cuda", "12.4")
    else:
        (packages / "torchaudio-2.11.0.dist-info/METADATA").write_text(
            "Name: torchaudio\nVersion: 2.11.0+cpu\n"
        )
    zoo_names.prepare_imports()
    importlib.import_module("braindecode.models")
    assert sys.modules["torchaudio._extension"].LOADED


def test_a_name_that_exists_is_not_replaced(packages: Path) -> None:
    (packages / "braindecode/models/eegnet.py").write_text("class EEGNet: ...\nclass EEGNetv4: ...\n")
    (packages / "braindecode/models/__init__.py").write_text("from .eegnet import EEGNet, EEGNetv4\n")
    zoo_names.prepare_imports()
    models = importlib.import_module("braindecode.models")
    assert models.EEGNetv4 is not models.EEGNet
