"""Runs a model on many examples in fewer runs, where its answers stay as they are."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import topwork

SIZE = 24
PROBES = 8
Array = NDArray[Any]


class Blocks:
    """Runs a model on rows [n, *shape] and gives [n, size of its first output], up to SIZE rows at once where that gives the same.

    hop : each row goes on where the one before it ends, but for its last `hop` parts. A model that only slides over its
        input then runs once on the whole, and computes what rows share once. 0: the rows are a batch.
    """

    def __init__(self, model: topwork.Model, shape: tuple[int, ...], hop: int = 0) -> None:
        self._shape, self._hop = shape, hop
        self._session = topwork.Session(model, input_shapes=[(1, *shape)], device="cpu")
        self._size, self._most = 1, 1  # rows of the last run, and at most
        # From silence to what is loud, as one row may change what a model makes of another.
        whole = _spread((shape[0] + PROBES * hop, *shape[1:]))
        loud = [1.0] * PROBES if hop else [0.0, *np.geomspace(1e-6, 32768, PROBES - 1)]
        probe = np.stack([whole[i * hop:][:shape[0]] * np.float32(loud[i]) for i in range(PROBES)])
        alone = self(probe)
        self._most = SIZE
        try:
            differs = np.abs(self(probe) - alone).max() > 1e-5 * np.abs(alone).max()
        except (topwork.Error, ValueError):  # it takes one row only, or gives another number of answers
            differs = True
        if differs:
            self._most = 1

    def __call__(self, rows: Array) -> Array:
        return np.concatenate([self._run(rows[i:i + self._most].astype(np.float32)) for i in range(0, len(rows), self._most)])

    def _run(self, rows: Array) -> Array:
        together = np.concatenate([rows[0], *rows[1:, -self._hop:]])[None] if self._hop else rows
        if len(rows) != self._size:
            self._session.resize(0, together.shape)
            self._size = len(rows)
        return self._session.run(together)[0].reshape(len(rows), -1).copy()


def _spread(shape: tuple[int, ...]) -> Array:
    """Numbers in [0, 1) without an order that a model could follow; numpy.random takes some MB to import."""
    return np.modf(np.arange(1, np.prod(shape) + 1) * ((5 ** 0.5 - 1) / 2))[0].astype(np.float32).reshape(shape)
