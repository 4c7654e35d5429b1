"""Turning published checkpoints into safetensors, safely, with everything checked on the way."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.atomic import replacing
from neuroarena.errors import InputError, MissingDependency
from neuroarena.families.neuroprobe.encoders.shapes import SIZES, Model, check_tensors, guess_size
from neuroarena.families.neuroprobe.encoders.torch_archive import StoredTensor, TorchArchive
from neuroarena.families.neuroprobe.encoders.weights import NOTE, load_networks
from neuroarena.fingerprint import canonical_json, file_digest

# Kept in a checkpoint beside what is learned; the last one is a count.
_BUFFERS = (".pe", ".running_mean", ".running_var", ".num_batches_tracked")
# Lightning keeps the state dict under the second name.
_STATE_KEYS = ("model", "state_dict")
# A fine-tuned checkpoint keeps the encoder under this prefix, beside a head of its own.
_WRAPPED, _WRAPPED_HEAD = "upstream.", "linear_out."


def convert_brainbert(source: str | Path, target: str | Path | None = None) -> dict[str, Any]:
    """Turn a BrainBERT checkpoint (``stft_large_pretrained.pth``) into safetensors.

    Parameters
    ----------
    source : path
        A file of torch.save with the state dict under ``model``, or the state dict itself.
    target : path, optional
        Where to write; by default beside the source, with the ending ``.safetensors``.

    Returns
    -------
    dict
        `model`, `size`, `target`, `sha256` (of the target), `source_sha256`, `tensors`, `parameters`.

    Raises
    ------
    InputError
        When the file is damaged, names anything but tensors and configuration, or holds missing,
        misshapen or unexpected tensors (named). Nothing from it is run; nothing is written.
    """
    return convert_checkpoint("brainbert", source, target)


def convert_popt(source: str | Path, target: str | Path | None = None) -> dict[str, Any]:
    """Turn a PopulationTransformer checkpoint (``pretrained_popt_brainbert_stft.pth``) into safetensors.

    Parameters, result and refusals are those of :func:`convert_brainbert`.
    """
    return convert_checkpoint("popt", source, target)


def convert_emg2qwerty(source: str | Path, target: str | Path | None = None) -> dict[str, Any]:
    """Turn an emg2qwerty checkpoint of Lightning (``generic.ckpt``) into safetensors.

    Parameters, result and refusals are those of :func:`convert_brainbert`; the state dict is found under
    ``state_dict``.
    """
    return convert_checkpoint("emg2qwerty", source, target)


def convert_checkpoint(model: Model, source: str | Path, target: str | Path | None = None) -> dict[str, Any]:
    """Convert a checkpoint of a named model: what ``neuroarena data convert MODEL FILE`` calls."""
    if model not in SIZES:
        raise InputError(f'There is no encoder "{model}" to convert. Expected one of {", ".join(SIZES)}.')
    source = Path(source)
    target = source.with_suffix(".safetensors") if target is None else Path(target)
    if not source.is_file():
        raise InputError(f"{source}: there is no such file. Expected the published checkpoint of {model}.")
    if target.exists() and target.samefile(source):
        raise InputError(
            f"{target}: the result would overwrite the checkpoint. Name another file with --out."
        )
    tensors = _read_tensors(model, source)
    size = guess_size(model, {name: values.shape for name, values in tensors.items()})
    note = {"model": model, "size": size, "source_sha256": file_digest(source)}
    _write(tensors, note, target)
    return {
        **note,
        "target": str(target),
        "sha256": file_digest(target),
        "tensors": len(tensors),
        "parameters": sum(values.size for name, values in tensors.items() if not name.endswith(_BUFFERS)),
    }


def _read_tensors(model: Model, source: Path) -> dict[str, np.ndarray]:
    """Read the model's tensors as float32, checked by name, shape and value."""
    if not zipfile.is_zipfile(source):
        return _checked_values(_read_old(model, source), source)
    archive = TorchArchive(source)
    try:
        stored = _state(archive.content, source, StoredTensor)
        shapes = {name: tensor.shape for name, tensor in stored.items()}
        check_tensors(model, guess_size(model, shapes), shapes, str(source))
        return _checked_values({name: archive.read(tensor, name) for name, tensor in stored.items()}, source)
    finally:
        archive.close()


def _read_old(model: Model, source: Path) -> dict[str, np.ndarray]:
    """Read a file of torch before 1.6 by torch's own loader of weights only."""
    import pickle

    torch, _ = load_networks()
    try:
        content = torch.load(source, map_location="cpu", weights_only=True)
    except (
        pickle.UnpicklingError,
        RuntimeError,
        EOFError,
        ValueError,
        OSError,
        KeyError,
        TypeError,
    ) as error:
        # torch advises to load with weights_only=False, which would run whatever is in the file.
        said = str(error).strip().partition("\n")[0].partition(". In PyTorch")[0]
        raise InputError(
            f"{source}: not a whole torch checkpoint ({said}). Fetch the file its authors published again."
        ) from error
    stored = _state(content, source, torch.Tensor)
    shapes = {name: tuple(tensor.shape) for name, tensor in stored.items()}
    check_tensors(model, guess_size(model, shapes), shapes, str(source))
    return {name: tensor.numpy() for name, tensor in stored.items()}


def _state(content: Any, source: Path, kind: type) -> dict[str, Any]:
    """Find the state dict of the encoder in a checkpoint."""
    for key in _STATE_KEYS:
        if isinstance(content, dict) and isinstance(content.get(key), dict):
            content = content[key]
            break
    if not isinstance(content, dict) or not all(
        isinstance(name, str) and isinstance(tensor, kind) for name, tensor in content.items()
    ):
        raise InputError(
            f'{source}: expected a table of tensors, or one under the key "model" or "state_dict"; '
            f"got {_described(content)}. Is it the published checkpoint?"
        )
    if content and all(name.startswith((_WRAPPED, _WRAPPED_HEAD)) for name in content):
        wrapped = {name.removeprefix(_WRAPPED): tensor for name, tensor in content.items()}
        return {name: tensor for name, tensor in wrapped.items() if not name.startswith(_WRAPPED_HEAD)}
    return dict(content)


def _described(content: Any) -> str:
    if isinstance(content, dict):
        return f"a table with the keys {', '.join(str(key) for key in list(content)[:6]) or '(none)'}"
    return f"a {type(content).__name__}"


def _checked_values(tensors: dict[str, np.ndarray], source: Path) -> dict[str, np.ndarray]:
    checked = {}
    for name, values in tensors.items():
        if name.endswith(".num_batches_tracked") and values.dtype.kind in "iu":
            checked[name] = np.asarray(values, dtype=np.int64)
            continue
        if values.dtype.kind != "f":
            raise InputError(f"{source}: {name} holds {values.dtype}, expected floating-point numbers.")
        if not np.isfinite(values).all():
            raise InputError(f"{source}: {name} holds NaN or infinity. Every weight must be finite.")
        checked[name] = np.ascontiguousarray(values, dtype=np.float32)
    return checked


def _write(tensors: dict[str, np.ndarray], note: dict[str, str], target: Path) -> None:
    try:
        from safetensors.numpy import save_file
    except ImportError as error:
        raise MissingDependency("safetensors", "torch", "Converting a checkpoint") from error
    with replacing(target) as temporary:
        # One entry: the order of several is not fixed, and equal weights must be equal files.
        save_file(tensors, temporary, metadata={NOTE: canonical_json(note)})


CHECKPOINTS = {"brainbert": convert_brainbert, "popt": convert_popt}
