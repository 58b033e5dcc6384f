"""What a model's last layer reads, and what it answers, for many examples: for other programs to compare or learn from."""
from __future__ import annotations

import os
import threading
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._core import Model
from .pictures import source
from .session import Session

Scale = Optional[tuple[Sequence[float], Sequence[float]]]


class _Rows:
    """A session that gives one tensor of one example after another, as real numbers."""

    def __init__(self, model: Union[Model, str, "os.PathLike[str]"], n_threads: int, input_scale: Scale) -> None:
        from .modelfile import ModelFile, forget  # who makes neither has no use for it

        opened = model if isinstance(model, Model) else Model.open(model)
        if len(opened.inputs) != 1:
            raise ValueError(f"the model has {len(opened.inputs)} inputs: {type(self).__name__} takes models of one")
        self.labels = opened.labels
        self._input, self._scale = opened.inputs[0], input_scale or opened.input_scale
        file = ModelFile(opened)
        tensor = self._tensor(file.subgraphs[0], opened)
        self._quantization: tuple[float, int] = tensor.details(tensor.shape)["quantization"]
        # What only later operators need is neither run nor kept in memory, nor is the file where a path was given.
        changed = file.changed_at()
        data = file.with_outputs([tensor.index]) if isinstance(model, Model) else file.mapped(model, tensor.index)
        del model, opened, file, tensor
        self._session = Session(Model.from_bytes(data), n_threads=n_threads, device="cpu")
        forget(data, changed)
        self._width = int(np.prod(self._session.outputs[0].shape))
        self._lock = threading.Lock()

    def _tensor(self, graph: Any, model: Model) -> Any:
        """The tensor that it gives, of those of the main subgraph."""
        raise NotImplementedError

    def __call__(self, X: Any) -> NDArray[np.float32]:
        array = source(X, self._input, self._scale)
        rows = np.empty((len(array), self._width), np.float32)
        scale, zero = self._quantization
        with self._lock:
            for i in range(len(array)):
                row = self._session.run(array[i][None])[0].reshape(-1).astype(np.float32)
                rows[i] = (row - zero) * scale if scale else row
        return rows


class Features(_Rows):
    """Gives features of examples; it holds one session.

    Parameters
    ----------
    model : a topwork.Model of one input, or a path of one, which then takes least memory.
    n_threads : threads of a run; 0: what pays.
    input_scale : (mean, std) by which pixels become inputs; None: as the model's metadata says.

    Attributes
    ----------
    n_features : numbers of an example.

    Calls from several threads take turns. Raises UnsupportedError if the model has no last layer that training would
    replace.
    """

    def __init__(self, model: Union[Model, str, "os.PathLike[str]"], *, n_threads: int = 0, input_scale: Scale = None) -> None:
        super().__init__(model, n_threads, input_scale)
        self.n_features = self._width

    def _tensor(self, graph: Any, model: Model) -> Any:
        name = model.head()["feature"]
        return next(tensor for tensor in graph.tensors if tensor.name == name)

    def __call__(self, X: Any) -> NDArray[np.float32]:
        """[n, n_features] float32 of examples X: [n, ...] as the model's input without its batch, or n pictures of PIL.
        Features of quantized models are the real numbers that they stand for."""
        return super().__call__(X)


class Scores(_Rows):
    """Gives what a model's first output holds for each example, one session at work: parameters as for Features.

    Attributes
    ----------
    n_outputs : numbers of an example.
    """

    def __init__(self, model: Union[Model, str, "os.PathLike[str]"], *, n_threads: int = 0, input_scale: Scale = None) -> None:
        super().__init__(model, n_threads, input_scale)
        self.n_outputs = self._width

    def _tensor(self, graph: Any, model: Model) -> Any:
        return graph.tensors[graph.outputs[0]]

    def __call__(self, X: Any) -> NDArray[np.float32]:
        """[n, n_outputs] float32, of quantized models the real numbers that they stand for; X as for Features."""
        return super().__call__(X)
