"""Operators of few models: segments, selections, transforms, random numbers, volumes, bits."""

import numpy as np

from cases import Table
from dtypes import TYPES
from sheets import LIMITS, Sheet

N = 20  # cases of every operator and type


def _segment_sum():
    table = Table("SEGMENT_SUM")
    for dtype in ("float32", "int32"):
        sheet = Sheet("SEGMENT_SUM", dtype)
        for index in range(N):
            rows = (1, 5, 8, 3, 13, 2)[index % 6]
            ids = np.cumsum(np.append(0, sheet.rng.randint(0, 2, rows - 1)))
            shape = (rows,) + ((), (3,), (2, 5), (1,), (4, 1, 2))[index % 5]
            data = sheet.x(shape, dtype, lo=-4, hi=4)
            make = sheet.ints if index % 2 else lambda v: sheet.x(None, "int32", values=v)
            sheet.add([data, make(ids)], dtype)
        table.append(sheet.case())
    table.add_refused("first_not_0", [("float32", (3, 2)), [1, 1, 2]])
    table.add_refused("grows_by_2", [("float32", (3, 2)), [0, 0, 2]])
    table.add_refused("sinks", [("float32", (3, 2)), [0, 1, 0]])
    return table


def _unsorted(kind):
    op = "UNSORTED_SEGMENT_" + kind
    table = Table(op)
    for dtype in ("float32", "int32"):
        sheet = Sheet(op, dtype)
        for index in range(N):
            head = ((4,), (7,), (2, 3), (1,), (3, 1), (9,))[index % 6]
            tail = ((), (3,), (2, 5), (1,), (17,))[index % 5]
            n = (1, 4, 3, 6)[index % 4]
            ids = sheet.rng.randint(-1 if index % 3 == 0 else 0, n, head)
            data = sheet.x(head + tail, dtype, lo=-4, hi=4)
            make = sheet.ints if index % 2 else lambda v: sheet.x(None, "int32", values=v)
            sheet.add([data, make(ids), sheet.ints(n if index % 3 else [n])], dtype)
        table.append(sheet.case())
    table.add_refused("id_too_large", [("float32", (3, 2)), [0, 1, 2], 2])
    table.add_refused("not_a_prefix", [("float32", (3, 2)), [0, 1], 2])
    return table


def _unique():
    table = Table("UNIQUE")
    for dtype in ("float32", "int8", "uint8", "int16", "int32", "int64"):
        sheet = Sheet("UNIQUE", dtype)
        for index in range(N):
            n = (1, 2, 5, 9, 17, 40)[index % 6]
            values = sheet.rng.randint(0, (2, 4, 100)[index % 3], n)
            if dtype == "float32":
                values = values * 0.25 - 1
            out = ("int32", "int64")[index % 2]
            sheet.add([sheet.x(None, dtype, values=values)], (dtype, out), n_out=2,
                      idx_out_type=TYPES[out][0])
        table.append(sheet.case())
    table.add_refused("rank_2", [("float32", (3, 2))], n_out=2)
    return table


def _boxes(rng, n, spread):
    corner = rng.uniform(0, spread, (n, 2))
    size = rng.uniform(0.2, 2, (n, 2))
    boxes = np.concatenate([corner, corner + size], 1)
    flipped = rng.randint(0, 2, n).astype(bool)  # the corners may come in any order
    boxes[flipped] = boxes[flipped][:, [2, 3, 0, 1]]
    return boxes


def _suppression(version):
    op = f"NON_MAX_SUPPRESSION_V{version}"
    table = Table(op)
    table.rtol = 1e-5
    sheet = Sheet(op, "float32")
    for index in range(N + 4):
        n = (1, 6, 12, 30, 3, 50)[index % 6]
        boxes = sheet.x(None, "float32", values=_boxes(sheet.rng, n, (1, 3, 8)[index % 3]))
        scores = sheet.x((n,), "float32", lo=0, hi=1)
        most = sheet.ints((0, 1, 5, 10, 40, 3)[index * 5 % 6])
        limits = [(0.5, 0.3), (0.1, 0.0), (0.8, 0.5), (1.0, -1.0)][index % 4]
        scalars = [sheet.c(None, "float32", values=v) for v in limits]
        args = [boxes, scores, most] + scalars
        outs = ["int32", "int32"]
        if version == 5:
            args.append(sheet.c(None, "float32", values=(0.0, 0.5, 0.1, 2.0, 1.0)[index % 5]))
            outs.insert(1, "float32")
        sheet.add(args, tuple(outs), n_out=len(outs))
    table.append(sheet.case())
    for run_time in range(2):  # the size of the answer known at run time only
        sheet = Sheet(op, f"size_at_run_time_{run_time}")
        args = [sheet.x(None, "float32", values=_boxes(sheet.rng, 8, 3)),
                sheet.x((8,), "float32", lo=0, hi=1),
                sheet.x(None, "int32", values=4 + run_time)]
        args += [sheet.x(None, "float32", values=v) for v in (0.4, 0.2, 0.5)[:version - 2]]
        sheet.add(args, ("int32", "float32", "int32") if version == 5 else ("int32", "int32"),
                  n_out=version - 2)
        table.append(sheet.case())
    return table


def _fake_quant():
    table = Table("FAKE_QUANT")
    sheet = Sheet("FAKE_QUANT", "float32")
    for index in range(N + 4):
        shape = ((3, 5), (17,), (1, 2, 3, 2), (1,), (), (2, 0, 3))[index % 6]
        low, high = ((-1, 1), (0, 6), (-3.3, 0), (-1e-3, 2e-3), (-500, 1000), (-0.1, 0.7))[index % 6]
        lo, hi = 1.3 * low - 0.1 * high, 1.3 * high - 0.1 * low
        sheet.add([sheet.x(shape, "float32", lo=lo, hi=hi)], "float32", min=low, max=high,
                  num_bits=(8, 4, 16, 2, 7, 1)[index * 5 % 6])
    table.append(sheet.case())
    table.add_refused("narrow_range", [("float32", (3,))], min=-1.0, max=1.0, num_bits=8,
                      narrow_range=True)
    return table


def _transform():
    table = Table("RFFT2D")
    sheet = Sheet("RFFT2D", "float32")
    for index in range(N):
        shape = ((4, 4), (8, 2), (1, 3, 5), (2, 2, 4, 8), (1, 16), (16, 1), (3, 7, 6))[index % 7]
        # LiteRT's transform of one row or column is wrong.
        size = ((4, 4), (8, 8), (2, 4), (16, 2), (4, 32), (2, 2))[index % 6]
        sheet.add([sheet.x(shape, "float32"), sheet.ints(size)], "complex64")
    table.append(sheet.case())
    parts = []
    for op, out in (("REAL", 0), ("IMAG", 0), ("COMPLEX_ABS", 0)):
        part = Table(op)
        part.rtol = 1e-6
        for dtype, real in (("complex64", "float32"), ("complex128", "float64")):
            sheet = Sheet(op, dtype)
            for index in range(N):
                shape = ((3, 5), (17,), (1, 2, 3, 2), (1,), (), (2, 0, 3))[index % 6]
                scale = (1, 1e18, 1e-18, 3)[index % 4]
                a, b = (sheet.rng.uniform(-scale, scale, shape) for _ in range(2))
                data = np.asarray(a + 1j * b)
                sheet.add([sheet.x(None, dtype, values=data)], real)
            part.append(sheet.case())
        parts.append(part)
    return [table] + parts


def _random():
    tables = []
    for op in ("RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"):
        table = Table(op)
        table.rtol = 1e-6
        for index in range(N):
            shape = ((4, 4), (7,), (1, 2, 3), (33,), (1,), (2, 5))[index % 6]
            seeds = ((1, 0), (0, 1), (42, 43), (-5, 2**40 + 3), (2**33, -1))[index % 5]
            if op[7] == "S":
                shape = shape[:-1] + (shape[-1] * 2,)  # LiteRT writes behind an odd end
            table.add(f"{index}", [_const(shape)], seed=seeds[0], seed2=seeds[1])
        tables.append(table)
    table = Table("MULTINOMIAL")
    for dtype in ("int32", "int64"):
        for index in range(N):
            batch, classes = ((1, 4), (3, 7), (2, 1), (5, 33))[index % 4]
            rng = np.random.RandomState(index)
            logits = rng.uniform(-3, 3, (batch, classes)).astype(np.float32)
            if index % 5 == 4:
                logits[0, 0] = -np.inf
            table.add(f"{dtype}_{index}",
                      [_input(logits), _const((1, 4, 7, 16)[index * 3 % 4])], out=dtype,
                      seed=index + 1, seed2=7 * index)
    return tables + [table]


def _const(values):
    from cases import c
    return c(values=values, dtype="int32")


def _input(array):
    from cases import x
    return x(values=array, dtype=str(array.dtype))


def _bucketize():
    table = Table("BUCKETIZE")
    for dtype in ("float32", "float64", "int32", "int64"):
        sheet = Sheet("BUCKETIZE", dtype)
        for index in range(N):
            shape = ((3, 5), (17,), (1, 2, 3, 2), (1,), (), (2, 0, 3))[index % 6]
            boundaries = ([0.0], [-5.0, 0.0, 0.5, 9.0], [], [1.0, 1.0, 2.0], [-1e9, 1e9])[index % 5]
            values = sheet.rng.randint(-10, 20, shape) / (1 if dtype[0] == "i" else 2)
            sheet.add([sheet.x(None, dtype, values=values)], "int32", boundaries=boundaries)
        table.append(sheet.case())
    table.add_refused("boundaries_not_sorted", [("float32", (3,))], boundaries=[1.0, 0.0])
    return table


SHAPES = (((2, 3, 5), (2, 3, 5)), ((), ()), ((3, 7), (1,)), ((1,), (3, 7)), ((2, 3, 4), (4,)),
          ((4,), (2, 3, 4)), ((3, 1), (3, 4)), ((2, 1, 3, 1), (1, 4, 1, 5)), ((0, 3), (0, 3)),
          ((131,), (131,)))


def _bits(op):
    table = Table(op)
    for dtype in ("int8", "uint8", "int16", "uint16", "int32", "uint32"):
        kind = np.iinfo(TYPES[dtype][1])
        sheet = Sheet(op, dtype)
        for index in range(N):
            left, right = SHAPES[index % len(SHAPES)]
            args = [sheet.x(None, dtype, values=sheet.rng.randint(kind.min, int(kind.max) + 1, left,
                                                                  dtype=np.int64))]
            if op == "RIGHT_SHIFT":
                values = sheet.rng.randint(-3 if kind.min else 0, 36, right)
            else:
                values = sheet.rng.randint(kind.min, int(kind.max) + 1, right, dtype=np.int64)
            args.append((sheet.c if index % 4 == 3 else sheet.x)(None, dtype, values=values))
            sheet.add(args, dtype)
        table.append(sheet.case())
    return table


def _dilate():
    table = Table("DILATE")
    for dtype in ("float32", "int8", "uint8", "int16", "int32", "int64", "bool"):
        sheet = Sheet("DILATE", dtype)
        for index in range(N):
            shape, factors = (((3,), (2,)), ((3, 3), (2, 3)), ((2, 4), (1, 1)), ((1, 2, 3), (5, 2, 1)),
                              ((2, 2, 1, 3), (1, 2, 3, 1)), ((4, 1), (3, 7)))[index % 6]
            factors = sheet.ints(factors) if index % 2 else sheet.x(None, "int32", values=factors)
            lo, hi = (0, 1) if dtype == "bool" else (-2, 2) if dtype == "float32" else (0, 100)
            sheet.add([sheet.x(shape, dtype, lo=lo, hi=hi), factors,
                       sheet.c(None, dtype, values=(0, 1, 7)[index % 3])], dtype)
        table.append(sheet.case())
    return table


def _volumes():
    conv, back = Table("CONV_3D"), Table("CONV_3D_TRANSPOSE")
    for table in (conv, back):
        table.rtol = 1e-5
        sheet = Sheet(table.op, "float32")
        for index in range(N + 4):
            size = ((4, 4, 4), (3, 5, 6), (5, 3, 4), (2, 7, 5), (1, 1, 3))[index % 5]
            taps = ((2, 2, 2), (1, 1, 1), (3, 2, 1), (1, 3, 2))[index % 4]
            strides = ((1, 1, 1), (2, 1, 2), (1, 2, 1))[index % 3]
            dilations = ((1, 1, 1), (1, 2, 1), (2, 1, 1))[index % 7 % 3]
            padding = ("SAME", "VALID")[index % 2]
            inner, outer, batch = (1, 2, 3, 5)[index % 4], (3, 1, 4)[index % 3], 1 + index % 5 % 2
            span = [(t - 1) * d + 1 for t, d in zip(taps, dilations)]
            if padding == "VALID":
                size = tuple(max(n, s) for n, s in zip(size, span))
            out = [-(-n // s) if padding == "SAME" else -(-(n - w + 1) // s)
                   for n, s, w in zip(size, strides, span)]
            options = dict(padding=padding, act=("NONE", "RELU", "RELU6", "RELU_N1_TO_1")[index % 4],
                           stride_d=strides[0], stride_h=strides[1], stride_w=strides[2],
                           dilation_d_factor=dilations[0], dilation_h_factor=dilations[1],
                           dilation_w_factor=dilations[2])
            make = sheet.c if index % 3 else sheet.x
            bias = [make((outer,), "float32")] if index % 4 else []
            if table is conv:
                args = [sheet.x((batch,) + size + (inner,), "float32"),
                        make(taps + (inner, outer), "float32")]
            else:
                args = [sheet.ints((batch,) + size + (outer,)),
                        make(taps + (outer, inner), "float32"),
                        sheet.x((batch,) + tuple(out) + (inner,), "float32")]
            sheet.add(args + bias, "float32", **options)
        table.append(sheet.case())
    return [conv, back]


def _lookups():
    sparse, hashed, lsh = (Table("EMBEDDING_LOOKUP_SPARSE"), Table("HASHTABLE_LOOKUP"),
                           Table("LSH_PROJECTION"))
    sheet = Sheet(sparse.op, "float32")
    for index in range(N):
        rows = ((3,), (2, 2), (4,), (1, 3))[index % 4]
        n = (5, 1, 9, 3)[index * 3 % 4]
        columns = 6
        places = np.sort(sheet.rng.randint(0, int(np.prod(rows)) * columns, n))
        indices = np.stack(np.unravel_index(places, rows + (columns,)), 1)
        tail = ((4,), (2, 3), (1,))[index % 3]
        sheet.add([sheet.x((n,), "int32", lo=0, hi=6), sheet.x(None, "int32", values=indices),
                   sheet.ints(rows + (columns,)), sheet.x((n,), "float32", lo=0.1, hi=2),
                   sheet.c((7,) + tail, "float32")], "float32", combiner=index % 3)
    sparse.append(sheet.case())
    for dtype in ("float32", "int32", "int8", "int64"):
        sheet = Sheet(hashed.op, dtype)
        for index in range(N):
            n = (1, 4, 7)[index % 3]
            keys = np.sort(sheet.rng.choice(20, n, False))
            lookups = sheet.rng.randint(0, 20, (1, 3, 5)[index * 5 % 3])
            tail = ((), (3,), (2, 2))[index // 3 % 3]
            sheet.add([sheet.x(None, "int32", values=lookups), sheet.x(None, "int32", values=keys),
                       sheet.x((n,) + tail, dtype, lo=-9, hi=9)], (dtype, "uint8"), n_out=2)
        hashed.append(sheet.case())
    for dtype in ("float32", "int32", "int8", "int64"):
        sheet = Sheet(lsh.op, dtype)
        for index in range(N):
            hashes, bits = ((2, 3), (1, 8), (4, 5), (3, 1))[index % 4]
            rows = (1, 3, 5)[index % 3]
            tail = ((), (3,), (2, 2), (17,), (40,))[index % 5]
            args = [sheet.c((hashes, bits), "float32"),
                    sheet.x((rows,) + tail, dtype, lo=-100, hi=100)]
            if index % 3 == 1:
                args.append(sheet.x((rows,), "float32"))
            sheet.add(args, "int32", type=1 + index % 2)
        lsh.append(sheet.case())
    return [sparse, hashed, lsh]


def tables():
    return ([_segment_sum()] + [_unsorted(kind) for kind in ("SUM", "PROD", "MAX", "MIN")] +
            [_unique(), _suppression(4), _suppression(5), _fake_quant(), _bucketize(),
             _bits("BITWISE_XOR"), _bits("RIGHT_SHIFT"), _dilate()] + _transform() + _random() +
            _volumes() + _lookups())
