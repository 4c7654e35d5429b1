"""Decoders by name: built in, registered, brought by a package, or ``module:attribute``."""

from __future__ import annotations

import inspect
from typing import Any

from neuroarena.decoders.decoder import Decoder
from neuroarena.decoders.streams import StreamDecoder
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
        "csp-lda": "neuroarena.decoders.bci:CspLda",
        "riemann-lr": "neuroarena.decoders.bci:RiemannLr",
        "cca": "neuroarena.decoders.bci:cca",
        "filterbank-lda": "neuroarena.decoders.bci:filterbank_lda",
        "sleep-chance": "neuroarena.decoders.sleep:sleep_chance",
        "sleep-median": "neuroarena.decoders.sleep:sleep_median",
        "bandpower-stager": "neuroarena.decoders.sleep:bandpower_stager",
        "conv-stager": "neuroarena.decoders.sleep:conv_stager",
        "most-frequent-key": "neuroarena.decoders.emg:MostFrequentKey",
        "ctc-linear": "neuroarena.decoders.emg:CtcLinear",
        "tds-ctc": "neuroarena.decoders.emg:tds_ctc",
        "bandpower-ridge": "neuroarena.decoders.eeg2025.ridge:bandpower_ridge",
        "demographics-ridge": "neuroarena.decoders.eeg2025.ridge:demographics_ridge",
        "eegnex": "neuroarena.decoders.eeg2025.zoo:eegnex",
        "encoder": "neuroarena.decoders.transfer:EncoderProbe",
        "encoder-random": "neuroarena.decoders.transfer:encoder_random",
        "encoder-handcrafted": "neuroarena.decoders.transfer:encoder_handcrafted",
        "encoder-selfsupervised": "neuroarena.decoders.transfer:encoder_selfsupervised",
        "shipped-img": "neuroarena.decoders.shipped:shipped_img",
        "shipped-bci": "neuroarena.decoders.shipped:shipped_bci",
        "shipped-sleep": "neuroarena.decoders.shipped:shipped_sleep",
        "shipped-emg": "neuroarena.decoders.shipped:shipped_emg",
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
        "brainbert-linear": "neuroarena.decoders.encoders.brainbert:brainbert_linear",
        "brainbert-finetuned": "neuroarena.decoders.encoders.brainbert:brainbert_finetuned",
        "popt-frozen": "neuroarena.decoders.encoders.popt:popt_frozen",
        "popt-finetuned": "neuroarena.decoders.encoders.popt:popt_finetuned",
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
        Given to the class or function.

    Raises
    ------
    UnknownName
        With the closest names.
    InputError
        When what the name stands for is not a decoder.
    """
    found = DECODERS.get(name)
    if inspect.isclass(found) or inspect.isroutine(found):
        try:
            found = found(**parameters)
        except TypeError as error:
            raise InputError(f'The decoder "{name}" cannot be made: {error}.') from error
    elif parameters:
        raise InputError(f'"{name}" is a decoder already made; it takes no parameters.')
    if not isinstance(found, Decoder | StreamDecoder):
        raise InputError(
            f'"{name}" is a {type(found).__name__}, which is not a decoder: it needs fit(train, validation, context), '
            "predict(test) or start(meta) and step(window), and an attribute features. Adapt it with "
            "neuroarena.from_sklearn or neuroarena.from_torch."
        )
    decoder: Any = found
    return decoder  # type: ignore[no-any-return]


def describe_decoder(name: str) -> str:
    """Give the first line of a decoder's documentation."""
    documentation = inspect.getdoc(DECODERS.get(name)) or ""
    return documentation.partition("\n")[0]
