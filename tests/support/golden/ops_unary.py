"""Element-wise operators with one input, PRELU, CAST and DEQUANTIZE."""

from cases import Case, Table, c, x
from build import Graph, rng_for

import numpy as np

NAN, INF = float("nan"), float("inf")
SHAPES = ((), (1,), (7,), (3, 5), (2, 3, 4), (1, 2, 3, 5), (17,), (2, 1, 2, 1, 3), (1, 2, 1, 2, 1,
                                                                                    3), (0, 4))


def _dims(shape):
    return f"rank{len(shape)}_" + "x".join(map(str, shape))


def _unary(op, special=(), lo=-4, hi=4, shapes=SHAPES, definition=None, **options):
    """special: values whose answers must hold as well (edges, infinities)."""
    t = Table(op, definition)
    for shape in shapes:
        t.add(_dims(shape), [x(*shape, lo=lo, hi=hi)], **options)
    if special and t.rtol == 0:
        t.add("special", [x(values=list(special))], **options)
    elif special:
        # One by one: the tolerance follows a case's largest answer.
        for value in special:
            t.add(f"of_{value}", [x(values=[value])], **options)
    return t


def _integers(table, dtypes, lo=-20, hi=20, **options):
    for dtype in dtypes:
        table.add(dtype, [x(3, 5, dtype=dtype, lo=lo, hi=hi)], out=dtype, **options)
        table.add(f"{dtype}_scalar", [x(dtype=dtype, lo=lo, hi=hi)], out=dtype, **options)
    return table


def _activations():
    edges = (-2, -1, -0.5, 0, 0.5, 1, 2, 6, 7, 1e6, -1e6)
    # LiteRT's RELU_N1_TO_1 and RELU_0_TO_1 take float32, uint8 and int8; RELU as well.
    tables = [_unary(op, edges) for op in ("RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1")]
    for t in tables:
        t.add("infinite", [x(values=[INF, -INF, 0])])
    t = Table("LEAKY_RELU")
    for alpha in (0.0, 0.01, 0.2, 1.0, 1.5, -0.5):
        t.add(f"alpha_{alpha}", [x(3, 7)], alpha=alpha)
    for shape in SHAPES:
        t.add(_dims(shape), [x(*shape)], alpha=0.1)
    tables.append(t)
    t = _unary("ELU", edges[:-2] + (-20, -100, INF, -INF))
    tables.append(t)
    t = Table("GELU")
    for approximate in (False, True):
        for shape in ((5,), (3, 7), (2, 3, 4), (1, 2, 3, 5)):
            t.add(f"{_dims(shape)}_{'tanh' if approximate else 'erf'}", [x(*shape, lo=-4, hi=4)],
                  approximate=approximate)
        t.add(f"special_{'tanh' if approximate else 'erf'}",
              [x(values=[0, 1, -1, 10, -10, 50, -50])],
              approximate=approximate)
    tables.append(t)
    tables.append(_unary("HARD_SWISH", edges + (-3, 3, -3.5, 3.5)))
    tables.append(_unary("LOGISTIC", (0, 20, -20, 100, -100, 1e-4, INF, -INF), lo=-8, hi=8))
    tables.append(_unary("TANH", (0, 10, -10, 100, -100, 1e-4, -1e-4, INF, -INF)))
    return tables


def _prelu():
    t = Table("PRELU")
    for name, shape, alpha in (("channels", (1, 3, 4, 5), (5,)), ("channels_rank3", (1, 3, 4, 5),
                                                                  (1, 1, 5)),
                               ("whole", (2, 3, 4), (2, 3, 4)), ("one", (3, 4), (1,)),
                               ("scalar", (3, 4), ()), ("width", (1, 3, 4, 2), (1, 4, 1)),
                               ("height", (2, 3, 4, 2), (3, 1, 1)), ("rank2", (3, 7), (7,)),
                               ("rank1", (9,), (9,)), ("batch", (2, 2, 2, 3), (1, 1, 3)),
                               ("17_channels", (1, 2, 2, 17), (1, 1, 17))):
        t.add(name, [x(*shape), c(*alpha)])
    t.add("alpha_is_input", [x(1, 2, 3, 4), x(1, 1, 4)])
    # LiteRT refuses an alpha that would widen the input.
    t.add("refuse_widening", [x(3, 1), c(3, 4)], refused=True)
    return t


def _math():
    huge = (1e30, -1e30)
    tables = [
        _unary("EXP", (0, 1, -1, 80, -80, 100, -INF, INF), lo=-3, hi=3),
        _unary("LOG", (1, 1e-30, 1e30, 0, -1, INF), lo=0.01, hi=9),
        _unary("SQRT", (0, 1, 4, 1e30, -1, INF), lo=0, hi=9),
        _unary("RSQRT", (1, 4, 1e30, 1e-20, INF, 0), lo=0.1, hi=9),
        _unary("SIN", (0, 1.5707964, 3.1415927, 100, -100), lo=-7, hi=7),
        _unary("COS", (0, 1.5707964, 3.1415927, 100, -100), lo=-7, hi=7),
        _unary("FLOOR", (0.5, -0.5, 1, -1, 1.9999999, -0.0, INF) + huge),
        _unary("CEIL", (0.5, -0.5, 1, -1, 1.0000001, INF) + huge),
        _unary("ROUND", (0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 0.49999997, 8388609, INF) + huge),
        _unary("SIGN", (0, -0.0, 5, -5, INF, -INF)),
        _integers(_unary("SQUARE", (0, -3, 1e10)), ()),
        _integers(_unary("ABS", (0, -0.0, -3, INF, -INF)), ("int32",)),
        _integers(_unary("NEG", (0, 3, -3, INF)), ("int32", "int64")),
        _integers(_unary("ZEROS_LIKE"), ("int32", "int64")),
        _unary("STABLEHLO_CBRT", (0, -0.0, 1, 27, -8, 0.125, 1e-30, -1e-30, 3e38, -3e38, INF, -INF),
               lo=-30, hi=30, definition=np.cbrt),
    ]
    tables[9] = _integers(tables[9], ("int32",))
    return tables


def _cast():
    t = Table("CAST")
    kinds = ("float32", "int32", "int64", "bool", "uint8", "int8", "float16", "int16")
    for source in kinds:
        for target in kinds:
            if source == target:
                continue
            floating = source.startswith("float")
            lo, hi = (0, 120) if "uint8" in (source, target) else (-120, 120)
            if target == "bool":
                values = [0, 1, 2, 0, 5, 100, 0]
                spec = x(values=values, dtype=source)
            else:
                spec = x(7, dtype=source, lo=lo, hi=hi)
            t.add(f"{source}_to_{target}", [spec], out=target)
            if floating and not target.startswith("float"):
                edge = [0.5, 1.5, 2.9, 0.0] if lo == 0 else [0.5, -0.5, 1.9, -1.9, -2.5]
                t.add(f"{source}_to_{target}_fractions", [x(values=edge, dtype=source)], out=target)
    t.add("same_type", [x(2, 3)])
    t.add("scalar", [x(dtype="int32")], out="float32")
    t.add("rank5", [x(1, 2, 1, 2, 3, dtype="int32")], out="float32")
    t.add("empty", [x(0, 3, dtype="int32")], out="float32")
    return t


def _dequantize():
    t = Table("DEQUANTIZE")
    for name, shape in (("vector", (9,)), ("image", (1, 2, 3, 5)), ("scalar", ()),
                        ("rank5", (1, 2, 1, 2, 3))):
        t.add(f"float16_{name}", [x(*shape, dtype="float16")])
        t.add(f"int8_{name}",
              [x(*shape, dtype="int8", lo=-128, hi=128, quantization=((0.05,), (3,), 0))])
        t.add(f"uint8_{name}",
              [x(*shape, dtype="uint8", lo=0, hi=256, quantization=((0.1,), (128,), 0))])
    t.add("int16", [x(9, dtype="int16", lo=-32768, hi=32768, quantization=((0.001,), (0,), 0))])
    t.add("float16_special", [x(values=[0, -0.0, 65504, 6e-8, -6e-8, INF, -INF], dtype="float16")])
    t.add("int8_per_channel",
          [x(3, 4, dtype="int8", lo=-128, hi=128, quantization=((0.1, 0.2, 0.3), (0, 0, 0), 0))])
    t.append(_half_weights("CONV_2D", (1, 4, 4, 3), (4, 3, 3, 3), bias_half=True))
    t.append(_half_weights("CONV_2D", (1, 4, 4, 3), (4, 3, 3, 3), bias_half=False))
    t.append(_half_weights("DEPTHWISE_CONV_2D", (1, 4, 4, 3), (1, 3, 3, 3), bias_half=True))
    t.append(_half_weights("FULLY_CONNECTED", (2, 7), (5, 7), bias_half=True))
    t.append(_half_weights("FULLY_CONNECTED", (2, 7), (5, 7), bias_half=False))
    return t


def _half_weights(op, image, weights, bias_half):
    """fp16 constants that DEQUANTIZE turns into the float weights of `op`."""
    name = f"float16_weights_of_{op.lower()}" + ("" if bias_half else "_float_bias")
    rng, graph = rng_for("DEQUANTIZE/" + name), Graph()
    units = weights[-1] if op.startswith("DEPTHWISE") else weights[0]

    def constant(shape, half):
        data = rng.uniform(-1, 1, shape)
        if not half:
            return graph.const(data.astype(np.float32))
        return graph.op("DEQUANTIZE", [graph.const(data.astype(np.float16))])

    image_index = graph.input(image)
    operands = [image_index, constant(weights, True), constant((units,), bias_half)]
    options = {} if op == "FULLY_CONNECTED" else dict(padding="SAME", stride_h=1, stride_w=1)
    if op.startswith("DEPTHWISE"):
        options["depth_multiplier"] = 1
    graph.outputs = [graph.op(op, operands, **options)]
    return Case(name, [graph], [rng.uniform(-2, 2, image).astype(np.float32)])


def tables():
    return _activations() + [_prelu()] + _math() + [_cast(), _dequantize()]
