"""What is trained where Trainer's n_layers is "auto": how many of the last layers, or one put in front of the last."""
from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple, Optional

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

    def optimizer(self, optimizer: Optional[str]) -> Optional[str]:
        """"auto" chooses among heads of one layer; more than that takes steps."""
        return "adam" if optimizer in (None, "auto") and self.n_layers + self.n_hidden > 1 else optimizer


class Caches:
    """Files that keep features from one training to the next: the user's, or some for a while. Where the depth is chosen,
    each has a file of its own, as what a deeper one reads differs."""

    def __init__(self, given: Optional[str | os.PathLike[str]], folder: str = "", is_chosen: bool = False) -> None:
        self._given, self._folder, self._is_chosen = given, folder, is_chosen

    def of(self, n_layers: int) -> Optional[str]:
        """The file for training so many layers; None: they are not kept."""
        if self._given is not None:
            return os.fspath(self._given) + (f".{n_layers}" if self._is_chosen and n_layers > 1 else "")
        return os.path.join(self._folder, f"features_{n_layers}") if self._folder else None


@contextlib.contextmanager
def caches(trainer: Trainer) -> Iterator[Caches]:
    """Those of a trainer, which go in the end. Only where the depth is chosen is anything trained twice."""
    if trainer.cache_path is not None or trainer.n_layers != "auto":
        yield Caches(trainer.cache_path, is_chosen=trainer.n_layers == "auto")
        return
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        yield Caches(None, folder)


def choose(trainer: Trainer, X: Any, y: Any, groups: Any, kept: Caches) -> tuple[Shape, list[dict[str, Any]]]:
    """Trains the last layer, the last two and so on, up to MOST. With the optimizer "auto" the last layer behind a
    random projection and behind a hidden layer come in between. With softmax each example is judged by a head that was
    fitted without it, and the next one is taken where fewer are wrong than with the choice before, by more than the
    standard error of the mean difference; with other losses, where the examples held back lose less by as much. It ends
    where no error at all would not be better by as much. Returns the choice and a dictionary for each: n_layers,
    n_projected, n_hidden, accuracy, loss of the examples held back, or why it was `skipped`."""
    if not trainer.validation_fraction > 0:
        raise ValueError('n_layers "auto" judges by examples held back: set validation_fraction above 0')
    chosen, rows, best = Shape(), [], np.empty(0)
    added = [Shape(n_projected=PROJECTED), Shape(n_hidden=HIDDEN)] if _may_add(trainer) else []
    for shape in [Shape(), *added, *map(Shape, range(2, MOST + 1))]:
        try:
            row, errors = _judge(_with(trainer, shape, kept.of(shape.n_layers)).fit(X, y, groups))  # gives the file free
        except Error as error:
            if shape == Shape():
                raise
            rows.append({**shape._asdict(), "skipped": str(error)})
            if shape.n_layers > 1:
                break
            continue
        rows.append({**shape._asdict(), **row})
        if shape == Shape() or is_better(best, errors):
            chosen, best = shape, errors
        if not is_better(best, np.zeros(len(best))):
            break
    return chosen, rows


def _judge(tried: Trainer) -> tuple[dict[str, float], NDArray[Any]]:
    """Accuracy and loss; of each example left out whether it is wrong (softmax), or the losses of those held back."""
    judged = tried.evaluate(n_worst=tried.info["n_validation"])
    row = {"accuracy": judged["accuracy"], "loss": judged["loss"]}
    if tried.loss != "softmax":
        return row, np.array([loss for _, _, _, loss in sorted(judged["worst"])])  # in the order of the examples
    examples = sorted(tried.audit()["examples"], key=lambda example: example["index"])
    wrong = np.array([example["suggested"] != example["label"] for example in examples], float)
    return {**row, "accuracy": 1 - wrong.mean()}, wrong


def is_better(before: NDArray[Any], now: NDArray[Any]) -> bool:
    """Whether the second errors of the same examples are less, by more than a standard error of the mean difference."""
    gains = before - now
    return len(gains) > 1 and bool(gains.mean() > gains.std(ddof=1) / np.sqrt(len(gains)))


def _may_add(trainer: Trainer) -> bool:
    given = trainer.options or {}
    return trainer.optimizer in (None, "auto") and not (trainer.n_hidden or trainer.append or given.get("head.n_projected"))


def _with(trainer: Trainer, shape: Shape, cache: str | os.PathLike[str] | None) -> Trainer:
    """One like it of that shape, which refuses nothing and keeps out of its training what is held back."""
    parameters = trainer.get_params(deep=False)
    options = {**(trainer.options or {}), "keep_held_back": 1}
    if shape.n_projected:
        options["head.n_projected"] = shape.n_projected
    parameters.update(n_layers=shape.n_layers, n_hidden=shape.n_hidden or trainer.n_hidden,
                      optimizer=shape.optimizer(trainer.optimizer), reject_rate=0.0, options=options,
                      cache_path=cache)
    return type(trainer)(**parameters)
