"""What is judged: the decoder contract, its adapters, and the decoders that neuroarena provides."""

from __future__ import annotations

from neuroarena.decoders.alignment import Alignment
from neuroarena.decoders.contract_check import Check, check_decoder
from neuroarena.decoders.decoder import Context, Decoder, Group, Part, n_examples, part_targets
from neuroarena.decoders.encoders import from_encoder
from neuroarena.decoders.floors import Chance, Dummy
from neuroarena.decoders.linear import Linear
from neuroarena.decoders.names import DECODERS, describe_decoder, load_decoder
from neuroarena.decoders.sklearn_adapter import SklearnDecoder, from_sklearn
from neuroarena.decoders.streams import StreamDecoder, StreamMeta, drive
from neuroarena.decoders.torch_adapter import TorchDecoder, from_torch
from neuroarena.decoders.zoo import from_braindecode, zoo_models

__all__ = [
    "DECODERS",
    "Alignment",
    "Chance",
    "Check",
    "Context",
    "Decoder",
    "Dummy",
    "Group",
    "Linear",
    "Part",
    "SklearnDecoder",
    "StreamDecoder",
    "StreamMeta",
    "TorchDecoder",
    "check_decoder",
    "describe_decoder",
    "drive",
    "from_braindecode",
    "from_encoder",
    "from_sklearn",
    "from_torch",
    "load_decoder",
    "n_examples",
    "part_targets",
    "zoo_models",
]
