"""Last layers as arrays: read from a model, put into one, or written as a model of their own."""
from __future__ import annotations

from typing import Any, Mapping, Optional, Sequence

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._core import Model
from .flat import dense_model

Arrays = Mapping[str, NDArray[np.float32]]
ENDS = {"softmax": "SOFTMAX", "sigmoid": "LOGISTIC"}


def read_head(model: Model) -> dict[str, NDArray[np.float32]]:
    """The arrays of a model's last layer: "head/weights" [n_outputs, n_features] and "head/bias" [n_outputs], of quantized
    ones the numbers that they stand for. Raises UnsupportedError if the model has no such layer."""
    n_outputs = model.head()["n_classes"]
    core = _core.Trainer.create(model, {"n_classes": n_outputs, "loss.kind": "mse", "optimizer.kind": "sgd",
                                        "head.init": "shipped", "device": "cpu"}, [])
    arrays = {name: np.empty(shape, np.float32) for name, shape in core.info()["parameters"]}
    for name, array in arrays.items():
        core.read(name, array)
    return arrays


def with_head(model: Model, arrays: Arrays, labels: Sequence[str], *, loss: str = "softmax",
              append: bool = False) -> Model:
    """The model with another last layer, whose weights were fitted elsewhere.

    arrays : as Trainer.get_parameters() gives them, or read_head(): "head/weights" [n_labels, n_features] and "head/bias"
        [n_labels]; with a hidden layer "hidden/weights" and "hidden/bias", too.
    labels : names of the outputs, two or more.
    loss : "softmax", "sigmoid" or "mse": what the outputs are. A model that gives scores without SOFTMAX or LOGISTIC
        still does so.
    append : the model's output holds features, and gets the layer behind it.

    Raises NotFoundError for an array that the layer lacks, ValueError for one that is missing or has another shape.
    """
    options: dict[str, Any] = {"n_classes": len(labels), "loss.kind": loss, "optimizer.kind": "sgd", "head.append": int(append),
                               "device": "cpu"}
    if "hidden/bias" in arrays:
        options["head.n_hidden"] = len(arrays["hidden/bias"])
    core = _core.Trainer.create(model, options, [str(label) for label in labels])
    wanted = dict(core.info()["parameters"])
    for name, shape in wanted.items():
        if name not in arrays or tuple(np.shape(arrays[name])) != tuple(shape):
            found = f"has shape {np.shape(arrays[name])}" if name in arrays else "is missing"
            raise ValueError(f"{name!r} {found}; the layer takes {tuple(shape)}")
    for name, array in arrays.items():
        core.write(name, np.require(array, np.float32, ["C"]))
    return core.export()


def head_model(weights: Any, bias: Any, *, loss: Optional[str] = "sigmoid", shape: Optional[Sequence[int]] = None) -> Model:
    """A model that is a last layer alone, [1, n_features] -> [1, n_outputs] float32, for features that another model or
    program computes.

    weights, bias : [n_outputs, n_features] and [n_outputs].
    loss : "softmax" or "sigmoid": the outputs are probabilities; None: scores.
    shape : of the input, [1, ...] with n_features numbers; None: [1, n_features].
    """
    layer, offset = np.asarray(weights, np.float32), np.asarray(bias, np.float32)
    if layer.ndim != 2 or offset.shape != layer.shape[:1]:
        raise ValueError(f"weights {layer.shape} and bias {offset.shape} are not [n_outputs, n_features] and [n_outputs]")
    dims = (1, layer.shape[1]) if shape is None else tuple(shape)
    if dims[:1] != (1,) or int(np.prod(dims)) != layer.shape[1]:
        raise ValueError(f"an input of shape {dims} does not hold one example of {layer.shape[1]} features")
    end = None if loss is None else ENDS[loss]
    return Model.from_bytes(dense_model(layer.shape[1], layer.shape[0], end, dims, (layer, offset)))
