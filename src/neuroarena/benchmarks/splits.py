"""Splits: named folds of explicit example ids, with a hash that no row order can change."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest


@dataclass(frozen=True)
class Fold:
    """One evaluation: ids to train on, ids to select a model with, ids to be judged on."""

    name: str
    train: tuple[str, ...]
    test: tuple[str, ...]
    validation: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        parts = {"train": self.train, "validation": self.validation, "test": self.test}
        for part, ids in parts.items():
            if len(set(ids)) != len(ids):
                raise InputError(f'Fold "{self.name}": an id occurs twice in the {part} part.')
        for first, second in (("train", "validation"), ("train", "test"), ("validation", "test")):
            shared = set(parts[first]) & set(parts[second])
            if shared:
                raise InputError(
                    f'Fold "{self.name}": {len(shared)} ids are both in {first} and in {second}, '
                    f'for example "{min(shared)}". Parts of a fold must be disjoint.'
                )
        if not self.train or not self.test:
            empty = "train" if not self.train else "test"
            raise InputError(
                f'Fold "{self.name}": the {empty} part is empty. Both train and test need examples.'
            )

    @property
    def hash(self) -> str:
        """SHA-256 over the fold's name and the sorted ids of its parts."""
        return digest([self.name, sorted(self.train), sorted(self.validation), sorted(self.test)])


@dataclass(frozen=True)
class Split:
    """A named set of folds.

    Attributes
    ----------
    name : str
    folds : tuple of Fold
    notes : tuple of str
        What a reader should know about these folds, such as windows that two parts share; not part of the hash.
    apart : tuple of str
        Columns of which the definition lets no value stand on both sides of a fold ("subject"); `check leaks` holds
        the split to it. Not part of the hash.
    crosses : tuple of str
        What the definition says stands on both sides: "subject", "session", or "sample" where windows of training and
        test overlap. Not part of the hash.

    Examples
    --------
    >>> one = Split("halves", (Fold("a", train=("1", "2"), test=("3",)),))
    >>> two = Split("halves", (Fold("a", train=("2", "1"), test=("3",)),))
    >>> one.hash == two.hash
    True
    """

    name: str
    folds: tuple[Fold, ...] = field(default_factory=tuple)
    notes: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    crosses: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        names = [fold.name for fold in self.folds]
        if not names:
            raise InputError(f'Split "{self.name}" has no folds: the data hold nothing it can be cut from.')
        if len(set(names)) != len(names):
            raise InputError(f'Split "{self.name}": two folds have the same name.')
        judged: set[str] = set()
        for fold in self.folds:
            twice = judged.intersection(fold.test)
            if twice:
                raise InputError(f'Split "{self.name}": id "{min(twice)}" is judged in two folds.')
            judged.update(fold.test)

    @property
    def hash(self) -> str:
        """SHA-256 over the hashes of the folds; independent of the order of folds and rows."""
        return digest([self.name, sorted(fold.hash for fold in self.folds)])

    def fold(self, name: str) -> Fold:
        """Return the fold of this name."""
        for fold in self.folds:
            if fold.name == name:
                return fold
        raise InputError(f'Split "{self.name}" has no fold "{name}"; it has {_listing(self.folds)}.')


def _listing(folds: Iterable[Fold]) -> str:
    return ", ".join(fold.name for fold in folds)
