"""Write the page of a map: pictures, tables, the interactive brain, and what explains them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena import __version__
from neuroarena.atomic import building, write_json, write_text
from neuroarena.drawing import mark_simulated, style
from neuroarena.maps.conventions import OURS, Conventions
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.latency import DRAWS, find_latencies
from neuroarena.maps.page.contents import Picture, Section
from neuroarena.maps.page.findings import electrode_findings, summary_table
from neuroarena.maps.page.pictures_of_when import when_section
from neuroarena.maps.page.pictures_of_where import Scales, TaskMap, read_task, region_files, task_section
from neuroarena.maps.page.places import Places, describe_places, find_places
from neuroarena.maps.page.tables_of_data import data_section
from neuroarena.maps.pictures.interactive import STYLE, brain_data, write_interactive
from neuroarena.progress import Progress, Silence

INDEX, BRAIN = "index.html", "brain.html"
# No script at all: what moves is on the page of the brain.
POLICY = "default-src 'none'; style-src 'self'; img-src 'self'"
ENOUGH_DRAWS = 1000
_DOTS_PER_INCH = 160
# Pixels of the page; letters of 9 points are then as high as those of the text.
_SHOWN_PER_INCH = 106
_STAGE = "pictures"
# Of the provenance, what the page says; all of it is in a file beside it.
_TOLD = {
    "benchmarks": "benchmarks",
    "recording": "recording",
    "target": "target",
    "features": "features",
    "null": "how the null is made",
    "seed": "seed",
    "made_by": "made by",
}
PROVENANCE = "provenance.json"


def write_map_page(
    grid: MapGrid,
    out: str | Path,
    *,
    conventions: Conventions = OURS,
    titles: Mapping[str, str] | None = None,
    extras: Sequence[Section] = (),
    notes: Sequence[str] = (),
    seed: int = 0,
    progress: Progress | None = None,
) -> Path:
    """Write every picture of a map with one page that explains them.

    Parameters
    ----------
    grid : MapGrid
    out : path
        A folder, new or not; ``index.html`` is written last, so that a page is never without its pictures.
    conventions : Conventions
        Ours, or those of a paper.
    titles : mapping of str to str, optional
        How tasks are called on the page.
    extras : sequence of Section
        What a family adds.
    notes : sequence of str
        Sentences to show beside those of the grid.
    seed : int
        Of the bootstrap.
    progress : Progress, optional

    Returns
    -------
    Path
        The page.
    """
    out, progress, titles = Path(out), progress or Silence(), dict(titles or {})
    places = find_places(grid)
    latencies = find_latencies(grid, np.random.default_rng(seed), conventions, DRAWS)
    findings = {task: electrode_findings(grid, task, conventions) for task in grid.tasks}
    maps = [read_task(grid, task, conventions) for task in grid.tasks]
    scales = Scales.fit(maps, conventions)
    tasks = []
    for number, each in enumerate(maps):
        title, found = titles.get(each.task, each.task), findings[each.task]
        tasks.append(task_section(grid, each, number, title, found, places, scales, conventions))
    sections = [
        when_section(grid, latencies, titles, conventions),
        *tasks,
        data_section(grid, titles),
        *extras,
    ]
    tables = {
        "electrodes.csv": pd.concat(findings.values(), ignore_index=True),
        **region_files(maps),
        **{name: table for section in sections for name, table in section.files.items()},
    }
    context = {
        **_describe(grid, places, conventions),
        "warnings": [*describe_doubts(grid), *grid.notes, *notes],
        "summary": summary_table(grid, latencies, findings, titles),
        "sections": sections,
        "tables": [*sorted(tables), PROVENANCE],
        "task_keys": {section.key for section in tasks},
    }
    out.mkdir(parents=True, exist_ok=True)
    with building(out / INDEX) as workshop:
        pictures = [picture for section in sections for picture in section.pictures]
        context["widths"] = _draw_all(pictures, grid, workshop, progress)
        _write_tables(tables, grid, workshop)
        if places.in_template.any():
            _write_brain(grid, maps, places, scales, titles, workshop)
        write_text(workshop / STYLE, _read(STYLE))
        write_text(workshop / INDEX, _render(context))
        _publish(workshop, out)
    return out / INDEX


def _describe(grid: MapGrid, places: Places, conventions: Conventions) -> dict[str, Any]:
    """Return what the page says about the map itself."""
    return {
        "title": describe_title(grid),
        "simulated": grid.simulated,
        "conventions": conventions,
        "facts": describe_facts(grid),
        "places": describe_places(grid, places),
        "brain": BRAIN if places.in_template.any() else None,
        "policy": POLICY,
        "style": STYLE,
        "version": __version__,
        "permutations": grid.permutations,
    }


def _draw_all(pictures: Sequence[Picture], grid: MapGrid, folder: Path, progress: Progress) -> dict[str, int]:
    """Draw all pictures and return how wide each is shown, so that their letters have one size."""
    widths = {}
    (folder / "figures").mkdir()
    progress.begin(_STAGE, len(pictures))
    for picture in pictures:
        with style():
            figure = picture.draw()
            if grid.simulated:
                mark_simulated(figure)
            figure.savefig(
                folder / "figures" / f"{picture.name}.png", dpi=_DOTS_PER_INCH, metadata={"Software": None}
            )
        widths[picture.name] = round(_SHOWN_PER_INCH * figure.get_figwidth())
        progress.advance(_STAGE)
    return widths


def _write_tables(tables: Mapping[str, pd.DataFrame], grid: MapGrid, folder: Path) -> None:
    (folder / "tables").mkdir()
    for name, table in tables.items():
        table.to_csv(folder / "tables" / name, index=False)
    write_json(folder / "tables" / PROVENANCE, grid.provenance)


def _write_brain(
    grid: MapGrid,
    maps: Sequence[TaskMap],
    places: Places,
    scales: Scales,
    titles: Mapping[str, str],
    folder: Path,
) -> None:
    table = grid.electrodes
    labels = []
    for row in range(len(table)):
        region = next(
            (str(table[column].iloc[row]) for column in grid.region_columns if table[column].iloc[row]), ""
        )
        labels.append(
            f"{table['name'].iloc[row]} of {table['subject'].iloc[row]}{', ' + region if region else ''}"
        )
    data = brain_data(
        places.mni305,
        labels,
        np.stack([each.films for each in maps]),
        np.stack([each.cells for each in maps]),
        [titles.get(task, task) for task in grid.tasks],
        [
            f"{start:.3f} to {end:.3f} s"
            for start, end in zip(grid.bins["start_s"], grid.bins["end_s"], strict=True)
        ],
        scales.films,
    )
    write_interactive(
        folder / BRAIN, data, f"{describe_title(grid)}: a brain to turn", simulated=grid.simulated
    )


def _publish(workshop: Path, out: Path) -> None:
    """Move all files to their place, the page last."""
    made = sorted(path.relative_to(workshop) for path in workshop.rglob("*") if path.is_file())
    for path in [*(each for each in made if each != Path(INDEX)), Path(INDEX)]:
        (out / path).parent.mkdir(parents=True, exist_ok=True)
        os.replace(workshop / path, out / path)


def describe_title(grid: MapGrid) -> str:
    """Return the title of a map's page."""
    said = grid.provenance
    names = [str(name) for name in said.get("benchmarks", ())]
    told = names[0] if len(names) == 1 else names[0].partition("/")[0] if names else ""
    if "recording" in said:
        told = f"{said['target']} in {said['recording']}" if "target" in said else str(said["recording"])
    return f"When and where: {told}" if told else "When and where"


def describe_facts(grid: MapGrid) -> list[tuple[str, str]]:
    """Return what the map was made of, as pairs of names and texts."""
    bins, said = grid.bins, grid.provenance
    subjects = list(dict.fromkeys(map(str, grid.data["session_subject"].values)))
    starts = bins["start_s"].to_numpy()
    stride = f", every {1000 * (starts[1] - starts[0]):.0f} ms" if len(starts) > 1 else ""
    facts = [
        ("tasks", f"{len(grid.tasks)}: {', '.join(grid.tasks)}"),
        ("subjects", f"{len(subjects)}: {', '.join(subjects)}"),
        ("sessions", f"{len(grid.sessions)}: {', '.join(grid.sessions)}"),
        ("electrodes", str(len(grid.electrodes))),
        (
            "windows",
            f"{len(bins)} of {1000 * (bins['end_s'] - bins['start_s']).iloc[0]:.0f} ms{stride}, starts from "
            f"{starts[0]:.3f} to {starts[-1]:.3f} s",
        ),
        ("split", grid.split or "not named"),
        ("null", f"{grid.permutations:,} draws" if grid.permutations else "none"),
    ]
    facts += [(words, _plain(said[key])) for key, words in _TOLD.items() if said.get(key) is not None]
    return facts


def _plain(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_plain(each)}" for key, each in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def describe_doubts(grid: MapGrid) -> list[str]:
    """Return what a reader must know before believing a p value."""
    if not grid.permutations:
        return ["This map has no null: nothing on this page was tested. Compute it with --null 1000."]
    if grid.permutations < ENOUGH_DRAWS and not any(note.startswith("The null has") for note in grid.notes):
        smallest = 1 / (grid.permutations + 1)
        return [
            f"The null has {grid.permutations:,} draws, so that no p value is below {smallest:.2g}. "
            f"Use {ENOUGH_DRAWS:,} or more for figures."
        ]
    return []


def _read(name: str) -> str:
    return files("neuroarena.maps.pictures").joinpath(name).read_text(encoding="utf-8")


def _render(context: Mapping[str, Any]) -> str:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    source = files(__package__).joinpath("map.html.j2").read_text(encoding="utf-8")
    return environment.from_string(source).render(**context)
