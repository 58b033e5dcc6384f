"""Sweeps of element-wise operators over types, shapes and extreme values."""

from cases import Table
from sweeps import const, data, sweep

NAN, INF, MOST = float("nan"), float("inf"), 3.4e38
SHAPES = ((2,), (3,), (8,), (33,), (67,), (1, 1), (5, 3), (1, 19), (1, 1, 7), (2, 5, 1, 3), (0,),
          (2, 0, 3))
MORE = ((), (1,), (7,), (17,), (3, 5), (2, 3, 4), (1, 2, 3, 5), (2, 1, 2, 1, 3), (0, 4))
PAIRS = (((), ()), ((7,), (7,)), ((67,), (67,)), ((1, 1, 1), (1, 1, 1)), ((3, 4), (3, 1)),
         ((3, 1), (3, 4)), ((4,), (2, 3, 4)), ((2, 1, 3, 1), (1, 4, 1, 5)),
         ((2, 1, 2, 3), (4, 1, 3)), ((1, 3, 3, 5), (1, 1, 1, 5)), ((1,), (3, 7)),
         ((3, 7), (1,)), ((2, 1, 2, 1, 3), (1, 2, 2, 2, 1)), ((1, 2, 1, 2, 1, 3),) * 2,
         ((0, 3), (0, 3)), ((2, 0, 3), (1, 1, 3)), ((17,), ()), ((), (1, 19)))


def _functions():
    t = Table("SWEEP_FUNCTIONS")
    sine = ("SIN", "COS")
    exact = ("ABS", "CEIL", "FLOOR", "ROUND", "SIGN", "SQUARE", "RELU6", "RELU_0_TO_1",
             "RELU_N1_TO_1", "ZEROS_LIKE", "NEG")
    for ops, limits in ((exact + sine + ("GELU", "LEAKY_RELU"), {}),
                        (("SQRT", "RSQRT", "LOG"), dict(lo=1 / 64, hi=9))):
        for op in ops:
            options = {"GELU": dict(approximate=True), "LEAKY_RELU": dict(alpha=0.3)}.get(op, {})
            uses = [(shape, options) for shape in SHAPES]
            sweep(t, op, "float32", uses, 0.0 if op in exact else 1e-5, **limits)
    # One at a time: the tolerance follows the largest answer.
    uses = [(data(values=[v]), dict(op=op)) for op in ("ABS", "CEIL", "FLOOR", "ROUND", "SQUARE",
                                                       "SQRT", "RSQRT", "LOG", "NEG")
            for v in (NAN, INF, MOST, 1e-30)]
    uses += [(data(values=[v]), dict(op=op)) for op in exact[6:9] for v in (INF, -INF, MOST, -MOST)]
    uses += [(data(values=[v]), dict(op=op)) for op in sine for v in (NAN, 1e-30, 1e4)]
    sweep(t, "EXTREMES", "float32", uses, 1e-5)
    for op, dtype, limits in (("ABS", "int32", dict(lo=-2**31 + 1, hi=2**31 - 1)),
                              ("NEG", "int32", dict(lo=-2**31 + 1, hi=2**31 - 1)),
                              ("NEG", "int64", dict(lo=-2**63 + 1, hi=2**63 - 1)),
                              ("SIGN", "int32", {}), ("ZEROS_LIKE", "int32", {}),
                              ("ZEROS_LIKE", "int64", {}), ("LOGICAL_NOT", "bool", {})):
        sweep(t, op, dtype, [(shape,) for shape in SHAPES + MORE], **limits)
    return t


def _rows():
    t = Table("SWEEP_ROWS")
    rows = ((2, 1), (1, 8), (5, 3), (2, 33), (1, 131), (1, 1, 7), (2, 5, 1, 3), (3, 2, 1, 1),
            (0, 3), (2, 3, 17))
    sweep(t, "L2_NORMALIZATION", "float32", [(shape,) for shape in rows], 1e-5)
    uses = [(shape,) for shape in rows + ((1, 1, 2, 1, 3),)]
    uses += [(data(values=v),) for v in ([[80, -80, 0]], [[1e4, 1e4, -1e4]], [[-1e30, 0, 1]])]
    sweep(t, "LOG_SOFTMAX", "float32", uses, 1e-5)
    uses = [((n, 1 + h, 2, depth), dict(radius=radius, bias=bias, alpha=alpha, beta=beta))
            for n, h, depth, radius, bias, alpha, beta in
            ((1, 0, 1, 0, 1.0, 1.0, 0.5), (2, 1, 3, 1, 1.0, 0.1, 0.75),
             (1, 2, 7, 2, 2.0, 1e-4, 0.75),
             (1, 0, 17, 5, 1.0, 0.5, 1.0), (1, 1, 5, 9, 0.5, 1.0, 0.25),
             (2, 0, 2, 1, 3.0, 2.0, 2.0),
             (1, 0, 33, 3, 1.0, 0.01, 0.9), (3, 2, 4, 0, 1.0, 1.0, 0.5),
             (1, 1, 8, 2, 1.5, 0.2, 0.5),
             (1, 0, 6, 4, 1.0, 1e-3, 1.0), (1, 0, 9, 1, 1.0, 1.0, 0.0),
             (2, 1, 19, 2, 1.0, 0.3, 0.6))]
    sweep(t, "LOCAL_RESPONSE_NORMALIZATION", "float32", uses, 1e-5)
    pairs = (((2, 3, 4), (3, 1)), ((2, 3, 4), (2, 1, 1)), ((5,), (1,)), ((1, 1, 1, 1), (1,)),
             ((1, 2, 2, 33), (1, 1, 33)), ((3, 1), (1, 1)), ((1, 4, 2, 3), (1, 4, 2, 3)),
             ((2, 1, 131), (131,)), ((2, 2, 3, 5), (2, 3, 5)), ((0, 3), (3,)), ((), ()))
    sweep(t, "PRELU", "float32", [(a, const(*b)) for a, b in pairs])
    return t


def _conversions():
    t = Table("SWEEP_CAST")
    outs = ("float32", "int32", "int64", "bool", "int8", "float16", "int16", "uint8")
    shapes = ((33,), (2, 3, 4), (), (1, 2, 1, 2, 3), (0, 3), (1, 1), (5, 3))
    for dtype in ("uint8", "int16", "int64", "uint16", "uint32", "float64"):
        limits = dict(lo=-60000, hi=60000) if dtype == "int64" else {}
        uses = [(shapes[(index * 3 + k) % 7], dict(out=out)) for index, out in enumerate(outs)
                for k in (0, 1, 2) if out != dtype]
        sweep(t, "CAST", dtype, uses, quantized=False, **limits)
    ends = [(data(values=[-2**63, 2**63 - 1, -2**31 - 1, 2**32 + 5, 2**53 + 1, 0]), dict(out=out))
            for out in ("float32", "int32", "bool", "uint8")]
    sweep(t, "CAST", "int64", ends, name="ends")
    for dtype, zeros in (("uint8", (0, 255, 128, 3)), ("int8", (0, -128, 127, 5)),
                         ("int16", (0,) * 4)):
        uses = []
        for index, shape in enumerate(SHAPES + MORE):
            scale = (1 / 3, 1e-5, 250.0, 1.0, 2.0**-7)[index % 5]
            uses.append((data(*shape, quantization=(scale, zeros[index % 4])),
                         dict(out="float32")))
        sweep(t, "DEQUANTIZE", dtype, uses, 1e-6)
    return t


def _arithmetic():
    t = Table("SWEEP_ARITHMETIC")
    int32 = dict(lo=-2**30, hi=2**30 - 1)
    int64 = dict(lo=-2**62, hi=2**62 - 1)
    for op, dtype, limits in (("ADD", "int32", int32), ("ADD", "int64", int64),
                              ("SUB", "int32", int32), ("SUB", "int64", int64),
                              ("MUL", "int32", dict(lo=-46340, hi=46340)),
                              ("MUL", "int64", dict(lo=-3 * 10**9, hi=3 * 10**9)),
                              ("MAXIMUM", "int32", {}), ("MAXIMUM", "int64", {}),
                              ("MINIMUM", "int32", {}), ("MINIMUM", "int64", {}),
                              ("SQUARED_DIFFERENCE", "int32", dict(lo=-23000, hi=23000)),
                              ("LOGICAL_AND", "bool", {}), ("LOGICAL_OR", "bool", {})):
        uses = list(PAIRS)
        if op in ("ADD", "SUB", "MUL"):
            small = dict(lo=-5, hi=9)
            uses += [(data(7, **small), data(7, **small), dict(fused_activation_function=act))
                     for act in ("RELU", "RELU6", "RELU_N1_TO_1")]
        sweep(t, op, dtype, uses, **limits)
    for op, dtypes in (("DIV", ("int32",)), ("FLOOR_DIV", ("int32",)),
                       ("FLOOR_MOD", ("int32", "int64"))):
        for dtype in dtypes:
            bits = 31 if dtype == "int32" else 63
            divisors = ((1, 9), (-9, -1), (1, 2**bits - 1), (-2**bits, -2))
            uses = [(left, data(*right, lo=divisors[k % 4][0], hi=divisors[k % 4][1]))
                    for k, (left, right) in enumerate(PAIRS)]
            sweep(t, op, dtype, uses, lo=-2**bits + 1, hi=2**bits - 1)
    uses = [(left, data(*right, lo=0, hi=9)) for left, right in PAIRS]
    sweep(t, "POW", "int32", uses, lo=-10, hi=10)
    uses = [(shape, shape) for shape in SHAPES]
    uses += [(data(values=[a]), data(values=[b])) for a, b in
             ((0.0, -0.0), (-0.0, -1.0), (INF, INF), (-INF, INF), (1.0, -INF), (NAN, 1.0),
              (1e-30, 1e30), (-MOST, 1.0))]
    sweep(t, "ATAN2", "float32", uses, 1e-5)
    uses = [(shape,) * (2 + k % 4) for k, shape in enumerate(SHAPES + MORE)]
    sweep(t, "ADD_N", "float32", uses, 1e-6)
    sweep(t, "ADD_N", "int32", uses, lo=-2**28, hi=2**28)
    return t


def _comparisons():
    t = Table("SWEEP_COMPARISONS")
    every = ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
    for dtype, ops in (("int32", every), ("int64", every), ("int16", every), ("bool", every[:2])):
        pairs = list(PAIRS)
        if dtype in ("int32", "int64"):
            pairs.append((data(values=[-2**31, 2**31 - 1, 16777217, 0]),
                          data(values=[2**31 - 1, -2**31, 16777216, 0])))
        else:
            pairs += [((2, 3), (3,)), ((1, 5), (1, 5))]
        uses = [pair + (dict(op=op, out="bool"),) for pair in pairs for op in ops]
        sweep(t, "COMPARE", dtype, uses, lo=-2, hi=2)
    ends = [(data(values=[-2**63, 2**53 + 1, 2**32, 0]),
             data(values=[2**63 - 1, 2**53, 0, -2**32]), dict(op=op, out="bool")) for op in every]
    sweep(t, "COMPARE", "int64", ends, name="ends")
    return t


def tables():
    return [_functions(), _rows(), _conversions(), _arithmetic(), _comparisons()]
