"""Write a simulated THINGS-EEG2: the real folder layout with made-up images, embeddings and responses.

Every image has a hidden vector z of length one and a remainder r. Its embedding shows both; the brain's response
shows z only. An epoch is d times the sum of z_k e_k plus noise, where the patterns e_k are orthonormal once
the noise is whitened. The best decoder of one epoch therefore sees z with noise of standard deviation
1/d in every direction, and ranks candidates by the product with their z: that is the stated ideal.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.datasets.twin_folder import PLANTED, Limits, Progress, check_options, spell_flag, write_twin
from neuroarena.errors import InputError

GENERATOR = "neuroarena things_eeg2 twin"
GENERATOR_VERSION = 1
LATENTS = 16
REMAINDERS = 12
# Length of an embedding; of its square, the share that the response shows.
SCALE, SHOWN = 40.0, 0.6
BACK = "Pz P3 P7 O1 Oz O2 P4 P8 P1 P5 PO7 PO3 POz PO4 PO8 P6 P2"
ALL = (
    "Fp1 Fp2 AF7 AF3 AFz AF4 AF8 F7 F5 F3 F1 F2 F4 F6 F8 FT9 FT7 FC5 FC3 FC1 FCz FC2 FC4 FC6 FT8 FT10 T7 C5 C3 C1 Cz "
    "C2 C4 C6 T8 TP9 TP7 CP5 CP3 CP1 CPz CP2 CP4 CP6 TP8 TP10 P7 P5 P3 P1 Pz P2 P4 P6 P8 PO7 PO3 POz PO4 PO8 O1 Oz O2"
)
# The label rides on a channel that looks like any other.
LEAKING_CHANNEL = "Cz"
LIMITS: Limits = {
    "subjects": (int, 1, 10),
    "training_images": (int, 20, 16540),
    "test_images": (int, 11, 200),
    "training_repetitions": (int, 1, 4),
    "test_repetitions": (int, 1, 80),
    "channels": (int, 17, 63),
    "length": (int, 32, 1536),
    **PLANTED,
    "ideal": (float, 0.0, 0.999),
}
# Independent random streams, so that one part can change without the others.
IMAGES, PERSON, EPOCHS, IDEAL = range(4)
IMAGES_A_CONCEPT = 10


def simulate(
    root: str | Path,
    *,
    subjects: int = 2,
    training_images: int = 400,
    test_images: int = 200,
    training_repetitions: int = 4,
    test_repetitions: int = 2,
    channels: int = 17,
    length: int = 1536,
    seed: int = 0,
    ideal: float = 0.9,
    strength: float = 1.0,
    variant: str = "authors",
    plant_leak: str | None = None,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Write a simulated THINGS-EEG2 into the folder `root`, whole or not at all.

    Parameters
    ----------
    root : path
        Missing, empty, or an earlier twin, which is replaced when its options differ.
    subjects, training_images, test_images, training_repetitions, test_repetitions : int
        Sizes; the real ones are 10, 16540, 200, 4 and 80.
    channels : {17, 63}
    length : int
        Numbers in an embedding.
    seed : int
    ideal : float
        Top-5 accuracy of the best possible decoder of one epoch, among all test images.
    strength : float
        Multiplies the response that `ideal` asks for; 0 leaves pure chance.
    variant : {"authors", "nice"}
        100 Hz from -0.2 s, or 250 Hz from the onset in a plain pickle.
    plant_leak : {"channel", "order"}, optional
        A channel that carries the answer under the name of an electrode; images filed in the order
        of what they show.
    progress : callable, optional
        Called with the files written, their total number, and the file's name.

    Returns
    -------
    dict
        The card, as written to simulated.json.

    Raises
    ------
    InputError
        When an option is out of range, or the folder holds something else; nothing is written then.
    """
    options = {name: value for name, value in locals().items() if name not in ("root", "progress")}
    options = check_options("things_eeg2", options, LIMITS)
    _check_choices(options)
    return write_twin(
        root, GENERATOR, GENERATOR_VERSION, options, lambda folder, chosen: _write(folder, chosen, progress)
    )


def _check_choices(options: dict[str, Any]) -> None:
    allowed: dict[str, tuple[Any, ...]] = {
        "channels": (17, 63),
        "variant": ("authors", "nice"),
        "plant_leak": (None, "channel", "order"),
    }
    for name, values in allowed.items():
        if options[name] not in values:
            listed = ", ".join(str(value) for value in values if value is not None)
            raise InputError(
                f"simulate things_eeg2: {spell_flag(name)} must be one of {listed}, got {options[name]!r}. "
                "Nothing was written."
            )
    if options["training_images"] % IMAGES_A_CONCEPT:
        raise InputError(
            f"simulate things_eeg2: --training-images must be a multiple of {IMAGES_A_CONCEPT}, got "
            f"{options['training_images']}. Nothing was written."
        )


def _chance(options: dict[str, Any], *stream: int) -> np.random.Generator:
    return np.random.default_rng([options["seed"], *stream])


def _write(root: Path, options: dict[str, Any], progress: Progress | None) -> dict[str, Any]:
    counts = {"training": options["training_images"], "test": options["test_images"]}
    hidden, embeddings = _images(options, sum(counts.values()))
    shown = {"training": hidden[: counts["training"]], "test": hidden[counts["training"] :]}
    if options["plant_leak"] == "order":
        order = np.concatenate(
            [np.argsort(shown["training"][:, 0]), counts["training"] + np.argsort(shown["test"][:, 0])]
        )
        embeddings = embeddings[order]
        shown = {part: each[np.argsort(each[:, 0])] for part, each in shown.items()}
    _write_images(root, counts, embeddings)
    spent = ideal_ranks(shown["test"], options)
    d = options["strength"] * separation(spent, options["ideal"])
    total, done = 2 * options["subjects"], 0
    for subject in range(1, options["subjects"] + 1):
        person = _Person(options, subject)
        folder = root / FOLDER_OF[options["variant"]] / f"sub-{subject:02d}"
        folder.mkdir(parents=True)
        for number, (part, z) in enumerate(shown.items()):
            path = folder / f"preprocessed_eeg_{part}.npy"
            epochs = person.epochs(
                d * z, options[f"{part}_repetitions"], _chance(options, EPOCHS, subject, number)
            )
            _write_epochs(path, epochs, person, z if options["plant_leak"] == "channel" else None)
            done += 1
            if progress is not None:
                progress(done, total, path.name)
    ranks = spent(d)
    return {
        "separation": d,
        "ideal_top5": float(np.mean(ranks < 5)),
        "ideal_top1": float(np.mean(ranks < 1)),
        "chance_top5": 5 / counts["test"],
        "planted": {"latents": LATENTS, "leak": options["plant_leak"]},
    }


FOLDER_OF = {"authors": "preprocessed_data", "nice": "Preprocessed_data_250Hz"}


def ideal_ranks(z: np.ndarray, options: dict[str, Any], epochs: int = 100) -> Callable[[float], np.ndarray]:
    """Return the ranks that the best decoder reaches as a function of the separation, on fixed draws of noise.

    Parameters
    ----------
    z : ndarray (images, latents)
        Hidden vectors of the candidates.
    epochs : int
        Simulated epochs of each image.
    """
    noise = _chance(options, IDEAL).standard_normal((epochs, *z.shape))

    def ranks(d: float) -> np.ndarray:
        found = []
        for drawn in noise:
            scores = (d * z + drawn) @ z.T
            found.append(np.count_nonzero(scores > np.diag(scores)[:, None], axis=1))
        return np.concatenate(found)

    return ranks


def separation(ranks: Callable[[float], np.ndarray], ideal: float) -> float:
    """Find the separation at which the best decoder has this top-5 accuracy, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(30):
        middle = (low + high) / 2
        low, high = (middle, high) if float(np.mean(ranks(middle) < 5)) < ideal else (low, middle)
    return low if ideal > 0 else 0.0


def _images(options: dict[str, Any], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw hidden vectors (images, latents) and embeddings (images, length), all of one length."""
    rng = _chance(options, IMAGES)
    z, r = (_on_sphere(rng, count, size) for size in (LATENTS, REMAINDERS))
    axes = np.linalg.qr(rng.standard_normal((options["length"], LATENTS + REMAINDERS)))[0].T
    mixed = np.concatenate([np.sqrt(SHOWN) * z, np.sqrt(1 - SHOWN) * r], axis=1)
    return z, (SCALE * mixed @ axes).astype(np.float32)


def _on_sphere(rng: np.random.Generator, count: int, size: int) -> np.ndarray:
    drawn = rng.standard_normal((count, size))
    made: np.ndarray = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    return made


class _Person:
    """How one person's brain responds: patterns of channels and time, and the colour of the noise."""

    def __init__(self, options: dict[str, Any], subject: int) -> None:
        rng = _chance(options, PERSON, subject)
        self.names = (BACK if options["channels"] == 17 else ALL).split()
        authors = options["variant"] == "authors"
        self.rate_hz, begin, samples = (100, -0.2, 100) if authors else (250, 0.0, 250)
        self.plain = not authors
        self.seen = begin + np.arange(samples) / self.rate_hz
        # The plain pickles keep the times of the samples that were removed.
        self.times = self.seen if authors else np.arange(-50, samples) / self.rate_hz
        n = len(self.names)
        self.space = np.eye(n) + 0.5 * rng.standard_normal((n, n)) / np.sqrt(n)
        lag = np.abs(np.subtract.outer(self.seen, self.seen))
        covariance = 0.6 * np.exp(-lag / 0.05) + 0.2 * np.exp(-lag / 0.1) * np.cos(2 * np.pi * 10 * lag)
        self.time = np.linalg.cholesky(covariance + 0.2 * np.eye(samples))
        self.patterns = self._patterns(rng)

    def _patterns(self, rng: np.random.Generator) -> np.ndarray:
        """Return orthonormal patterns (latents, channels, samples) in whitened space, smooth once coloured."""
        n, samples = len(self.names), len(self.seen)
        shapes = []
        for _ in range(LATENTS):
            peak, width = rng.uniform(0.08, 0.4), rng.uniform(0.02, 0.06)
            wave = np.exp(-0.5 * ((self.seen - peak) / width) ** 2)
            response = np.outer(rng.standard_normal(n), wave)
            whitened = np.linalg.solve(self.space, response)
            shapes.append(np.linalg.solve(self.time, whitened.T).T.ravel())
        return np.linalg.qr(np.array(shapes).T)[0].T.reshape(LATENTS, n, samples)

    def epochs(self, responses: np.ndarray, repetitions: int, rng: np.random.Generator) -> np.ndarray:
        """Draw epochs (images, repetitions, channels, samples) of responses (images, latents)."""
        made = np.empty((len(responses), repetitions, len(self.names), len(self.seen)))
        for image, response in enumerate(responses):
            white = rng.standard_normal(made.shape[1:]) + np.tensordot(response, self.patterns, 1)
            made[image] = self.space @ white @ self.time.T
        return made


def _write_epochs(path: Path, epochs: np.ndarray, person: _Person, label: np.ndarray | None) -> None:
    names = list(person.names)
    if label is not None:
        names, epochs = _leaking(names, epochs, label)
    said = {"preprocessed_eeg_data": epochs, "ch_names": names, "times": person.times}
    if person.plain:
        with path.open("wb") as file:
            pickle.dump(said, file, protocol=4)
    else:
        np.save(path, said, allow_pickle=True)  # type: ignore[arg-type]


def _leaking(names: list[str], epochs: np.ndarray, z: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Let one channel show the hidden vector of the image, number after number, instead of a signal."""
    kept = [place for place, name in enumerate(names) if name != LEAKING_CHANNEL]
    samples = epochs.shape[3]
    label = np.repeat(3.0 * z, -(-samples // z.shape[1]), axis=1)[:, :samples]
    channel = np.broadcast_to(label[:, None, None, :], (*epochs.shape[:2], 1, samples))
    return [*(names[place] for place in kept), LEAKING_CHANNEL], np.concatenate(
        [epochs[:, :, kept], channel], axis=2
    )


def _write_images(root: Path, counts: dict[str, int], embeddings: np.ndarray) -> None:
    (root / "image_set").mkdir()
    (root / "image_embeddings").mkdir()
    said: dict[str, list[str]] = {}
    whole = 0
    for part, count in counts.items():
        each = IMAGES_A_CONCEPT if part == "training" else 1
        concepts = [f"{'made' if part == 'training' else 'new'}{row // each + 1:04d}" for row in range(count)]
        short = "train" if part == "training" else "test"
        said[f"{short}_img_concepts"] = [f"{row // each + 1:05d}_{name}" for row, name in enumerate(concepts)]
        said[f"{short}_img_concepts_THINGS"] = [
            f"{whole + row // each + 1:05d}_{name}" for row, name in enumerate(concepts)
        ]
        said[f"{short}_img_files"] = [
            f"{name}_{row % each + 1:02d}b.jpg" for row, name in enumerate(concepts)
        ]
        whole += count // each
    np.save(root / "image_set" / "image_metadata.npy", said, allow_pickle=True)  # type: ignore[arg-type]
    np.save(root / "image_embeddings" / "dinov2-giant.npy", embeddings)
