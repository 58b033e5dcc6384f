"""Sweeps over types of operators that copy, join, cut or describe whole tensors."""

from cases import Table, c, x
from sweeps import BYTES, COMMON, EVERY, WHOLE, but, const, data, each, sweep

SHAPES = ((1,), (2,), (3,), (7,), (17,), (67,), (1, 1), (5, 3), (1, 19), (19, 1), (2, 3, 4),
          (1, 1, 7), (3, 1, 2), (1, 2, 3, 5), (2, 5, 1, 3), (2, 1, 2, 1, 3), (1, 2, 1, 2, 1, 3),
          (2, 1, 1, 1, 1, 1, 2), (0,), (0, 4), (2, 0, 3))


def _views():
    t = Table("SWEEP_VIEWS")
    targets = (((2, 3, 4), [4, 6]), ((2, 3, 4), [-1]), ((2, 3, 4), [24]), ((2, 3, 4), [1, -1, 1]),
               ((5, 3), [3, 5]), ((5, 3), [15]), ((5, 3), [1, 5, 1, 3]), ((7,), [7, 1]),
               ((7,), [1, -1]), ((1,), [1, 1, 1, 1]), ((1, 1), []), ((), [1]), ((), [1, 1, 1]),
               ((1, 2, 3, 5), [-1, 5]), ((1, 2, 3, 5), [6, 5]), ((2, 1, 2, 1, 3), [2, 2, 3]),
               ((2, 0, 3), [0, 5]), ((2, 0, 3), [3, 0]), ((17,), [17]),
               ((2, 6), [2, 2, 3, 1, 1, 1]),
               ((1, 19), [19]))
    uses = []
    for index, (shape, target) in enumerate(targets):  # from the options, a constant, an input
        shape_input = ((), (target,), (x(values=target, dtype="int32"),))[index % 3]
        uses.append((shape,) + shape_input + (dict(new_shape=target),))
    each(t, "RESHAPE", but(EVERY, "float32"), uses)
    uses = []
    for shape, axes in (((3, 4), (0, 1, 2, -1, -3)), ((), (0, -1)), ((7,), (0, 1, -2)),
                        ((1, 1), (1,)), ((2, 3, 4), (0, 2, 3, -4)), ((1, 2, 3, 5), (4, 2)),
                        ((2, 1, 2, 1, 3), (5, 0)), ((2, 0, 3), (1, -1))):
        uses += [(shape, axis if k % 2 else [axis]) for k, axis in enumerate(axes)]
    each(t, "EXPAND_DIMS", EVERY, uses)
    uses = [(shape, dict(squeeze_dims=dims)) for shape, dims in
            (((1, 3, 1, 5), []), ((1, 3, 1, 5), [0]), ((1, 3, 1, 5), [-2]), ((1, 3, 1, 5), [2, 0]),
             ((1, 3, 1, 5), [-4, 2]), ((1, 1), []), ((1, 1), [0]), ((1, 1), [-1]), ((1,), []),
             ((1,), [0]), ((3, 4), []), ((7,), []), ((2, 1), [1]), ((1, 1, 1, 7), [0, 1, 2]),
             ((1, 1, 1, 7), [1]), ((2, 1, 1, 1, 3), [1, 3]), ((1, 2, 1, 2, 1, 3), []),
             ((1, 2, 1, 2, 1, 3), [-2]), ((1, 0, 3), []), ((0, 1), [1]))]
    each(t, "SQUEEZE", EVERY, uses)
    uses = [(shape, dict(op="SHAPE", out="int64" if k % 3 == 0 else "int32",
                         out_type=4 if k % 3 == 0 else 2)) for k, shape in enumerate(SHAPES)]
    uses += [(shape, dict(op="RANK", out="int32")) for shape in ((),) + SHAPES]
    each(t, "DESCRIBE", EVERY, uses)
    return t


def _copies():
    t = Table("SWEEP_COPIES")
    targets = (((3,), (2, 3)), ((1,), (4,)), ((), (2, 3)), ((), (1,)), ((2, 1), (2, 5)),
               ((1, 3), (4, 3)), ((3, 1), (2, 3, 4)), ((7,), (7,)), ((1, 1), (5, 7)),
               ((1, 2, 1, 3), (2, 2, 4, 3)), ((2, 3), (2, 3)), ((2, 3), (1, 2, 3)),
               ((1, 1, 2), (2, 1, 3, 1, 2)), ((2, 1, 2), (1, 2, 1, 2, 3, 2)), ((17,), (3, 17)),
               ((5, 1), (5, 19)), ((1, 3), (0, 3)), ((0, 1), (0, 2)), ((1, 0), (3, 0)),
               ((2, 1, 2, 1, 3), (2, 2, 2, 2, 3)), ((1,), (67,)))
    uses = [(shape, list(target) if k % 2 else c(values=target, dtype="int64"))
            for k, (shape, target) in enumerate(targets)]
    each(t, "BROADCAST_TO", EVERY, uses)
    uses = [(shape, list(times) if k % 2 else c(values=times, dtype="int64")) for k, (shape, times)
            in enumerate((((3,), (2,)), ((1,), (7,)), ((7,), (1,)), ((7,), (0,)), ((17,), (3,)),
                          ((2, 3), (1, 2)), ((2, 3), (2, 1)), ((2, 3), (2, 3)), ((2, 3), (0, 1)),
                          ((1, 19), (3, 1)), ((5, 1), (1, 7)), ((2, 1, 3), (1, 4, 1)),
                          ((2, 1, 3), (2, 1, 2)), ((1, 1, 1), (2, 3, 4)),
                          ((1, 2, 2, 3), (2, 1, 2, 1)),
                          ((1, 2, 2, 3), (1, 1, 1, 3)), ((1, 2, 1, 2, 1), (2, 1, 2, 1, 3)),
                          ((1, 2, 1, 2, 1, 3), (1, 1, 2, 1, 2, 1)), ((2, 0, 3), (1, 2, 2)),
                          ((0,), (3,))))]
    each(t, "TILE", EVERY, uses)
    dims = ([3], [1], [0], [67], [2, 3], [1, 1], [2, 0], [5, 17], [2, 1, 3], [1, 1, 7], [0, 2, 3],
            [1, 2, 2, 3], [2, 1, 1, 5], [2, 1, 2, 1, 3], [1, 2, 1, 2, 1, 3], [], [19], [3, 3, 3])
    uses = [(list(shape), data()) for shape in dims]
    uses += [(c(values=shape, dtype="int64"), ()) for shape in ([2, 3], [5])]
    uses += [(x(values=shape, dtype="int32"), ()) for shape in ([2, 3], [1])]
    each(t, "FILL", EVERY, uses)
    steps = ((0, 5, 1), (2, 11, 3), (5, 0, -1), (9, -2, -4), (-3, 3, 2), (4, 5, 9), (0, 1, 1),
             (7, 6, -2), (0, 67, 1), (-5, -9, -1), (-9, -5, 3), (0, 6, 2), (0, 7, 2), (6, 0, -2),
             (1, -1, -1), (-1, 1, 1), (100, 130, 7), (3, 4, 1), (2**30, 2**30 + 9, 4),
             (-2**31, -2**31 + 5, 2))
    for dtype, scale in (("int32", 1), ("int64", 1), ("float32", 0.375)):
        uses = [tuple((data if k % 4 == 0 else const)(values=value * scale) for value in step)
                for k, step in enumerate(steps[:18] + steps[:2] if scale < 1 else steps)]
        sweep(t, "RANGE", dtype, uses)
    return t


def _joins():
    t = Table("SWEEP_JOINS")
    joins = (((2, 3), 0), ((3,), 0), ((1,), 0), ((17,), 0), ((3, 2), 1), ((2, 3, 4), 0),
             ((2, 3, 4), 1), ((2, 3, 4), -1), ((2, 3, 4), -3), ((1, 2, 3, 5), 3),
             ((1, 2, 3, 5), -2),
             ((1, 2, 3, 5), 1), ((2, 1, 2, 1, 3), 3), ((1, 1), -1), ((5, 1), 1), ((0, 3), 0),
             ((2, 0), -1), ((1, 19), 0), ((1, 2, 1, 2, 1, 3), 4), ((4, 7), 1))
    uses = []
    for k, (shape, axis) in enumerate(joins):  # the second part may be longer; one is constant
        other = list(shape)
        other[axis] += k % 3
        last = (const(*shape),) if k % 4 == 1 else (tuple(other),)[:k % 4]
        uses.append((shape, tuple(other)) + last + (dict(axis=axis),))
    each(t, "CONCATENATION", ("bool", "float16", "uint32") + WHOLE, uses)
    packs = (((3,), 0), ((3,), 1), ((3,), -1), ((3,), -2), ((), 0), ((), -1), ((1,), 1), ((17,), 1),
             ((2, 3), 0), ((2, 3), 1), ((2, 3), 2), ((2, 3), -3), ((2, 2, 3), 3), ((2, 2, 3), -2),
             ((1, 2, 1, 3), 2), ((1, 2, 1, 3), -5), ((2, 1, 2, 1, 3), 4), ((0, 3), 1), ((1, 1), -1),
             ((5, 7), 0))
    uses = [(shape,) * (1 + k % 4) + (dict(values_count=1 + k % 4, axis=axis),)
            for k, (shape, axis) in enumerate(packs)]
    each(t, "PACK", but(COMMON, "bool") + ("uint32",), uses)
    return t


def _cuts():
    t = Table("SWEEP_CUTS")
    places = (((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((3, 2, 4), 1), ((2, 3, 2), -3), ((4,), 0),
              ((4,), -1), ((1,), 0), ((1, 3), 0), ((7, 1), 1), ((5, 7), 0), ((2, 2, 2, 3), 3),
              ((2, 2, 3, 2), 2), ((1, 2, 3, 5), -3), ((1, 1, 1, 7), 3), ((2, 1, 2, 1, 3), 4),
              ((2, 1, 2, 1, 3), -4), ((1, 2, 1, 2, 1, 3), 3), ((3, 17), 0), ((2, 19, 1), 0))
    uses = [(shape, dict(n_out=shape[axis], num=shape[axis], axis=axis)) for shape, axis in places]
    each(t, "UNPACK", but(COMMON, "int64") + ("float16",), uses)
    types = but(COMMON, "bool")
    places = (((4,), 0, 2), ((4,), -1, 4), ((1,), 0, 1), ((4, 3), 0, 2), ((3, 4), 1, 2),
              ((3, 4), -1, 4), ((2, 6, 3), 1, 3), ((2, 6, 3), 1, 2), ((2, 3, 4), -2, 3),
              ((2, 3, 4), -3, 2), ((1, 2, 2, 6), 3, 2), ((1, 2, 2, 6), -1, 6), ((2, 4), 0, 1),
              ((4, 1, 2, 1, 2), 0, 2), ((1, 2, 1, 2, 3), -1, 3), ((1, 2, 1, 4, 1, 3), 3, 2),
              ((1, 34), 1, 2), ((5, 1, 2), 0, 5), ((0, 4), 1, 2), ((6, 0), 0, 3))
    uses = [(axis if k % 3 else [axis], shape, dict(n_out=n, num_splits=n))
            for k, (shape, axis, n) in enumerate(places)]
    each(t, "SPLIT", types, uses)
    places = (((5,), 0, [2, 3]), ((5,), -1, [5]), ((5,), 0, [0, 5]), ((5,), 0, [1, -1, 1]),
              ((5, 2), 0, [1, 4]), ((2, 6), 1, [1, 2, 3]), ((2, 6), -1, [4, 2]),
              ((2, 6), 1, [2, -1]),
              ((3, 4, 2), 1, [-1, 1]), ((3, 4, 2), -3, [1, 1, 1]), ((3, 4, 2), 2, [1, 1]),
              ((1, 2, 2, 7), 3, [3, 3, 1]), ((1, 2, 2, 7), 3, [7]), ((1, 2, 2, 7), -2, [1, 1]),
              ((2, 1, 3, 1, 2), 2, [1, 2]), ((2, 1, 3, 1, 2), 0, [-1, 1]),
              ((1, 2, 1, 2, 1, 3), 5, [2, 1]), ((1, 35), 1, [17, 18]), ((0, 4), 1, [1, 3]),
              ((3, 1), 1, [1]))
    uses = [(shape, sizes if k % 2 else c(values=sizes, dtype="int64"), axis if k % 3 else [axis],
             dict(n_out=len(sizes), num_splits=len(sizes)))
            for k, (shape, axis, sizes) in enumerate(places)]
    each(t, "SPLIT_V", types, uses)
    return t


def _turns():
    t = Table("SWEEP_TURNS")
    turns = (((5,), [0]), ((3, 4), [1, 0]), ((3, 4), [0, 1]), ((17, 9), [1, 0]), ((1, 7), [1, 0]),
             ((2, 3, 4), [0, 2, 1]), ((2, 3, 4), [1, 0, 2]), ((2, 3, 4), [2, 1, 0]),
             ((2, 3, 4), [-1, 0, 1]), ((1, 2, 3, 4), [0, 3, 1, 2]), ((1, 3, 4, 2), [0, 2, 3, 1]),
             ((2, 2, 3, 4), [3, 2, 1, 0]), ((2, 3, 2, 2), [2, 0, 3, 1]),
             ((2, 3, 1, 4), [0, 1, 3, 2]),
             ((1, 5, 1, 3), [0, 2, 1, 3]), ((2, 1, 2, 3, 2), [4, 0, 2, 1, 3]),
             ((1, 2, 2, 3, 2), [0, 4, 1, 2, 3]), ((2, 1, 2, 1, 2, 3), [5, 3, 1, 0, 2, 4]),
             ((0, 3), [1, 0]), ((1, 1, 1), [2, 0, 1]))
    each(t, "TRANSPOSE", but(EVERY, "float32"), turns)
    shapes = ((1,), (2,), (3,), (7,), (17,), (1, 1), (2, 3), (3, 2), (1, 5), (5, 1), (2, 2, 3),
              (1, 1, 7), (3, 1, 2), (1, 2, 1, 3), (2, 1, 2, 1), (2, 1, 2, 1, 3), (1, 2, 1, 1, 2, 2),
              (0, 3), (2, 0, 3), (3, 9))
    types = but(COMMON, "bool") + ("uint32",)  # of others LiteRT's answers are undefined
    each(t, "MATRIX_DIAG", types, [(shape,) for shape in shapes])
    uses = []
    for k, shape in enumerate(shapes):
        rows, columns = ((n := shape[-1]), n + k % 3) if k % 2 else (shape[-1] + k % 3, shape[-1])
        uses.append((shape[:-1] + (rows, columns), shape))
    each(t, "MATRIX_SET_DIAG", types, uses)
    return t


def tables():
    return [_views(), _copies(), _joins(), _cuts(), _turns()]
