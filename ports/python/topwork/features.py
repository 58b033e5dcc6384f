"""What a model's last layer reads: features of examples, for other programs to compare or learn from."""
from __future__ import annotations

import os
import threading
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._core import Model
from .pictures import examples
from .tflite import Interpreter


class Features:
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

    def __init__(self, model: Union[Model, str, "os.PathLike[str]"], *, n_threads: int = 0,
                 input_scale: Optional[tuple[Sequence[float], Sequence[float]]] = None) -> None:
        self.model = model if isinstance(model, Model) else Model.open(model)
        if len(self.model.inputs) != 1:
            raise ValueError(f"the model has {len(self.model.inputs)} inputs: Features takes models of one")
        self._scale = input_scale or self.model.input_scale
        head = self.model.head()
        self._run = Interpreter(model_content=bytes(self.model), num_threads=n_threads or None,
                                experimental_preserve_all_tensors=True)
        self._run.allocate_tensors()
        self._tensor = next(t for t in self._run.get_tensor_details() if t["name"] == head["feature"])
        self.n_features = int(np.prod(self._tensor["shape"]))
        self._lock = threading.Lock()

    def __call__(self, X: Any) -> NDArray[np.float32]:
        """[n, n_features] float32 of examples X: [n, ...] as the model's input without its batch, or n pictures of PIL.
        Features of quantized models are the real numbers that they stand for."""
        array = examples(X, self.model.inputs[0], self._scale)
        rows = np.empty((len(array), self.n_features), np.float32)
        scale, zero = self._tensor["quantization"]
        with self._lock:
            index = self._run.get_input_details()[0]["index"]
            for i in range(len(array)):
                self._run.set_tensor(index, array[i:i + 1])
                self._run.invoke()
                row = self._run.get_tensor(self._tensor["index"]).reshape(-1).astype(np.float32)
                rows[i] = (row - zero) * scale if scale else row
        return rows
