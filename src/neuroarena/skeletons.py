"""Writing a skeleton of something new from templates: names made of its name, and no file written over."""

from __future__ import annotations

import keyword
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.machinery import PathFinder
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from neuroarena.atomic import write_text
from neuroarena.errors import InputError
from neuroarena.registry import Registry


@dataclass(frozen=True)
class SkeletonName:
    """What a name becomes in code.

    Attributes
    ----------
    module : str
        "my_decoder".
    class_name : str
        "MyDecoder".
    title : str
        "my decoder".
    """

    module: str
    class_name: str
    title: str

    @classmethod
    def parse(cls, name: str, kind: str = "module", registry: Registry[Any] | None = None) -> SkeletonName:
        """Split a name of words joined by hyphens, underscores or spaces.

        Parameters
        ----------
        name : str
        kind : {"module", "package"}
            What it becomes, as errors say it.
        registry : Registry, optional
            Where a thing of this name would be registered.

        Raises
        ------
        InputError
            When it cannot be made into a Python name, is registered already, or would hide an installed module.

        Examples
        --------
        >>> SkeletonName.parse("my-decoder")
        SkeletonName(module='my_decoder', class_name='MyDecoder', title='my decoder')
        """
        words = [word for word in re.split(r"[\s_-]+", name.strip()) if word]
        module = "_".join(words).lower()
        if not module.isidentifier() or keyword.iskeyword(module):
            raise InputError(
                f'"{name}" cannot be made into a Python {kind} name. Use letters, digits and hyphens, '
                "for example my-idea."
            )
        if registry is not None and module in {known.replace("-", "_") for known in registry.names()}:
            raise InputError(f'There is already a {registry.kind} "{name}". Choose another name.')
        if module in sys.stdlib_module_names or _is_installed(module):
            raise InputError(
                f'A {kind} called "{module}" would hide the installed one of this name. Choose another name.'
            )
        return cls(module, "".join(word[:1].upper() + word[1:] for word in words), " ".join(words))


def _is_installed(module: str) -> bool:
    """Return whether a module lies where packages are installed; one's own folder may hold one of this name."""
    places = [place for place in sys.path if Path(place).name in {"site-packages", "dist-packages"}]
    return PathFinder.find_spec(module, places) is not None


def module_templates(name: SkeletonName, folder: Path, template: str) -> dict[Path, str]:
    """Map the files of a module and its test to their templates."""
    return {
        folder / f"{name.module}.py": f"{template}.py.txt",
        folder / f"test_{name.module}.py": f"test_{template}.py.txt",
    }


def write_skeleton(
    name: SkeletonName, package: str, templates: Mapping[Path, str], **values: str
) -> list[Path]:
    """Fill templates and write them; nothing is written when one of the files is there already.

    Parameters
    ----------
    name : SkeletonName
        Templates say ``$module``, ``$class_name`` and ``$title``.
    package : str
        Where the templates lie.
    templates : mapping of Path to str
        File to write, to the name of its template.
    **values
        What templates name besides.

    Raises
    ------
    InputError
        When a file is there already.
    """
    for path in templates:
        if path.exists():
            raise InputError(f"{path}: there is already a file of this name. Nothing was written.")
    known = {"module": name.module, "class_name": name.class_name, "title": name.title, **values}
    for path, template in templates.items():
        text = files(package).joinpath(template).read_text(encoding="utf-8")
        write_text(path, Template(text).substitute(known))
    return list(templates)
