"""Lists of electrodes that a decoder keeps, such as the clean ones of PopulationTransformer's authors."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.decoders.decoder import Group, Part
from neuroarena.errors import InputError
from neuroarena.fingerprint import digest

# Marks of the annotators, which other files leave out.
_MARKS = str.maketrans("", "", "*#_")


@dataclass(frozen=True)
class CleanList:
    """Which electrodes are kept, of every person or of each; made by :func:`find_electrodes`.

    Attributes
    ----------
    sha256 : str
        Of the labels; "" keeps every electrode.
    """

    sha256: str = ""

    def kept(self, part: Part) -> list[Group]:
        """Leave the other electrodes out of every group of a part, in the order of its channels.

        Raises
        ------
        InputError
            For a person the list does not name, or one who would have no electrode left.
        """
        return [self._kept(group) for group in part] if self.sha256 else list(part)

    def _kept(self, group: Group) -> Group:
        labels: dict[str, frozenset[str]] = self.labels_  # type: ignore[attr-defined]
        subject = str(group.table["subject"].iloc[0]) if len(group.table) else ""
        own = labels.get(subject.removeprefix("sub_"), labels.get(""))
        if own is None:
            raise InputError(
                f'The list of electrodes has no entry for subject "{subject}"; it has {", ".join(sorted(labels))}.'
            )
        names = [str(name) for name in group.channels["name"]]
        places = np.flatnonzero([name in own for name in names])
        if not places.size:
            raise InputError(
                f'The list of electrodes keeps none of the {len(names)} electrodes of subject "{subject}", '
                f"such as {names[0]}. "
                "Check that it is the list for these recordings."
            )
        channels = group.channels.iloc[places].reset_index(drop=True)
        return dataclasses.replace(group, signals=group.signals[:, places], channels=channels)


def find_electrodes(given: Any = None) -> CleanList:
    """Read a list of electrodes.

    Parameters
    ----------
    given : path, mapping, sequence of str, CleanList or None
        Labels for everyone, or by person, ``{"sub_1": ["T1a1", ...]}``; or the path of a JSON file that
        holds one of the two. None keeps every electrode.

    Raises
    ------
    InputError
        When there is no such file, or it holds something else.

    Examples
    --------
    >>> find_electrodes(["A2", "*A1"]) == find_electrodes({"": ["A1", "A2"]})
    True
    """
    if given is None or isinstance(given, CleanList):
        return given or CleanList()
    content: Any = given
    where = "electrodes"
    if isinstance(given, str | Path):
        where = str(given)
        try:
            content = json.loads(Path(given).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(
                f"{where}: cannot be read as a JSON file of electrode labels ({error})."
            ) from error
    by_person = content if isinstance(content, Mapping) else {"": content}
    labels = {str(key).removeprefix("sub_"): _labels(value, where) for key, value in by_person.items()}
    if not labels:
        raise InputError(f"{where}: the list of electrodes is empty.")
    made = CleanList(digest({person: sorted(own) for person, own in labels.items()}))
    object.__setattr__(made, "labels_", labels)
    return made


def _labels(value: Any, where: str) -> frozenset[str]:
    listed = isinstance(value, list | tuple | set | frozenset)
    if not listed or not value or not all(isinstance(label, str) for label in value):
        raise InputError(
            f'{where}: expected a list of electrode labels, or one for each person as in {{"sub_1": ["T1a1"]}}; '
            f"got {str(value)[:40]!r}."
        )
    return frozenset(label.translate(_MARKS) for label in value)
