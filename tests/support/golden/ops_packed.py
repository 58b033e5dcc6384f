"""Tensors of 2 and 4 bits: made of real numbers and turned into them, moved, looked up, multiplied by.

LiteRT's interpreter takes no such arrays from Python, so models make them of float32 inputs (CAST,
QUANTIZE) or hold them as constants, and turn them into float32 again.
"""

import numpy as np

from build import rng_for
from cases import Table
from dtypes import PACKED, TYPES
from sheets import Sheet

LIMITS = {"int2": (-2, 1), "int4": (-8, 7), "uint4": (0, 15)}
SHAPES = ((3, 5), (17,), (2, 3, 4), (1, 1), (4, 3, 2, 2), (2, 33), (), (7, 1, 3))
COUNT = 20


def number(dtype):
    return PACKED.get(dtype) or TYPES[dtype][0]


class Packed(Sheet):
    """A sheet of one operator and one packed type."""

    def __init__(self, op, dtype, name=None):
        super().__init__(op, name or f"{op.lower()}_{dtype}")
        self.dtype = dtype

    def values(self, shape):
        lo, hi = LIMITS[self.dtype]
        return np.asarray(self.rng.randint(lo, hi + 1, shape))

    def real(self, shape, scale=1.0):
        """A float32 input that reaches beyond the type's range, fractions and halves among it."""
        lo, hi = LIMITS[self.dtype]
        data = self.rng.randint(4 * (lo - 3), 4 * (hi + 3) + 1, shape) / 4 * scale
        return self.x(shape, "float32", values=np.asarray(data, np.float32))

    def cast(self, tensor, to, final=True):
        of = self.dtype if to == "float32" else "float32"
        result = self.add([tensor], to, op="CAST", in_data_type=number(of),
                          out_data_type=number(to))
        if not final:
            self.graph.outputs.pop()
        return result

    def input(self, shape):
        """A tensor of the type that only a run knows: the integers of a float32 input."""
        data = self.x(shape, "float32", values=self.values(shape).astype(np.float32))
        return self.cast(data, self.dtype, final=False)

    def moved(self, inputs, op=None, **options):
        """The operator's result as float32."""
        result = self.add(inputs, self.dtype, op=op, **options)
        self.graph.outputs.pop()
        return self.cast(result, "float32")


def made_of_constants(op, dtype):
    """CAST and DEQUANTIZE of constants; the sum is what LiteRT computes at every run."""
    sheet = Packed(op, dtype)
    for index in range(COUNT):
        shape = SHAPES[index % len(SHAPES)]
        axis = index % len(shape) if index % 3 == 2 and shape else 0
        n = shape[axis] if index % 3 == 2 and shape else 1
        scales = [0.25 + 0.125 * k for k in range(n)]
        lo, hi = LIMITS[dtype]
        zeros = [lo + (index + k) % (hi - lo + 1) for k in range(n)]
        quantization = (scales, zeros, axis) if op == "DEQUANTIZE" else None
        options = {} if op == "DEQUANTIZE" else dict(in_data_type=number(dtype), out_data_type=0)
        made = sheet.add([sheet.graph.const_packed(sheet.values(shape), dtype, quantization)],
                         "float32", **options)
        sheet.graph.outputs.pop()
        sheet.add([sheet.x(shape, "float32"), made], "float32", op="ADD")
    return sheet.case()


def cast_to(dtype):
    sheet = Packed("CAST", dtype, f"cast_to_{dtype}")
    for index in range(COUNT):
        shape = SHAPES[index % len(SHAPES)]
        data = sheet.real(shape)
        if index == 0:
            sheet.inputs[-1].ravel()[:4] = np.nan, np.inf, -np.inf, 1e30
        sheet.cast(sheet.cast(data, dtype, final=False), "float32")
    return sheet.case()


def quantize(dtype):
    sheet = Packed("QUANTIZE", dtype)
    lo, hi = LIMITS[dtype]
    for index in range(COUNT):
        scale = (0.5, 0.1, 1.0, 3.0)[index % 4]
        zero = lo + index % (hi - lo + 1)
        data = sheet.real(SHAPES[index % len(SHAPES)], scale)
        made = sheet.add([data], dtype, scale, zero)
        sheet.graph.outputs.pop()
        sheet.add([made], "float32", op="DEQUANTIZE")
    return sheet.case()


def reshaped(dtype):
    """RESHAPE, EXPAND_DIMS, SQUEEZE: the bytes stay as they are."""
    sheet = Packed("RESHAPE", dtype)
    for index in range(COUNT):
        shape = SHAPES[index % 5]
        data = sheet.input(shape)
        sheet.moved([data, sheet.ints((-1,) if index % 2 else shape[::-1])], new_shape=None)
        larger = sheet.add([data, sheet.ints(index % (len(shape) + 1))], dtype, op="EXPAND_DIMS")
        sheet.graph.outputs.pop()
        sheet.cast(larger, "float32")
        sheet.moved([larger], op="SQUEEZE", squeeze_dims=[])
    return sheet.case()


def transpose(dtype):
    sheet = Packed("TRANSPOSE", dtype)
    for index in range(2 * COUNT if dtype == "uint4" else COUNT):
        shape = ((3, 5), (2, 3, 4), (4, 3, 2, 2), (7, 1, 3), (2, 3, 1, 2, 3))[index % 5]
        if dtype == "uint4":  # five dimensions have a version of their own
            shape = (2, 1, 1, 2, 3) if index >= COUNT else shape[:4]
        sheet.moved([sheet.input(shape), sheet.ints(sheet.rng.permutation(len(shape)))])
    return sheet.case()


def slices():
    sheet = Packed("SLICE", "int4")
    for index in range(COUNT):
        shape = ((3, 5), (17,), (2, 3, 4), (4, 3, 2, 2), (2, 3, 1, 2, 3))[index % 5]
        begin = [sheet.rng.randint(0, n) for n in shape]
        size = [sheet.rng.randint(1, n - b + 1) for b, n in zip(begin, shape)]
        if index % 4 == 3:
            size[-1] = -1
        sheet.moved([sheet.input(shape), sheet.ints(begin), sheet.ints(size)])
    return sheet.case()


def joined():
    sheet = Packed("CONCATENATION", "int4")
    for index in range(COUNT):
        shape = list(((3, 5), (17,), (2, 3, 4), (4, 3, 2, 2))[index % 4])
        axis = index % len(shape)
        parts = []
        for k in range(1 + index % 4):
            shape[axis] = 1 + (index + k) % 3
            parts.append(sheet.graph.const_packed(sheet.values(shape), "int4") if k % 2 else
                         sheet.input(shape))
        sheet.moved(parts, axis=axis - (len(shape) if index % 2 else 0))
    return sheet.case()


def updated():
    sheet = Packed("DYNAMIC_UPDATE_SLICE", "int4")
    for index in range(COUNT):
        shape = ((3, 5), (17,), (2, 3, 4), (4, 3, 2, 2))[index % 4]
        box = [sheet.rng.randint(1, n + 1) for n in shape]
        start = [sheet.rng.randint(-1, n + 1) for n in shape]  # clamped
        sheet.moved([sheet.input(shape), sheet.input(box), sheet.ints(start)])
    return sheet.case()


def gathered():
    """Slices of whole bytes: of others LiteRT 2.3 gives other values' halves."""
    sheet = Packed("GATHER", "int4")
    for index in range(COUNT):
        shape = ((3, 6), (5, 2), (2, 3, 4), (4, 3, 2, 2))[index % 4]
        axis = index % (len(shape) - 1)
        ids = sheet.rng.randint(0, shape[axis], (2, 3) if index % 3 == 2 else (4,))
        data = (sheet.graph.const_packed(sheet.values(shape), "int4") if index % 5 == 4 else
                sheet.input(shape))
        where = sheet.x(ids.shape, "int32", values=ids)
        sheet.moved([data, where], axis=axis)
    return sheet.case()


def looked_up(dtype):
    """EMBEDDING_LOOKUP in a table of the type; rows of whole bytes, as above."""
    sheet = Packed("EMBEDDING_LOOKUP", dtype)
    for index in range(COUNT):
        shape = ((3, 8), (5, 4), (2, 3, 4), (4, 2, 2, 2))[index % 4]
        ids = sheet.x((4,), "int32", values=sheet.rng.randint(0, shape[0], 4))
        data = (sheet.input(shape) if index % 3 == 2 else
                sheet.graph.const_packed(sheet.values(shape), dtype))
        sheet.moved([ids, data])
    return sheet.case()


def looked_up_as_real(dtype):
    """The same as float32 and float16, with one scale or one a row."""
    sheet = Sheet("EMBEDDING_LOOKUP", f"embedding_lookup_{dtype}_as_real")
    for index in range(2 * COUNT):
        shape = ((3, 8), (5, 4), (2, 3, 4), (4, 2, 2, 2))[index % 4]
        n = shape[0] if index // 4 % 2 else 1
        quantization = ([float(s) for s in sheet.rng.uniform(0.01, 2, n)], [0] * n, 0)
        if dtype in LIMITS:
            lo, hi = LIMITS[dtype]
            table = sheet.graph.const_packed(sheet.rng.randint(lo, hi + 1, shape), dtype,
                                             quantization)
        else:
            # LiteRT takes bytes of uint8 for those of int8.
            data = sheet.rng.randint(0, 256, shape).astype(np.uint8).astype(dtype)
            table = sheet.graph.const(data, quantization)
        ids = sheet.x((4,), "int32", values=sheet.rng.randint(0, shape[0], 4))
        sheet.add([ids, table], "float16" if index % 2 else "float32")
    return sheet.case()


def looked_up_in_blocks(dtype):
    """The same with a scale for each block of a row."""
    sheet = Sheet("EMBEDDING_LOOKUP", f"embedding_lookup_{dtype}_in_blocks")
    lo, hi = LIMITS[dtype]
    for index in range(COUNT):
        rows, columns, block = ((3, 8, 4), (5, 12, 4), (2, 32, 16), (4, 64, 32))[index % 4]
        scales = sheet.rng.uniform(0.01, 2, (rows, columns // block))
        table = sheet.graph.const_blocks(sheet.rng.randint(lo, hi + 1, (rows, columns)), dtype,
                                         scales, block)
        ids = sheet.x((4,), "int32", values=sheet.rng.randint(0, rows, 4))
        sheet.add([ids, table], "float16" if index % 2 else "float32")
    return sheet.case()


def fully_connected(name, data, per_channel, bias="int32", asymmetric=False):
    """Weights of int2 with every kind of data."""
    sheet = Sheet("FULLY_CONNECTED", f"fully_connected_int2_{name}")
    for index in range(COUNT):
        units, depth = ((4, 9), (1, 5), (17, 3), (6, 32), (33, 13))[index % 5]
        n = units if per_channel and units > 1 else 1
        scales = [float(s) for s in sheet.rng.uniform(0.05, 0.4, n).astype(np.float32)]
        weights = sheet.graph.const_packed(sheet.rng.randint(-2, 2, (units, depth)), "int2",
                                           (scales, [0] * n, 0))
        options = dict(act=("NONE", "RELU", "RELU6", "RELU_N1_TO_1")[index % 4],
                       keep_num_dims=index % 7 == 6)
        shape = (3, depth) if index % 3 else (2, 2, depth)
        if data == "float32":
            inputs = [sheet.x(shape, data), weights, None]
            if index % 2:
                inputs[2] = sheet.c((units,), data)
            sheet.add(inputs, data, asymmetric_quantize_inputs=asymmetric, **options)
            continue
        zero = (index % 5) * 7 - 11 if data == "int8" else 0
        scale = 0.03 if data == "int8" else 0.0002
        inputs = [sheet.x(shape, data, scale, zero), weights, None]
        if index % 4:
            inputs[2] = sheet.graph.const(
                sheet.rng.randint(-300, 300, units).astype(bias),
                ([float(np.float32(s * np.float32(scale))) for s in scales], [0] * n, 0))
        if data == "int16":
            options["quantized_bias_type"] = number(bias)
        spread = 4.0 * np.sqrt(depth) * np.median(scales)
        sheet.add(inputs, data, float(spread / (128 if data == "int8" else 32768)),
                  -zero if data == "int8" else 0, **options)
    # Real sums within 1e-5; integers are the reference's.
    case = sheet.case()
    case.rtol = 1e-5 if data == "float32" else case.rtol
    return case


def tables():
    table = Table("PACKED")
    for dtype in ("int2", "uint4"):
        table.append(made_of_constants("CAST", dtype))
        table.append(made_of_constants("DEQUANTIZE", dtype))
    for dtype in LIMITS:
        table.append(cast_to(dtype))
        table.append(reshaped(dtype))
        table.append(looked_up(dtype))
    for dtype in ("int4", "uint4"):
        table.append(quantize(dtype))
        table.append(transpose(dtype))
    for case in (slices(), joined(), updated(), gathered()):
        table.append(case)
    for dtype in ("int2", "int4", "int8", "uint8"):
        table.append(looked_up_as_real(dtype))
    for dtype in ("int2", "int4"):
        table.append(looked_up_in_blocks(dtype))
    for case in (fully_connected("hybrid", "float32", False),
                 fully_connected("hybrid_per_channel", "float32", True),
                 fully_connected("hybrid_asymmetric", "float32", True, asymmetric=True),
                 fully_connected("int8", "int8", False),
                 fully_connected("int8_per_channel", "int8", True),
                 fully_connected("int16", "int16", False, "int64"),
                 fully_connected("int16_per_channel", "int16", True),):
        table.append(case)
    return [table]
