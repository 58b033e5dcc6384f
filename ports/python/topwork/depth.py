"""How many of the last layers are trained where Trainer's n_layers is "auto"."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .errors import Error

if TYPE_CHECKING:
    from .trainer import Trainer

MOST = 4


def choose(trainer: Trainer, X: Any, y: Any, groups: Any) -> tuple[int, list[dict[str, Any]]]:
    """Trains the last layer, the last two and so on, up to MOST, and judges each on the same examples held back. One
    more layer is taken where they lose less by it than by the choice before, by more than the standard error of the
    mean difference. Returns the choice and a dictionary for each depth: n_layers, accuracy, loss, or why it was
    `skipped`."""
    if not trainer.validation_fraction > 0:
        raise ValueError('n_layers "auto" judges by examples held back: set validation_fraction above 0')
    chosen, rows, best = 1, [], np.empty(0)
    for n_layers in range(1, MOST + 1):
        try:
            tried = _with(trainer, n_layers).fit(X, y, groups)
        except Error as error:
            if n_layers == 1:
                raise
            rows.append({"n_layers": n_layers, "skipped": str(error)})
            break
        judged = tried.evaluate(n_worst=tried.info["n_validation"])
        losses = np.array([loss for _, _, _, loss in sorted(judged["worst"])])  # in the order of the examples
        rows.append({"n_layers": n_layers, "accuracy": judged["accuracy"], "loss": judged["loss"]})
        if n_layers == 1 or is_better(best, losses):
            chosen, best = n_layers, losses
    return chosen, rows


def is_better(before: NDArray[Any], now: NDArray[Any]) -> bool:
    """Whether the second losses of the same examples are less, by more than a standard error of the mean difference."""
    gains = before - now
    return len(gains) > 1 and bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))


def _with(trainer: Trainer, n_layers: int) -> Trainer:
    """One like it of so many layers, which refuses nothing and keeps out of its training what is held back."""
    parameters = trainer.get_params(deep=False)
    options = {**(trainer.options or {}), "keep_held_back": 1}
    parameters.update(n_layers=n_layers, optimizer=optimizer_of(trainer.optimizer, n_layers), reject_rate=0.0,
                      cache_path=None, options=options)
    return type(trainer)(**parameters)


def optimizer_of(optimizer: str, n_layers: int) -> str:
    """"auto" chooses among heads of one layer; deeper ones take steps."""
    return "adam" if optimizer == "auto" and n_layers > 1 else optimizer
