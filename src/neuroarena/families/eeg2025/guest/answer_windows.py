"""The guest of the EEG 2025 contract: loads ``class Submission`` and answers one window at a time.

Run as ``main([challenge, folder])``.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from neuroarena.sandbox.guest import serving
    from neuroarena.sandbox.guest.wire import Message
else:
    # By its plain name: in here nothing is called neuroarena.
    import serving

RATE_HZ = 100
# Libraries that a submission may expect and that are optional here; the host knows which extra brings each.
_OPTIONAL = ("braindecode",)


def main(arguments: list[str]) -> None:
    """Serve until the host is done."""
    serving.serve(functools.partial(load, int(arguments[0]), arguments[1]))


def load(challenge: int, folder: str) -> Callable[[Message], serving.Answer]:
    """Build the model as the published scorer does: construct, ask for the model, set it to inference.

    Raises
    ------
    Problem
        For a missing name, a wrong signature, or whatever the submission raises.
    """
    importlib.import_module("zoo_names").prepare_imports()
    module = serving.import_submission(folder, _OPTIONAL)
    made: Any = getattr(module, "Submission", None)
    if not isinstance(made, type):
        raise serving.Problem("class", "submission.py does not define a class Submission")
    # Both at once: a submission that lacks the second should fail now, not after hours with the first.
    for method in ("get_model_challenge_1", "get_model_challenge_2"):
        if not callable(getattr(made, method, None)):
            raise serving.Problem("method", f"class Submission has no method {method}")
    method = f"get_model_challenge_{challenge}"
    serving.check_call(made, (RATE_HZ, "cpu"), "Submission(SFREQ, DEVICE)")
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    submission = serving.attempt(
        "construct", functools.partial(made, RATE_HZ, torch.device("cpu")), _OPTIONAL
    )
    serving.check_call(getattr(submission, method), (), f"{method}()")
    # Many import a library only where they build their network.
    model = serving.attempt("model", getattr(submission, method), _OPTIONAL)
    if not callable(model) or not callable(getattr(model, "eval", None)):
        raise serving.Problem("model", f"{method}() returned {type(model).__name__}, expected a torch module")
    serving.attempt("model", model.eval)
    return functools.partial(answer, torch, model, serving.accepts(getattr(model, "forward", None), 2))


def answer(torch: Any, model: Any, takes_known: bool, asked: Message) -> serving.Answer:
    """Run the model on windows (b, channels, samples); numbers (b, 1) come back.

    A model whose ``forward`` takes a second argument gets what is known of the person there, by name.

    Raises
    ------
    Problem
        For any other shape, for NaN or infinity, and for whatever the model raises.
    """
    windows = asked.array
    assert windows is not None
    expected = (len(windows), 1)
    known = asked.fields.get("known")

    def forward() -> np.ndarray:
        given = (torch.from_numpy(windows), *([known] if takes_known and known is not None else []))
        with torch.inference_mode():
            output = model(*given)
        # Exactly this class: one that is derived could say anything about its shape.
        if type(output) is not torch.Tensor:
            raise serving.Problem(
                "shape", f"the model returned {type(output).__name__}, expected a tensor {expected}"
            )
        if output.layout is not torch.strided:
            raise serving.Problem(
                "shape", f"the model returned a {output.layout} tensor, expected a dense one"
            )
        if output.is_complex():
            raise serving.Problem("values", "the model returned complex numbers, expected real ones")
        return serving.check_numbers(output.detach().to("cpu", torch.float32).numpy(), expected)

    return {}, serving.attempt("predict", forward)
