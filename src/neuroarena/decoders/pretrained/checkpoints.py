"""Convert published checkpoints to safetensors, safely, with everything checked on the way."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.atomic import replacing
from neuroarena.decoders.networks.training import import_torch
from neuroarena.decoders.pretrained.models import PretrainedModel, find_model
from neuroarena.decoders.pretrained.torch_archive import StoredTensor, TorchArchive
from neuroarena.decoders.pretrained.weights import NOTE
from neuroarena.errors import InputError, MissingDependency
from neuroarena.fingerprint import canonical_json, file_digest

# Stored in a checkpoint next to what is learned; the last one is a count.
_BUFFERS = (".pe", ".running_mean", ".running_var", ".num_batches_tracked")
# Lightning keeps the state dict under the second name.
_STATE_KEYS = ("model", "state_dict")


def convert_checkpoint(model: str, source: str | Path, target: str | Path | None = None) -> dict[str, Any]:
    """Convert a published checkpoint to safetensors: what ``neuroarena data convert MODEL FILE`` calls.

    Parameters
    ----------
    model : str
        Name of a :class:`~neuroarena.decoders.pretrained.PretrainedModel`.
    source : path
        A file of torch.save with the state dict under ``model`` or ``state_dict``, or the state dict itself.
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
    known = find_model(model)
    source = Path(source)
    target = source.with_suffix(".safetensors") if target is None else Path(target)
    if not source.is_file():
        raise InputError(f"{source}: there is no such file. Expected the published checkpoint of {model}.")
    if target.exists() and target.samefile(source):
        raise InputError(
            f"{target}: the result would overwrite the checkpoint. Name another file with --out."
        )
    tensors = _read_tensors(known, source)
    size = known.guess_size({name: values.shape for name, values in tensors.items()})
    note = {"model": model, "size": size, "source_sha256": file_digest(source)}
    _write(tensors, note, target)
    return {
        **note,
        "target": str(target),
        "sha256": file_digest(target),
        "tensors": len(tensors),
        "parameters": sum(values.size for name, values in tensors.items() if not name.endswith(_BUFFERS)),
    }


def _read_tensors(model: PretrainedModel, source: Path) -> dict[str, np.ndarray]:
    """Read the model's tensors as float32, checked by name, shape and value."""
    if not zipfile.is_zipfile(source):
        return _check_values(_read_old(model, source), source)
    archive = TorchArchive(source)
    try:
        stored = _state(model, archive.content, source, StoredTensor)
        shapes = {name: tensor.shape for name, tensor in stored.items()}
        model.check_tensors(model.guess_size(shapes), shapes, str(source))
        return _check_values({name: archive.read(tensor, name) for name, tensor in stored.items()}, source)
    finally:
        archive.close()


def _read_old(model: PretrainedModel, source: Path) -> dict[str, np.ndarray]:
    """Read a file of torch before 1.6 with torch's own weights-only loader."""
    import pickle

    torch = import_torch("Reading an old checkpoint")
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
        # torch suggests loading with weights_only=False, which would run whatever is in the file.
        said = str(error).strip().partition("\n")[0].partition(". In PyTorch")[0]
        raise InputError(
            f"{source}: not a complete torch checkpoint ({said}). Download the file that its authors published again."
        ) from error
    stored = _state(model, content, source, torch.Tensor)
    shapes = {name: tuple(tensor.shape) for name, tensor in stored.items()}
    model.check_tensors(model.guess_size(shapes), shapes, str(source))
    return {name: tensor.numpy() for name, tensor in stored.items()}


def _state(model: PretrainedModel, content: Any, source: Path, kind: type) -> dict[str, Any]:
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
            f"got {_describe_content(content)}. Is it the published checkpoint?"
        )
    if content and model.wrapping and all(name.startswith(model.wrapping) for name in content):
        encoder, head = model.wrapping
        wrapped = {name.removeprefix(encoder): tensor for name, tensor in content.items()}
        return {name: tensor for name, tensor in wrapped.items() if not name.startswith(head)}
    return dict(content)


def _describe_content(content: Any) -> str:
    if isinstance(content, dict):
        return f"a table with the keys {', '.join(str(key) for key in list(content)[:6]) or '(none)'}"
    return f"a {type(content).__name__}"


def _check_values(tensors: dict[str, np.ndarray], source: Path) -> dict[str, np.ndarray]:
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
