"""Sweeps of WHERE, BROADCAST_ARGS and BITCAST over types."""

import numpy as np

from build import rng_for
from cases import Table, c
from dtypes import TYPES
from sweeps import data, sweep

NAN, INF = float("nan"), float("inf")
SHAPES = ((1,), (2,), (7,), (17,), (67,), (1, 1), (3, 4), (5, 1), (1, 19), (2, 3, 4), (1, 1, 7),
          (3, 1, 2), (1, 2, 3, 5), (2, 5, 1, 3), (2, 1, 2, 1, 3), (1, 2, 1, 2, 1, 3), (4, 4),
          (2, 33), (9,))


def _where():
    """At least one element is true: LiteRT's Python interface cannot read empty answers."""
    t = Table("SWEEP_WHERE")
    for dtype in ("bool", "float32", "int32", "int64", "int8", "uint8", "uint32"):
        rng, uses = rng_for("WHERE/" + dtype), []
        for shape in SHAPES:
            values = rng.randint(0 if dtype[0] in "ub" else -1, 2, shape)
            values.reshape(-1)[-1] = 1
            uses.append((data(values=values), dict(out="int64")))
        last = [0.0, -0.0, NAN, INF, 1e-30] if dtype == "float32" else [1, 0, 0, 100, 1]
        sweep(t, "WHERE", dtype, uses + [(data(values=last), dict(out="int64"))], quantized=False)
    return t


def _shapes():
    t = Table("SWEEP_BROADCAST_ARGS")
    pairs = (([3], [3]), ([1], [7]), ([7], [1]), ([2, 3], [3]), ([3], [2, 3]), ([2, 1], [1, 5]),
             ([1, 1, 4], [3, 1]), ([2, 3, 4], [2, 3, 4]), ([1], [1]), ([5, 1, 1], [1, 2, 3]),
             ([4], [1, 2, 1, 4]), ([0], [1]), ([1, 3], [0, 3]), ([2, 1, 2, 1, 3], [1, 2, 1]),
             ([1, 1], [2, 67]), ([9, 1], [9, 8]), ([1, 2, 1, 2], [3, 1, 5, 1]), ([0, 1], [1, 4]),
             ([6], [2, 1, 1, 1, 6]), ([8, 1, 6, 1], [7, 1, 5]))
    for dtype in ("int32", "int64"):
        uses = [(data(values=a), c(values=b, dtype=dtype) if k % 2 else data(values=b))
                for k, (a, b) in enumerate(pairs)]
        sweep(t, "BROADCAST_ARGS", dtype, uses, lo=0, hi=9)
    return t


def _bits():
    t = Table("SWEEP_BITCAST")
    sizes = {1: ("int8", "uint8"), 2: ("int16", "uint16"), 4: ("float32", "int32", "uint32"),
             8: ("int64",)}
    plain = ((), (7,), (1, 1), (2, 3), (1, 2, 3, 2), (0, 4))
    for source in (name for names in sizes.values() for name in names):
        size, uses = np.dtype(TYPES[source][1]).itemsize, []
        for shape in plain:
            for other, names in sizes.items():
                if other > size and shape == (0, 4):
                    continue
                wide = shape + (other // size,) if other > size else shape
                uses.append((wide, dict(out=names[len(uses) % len(names)])))
        sweep(t, "BITCAST", source, uses, quantized=False)
    return t


def tables():
    return [_where(), _shapes(), _bits()]
