"""One list of operators' uses, swept over types: a sheet (sheets.py) for each operator and type.

A use is a tuple of inputs, ended by a dict of options where it has any. An input is
  (2, 3)    data of the swept type, known at run time; uses of one sheet share equal ones
  [1, 0]    an int32 constant, 1 an int32 scalar
  data(), const()  the same of the swept type with limits, values or a quantization of their own
  x(), c()  what cases.py says
Among the options stand op (where the sheet has several operators), out (the type of the results),
n_out and version.
"""

import numpy as np

from cases import Spec
from dtypes import TYPES
from sheets import LIMITS, ZEROS, Sheet

SWEPT = "swept"
BYTES = ("uint8", "int8")
WHOLE = ("int32", "int64")
COMMON = ("float32", "bool", "int16") + WHOLE + BYTES
# Types that operators only move; with few different values, which keeps files small.
RARE = ("float16", "uint32")
EVERY = COMMON + RARE
SCALE = 1 / 20  # of int8, uint8 and int16


def data(*shape, lo=None, hi=None, values=None, quantization=None):
    """quantization: a scale (or one a channel) and a zero point."""
    return Spec(shape, SWEPT, lo, hi, values, False, quantization)


def const(*shape, lo=None, hi=None, values=None, quantization=None):
    return Spec(shape, SWEPT, lo, hi, values, True, quantization)


def draw(rng, dtype, shape, lo=None, hi=None):
    """Integers of the type's whole range (or of [lo, hi]), both ends among them; floats from -4
    to 4 (or lo to hi) in steps of 1/64, which float16 holds, too."""
    kind = np.dtype(TYPES[dtype][1])
    if kind.kind == "b":
        return np.asarray(rng.randint(0, 2, shape)).astype(kind)
    if kind.kind == "f":
        lo, hi = (-4, 4) if lo is None else (lo, hi)
        return (np.asarray(rng.randint(int(lo * 64), int(hi * 64) + 1, shape)) / 64).astype(kind)
    lo, hi = (int(np.iinfo(kind).min), int(np.iinfo(kind).max)) if lo is None else (lo, hi)
    words = rng.randint(0, 2**32, (int(np.prod(shape)), 2), dtype=np.int64).tolist()
    flat = [int((high * 2**32 + low) % (hi - lo + 1) + lo) for high, low in words]
    if len(flat) > 3:
        flat[0], flat[-1] = lo, hi
    values = np.array(flat, kind).reshape(shape)
    return values


class Sweep:
    """The sheet of one operator and type under construction."""

    def __init__(self, op, dtype, name, lo=None, hi=None, quantized=True):
        self.dtype, self.lo, self.hi = dtype, lo, hi
        self.sheet, self.op, self.made = Sheet(op, name), op, {}
        self.scale, self.zero = ((SCALE, ZEROS[dtype][0]) if quantized and dtype in LIMITS else
                                 (None, 0))

    def _spec(self, spec):
        swept = spec.dtype == SWEPT
        dtype = self.dtype if swept else spec.dtype
        scale, zero = spec.quantization or ((self.scale, self.zero) if swept else (None, 0))
        if spec.values is not None:
            values = np.array(spec.values, TYPES[dtype][1])
        else:
            lo, hi = (self.lo, self.hi) if spec.lo is None else (spec.lo, spec.hi)
            values = draw(self.sheet.rng, dtype, spec.shape, lo, hi)
        make = self.sheet.c if spec.constant else self.sheet.x
        return make(None, dtype, scale, zero, values=values)

    def _input(self, value, used):
        if value is None:
            return None
        if isinstance(value, Spec):
            return self._spec(value)
        if isinstance(value, (list, int)):
            key = repr(value)
            if key not in self.made:
                self.made[key] = self.sheet.ints(value)
            return self.made[key]
        key = (value, sum(v == value for v in used))
        used.append(value)
        if key not in self.made:
            self.made[key] = self._spec(data(*value))
        return self.made[key]

    def add(self, use):
        options = dict(use[-1]) if use and isinstance(use[-1], dict) else {}
        inputs = use[:-1] if use and isinstance(use[-1], dict) else use
        used = []
        indices = [self._input(value, used) for value in inputs]
        out = options.pop("out", self.dtype)
        out = self.dtype if out == SWEPT else out
        scale, zero = (self.scale, self.zero) if out == self.dtype else (None, 0)
        self.sheet.add(indices, out, scale, zero, **options)


def sweep(table, op, dtype, uses, rtol=0.0, name="", **options):
    """Appends the case of an operator (its name where the sheet has several) and a type.

    Of int64 a second case has every fourth use: its values do not fit into the 32 bits that a GPU
    gives them.
    """
    if dtype == "int64" and not name and "lo" not in options:
        sweep(table, op, dtype, uses[::4], rtol, "wide", **options)
        options, uses = dict(options, lo=-2**31, hi=2**31 - 1), [
            use for k, use in enumerate(uses) if k % 4]
    name = f"{op.lower()}_{dtype}" + (f"_{name}" if name else "")
    made = Sweep(op, dtype, name, **options)
    for use in uses:
        made.add(use)
    case = made.sheet.case()
    case.rtol = rtol
    table.append(case)


def but(types, *absent):
    return tuple(dtype for dtype in types if dtype not in absent)


def each(table, op, dtypes, uses, **options):
    """A sweep over each of the types."""
    for dtype in dtypes:
        limits = dict(lo=0, hi=7) if dtype in RARE else {}
        sweep(table, op, dtype, uses, **options, **limits)
