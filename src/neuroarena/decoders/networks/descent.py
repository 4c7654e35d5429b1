"""What every training of a network shares: a step for each batch, and the best state so far.

Batches are drawn when they are due, so that chance inside a network and in the order of batches comes in one
order, whatever is done between steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

B = TypeVar("B")


def descend(
    optimiser: Any,
    batches: Iterable[B],
    backward: Callable[[B], float],
    *,
    clip: float | None = None,
    pace: Callable[[float], None] | None = None,
) -> Iterator[float]:
    """Take a step of an optimiser for each batch; yield the loss after each.

    Parameters
    ----------
    optimiser : torch optimiser
    batches : iterable
    backward : callable
        ``backward(batch)`` computes gradients and returns the loss; it may do so piece by piece.
    clip : float, optional
        Largest norm of the gradient of all parameters together.
    pace : callable, optional
        ``pace(loss)`` sets the learning rates after a step.
    """
    import torch

    parameters = [each for group in optimiser.param_groups for each in group["params"]]
    for batch in batches:
        optimiser.zero_grad()
        loss = backward(batch)
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(parameters, clip)
        optimiser.step()
        if pace is not None:
            pace(loss)
        yield loss


class BestState:
    """The best state of modules so far, in one set of tensors that is written over.

    Parameters
    ----------
    *modules : torch modules
    """

    def __init__(self, *modules: Any) -> None:
        self.modules = modules
        self.score = -math.inf
        self.states: list[dict[str, Any]] | None = None

    def offer(self, score: float, tolerance: float = 0.0) -> bool:
        """Keep the present state if it is judged better than the best by more than a tolerance; say whether it was."""
        if not score > self.score + tolerance:
            return False
        self.score = score
        now = [module.state_dict() for module in self.modules]
        if self.states is None:
            self.states = [{name: value.clone() for name, value in state.items()} for state in now]
        for kept, state in zip(self.states, now, strict=True):
            for name, value in state.items():
                kept[name].copy_(value)
        return True

    def restore(self) -> None:
        """Go back to the best state, if one was kept."""
        for module, state in zip(self.modules, self.states or (), strict=self.states is not None):
            module.load_state_dict(state)
