"""The family: two tasks with different splits, options, and every face a stranger may bring."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
from pydantic import Field

from neuroarena.benchmarks import Benchmark, Fold, Split, WindowShape
from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.datasets import locate
from neuroarena.recordings import channel_table, from_npy
from neuroarena.scoring import Manifest
from neuroarena_hum.dataset import RATE_HZ, WINDOW

SPLITS = {"loud": ("other-people",), "pitch": ("second-half", "other-people")}


class HumOptions(FamilyOptions):
    """What can be chosen besides the task."""

    people: int | None = Field(None, ge=2, description="Only so many people, the first ones.")


class Hum:
    """Loud or soft, and how high."""

    name = "hum"
    title = "Humming: loudness and pitch"
    definitions = ("1",)
    options = HumOptions
    start_kit = Path(__file__).with_name("startkit")
    importers = "neuroarena_hum.exchange:IMPORTERS"
    exporters = "neuroarena_hum.exchange:EXPORTERS"
    code_contract = "neuroarena_hum.code:CONTRACT"
    columns = {"breath": lambda entry: "deep" if "deep" in entry.team else "shallow"}  # noqa: RUF012
    rules = {"hum-cup": {"rule": "best-of-last-3"}}  # noqa: RUF012

    def tasks(self, definition: str) -> tuple[str, ...]:
        """List both tasks."""
        return tuple(SPLITS)

    def splits(self, task: str, definition: str) -> tuple[str, ...]:
        """List the splits of a task, the default first."""
        return SPLITS[task]

    def manifest(self, task: str, definition: str) -> Manifest:
        """Return the rules of a task."""
        about = {"name": f"hum/{task}", "definition": "1", "unit": "person", "licence": "CC0"}
        if task == "loud":
            return Manifest(
                title="Loudness",
                question="Was it loud?",
                metric="balanced_accuracy",
                prediction="probabilities",
                classes=("0", "1"),
                split_rule="leave one person out",
                chance=0.5,
                **about,
            )
        return Manifest(
            title="Pitch",
            question="How high was it?",
            metric="within_a_tenth",
            additional_metrics=("mae",),
            prediction="number",
            split_rule="the second half of each person",
            **about,
        )

    def window(self, task: str, definition: str) -> WindowShape:
        """Return the shape of a hum."""
        return WindowShape(channel_table(["mic"], kind="misc"), RATE_HZ, WINDOW)

    def load(
        self,
        task: str,
        definition: str,
        data: str | None = None,
        options: HumOptions = HumOptions(),  # noqa: B008
    ) -> Benchmark:
        """Bind a task to a folder."""
        root = locate("hum", data)
        rules = {"other-people": _other_people, "second-half": _second_half}
        return Benchmark(
            manifest=self.manifest(task, definition),
            make_examples=lambda: _examples(root, task, options.people),
            split_rules={name: rules[name] for name in SPLITS[task]},
            open_recording=lambda key: from_npy(root / f"{key}.npy", RATE_HZ, ["mic"], kind="misc"),
            simulated=(root / "simulated.json").exists(),
            options={} if options.people is None else {"people": options.people},
        )


def _examples(root: Path, task: str, people: int | None) -> pd.DataFrame:
    parts = []
    for path in sorted(root.glob("person*.json"))[:people]:
        targets = json.loads(path.read_text())[task]
        start = np.arange(len(targets)) * WINDOW
        ids = [f"{path.stem}-{number:02d}" for number in range(len(targets))]
        table = pd.DataFrame({"id": ids, "start": start, "stop": start + WINDOW, "target": targets})
        same = dict.fromkeys(("recording", "unit", "cluster", "subject", "session"), path.stem)
        parts.append(table.assign(**same))
    return pd.concat(parts)


def _other_people(table: pd.DataFrame) -> Split:
    folds = []
    for person in sorted(table["subject"].unique()):
        own = table["subject"] == person
        folds.append(Fold(person, tuple(table.loc[~own, "id"]), tuple(table.loc[own, "id"])))
    return Split("other-people", tuple(folds))


def _second_half(table: pd.DataFrame) -> Split:
    later = table["start"] >= table["start"].median()
    return Split(
        "second-half", (Fold("later", tuple(table.loc[~later, "id"]), tuple(table.loc[later, "id"])),)
    )


FAMILY = Hum()
