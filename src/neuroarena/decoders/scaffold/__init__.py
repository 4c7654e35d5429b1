"""Skeletons of new decoders."""

from __future__ import annotations

from pathlib import Path

from neuroarena.decoders.names import DECODERS
from neuroarena.skeletons import SkeletonName, module_templates, write_skeleton


def new_decoder(name: str, folder: Path, benchmark: str) -> list[Path]:
    """Write a commented decoder and its test into a folder.

    Parameters
    ----------
    name : str
        Words joined by hyphens, underscores or spaces: "my-decoder".
    folder : Path
    benchmark : str
        The benchmark that its comments and its test name.

    Returns
    -------
    list of Path
        The two files.

    Raises
    ------
    InputError
        When the name cannot be a module name or is taken, or a file of that name exists.
    """
    made = SkeletonName.parse(name, registry=DECODERS)
    templates = module_templates(made, folder, "decoder")
    return write_skeleton(made, __package__, templates, benchmark=benchmark)
