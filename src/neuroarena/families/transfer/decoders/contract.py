"""The contract of encoders: how one is found, what it must return, and how its weights are identified."""

from __future__ import annotations

import hashlib
import importlib.util
import inspect
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.fingerprint import code_fingerprint, digest, file_digest
from neuroarena.registry import Registry

# The longest vector that a head accepts; the organiser's limit.
LONGEST = 4096
FILE, MAKER = "encoder.py", "load_encoder"

ENCODERS: Registry[Any] = Registry(
    "encoder",
    "neuroarena.encoders",
    {
        "random": "neuroarena.families.transfer.decoders.random_convolutions:RandomConvolutions",
        "handcrafted": "neuroarena.families.transfer.decoders.handcrafted:Handcrafted",
        "selfsupervised": "neuroarena.families.transfer.decoders.selfsupervised:SelfSupervised",
    },
    # Each is listed there as a decoder, under its organiser's head.
    plural="decoders",
)


@dataclass(frozen=True)
class EncoderMeta:
    """What an encoder is told when it is made: nothing about the track it will be judged on.

    Attributes
    ----------
    folder : Path or None
        The submission's own folder, where it has one; weights are read from there.
    """

    folder: Path | None = None


@runtime_checkable
class Encoder(Protocol):
    """A frozen encoder of signals, the same on every track.

    An attribute ``untrained = True`` marks random weights; boards then show it.
    """

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        """Turn windows into vectors.

        Parameters
        ----------
        signals : float32 array (n, channels, samples)
        channels : DataFrame
            Channel table: name, kind, x, y, z, region.
        rate_hz : float

        Returns
        -------
        float32 array (n, d), or (n, frames, d) where all channels are of the kind "emg"
            Frames lie side by side and cover the window evenly, at least 25 per second. d is the same for all
            windows of the same channels and length, at most 4096.
        """
        ...

    def weights_hash(self) -> str:
        """Return a hash of the weights, in hexadecimal: the same on every track."""
        ...


@dataclass(frozen=True)
class Found:
    """An encoder with its identity.

    Attributes
    ----------
    encoder : Encoder
    weights : str
        SHA-256 over its own weights hash, the arrays it holds and, for a folder, every file: what must be the same
        in all evaluations.
    code : str
        Fingerprint of its source, for the cache.
    """

    encoder: Encoder
    weights: str
    code: str


def find_encoder(source: str, told: EncoderMeta | None = None) -> Found:
    """Make an encoder.

    Parameters
    ----------
    source : str
        A registered name, ``module:attribute``, or a folder that holds ``encoder.py`` with ``load_encoder(meta)``.
    told : EncoderMeta, optional
        What the encoder is told; by default its folder, if it has one.

    Raises
    ------
    UnknownName
        With the closest names.
    InputError
        When the source holds no encoder, or the encoder lacks a part of the contract.

    Examples
    --------
    >>> find_encoder("handcrafted").encoder.encode.__name__
    'encode'
    """
    folder = _folder(source)
    if folder is not None:
        files = {
            path.relative_to(folder).as_posix(): file_digest(path)
            for path in sorted(folder.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts
        }
        encoder = _check(_from_folder(folder, digest(files), told or EncoderMeta(folder)), source)
        return Found(encoder, digest([_say(encoder, source), _held(encoder), files]), digest(files))
    maker = ENCODERS.get(source)
    encoder = _check(_make(maker, source, told or EncoderMeta()), source)
    return Found(encoder, digest([_say(encoder, source), _held(encoder), {}]), code_fingerprint(encoder))


def _folder(source: str) -> Path | None:
    path = Path(source)
    if not path.is_dir() and os.sep not in source:
        return None
    if not (path / FILE).is_file():
        raise InputError(
            f"{source}: {FILE} is missing here. Expected a folder whose {FILE} has {MAKER}(meta)."
        )
    return path.resolve()


@contextmanager
def _importable(folder: Path) -> Iterator[None]:
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        sys.path.remove(str(folder))


def _from_folder(folder: Path, content: str, told: EncoderMeta) -> Any:
    name = f"neuroarena_encoder_{content[:16]}"
    spec = importlib.util.spec_from_file_location(name, folder / FILE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with _importable(folder):
        try:
            spec.loader.exec_module(module)
            maker = getattr(module, MAKER, None)
            return maker(told) if callable(maker) else None
        except (Exception, SystemExit) as error:  # the boundary to third-party code, which may raise anything
            raise InputError(
                f"{folder / FILE}: cannot be loaded: {type(error).__name__}: {error}. Expected {MAKER}(meta), which "
                "returns the encoder."
            ) from error


def _make(maker: Any, source: str, told: EncoderMeta) -> Any:
    if not isinstance(maker, type) and not inspect.isroutine(maker):
        return maker
    try:
        takes_meta = maker.__name__ == MAKER or "meta" in inspect.signature(maker).parameters
        return maker(told) if takes_meta else maker()
    except TypeError as error:
        raise InputError(f'The encoder "{source}" cannot be made: {error}.') from error


def _check(encoder: Any, source: str) -> Encoder:
    missing = [name for name in ("encode", "weights_hash") if not callable(getattr(encoder, name, None))]
    if missing:
        raise InputError(
            f"{source}: {type(encoder).__name__} is not an encoder: it lacks {' and '.join(missing)}. Expected "
            "encode(signals, channels, rate_hz) and weights_hash()."
        )
    return encoder  # type: ignore[no-any-return]


def _say(encoder: Encoder, source: str) -> str:
    said = encoder.weights_hash()
    if not isinstance(said, str) or not said:
        raise InputError(f"{source}: weights_hash() returned {said!r}. Expected a hash as text.")
    return said


def _held(encoder: Any) -> str:
    """Hash the arrays and tensors that an object holds: its own statement is not trusted."""
    content, seen = hashlib.sha256(), set()

    def visit(path: str, value: Any) -> None:
        if id(value) in seen:
            return
        if hasattr(value, "detach") and hasattr(value, "numpy"):
            value = value.detach().cpu().numpy()
        if isinstance(value, np.ndarray) and value.dtype != object:
            content.update(f"{path} {value.dtype} {value.shape}".encode())
            content.update(np.ascontiguousarray(value).tobytes())
            return
        seen.add(id(value))
        if callable(getattr(value, "state_dict", None)):
            visit(f"{path}.state", dict(value.state_dict()))
        elif isinstance(value, dict):
            for key in sorted(value, key=str):
                visit(f"{path}[{key}]", value[key])
        elif isinstance(value, (list, tuple)):
            for place, item in enumerate(value):
                visit(f"{path}[{place}]", item)
        elif hasattr(value, "__dict__") and not inspect.ismodule(value) and not inspect.isclass(value):
            visit(path, vars(value))

    visit("", encoder)
    return content.hexdigest()


def encoded(
    encoder: Encoder, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float, frames: bool = False
) -> np.ndarray:
    """Encode windows and check the result.

    Parameters
    ----------
    encoder : Encoder
    signals : float32 array (n, channels, samples)
    channels : DataFrame
    rate_hz : float
    frames : bool
        Whether a vector is expected for every frame.

    Returns
    -------
    float32 array (n, d) or (n, frames, d)

    Raises
    ------
    NeuroarenaError
        When the shape or the number of windows is wrong, d is out of range, or a number is not finite.
    """
    # A copy: an encoder that writes into its input must not change what others see.
    said = encoder.encode(np.array(signals, dtype=np.float32), channels.copy(), float(rate_hz))
    who = f"{type(encoder).__name__}.encode()"
    form = f"({len(signals)}, frames, d)" if frames else f"({len(signals)}, d)"
    try:
        values = np.asarray(said, dtype=np.float32)
    except (TypeError, ValueError):
        raise NeuroarenaError(f"{who} returned {said!r:.60}; expected float32 {form}.") from None
    if values.ndim != (3 if frames else 2):
        raise NeuroarenaError(f"{who} returned the shape {values.shape}; expected {form}.")
    if len(values) != len(signals):
        raise NeuroarenaError(
            f"{who} returned {len(values)} rows for {len(signals)} windows; expected {form}."
        )
    if not 1 <= values.shape[-1] <= LONGEST:
        raise NeuroarenaError(
            f"{who} returned vectors of {values.shape[-1]} numbers; expected 1 to {LONGEST} of them."
        )
    if not np.isfinite(values).all():
        row = int((~np.isfinite(values)).reshape(len(values), -1).any(axis=1).argmax())
        raise NeuroarenaError(
            f"{who} returned NaN or infinity for window {row}; every number must be finite."
        )
    return values
