"""Sweeps of reductions, cumulative sums and positions of extremes over types."""

from cases import Table
from sweeps import data, sweep

# shape, axes, keep_dims
REDUCTIONS = (((9,), [0], False), ((9,), [-1], True), ((1,), [0], False), ((2, 3), [0, 1], True),
              ((3, 5), [0], False), ((5, 3), [1], True), ((2, 3, 4), [1], False),
              ((2, 3, 4), [0, 2], False), ((2, 3, 4), [-1, -3], True), ((2, 3, 4), [2, 2], False),
              ((2, 3, 4), [2, 0], False), ((1, 1, 4), [0, 1], False), ((2, 3, 4, 5), [1, 2], False),
              ((2, 3, 4, 5), [3], True), ((1, 3, 2, 7), [-2, -3], False),
              ((2, 1, 2, 3, 2), [1, 3], False), ((1, 2, 1, 2, 3, 2), [4, 2], True),
              ((2, 33), 1, False), ((3, 17), 0, True), ((4, 1), [1], False))


def _reductions():
    t = Table("SWEEP_REDUCTIONS")
    for dtype in ("int32", "int64"):
        bits = 31 if dtype == "int32" else 63
        for op, limits in (("SUM", dict(lo=-2**(bits - 7), hi=2**(bits - 7))),
                           ("MEAN", dict(lo=-2**(bits - 7), hi=2**(bits - 7))),
                           ("REDUCE_MAX", {}), ("REDUCE_MIN", {}),
                           ("REDUCE_PROD", dict(lo=-1, hi=1))):
            uses = [(shape, axes, dict(keep_dims=keep)) for shape, axes, keep in REDUCTIONS]
            if op == "REDUCE_PROD":
                uses += [(data(2, 3, lo=-9, hi=9), axes, {}) for axes in ([0], [1], [0, 1])]
                uses += [(data(4, lo=2**15 - 9, hi=2**15 - 1), [0], {})] if dtype == "int64" else []
            sweep(t, op, dtype, uses, **limits)
    uses = [(shape, axes, dict(keep_dims=keep)) for shape, axes, keep in REDUCTIONS]
    for dtype in ("uint8", "int8", "int16"):  # without a scale the product wraps around
        sweep(t, "REDUCE_PROD", dtype, uses, quantized=False)
    return t


def _positions():
    """Ties: the first wins."""
    t = Table("SWEEP_POSITIONS")
    places = (((1,), 0), ((9,), 0), ((9,), -1), ((67,), 0), ((3, 5), 0), ((3, 5), 1), ((3, 5), -2),
              ((2, 33), -1), ((2, 3, 4), 0), ((2, 3, 4), 1), ((2, 3, 4), -1), ((1, 2, 3, 5), 3),
              ((1, 2, 3, 5), 2), ((2, 1, 2, 1, 3), -1), ((2, 2, 1, 2, 3), 1))
    for dtype in ("int32", "uint8", "int8", "bool"):
        uses = []
        for shape, axis in places:
            for limits in ({}, dict(lo=0, hi=2)):
                for op in ("ARG_MAX", "ARG_MIN"):
                    wide = len(uses) % 3 == 0
                    uses.append((data(*shape, **limits), axis,
                                 dict(op=op, out="int64" if wide else "int32",
                                      output_type=4 if wide else 2)))
        sweep(t, "ARG", dtype, uses, quantized=False)
    return t


def _cumsum():
    t = Table("SWEEP_CUMSUM")
    for dtype in ("float32", "int32", "int64"):
        bits = 24 if dtype == "int32" else 56
        limits = {} if dtype == "float32" else dict(lo=-2**bits, hi=2**bits)
        uses = []
        for index, (shape, axis) in enumerate((((1,), 0), ((33,), 0), ((5, 3), 0), ((5, 3), -1),
                                               ((2, 3, 4), 1), ((2, 3, 4), -1), ((1, 2, 3, 5), 2),
                                               ((2, 1, 2, 3, 2), 3), ((2, 17), 1), ((0, 3), 0))):
            for k in (index, index + 1 + index % 2):
                uses.append((shape, axis, dict(exclusive=k % 2 == 1, reverse=k // 2 % 2 == 1)))
        sweep(t, "CUMSUM", dtype, uses, 1e-5 if dtype == "float32" else 0.0, **limits)
    return t


def tables():
    return [_reductions(), _positions(), _cumsum()]
