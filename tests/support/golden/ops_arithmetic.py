"""Element-wise operators with two inputs: broadcasting, fused activations, integer types."""

from cases import ACTIVATIONS, Table, x, c

# name, left shape, right shape
BROADCASTS = (
    ("same", (2, 3, 4), (2, 3, 4)),
    ("rank0_both", (), ()),
    ("scalar_right", (2, 3, 5), ()),
    ("scalar_left", (), (2, 3, 5)),
    ("one_right", (3, 7), (1,)),
    ("one_left", (1,), (3, 7)),
    ("inner", (2, 3, 4), (4,)),
    ("inner_left", (4,), (2, 3, 4)),
    ("outer", (3, 4), (3, 1)),
    ("outer_left", (3, 1), (3, 4)),
    ("middle", (2, 1, 3, 5), (2, 4, 3, 5)),
    ("both_sides", (2, 1, 3, 1), (1, 4, 1, 5)),
    ("channels", (1, 3, 3, 5), (1, 1, 1, 5)),
    ("rank_differs", (2, 1, 2, 3), (4, 1, 3)),
    ("ones", (1, 1, 1), (1, 1, 1)),
    ("odd_17", (17,), (17,)),
)
# More than four axes, and axes of zero elements.
WIDE = (
    ("rank5", (2, 1, 2, 1, 3), (1, 2, 2, 2, 1)),
    ("rank6", (2, 1, 2, 1, 2, 3), (1, 2, 1, 2, 2, 1)),
    ("rank6_same", (1, 2, 1, 2, 1, 3), (1, 2, 1, 2, 1, 3)),
)
EMPTY = (
    ("empty", (0, 3), (0, 3)),
    ("empty_broadcast", (2, 0, 3), (1, 1, 3)),
)


def _float(op, shapes=BROADCASTS + WIDE + EMPTY, acts=(), lo=-2, hi=2, lo2=None, hi2=None):
    lo2, hi2 = (lo, hi) if lo2 is None else (lo2, hi2)
    table = Table(op)
    for name, left, right in shapes:
        table.add(name, [x(*left, lo=lo, hi=hi), x(*right, lo=lo2, hi=hi2)])
    table.add("constant_right", [x(1, 2, 3, 4, lo=lo, hi=hi), c(4, lo=lo2, hi=hi2)])
    table.add("constant_left", [c(4, lo=lo, hi=hi), x(1, 2, 3, 4, lo=lo2, hi=hi2)])
    for act in acts:
        key = act.lower()
        table.add(f"act_{key}", [x(2, 19, lo=-5, hi=5), x(2, 19, lo=lo2, hi=hi2)], act=act)
        table.add(f"act_{key}_inner", [x(2, 3, 4, lo=-5, hi=5), x(4, lo=lo2, hi=hi2)], act=act)
        table.add(f"act_{key}_scalar", [x(lo=-5, hi=5), x(3, 5, lo=lo2, hi=hi2)], act=act)
        table.add(f"act_{key}_both_sides",
                  [x(3, 1, 2, lo=-5, hi=5), x(1, 4, 1, lo=lo2, hi=hi2)],
                  act=act)
    table.add("refuse_shapes", [x(2, 3), x(2, 4)], refused=True)
    return table


INT_SHAPES = (
    ("same", (2, 3), (2, 3)),
    ("scalar", (5,), ()),
    ("scalar_left", (), (5,)),
    ("inner", (2, 2, 3), (3,)),
    ("both_sides", (2, 1, 3), (1, 4, 1)),
    ("one", (1,), (4,)),
)


def _integer(table, dtypes, acts=(), lo=-9, hi=10, lo2=None, hi2=None):
    lo2, hi2 = (lo, hi) if lo2 is None else (lo2, hi2)
    for dtype in dtypes:
        for name, left, right in INT_SHAPES:
            table.add(f"{dtype}_{name}",
                      [x(*left, dtype=dtype, lo=lo, hi=hi),
                       x(*right, dtype=dtype, lo=lo2, hi=hi2)],
                      out=dtype)
        for act in acts:
            table.add(f"{dtype}_act_{act.lower()}",
                      [x(11, dtype=dtype, lo=lo, hi=hi),
                       x(11, dtype=dtype, lo=lo2, hi=hi2)],
                      out=dtype,
                      act=act)


def tables():
    acts = ACTIVATIONS[1:]
    result = []
    for op in ("ADD", "SUB", "MUL"):
        table = _float(op, acts=acts)
        _integer(table, ("int32", "int64"), acts=("RELU", "RELU6"))
        result.append(table)
    table = _float("DIV", acts=acts, lo2=0.5, hi2=3)
    table.add("negative_divisor", [x(9), x(9, lo=-3, hi=-0.5)])
    table.add("by_zero", [x(values=[1, -1, 0, 2, 8]), x(values=[0, 0, 0, 1, 2])])
    _integer(table, ("int32",), lo=-40, hi=40, lo2=1, hi2=9)
    table.add(
        "int32_negative",
        [x(values=[-7, 7, -7, 7, -1], dtype="int32"),
         x(values=[2, -2, -2, 2, 3], dtype="int32")],
        out="int32")
    result.append(table)
    inf = float("inf")
    for op in ("MAXIMUM", "MINIMUM"):
        table = _float(op)
        table.add("infinite", [x(values=[inf, -inf, 1, 2]), x(values=[3, 4, inf, -inf])])
        _integer(table, ("int32", "int64"))
        result.append(table)
    table = _float("SQUARED_DIFFERENCE")
    _integer(table, ("int32",))
    result.append(table)
    table = _float("POW", lo=0.2, hi=2.5, lo2=-2, hi2=3)
    table.add("special",
              [x(values=[-2, -2, -3, 0, 0, 1, 4, 5]),
               x(values=[2, 3, -1, 0, 2, 99, 0.5, 1])])
    table.add("square", [x(3, 5), c(values=2.0)])
    table.add("negative_fraction", [x(values=[-2, 4]), x(values=[0.5, 0.5])])
    _integer(table, ("int32",), lo=-3, hi=4, lo2=0, hi2=4)
    result.append(table)
    for op in ("FLOOR_DIV", "FLOOR_MOD"):
        table = _float(op, lo=-7, hi=7, lo2=0.7, hi2=3)
        table.add("signs",
                  [x(values=[7, -7, 7, -7, 6, -6, 0, 0.5]),
                   x(values=[2, 2, -2, -2, 3, 3, 5, -2])])
        _integer(table, ("int32", "int64") if op == "FLOOR_MOD" else ("int32",),
                 lo=-20,
                 hi=20,
                 lo2=1,
                 hi2=7)
        table.add("int32_signs", [
            x(values=[7, -7, 7, -7, 6, -6, 0, 1], dtype="int32"),
            x(values=[2, 2, -2, -2, 3, 3, 5, -2], dtype="int32")
        ],
                  out="int32")
        result.append(table)
    table = Table("ATAN2")
    for name, left, right in BROADCASTS[:1]:
        table.add(name, [x(*left), x(*right)])
    table.add("quadrants",
              [x(values=[1, 1, -1, -1, 0, 0, 1, -1]),
               x(values=[1, -1, 1, -1, 1, -1, 0, 0])])
    for shape in ((1,), (), (5, 1), (2, 2, 3), (1, 2, 1, 3, 2), (0, 3)):
        table.add("rank%d_%s" % (len(shape), "x".join(map(str, shape))), [x(*shape), x(*shape)])
    result.append(table)
    return result
