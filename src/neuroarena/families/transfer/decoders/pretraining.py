"""Train the weights that ship: a network learns to fill in masked stretches of unlabelled simulated signals."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.atomic import replacing
from neuroarena.benchmarks import Benchmark
from neuroarena.decoders.networks.descent import descend
from neuroarena.decoders.networks.saved import NOTE
from neuroarena.decoders.networks.training import import_torch
from neuroarena.errors import InputError
from neuroarena.families.transfer.decoders.selfsupervised import KIND, MAPS, SECOND, WEIGHTS, build
from neuroarena.fingerprint import canonical_json

# Twins with a seed of their own: they share no window with any twin that is used for judging.
SEED = 2026
TWINS: dict[str, dict[str, Any]] = {
    "things_eeg2": {"subjects": 2, "training_images": 200, "test_images": 11, "length": 32},
    "bci_commands": {"subjects": 2, "sessions": 2, "runs": 2},
    "sleep_edf": {"people": 3, "nights": 1, "minutes": 51},
    "emg2qwerty": {"users": 3, "sessions": 2, "minutes": 0.5},
}
SNIPPET, SNIPPETS = 96, 4000
MASK, MASKED = 12, 3


def pretrain(
    path: str | Path | None = None,
    *,
    steps: int = 1500,
    batch: int = 256,
    rate: float = 2e-3,
    seed: int = SEED,
) -> Path:
    """Pretrain the self-supervised encoder and write its weights; about a minute on one core.

    Snippets of single channels are drawn from the training parts of simulated twins of all four tracks; labels are
    never read. Three stretches of twelve samples are silenced in each, and the network learns to fill them in.

    Parameters
    ----------
    path : path, optional
        Destination; by default the file that the package ships.
    steps, batch : int
        Steps of Adam, and snippets per step.
    rate : float
        Learning rate, falling to 0 along a cosine.
    seed : int
        Of the twins, the snippets, the masks and the first weights.

    Returns
    -------
    Path
        The safetensors file; its header states ``simulated``.

    Raises
    ------
    InputError
        When a number is not positive.
    """
    if steps < 1 or batch < 1 or rate <= 0:
        raise InputError(f"pretrain: steps, batch and rate must be above 0, got {steps}, {batch} and {rate}.")
    path = Path(__file__).with_name(WEIGHTS) if path is None else Path(path)
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory(prefix="transfer-pretraining-") as folder:
        snippets = np.concatenate([_snippets(each, rng) for each in _twins(Path(folder), seed)])
    network, losses = _learn(snippets, steps, batch, rate, rng)
    note = {
        "encoder": KIND,
        "simulated": True,
        "made_by": "neuroarena.families.transfer.decoders.pretrain",
        "twins": TWINS,
        "seed": seed,
        "steps": steps,
        "batch": batch,
        "rate": rate,
        "filled_in_error": round(float(np.mean(losses[-50:])), 4),
    }
    from safetensors.torch import save_file

    with replacing(path) as temporary:
        save_file(network.state_dict(), temporary, metadata={NOTE: canonical_json(note)})
    return path


def _twins(folder: Path, seed: int) -> Iterator[Benchmark]:
    from neuroarena.datasets import load_dataset
    from neuroarena.families.transfer import FAMILY

    for name, options in TWINS.items():
        load_dataset(name).simulate(folder / name, seed=seed, **options)
    for task in FAMILY.tasks("2026"):
        yield FAMILY.load(task, "2026", str(folder))


def _snippets(benchmark: Benchmark, rng: np.random.Generator) -> np.ndarray:
    """Draw snippets of single channels from the training data: float32 (n, 96), each of mean 0 and deviation 1."""
    split = benchmark.split(benchmark.splits[0])
    ids = sorted({example for fold in split.folds for example in fold.train})
    judged = {example for fold in split.folds for example in fold.test}
    examples = benchmark.examples.set_index("id")
    places = {
        str(example): (str(key), int(start), int(stop))
        for example, key, start, stop in zip(
            examples.index, examples["recording"], examples["start"], examples["stop"], strict=True
        )
    }
    ids = [example for example in ids if example not in judged] or ids
    drawn = []
    each = -(-SNIPPETS // len(ids))
    for example in ids:
        key, start, stop = places[example]
        starts = np.sort(rng.integers(start, stop - SNIPPET + 1, size=each))
        windows = benchmark.recording(key).windows(starts, SNIPPET)
        drawn.append(windows[np.arange(each), rng.integers(windows.shape[1], size=each)])
    snippets = np.concatenate(drawn)
    snippets = snippets - snippets.mean(axis=1, keepdims=True)
    deviation = snippets.std(axis=1, keepdims=True)
    return np.ascontiguousarray((snippets / np.where(deviation > 0, deviation, 1.0)), dtype=np.float32)


def _learn(
    snippets: np.ndarray, steps: int, batch: int, rate: float, rng: np.random.Generator
) -> tuple[Any, list[float]]:
    """Train the network with a linear read-out that is discarded."""
    torch = import_torch("Pretraining an encoder")
    torch.set_num_threads(1)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**31)))
        network = build()
        read_out = torch.nn.Conv1d(MAPS, 1, SECOND, padding=SECOND // 2)
    parameters = [*network.parameters(), *read_out.parameters()]
    optimiser = torch.optim.Adam(parameters, lr=rate)
    falling = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps)

    def backward(_: int) -> float:
        whole = snippets[rng.integers(len(snippets), size=batch)]
        mask = _masks(batch, rng)
        shown = torch.from_numpy(np.where(mask, np.float32(0), whole)[:, np.newaxis])
        missed = read_out(network(shown))[:, 0] - torch.from_numpy(whole)
        loss = missed[torch.from_numpy(mask)].square().mean()
        loss.backward()
        return float(loss.detach())

    losses = list(descend(optimiser, range(steps), backward, pace=lambda _: falling.step()))
    return network, losses


def _masks(n: int, rng: np.random.Generator) -> np.ndarray:
    mask = np.zeros((n, SNIPPET), dtype=bool)
    starts = rng.integers(0, SNIPPET - MASK + 1, size=(n, MASKED))
    places = starts[:, :, np.newaxis] + np.arange(MASK)
    mask[np.arange(n)[:, np.newaxis, np.newaxis], places] = True
    return mask
