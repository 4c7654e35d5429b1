"""The guest of the general contract: ``load_model(meta)`` returns a model with ``predict``, or ``start`` and ``step``.

Run as ``main([folder, meta])``; `meta` is JSON, and its ``answers`` says what is expected. A window is float32
(1, channels, samples) for ``predict``, (channels, samples) for ``step``.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from neuroarena.sandbox.guest import serving
    from neuroarena.sandbox.guest.wire import Message
else:
    # By its plain name: in here nothing is called neuroarena.
    import serving

_MOST_TEXT = 1000


def main(arguments: list[str]) -> None:
    """Serve until the host is done."""
    serving.serve(functools.partial(load, arguments[0], json.loads(arguments[1])))


def load(folder: str, meta: dict[str, Any]) -> Callable[[Message], serving.Answer]:
    """Import the submission and build its model."""
    module = serving.import_submission(folder)
    answers = meta.pop("answers")
    given = {**meta, "folder": folder}
    made = serving.find_callable(module, "load_model", (given,), "load_model(meta)")
    model = serving.attempt("model", functools.partial(made, given))
    wanted = ("start", "step") if answers["form"] == "stream" else ("predict",)
    for method in wanted:
        if not callable(getattr(model, method, None)):
            raise serving.Problem(
                "model", f"load_model(meta) returned {type(model).__name__} without {method}()"
            )
    if answers["form"] == "stream":
        return functools.partial(step, model, answers["text"])
    called = getattr(model, wanted[0])
    return functools.partial(
        answer, called, serving.accepts(called, 2), answers.get("numbers"), answers.get("classes")
    )


def answer(
    predict: Any, takes_info: bool, numbers: int | None, classes: list[str] | None, asked: Message
) -> serving.Answer:
    """Answer one window with numbers (1, n): probabilities, a vector, or one number."""
    given = (asked.array, asked.fields.get("info")) if takes_info else (asked.array,)
    said = serving.attempt("predict", lambda: predict(*given))
    if classes is not None and isinstance(said, str | list | tuple | np.ndarray):
        named = said if isinstance(said, str) else said[0] if len(said) == 1 else None
        if isinstance(named, str):
            if named not in classes:
                raise serving.Problem("values", f"the model named {named[:40]!r}, which is not a class")
            said = [[float(named == each) for each in classes]]

    def check() -> np.ndarray:
        values = np.asarray(said)
        values = values.reshape(1, -1) if values.ndim < 2 else values
        return serving.check_numbers(values, None if numbers is None else (1, numbers))

    return {}, serving.attempt("shape", check)


def step(model: Any, text: bool, asked: Message) -> serving.Answer:
    """Begin a stream, or take its next window: a number, a text, or nothing yet."""
    if asked.fields["what"] == "start":
        serving.attempt("predict", lambda: model.start(asked.fields["info"]))
        return {"said": None}, None
    said = serving.attempt("predict", lambda: model.step(asked.array))
    if said is None:
        return {"said": None}, None
    if text:
        if not isinstance(said, str) or len(said) > _MOST_TEXT:
            raise serving.Problem(
                "values", f"step() must return a text of at most {_MOST_TEXT} characters, or None"
            )
        return {"said": said}, None
    numbers = serving.attempt("shape", lambda: serving.check_numbers(np.asarray(said).reshape(1, 1), (1, 1)))
    return {"said": True}, numbers
