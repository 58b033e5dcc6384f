"""Makes float models smaller: weights, or weights and activations, with fewer bits."""
from __future__ import annotations

import os
from typing import Any, NamedTuple, Union

from . import _core
from ._core import Model
from .pictures import Scale, source
from .progress import Progress

_TARGETS = {"dynamic": 0, "fp16": 1, "int8": 2}  # TW_QUANTIZE_*
_IO = {"float32": 0, "int8": 1, "uint8": 2}


class Quantized(NamedTuple):
    """What quantize() made."""
    model: Model
    n_examples: int  # that the ranges of the activations were taken from
    n_integer_operators: int  # that compute in integers now
    n_constants: int  # that are stored with fewer bits
    float_operators: list[tuple[int, str, str]]  # that stayed float: index in the file, name, reason


def quantize(model: Union[Model, str, bytes, "os.PathLike[str]"], to: str = "int8", X: Any = None, *, io: str = "float32",
             percentile: float = 100.0, min_elements: int = 1024, n_threads: int = 0, input_scale: Scale = None,
             progress: bool = False) -> Quantized:
    """A float model with fewer bits, again a standard .tflite.

    model : a topwork.Model, a path or the bytes of one.
    to : "int8" (weights and activations; what has no integer form stays float), "dynamic" (int8 weights, float
        activations) or "fp16" (float16 weights).
    X : "int8" only: examples to take the ranges of the activations from, some 100 of what the model will see. [n, ...]
        as the model's input without its batch, or n pictures of PIL (a list, or a sequence that opens each as it is read);
        for models of several inputs a tuple of such arrays.
    io : "int8" only: type of inputs and outputs, "float32", "int8" or "uint8" (the scale of int8, zero point 128 higher).
    percentile : "int8" only: cut off each activation's values beyond this percentile of an example, in (50, 100].
    min_elements : "dynamic" only: weights of fewer elements stay float.
    n_threads : 0: what pays.
    input_scale : (mean, std) by which pixels of X become inputs; None: as the model's metadata says.
    progress : True for a progress bar (needs tqdm).

    Topwork's Session and Trainer take the new model as any other. To judge it, compare their answers on examples that
    X did not hold. Ctrl-C ends the call. Raises ValueError, UnsupportedError (the model computes in integers already, or
    nothing can be quantized), or NumericError (an activation is not finite).
    """
    if to not in _TARGETS or io not in _IO:
        raise ValueError(f"to={to!r}, io={io!r}: to is one of {', '.join(_TARGETS)}; io one of {', '.join(_IO)}")
    if (to == "int8") != (X is not None):
        raise ValueError('to="int8" needs X, examples of what the model will see; other targets take none')
    if to != "int8" and io != "float32":
        raise ValueError(f'io={io!r} goes with to="int8" only')
    if min_elements < 0 or not 50 < percentile <= 100:
        raise ValueError(f"min_elements={min_elements}, percentile={percentile}: at least 0, and in (50, 100]")
    if not isinstance(model, Model):
        model = Model.from_bytes(model) if isinstance(model, bytes) else Model.open(model)
    # The C API takes 0 for its default; no weights have fewer elements than 1.
    core = _core.Quantizer.create(model, _TARGETS[to], _IO[io], max(1, min_elements), percentile, n_threads)
    if X is not None:
        parts = X if isinstance(X, tuple) else (X,)
        if len(parts) != len(model.inputs):
            raise ValueError(f"the model has {len(model.inputs)} inputs: X must be a tuple of as many arrays")
        arrays = [source(part, core.input(i), input_scale or model.input_scale) for i, part in enumerate(parts)]
        if any(len(array) != len(arrays[0]) for array in arrays):
            raise ValueError("the arrays of X hold different numbers of examples")
        with Progress(progress, "ranges") as shown:
            core.add(arrays, shown.of_examples)
    return Quantized(*core.export())
