"""Put steps in front of a decoder's features: remove line noise, lower the sampling rate."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from neuroarena.decoders.decoder import Decoder
from neuroarena.decoders.grid import with_features
from neuroarena.errors import InputError
from neuroarena.features import Downsample, FeatureChain, Notch


def prepare_decoder(
    name: str, decoder: Decoder, notch_hz: Sequence[float] = (), downsample_hz: float | None = None
) -> tuple[str, Decoder]:
    """Return a decoder whose signals are filtered first, and a name that says so.

    Parameters
    ----------
    name : str
        Name of the decoder; the added steps are appended, as in ``linear[notch=60]``.
    decoder : Decoder
        A dataclass; not changed.
    notch_hz : sequence of float
        Frequencies to remove.
    downsample_hz : float, optional
        The new sampling rate.

    Raises
    ------
    InputError
        When the decoder is not a dataclass, or a number is not positive.

    Examples
    --------
    >>> from neuroarena.decoders import Linear
    >>> name, decoder = prepare_decoder("linear", Linear(), notch_hz=(60.0,), downsample_hz=512.0)
    >>> name, [type(step).__name__ for step in decoder.features.steps]
    ('linear[notch=60,rate=512]', ['Notch', 'Downsample'])
    """
    steps: list[Any] = [Notch(tuple(notch_hz))] if notch_hz else []
    words = [f"notch={'+'.join(f'{frequency:g}' for frequency in notch_hz)}"] if notch_hz else []
    if downsample_hz is not None:
        steps.append(Downsample(downsample_hz))
        words.append(f"rate={downsample_hz:g}")
    if not steps:
        return name, decoder
    plain: Any = decoder
    if not dataclasses.is_dataclass(plain):
        raise InputError(
            f'The decoder "{name}" is not a dataclass, so no step can be put before its features.'
        )
    chain = FeatureChain((*steps, *decoder.features.steps))
    return f"{name}[{','.join(words)}]", with_features(plain, chain)
