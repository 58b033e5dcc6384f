"""Adds, forgets and merges examples exactly, without epochs."""
from __future__ import annotations

import os
import threading
from typing import Any, Iterable, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from . import _core, targets
from ._core import Model
from .flat import dense_model
from .pictures import source

PathLike = Union[str, "os.PathLike[str]"]


def embedding_model(n_features: int, n_outputs: int = 2) -> Model:
    """A model that is a last layer alone, [1, n_features] -> [1, n_outputs] float32 with SOFTMAX, for features that were
    computed elsewhere."""
    return Model.from_bytes(dense_model(n_features, n_outputs, "SOFTMAX"))


class Learner:
    """A last layer by ridge regression on the sums of all examples: adding, removing and merging change it exactly as if
    it had been fitted to what is there now.

    Parameters
    ----------
    model : a topwork.Model or a path of one; embedding_model(n) where X holds features.
    memory : file to go on with; it need not exist yet, and is held until the learner is gone. See save().
    classes : names to begin with; others are added as they come.
    statistics_only : True: features are not kept, only their sums; examples then have no ids.
    read_only : True: the memory is only read.
    penalty : ridge penalty; 0: chosen by leave-one-out.
    input_scale : (mean, std) by which pixels become inputs; None: as the model's metadata says.

    Calls from several threads take turns; Ctrl-C ends what is going on.
    """

    def __init__(self, model: Model | PathLike, memory: Optional[PathLike] = None, *, classes: Sequence[str] = (),
                 statistics_only: bool = False, read_only: bool = False, penalty: float = 0.0,
                 input_scale: Optional[tuple[Sequence[float], Sequence[float]]] = None,
                 options: Optional[dict[str, Any]] = None) -> None:
        self.model = model if isinstance(model, Model) else Model.open(model)
        self._scale = input_scale or self.model.input_scale
        self._lock = threading.RLock()
        self._core = _core.Learner.create(self.model, dict(options or {}), list(classes),
                                          None if memory is None else os.fspath(memory), read_only, statistics_only,
                                          penalty)
        self._infos = [self._core.input(i) for i in range(len(self.model.inputs))]

    @property
    def info(self) -> dict[str, Any]:
        """class_names, class_counts, n_examples, examples (id, label, group) that are kept, n_features, penalty and
        memory_bytes."""
        with self._lock:
            return self._core.info()

    @property
    def classes(self) -> list[str]:
        """The names of the classes, in the order of the outputs."""
        names: list[str] = self.info["class_names"]
        return names

    def _arrays(self, X: Any) -> list[Any]:
        parts = X if isinstance(X, tuple) else (X,)
        if len(parts) != len(self._infos):
            raise ValueError(f"the model has {len(self._infos)} inputs: X must be a tuple of as many arrays")
        return [source(targets.check_examples(self, part), info, self._scale) for part, info in zip(parts, self._infos)]

    def add(self, X: Any, y: Sequence[Any], ids: Optional[Iterable[str]] = None, groups: Any = None) -> None:
        """Learns examples [n, ...] of classes y (names, or numbers as names). ids: a text for each, by which it can be
        removed; needed unless statistics_only. groups: [n] integers from 0 on. After a failure none is learnt."""
        arrays = self._arrays(X)
        names = [str(name) for name in y]
        groups = targets.check_groups(groups)
        with self._lock:
            known = self.classes
            new = [name for name in dict.fromkeys(names) if name not in known]
            if new:
                self._core.set_classes(known + new)
                known += new
            place = {name: i for i, name in enumerate(known)}
            try:
                self._core.add(arrays, np.array([place[name] for name in names], np.int64), groups,
                               [str(text) for text in ids or ()])
            except BaseException:
                if new:
                    self._core.set_classes(known[:len(known) - len(new)])
                raise

    def remove(self, ids: Iterable[str] = (), groups: Iterable[int] = ()) -> None:
        """Forgets the examples with these ids, and those of these groups. Raises NotFoundError (nothing is forgotten)."""
        with self._lock:
            self._core.change([str(text) for text in ids], list(groups), None)

    def relabel(self, ids: Iterable[str], name: str) -> None:
        """Gives these examples another class."""
        with self._lock:
            self._core.change([str(text) for text in ids], [], self.classes.index(name))

    def merge(self, path: PathLike) -> int:
        """Adds the classes and examples of another learner's file; returns how many were there already."""
        with self._lock:
            return self._core.merge(os.fspath(path))

    def save(self, path: PathLike, statistics_only: bool = False) -> None:
        """Writes classes, features, ids and sums; statistics_only: sums in place of features, for a file that leaves the
        device (the sums still tell something of the examples)."""
        with self._lock:
            self._core.save(os.fspath(path), statistics_only)

    def predict_proba(self, X: Any) -> NDArray[np.float32]:
        """[n, n_classes] probabilities."""
        arrays = self._arrays(X)
        with self._lock:
            scores = np.empty((len(arrays[0]), len(self.classes)), np.float32)
            if len(scores):
                self._core.predict(arrays, scores)
            return scores

    def predict(self, X: Any) -> list[str]:
        """[n] names of classes."""
        names = self.classes
        return [names[i] for i in self.predict_proba(X).argmax(axis=1)]

    def export(self) -> Model:
        """The model with the learnt layer and the class names: a standard .tflite."""
        with self._lock:
            return self._core.export()
