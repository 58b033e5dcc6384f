"""Tensor types: the number of each in TFLite's TensorType and its NumPy kind.

Strings are arrays of bytes objects, their file form a table (see runtime/tensor/strings.h).
"""

import struct

import numpy as np

TYPES = {
    "float32": (0, np.float32),
    "float16": (1, np.float16),
    "int32": (2, np.int32),
    "uint8": (3, np.uint8),
    "int64": (4, np.int64),
    "string": (5, np.object_),
    "bool": (6, np.bool_),
    "int16": (7, np.int16),
    "complex64": (8, np.complex64),
    "int8": (9, np.int8),
    "float64": (10, np.float64),
    "complex128": (11, np.complex128),
    "uint64": (12, np.uint64),
    "resource": (13, np.int32),
    "uint32": (15, np.uint32),
    "uint16": (16, np.uint16),
}
# Types that NumPy does not have: of several elements a byte, and bfloat16.
PACKED = {"int4": 17, "int2": 19, "uint4": 20}
OTHERS = {**PACKED, "bfloat16": 18}


def raw_bytes(array):
    """An array as files and containers hold it."""
    if array.dtype != np.object_:
        return array.tobytes()
    strings = [bytes(s) for s in array.ravel()]
    offsets = [4 * (len(strings) + 2)]
    for string in strings:
        offsets.append(offsets[-1] + len(string))
    return struct.pack(f"<{len(offsets) + 1}i", len(strings), *offsets) + b"".join(strings)


def from_raw(data, kind, shape):
    if kind != np.object_:
        return np.frombuffer(data, kind).reshape(shape)
    n = struct.unpack_from("<i", data)[0]
    offsets = struct.unpack_from(f"<{n + 1}i", data, 4)
    out = np.empty(n, object)
    out[:] = [bytes(data[a:b]) for a, b in zip(offsets, offsets[1:])]
    return out.reshape(shape)
