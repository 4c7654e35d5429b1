"""The organiser's heads from stored embeddings: fitted where the labels are, and where no code of a stranger runs."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.decoders.ctc import GreedyText
from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.prediction_table import prediction_table
from neuroarena.families.transfer.decoders.heads import FrameHead, LabelHead, RidgeHead
from neuroarena.families.transfer.decoders.onset_head import EncodedStream, OnsetHead
from neuroarena.families.transfer.decoders.probe import label_frames, mark_core
from neuroarena.scoring import Manifest

Lesson = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class _Embedded:
    """The windows of one example in order: float32 (windows, d) or a list of (frames, d); and the hidden delay."""

    windows: list[np.ndarray]
    delay_s: float


def predict_from_embeddings(lesson: bytes, table: pd.DataFrame, manifest: Manifest) -> pd.DataFrame:
    """Fit the head of every fold on embeddings of its training part, and predict its test part.

    Parameters
    ----------
    lesson : bytes
        See :func:`.encoder_questions.make_lesson`.
    table : DataFrame
        Embeddings; see :class:`.code_contract.EncoderContract`.
    manifest : Manifest

    Returns
    -------
    DataFrame
        Predictions, as a submitted file has them.

    Raises
    ------
    NeuroarenaError
        When the table is not one of embeddings.
    """
    with np.load(io.BytesIO(lesson), allow_pickle=False) as file:
        taught = dict(file)
    train, test = (_read(table[table["set"] == name]) for name in ("train", "test"))
    rule, parts = manifest.stream, []
    predicted: np.ndarray | list[str]
    for number in range(int(taught["folds"][0])):
        ids = [str(name) for name in taught[f"test{number}"]]
        known = [str(name) for name in taught[f"train{number}"]]
        if rule is None:
            predicted = _predict_windows(taught, known, ids, train, test, manifest)
        elif rule.answer == "last":
            predicted = _predict_onsets(taught, known, ids, train, test, manifest)
        else:
            predicted = _predict_texts(taught, known, ids, train, test, manifest)
        parts.append(prediction_table(predicted, np.array(ids, dtype=object), manifest))
    return pd.concat(parts, ignore_index=True).sort_values("id", ignore_index=True)


def _read(rows: pd.DataFrame) -> dict[str, _Embedded]:
    """Read embeddings from bytes; nothing in them is an object."""
    found: dict[str, _Embedded] = {}
    columns = ("id", "frames", "length", "values", "delay_s")
    ordered = rows.sort_values(["id", "window"])
    for name, frames, length, content, delay_s in zip(*(ordered[each] for each in columns), strict=True):
        values = np.frombuffer(bytes(content), dtype="<f4")
        if values.size != max(int(frames), 1) * int(length) or not np.isfinite(values).all():
            raise NeuroarenaError(f'The embeddings of "{name}" are damaged.')
        shaped = values.reshape(int(frames), int(length)) if frames else values
        found.setdefault(str(name), _Embedded([], float(delay_s))).windows.append(shaped)
    return found


def _places(taught: Lesson) -> dict[str, int]:
    return {str(name): place for place, name in enumerate(taught["id"])}


def _predict_windows(
    taught: Lesson,
    known: Sequence[str],
    ids: Sequence[str],
    train: Mapping[str, _Embedded],
    test: Mapping[str, _Embedded],
    manifest: Manifest,
) -> np.ndarray:
    rows = np.stack([train[name].windows[0] for name in known])
    place = _places(taught)
    chosen = [place[name] for name in known]
    head: LabelHead | RidgeHead
    if manifest.classes:
        number_of = {name: number for number, name in enumerate(manifest.classes)}
        numbers = np.array([number_of[str(taught["target"][each])] for each in chosen])
        head = LabelHead(rows, numbers, len(manifest.classes))
    elif "vectors" in taught:
        head = RidgeHead(rows, taught["vectors"][taught["number"][chosen]], centred=True)
    else:
        head = RidgeHead(rows, taught["target"][chosen])
    return head.predict(np.stack([test[name].windows[0] for name in ids]))


def _predict_onsets(
    taught: Lesson,
    known: Sequence[str],
    ids: Sequence[str],
    train: Mapping[str, _Embedded],
    test: Mapping[str, _Embedded],
    manifest: Manifest,
) -> np.ndarray:
    assert manifest.stream is not None
    place = _places(taught)
    streams = [
        EncodedStream(
            np.stack(train[name].windows),
            float(taught["target"][place[name]]),
            str(taught["subject"][place[name]]),
        )
        for name in known
    ]
    head, said = OnsetHead(streams, manifest.stream), []
    for name in ids:
        tracker, answer = head.tracker(), 0.0
        for row in test[name].windows:
            answer = tracker.add(row)
        said.append(answer - test[name].delay_s)
    return np.array(said)


def _predict_texts(
    taught: Lesson,
    known: Sequence[str],
    ids: Sequence[str],
    train: Mapping[str, _Embedded],
    test: Mapping[str, _Embedded],
    manifest: Manifest,
) -> list[str]:
    rule, place = manifest.stream, _places(taught)
    assert rule is not None
    seconds = rule.before_s + rule.window_s + rule.after_s
    parts = []
    for name in known:
        (rows,), at = train[name].windows, place[name]
        rate_hz = float(taught["rate_hz"][at])
        places = np.arange(len(rows)) * (seconds * rate_hz / len(rows))
        mine = taught["pressed_in"] == taught["recording"][at]
        pressed = (taught["onset_s"][mine], [str(key) for key in taught["key"][mine]])
        kept, labels, weights = label_frames(
            places, int(taught["origin"][at]), rate_hz, rate_hz, pressed, rule
        )
        parts.append((rows[kept], labels, weights))
    rows, labels, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
    head, said = FrameHead(rows, labels, weights), []
    for name in ids:
        text, written = GreedyText(), []
        for frames in test[name].windows:
            places = np.arange(len(frames)) * (seconds / len(frames))
            written.append(str(text.take(head.predict(frames[mark_core(places, rule, 1.0)]))))
        said.append("".join(written))
    return said
