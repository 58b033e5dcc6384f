"""Comparisons, logic and selection."""

from cases import Table, c, x
from ops_arithmetic import BROADCASTS, EMPTY, INT_SHAPES

NAN, INF = float("nan"), float("inf")


def _compare(op):
    t = Table(op)
    for name, left, right in BROADCASTS + EMPTY:
        t.add(name, [x(*left), x(*right)], out="bool")
    t.add(
        "special",
        [x(values=[1, 1, 2, NAN, NAN, INF, INF, 0]),
         x(values=[1, 2, 1, NAN, 1, INF, -INF, -0.0])],
        out="bool")
    for dtype in ("int32", "int64"):
        for name, left, right in INT_SHAPES[:4]:
            t.add(f"{dtype}_{name}",
                  [x(*left, dtype=dtype, lo=0, hi=3),
                   x(*right, dtype=dtype, lo=0, hi=3)],
                  out="bool")
    if op in ("EQUAL", "NOT_EQUAL"):
        t.add("bool", [x(9, dtype="bool"), x(9, dtype="bool")], out="bool")
        t.add("bool_broadcast", [x(3, 1, dtype="bool"), x(4, dtype="bool")], out="bool")
    t.add("constant_right", [x(3, 4), c(4)], out="bool")
    t.add("refuse_shapes", [x(2, 3), x(2, 4)], out="bool", refused=True)
    return t


def _logical(op):
    t = Table(op)
    for name, left, right in BROADCASTS + EMPTY[:1]:
        t.add(name, [x(*left, dtype="bool"), x(*right, dtype="bool")], out="bool")
    return t


def _logical_not():
    t = Table("LOGICAL_NOT")
    for shape in ((), (1,), (7,), (3, 5), (2, 3, 4), (1, 2, 3, 5), (17,), (0, 2)):
        t.add("rank%d_%s" % (len(shape), "x".join(map(str, shape))), [x(*shape, dtype="bool")],
              out="bool")
    return t


def _select():
    """SELECT: condition of the operands' shape, a scalar, or one value a row."""
    t = Table("SELECT")
    for name, cond, shape in (("same", (2, 3), (2, 3)), ("rank1", (7,), (7,)),
                              ("scalar", (), (2, 3)), ("rows", (3,), (3, 4)),
                              ("rows_rank4", (2,), (2, 2, 3, 2)), ("one", (1,), (1, 5)),
                              ("rank4", (1, 2, 2, 3), (1, 2, 2, 3)), ("all_scalar", (), ())):
        t.add(name, [x(*cond, dtype="bool"), x(*shape), x(*shape)])
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [x(5, dtype="bool"), x(5, dtype=dtype), x(5, dtype=dtype)], out=dtype)
    return t


def _select_v2():
    t = Table("SELECT_V2")
    for name, cond, left, right in (("same", (2, 3), (2, 3),
                                     (2, 3)), ("scalar_condition", (), (2, 3),
                                               (2, 3)), ("scalar_branches", (2, 3), (),
                                                         ()), ("columns", (3, 1), (3, 4), (3, 4)),
                                    ("inner", (4,), (3, 4),
                                     (3, 4)), ("all_differ", (2, 1, 1), (3, 1),
                                               (4,)), ("mask", (1, 1, 4, 4), (2, 3, 4, 4),
                                                       ()), ("rank4", (1, 2, 1, 3), (2, 1, 2, 1),
                                                             (3,)), ("one", (1,), (2, 3), (2, 3)),
                                    ("rank5", (1, 2, 1, 2, 3), (2, 1, 1, 2, 1), (3,)),
                                    ("left_wider", (3,), (2, 3), (1,)), ("all_scalar", (), (), ())):
        t.add(name, [x(*cond, dtype="bool"), x(*left), x(*right)])
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [x(5, dtype="bool"), x(2, 5, dtype=dtype), x(dtype=dtype)], out=dtype)
    t.add("refuse_shapes", [x(2, dtype="bool"), x(2, 3), x(2, 3)], refused=True)
    return t


def tables():
    result = [
        _compare(op)
        for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL")
    ]
    return result + [
        _logical("LOGICAL_AND"),
        _logical("LOGICAL_OR"),
        _logical_not(),
        _select(),
        _select_v2()
    ]
