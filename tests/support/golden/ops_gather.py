"""Gathering, scattering, one-hot and look-ups."""

from cases import Table, c, ci, cs, dims_name, x


def _gather():
    t = Table("GATHER")
    for shape, indices, axis in (((5,), [3, 0, 3], 0), ((4, 3), [2, 0], 0), ((3, 4), [3, 1, 1], 1),
                                 ((3, 4), [0, 2], -1), ((2, 3, 4), [2,
                                                                    0], 1), ((2, 3, 4), [[0, 3],
                                                                                         [1,
                                                                                          2]], 2),
                                 ((2, 3, 2), [[1], [0]], -3), ((4, 3), 2, 0), ((3, 4), 1, 1),
                                 ((1, 2, 3, 2), [1, 0], 2), ((4,), [[0, 1], [3, 2]],
                                                             0), ((2, 1, 3, 1, 2), [2, 2, 0], 2)):
        rank = len(_shape_of(indices))
        name = f"{dims_name(shape)}_axis{axis}_rank{rank}"
        t.add(name.replace("-", "m"), [x(*shape), c(values=indices, dtype="int32")], axis=axis)
    for shape, indices, axis, batch in (((2, 3), [[0, 2],
                                                  [1, 1]], 1, 1), ((2, 3, 4), [[2, 0], [1, 2]], 1,
                                                                   1), ((2, 3, 4), [[3, 0],
                                                                                    [1, 2]], 2, 1),
                                        ((2, 2, 3), [[[0], [2]],
                                                     [[1], [1]]], 2, 2), ((2, 3, 2), [1, 2], 1, 1)):
        t.add(f"batch{batch}_{dims_name(shape)}_axis{axis}_{dims_name(_shape_of(indices))}",
              [x(*shape), c(values=indices, dtype="int32")],
              axis=axis,
              batch_dims=batch)
    t.add("negative_batch", [x(2, 3, 4), c(values=[[2, 0], [1, 2]], dtype="int32")],
          axis=1,
          batch_dims=-1)
    t.add("indices_are_input", [x(5, 3), x(values=[4, 0], dtype="int32")])
    t.add("indices_int64", [x(5, 3), x(values=[4, 0], dtype="int64")])
    t.add("embedding", [c(6, 4), x(values=[[5, 0, 2]], dtype="int32")])
    for dtype in ("int32", "int64", "bool", "uint8", "int8"):
        t.add(dtype, [x(5, dtype=dtype), ci(3, 1)], out=dtype)
    t.add("no_indices", [x(5, 2), c(0, dtype="int32")])
    t.add("refuse_index", [x(3), x(values=[3], dtype="int32")], refused=True)
    t.add("refuse_negative_index", [x(3), x(values=[-1], dtype="int32")], refused=True)
    return t


def _shape_of(values):
    return (len(values),) + _shape_of(values[0]) if isinstance(values, list) else ()


def _gather_nd():
    t = Table("GATHER_ND")
    for shape, indices in (((5,), [[3], [0]]), ((3, 4), [[0, 1], [2, 3]]), ((3, 4), [[2], [0]]),
                           ((2, 3, 4), [[1, 2], [0, 0]]), ((2, 3, 4), [[[1, 2, 3]], [[0, 0, 0]]]),
                           ((2, 3, 4), [[1],
                                        [1], [0]]), ((3, 4), [1, 2]), ((2, 2, 2, 3), [[0, 1, 1],
                                                                                      [1, 0, 0]])):
        t.add(f"{dims_name(shape)}_{dims_name(_shape_of(indices))}",
              [x(*shape), c(values=indices, dtype="int32")])
    t.add("indices_int64", [x(3, 4), x(values=[[2, 1]], dtype="int64")])
    t.add("indices_are_input", [x(3, 4), x(values=[[2, 1], [0, 0]], dtype="int32")])
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [x(5, dtype=dtype), c(values=[[3], [1]], dtype="int32")], out=dtype)
    t.add("refuse_index", [x(3, 4), x(values=[[3, 0]], dtype="int32")], refused=True)
    t.add("refuse_depth", [x(3), c(values=[[0, 0]], dtype="int32")], refused=True)
    return t


def _scatter_nd():
    t = Table("SCATTER_ND")
    for name, indices, updates, shape in (("rank1", [[4], [1], [6]], (3,),
                                           (8,)), ("rows", [[0], [2]], (2, 3), (4, 3)),
                                          ("points", [[0, 1], [2, 0]], (2,),
                                           (3, 3)), ("duplicates", [[1], [1], [0]], (3,), (3,)),
                                          ("duplicate_rows", [[1], [1]], (2, 2),
                                           (3, 2)), ("planes", [[1]], (1, 2, 3), (2, 2, 3)),
                                          ("rank3_points", [[0, 1, 2], [1, 0, 0]], (2,),
                                           (2, 2, 3)), ("batched_indices", [[[0], [2]],
                                                                            [[1],
                                                                             [3]]], (2, 2), (5,))):
        t.add(name, [c(values=indices, dtype="int32"), x(*updates), ci(*shape)])
    t.add("indices_are_input", [x(values=[[2], [0]], dtype="int32"), x(2), ci(4)])
    t.add("int32", [c(values=[[2], [0]], dtype="int32"), x(2, dtype="int32"), ci(4)], out="int32")
    t.add("refuse_index", [x(values=[[4]], dtype="int32"), x(1), ci(4)], refused=True)
    t.add("refuse_updates", [c(values=[[2], [0]], dtype="int32"), x(3), ci(4)], refused=True)
    return t


def _one_hot():
    t = Table("ONE_HOT")
    for name, indices, depth, axis in (("last", [1, 0, 3], 4, -1), ("first", [1, 0, 3], 4, 0),
                                       ("rank2", [[0, 2],
                                                  [1, 1]], 3, -1), ("rank2_middle", [[0, 2],
                                                                                     [1, 1]], 3, 1),
                                       ("scalar", 2, 4, -1), ("outside", [-1, 5, 2], 3, -1),
                                       ("depth1", [0, 1], 1, -1), ("rank2_first", [[0, 2,
                                                                                    1]], 3, 0)):
        t.add(name,
              [x(values=indices, dtype="int32"),
               cs(depth),
               cs(1, "float32"),
               cs(0, "float32")],
              axis=axis)
    t.add("on_off",
          [x(values=[1, 0], dtype="int32"),
           cs(3), cs(5, "float32"),
           cs(-2, "float32")],
          axis=-1)
    t.add("int64_indices",
          [x(values=[1, 0], dtype="int64"),
           cs(3), cs(1, "float32"),
           cs(0, "float32")],
          axis=-1)
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [x(values=[1, 0], dtype="int32"),
                      cs(3), cs(1, dtype),
                      cs(0, dtype)],
              out=dtype,
              axis=-1)
    return t


def _lookups():
    t, sparse, update = Table("EMBEDDING_LOOKUP"), Table("SPARSE_TO_DENSE"), Table(
        "DYNAMIC_UPDATE_SLICE")
    for shape, ids in (((4, 3), [1, 0, 3]), ((2, 5), [1]), ((5, 1), [4, 4, 0,
                                                                     2]), ((3, 2, 2), [2, 0]),
                       ((4, 17), [3, 1]), ((1, 3), [0, 0]), ((3, 2, 1, 2), [1, 2])):
        t.add(f"{dims_name(shape)}_{len(ids)}", [x(values=ids, dtype="int32"), c(*shape)])
    t.add("table_is_input", [x(values=[2, 0], dtype="int32"), x(3, 4)])
    t.add("int32", [x(values=[2, 0], dtype="int32"), c(3, 2, dtype="int32")], out="int32")
    t.add("refuse_id", [x(values=[3], dtype="int32"), c(3, 2)], refused=True)
    for name, indices, shape, values in (("vector", [1, 3], (5,),
                                          (2,)), ("matrix", [[0, 1], [2, 0]], (3, 3),
                                                  (2,)), ("scalar_index", 2, (4,),
                                                          ()), ("shared_value", [0, 3], (4,), ()),
                                         ("rank3", [[0, 1, 2], [1, 0, 0]], (2, 2, 3),
                                          (2,)), ("rank4", [[0, 1, 0, 1]], (1, 2, 1, 2), (1,))):
        sparse.add(name,
                   [x(values=indices, dtype="int32"),
                    ci(*shape),
                    x(*values),
                    cs(0.5, "float32")])
    sparse.add("int32", [x(values=[1, 3], dtype="int32"),
                         ci(5), x(2, dtype="int32"),
                         cs(-1)],
               out="int32")
    sparse.add(
        "int64_indices",
        [x(values=[1, 3], dtype="int64"),
         c(values=[5], dtype="int64"),
         x(2),
         cs(0, "float32")])
    for name, shape, piece, start in (("vector", (6,), (2,), [3]), ("matrix", (3, 4), (2, 2), [
            1, 1
    ]), ("whole", (2, 3), (2, 3), [0, 0]), ("clamped", (3, 4), (2, 2),
                                            [2, 3]), ("clamped_below", (3, 4), (2, 2), [-1, -5]),
                                      ("cache", (1, 5, 2, 3), (1, 1, 2, 3),
                                       [0, 3, 0, 0]), ("rank3", (2, 3, 4), (1, 2, 2),
                                                       [1, 0, 2]), ("row", (4, 3), (1, 3), [2, 0])):
        update.add(name, [x(*shape), x(*piece), x(values=start, dtype="int32")])
    update.add("constant_start", [x(3, 4), x(2, 2), ci(0, 1)])
    update.add("int64_start", [x(3, 4), x(2, 2), x(values=[0, 1], dtype="int64")])
    update.add("constant_operand", [c(3, 4), x(2, 2), ci(0, 1)])
    for dtype in ("int32", "int64", "bool"):
        update.add(dtype, [x(5, dtype=dtype), x(2, dtype=dtype), ci(1)], out=dtype)
    update.add("refuse_rank", [x(3, 4), x(2), ci(0)], refused=True)
    return [t, sparse, update]


def tables():
    return [_gather(), _gather_nd(), _scatter_nd(), _one_hot()] + _lookups()
