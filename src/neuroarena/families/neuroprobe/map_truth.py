"""The part `planted` of a map's page: what a twin of BrainTreebank was made with, beside what the map found."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.datasets import locate
from neuroarena.datasets.card import CARD
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import binding
from neuroarena.families.neuroprobe.braintreebank.twin_transcript import SLOT_S
from neuroarena.maps.conventions import OURS
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.page.contents import Section, Table
from neuroarena.maps.page.findings import electrode_findings


def planted_section(grid: MapGrid, data: str | None) -> Section:
    """Put what was planted in a twin beside what its map found.

    Raises
    ------
    InputError
        When the data are not a twin: nobody knows what a brain was planted with.
    """
    dataset = binding.open_folder(str(locate("braintreebank", data)))
    path = dataset.root / CARD
    if not path.is_file():
        raise InputError(
            f'--with "planted": {dataset.root} has no {CARD}, so that nothing is known to be planted. Use it with a '
            "simulated twin."
        )
    table = compare_planted(grid, json.loads(path.read_text(encoding="utf-8"))["planted"])
    found, others = int(table["significant"].sum()), count_others(grid, table)
    text = (
        f"{found} of {len(table)} planted electrodes are significant, and {others} of those without anything planted. "
        f"{int((table['place'] <= table['planted']).sum())} of {len(table)} are among the highest of their subject: "
        "first where one was planted, first or second where two were. Sentence onset, speech and word position share "
        "two electrodes per subject, one for first words and one for all others, so that each carries only a part."
    )
    shown = Table(
        "Planted responses of a simulated twin, in seconds from the event, and what the map has of these electrodes.",
        ("task", "electrode", "region", "planted, s", "AUROC", "place in its subject", "best window, s", "p"),
        [
            (
                str(row["task"]),
                f"{row['subject']}/{row['name']}",
                str(row["region"]),
                f"{row['from_s']:.2f} to {row['to_s']:.2f}",
                f"{row['auroc']:.3f}",
                f"{row['place']} of {row['of']}",
                f"{row['best_start_s']:.3f} to {row['best_end_s']:.3f}",
                f"{row['p']:.3f}" if np.isfinite(row["p"]) else "-",
            )
            for _, row in table.iterrows()
        ],
    )
    return Section("planted", "What was planted", (text,), tables=(shown,), files={"planted.csv": table})


def compare_planted(grid: MapGrid, planted: dict[str, dict[str, list[dict[str, Any]]]]) -> pd.DataFrame:
    """Return one row per task, subject and planted electrode that the map has.

    Parameters
    ----------
    grid : MapGrid
    planted : dict
        As in the card of a twin: subject -> task -> responses.

    Returns
    -------
    DataFrame
        task, subject, name, region, from_s and to_s (of the response), planted (electrodes of the task in this
        subject), auroc (of its best bin, chosen on other data), place and of (its rank among the subject's electrodes
        by that value), best_start_s, best_end_s, p, significant.
    """
    rows = []
    for task in grid.tasks:
        found = electrode_findings(grid, task, OURS)
        found["place"] = found.groupby("subject")["auroc"].rank(ascending=False, method="min").astype(int)
        sizes = found.groupby("subject").size()
        known = found.set_index(["subject", "name"])
        for subject, tasks in planted.items():
            key = subject.removeprefix("sub_")
            responses = [each for each in tasks.get(task, []) if (key, each["electrode"]) in known.index]
            for each in responses:
                begins = each["latency_s"] + SLOT_S * each["slot"]
                here = known.loc[(key, each["electrode"])]
                rows.append(
                    {
                        "task": task,
                        "subject": key,
                        "name": each["electrode"],
                        # By the side on which the map has it; a twin's own files have all regions on the left.
                        "region": here.get("region_dk") or each["region"],
                        "from_s": begins,
                        "to_s": begins + each["duration_s"],
                        "planted": len(responses),
                        "place": here["place"],
                        "of": int(sizes[key]),
                        **{
                            name: here[name]
                            for name in ("auroc", "best_start_s", "best_end_s", "p", "significant")
                        },
                    }
                )
    if not rows:
        raise InputError('--with "planted": the map has no electrode of this twin. Name the twin of the map.')
    return pd.DataFrame(rows)


def count_others(grid: MapGrid, table: pd.DataFrame) -> int:
    """Return how many electrodes are significant for a task that was not planted in them."""
    planted = set(zip(table["task"], table["subject"], table["name"], strict=True))
    count = 0
    for task in grid.tasks:
        found = electrode_findings(grid, task, OURS)
        marked = found[found["significant"]]
        pairs = zip(marked["subject"], marked["name"], strict=True)
        count += sum((task, *pair) not in planted for pair in pairs)
    return count
