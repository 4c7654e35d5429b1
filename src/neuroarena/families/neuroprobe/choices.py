"""The options of loading Neuroprobe, checked once, and what follows from them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import pandas as pd

from neuroarena.families.neuroprobe import binding, folds, item_locks, labels
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank
from neuroarena.families.neuroprobe.leakage import with_leakage
from neuroarena.families.neuroprobe.options import N_FOLDS, NeuroprobeOptions, TrainOn
from neuroarena.families.neuroprobe.sessions import Session, session_key
from neuroarena.families.neuroprobe.windows import WHOLE_SECOND, Offset
from neuroarena.scoring import Manifest

ELECTRODE_UNIT = "session and electrode; its score is the mean over its folds"
# The definitions without a validation part.
_JUDGED_WHOLE = ("2025.09", "2025.07")


@dataclass(frozen=True)
class Choices:
    """The options of :meth:`.family.Neuroprobe.load`, checked; see there.

    Attributes
    ----------
    judged : frozenset of str or None
        Sessions that are judged; None for all.
    electrodes : dict of session to labels, or None
        The single electrodes; None at the level of populations.
    named_sessions, named_electrodes : bool
        Whether the user named them, so that they belong in the record.
    """

    definition: str
    subset: labels.Subset
    multiclass: bool
    sessions: tuple[Session, ...]
    judged: frozenset[str] | None
    n_folds: int
    max_samples: int | None
    train_on: TrainOn
    electrodes: dict[Session, tuple[str, ...]] | None
    window_s: Offset
    named_sessions: bool
    named_electrodes: bool

    @classmethod
    def checked(
        cls,
        dataset: BrainTreebank,
        definition: str,
        options: NeuroprobeOptions,
    ) -> Choices:
        """Check the requested options against the folder and the definition.

        Raises
        ------
        InputError
            Naming the option.
        """
        chosen = tuple(binding.choose_sessions(dataset, options.subset, options.sessions))
        single = None
        if options.single:
            single = binding.choose_electrodes(dataset, chosen, options.subset, definition, options.electrode)
        return cls(
            definition=definition,
            subset=options.subset,
            multiclass=options.multiclass,
            sessions=chosen,
            judged=binding.choose_judged(chosen, options.judged),
            n_folds=options.folds,
            max_samples=options.max_samples,
            train_on=options.train_on,
            electrodes=single,
            window_s=options.offset_s,
            named_sessions=options.sessions is not None,
            named_electrodes=options.electrode is not None,
        )

    def examples(self, dataset: BrainTreebank, task: str) -> pd.DataFrame:
        """Make the examples table of a task."""
        options = {
            "definition": self.definition,
            "multiclass": self.multiclass,
            "subset": self.subset,
            "max_samples": self.max_samples,
            "offset_s": self.window_s,
        }
        if self.electrodes is not None:
            return binding.electrode_examples(dataset, self.electrodes, task, **options)
        return binding.all_examples(dataset, self.sessions, task, **options)

    def split_rules(self, task: str, *, simulated: bool) -> dict[str, folds.SplitRule]:
        """Return the rule of every split; those of real lite sessions compare the items with the published ones."""
        rules = self._split_rules()
        if simulated or self.subset != "lite" or self.max_samples is not None:
            return rules
        compare = functools.partial(
            item_locks.compare_items,
            task=task,
            definition=self.definition,
            n_classes=labels.n_classes(task, self.definition, self.multiclass),
            begin_s=self.window_s[0],
        )
        return {
            name: functools.partial(item_locks.with_comparison, rule, compare) for name, rule in rules.items()
        }

    def _split_rules(self) -> dict[str, folds.SplitRule]:
        full = self.subset == "full"
        training = folds.longest_sessions(self.train_on) if full else folds.other_session
        cut: dict[str, Any] = {
            "validation": self.definition not in _JUDGED_WHOLE,
            "in_time": self.definition == "strict",
            "judged": self.judged,
        }
        rules: dict[str, folds.SplitRule] = {
            "within-session": functools.partial(folds.within_session, n_folds=self.n_folds, **cut),
            "cross-session": functools.partial(
                folds.cross_session, training=training, max_samples=self.max_samples, **cut
            ),
            "cross-subject": functools.partial(folds.cross_subject, **cut),
        }
        if self.electrodes is not None:
            rules = {name: folds.each_electrode(rule) for name, rule in rules.items()}
            rules["cross-subject"] = folds.refuse_cross_subject
        else:
            # Only within a session can two parts share samples; single electrodes have its folds.
            within = rules["within-session"]
            rules["within-session"] = functools.partial(with_leakage, within, float(labels.RATE_HZ))
        if self.subset == "nano":
            rules["cross-session"] = folds.refuse_cross_session
        return rules

    def manifest(self, published: Manifest, task: str) -> Manifest:
        """Return the rules of a task as chosen; anything but the published question has a different hash."""
        changes: dict[str, Any] = {}
        n_classes = labels.n_classes(task, self.definition, self.multiclass)
        if n_classes != len(published.classes):
            changes["classes"] = tuple(str(label) for label in range(n_classes))
        if self.electrodes is not None:
            changes["unit"] = ELECTRODE_UNIT
        if self.window_s != WHOLE_SECOND:
            note = f"Windows run from {self.window_s[0]:g} to {self.window_s[1]:g} s after the onset."
            changes["notes"] = (*published.notes, note)
        return published.replace(**changes) if changes else published

    def recorded(self) -> dict[str, Any]:
        """Return the options that a result records: always subset and classes, the others where unusual."""
        options: dict[str, Any] = {"subset": self.subset, "multiclass": self.multiclass}
        if self.named_sessions:
            options["sessions"] = [session_key(session) for session in self.sessions]
        if self.judged is not None:
            options["judged"] = sorted(self.judged)
        if self.n_folds != N_FOLDS:
            options["folds"] = self.n_folds
        if self.max_samples is not None:
            options["max_samples"] = self.max_samples
        if self.train_on != "longest":
            options["train_on"] = self.train_on
        if self.electrodes is not None:
            options["level"] = "electrode"
            if self.named_electrodes:
                options["electrode"] = list(next(iter(self.electrodes.values())))
        if self.window_s != WHOLE_SECOND:
            options["offset_s"] = list(self.window_s)
        return options
