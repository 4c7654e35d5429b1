"""Parts of a map's page that only Neuroprobe's papers define: labels, films, speech selectivity, published peaks."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from neuroarena.benchmarks.names import BenchmarkName
from neuroarena.datasets import locate
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import annotation_statistics as statistics
from neuroarena.families.neuroprobe import binding
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank
from neuroarena.families.neuroprobe.sessions import Session, parse_session, session_key
from neuroarena.families.neuroprobe.tasks import DEFINITIONS, tasks_of
from neuroarena.families.neuroprobe.windows import RATE_HZ
from neuroarena.maps.conventions import Conventions
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.latency import find_latencies
from neuroarena.maps.page.contents import ATLASES, Picture, Section, Table
from neuroarena.maps.page.places import find_places
from neuroarena.maps.pictures import brains, charts
from neuroarena.maps.pictures.scale import Scale
from neuroarena.maps.selectivity import band_power_db, find_selectivity
from neuroarena.maps.shifts import draw_shifts
from neuroarena.maps.summaries import region_overlap

CONVENTIONS = Conventions(
    name="Choices of the Neuroprobe papers",
    same_data=True,
    label_starts=True,
    logarithmic=True,
    log_floor=0.48,
    most_electrodes=100,
    share=1.0,
    caption="As published: times are the starts of windows; the 100 electrodes with the highest mean over bins and "
    "sessions are chosen on the data that are shown, which lifts pure chance by 0.009 to 0.019; colours follow "
    "log(AUROC - 0.5), and curves are means of log(AUROC - 0.48), while peaks are those of plain means.",
)
# Starts of windows, read from the outputs of the reference notebooks of the 15-task paper.
PUBLISHED_PEAKS_S = {
    "delta_volume": -0.25,
    "word_index": 0.0,
    "word_gap": 0.0,
    "pitch": 0.125,
    "gpt2_surprisal": 0.125,
    "volume": 0.375,
    "onset": 0.375,
    "speech": 0.375,
    "word_part_speech": 0.375,
    "word_head_pos": 0.625,
    "word_length": 0.625,
    "face_num": 0.75,
    "frame_brightness": 0.875,
    "global_flow": 1.125,
    "local_flow": 1.125,
}
# Cross-subject AUROC and overlap of regions with the training subject, of the 15-task paper.
PUBLISHED_OVERLAP = {"1": (0.579, 0.042), "10": (0.517, 0.071), "3": (0.541, 0.371), "7": (0.501, 0.476)}
_TRAINED_ON = "2"
SPEECH_S, SPEECH_BAND_HZ = 0.125, (70.0, 300.0)
_DRAWS = 1000
_FILMS = 4


def _open(grid: MapGrid, data: str | None) -> tuple[BrainTreebank, list[Session], str]:
    dataset = binding.open_folder(str(locate("braintreebank", data)))
    names = grid.provenance.get("benchmarks") or ["neuroprobe"]
    definition = BenchmarkName.parse(str(names[0])).definition or DEFINITIONS[0]
    return dataset, [parse_session(session) for session in grid.sessions], definition


def labels_section(grid: MapGrid, data: str | None) -> Section:
    """Show how labels of different tasks go together, and how many items each task has."""
    dataset, sessions, definition = _open(grid, data)
    every = tuple(tasks_of(definition))
    made = [statistics.session_items(dataset, session, every, definition) for session in sessions]
    compared = [
        {task: items for task, items in each.items() if task not in statistics.UNCOMPARED} for each, _ in made
    ]
    found = statistics.correlate_labels(compared)
    titles = [tasks_of(definition)[task].title for task in found.tasks]
    keys = [session_key(session) for session in sessions]
    counts = pd.DataFrame(
        [[len(each[task]) if task in each else np.nan for each, _ in made] for task in every], every, keys
    )
    text = (
        f"Mean absolute correlation between labels of {len(found.tasks)} tasks: {found.mean_absolute:.3f} "
        f"± {found.standard_error:.3f} over {found.sessions} sessions. Published, on 12 sessions and 13 tasks: "
        "0.121 ± 0.019. Where two tasks share their labels, a map of one is a map of the other."
    )
    lacking = list(dict.fromkeys(sentence for _, sentences in made for sentence in sentences))
    pictures = (
        Picture(
            "labels",
            "Labels that go together",
            "Pearson correlation of labels over items that begin at the same sample, the mean over sessions. Onset and "
            "speech are left out: half of their items are silences. White: no items of the two begin together.",
            functools.partial(
                charts.draw_matrix, found.mean, titles, titles, "Pearson correlation of labels", (-1.0, 1.0)
            ),
        ),
        Picture(
            "items",
            "Items of all tasks",
            "Items that the annotations give each task in each session. White: the annotations do not have the task.",
            functools.partial(
                charts.draw_matrix,
                counts.to_numpy(dtype=float),
                [tasks_of(definition)[task].title for task in every],
                keys,
                "items",
                (0.0, float(np.nanmax(counts.to_numpy(dtype=float)))),
                "{:.0f}",
            ),
        ),
    )
    table = pd.DataFrame(found.mean, found.tasks, found.tasks).rename_axis("task").reset_index()
    files = {"label-correlations.csv": table, "items.csv": counts.rename_axis("task").reset_index()}
    return Section("labels", "Labels", (text, *lacking[:3]), pictures, files=files)


def films_section(grid: MapGrid, data: str | None) -> Section:
    """Show loudness over the films and how many words are spoken beside how many faces."""
    dataset, sessions, _ = _open(grid, data)
    films = {dataset.movie(*session): session for session in sessions}
    pictures: list[Picture] = []
    faces: list[np.ndarray] = []
    for film, session in films.items():
        words = statistics.film_words(dataset, session)
        if "rms" in words and len(pictures) < _FILMS:
            low, high = statistics.outer_quartiles(words["rms"].to_numpy())
            pictures.append(
                Picture(
                    f"film-{len(pictures) + 1}",
                    f"Volume of the words of {film}",
                    "Each dot is a word. The lowest and the highest quarter are the two classes of the task "
                    "volume; words between the dashed lines are not used.",
                    functools.partial(
                        charts.draw_film_volume,
                        words["minutes"].to_numpy(),
                        words["rms"].to_numpy(),
                        low,
                        high,
                        film,
                        "volume (root mean square)",
                    ),
                )
            )
        if "face_num" in words:
            faces.append(words["face_num"].to_numpy())
    if faces:
        names, counts = statistics.count_faces(np.concatenate(faces))
        pictures.append(
            Picture(
                "faces",
                "Faces on the screen",
                f"Words of {len(faces)} films by the number of faces on the screen when they begin. The task "
                "compares none with some.",
                functools.partial(
                    charts.draw_counts, names, counts, "faces on the screen", "words", "Words and faces"
                ),
            )
        )
    more = len(films) - _FILMS
    text = (f"Volume is drawn for the first {_FILMS} of {len(films)} films.",) if more > 0 else ()
    return Section("films", "Films", text, tuple(pictures))


def speech_section(grid: MapGrid, data: str | None) -> Section:
    """Show which electrodes are stronger at 70 to 300 Hz while somebody speaks."""
    dataset, sessions, definition = _open(grid, data)
    rows = []
    for session in sessions:
        key = session_key(session)
        names = [
            str(name) for name in grid.electrodes["name"].iloc[grid.electrodes_of(_session_of(grid, session))]
        ]
        rows.append(
            _speech_of(dataset, session, names, definition).assign(session=key, subject=str(session[0]))
        )
    table = pd.concat(rows, ignore_index=True)
    table["electrode"] = table["subject"] + "/" + table["name"]
    best = table.loc[table.groupby("electrode")["t"].apply(lambda each: each.abs().idxmax())]
    best = best.set_index("electrode").reindex(grid.data["electrode"].values.astype(str))
    places = find_places(grid)
    # The largest of several sessions was chosen: what marks it pays for all of them.
    counted = table.groupby("electrode").size().reindex(best.index)
    values, marks = best["t"].to_numpy(dtype=float), (best["q"] * counted <= 0.05).to_numpy()
    scale = Scale.around_zero(values, "t of speech against silence")
    pictures = (
        Picture(
            "speech",
            "Speech selectivity",
            "Power at 70 to 300 Hz in the first 125 ms of words against windows without speech, in decibels: t of a "
            "two-sample test, of the session with the largest. A black ring marks a false discovery rate of at most "
            f"0.05 against {_DRAWS:,} shifts of the labels, corrected for the sessions it was chosen from.",
            functools.partial(brains.draw_brain, places.mni305, values, scale, marks),
        ),
    )
    plain = int((table["q_plain"] <= 0.05).sum())
    text = (
        f"{int((table['q'] <= 0.05).sum())} of {len(table)} electrodes and sessions are selective against "
        f"shifted labels; the published test, which takes items for independent, calls {plain} selective."
    )
    columns = ["session", "subject", "name", "t", "q", "q_plain"]
    return Section("speech", "Speech selectivity", (text,), pictures, files={"speech.csv": table[columns]})


def _session_of(grid: MapGrid, session: Session) -> str:
    return next(name for name in grid.sessions if parse_session(name) == session)


def _speech_of(
    dataset: BrainTreebank, session: Session, names: Sequence[str], definition: str
) -> pd.DataFrame:
    items, lacking = statistics.session_items(dataset, session, ["speech"], definition)
    if lacking:
        raise InputError(lacking[0])
    speech = items["speech"].sort_values("start", kind="stable")
    recording = dataset.recording(*session, list(names), unlocated=definition == "2025.07")
    n_samples = round(SPEECH_S * RATE_HZ)
    power = np.empty((len(speech), len(names)))
    for places, windows in recording.iter_windows(speech["start"].to_numpy(), n_samples):
        power[places] = band_power_db(windows.astype(np.float64), RATE_HZ, *SPEECH_BAND_HZ)
    shifts = draw_shifts(0, _DRAWS, [f"{session_key(session)} {start}" for start in speech["start"]])
    found = find_selectivity(power, speech["label"].to_numpy(), shifts)
    return pd.DataFrame({"name": list(names), "t": found.t, "q": found.q, "q_plain": found.q_plain})


def published_section(grid: MapGrid, data: str | None) -> Section:
    """Compare the order of peaks with the published one, made with the published choices."""
    del data
    found = find_latencies(grid, np.random.default_rng(0), CONVENTIONS, draws=1).table.set_index("task")
    peaks = found["peak_s"].astype(float).to_dict()
    rows: list[tuple[str, ...]] = [
        (task, f"{published:.3f}", f"{peaks[task]:.3f}")
        for task, published in PUBLISHED_PEAKS_S.items()
        if task in peaks
    ]
    table = Table(
        "Starts of the windows with the highest mean, chosen as published; seconds from the onset of a word.",
        ("task", "published, s", "this map, s"),
        rows,
    )
    text = (
        "The published order takes the highest bin of every task, also of flat curves. Whether a peak is there at "
        "all is in the section on when."
    )
    tables = [table, *_overlap_tables(grid)]
    return Section("published", "Published peaks and overlap", (text,), tables=tuple(tables))


def _overlap_tables(grid: MapGrid) -> list[Table]:
    """Compare how far regions overlap with those of the subject that the papers train on across people."""
    columns = [each for each in grid.region_columns if (grid.electrodes[each].astype(str) != "").any()]
    overlaps = {ATLASES.get(column, column): region_overlap(grid, column) for column in columns}
    if not overlaps or _TRAINED_ON not in set(grid.electrodes["subject"]):
        return []
    rows: list[tuple[str, ...]] = []
    for subject in dict.fromkeys(grid.electrodes["subject"]):
        if subject != _TRAINED_ON:
            auroc, share = PUBLISHED_OVERLAP.get(subject, (np.nan, np.nan))
            numbers = [auroc, share, *(each.loc[subject, _TRAINED_ON] for each in overlaps.values())]
            rows.append((subject, *(f"{number:.3f}" if np.isfinite(number) else "-" for number in numbers)))
    return [
        Table(
            f"Regions shared with subject {_TRAINED_ON}, on whom decoders across people are trained (intersection over "
            "union), beside how well they carried over as published. Subjects with more in common did not gain.",
            ("subject", "AUROC, published", "overlap, published", *(f"overlap, {name}" for name in overlaps)),
            rows,
        )
    ]
