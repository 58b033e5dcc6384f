"""Features and predictions of large data sets on Ray: actors of ray.data.Dataset.map_batches, one session each.

    pictures = ray.data.read_images("s3://photos", size=(224, 224), mode="RGB", include_paths=True)  # "image" uint8, "path"
    table = topwork.ray.features(pictures, "mobilenet.tflite", n_actors=8).to_pandas()
    topwork.Trainer().fit(np.stack(table["features"]), names)

    topwork.ray.predictions(pictures, "mine.tflite", n_actors=8).write_parquet("answers")            # scores and labels

    topwork.ray.write(pictures, "photos.parquet", "mobilenet.tflite", key="path", n_actors=8)        # each row exactly once

Ray starts an actor that has died anew and gives it its batch again. What write() has done survives the end of the whole
program, too: called again, it goes on.
"""
from __future__ import annotations

import hashlib
import os
import pathlib
import shutil
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import NDArray

from ._core import Model
from .features import Features, Scores

Batch = dict[str, NDArray[Any]]


class Actor:
    """What an actor calls for each batch; the functions below give it to Ray."""

    def __init__(self, kind: str, model: Union[Model, str], column: str, output: str, n_threads: int,
                 input_scale: Optional[tuple[Sequence[float], Sequence[float]]], key: str, folder: str) -> None:
        self._rows = (Features if kind == "features" else Scores)(model, n_threads=n_threads, input_scale=input_scale)
        self._labels = np.array(self._rows.labels) if kind == "scores" else np.array([])
        self._column, self._output, self._key, self._folder = column, output, key, folder

    def __call__(self, batch: Batch) -> Batch:
        """The batch with `output`, [n, ...] float32, in place of `column`; with scores of a model that has labels `label`, too.
        With a folder: the batch's keys and output go there as one file, and the number of rows comes back."""
        rows = self._rows(np.asarray(batch[self._column]))
        others = {name: array for name, array in batch.items() if name != self._column}
        made = {**others, self._output: rows}
        if len(self._labels) == rows.shape[1]:
            made["label"] = self._labels[rows.argmax(axis=1)]
        if not self._folder:
            return made
        _write_part(pathlib.Path(self._folder), self._key, made)
        return {"n": np.array([len(rows)])}


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
    return _mapped(dataset, "features", model, column, output, n_actors, batch_size, n_threads, input_scale)


def predictions(dataset: Any, model: Union[Model, str], *, column: str = "image", output: str = "scores", n_actors: int = 1,
                batch_size: int = 32, n_threads: int = 1,
                input_scale: Optional[tuple[Sequence[float], Sequence[float]]] = None) -> Any:
    """A ray.data.Dataset with what the model answers for each row: `output`, [n_outputs] float32, in place of `column`, and
    `label`, the name of the largest, where the model has as many labels. Parameters as for features()."""
    return _mapped(dataset, "scores", model, column, output, n_actors, batch_size, n_threads, input_scale)


def write(dataset: Any, path: Union[str, "os.PathLike[str]"], model: Union[Model, str], *, key: str, kind: str = "features",
          column: str = "image", n_actors: int = 1, batch_size: int = 32, n_threads: int = 1,
          input_scale: Optional[tuple[Sequence[float], Sequence[float]]] = None) -> int:
    """Writes the features (kind "features") or scores ("scores") of all rows into a Parquet file, each row exactly once,
    whatever dies meanwhile. Returns the number of rows.

    Until the file is there, each batch that is done lies as a file in the folder `path`.parts; a call with the same path
    leaves out what it finds there. On several machines both must be in a folder that all of them see.

    key : the column that tells rows apart, as "path"; strings or integers. Rows of one key are taken for the same row.
    Others as for features(). Raises ValueError if the file or its parts are of another model or kind.
    """
    import pyarrow.parquet

    if kind not in ("features", "scores"):
        raise ValueError(f"kind is 'features' or 'scores', not {kind!r}")
    path = pathlib.Path(path)
    parts = path.with_name(path.name + ".parts")
    whole = model if isinstance(model, Model) else Model.open(model)
    origin = f"{kind} of {hashlib.sha256(bytes(whole)).hexdigest()}, input scale {input_scale}"
    if path.exists():
        _check_origin(path, str(pyarrow.parquet.read_schema(path).metadata.get(b"topwork", b"").decode()), origin)
        return int(pyarrow.parquet.read_metadata(path).num_rows)
    parts.mkdir(parents=True, exist_ok=True)
    mark = parts / "origin"
    if mark.exists():
        _check_origin(parts, mark.read_text(encoding="utf-8"), origin)
    else:
        _write_whole(mark, origin.encode())
    done = {value for part in sorted(parts.glob("*.parquet")) for value in _keys(part, key)}
    left = dataset.filter(_Missing(key, done)) if done else dataset
    mapped = _mapped(left, kind, model, column, kind, n_actors, batch_size, n_threads, input_scale, key, str(parts.resolve()))
    for _ in mapped.iter_batches(batch_size=None):
        pass
    n_rows = _join(parts, path, key, origin)
    shutil.rmtree(parts)
    return n_rows


class _Missing:
    """Whether a row is not there yet."""

    def __init__(self, key: str, done: set[Any]) -> None:
        self._key, self._done = key, done

    def __call__(self, row: dict[str, Any]) -> bool:
        return row[self._key] not in self._done


def _mapped(dataset: Any, kind: str, model: Union[Model, str], column: str, output: str, n_actors: int, batch_size: int,
            n_threads: int, input_scale: Any, key: str = "", folder: str = "") -> Any:
    settings = {"kind": kind, "model": model, "column": column, "output": output, "n_threads": n_threads,
                "input_scale": input_scale, "key": key, "folder": folder}
    return dataset.map_batches(Actor, fn_constructor_kwargs=settings, concurrency=n_actors, num_cpus=n_threads,
                               batch_size=batch_size, batch_format="numpy")


def _keys(part: pathlib.Path, key: str) -> list[Any]:
    import pyarrow.parquet
    values: list[Any] = pyarrow.parquet.read_table(part, columns=[key]).column(key).to_pylist()
    return values


def _write_part(folder: pathlib.Path, key: str, batch: Batch) -> None:
    """A file whose name depends on its keys alone: a batch that is done twice is one file."""
    import pyarrow
    import pyarrow.parquet
    columns = {name: list(array) if array.ndim > 1 else array for name, array in batch.items()}
    table = pyarrow.table({name: columns[name] for name in batch})
    name = hashlib.sha256(repr(np.asarray(batch[key]).tolist()).encode()).hexdigest()
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink)
    _write_whole(folder / f"{name}.parquet", sink.getvalue().to_pybytes())


def _write_whole(path: pathlib.Path, data: bytes) -> None:
    """Whole or not at all, also where the machine loses its power."""
    draft = path.with_name(f"{path.name}.{os.uname().nodename}.{os.getpid()}.draft")
    with open(draft, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(draft, path)


def _join(parts: pathlib.Path, path: pathlib.Path, key: str, origin: str) -> int:
    """All parts as one file, without the rows whose key came before."""
    import pyarrow
    import pyarrow.parquet
    seen: set[Any] = set()
    draft = path.with_name(path.name + ".draft")
    writer = None
    for part in sorted(parts.glob("*.parquet")):
        table = pyarrow.parquet.read_table(part)
        values = table.column(key).to_pylist()
        first = []
        for value in values:
            first.append(value not in seen)
            seen.add(value)
        if writer is None:
            writer = pyarrow.parquet.ParquetWriter(draft, table.schema.with_metadata({"topwork": origin}))
        writer.write_table(table.filter(pyarrow.array(first)).replace_schema_metadata({"topwork": origin}))
    if writer is None:
        raise ValueError("the data set has no rows")
    writer.close()
    with open(draft, "rb") as file:
        os.fsync(file.fileno())
    os.replace(draft, path)
    return len(seen)


def _check_origin(path: pathlib.Path, found: str, wanted: str) -> None:
    if found != wanted:
        raise ValueError(f"{path} holds {found or 'something else'}, not {wanted}: remove it, or give another path")
