"""Packed int4 constants as real numbers: DEQUANTIZE and CAST."""

import numpy as np

from build import rng_for
from cases import Table
from dtypes import TYPES
from sheets import Sheet

SHAPES = ((3, 5), (17,), (2, 3, 4), (1, 1), (4, 3, 2, 2), (2, 33))


def tables():
    table = Table("INT4")
    for op in ("DEQUANTIZE", "CAST"):
        sheet = Sheet(op, "int4")
        rng = rng_for(f"{op}/int4 values")
        for index in range(20):
            shape = SHAPES[index % len(SHAPES)]
            values = rng.randint(-8, 8, shape).astype(np.int8)
            axis = index % len(shape) if index % 3 == 2 else 0
            n = shape[axis] if index % 3 == 2 else 1
            scales = [0.25 + 0.125 * k for k in range(n)]
            quantization = (scales, [0] * n, axis) if op == "DEQUANTIZE" else None
            options = {} if op == "DEQUANTIZE" else dict(in_data_type=17,
                                                         out_data_type=TYPES["float32"][0])
            result = sheet.add([sheet.graph.const_int4(values, quantization)], "float32",
                               **options)
            # The sum is what LiteRT computes at every run.
            sheet.graph.outputs.pop()
            x = sheet.x(shape, "float32")
            sheet.add([x, result], "float32", op="ADD")
        sheet.name = op.lower()
        table.append(sheet.case())
    return [table]
