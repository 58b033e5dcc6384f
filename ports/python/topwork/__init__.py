"""Topwork runs .tflite models and re-trains their last layer on the device.

    model = topwork.Model.open("mobilenet.tflite")
    scores, = topwork.Session(model).run(picture)            # [1, 224, 224, 3] float32 -> [1, 1000] float32

    trainer = topwork.Trainer(model).fit(pictures, names)    # a scikit-learn estimator
    trainer.predict(others)
    trainer.export().save("mine.tflite")

topwork.tflite.Interpreter stands in for LiteRT's interpreter.
"""
from __future__ import annotations

from . import errors
from ._core import Model, TensorInfo, devices, merge_heads, version
from .errors import Error
from .features import Features, Scores
from .heads import head_model, read_head, with_head
from .learner import Learner, embedding_model
from .quantizer import Quantized, quantize
from .session import Session
from .trainer import Trainer

__version__ = version()
__all__ = ["Error", "Features", "Learner", "Model", "Quantized", "Scores", "Session", "TensorInfo", "Trainer", "__version__", "devices",
           "embedding_model", "errors", "head_model", "merge_heads", "quantize", "read_head", "with_head"]


def _model_from_bytes(data: bytes) -> Model:
    """What pickles of a model call."""
    return Model.from_bytes(data)
