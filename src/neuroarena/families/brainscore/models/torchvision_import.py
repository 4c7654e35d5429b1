"""Import torchvision beside a CPU torch.

The registry's torchvision is built for CUDA. Beside a torch without CUDA its compiled operators do not load, and the
import fails because it describes operators that nobody has defined. Defining their names is enough: architectures do
not call them, only detectors of objects do, and those then say that the operator has no implementation.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

from neuroarena.errors import MissingDependency

_ROIS = "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
_BACK = "int batch_size, int channels, int height, int width"
# The 13 operators of torchvision, with the arguments that its own Python code passes.
OPERATORS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({_ROIS}, int sampling_ratio, bool aligned) -> Tensor",
    f"qroi_align({_ROIS}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward({_ROIS}, {_BACK}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool({_ROIS}) -> (Tensor, Tensor)",
    f"_roi_pool_backward({_ROIS}, Tensor argmax, {_BACK}) -> Tensor",
    f"ps_roi_align({_ROIS}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward({_ROIS}, Tensor channel_mapping, int sampling_ratio, {_BACK}) -> Tensor",
    f"ps_roi_pool({_ROIS}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward({_ROIS}, Tensor channel_mapping, {_BACK}) -> Tensor",
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, int[] sizes, bool use_mask) "
    "-> Tensor",
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, "
    "int[] sizes, bool use_mask) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
# The definitions live as long as this object.
_defined: list[Any] = []


def import_torchvision() -> Any:
    """Import torchvision, defining the names of its operators where its compiled part does not load.

    Raises
    ------
    MissingDependency
        When torchvision is not installed.
    """
    return _import("torchvision", "torchvision")


def import_timm() -> Any:
    """Import timm, which imports torchvision.

    Raises
    ------
    MissingDependency
        When timm or torchvision is not installed.
    """
    import_torchvision()
    return _import("timm", "timm")


def _import(name: str, library: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] != library:
            raise
        raise MissingDependency(library, "models", f"A model of {library}") from None
    except RuntimeError as error:
        if "torchvision::" not in str(error) or _defined:
            raise
        for loaded in [each for each in sys.modules if each.partition(".")[0] == "torchvision"]:
            del sys.modules[loaded]
        _define_operators()
        return importlib.import_module(name)


def _define_operators() -> None:
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for schema in OPERATORS:
        library.define(schema)
    _defined.append(library)
