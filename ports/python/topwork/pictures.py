"""Makes inputs of a model from what users have: arrays of any size, pictures of PIL, rows of numbers."""
from __future__ import annotations

from typing import Any, Callable, Optional, Sequence, Tuple, Union

import numpy as np
from numpy.typing import NDArray

from ._core import TensorInfo
from .arrays import from_any, numpy_dtype

Scale = Optional[Tuple[Sequence[float], Sequence[float]]]


def is_picture(value: Any) -> bool:
    """Whether the value is a picture of PIL (or of a class with the same methods)."""
    return hasattr(value, "resize") and hasattr(value, "convert") and hasattr(value, "getbands")


def are_pictures(values: Any) -> bool:
    """Whether these are pictures of PIL: a list, or another sequence (not a tuple), which may open each one as it is read."""
    if isinstance(values, list):
        return bool(values) and all(is_picture(value) for value in values)
    is_other = isinstance(values, (tuple, str, dict)) or hasattr(values, "shape") or not hasattr(values, "__getitem__")
    return not is_other and hasattr(values, "__len__") and len(values) > 0 and is_picture(values[0])


class Lazy:
    """Examples that are made one by one, as they are read: all at once, as numbers, would take four times the memory of
    their pixels and more."""

    def __init__(self, n: int, make: Callable[[int], NDArray[Any]]) -> None:
        self._n = n
        self._make = make

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, index: int) -> NDArray[Any]:
        return self._make(index)


def _pixels(picture: Any, info: TensorInfo) -> NDArray[Any]:
    """[height, width, channels] uint8 in the size of the input, resized bilinearly."""
    if len(info.shape) != 4 or info.shape[3] not in (1, 3):
        raise ValueError(f"'{info.name}' has shape {info.shape}: pictures need [1, height, width, 1 or 3]")
    height, width, channels = info.shape[1:]
    mode = "RGB" if channels == 3 else "L"
    converted = picture if getattr(picture, "mode", None) == mode else picture.convert(mode)
    if converted.size != (width, height):
        converted = converted.resize((width, height), 2)
    return np.asarray(converted, dtype=np.uint8).reshape(height, width, channels)


def scaled(pixels: NDArray[Any], info: TensorInfo, scale: Scale) -> NDArray[Any]:
    """Pixels 0 to 255 as the input's elements: (pixel - mean) / std, and quantized where the input is.

    scale None: pixels of a float input are divided by 255; those of a quantized one pass as they are (uint8), or less
    128 (int8).
    """
    if scale is not None and not {len(numbers) for numbers in scale} <= {1, pixels.shape[-1]}:
        raise ValueError(f"'{info.name}' has {pixels.shape[-1]} channels, but the scale of pixels is one for "
                         f"{max(len(numbers) for numbers in scale)}")
    dtype = numpy_dtype(info.dtype)
    if dtype == np.float32 and not info.scales:
        return _moved(pixels.astype(np.float32), scale)
    table = _table(info, scale)
    if len(table) == 1:
        same = table.dtype == np.uint8 and np.array_equal(table[0], np.arange(256))
        return pixels if same else table[0].take(pixels)
    found = np.empty(pixels.shape, table.dtype)
    for channel, numbers in enumerate(table):
        found[..., channel] = numbers.take(pixels[..., channel])
    return found


def _moved(values: NDArray[np.float32], scale: Scale) -> NDArray[np.float32]:
    """(value - mean) / std in place; mean and std are those of the last axis."""
    mean, std = ((0.0,), (255.0,)) if scale is None else scale
    values -= np.asarray(mean, np.float32)
    values /= np.asarray(std, np.float32)
    return values


def _table(info: TensorInfo, scale: Scale) -> NDArray[Any]:
    """[1 or channels, 256]: the input's integer for each value of a pixel. There are fewer of them than pixels of a picture,
    whose arithmetic would make several arrays of its size."""
    dtype = numpy_dtype(info.dtype)
    n = 1 if scale is None else max(len(numbers) for numbers in scale)
    values: NDArray[Any] = np.repeat(np.arange(256, dtype=np.float32)[:, None], n, axis=1)
    if scale is None and dtype in (np.uint8, np.int8):
        values -= 128 if dtype == np.int8 else 0
    else:
        values = _moved(values, scale)
        if info.scales:
            limits = np.iinfo(dtype)
            values = np.clip(np.round(values / info.scales[0]) + info.zero_points[0], limits.min, limits.max)
    return np.ascontiguousarray(values.T, dtype)


def source(values: Any, info: TensorInfo, scale: Scale) -> Union[NDArray[Any], Lazy]:
    """Examples [n, ...] of an input, from an array of n examples or a sequence of n pictures. Rows of as many numbers as
    the input has are shaped as the input is; float64 becomes float32. Pictures, and pixels (uint8 for a float input),
    are scaled when they are read."""
    if isinstance(values, tuple):
        values = list(values)
    if are_pictures(values):
        return Lazy(len(values), lambda index: scaled(_pixels(values[index], info), info, scale))
    array = from_any(values)
    dtype = numpy_dtype(info.dtype)
    if array.dtype == np.uint8 and dtype == np.float32 and array.ndim == len(info.shape):
        shaped = _shaped(array, info)
        return Lazy(len(shaped), lambda index: scaled(shaped[index], info, scale))
    if array.dtype != dtype:
        if not np.can_cast(array.dtype, dtype, casting="same_kind"):
            raise TypeError(f"'{info.name}' holds {info.dtype}, and {array.dtype} does not fit: convert it")
        array = array.astype(dtype)
    return np.require(_shaped(array, info), requirements=["C", "ALIGNED"])


def examples(values: Any, info: TensorInfo, scale: Scale) -> NDArray[Any]:
    """What `source` gives, as one array."""
    given = source(values, info, scale)
    return given if isinstance(given, np.ndarray) else np.stack([given[i] for i in range(len(given))])


def _shaped(array: NDArray[Any], info: TensorInfo) -> NDArray[Any]:
    n = array.shape[0] if array.ndim else 0
    if array.shape[1:] == info.shape[1:]:
        return array
    if n == 0 or array.size != n * int(np.prod(info.shape)):
        raise ValueError(f"an example has shape {array.shape[1:]}, the model's input '{info.name}' {info.shape[1:]}")
    return array.reshape(n, *info.shape[1:])
