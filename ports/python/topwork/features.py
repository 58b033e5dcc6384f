"""What a model's last layer reads, and what it answers, for many examples: for other programs to compare or learn from."""
from __future__ import annotations

import os
import threading
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._core import Model
from .pictures import source
from .tflite import Interpreter

Scale = Optional[tuple[Sequence[float], Sequence[float]]]


class _Rows:
    """A session that gives one tensor of one example after another, as real numbers."""

    def __init__(self, model: Union[Model, str, "os.PathLike[str]"], n_threads: int, input_scale: Scale) -> None:
        self.model = model if isinstance(model, Model) else Model.open(model)
        if len(self.model.inputs) != 1:
            raise ValueError(f"the model has {len(self.model.inputs)} inputs: {type(self).__name__} takes models of one")
        self._scale = input_scale or self.model.input_scale
        name = self._name()
        self._run = Interpreter(model_content=bytes(self.model), num_threads=n_threads or None,
                                experimental_preserve_all_tensors=name is not None)
        self._run.allocate_tensors()
        self._tensor = self._run.get_output_details()[0] if name is None else next(
            detail for detail in self._run.get_tensor_details() if detail["name"] == name)
        self._width = int(np.prod(self._tensor["shape"]))
        self._lock = threading.Lock()

    def _name(self) -> Optional[str]:
        """Of the tensor; None: the model's first output."""
        raise NotImplementedError

    def __call__(self, X: Any) -> NDArray[np.float32]:
        array = source(X, self.model.inputs[0], self._scale)
        rows = np.empty((len(array), self._width), np.float32)
        scale, zero = self._tensor["quantization"]
        with self._lock:
            index = self._run.get_input_details()[0]["index"]
            for i in range(len(array)):
                self._run.set_tensor(index, array[i][None])
                self._run.invoke()
                row = self._run.get_tensor(self._tensor["index"]).reshape(-1).astype(np.float32)
                rows[i] = (row - zero) * scale if scale else row
        return rows


class Features(_Rows):
    """Gives features of examples; it holds one session.

    Parameters
    ----------
    model : a topwork.Model of one input, or a path of one.
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

    def _name(self) -> Optional[str]:
        return str(self.model.head()["feature"])

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

    def _name(self) -> Optional[str]:
        return None

    def __call__(self, X: Any) -> NDArray[np.float32]:
        """[n, n_outputs] float32, of quantized models the real numbers that they stand for; X as for Features."""
        return super().__call__(X)
