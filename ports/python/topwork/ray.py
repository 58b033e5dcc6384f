"""Features of large data sets on Ray: actors of ray.data.Dataset.map_batches, one session each.

    pictures = ray.data.read_images("s3://photos", size=(224, 224), mode="RGB")       # a column "image", uint8
    table = topwork.ray.features(pictures, "mobilenet.tflite", n_actors=8).to_pandas()
    topwork.Trainer().fit(np.stack(table["features"]), names)
"""
from __future__ import annotations

from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._core import Model
from .features import Features


class FeatureActor:
    """What an actor calls for each batch; features() gives it to Ray."""

    def __init__(self, model: Union[Model, str], column: str, output: str, n_threads: int,
                 input_scale: Optional[tuple[Sequence[float], Sequence[float]]]) -> None:
        self._features = Features(model, n_threads=n_threads, input_scale=input_scale)
        self._column, self._output = column, output

    def __call__(self, batch: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """The batch without `column`, and with features [n, n_features] float32 as `output`."""
        values = np.asarray(batch[self._column])
        others = {name: array for name, array in batch.items() if name != self._column}
        return {**others, self._output: self._features(values)}


def features(dataset: Any, model: Union[Model, str], *, column: str = "image", output: str = "features", n_actors: int = 1,
             batch_size: int = 32, n_threads: int = 1,
             input_scale: Optional[tuple[Sequence[float], Sequence[float]]] = None) -> Any:
    """A ray.data.Dataset with the features of each row, computed when it is read.

    dataset : a ray.data.Dataset. Other columns stay; `column` holds examples of one shape as topwork.Features takes them,
        and is replaced by `output`, [n_features] float32.
    model : a topwork.Model, which is sent to the actors, or a path of one that every node has.
    n_actors, n_threads : actors, each with a session of its own of so many threads and as many of Ray's CPUs.
    batch_size : rows of a call.
    input_scale : (mean, std) by which pixels become inputs; None: as the model's metadata says.
    """
    settings = {"model": model, "column": column, "output": output, "n_threads": n_threads, "input_scale": input_scale}
    return dataset.map_batches(FeatureActor, fn_constructor_kwargs=settings, concurrency=n_actors, num_cpus=n_threads,
                               batch_size=batch_size, batch_format="numpy")
