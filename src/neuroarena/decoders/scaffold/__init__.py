"""Skeletons of new decoders."""

from __future__ import annotations

import keyword
import re
from importlib.resources import files
from pathlib import Path
from string import Template

from neuroarena.atomic import write_text
from neuroarena.errors import InputError


def new_decoder(name: str, folder: Path) -> list[Path]:
    """Write a commented decoder and its test into a folder.

    Parameters
    ----------
    name : str
        Words joined by hyphens, underscores or spaces: "my-decoder".
    folder : Path

    Returns
    -------
    list of Path
        The two files.

    Raises
    ------
    InputError
        When the name cannot be a module name, or a file of that name exists.
    """
    words = [word for word in re.split(r"[\s_-]+", name.strip()) if word]
    module = "_".join(words).lower()
    if not module.isidentifier() or keyword.iskeyword(module):
        raise InputError(
            f'"{name}" cannot be made into a Python module name. '
            "Use letters, digits and hyphens, for example my-decoder."
        )
    values = {
        "module": module,
        "class_name": "".join(word[:1].upper() + word[1:] for word in words),
        "title": " ".join(words),
    }
    targets = [folder / f"{module}.py", folder / f"test_{module}.py"]
    for path in targets:
        if path.exists():
            raise InputError(f"{path}: there is already a file of this name. Nothing was written.")
    for path, template in zip(targets, ("decoder.py.txt", "test_decoder.py.txt"), strict=True):
        text = files(__package__).joinpath(template).read_text(encoding="utf-8")
        write_text(path, Template(text).substitute(values))
    return targets
