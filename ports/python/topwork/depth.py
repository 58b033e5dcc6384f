"""What is trained where Trainer's n_layers is "auto": how many of the last layers, or one put in front of the last."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .errors import Error

if TYPE_CHECKING:
    from .trainer import Trainer

MOST = 4
PROJECTED, HIDDEN = 1024, 64


class Shape(NamedTuple):
    """Layers that are trained, and the units of a layer put in front of the last one."""

    n_layers: int = 1
    n_projected: int = 0
    n_hidden: int = 0

    def optimizer(self, optimizer: str) -> str:
        """"auto" chooses among heads of one layer; more than that takes steps."""
        return "adam" if optimizer == "auto" and self.n_layers + self.n_hidden > 1 else optimizer


def choose(trainer: Trainer, X: Any, y: Any, groups: Any) -> tuple[Shape, list[dict[str, Any]]]:
    """Trains the last layer, the last two and so on, up to MOST, and judges each on the same examples held back. With
    the optimizer "auto" the last layer behind a random projection and behind a hidden layer come in between. The next
    one is taken where they lose less by it than by the choice before, by more than the standard error of the mean
    difference. Returns the choice and a dictionary for each: n_layers, n_projected, n_hidden, accuracy, loss, or why it
    was `skipped`."""
    if not trainer.validation_fraction > 0:
        raise ValueError('n_layers "auto" judges by examples held back: set validation_fraction above 0')
    chosen, rows, best = Shape(), [], np.empty(0)
    added = [Shape(n_projected=PROJECTED), Shape(n_hidden=HIDDEN)] if _may_add(trainer) else []
    for shape in [Shape(), *added, *map(Shape, range(2, MOST + 1))]:
        try:
            tried = _with(trainer, shape).fit(X, y, groups)
        except Error as error:
            if shape == Shape():
                raise
            rows.append({**shape._asdict(), "skipped": str(error)})
            if shape.n_layers > 1:
                break
            continue
        judged = tried.evaluate(n_worst=tried.info["n_validation"])
        losses = np.array([loss for _, _, _, loss in sorted(judged["worst"])])  # in the order of the examples
        rows.append({**shape._asdict(), "accuracy": judged["accuracy"], "loss": judged["loss"]})
        if shape == Shape() or is_better(best, losses):
            chosen, best = shape, losses
    return chosen, rows


def is_better(before: NDArray[Any], now: NDArray[Any]) -> bool:
    """Whether the second losses of the same examples are less, by more than a standard error of the mean difference."""
    gains = before - now
    return len(gains) > 1 and bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))


def _may_add(trainer: Trainer) -> bool:
    given = trainer.options or {}
    return trainer.optimizer == "auto" and not (trainer.n_hidden or trainer.append or given.get("head.n_projected"))


def _with(trainer: Trainer, shape: Shape) -> Trainer:
    """One like it of that shape, which refuses nothing and keeps out of its training what is held back."""
    parameters = trainer.get_params(deep=False)
    options = {**(trainer.options or {}), "keep_held_back": 1}
    if shape.n_projected:
        options["head.n_projected"] = shape.n_projected
    parameters.update(n_layers=shape.n_layers, n_hidden=shape.n_hidden or trainer.n_hidden,
                      optimizer=shape.optimizer(trainer.optimizer), reject_rate=0.0, cache_path=None, options=options)
    return type(trainer)(**parameters)
