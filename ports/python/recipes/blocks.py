"""Runs a model on many examples in fewer runs, where its answers stay as they are."""
from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

import topwork

SIZE = 16
Array = NDArray[Any]


class Blocks:
    """Runs a model on rows [n, *shape] and gives [n, size of its first output], SIZE rows at once where that gives the same.

    hop : each row goes on where the one before it ends, but for its last `hop` parts. A model that only slides over its
        input then runs once on the whole, and computes what rows share once. 0: the rows are a batch.
    """

    def __init__(self, model: topwork.Model, shape: tuple[int, ...], hop: int = 0) -> None:
        self._model, self._shape, self._hop = model, shape, hop
        self._alone: Optional[topwork.Session] = None
        self._block: Optional[topwork.Session] = None
        self._was_single = False
        # From silence to what is loud, as one row may change what a model makes of another.
        whole = _spread((shape[0] + SIZE * hop, *shape[1:]))
        loud = [1.0] * SIZE if hop else [0.0, *np.geomspace(1e-6, 32768, SIZE - 1)]
        probe = np.stack([whole[i * hop:][:shape[0]] * np.float32(loud[i]) for i in range(SIZE)])
        alone = self(probe)
        self._alone = None  # made anew where rows come by themselves: the memory of one session is enough
        try:
            self._block = topwork.Session(model, input_shapes=[self._together(probe).shape], device="cpu")
            block = self._block.run(self._together(probe))[0].reshape(-1)
        except topwork.Error:
            block = np.zeros(0, np.float32)
        if block.size != alone.size or np.abs(block - alone.reshape(-1)).max() > 1e-5 * np.abs(alone).max():
            self._block = None

    def _together(self, rows: Array) -> Array:
        return np.concatenate([rows[0], *rows[1:, -self._hop:]])[None] if self._hop else rows

    def _single(self) -> topwork.Session:
        if self._alone is None:
            self._alone = topwork.Session(self._model, input_shapes=[(1, *self._shape)], device="cpu")
        return self._alone

    def __call__(self, rows: Array) -> Array:
        # A stream of single rows is worth a session of its own, a last row that is left over fills a block.
        is_stream = self._was_single and len(rows) == 1
        self._was_single = len(rows) == 1
        found = []
        for start in range(0, len(rows), SIZE):
            part = rows[start:start + SIZE].astype(np.float32)
            if self._block is None or is_stream:
                found += [self._single().run(row[None])[0].reshape(1, -1).copy() for row in part]
            else:
                filled = np.concatenate([part, np.zeros((SIZE - len(part), *self._shape), np.float32)])
                found.append(self._block.run(self._together(filled))[0].reshape(SIZE, -1)[:len(part)].copy())
        return np.concatenate(found)


def _spread(shape: tuple[int, ...]) -> Array:
    """Numbers in [0, 1) without an order that a model could follow; numpy.random takes some MB to import."""
    return np.modf(np.arange(1, np.prod(shape) + 1) * ((5 ** 0.5 - 1) / 2))[0].astype(np.float32).reshape(shape)
