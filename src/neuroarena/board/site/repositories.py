"""A repository for a leaderboard that takes submissions by pull request."""

from __future__ import annotations

import json
import os
from importlib.resources import files
from pathlib import Path
from string import Template

from neuroarena import __version__
from neuroarena.atomic import building
from neuroarena.benchmarks.faces import families_with
from neuroarena.errors import InputError
from neuroarena.registry import unknown_name

FILES = {
    "README.md.txt": "README.md",
    "rules.md.txt": "about/rules.md",
    "faq.md.txt": "about/faq.md",
    "site.toml.txt": "about/site.toml",
    "card.md.txt": "cards/TEMPLATE.md",
    "submissions.md.txt": "submissions/README.md",
    "pull_request.md.txt": ".github/pull_request_template.md",
    "workflow.yml.txt": ".github/workflows/board.yml",
}


def write_repository(folder: Path, family: str | None = None, title: str | None = None) -> list[Path]:
    """Write a repository for a leaderboard by pull request: folders, rules, cards, checks, and how the site is built.

    Parameters
    ----------
    folder : Path
        Missing or empty.
    family : str, optional
        Whose form submissions have: a family with the face ``submission_check``; by default the only one.
    title : str, optional
        Of the site.

    Raises
    ------
    InputError
        When the folder holds something, or several families check submissions and none is named.
    UnknownName
        With the closest family.
    """
    offered = families_with("submission_check")
    if family is None and len(offered) == 1:
        family = next(iter(offered))
    if family is None:
        raise InputError(
            f"Name the family of the submissions with --family: {', '.join(offered) or 'none is installed'}."
        )
    if family not in offered:
        raise unknown_name("family that checks submissions", family, offered, None)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(
            f"{folder}: is not an empty folder. Name an empty or a new one. Nothing was written."
        )
    shown = title or f"{family} leaderboard"
    values = {"family": family, "title": shown, "quoted_title": json.dumps(shown), "version": __version__}
    with building(folder) as made:
        for template, name in FILES.items():
            text = files(__package__).joinpath("repository", template).read_text(encoding="utf-8")
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(Template(text).substitute(values), encoding="utf-8")
        os.replace(made, folder)
    return [folder / name for name in FILES.values()]
