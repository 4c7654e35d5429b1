"""Train the networks that ship with the package, each on a simulated twin: ``make weights`` or one track by name."""

from __future__ import annotations

import argparse
import importlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena import __version__, load_benchmark, load_dataset
from neuroarena.benchmarks import Benchmark
from neuroarena.decoders import Context, Group, load_decoder
from neuroarena.evaluation.parts import StreamSet, WindowSet
from neuroarena.evaluation.plan import plan_runs
from neuroarena.families.transfer.decoders import pretrain


@dataclass(frozen=True)
class Recipe:
    """How the network of a track is made."""

    dataset: str
    benchmark: str
    decoder: str
    # Tracks that are judged on other people learn from another twin, those on the same people from its training part.
    seed: int
    make: Callable[[], Any]


RECIPES = {
    "img": Recipe(
        "things_eeg2", "img/things-eeg2", "eegnet", 0, lambda: load_decoder("eegnet", max_epochs=80)
    ),
    "bci": Recipe("bci_commands", "bci/commands", "eegnet", 0, lambda: load_decoder("eegnet", max_epochs=80)),
    "sleep": Recipe("sleep_edf", "sleep/sleep-edf", "conv-stager", 1, lambda: load_decoder("conv-stager")),
    "emg": Recipe("emg2qwerty", "emg/emg2qwerty", "tds-ctc", 1, lambda: load_decoder("tds-ctc")),
}


def training_groups(benchmark: Benchmark, decoder: Any) -> list[Group]:
    """Give everything that some fold may be trained on, each recording once; nothing that is only ever judged."""
    (plan,) = plan_runs([("shipped", decoder)], [benchmark], [None])
    parts: dict[str, WindowSet | StreamSet] = {}
    for cell in plan.cells:
        for part in (*cell.train, *cell.validation):
            parts.setdefault(part.digest(), part)
    with tempfile.TemporaryDirectory() as cache:
        return [
            part.group(decoder.features, Path(cache))
            if isinstance(part, WindowSet)
            else part.group(decoder.features)
            for _, part in sorted(parts.items())
        ]


def ship(track: str) -> Path:
    """Train the network of a track and write it into the package."""
    recipe = RECIPES[track]
    with tempfile.TemporaryDirectory() as folder:
        card = load_dataset(recipe.dataset).simulate(folder, seed=recipe.seed)
        benchmark = load_benchmark(recipe.benchmark, folder)
        assert isinstance(benchmark, Benchmark)
        decoder = recipe.make()
        length = None if benchmark.codebook is None else benchmark.codebook.length
        manifest = benchmark.manifest
        context = Context(
            classes=manifest.classes,
            rng=np.random.default_rng(0),
            kind=manifest.prediction,
            vector_length=length,
            stream=manifest.stream,
        )
        groups = training_groups(benchmark, decoder)
        tables = tuple(group.channels for group in groups)
        context = Context(**{**context.__dict__, "test_channels": tables})
        decoder.fit(groups, None, context)
        path = importlib.import_module(f"neuroarena.families.{track}.shipped").WEIGHTS
        words = f"simulated {recipe.dataset}, seed {recipe.seed}, default options"
        if "fitted_to" in card:
            words += f"; the twin is fitted to {card['fitted_to']}"
        decoder.save(path, trained_on=words, simulated=True, neuroarena=__version__, benchmark=benchmark.name)
    return path


def main() -> None:
    """Train the networks that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "tracks", nargs="*", metavar="TRACK", help="img, bci, sleep, emg or transfer; by default all"
    )
    for track in parser.parse_args().tracks or (*RECIPES, "transfer"):
        path = Path(pretrain()) if track == "transfer" else ship(track)
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
