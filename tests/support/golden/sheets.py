"""Many operators of one kind in one model: how quantized cases keep their files small.

A Sheet is a graph whose operators share a few inputs; every operator's result is an output, so one
run checks them all. A model of 20 operators takes a fifth of 20 models of one.
"""

import numpy as np

from build import Graph, rng_for
from cases import Case, strings
from dtypes import TYPES

LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}
# Zero points that a tensor of the type may have; int16 is symmetric.
ZEROS = {"int8": (3, -128, 127, -17, 0), "uint8": (131, 0, 255, 100, 128), "int16": (0,) * 5}


def numbers(rng, shape, dtype, lo=None, hi=None):
    """Random integers of the whole range (or of [lo, hi]), both ends of it among them."""
    low, high = LIMITS.get(dtype, (-1000, 1000))
    lo, hi = low if lo is None else lo, high if hi is None else hi
    data = np.asarray(rng.randint(lo, hi + 1, shape)).astype(TYPES[dtype][1])
    flat = data.reshape(-1)
    if flat.size > 3:
        flat[0], flat[-1] = lo, hi
    return data


class Sheet:
    """One model under construction; x() and c() give tensors, add() uses them."""

    def __init__(self, op, name):
        self.op, self.name = op, name
        self.rng, self.graph, self.inputs = rng_for(f"{op}/{name}"), Graph(), []

    def _data(self, shape, dtype, lo, hi, values):
        if values is not None:
            return np.array(values, TYPES[dtype][1])
        if dtype == "string":
            return strings(self.rng, shape)
        if dtype.startswith("float"):
            lo, hi = (-2, 2) if lo is None else (lo, hi)
            return np.asarray(self.rng.uniform(lo, hi, shape)).astype(TYPES[dtype][1])
        return numbers(self.rng, shape, dtype, lo, hi)

    def x(self, shape, dtype, scale=None, zero=0, lo=None, hi=None, values=None):
        """A run-time input."""
        data = self._data(shape, dtype, lo, hi, values)
        self.inputs.append(data)
        return self.graph.input(data.shape, dtype, quantization=_quantization(scale, zero))

    def c(self, shape, dtype, scale=None, zero=0, lo=None, hi=None, values=None):
        """A constant."""
        return self.graph.const(self._data(shape, dtype, lo, hi, values),
                                _quantization(scale, zero))

    def ints(self, values, dtype="int32"):
        """A constant of plain integers."""
        return self.graph.const(np.array(values, TYPES[dtype][1]))

    def add(self, inputs, dtype, scale=None, zero=0, version=None, n_out=1, op=None, **options):
        """An operator whose results are outputs of the model."""
        if "act" in options:
            options["fused_activation_function"] = options.pop("act")
        types = (dtype,) * n_out if isinstance(dtype, str) else dtype
        result = self.graph.op(op or self.op, inputs, types, version, _quantization(scale, zero),
                               **options)
        self.graph.outputs += result if isinstance(result, list) else [result]
        return result

    def case(self, lsb=0, optimized=False):
        """lsb: how far integers may be from the reference's."""
        return Case(self.name, [self.graph], self.inputs, rtol=float(lsb) or 1e-6,
                    optimized=optimized)


def _quantization(scale, zero):
    if scale is None:
        return None
    scales = scale if isinstance(scale, (tuple, list)) else (scale,)
    return scales, (zero,) * len(scales), 0
