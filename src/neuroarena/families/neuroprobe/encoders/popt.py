"""PopulationTransformer as a decoder: a head on the population's token, the body frozen or trained."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.decoders.decoder import Context, Group, Part, n_examples, part_targets
from neuroarena.decoders.networks.training import import_torch
from neuroarena.decoders.pretrained import (
    Weights,
    as_weights,
    find_weights,
    fresh_module,
    load_module,
)
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.encoders.brainbert import Reference, Zscore, front_end
from neuroarena.families.neuroprobe.encoders.clean_list import CleanList, find_electrodes
from neuroarena.families.neuroprobe.encoders.embedding import embedded
from neuroarena.families.neuroprobe.encoders.places import Places, find_places
from neuroarena.families.neuroprobe.encoders.session_scale import NoScale, SessionScale
from neuroarena.families.neuroprobe.encoders.shapes import BRAINBERT, POPT, PURPOSE
from neuroarena.families.neuroprobe.encoders.spectra import Recipe
from neuroarena.families.neuroprobe.encoders.training import (
    Schedule,
    Trainee,
    n_outputs,
    probabilities,
    split_rows,
    train,
)
from neuroarena.features import FeatureChain

# Chau et al. 2024: 2000 steps of 128 examples, the body's rate a tenth of the head's. Neuroprobe's papers say
# that theirs took fewer (1000 in the first; the number is lost in the second), and their script is not
# public: the schedule of the model's authors is the default, theirs is steps=1000.
POPT_SCHEDULE = Schedule(
    steps=2000, batch_size=128, head_rate=5e-4, body_rate=5e-5, decay="warmup", select="auroc"
)
# Populations encoded at once: 32 of 120 electrodes keep about 1 GB for the gradients of six layers.
POPULATIONS = 32


@dataclass
class PopT:
    """A linear head on PopulationTransformer, over the features of a frozen BrainBERT.

    Every electrode is a token with a place, so recordings with different electrodes need no
    common channels.

    Parameters
    ----------
    weights : Weights, path or None
        Of PopulationTransformer.
    brainbert : Weights, path or None
        Of the BrainBERT beneath; its hidden width must be PopT's input width.
    frozen : bool
        Whether only the head is trained. The body is then in evaluation mode and each window
        is encoded once; the published script left its dropout active in training steps.
    places : Places
        How electrodes get their place.
    zscore, recipe, reference, device
        As in :class:`~neuroarena.families.neuroprobe.encoders.brainbert.BrainBertLinear`.
    schedule : Schedule
        The one of its authors by default, 2000 steps; Neuroprobe's papers took 1000.
    electrodes : CleanList, path, mapping or sequence of str, optional
        Keep only these, as :func:`~neuroarena.families.neuroprobe.encoders.clean_list.find_electrodes` reads them; they
        are left out after re-referencing. The authors' own list is not part of the package.
    """

    weights: Weights = field(default_factory=lambda: find_weights("popt"))
    brainbert: Weights = field(default_factory=lambda: find_weights("brainbert"))
    frozen: bool = True
    places: Places = field(default_factory=Places)
    zscore: Zscore = "window"
    recipe: Recipe | None = None
    reference: Reference = "clean"
    schedule: Schedule = POPT_SCHEDULE
    device: str = "cpu"
    electrodes: CleanList = field(default_factory=CleanList)
    features: FeatureChain = field(init=False)

    def __post_init__(self) -> None:
        self.weights = as_weights("popt", self.weights)
        self.brainbert = as_weights("brainbert", self.brainbert)
        self.electrodes = find_electrodes(self.electrodes)
        inputs = POPT.shape(self.weights.size).inputs
        hidden = BRAINBERT.shape(self.brainbert.size).hidden
        if inputs != hidden:
            raise InputError(
                f"PopT ({self.weights.size}) reads features of width {inputs}, and BrainBERT "
                f"({self.brainbert.size}) returns {hidden}. Choose matching sizes."
            )
        self.features = front_end(
            self.brainbert, "centre", self.zscore, self.recipe, self.reference, self.device, frozen=True
        )

    @property
    def untrained(self) -> bool:
        """Whether either of the two encoders has random weights."""
        return self.weights.untrained or self.brainbert.untrained

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> PopT:
        """Train the head, and the body unless it is frozen, from a seeded start."""
        context = context or Context()
        torch = import_torch(PURPOSE)
        train = self.electrodes.kept(train)
        validation = self.electrodes.kept(validation) if validation else None
        self.classes_ = context.classes
        self.scale_ = (SessionScale() if self.zscore == "global" else NoScale()).fit(train)
        torch.set_num_threads(1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(context.rng.integers(2**63)))
            make = load_module if self.frozen else fresh_module
            self.body_ = make(self.weights, self.device)
            hidden = POPT.shape(self.weights.size).hidden
            self.head_ = torch.nn.Linear(hidden, n_outputs(len(self.classes_))).to(self.device)
            self._train(train, validation)
        return self

    def _train(self, part: Part, validation: Part | None) -> None:
        body = None if self.frozen else self.body_
        targets = part_targets(part, self.classes_)
        trainee = Trainee(self.head_, body, self._pieces(part), targets, len(self.classes_))
        if validation:
            trainee.validation = self._pieces(validation)
            trainee.validation_targets = part_targets(validation, self.classes_)
        train(trainee, self.schedule)

    def predict(self, test: Part) -> np.ndarray:
        """Return the probability of each class."""
        test = self.electrodes.kept(test)
        return probabilities(self._pieces(test), n_examples(test), len(self.classes_))

    def _pieces(self, part: Part) -> Any:
        """Make the function that turns rows of a part into logits."""
        torch = import_torch(PURPOSE)
        if self.zscore == "global":
            part = embedded(part, self.scale_, load_module(self.brainbert, self.device))
        places = [torch.from_numpy(self.places.of(group)).to(self.device) for group in part]
        sizes = [len(group) for group in part]
        if self.frozen:
            known = torch.cat([*self._encode_all(part, places)])
            return lambda rows: iter([(np.arange(len(rows)), self.head_(known[rows]))])

        def pieces(rows: np.ndarray) -> Iterator[tuple[np.ndarray, Any]]:
            for number, positions, own in split_rows(sizes, rows):
                for first in range(0, len(own), POPULATIONS):
                    run = slice(first, first + POPULATIONS)
                    yield positions[run], self.head_(self._population(part[number], own[run], places[number]))

        return pieces

    def _encode_all(self, part: Part, places: list[Any]) -> Iterator[Any]:
        torch = import_torch(PURPOSE)
        with torch.no_grad():
            for group, place in zip(part, places, strict=True):
                for first in range(0, len(group), POPULATIONS):
                    yield self._population(
                        group, np.arange(first, min(first + POPULATIONS, len(group))), place
                    )

    def _population(self, group: Group, rows: np.ndarray, places: Any) -> Any:
        """Encode windows of one group to the population's token: (rows, hidden)."""
        torch = import_torch(PURPOSE)
        features = torch.from_numpy(np.ascontiguousarray(group.signals[rows])).to(self.device)
        return self.body_(features, places.expand(len(rows), -1, -1))[:, 0]


def popt_frozen(weights: str | Path | None = None, **parameters: Any) -> PopT:
    """A trained linear head on a frozen PopulationTransformer.

    Parameters
    ----------
    weights : path, optional
        Safetensors file of ``neuroarena data convert popt``; random weights without it, and the
        result is marked "untrained".
    **parameters
        ``brainbert`` (path of BrainBERT's weights), ``localization`` (folder of the published
        electrode places), ``electrodes`` (those to keep), ``size``, ``seed``, zscore, recipe, reference,
        device, and what to change in the published :class:`Schedule`: steps, batch_size, head_rate, ...
    """
    return _popt(True, weights, **parameters)


def popt_finetuned(weights: str | Path | None = None, **parameters: Any) -> PopT:
    """PopulationTransformer fine-tuned together with a linear head.

    Parameters are those of :func:`popt_frozen`.
    """
    return _popt(False, weights, **parameters)


def _popt(
    frozen: bool,
    weights: str | Path | None,
    brainbert: str | Path | None = None,
    localization: str | Path | None = None,
    size: str = "large",
    seed: int = 0,
    zscore: Zscore = "window",
    recipe: Recipe | None = None,
    reference: Reference = "clean",
    device: str = "cpu",
    electrodes: Any = None,
    **training: Any,
) -> PopT:
    return PopT(
        find_weights("popt", weights, size, seed),
        find_weights("brainbert", brainbert, size, seed),
        frozen,
        find_places(localization),
        zscore,
        recipe,
        reference,
        replace(POPT_SCHEDULE, **training),
        device,
        find_electrodes(electrodes),
    )
