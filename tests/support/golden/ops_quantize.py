"""QUANTIZE of floats, to every integer type, and ADD_N."""

from cases import Table, x

INF = float("inf")


def _quantize():
    t = Table("QUANTIZE")
    for name, shape in (("vector", (9,)), ("image", (1, 2, 3, 5)), ("scalar", ()), ("odd_33", (33,)),
                        ("empty", (0, 3)), ("rank5", (1, 2, 1, 2, 3))):
        t.add(f"int8_{name}", [x(*shape, lo=-8, hi=8)], out="int8", quantization=((0.05,), (3,), 0))
        t.add(f"uint8_{name}", [x(*shape, lo=-8, hi=8)], out="uint8",
              quantization=((0.05,), (128,), 0))
        t.add(f"int16_{name}", [x(*shape, lo=-40, hi=40)], out="int16",
              quantization=((0.001,), (0,), 0))
    ties = [0.25, -0.25, 0.75, -0.75, 1.25, -1.25, 0.2499999, -0.2499999, 0, -0.0]
    t.add("int8_ties", [x(values=ties)], out="int8", quantization=((0.5,), (0,), 0))
    t.add("uint8_ties", [x(values=ties)], out="uint8", quantization=((0.5,), (10,), 0))
    t.add("int8_saturates", [x(values=[63.4, 63.5, 64, -63.9, -64, -64.3, 1e9, -1e9])], out="int8",
          quantization=((0.5,), (0,), 0))
    t.add("int8_per_channel", [x(3, 4, lo=-8, hi=8)], out="int8",
          quantization=((0.1, 0.2, 0.05), (0, 0, 0), 0))
    t.add("int8_per_last_channel", [x(2, 2, 3, lo=-8, hi=8)], out="int8",
          quantization=((0.1, 0.2, 0.05), (0, 0, 0), 2))
    return t


def _add_n():
    t = Table("ADD_N")
    for shape in ((), (1,), (7,), (3, 5), (2, 3, 4), (1, 2, 3, 5), (33,), (0, 4), (1, 2, 1, 2, 3)):
        key = "x".join(map(str, shape)) or "scalar"
        t.add(f"two_{key}", [x(*shape), x(*shape)])
        t.add(f"four_{key}", [x(*shape) for _ in range(4)])
    t.add("int32_three", [x(3, 5, dtype="int32") for _ in range(3)], out="int32")
    t.add("refuse_shapes", [x(2, 3), x(3, 2)], refused=True)
    return t


def tables():
    return [_quantize(), _add_n()]
