"""How scoring works: metrics, rules of every task, and how verdicts are made."""

from __future__ import annotations

from typing import Any

import pandas as pd

from neuroarena.board.descriptions import explain_columns, list_origins, list_recipe
from neuroarena.board.site.formulas import FORMULAS
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.wording import UNKNOWN, cell_text
from neuroarena.scoring import COMBINERS, METRICS, Manifest


def make_method(content: Content) -> Page:
    """Make the page that says how scoring works."""
    manifests = {one.manifest.name: one.manifest for one in content.board.rankings}
    names = dict.fromkeys(name for manifest in manifests.values() for name in manifest.metrics)
    tasks = [_describe_task(manifest) for manifest in manifests.values()]
    view = {
        "metrics": [_describe_metric(name) for name in names],
        "combiners": [
            (name, COMBINERS.get(name).title)
            for name in dict.fromkeys(manifest.combiner for manifest in manifests.values())
        ],
        "tasks": [{**task, "chance": cell_text(task["chance"])} for task in tasks],
        "reading": explain_columns(content.board.rules),
        "recipe": list_recipe(content.board),
        "origins": [list_origins(one) for one in content.board.everything],
    }
    data = {
        "snapshot": content.sources.snapshot,
        "rules": content.board.rules.model_dump(mode="json"),
        "metrics": view["metrics"],
        "manifests": [manifest.model_dump(mode="json") for manifest in manifests.values()],
    }
    return Page("method", "How scoring works", "method.html.j2", view, data, {"": pd.DataFrame(tasks)})


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
