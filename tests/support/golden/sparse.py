"""Sparse constants: the stored elements of an array and the format's SparsityParameters.

An array is walked outer dimension by outer dimension and then, where it has blocks, through the
block. The last outer dimension is compressed (CSR), all others are dense.
"""

import numpy as np
from ai_edge_litert import schema_py_generated as schema


def _ints(values):
    table = schema.Int32VectorT()
    table.values = np.array(values, np.int32)
    return schema.SparseIndexVector.Int32Vector, table


def compress(array, block=1):
    """(stored elements, SparsityParametersT); block: how many columns are kept or left out."""
    rank, columns = array.ndim, array.shape[-1] // block
    rows = array.reshape(-1, columns, block)
    stored, segments, indices = [], [0], []
    for row in rows:
        for column in range(columns):
            if row[column].any():
                indices.append(column)
                stored.append(row[column])
        segments.append(len(indices))
    levels = [_dense(size) for size in array.shape[:-1]] + [schema.DimensionMetadataT()]
    last = levels[-1]
    last.format = schema.DimensionType.SPARSE_CSR
    last.arraySegmentsType, last.arraySegments = _ints(segments)
    last.arrayIndicesType, last.arrayIndices = _ints(indices)
    parameters = schema.SparsityParametersT()
    parameters.blockMap = []
    if block > 1:
        levels.append(_dense(block))
        parameters.blockMap = [rank - 1]
    parameters.traversalOrder = list(range(len(levels)))
    parameters.dimMetadata = levels
    return np.array(stored, array.dtype).reshape(-1), parameters


def _dense(size):
    level = schema.DimensionMetadataT()
    level.format, level.denseSize = schema.DimensionType.DENSE, size
    return level
