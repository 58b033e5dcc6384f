"""Sparse constants: DENSIFY, and FULLY_CONNECTED on sparse weights."""

import numpy as np

from build import rng_for
from cases import ACTIVATIONS, Table
from sheets import Sheet

SHAPES = ((2, 8), (1, 4), (3, 4), (5,), (4, 4), (2, 1, 4), (17,), (1, 2, 1, 4), (3, 1), (1, 12))


def _kept(rng, shape, dtype, block, share):
    """Random values, a share of whose blocks of columns is left."""
    values = rng.randint(-120, 121, shape)
    values[values == 0] = 1
    kept = rng.uniform(size=shape[:-1] + (shape[-1] // block,)) < share
    values = values * np.repeat(kept, block, -1)
    return values.astype(np.int8) if dtype == "int8" else (values / 32).astype(dtype)


def _densify():
    table = Table("SWEEP_VERSION_DENSIFY")
    for dtype in ("float32", "float16", "int8"):
        sheet, rng = Sheet("DENSIFY", dtype), rng_for("DENSIFY/" + dtype)
        for index in range(20):
            shape = SHAPES[index % 10]
            block = 4 if index % 3 == 2 and shape[-1] % 4 == 0 else 1
            array = _kept(rng, shape, dtype, block, (0.5, 0.1, 0.9, 0.3)[index % 4])
            array.reshape(-1)[:block] = 1  # something is left
            quantization = ((0.125,), (0,), 0) if dtype == "int8" else None
            sparse = sheet.graph.const_sparse(array, quantization, block)
            dense = sheet.graph.op("DENSIFY", [sparse], (dtype,), quantization=quantization)
            if dtype != "float32":
                dense = sheet.graph.op("DEQUANTIZE", [dense])
            sheet.add([sheet.x(shape, "float32"), dense], "float32", op="ADD")
        table.append(sheet.case())
    return table


def _full():
    table = Table("SWEEP_VERSION_SPARSE")
    for dtype in ("float32", "int8"):
        sheet, rng = Sheet("FULLY_CONNECTED", dtype), rng_for("FULLY_CONNECTED/sparse " + dtype)
        for index in range(20):
            units, depth = ((4, 8), (1, 16), (3, 12), (3, 4), (2, 24), (2, 20), (5, 4))[index % 7]
            rows, block = (1, 2, 3)[index % 3], (1, 4)[index % 2]
            if dtype == "int8":  # what LiteRT has: blocks of 16, a scale for each row
                units, depth, block = 1 + index % 3, (16, 32, 48)[index % 3], 16
            weights = _kept(rng, (units, depth), dtype, block, (0.5, 0.2, 0.8)[index % 3])
            weights.reshape(-1)[:block] = 1
            if dtype == "float32":
                inputs = [sheet.x((rows, depth), dtype), sheet.graph.const_sparse(weights, None, block)]
                bias = sheet.c((units,), "float32")
            else:
                scales = tuple(0.01 + 0.002 * k for k in range(units))
                inputs = [sheet.x((rows, depth), dtype, 0.05, index % 5 - 2),
                          sheet.graph.const_sparse(weights, (scales, (0,) * units, 0), block)]
                bias = sheet.c((units,), "int32", 0.001, lo=-3000, hi=3000)
            out = ("int8", 0.2, 3) if dtype == "int8" else ("float32",)
            sheet.add(inputs + [bias], *out, act=ACTIVATIONS[index % 4])
        table.append(sheet.case())
        # Of int8 LiteRT 2.3 has an optimized kernel only, which rounds twice.
        table.cases[-1].rtol = 1e-5 if dtype == "float32" else 1.0
    return table


def tables():
    return [_densify(), _full()]
