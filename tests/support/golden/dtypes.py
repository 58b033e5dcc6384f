"""Tensor types: the number of each in TFLite's TensorType and its NumPy kind."""

import numpy as np

TYPES = {
    "float32": (0, np.float32),
    "float16": (1, np.float16),
    "int32": (2, np.int32),
    "uint8": (3, np.uint8),
    "int64": (4, np.int64),
    "bool": (6, np.bool_),
    "int16": (7, np.int16),
    "complex64": (8, np.complex64),
    "int8": (9, np.int8),
    "float64": (10, np.float64),
    "complex128": (11, np.complex128),
    "uint64": (12, np.uint64),
    "uint32": (15, np.uint32),
    "uint16": (16, np.uint16),
}
