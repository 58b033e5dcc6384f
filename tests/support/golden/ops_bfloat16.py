"""bfloat16 wherever LiteRT's kernels have it.

Python knows no such arrays: CAST makes them of float32 inputs, and float32 of results.
"""

import numpy as np

from cases import Table
from dtypes import OTHERS, TYPES
from sheets import Sheet

BF16 = "bfloat16"
SHAPES = ((3, 5), (17,), (2, 3, 4), (), (4, 3, 2, 2))


class Bfloat16(Sheet):

    def cast(self, tensor, to, of=BF16):
        number = {**OTHERS, **{name: kind[0] for name, kind in TYPES.items()}}
        return self.graph.op("CAST", [tensor], (to,), None, None, in_data_type=number[of],
                             out_data_type=number[to])

    def input(self, shape, lo=-9, hi=9):
        return self.cast(self.x(shape, "float32", lo=lo, hi=hi), BF16, "float32")

    def out(self, tensors):
        for tensor in tensors if isinstance(tensors, list) else [tensors]:
            self.graph.outputs.append(self.cast(tensor, "float32"))

    def run(self, op, inputs, n_out=1, **options):
        self.out(self.graph.op(op, inputs, (BF16,) * n_out, None, None, **options))


def casts():
    sheet = Bfloat16("CAST", "casts")
    for dtype in ("float32", "float16", "float64", "int8", "uint8", "int16", "uint16", "int32",
                  "uint32", "int64", "bool", "complex64"):
        for index in range(20):
            shape = SHAPES[index] if index < 3 else (1 + index % 4,)
            lo, hi = {"uint8": (0, 256), "int8": (-128, 128)}.get(dtype, (0, 40000))
            if dtype.startswith("float") or dtype in ("bool", "complex64"):
                data = sheet.rng.uniform(-60000, 60000, shape)
            else:
                data = sheet.rng.randint(lo, hi, shape)
            if dtype == "float32" and index == 0:
                data.ravel()[:6] = np.nan, np.inf, -np.inf, 3.4e38, 1.00390625, 1.01171875
            sheet.out(sheet.cast(sheet.x(shape, dtype, values=data), BF16, dtype))
            if index < 3:
                sheet.graph.outputs.append(sheet.cast(sheet.input(shape, -300, 300), dtype))
    return sheet.case()


def arithmetic():
    sheet = Bfloat16("NEG", "arithmetic")
    for index in range(20):
        shape = SHAPES[index % len(SHAPES)] if index < 8 else (1 + index % 3, 2)
        data, other = sheet.input(shape, -4, 4), sheet.input(shape, -4, 4)
        for op in ("NEG", "TANH", "LOGISTIC", "FLOOR", "ROUND"):
            sheet.run(op, [data])
        for op in ("MAXIMUM", "MINIMUM", "ATAN2"):
            sheet.run(op, [data, other])
        for op in ("LESS", "GREATER"):
            sheet.graph.outputs.append(sheet.graph.op(op, [data, other], ("bool",)))
    case = sheet.case()
    case.rtol = 8e-3  # a step of 8 bits, where functions lie between two of them
    return case


def moves():
    sheet = Bfloat16("RESHAPE", "moves")
    ints, rng = sheet.ints, sheet.rng
    for index in range(20):
        shape = ((1, 2, 4, 2), (2, 4, 2, 1), (1, 2, 2, 3), (4, 2, 2, 2))[index % 4]
        batch, rows, columns, depth = shape
        data, other = sheet.input(shape), sheet.input(shape)
        pads = rng.randint(0, 3, (4, 2))
        mirrored = np.minimum(pads, np.array(shape)[:, None] - 1)
        begin = [rng.randint(0, n) for n in shape]
        size = [rng.randint(1, n - b + 1) for b, n in zip(begin, shape)]
        axis = index % 4
        sheet.run("RESHAPE", [data, ints((-1, columns))])
        sheet.run("TRANSPOSE", [data, ints(rng.permutation(4))])
        sheet.run("EXPAND_DIMS", [data, ints(index % 5)])
        sheet.run("SQUEEZE", [data])
        sheet.run("SLICE", [data, ints(begin), ints(size)])
        sheet.run("STRIDED_SLICE", [data, ints((0, 0, columns, 0)), ints((batch, rows, 0, depth)),
                                    ints((1, 1 + index % 2, -1 - index % 2, 1))])
        sheet.run("GATHER", [data, ints(rng.randint(0, shape[axis], 3))], axis=axis)
        sheet.run("GATHER_ND", [data, ints(np.stack([rng.randint(0, batch, 3),
                                                     rng.randint(0, rows, 3)], 1))])
        sheet.run("CONCATENATION", [data, other], axis=axis)
        sheet.run("UNPACK", [data], n_out=shape[axis], axis=axis, num=shape[axis])
        sheet.run("TILE", [data, ints(rng.randint(1, 3, 4))])
        sheet.run("PAD", [data, ints(pads)])
        sheet.run("PADV2", [data, ints(pads), sheet.input(())])
        sheet.run("MIRROR_PAD", [data, ints(mirrored)], mode="REFLECT")
        sheet.run("REVERSE_V2", [data, ints([axis])])
        sheet.run("DYNAMIC_UPDATE_SLICE", [data, sheet.input(size), ints(begin)])
        flags = sheet.x(shape, "bool", lo=0, hi=1)
        sheet.run("SELECT", [flags, data, other])
        sheet.run("SELECT_V2", [flags, data, other])
        sheet.run("SPACE_TO_BATCH_ND", [data, ints((2, 2)), ints([[0, 0], [2 * (index % 2), 0]])])
        sheet.run("BATCH_TO_SPACE_ND", [sheet.input((4, 1 + index % 2, 2, 1)), ints((2, 2)),
                                        ints([[0, 0], [0, index % 3]])])
        sheet.run("RESIZE_NEAREST_NEIGHBOR", [data, ints(rng.randint(1, 6, 2))])
        sheet.run("EMBEDDING_LOOKUP", [ints(rng.randint(0, 3, 2)), sheet.input((3, 1 + axis))])
        sheet.run("BROADCAST_TO", [sheet.input((1, rows, 1, depth)), ints(shape)])
    return sheet.case()


def tables():
    table = Table("BFLOAT16")
    for case in (casts(), arithmetic(), moves()):
        table.append(case)
    return [table]
