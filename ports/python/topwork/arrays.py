"""Element types and arrays."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._core import TensorInfo

# bfloat16 comes as its bits, int4, uint4 and int2 as packed bytes (the first element in the lowest bits).
_NUMPY = {"bfloat16": "uint16", "int4": "uint8", "uint4": "uint8", "int2": "uint8", "string": "object"}
PACKED = ("int4", "uint4", "int2")


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The NumPy type of an element type: float32, ..., uint16 for bfloat16, uint8 for packed elements, object for
    strings (bytes)."""
    return np.dtype(_NUMPY.get(name, name))


def array_shape(info: TensorInfo) -> tuple[int, ...]:
    """The shape of a tensor's array; packed elements lie in one row of bytes."""
    return (info.nbytes,) if info.dtype in PACKED else info.shape


def from_any(values: Any) -> NDArray[Any]:
    """An array of NumPy, without a copy where the values are one or speak DLPack (PyTorch, JAX, CuPy on the CPU)."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "__dlpack__") and not hasattr(values, "__array_interface__"):
        return np.asarray(np.from_dlpack(values))
    return np.asarray(values)


def aligned_empty(shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Memory that begins at a multiple of 64 bytes, as devices that share the processor's memory want it."""
    n = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    raw = np.empty(n + 64, dtype=np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start:start + n].view(dtype).reshape(shape)


def to_tensor(values: Any, dtype: np.dtype[Any], name: str) -> NDArray[Any]:
    """The values as a C-contiguous array of this type; it is the same memory if they are one already. Numbers are
    converted where that loses nothing but digits (float64 to float32); otherwise TypeError."""
    array = from_any(values)
    if array.dtype != dtype:
        if not np.can_cast(array.dtype, dtype, casting="same_kind"):
            raise TypeError(f"'{name}' holds {dtype}, and {array.dtype} does not fit: convert it, e.g. by "
                            f"array.astype(numpy.{dtype})")
        array = array.astype(dtype)
    if type(array) is np.ndarray and (flags := array.flags).c_contiguous and flags.aligned:
        return array  # np.require takes ten times as long to say so
    return np.require(array, requirements=["C", "ALIGNED"])
