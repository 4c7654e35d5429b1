"""The frozen embeddings of the images: one row of float32 per image, computed elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.errors import InputError, MissingDependency

FORMATS = (".npy", ".npz", ".safetensors", ".parquet")


def read_embeddings(path: str | Path, training: Sequence[str], test: Sequence[str]) -> Path | np.ndarray:
    """Read embeddings for the images of a set, training images first.

    Parameters
    ----------
    path : path
        ``.npy``: float32 (images, length), training then test. ``.npz`` and ``.safetensors``: arrays
        ``training`` and ``test``. ``.parquet``: columns ``image`` and ``embedding``, rows in any order.
        An axis of length one in the middle, (images, 1, length), is dropped.
    training, test : sequence of str
        Names of the images in the order of the set.

    Returns
    -------
    path or float32 array (images, length)
        The path where the file can be mapped as it is.

    Raises
    ------
    InputError
        When the file is missing, of another form, lacks images, or holds a vector that is zero or not finite.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path}: this file does not exist. Expected the embeddings of the images.")
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise InputError(f"{path}: expected a name that ends in {', '.join(FORMATS)}.")
    readers = {".npy": _npy, ".npz": _npz, ".safetensors": _safetensors, ".parquet": _parquet}
    images = [*training, *test]
    values = readers[suffix](path, images)
    flat = values[:, 0] if values.ndim == 3 and values.shape[1] == 1 else values
    if flat.ndim != 2 or flat.dtype != np.float32 or not flat.shape[1]:
        raise InputError(f"{path}: expected float32 (images, length), got {values.dtype} {values.shape}.")
    if len(flat) != len(images):
        expected = f"{len(training)} training and {len(test)} test images"
        raise InputError(f"{path}: holds {len(flat)} embeddings, expected {expected}.")
    _check_rows(flat, images, path)
    return path if suffix == ".npy" and values.ndim == 2 else np.ascontiguousarray(flat)


def _check_rows(values: np.ndarray, images: list[str], path: Path) -> None:
    for start in range(0, len(values), 4096):
        some = np.asarray(values[start : start + 4096])
        bad = ~np.isfinite(some).all(axis=1) | ~some.any(axis=1)
        if bad.any():
            image = images[start + int(bad.argmax())]
            raise InputError(f'{path}: the embedding of "{image}" is zero, NaN or infinite.')


def _npy(path: Path, images: list[str]) -> np.ndarray:  # noqa: ARG001 - rows are in the order of the set
    try:
        mapped: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: cannot be read as .npy: {error}.") from error
    return mapped


def _npz(path: Path, images: list[str]) -> np.ndarray:  # noqa: ARG001
    try:
        with np.load(path, allow_pickle=False) as archive:
            return _join(dict(archive), path)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: cannot be read as .npz: {error}.") from error


def _safetensors(path: Path, images: list[str]) -> np.ndarray:  # noqa: ARG001
    try:
        from safetensors import SafetensorError
        from safetensors.numpy import load_file
    except ImportError:
        raise MissingDependency("safetensors", "torch", "Reading embeddings from safetensors") from None
    try:
        tensors = load_file(path)
    except (SafetensorError, OSError, ValueError, KeyError) as error:
        raise InputError(f"{path}: cannot be read as safetensors: {error}.") from error
    return _join(tensors, path)


def _join(arrays: dict[str, Any], path: Path) -> np.ndarray:
    missing = [name for name in ("training", "test") if name not in arrays]
    if missing:
        raise InputError(f'{path}: lacks the array "{missing[0]}"; it has {", ".join(arrays) or "none"}.')
    shapes = arrays["training"].shape[1:], arrays["test"].shape[1:]
    if shapes[0] != shapes[1]:
        raise InputError(
            f"{path}: training and test embeddings differ in length: {shapes[0]} and {shapes[1]}."
        )
    return np.concatenate([arrays["training"], arrays["test"]])


def _parquet(path: Path, images: list[str]) -> np.ndarray:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, columns=["image", "embedding"])
    except (pa.ArrowException, OSError, KeyError) as error:
        raise InputError(f"{path}: cannot be read as a table of image and embedding: {error}.") from error
    names = table.column("image").to_pylist()
    row_of = {name: row for row, name in enumerate(names)}
    missing = [name for name in images if name not in row_of]
    if missing or len(row_of) != len(names):
        what = f'"{missing[0]}" is missing' if missing else "an image occurs twice"
        raise InputError(f"{path}: {what}; expected one row for each of {len(images)} images.")
    lists = table.column("embedding").combine_chunks()
    lengths = lists.value_lengths().to_numpy(zero_copy_only=False)
    if not len(lengths) or (lengths != lengths[0]).any():
        raise InputError(f"{path}: the embeddings differ in length.")
    flat = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(names), -1)
    chosen: np.ndarray = flat[[row_of[name] for name in images]]
    return chosen
