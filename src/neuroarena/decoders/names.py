"""Decoders by name: built in, registered, provided by a package, or ``module:attribute``."""

from __future__ import annotations

import inspect
from typing import Any

from neuroarena.benchmarks.faces import families_with
from neuroarena.decoders.decoder import Decoder
from neuroarena.decoders.streams import StreamDecoder
from neuroarena.decoders.zoo import PREFIX, from_braindecode
from neuroarena.errors import InputError
from neuroarena.registry import Registry

DECODERS: Registry[Any] = Registry(
    "decoder",
    "neuroarena.decoders",
    {
        "chance": "neuroarena.decoders.floors:Chance",
        "dummy": "neuroarena.decoders.floors:Dummy",
        "linear": "neuroarena.decoders.linear:linear",
        "linear-spectrogram": "neuroarena.decoders.linear:linear_spectrogram",
        "linear-laplacian-spectrogram": "neuroarena.decoders.linear:linear_laplacian_spectrogram",
        "linear-stft": "neuroarena.decoders.linear:linear_stft",
        "linear-v1": "neuroarena.decoders.linear:linear_v1",
        "csp-lda": "neuroarena.decoders.covariances:CspLda",
        "fbcsp": "neuroarena.decoders.pipelines:fbcsp",
        "xdawn-tangent": "neuroarena.decoders.pipelines:xdawn_tangent",
        "erp-mdm": "neuroarena.decoders.pipelines:erp_mdm",
        "trca": "neuroarena.decoders.pipelines:trca",
        "riemann-lr": "neuroarena.decoders.covariances:RiemannLr",
        "ridge-embedding": "neuroarena.decoders.embedding_ridge:ridge_embedding",
        "mlp": "neuroarena.decoders.networks:mlp",
        "cnn": "neuroarena.decoders.networks:cnn",
        "cnn-raw": "neuroarena.decoders.networks:cnn_raw",
        "eegnet": "neuroarena.decoders.networks:eegnet",
        "gru": "neuroarena.decoders.networks:gru",
        "stgcn": "neuroarena.decoders.networks:stgcn",
        "stgcn-no-attention": "neuroarena.decoders.networks:stgcn_no_attention",
        "stgcn-no-graph": "neuroarena.decoders.networks:stgcn_no_graph",
        "stgcn-no-attention-no-graph": "neuroarena.decoders.networks:stgcn_no_attention_no_graph",
    },
)


def load_decoder(name: str, **parameters: Any) -> Decoder:
    """Make a decoder by its name.

    Parameters
    ----------
    name : str
        A name of ``neuroarena list decoders``, or ``module:attribute`` naming a decoder, a class
        or a function that makes one.
    **parameters
        Passed to the class or function.

    Raises
    ------
    UnknownName
        With the closest names.
    InputError
        When what the name stands for is not a decoder.
    """
    if name.startswith(PREFIX):
        return from_braindecode(name.removeprefix(PREFIX), **parameters)
    if ":" not in name and name not in DECODERS.names():
        _refuse_model(name)
    found = DECODERS.get(name)
    if inspect.isclass(found) or inspect.isroutine(found):
        try:
            found = found(**parameters)
        except TypeError as error:
            raise InputError(f'The decoder "{name}" cannot be made: {error}.') from error
    elif parameters:
        raise InputError(f'"{name}" is a finished decoder, so it takes no parameters. Leave them out.')
    if not isinstance(found, Decoder | StreamDecoder):
        raise InputError(
            f'"{name}" is a {type(found).__name__}, which is not a decoder: it needs fit(train, validation, context), '
            "predict(test) or start(meta) and step(window), and an attribute features. Adapt it with "
            "neuroarena.from_sklearn or neuroarena.from_torch."
        )
    decoder: Any = found
    return decoder  # type: ignore[no-any-return]


def _refuse_model(name: str) -> None:
    """Refuse the name of a model that is shown stimuli, and say which family judges it."""
    for family, models in families_with("models").items():
        if name in models:
            raise InputError(
                f'"{name}" is not a decoder of signals but a model that is shown stimuli, judged by benchmarks of '
                f"{family}: neuroarena run {family}/TASK -d {name}"
            )


def describe_decoder(name: str) -> str:
    """Return the first line of a decoder's documentation."""
    documentation = inspect.getdoc(DECODERS.get(name)) or ""
    return documentation.partition("\n")[0]
