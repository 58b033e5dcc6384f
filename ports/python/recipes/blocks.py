"""Runs a model on many examples in fewer runs, where its answers stay as they are."""
from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

import topwork

SIZE = 24
LOUD = (0.0, *np.geomspace(1e-6, 32768, 7))
Array = NDArray[Any]


class Blocks:
    """Runs a model on rows [n, *shape] and gives [n, size of its first output], up to SIZE rows at once where that gives the same.

    hop : each row goes on where the one before it ends, but for its last `hop` parts. A model that only slides over its
        input then runs once on the whole, and computes what rows share once. 0: the rows are a batch.
    n_threads : threads of a run; 0: what pays.
    """

    def __init__(self, model: topwork.Model, shape: tuple[int, ...], hop: int = 0, n_threads: int = 0) -> None:
        self._model, self._shape, self._hop, self._n_threads = model, shape, hop, n_threads
        # From silence to what is loud, as one row of a batch may change what a model makes of another.
        loud = (1.0, 1.0, 1.0) if hop else LOUD
        whole = _spread((shape[0] + len(loud) * hop, *shape[1:]))
        probe = np.stack([whole[i * hop:][:shape[0]] * np.float32(loud[i]) for i in range(len(loud))])
        try:
            self._begin(probe, SIZE)
            together = self(probe)
        except (topwork.Error, ValueError):  # it takes one row only
            together = None
        self._begin(probe[:1], 1)
        alone = self(probe)
        if together is not None and together.shape == alone.shape:
            if np.abs(together - alone).max() <= 1e-5 * np.abs(alone).max():
                self._most = SIZE

    def _begin(self, rows: Array, most: int) -> None:
        """A new session for as many rows: one that is resized may keep in memory what it reads of the file."""
        self._session: Any = None
        self._session = topwork.Session(self._model, input_shapes=[self._together(rows).shape], device="cpu",
                                        n_threads=self._n_threads)
        self._size, self._most = len(rows), most  # rows of the last run, and at most

    def clone(self) -> Blocks:
        """The same for another thread; both share the model's weights."""
        other = copy.copy(self)
        other._session = self._session.clone()
        return other

    def __call__(self, rows: Array) -> Array:
        """All runs are of one size, as another one is planned anew: the last begins so much earlier."""
        size = -(-len(rows) // -(-len(rows) // self._most))
        starts = [min(i, len(rows) - size) for i in range(0, len(rows), size)]
        found = [self._run(rows[i:i + size]) for i in starts]
        return np.concatenate([*found[:-1], found[-1][len(found) * size - len(rows):]])

    def _together(self, rows: Array) -> Array:
        return np.concatenate([rows[0], *rows[1:, -self._hop:]])[None] if self._hop else rows

    def _run(self, rows: Array) -> Array:
        together = self._together(rows)
        if len(rows) != self._size:
            self._session.resize(0, together.shape)
            self._size = len(rows)
        return self._session.run(together.astype(np.float32, copy=False))[0].reshape(len(rows), -1)


def _spread(shape: tuple[int, ...]) -> Array:
    """Numbers in [0, 1) without an order that a model could follow; numpy.random takes some MB to import."""
    return np.modf(np.arange(1, np.prod(shape) + 1) * ((5 ** 0.5 - 1) / 2))[0].astype(np.float32).reshape(shape)
