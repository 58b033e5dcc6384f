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
    converted = picture.convert("RGB" if channels == 3 else "L")
    if converted.size != (width, height):
        converted = converted.resize((width, height), 2)
    return np.asarray(converted, dtype=np.uint8).reshape(height, width, channels)


def scaled(pixels: NDArray[Any], info: TensorInfo, scale: Scale) -> NDArray[Any]:
    """Pixels 0 to 255 as the input's elements: (pixel - mean) / std, and quantized where the input is.

    scale None: pixels of a float input are divided by 255; those of a quantized one pass as they are (uint8), or less
    128 (int8).
    """
    dtype = numpy_dtype(info.dtype)
    if scale is None and dtype == np.uint8:
        return pixels.astype(np.uint8)
    if scale is None and dtype == np.int8:
        return (pixels.astype(np.int16) - 128).astype(np.int8)
    mean, std = ((0.0,), (255.0,)) if scale is None else scale
    values = (pixels.astype(np.float32) - np.asarray(mean, np.float32)) / np.asarray(std, np.float32)
    if not info.scales:
        return values.astype(dtype)
    limits = np.iinfo(dtype)
    stored = np.round(values / info.scales[0]) + info.zero_points[0]
    return np.clip(stored, limits.min, limits.max).astype(dtype)


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
