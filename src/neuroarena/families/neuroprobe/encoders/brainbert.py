"""BrainBERT as a decoder: frozen beneath a logistic regression, or trained with its head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from neuroarena.decoders.alignment import Alignment
from neuroarena.decoders.decoder import Context, Group, Part, n_examples, part_targets
from neuroarena.decoders.linear import Linear
from neuroarena.decoders.networks.training import import_torch
from neuroarena.decoders.pretrained import (
    Weights,
    as_weights,
    find_weights,
    fresh_module,
    load_module,
)
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.encoders.embedding import (
    BrainBertEmbedding,
    batches,
    centre_of,
    check_frames,
    embedded,
    encode,
)
from neuroarena.families.neuroprobe.encoders.reference import NotchLaplacian
from neuroarena.families.neuroprobe.encoders.session_scale import NoScale, SessionScale
from neuroarena.families.neuroprobe.encoders.shapes import PURPOSE
from neuroarena.families.neuroprobe.encoders.spectra import BrainBertSpectra, Recipe
from neuroarena.families.neuroprobe.encoders.spill import Spill
from neuroarena.families.neuroprobe.encoders.streamed_linear import StreamedLogistic
from neuroarena.families.neuroprobe.encoders.training import (
    Schedule,
    Trainee,
    n_outputs,
    probabilities,
    split_rows,
    train,
)
from neuroarena.features import FeatureChain

Frames = Literal["centre", "all"]
Zscore = Literal["window", "global"]
Reference = Literal["clean", "as_published", "none"]


def front_end(
    weights: Weights,
    frames: str,
    zscore: str,
    recipe: Recipe | None,
    reference: str,
    device: str,
    frozen: bool,
) -> FeatureChain:
    """Choose the stateless part of a decoder: features that are cached, or spectra where something is learned."""
    for name, value, known in (
        ("frames", frames, ("centre", "all")),
        ("zscore", zscore, ("window", "global")),
        ("reference", reference, ("clean", "as_published", "none")),
    ):
        if value not in known:
            raise InputError(f'BrainBERT: {name} must be one of {", ".join(known)}, got "{value}".')
    chosen: Recipe = recipe or ("untrimmed" if frames == "all" else "pipeline")
    steps: list[Any] = [] if reference == "none" else [NotchLaplacian(reference)]  # type: ignore[arg-type]
    if frozen and frames == "centre" and zscore == "window":
        steps.append(BrainBertEmbedding(weights, chosen, device))
    else:
        steps.append(BrainBertSpectra(chosen, zscore == "window"))
    return FeatureChain(tuple(steps))


@dataclass
class BrainBertLinear:
    """Logistic regression on the features of a frozen BrainBERT.

    Parameters
    ----------
    weights : Weights, path or None
        Of :func:`find_weights`; a path or None is found at once, and known by content from then on.
    frames : str
        "centre": the mean of the ten middle frames of each electrode. "all": every frame of every
        electrode, streamed electrode by electrode into an exact logistic regression; features of
        one electrode at a time are kept, in a temporary file, and the training part is encoded twice.
    zscore : str
        "window": each window by itself. "global": by electrode and frequency over the training
        windows of the session.
    recipe : str, optional
        Front end; by default "pipeline" for the centre and "untrimmed" for all frames.
    reference : str
        "clean" (notches and Laplacian), "as_published", or "none" for the signals as they are.
    C, tol, max_iter
        Of the logistic regression.
    device : str
        A torch device.

    Notes
    -----
    The encoder is in evaluation mode. The script behind Neuroprobe's published BrainBERT rows left
    dropout active while it made its features, so exact agreement with them is impossible.
    """

    weights: Weights = field(default_factory=lambda: find_weights("brainbert"))
    frames: Frames = "centre"
    zscore: Zscore = "window"
    recipe: Recipe | None = None
    reference: Reference = "clean"
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 10_000
    device: str = "cpu"
    features: FeatureChain = field(init=False)

    def __post_init__(self) -> None:
        self.weights = as_weights("brainbert", self.weights)
        self.features = front_end(
            self.weights, self.frames, self.zscore, self.recipe, self.reference, self.device, frozen=True
        )

    @property
    def untrained(self) -> bool:
        """Whether the encoder has random weights."""
        return self.weights.untrained

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> BrainBertLinear:
        """Learn scaling and weights from the training part."""
        context = context or Context()
        import_torch(PURPOSE)
        self.classes_ = context.classes
        self.scale_ = (SessionScale() if self.zscore == "global" else NoScale()).fit(train)
        if self.frames == "centre":
            self.head_ = Linear(C=self.C, tol=self.tol, max_iter=self.max_iter)
            self.head_.fit(self._centres(train), None, context)
            return self
        self.alignment_ = Alignment.between([*(group.channels for group in train), *context.test_channels])
        self.streamed_ = StreamedLogistic(self.C, self.tol, self.max_iter)
        self.streamed_.fit(lambda: self._blocks(train), part_targets(train, self.classes_))
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Return the probability of each class; one never seen in training gets zero."""
        if self.frames == "centre":
            return self.head_.predict(self._centres(test))
        result = np.zeros((n_examples(test), len(self.classes_)))
        result[:, self.streamed_.classes_] = self.streamed_.predict_proba(self._blocks(test))
        return result

    def _centres(self, part: Part) -> Part:
        if self.zscore == "window":
            return part
        return embedded(part, self.scale_, load_module(self.weights, self.device))

    def _blocks(self, part: Part) -> Iterator[np.ndarray]:
        """Encode a part, one electrode (or region) after the other: (rows, frames x hidden) each."""
        module = load_module(self.weights, self.device)
        width = part[0].signals.shape[2] * module.input_encoding.in_proj.out_features
        regions = self.alignment_.regions
        with Spill(n_examples(part), width) as block:
            for column in range(len(part[0].channels) if regions is None else len(regions)):
                first = 0
                for group in part:
                    places = _members(group, column, regions)
                    for rows in batches(len(group), len(places)):
                        spectra = self.scale_.apply(group, rows, places)
                        flat = encode(module, spectra.reshape(-1, *spectra.shape[2:])).cpu().numpy()
                        mean = flat.reshape(*spectra.shape[:2], width).mean(axis=1)
                        block[first + rows.start : first + rows.stop] = mean
                    first += len(group)
                yield block


def _members(group: Group, column: int, regions: tuple[str, ...] | None) -> np.ndarray:
    """List the channels that make up a column: one electrode, or all of a region."""
    if regions is None:
        return np.array([column])
    return np.flatnonzero(np.asarray(group.channels["region"]) == regions[column])


# Wang et al. 2023: 1000 steps of 64 examples, the encoder's rate a tenth of the head's.
BRAINBERT_SCHEDULE = Schedule(
    steps=1000, batch_size=64, head_rate=1e-3, body_rate=1e-4, decay="plateau", select="loss"
)


@dataclass
class BrainBertFinetuned:
    """BrainBERT trained together with a linear head on the features of all electrodes.

    Parameters
    ----------
    weights, frames, zscore, recipe, reference, device
        As in :class:`BrainBertLinear`.
    schedule : Schedule
        The published one by default. The step of lowest validation loss is kept where there is a
        validation part; the published code judged its last step (``keep="last"``).
    """

    weights: Weights = field(default_factory=lambda: find_weights("brainbert"))
    frames: Frames = "centre"
    zscore: Zscore = "window"
    recipe: Recipe | None = None
    reference: Reference = "clean"
    schedule: Schedule = BRAINBERT_SCHEDULE
    device: str = "cpu"
    features: FeatureChain = field(init=False)

    def __post_init__(self) -> None:
        self.weights = as_weights("brainbert", self.weights)
        self.features = front_end(
            self.weights, self.frames, self.zscore, self.recipe, self.reference, self.device, frozen=False
        )

    @property
    def untrained(self) -> bool:
        """Whether the encoder started from random weights."""
        return self.weights.untrained

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> BrainBertFinetuned:
        """Train encoder and head from a seeded start."""
        context = context or Context()
        torch = import_torch(PURPOSE)
        self.classes_ = context.classes
        self.alignment_ = Alignment.between([*(group.channels for group in train), *context.test_channels])
        self.scale_ = (SessionScale() if self.zscore == "global" else NoScale()).fit(train)
        torch.set_num_threads(1)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(int(context.rng.integers(2**63)))
            self.body_ = fresh_module(self.weights, self.device)
            self.head_ = self._make_head(torch, train[0]).to(self.device)
            self._train(train, validation)
        return self

    def _train(self, part: Part, validation: Part | None) -> None:
        trainee = Trainee(
            self.head_, self.body_, self._pieces(part), part_targets(part, self.classes_), len(self.classes_)
        )
        if validation:
            trainee.validation = self._pieces(validation)
            trainee.validation_targets = part_targets(validation, self.classes_)
        train(trainee, self.schedule)

    def predict(self, test: Part) -> np.ndarray:
        """Return the probability of each class."""
        return probabilities(self._pieces(test), n_examples(test), len(self.classes_))

    def _make_head(self, torch: Any, group: Group) -> Any:
        _, channels, frames, _ = group.signals.shape
        regions = self.alignment_.regions
        columns = channels if regions is None else len(regions)
        if self.frames == "centre":
            check_frames(frames)
        width = self.body_.input_encoding.in_proj.out_features * (frames if self.frames == "all" else 1)
        return torch.nn.Linear(columns * width, n_outputs(len(self.classes_)))

    def _pieces(self, part: Part) -> Any:
        """Make the function that turns rows of a part into logits, a few windows at a time."""
        averages = [self._average(group) for group in part]

        def pieces(rows: np.ndarray) -> Iterator[tuple[np.ndarray, Any]]:
            for number, positions, own in split_rows([len(group) for group in part], rows):
                group = part[number]
                for run in batches(len(own), group.signals.shape[1]):
                    yield positions[run], self._logits(group, own[run], averages[number])

        return pieces

    def _logits(self, group: Group, rows: np.ndarray, average: np.ndarray | None) -> Any:
        torch = import_torch(PURPOSE)
        spectra = torch.from_numpy(np.ascontiguousarray(self.scale_.apply(group, rows))).to(self.device)
        encoded = self.body_(spectra.flatten(0, 1)).unflatten(0, spectra.shape[:2])
        pooled = centre_of(encoded) if self.frames == "centre" else encoded.flatten(2)
        if average is not None:
            pooled = torch.einsum("rc,ncf->nrf", torch.as_tensor(average, device=pooled.device), pooled)
        return self.head_(pooled.flatten(1))

    def _average(self, group: Group) -> np.ndarray | None:
        """Return the matrix (regions, channels) that averages channels by region."""
        regions = self.alignment_.regions
        if regions is None:
            return None
        member = np.asarray(group.channels["region"])[None] == np.asarray(regions)[:, None]
        average: np.ndarray = (member / member.sum(axis=1, keepdims=True)).astype(np.float32)
        return average


def brainbert_linear(
    weights: str | Path | None = None, size: str = "large", seed: int = 0, **parameters: Any
) -> BrainBertLinear:
    """Logistic regression on a frozen BrainBERT.

    Parameters
    ----------
    weights : path, optional
        Safetensors file of ``neuroarena data convert brainbert``; random weights without it, and
        the result is marked "untrained".
    size, seed : str, int
        Of random weights.
    **parameters
        Of :class:`BrainBertLinear`: frames, zscore, recipe, reference, C, tol, max_iter, device.
    """
    return BrainBertLinear(find_weights("brainbert", weights, size, seed), **parameters)


def brainbert_finetuned(
    weights: str | Path | None = None,
    size: str = "large",
    seed: int = 0,
    frames: Frames = "centre",
    zscore: Zscore = "window",
    recipe: Recipe | None = None,
    reference: Reference = "clean",
    device: str = "cpu",
    **training: Any,
) -> BrainBertFinetuned:
    """BrainBERT fine-tuned together with a linear head.

    Parameters
    ----------
    weights, size, seed, frames, zscore, recipe, reference, device
        As in :func:`brainbert_linear`.
    **training
        What to change in the published :class:`Schedule`: steps, batch_size, head_rate, ...
    """
    return BrainBertFinetuned(
        find_weights("brainbert", weights, size, seed),
        frames=frames,
        zscore=zscore,
        recipe=recipe,
        reference=reference,
        device=device,
        schedule=replace(BRAINBERT_SCHEDULE, **training),
    )
