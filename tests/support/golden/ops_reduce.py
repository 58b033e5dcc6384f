"""Reductions, cumulative sums and positions of extremes."""

from cases import Table, c, ci, cs, x

# name, shape, axes
AXES = (
    ("all_rank1", (7,), (0,)),
    ("last", (3, 5), (1,)),
    ("first", (3, 5), (0,)),
    ("both", (3, 5), (0, 1)),
    ("middle", (2, 3, 4), (1,)),
    ("outer_two", (2, 3, 4), (0, 1)),
    ("inner_two", (2, 3, 4), (1, 2)),
    ("ends", (2, 3, 4), (0, 2)),
    ("spatial", (2, 3, 4, 5), (1, 2)),
    ("channels", (2, 3, 4, 5), (3,)),
    ("batch", (2, 3, 4, 5), (0,)),
    ("all_rank4", (2, 3, 2, 3), (0, 1, 2, 3)),
    ("negative", (2, 3, 4), (-1,)),
    ("negative_two", (2, 3, 4), (-1, -3)),
    ("negative_spatial", (1, 3, 4, 17), (-2, -3)),
    ("duplicate", (2, 3, 4), (1, 1)),
    ("duplicate_negative", (2, 3, 4), (2, -1)),
    ("unsorted", (2, 3, 4), (2, 0)),
    ("of_ones", (1, 1, 4), (0, 1)),
    ("rank5", (2, 1, 2, 3, 2), (1, 3)),
    ("rank6", (1, 2, 1, 2, 3, 2), (2, 4)),
    ("odd_33", (2, 33), (1,)),
)


def _reduce(op, dtype="float32", lo=None, hi=None, integers=()):
    t = Table(op)
    for name, shape, axes in AXES:
        for keep in (False, True):
            if keep and name in ("duplicate", "rank6", "odd_33", "of_ones"):
                continue
            t.add(name + ("_keep" if keep else ""),
                  [x(*shape, dtype=dtype, lo=lo, hi=hi),
                   ci(*axes)],
                  out=dtype,
                  keep_dims=keep)
    t.add("scalar_axis", [x(3, 5, dtype=dtype, lo=lo, hi=hi), cs(1)], out=dtype)
    t.add("no_axes", [x(3, 5, dtype=dtype, lo=lo, hi=hi),
                      c(0, dtype="int32")],
          out=dtype,
          keep_dims=True)
    t.add("of_scalar", [x(dtype=dtype, lo=lo, hi=hi), c(0, dtype="int32")], out=dtype)
    t.add("axis_is_input", [x(2, 3, 4, dtype=dtype, lo=lo, hi=hi),
                            x(values=[1], dtype="int32")],
          out=dtype,
          keep_dims=True)
    for kind in integers:
        t.add(f"{kind}_all", [x(2, 3, dtype=kind), ci(0, 1)], out=kind)
        t.add(f"{kind}_last", [x(2, 3, 4, dtype=kind), ci(-1)], out=kind, keep_dims=True)
        t.add(f"{kind}_shape_vector", [x(values=[2, 3, 4], dtype=kind), ci(0)], out=kind)
    t.add("refuse_axis", [x(2, 3, dtype=dtype, lo=lo, hi=hi), ci(2)], out=dtype, refused=True)
    return t


def _arg(op):
    t = Table(op)
    for shape, axis in (((7,), 0), ((3, 5), 1), ((3, 5), 0), ((2, 3, 4), 1), ((2, 3, 4), -1),
                        ((2, 3, 4), -3), ((1, 2, 3, 5), 3), ((1, 2, 3, 5), 1), ((1, 10), -1),
                        ((2, 1), 1), ((2, 2, 1, 2, 3), 3)):
        for out in ("int32", "int64"):
            if out == "int64" and len(shape) == 5:
                continue
            t.add("x".join(map(str, shape)) + f"_axis{axis}_{out}", [x(*shape), cs(axis)],
                  out=out,
                  output_type=2 if out == "int32" else 4)
    t.add("ties", [x(values=[[1, 3, 3, 1, 1], [2, 2, 2, 2, 2]]), cs(1)], out="int32", output_type=2)
    t.add("axis_vector", [x(3, 5), ci(1)], out="int32", output_type=2)
    t.add("axis_int64", [x(3, 5), cs(1, "int64")], out="int64", output_type=4)
    t.add("int32", [x(3, 5, dtype="int32"), cs(1)], out="int32", output_type=2)
    t.add("refuse_axis", [x(3, 5), cs(2)], out="int32", output_type=2, refused=True)
    return t


def _cumsum():
    t = Table("CUMSUM")
    for exclusive in (False, True):
        for reverse in (False, True):
            key = ("exclusive" if exclusive else "inclusive") + ("_reverse" if reverse else "")
            for shape, axis in (((7,), 0), ((3, 5), 1), ((2, 3, 4), 1), ((2, 3, 4), -3)):
                t.add(f"{key}_{len(shape)}d_axis{axis}", [x(*shape), cs(axis)],
                      exclusive=exclusive,
                      reverse=reverse)
            for kind in ("int32", "int64"):
                t.add(f"{key}_{kind}", [x(2, 5, dtype=kind), cs(1)],
                      out=kind,
                      exclusive=exclusive,
                      reverse=reverse)
    return t


def _topk():
    t = Table("TOPK_V2")
    for shape, k in (((7,), 3), ((7,), 7), ((3, 5), 2), ((2, 3, 4), 1), ((1, 10), 5),
                     ((2, 2, 2, 3), 2), ((4, 17), 6), ((1,), 1)):
        t.add("x".join(map(str, shape)) + f"_k{k}", [x(*shape), cs(k)], out=("float32", "int32"))
    t.add("ties", [x(values=[[1, 3, 3, 1, 3], [2, 2, 2, 2, 2]]), cs(3)], out=("float32", "int32"))
    t.add("int32", [x(2, 6, dtype="int32"), cs(4)], out=("int32", "int32"))
    t.add("k_is_zero", [x(2, 6), cs(0)], out=("float32", "int32"))
    t.add("refuse_k", [x(2, 3), cs(4)], out=("float32", "int32"), refused=True)
    return t


def tables():
    result = [
        _reduce(op, integers=("int32", "int64"))
        for op in ("MEAN", "SUM", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD")
    ]
    result += [_reduce(op, "bool") for op in ("REDUCE_ANY", "REDUCE_ALL")]
    return result + [_arg("ARG_MAX"), _arg("ARG_MIN"), _cumsum(), _topk()]
