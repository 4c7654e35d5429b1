"""Our own networks: MLP, CNN, GRU, ST-GCN and its ablations, trained by one loop.

Every function makes the decoder of one name; its options are the fields of the class, such as
``max_epochs``, ``patience``, ``learning_rate`` and ``batch_size``. Torch is imported when one is fitted.
"""

from __future__ import annotations

from typing import Any

from neuroarena.decoders.networks.cnn import CNN
from neuroarena.decoders.networks.decoder import NetworkDecoder
from neuroarena.decoders.networks.eegnet import EEGNet
from neuroarena.decoders.networks.gru import GRU
from neuroarena.decoders.networks.mlp import MLP
from neuroarena.decoders.networks.stgcn import STGCN
from neuroarena.features import FeatureChain

__all__ = [
    "CNN",
    "GRU",
    "MLP",
    "STGCN",
    "EEGNet",
    "NetworkDecoder",
    "cnn",
    "cnn_raw",
    "eegnet",
    "gru",
    "mlp",
    "stgcn",
    "stgcn_no_attention",
    "stgcn_no_attention_no_graph",
    "stgcn_no_graph",
]


def mlp(**options: Any) -> MLP:
    """Two dense layers on spectrograms of Laplacian re-referenced voltage."""
    return MLP(**options)


def cnn(**options: Any) -> CNN:
    """Convolutions over frame and frequency of spectrograms of Laplacian re-referenced voltage."""
    return CNN(**options)


def cnn_raw(**options: Any) -> CNN:
    """Convolutions over time of raw voltage."""
    return CNN(**{"features": FeatureChain(), **options})


def eegnet(**options: Any) -> EEGNet:
    """Filters in time, then between channels, on raw voltage: classes, numbers or vectors."""
    return EEGNet(**options)


def gru(**options: Any) -> GRU:
    """Recurrent units over the frames of spectrograms of Laplacian re-referenced voltage."""
    return GRU(**options)


def stgcn(**options: Any) -> STGCN:
    """Graph convolutions between electrodes, with learned attention and the correlation graph."""
    return STGCN(**options)


def stgcn_no_attention(**options: Any) -> STGCN:
    """Graph convolutions between electrodes on the correlation graph alone, as in the paper's main tables."""
    return STGCN(attention=False, **options)


def stgcn_no_graph(**options: Any) -> STGCN:
    """Graph convolutions between electrodes, with learned attention and no graph."""
    return STGCN(graph=False, **options)


def stgcn_no_attention_no_graph(**options: Any) -> STGCN:
    """The layers of the graph network for each electrode by itself: no attention, no graph."""
    return STGCN(attention=False, graph=False, **options)
