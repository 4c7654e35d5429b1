"""Code submissions of encoders: guests compute embeddings in the sandbox, and heads are fitted where the labels are.

What a guest is asked are windows, of the training part and of the test part alike; what is kept of it are
embeddings. The organiser's heads are fitted from these alone, so that no label is ever in the process that runs a
stranger's code, nor in the one that starts it.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.benchmarks import load_benchmarks
from neuroarena.decoders.streams import Playback
from neuroarena.errors import InputError
from neuroarena.evaluation.code import CodeAnswers, CodeRequest, TaskAnswers, describe_runs
from neuroarena.evaluation.model_contract import REPLAYED, Answered, Asking, ModelContract
from neuroarena.families.transfer.decoders.contract import FILE, LONGEST
from neuroarena.families.transfer.embedded_heads import predict_from_embeddings
from neuroarena.families.transfer.encoder_questions import (
    EncoderQuestions,
    cut_windows,
    make_lesson,
    open_encoder_questions,
    write_encoder_questions,
)
from neuroarena.fingerprint import digest, file_digest
from neuroarena.progress import Progress, Silence
from neuroarena.recordings import from_array
from neuroarena.sandbox import Limits
from neuroarena.sandbox.archives import unpack_submission
from neuroarena.sandbox.guests import Guest, Setting, ask_in_batches, draw_batches
from neuroarena.sandbox.job import Job, guest_command

_GUEST = Path(__file__).resolve().parent / "guest"
# Numbers that one window may become: 500 frames of the longest vector.
MOST_NUMBERS = 500 * LONGEST
# One window's embedding: its place in the stream, its numbers (d,) or (frames, d), and the hidden delay of the stream.
Row = tuple[int, np.ndarray, float]


class EncoderContract(ModelContract):
    """A zip with ``encoder.py``, whose ``load_encoder(meta)`` returns one encoder for all tracks."""

    entry = FILE
    defines = ("load_encoder",)
    write_questions = staticmethod(write_encoder_questions)
    open_questions = staticmethod(open_encoder_questions)
    make_lesson = staticmethod(make_lesson)
    conclude = staticmethod(predict_from_embeddings)

    def ask(  # type: ignore[override]
        self,
        code: Path,
        questions: Mapping[str, EncoderQuestions],
        asking: Asking,
        progress: Progress | None = None,
    ) -> Answered:
        """Let submitted code encode the windows of every track; return tables of embeddings.

        Raises
        ------
        SubmissionRefused, SubmissionFailed, SandboxFailed
        """
        tables, runs, log = {}, {}, ""
        said: set[str] = set()
        with unpack_submission(code, FILE) as folder:
            files = {
                path.relative_to(folder).as_posix(): file_digest(path)
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
            for part, own in questions.items():
                asked = _Asked(own, asking, part, said)
                with _write_tables(own) as shown:
                    job = Job(
                        guest_command(_GUEST, "encode_windows", (folder, shown)),
                        {"submission": folder, "contract": _GUEST, "channels": shown},
                    )
                    setting = Setting(code.name, job, asking.limits, asking.isolation, asking.control)
                    heard = ask_in_batches(
                        setting,
                        part or own.test.manifest.name,
                        asked.batches,
                        asked.ask,
                        replay=range(min(REPLAYED, len(asked.batches))),
                        differ=_differ,
                        progress=progress or Silence(),
                    )
                tables[part] = asked.tabulate(heard.answers)
                runs[part or own.test.name] = (heard.outcome, heard.replay_difference)
                log += heard.outcome.stderr_tail
        return Answered(
            tables, {**describe_runs(runs), "encoder_weights": digest([sorted(said), files])}, log
        )

    def answer(self, request: CodeRequest, progress: Progress) -> CodeAnswers:
        """Encode, and fit the organiser's heads, for every task that the name stands for.

        Raises
        ------
        InputError
            When only a few people are asked for.
        """
        if request.fast:
            raise InputError(f'"{request.name}" is judged on everybody; --fast is not taken here.')
        family = request.name.partition("/")[0].partition("@")[0]
        asking = Asking(request.limits or Limits(), request.isolation, request.control, request.seed)
        loaded = {
            task: load_benchmarks(f"{family}@{request.definition}/{task}", request.data)[0]
            for task in request.tasks
        }
        splits = {task: request.split or each.splits[0] for task, each in loaded.items()}
        with tempfile.TemporaryDirectory(prefix="neuroarena-encoder-") as place:
            asked = {}
            for task, benchmark in loaded.items():
                write_encoder_questions(benchmark, splits[task], Path(place) / task)
                asked[task] = open_encoder_questions(Path(place) / task)
            answered = self.ask(request.file, asked, asking, progress)
        tasks = []
        for task, benchmark in loaded.items():
            lesson = make_lesson(benchmark, splits[task])
            table = predict_from_embeddings(lesson, answered.tables[task], benchmark.manifest)
            tasks.append(TaskAnswers(benchmark, splits[task], table))
        return CodeAnswers(tuple(tasks), answered.ran)


CONTRACT = EncoderContract()


class _Asked:
    """The windows of one part in the order in which guests get them, and the embeddings as they come."""

    def __init__(self, own: EncoderQuestions, asking: Asking, part: str, said: set[str]) -> None:
        self.own, self.said, self.rule = own, said, own.test.manifest.stream
        rng, n_train = asking.rng(part), len(own.train)
        self.seeds = rng.integers(2**63, size=len(own.test))
        self.lengths: dict[tuple[str, int, int], int] = {}
        # Test windows: at most one of each person in a sandbox, or one stream. The labels of training windows are
        # public, so that all of a person's may be in one.
        if self.rule is None:
            test = draw_batches(list(own.test.table["person"]), rng)
        else:
            test = [np.array([index]) for index in rng.permutation(len(own.test))]
        people = own.train.table["person"].to_numpy()
        train = [rng.permutation(np.flatnonzero(people == person)) for person in sorted(set(people))]
        self.batches = [*(each + n_train for each in test), *train]

    def ask(self, guest: Guest, index: int) -> list[Row]:
        """Ask about one row: all windows of a stream, or one window."""
        n_train = len(self.own.train)
        trained = index < n_train
        questions, row = (self.own.train, index) if trained else (self.own.test, index - n_train)
        signal, asked = questions.read(row), questions.table.iloc[row]
        if self.rule is None or (trained and self.rule.answer == "joined"):
            return [(0, self._encode(guest, signal, asked), 0.0)]
        if trained:
            windows = cut_windows(signal, asked["rate_hz"], self.rule)
            return [
                (number, self._encode(guest, window, asked), 0.0) for number, window in enumerate(windows)
            ]
        recording = from_array(
            signal, rate_hz=asked["rate_hz"], channels=list(asked["channels"]), kind="eeg", name="stream"
        )
        rng = np.random.default_rng(int(self.seeds[row]))
        playback = Playback(recording, 0, signal.shape[1], self.rule, rng)
        return [
            (number, self._encode(guest, window, asked), playback.delay_s)
            for number, window in enumerate(playback)
        ]

    def _encode(self, guest: Guest, window: np.ndarray, asked: pd.Series) -> np.ndarray:
        place = self.own.places[asked["recording"]]
        fields = {"channels": place, "rate_hz": float(asked["rate_hz"])}
        message = guest.ask(window[np.newaxis], fields, most_bytes=4 * MOST_NUMBERS)
        said = message.array
        frames = self.rule is not None and self.rule.answer == "joined"
        if said is None or said.ndim != (3 if frames else 2) or len(said) != 1:
            form = "(1, frames, d)" if frames else "(1, d)"
            raise guest.failed("wrong output shape", f"encode() did not return {form} for one window")
        if not 1 <= said.shape[-1] <= LONGEST or not np.isfinite(said).all():
            raise guest.failed("wrong output values", f"an embedding is not 1 to {LONGEST} finite numbers")
        known = (place, window.shape[1], said.ndim)
        if self.lengths.setdefault(known, said.shape[-1]) != said.shape[-1]:
            raise guest.failed("wrong output shape", "embeddings of the same channels differ in length")
        self.said.add(str(message.fields.get("weights"))[:200])
        if len(self.said) > 1:
            raise guest.failed("broke the protocol", "weights_hash() is not the same in all sandboxes")
        found: np.ndarray = said[0]
        return found

    def tabulate(self, answers: list[list[Row]]) -> pd.DataFrame:
        """Return embeddings as a table without objects: id, place of the window, shape, float32 bytes, delay."""
        n_train = len(self.own.train)
        ids = [*self.own.train.table["id"], *self.own.test.table["id"]]
        rows = [
            {
                "set": "train" if index < n_train else "test",
                "id": ids[index],
                "window": number,
                "frames": values.shape[0] if values.ndim == 2 else 0,
                "length": values.shape[-1],
                "values": values.astype("<f4").tobytes(),
                "delay_s": delay_s,
            }
            for index, found in enumerate(answers)
            for number, values, delay_s in found
        ]
        return pd.DataFrame(rows)


def _differ(first: list[Row], second: list[Row]) -> float:
    if len(first) != len(second):
        return float("inf")
    pairs = zip(first, second, strict=True)
    return max(
        float(np.abs(a[1] - b[1]).max()) if a[1].shape == b[1].shape else float("inf") for a, b in pairs
    )


@contextlib.contextmanager
def _write_tables(own: EncoderQuestions) -> Iterator[Path]:
    """Yield a folder of channel tables that a guest, which is another user, can read."""
    with tempfile.TemporaryDirectory(prefix="neuroarena-channels-") as place:
        folder = Path(place) / "tables"
        folder.mkdir()
        folder.chmod(0o755)
        for name, table in own.tables.items():
            (folder / f"{name}.json").write_text(json.dumps(table), encoding="utf-8")
            (folder / f"{name}.json").chmod(0o644)
        yield folder
