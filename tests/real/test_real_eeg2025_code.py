"""The two real code submissions of the EEG 2025 challenge, run in the sandbox."""

from __future__ import annotations

import importlib.util
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from neuroarena.errors import MissingDependency
from neuroarena.families.eeg2025.code_contract import answer_challenges
from neuroarena.families.eeg2025.guest.zoo_names import prepare_imports
from neuroarena.sandbox.limits import Limits

pytest.importorskip("torch", reason="submissions of this contract are torch models")

START_KIT = "hbn_eeg2025/startkit/submission-to-upload.zip"
ENTRANT = "hbn_eeg2025/submissions/submissions/phase1_v9_submission_VERIFIED.zip"
LIMITS = Limits(seconds=400, memory_mb=4000)
HAS_ZOO = importlib.util.find_spec("braindecode") is not None
WINDOWS = np.random.default_rng(5).standard_normal((3, 129, 200)).astype(np.float32)

needs_zoo = pytest.mark.skipif(not HAS_ZOO, reason='the extra "zoo" (braindecode) is not installed')


@pytest.mark.parametrize(("name", "challenge"), [(START_KIT, 1), (ENTRANT, 2)])
def test_a_submission_that_needs_braindecode_names_the_extra(
    bwrap: None,
    real: Callable[[str], Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    challenge: int,
) -> None:
    path = Path(shutil.copy(real(name), tmp_path))
    hide_braindecode(path, monkeypatch)
    with pytest.raises(MissingDependency) as refused:
        answer_challenges(path, {challenge: [WINDOWS]}, LIMITS, stateless=False, isolation="bubblewrap")
    assert str(refused.value) == (
        f"{path.name} needs braindecode, which is not installed. "
        'Install it with: pip install "neuroarena[zoo]"'
    )


def test_the_network_of_an_entrant_answers_as_it_does_outside(
    bwrap: None, real: Callable[[str], Path]
) -> None:
    path = real(ENTRANT)
    answers = answer_challenges(path, {1: [WINDOWS]}, LIMITS, stateless=False, isolation="bubblewrap")
    np.testing.assert_allclose(answers[1].values, outside(path, 1), rtol=1e-4)


@needs_zoo
@pytest.mark.parametrize("name", [START_KIT, ENTRANT])
def test_both_submissions_answer_both_challenges(bwrap: None, real: Callable[[str], Path], name: str) -> None:
    path = real(name)
    answers = answer_challenges(
        path, {1: [WINDOWS], 2: [WINDOWS]}, LIMITS, stateless=False, isolation="bubblewrap"
    )
    for challenge in (1, 2):
        assert answers[challenge].outcome.isolation == "bubblewrap"
        np.testing.assert_allclose(answers[challenge].values, outside(path, challenge), rtol=1e-4)


def hide_braindecode(path: Path, patch: pytest.MonkeyPatch) -> None:
    """Make braindecode look absent: in the sandbox by a file of its name in the zip, outside by its finder."""
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("braindecode.py", 'raise ModuleNotFoundError("hidden", name="braindecode")\n')
    find = importlib.util.find_spec
    patch.setattr(importlib.util, "find_spec", lambda name: None if name == "braindecode" else find(name))


def outside(path: Path, challenge: int) -> np.ndarray:
    """Run a submission as its author would, in this process: unzip, import, ask."""
    import torch

    prepare_imports()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        patch.chdir(folder)
        spec = importlib.util.spec_from_file_location("real_submission", f"{folder}/submission.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        torch.manual_seed(0)
        made = module.Submission(100, torch.device("cpu"))
        model = getattr(made, f"get_model_challenge_{challenge}")().eval()
        with torch.inference_mode():
            said = [model(torch.from_numpy(window[None])) for window in WINDOWS]
        return torch.cat(said).numpy()[:, 0]
