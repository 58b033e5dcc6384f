"""Operators that only move, copy or describe: RESHAPE, PACK, SPLIT, CONCATENATION, TRANSPOSE ..."""

from cases import Table, c, ci, cs, dims_name, x


def _reshape():
    t = Table("RESHAPE")
    for shape, target in (((2, 3, 4), (4, 6)), ((2, 3, 4), (-1,)), ((2, 6),
                                                                    (3, -1)), ((12,), (1, 2, 2, 3)),
                          ((1, 1, 1, 9), (1, 9)), ((2, 3), (2, 3)), ((3, 4), (2, 1, -1, 2))):
        name = f"{dims_name(shape)}_to_" + "_".join(map(str, target)).replace("-", "m")
        t.add(name, [x(*shape), ci(*target)], new_shape=list(target))
        t.add(name + "_options", [x(*shape)], new_shape=list(target))
    # The tensor wins over the options.
    t.add("tensor_over_options", [x(2, 3), ci(3, 2)], new_shape=[6])
    t.add("to_scalar", [x(1, 1), c(0, dtype="int32")])
    t.add("to_scalar_options", [
        x(1),
    ], new_shape=[])
    t.add("from_scalar", [x(), ci(1, 1)], new_shape=[1, 1])
    # Old converters wrote [0] for a scalar.
    t.add("to_scalar_legacy", [x(1)], new_shape=[0])
    t.add("shape_is_input", [x(2, 6), x(values=[4, -1], dtype="int32")])
    t.add("empty", [x(0, 4), ci(2, 0)], new_shape=[2, 0])
    t.add("rank6", [x(24), ci(1, 2, 1, 3, 4, 1)], new_shape=[1, 2, 1, 3, 4, 1])
    for dtype in ("int32", "int64", "bool", "uint8", "int8"):
        t.add(dtype, [x(2, 3, dtype=dtype), ci(3, 2)], out=dtype)
    t.add("refuse_count", [x(2, 3), ci(4, 2)], new_shape=[4, 2], refused=True)
    t.add("refuse_two_unknown", [x(2, 3), ci(-1, -1)], new_shape=[-1, -1], refused=True)
    t.add("refuse_indivisible", [x(2, 3), ci(4, -1)], new_shape=[4, -1], refused=True)
    return t


def _squeeze():
    t = Table("SQUEEZE")
    for shape, dims in (((1, 3, 1, 5), []), ((1, 3, 1, 5), [0]), ((1, 3, 1, 5), [2]), ((1, 3, 1, 5),
                                                                                       [0, 2]),
                        ((1, 3, 1, 5), [-2]), ((1, 3, 1, 5), [-4, 2]), ((1, 1), []), ((1,), [0]),
                        ((3, 4), []), ((1, 1, 1, 7), [1, 2]), ((2, 1, 1, 1, 3), [1, 3])):
        t.add(dims_name(shape) + "_" + ("_".join(map(str, dims)) or "all").replace("-", "m"),
              [x(*shape)],
              squeeze_dims=dims)
    t.add("int32", [x(1, 3, dtype="int32")], out="int32", squeeze_dims=[0])
    t.add("refuse_not_one", [x(2, 3)], squeeze_dims=[0], refused=True)
    return t


def _expand_dims():
    t = Table("EXPAND_DIMS")
    for shape, axis in (((3, 4), 0), ((3, 4), 1), ((3, 4), 2), ((3, 4), -1), ((3, 4), -3), ((), 0),
                        ((5,), -1), ((1, 2, 3), 1), ((2, 1, 3, 2), 4)):
        t.add(f"{dims_name(shape)}_axis{axis}".replace("-", "m"), [x(*shape), cs(axis)])
    t.add("axis_vector", [x(3, 4), ci(1)])
    t.add("axis_int64", [x(3, 4), cs(1, "int64")])
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [x(2, 3, dtype=dtype), cs(1)], out=dtype)
    t.add("refuse_axis", [x(3, 4), cs(3)], refused=True)
    return t


def _shape_rank():
    shape, rank = Table("SHAPE"), Table("RANK")
    for dims in ((), (1,), (7,), (2, 3), (2, 3, 4), (1, 2, 3, 5), (1, 2, 1, 2, 3), (1, 1, 2, 1, 2,
                                                                                    3), (0, 3)):
        if dims:  # an answer of no elements cannot be read through LiteRT's Python interface
            shape.add(dims_name(dims), [x(*dims)], out="int32", out_type=2)
        rank.add(dims_name(dims), [x(*dims)], out="int32")
    shape.add("int64", [x(2, 3)], out="int64", out_type=4)
    shape.add("of_int32", [x(4, dtype="int32")], out="int32", out_type=2)
    rank.add("of_int32", [x(4, dtype="int32")], out="int32")
    return [shape, rank]


def _fill():
    t = Table("FILL")
    for dims in ((3,), (2, 3), (2, 1, 3), (1,), (1, 2, 2, 3), (2, 0)):
        t.add(dims_name(dims), [ci(*dims), x()])
    t.add("scalar", [c(0, dtype="int32"), x()])
    t.add("dims_are_input", [x(values=[2, 3], dtype="int32"), x()])
    t.add("dims_int64", [c(values=[2, 2], dtype="int64"), x()])
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [ci(2, 3), x(dtype=dtype)], out=dtype)
    t.add("refuse_negative", [ci(2, -1), x()], refused=True)
    return t


def _tile():
    t = Table("TILE")
    for shape, times in (((3,), (2,)), ((2, 3), (1, 2)), ((2, 3), (2, 1)), ((2, 3), (2, 3)),
                         ((2, 1, 3), (1, 4, 1)), ((1, 2, 2, 3), (2, 1, 2, 1)), ((2, 3), (1, 1)),
                         ((1,), (7,)), ((1, 2, 1, 2, 1), (2, 1, 2, 1, 3)), ((2, 3), (0, 1))):
        t.add(f"{dims_name(shape)}_by_{dims_name(times)}", [x(*shape), ci(*times)])
    t.add("times_are_input", [x(2, 3), x(values=[2, 2], dtype="int32")])
    t.add("times_int64", [x(2, 3), c(values=[1, 2], dtype="int64")])
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [x(2, 3, dtype=dtype), ci(2, 1)], out=dtype)
    t.add("refuse_length", [x(2, 3), ci(2)], refused=True)
    return t


def _broadcast_to():
    t = Table("BROADCAST_TO")
    for shape, target in (((3,), (2, 3)), ((1,), (4,)), ((), (2, 3)), ((2, 1), (2, 5)),
                          ((1, 3), (4, 3)), ((3, 1), (2, 3, 4)), ((1, 2, 1, 3), (2, 2, 4, 3)),
                          ((2, 3), (2, 3)), ((1, 1, 2), (2, 1, 3, 1, 2)), ((2, 1, 2), (1, 2, 1, 2,
                                                                                       3, 2))):
        t.add(f"{dims_name(shape)}_to_{dims_name(target)}", [x(*shape), ci(*target)])
    t.add("shape_is_input", [x(3), x(values=[2, 3], dtype="int32")])
    t.add("shape_int64", [x(3), c(values=[2, 3], dtype="int64")])
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [x(3, dtype=dtype), ci(2, 3)], out=dtype)
    t.add("refuse_shapes", [x(3), ci(2, 4)], refused=True)
    return t


def _range():
    t = Table("RANGE")
    for first, last, step in ((0, 5, 1), (2, 11, 3), (5, 0, -1), (9, -2, -4), (-3, 3, 2), (4, 5,
                                                                                           9)):
        t.add(f"int32_{first}_{last}_{step}".replace("-", "m"),
              [cs(first), cs(last), cs(step)],
              out="int32")
    for first, last, step in ((0, 1, 0.25), (0, 1, 0.3), (2, -1, -0.5), (1.5, 1.6, 1)):
        t.add(f"float_{first}_{last}_{step}".replace("-", "m"),
              [cs(v, "float32") for v in (first, last, step)])
    t.add("int64", [cs(v, "int64") for v in (1, 10, 2)], out="int64")
    t.add("inputs", [x(values=v, dtype="int32") for v in (1, 7, 2)], out="int32")
    t.add("refuse_direction", [cs(0), cs(5), cs(-1)], out="int32", refused=True)
    t.add("refuse_step_zero", [cs(0), cs(5), cs(0)], out="int32", refused=True)
    return t


def _pack():
    t = Table("PACK")
    for shape, count, axis in (((3,), 2, 0), ((3,), 2, 1), ((3,), 3, -1), ((2, 3), 2, 0),
                               ((2, 3), 2, 1), ((2, 3), 2, 2), ((2, 3), 3, -2), ((), 4, 0),
                               ((2, 2, 3), 2, 3), ((2, 3), 1, 0), ((1, 2, 1, 3), 2, 2)):
        t.add(f"{count}_of_{dims_name(shape)}_axis{axis}".replace("-", "m"),
              [x(*shape) for _ in range(count)],
              values_count=count,
              axis=axis)
    for dtype in ("int32", "int64", "uint8", "int8"):
        t.add(dtype, [x(3, dtype=dtype), c(3, dtype=dtype)], out=dtype, values_count=2, axis=0)
    t.add("shape_vector", [x(dtype="int32"), cs(-1), cs(3)], out="int32", values_count=3, axis=0)
    t.add("refuse_shapes", [x(3), x(4)], values_count=2, axis=0, refused=True)
    return t


def _unpack():
    t = Table("UNPACK")
    for shape, axis in (((2, 3), 0), ((2, 3), 1), ((2, 3), -1), ((3, 2, 4), 1), ((2, 3, 2), -3),
                        ((4,), 0), ((1, 3), 0), ((2, 2, 2, 3), 3), ((2, 2, 3, 2), 2)):
        n = shape[axis]
        t.add(f"{dims_name(shape)}_axis{axis}".replace("-", "m"), [x(*shape)],
              n_out=n,
              num=n,
              axis=axis)
    for dtype in ("int32", "bool", "uint8", "int8"):
        t.add(dtype, [x(2, 3, dtype=dtype)], out=dtype, n_out=2, num=2, axis=0)
    t.add("refuse_count", [x(2, 3)], n_out=3, num=3, axis=0, refused=True)
    return t


def _split():
    t = Table("SPLIT")
    for shape, axis, n in (((4,), 0, 2), ((4, 3), 0, 2), ((3, 4), 1, 2), ((3, 4), -1, 4),
                           ((2, 6, 3), 1, 3), ((2, 3, 4), -2, 3), ((1, 2, 2, 6), 3, 2),
                           ((1, 2, 2, 6), -1, 6), ((2, 4), 0, 1), ((4, 1, 2, 1, 2), 0, 2)):
        t.add(f"{dims_name(shape)}_axis{axis}_{n}".replace("-", "m"),
              [cs(axis), x(*shape)],
              n_out=n,
              num_splits=n)
    t.add("axis_vector", [ci(1), x(2, 4)], n_out=2, num_splits=2)
    for dtype in ("int32", "uint8", "int8"):
        t.add(dtype, [cs(0), x(4, 2, dtype=dtype)], out=dtype, n_out=2, num_splits=2)
    t.add("refuse_indivisible", [cs(0), x(5, 2)], n_out=2, num_splits=2, refused=True)
    return t


def _split_v():
    t = Table("SPLIT_V")
    for shape, axis, sizes in (((5,), 0, (2, 3)), ((5, 2), 0, (1, 4)), ((2, 6), 1, (1, 2, 3)),
                               ((2, 6), -1, (4, 2)), ((2, 6), 1, (2, -1)), ((3, 4, 2), 1, (-1, 1)),
                               ((1, 2, 2, 7), 3, (3, 3, 1)), ((2, 3), 0, (2,)), ((2, 5), 1, (0,
                                                                                             5))):
        t.add(f"{dims_name(shape)}_axis{axis}_{'_'.join(map(str, sizes))}".replace("-", "m"),
              [x(*shape), ci(*sizes), cs(axis)],
              n_out=len(sizes),
              num_splits=len(sizes))
    t.add("sizes_int64", [x(5), c(values=[2, 3], dtype="int64"), cs(0)], n_out=2, num_splits=2)
    t.add("int32", [x(5, dtype="int32"), ci(2, 3), cs(0)], out="int32", n_out=2, num_splits=2)
    t.add("refuse_sum", [x(5), ci(2, 2), cs(0)], n_out=2, num_splits=2, refused=True)
    return t


def _concatenation():
    t = Table("CONCATENATION")
    for name, shapes, axis in (("rank1", ((2,), (3,)), 0), ("rows", ((2, 3), (1, 3)), 0),
                               ("columns", ((2, 3), (2, 4)), 1), ("negative", ((2, 3), (2, 4)), -1),
                               ("negative_first", ((2, 3), (1, 3)), -2), ("three", ((2, 1), (2, 2),
                                                                                    (2, 3)), 1),
                               ("five", ((1, 2),) * 5, 0), ("middle", ((2, 1, 3), (2, 2, 3)), 1),
                               ("channels", ((1, 2, 3, 4), (1, 2, 3, 2), (1, 2, 3, 1)),
                                3), ("height", ((1, 2, 3, 2), (1, 1, 3, 2)),
                                     1), ("width", ((2, 2, 1, 3), (2, 2, 2, 3)),
                                          2), ("batch", ((1, 2, 2, 2), (2, 2, 2, 2)), 0),
                               ("one", ((2, 3),), 0), ("rank5", ((1, 2, 1, 2, 3), (1, 2, 2, 2, 3)),
                                                       2), ("empty", ((2, 0), (2, 3)),
                                                            1), ("ones", ((1,), (1,), (1,)), 0)):
        t.add(name, [x(*shape) for shape in shapes], axis=axis)
    t.add("constant", [x(2, 3), c(2, 2)], axis=1)
    t.add("all_constant_but_one", [c(1, 3), x(2, 3), c(1, 3)], axis=0)
    # LiteRT refuses every fused activation of CONCATENATION.
    for dtype in ("int32", "int64", "bool", "uint8", "int8"):
        t.add(dtype, [x(2, dtype=dtype), x(3, dtype=dtype)], out=dtype, axis=0)
    t.add("refuse_shapes", [x(2, 3), x(3, 4)], axis=0, refused=True)
    t.add("refuse_axis", [x(2, 3), x(2, 3)], axis=2, refused=True)
    return t


def _transpose():
    t = Table("TRANSPOSE")
    for shape, perm in (((5,), (0,)), ((3, 4), (1, 0)), ((3, 4), (0, 1)), ((2, 3, 4), (0, 2, 1)),
                        ((2, 3, 4), (1, 0, 2)), ((2, 3, 4), (2, 1, 0)), ((2, 3, 4), (2, 0, 1)),
                        ((2, 3, 4), (1, 2, 0)), ((1, 2, 3, 4), (0, 3, 1, 2)),
                        ((1, 3, 4, 2), (0, 2, 3, 1)), ((2, 2, 3, 4), (3, 2, 1, 0)),
                        ((2, 3, 2, 2), (2, 0, 3, 1)), ((2, 3, 1, 4), (0, 1, 3, 2)), ((1, 5, 1, 3),
                                                                                     (0, 2, 1, 3)),
                        ((2, 1, 2, 3, 2), (4, 0, 2, 1, 3)), ((1, 2, 2, 3, 2),
                                                             (0, 4, 1, 2, 3)), ((2, 1, 2, 1, 2, 3),
                                                                                (5, 3, 1, 0, 2, 4)),
                        ((1, 2, 1, 2, 2, 3), (0, 1, 2, 3, 5, 4)), ((9, 17), (1, 0)), ((0, 3), (1,
                                                                                               0))):
        t.add(f"{dims_name(shape)}_{'_'.join(map(str, perm))}", [x(*shape), ci(*perm)])
    t.add("negative", [x(2, 3, 4), ci(-1, 0, 1)])
    # The permutation may be a run-time input.
    t.add("perm_is_input", [x(2, 3), x(values=[1, 0], dtype="int32")])
    for dtype in ("int32", "int64", "bool", "uint8", "int8"):
        t.add(dtype, [x(2, 3, dtype=dtype), ci(1, 0)], out=dtype)
    t.add("refuse_length", [x(2, 3), ci(0, 2, 1)], refused=True)
    t.add("refuse_axis", [x(2, 3), ci(0, 2)], refused=True)
    return t


def _matrix_diag():
    diag, put = Table("MATRIX_DIAG"), Table("MATRIX_SET_DIAG")
    for shape in ((3,), (2, 3), (1, 4), (2, 2, 3), (1,), (2, 1), (1, 2, 1, 3)):
        diag.add(dims_name(shape), [x(*shape)])
    diag.add("int32", [x(2, 3, dtype="int32")], out="int32")
    for shape, values in (((3, 3), (3,)), ((2, 3), (2,)), ((4, 2), (2,)), ((2, 3, 3), (2, 3)),
                          ((2, 2, 4), (2, 2)), ((1, 1), (1,)), ((2, 2, 3, 3), (2, 2, 3))):
        put.add(dims_name(shape), [x(*shape), x(*values)])
    put.add("int32", [x(3, 3, dtype="int32"), x(3, dtype="int32")], out="int32")
    return [diag, put]


def tables():
    return ([_reshape(), _squeeze(), _expand_dims()] + _shape_rank() + [
        _fill(),
        _tile(),
        _broadcast_to(),
        _range(),
        _pack(),
        _unpack(),
        _split(),
        _split_v(),
        _concatenation(),
        _transpose()
    ] + _matrix_diag())
