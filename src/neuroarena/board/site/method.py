"""How scoring works: metrics, rules of every task, and how verdicts are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from neuroarena.board.descriptions import explain_columns, list_origins, list_recipe
from neuroarena.board.inference import margin_of
from neuroarena.board.rules import Rules
from neuroarena.board.site.formulas import FORMULAS
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.standings import Standings
from neuroarena.board.wording import UNKNOWN, cell_text
from neuroarena.scoring import COMBINERS, METRICS, Manifest


def make_method(content: Content, over_tracks: Mapping[str, Standings]) -> Page:
    """Make the page that says how scoring works, on boards over tracks too."""
    manifests = {one.manifest.name: one.manifest for one in content.board.rankings}
    names = dict.fromkeys(name for manifest in manifests.values() for name in manifest.metrics)
    tasks = [_describe_task(manifest) for manifest in manifests.values()]
    view = {
        "metrics": [_describe_metric(name) for name in names],
        "combiners": [
            (name, COMBINERS.get(name).title)
            for name in dict.fromkeys(manifest.combiner for manifest in manifests.values())
        ],
        **_share_columns(tasks),
        "reading": explain_columns(content.board.rules),
        "recipe": list_recipe(content.board),
        "origins": [list_origins(one) for one in content.board.everything],
        **_choose_definitions(content.board.rules, manifests.values(), over_tracks.values()),
    }
    data = {
        "snapshot": content.sources.snapshot,
        "rules": content.board.rules.model_dump(mode="json"),
        "metrics": view["metrics"],
        "manifests": [manifest.model_dump(mode="json") for manifest in manifests.values()],
    }
    return Page("method", "How scoring works", "method.html.j2", view, data, {"": pd.DataFrame(tasks)})


def _share_columns(tasks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the tasks with what each says in its columns; what several tasks all say alike is said once."""
    said = [
        {
            "metric": f"{task['metric']}, {task['combined']}",
            "unit": task["unit"],
            "cluster": task["cluster"],
            "chance": cell_text(task["chance"]),
            "split": task["split_rule"],
            "licence": task["licence"],
        }
        for task in tasks
    ]
    first = said[0] if said else {}
    alike = [name for name in first if len(said) > 1 and all(one[name] == first[name] for one in said)]
    return {
        "tasks": [{**task, "said": own} for task, own in zip(tasks, said, strict=True)],
        "columns": [name for name in first if name not in alike],
        "shared": [(name.capitalize(), first[name]) for name in alike],
    }


def _choose_definitions(
    rules: Rules, manifests: Iterable[Manifest], over_tracks: Iterable[Standings]
) -> dict[str, Any]:
    """Return which formal definitions hold on the boards of a site, and the numbers in them."""
    heads = [set(one.table.columns) for one in over_tracks]
    margins = {manifest.title: margin_of(manifest, rules) for manifest in manifests}
    return {
        "inference": rules.inference,
        "alpha": f"{rules.alpha:g}",
        "draws": f"{rules.n_draws:,}",
        "points": any("all_tracks" in columns for columns in heads),
        "transfer": any("mean_rank" in columns for columns in heads),
        "margins": [(title, f"{nu:g}") for title, nu in margins.items() if nu is not None],
    }


def _describe_metric(name: str) -> dict[str, str]:
    metric = METRICS.get(name)
    low, high = metric.bounds
    return {
        "name": name,
        "title": metric.title,
        "direction": f"{metric.direction} is better",
        "unit": metric.unit_label or "a pure number",
        "range": f"{low:g} to {high:g}".replace("-inf", "−∞").replace("inf", "∞"),
        "formula": FORMULAS.get(name, ""),
        "undefined": metric.undefined,
    }


def _describe_task(manifest: Manifest) -> dict[str, Any]:
    return {
        "task": manifest.name,
        "definition": manifest.definition,
        "title": manifest.title,
        "question": manifest.readable_question,
        "metric": METRICS.get(manifest.metric).title,
        "combined": COMBINERS.get(manifest.combiner).title,
        "tie_break": "" if manifest.tie_break is None else METRICS.get(manifest.tie_break).title,
        "unit": manifest.unit,
        "cluster": manifest.cluster or UNKNOWN,
        "split_rule": manifest.split_rule,
        "chance": manifest.chance,
        "ceiling": manifest.ceiling,
        "matters": manifest.nu,
        "licence": manifest.licence,
        "hash": manifest.hash,
    }
