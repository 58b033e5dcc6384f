"""SLICE, STRIDED_SLICE, padding and reversing."""

from cases import Table, c, ci, cs, dims_name, x


def _slice():
    t = Table("SLICE")
    for shape, begin, size in (((5,), (1,), (3,)), ((3, 4), (0, 1), (2, 2)),
                               ((3, 4), (1, 0), (-1, -1)), ((2, 3, 4), (0, 1, 2), (2, 1, 2)),
                               ((2, 3, 4), (1, 0, 1), (-1, 2, -1)), ((1, 3, 4, 5), (0, 1, 0, 2),
                                                                     (1, 2, 4, 3)),
                               ((1, 3, 4, 5), (0, 0, 2, 0), (-1, -1, 1, -1)),
                               ((3, 4), (0, 0), (3, 4)), ((3, 4), (3, 0), (0, 4)),
                               ((2, 1, 2, 3, 2), (1, 0, 0, 1, 0), (1, 1, 2, 2, -1))):
        t.add(
            f"{dims_name(shape)}_{'_'.join(map(str, begin))}_{'_'.join(map(str, size))}".replace(
                "-", "m"), [x(*shape), ci(*begin), ci(*size)])
    t.add("int64_indices",
          [x(3, 4), c(values=[1, 1], dtype="int64"),
           c(values=[2, -1], dtype="int64")])
    t.add("begin_is_input", [x(3, 4), x(values=[1, 0], dtype="int32"), ci(2, 3)])
    for dtype in ("int32", "int64", "bool", "uint8", "int8"):
        t.add(dtype, [x(5, dtype=dtype), ci(1), ci(2)], out=dtype)
    t.add("refuse_beyond", [x(3, 4), ci(1, 1), ci(3, 2)], refused=True)
    t.add("refuse_size", [x(3, 4), ci(0, 0), ci(-2, 2)], refused=True)
    return t


def _strided_slice():
    t = Table("STRIDED_SLICE")

    def add(name, shape, begin, end, strides=None, spec=None, **kwargs):
        strides = strides or (1,) * len(begin)
        t.add(name, [spec or x(*shape), ci(*begin), ci(*end), ci(*strides)], **kwargs)

    add("rank1", (7,), (1,), (5,))
    add("rank1_step2", (7,), (1,), (6,), (2,))
    add("rank1_step3", (8,), (0,), (8,), (3,))
    add("negative_begin", (7,), (-4,), (6,))
    add("negative_end", (7,), (1,), (-2,))
    add("beyond_end", (5,), (2,), (99,))
    add("before_begin", (5,), (-99,), (3,))
    add("reversed", (5,), (4,), (-6,), (-1,))
    add("reversed_masks", (5,), (0,), (0,), (-1,), begin_mask=1, end_mask=1)
    add("reversed_step2", (7,), (6,), (0,), (-2,))
    add("begin_mask", (6,), (3,), (5,), begin_mask=1)
    add("end_mask", (6,), (2,), (3,), end_mask=1)
    add("both_masks", (3, 4), (1, 1), (2, 2), begin_mask=1, end_mask=2)
    add("empty", (5,), (3,), (3,))
    add("rank2", (4, 5), (1, 0), (3, 4), (1, 2))
    add("rank2_reversed", (3, 4), (2, 3), (-4, -5), (-1, -1))
    add("rank2_partial", (4, 3), (1,), (3,))
    add("rank3", (2, 3, 4), (0, 1, 1), (2, 3, 4), (1, 1, 2))
    add("rank3_partial", (3, 2, 4), (1, 0), (3, 1))
    add("rank4", (1, 4, 5, 3), (0, 1, 0, 0), (1, 4, 5, 3), (1, 2, 2, 1))
    add("rank4_reversed_width", (1, 2, 4, 2), (0, 0, -1, 0), (1, 2, -5, 2), (1, 1, -1, 1))
    add("rank5", (1, 2, 3, 2, 2), (0, 0, 1, 0, 1), (1, 2, 3, 2, 2))
    add("shrink", (3, 4), (1, 0), (2, 4), shrink_axis_mask=1)
    add("shrink_last", (3, 4), (0, 2), (3, 3), shrink_axis_mask=2)
    add("shrink_negative", (3, 4), (-1, 0), (0, 4), shrink_axis_mask=1, end_mask=2)
    add("shrink_to_scalar", (4,), (2,), (3,), shrink_axis_mask=1)
    add("shrink_two", (2, 3, 4), (1, 0, 2), (2, 3, 3), shrink_axis_mask=5)
    add("shrink_all", (2, 3), (1, 2), (2, 3), shrink_axis_mask=3)
    add("new_axis_first", (3, 4), (0, 0, 0), (1, 3, 4), new_axis_mask=1)
    add("new_axis_middle", (3, 4), (0, 0, 1), (3, 1, 4), new_axis_mask=2)
    add("new_axis_last", (3, 4), (0, 0, 0), (3, 4, 1), new_axis_mask=4)
    add("new_axis_two", (4,), (0, 0, 1), (1, 1, 3), new_axis_mask=3)
    add("new_axis_with_shrink", (3, 4), (0, 1, 1), (1, 2, 3), new_axis_mask=1, shrink_axis_mask=2)
    add("ellipsis_first", (2, 3, 4), (0, 1), (0, 3), ellipsis_mask=1)
    add("ellipsis_last", (2, 3, 4), (1, 0), (2, 0), ellipsis_mask=2)
    add("ellipsis_middle", (2, 3, 2, 4), (1, 0, 1), (2, 0, 3), ellipsis_mask=2)
    add("ellipsis_empty", (3, 4), (1, 0, 1), (3, 0, 4), ellipsis_mask=2)
    add("ellipsis_shrink", (2, 3, 4), (0, 1), (0, 2), ellipsis_mask=1, shrink_axis_mask=2)
    add("ellipsis_new_axis", (2, 3), (0, 0), (0, 1), ellipsis_mask=1, new_axis_mask=2)
    add("all_of_rank4", (1, 2, 2, 3), (0, 0, 0, 0), (0, 0, 0, 0), begin_mask=15, end_mask=15)
    # offset: end counts from begin.
    add("offset", (7,), (2,), (3,), offset=True)
    add("shape_vector", (), (0,), (1,),
        shrink_axis_mask=1,
        spec=x(values=[5, 6, 7, 8], dtype="int32"),
        out="int32")
    add("shape_tail", (), (1,), (3,), spec=x(values=[5, 6, 7, 8], dtype="int32"), out="int32")
    for dtype in ("int64", "bool", "uint8", "int8"):
        add(dtype, (), (1,), (6,), (2,), spec=x(7, dtype=dtype), out=dtype)
    t.add("begin_is_input",
          [x(5), x(values=[1], dtype="int32"),
           x(values=[4], dtype="int32"),
           ci(1)])
    add("refuse_stride_zero", (5,), (0,), (5,), (0,), refused=True)
    t.add("refuse_lengths", [x(3, 4), ci(0, 0), ci(1), ci(1, 1)], refused=True)
    return t


def _paddings(pairs, dtype="int32"):
    return c(values=[list(pair) for pair in pairs], dtype=dtype)


PADS = (
    ("rank1", (3,), ((1, 2),)),
    ("rank2", (2, 3), ((1, 0), (0, 2))),
    ("rank3", (2, 1, 3), ((0, 1), (2, 0), (1, 1))),
    ("spatial", (1, 3, 4, 2), ((0, 0), (1, 1), (1, 1), (0, 0))),
    ("uneven", (1, 3, 3, 2), ((0, 0), (0, 1), (2, 0), (0, 0))),
    ("channels", (1, 2, 2, 3), ((0, 0), (0, 0), (0, 0), (0, 5))),
    ("batch", (1, 2, 2, 2), ((1, 1), (0, 0), (0, 0), (0, 0))),
    ("everywhere", (1, 2, 1, 2), ((1, 0), (0, 1), (1, 1), (2, 0))),
    ("nothing", (2, 3), ((0, 0), (0, 0))),
    ("rank5", (1, 2, 1, 2, 2), ((0, 0), (1, 0), (0, 1), (0, 0), (1, 1))),
)


def _pad():
    pad, pad2 = Table("PAD"), Table("PADV2")
    for name, shape, pairs in PADS:
        pad.add(name, [x(*shape), _paddings(pairs)])
        pad2.add(name, [x(*shape), _paddings(pairs), c(1, values=1.5)])
    pad.add("int64_paddings", [x(2, 3), _paddings(((1, 0), (0, 1)), "int64")])
    pad2.add("int64_paddings", [x(2, 3), _paddings(((1, 0), (0, 1)), "int64"), c(values=-3.0)])
    pad.add("paddings_are_input", [x(2, 3), x(values=[[1, 0], [0, 1]], dtype="int32")])
    pad2.add("value_is_input", [x(2, 3), _paddings(((1, 0), (0, 1))), x()])
    pad2.add("value_vector", [x(2, 3), _paddings(((1, 0), (0, 1))), c(1)])
    for dtype in ("int32", "int64", "bool"):
        pad.add(dtype, [x(2, 3, dtype=dtype), _paddings(((1, 0), (0, 1)))], out=dtype)
    for dtype in ("int32", "int64"):
        pad2.add(
            dtype,
            [x(2, 3, dtype=dtype), _paddings(
                ((1, 0), (0, 1))), cs(7, dtype)], out=dtype)
    pad.add("refuse_negative", [x(2, 3), _paddings(((-1, 0), (0, 1)))], refused=True)
    pad.add("refuse_rank", [x(2, 3), _paddings(((1, 0), (0, 1), (0, 0)))], refused=True)
    mirror = Table("MIRROR_PAD")
    for mode in ("REFLECT", "SYMMETRIC"):
        for name, shape, pairs in (("rank1", (4,), ((2, 3),)), ("rank2", (3, 4), ((1, 2), (2, 1))),
                                   ("full_reflect", (3, 4), ((2, 2), (3, 3))),
                                   ("spatial", (1, 3, 4, 2), ((0, 0), (1, 1), (2, 1), (0, 0))),
                                   ("rank3", (2, 3, 2), ((1, 1), (0, 2), (1, 0))),
                                   ("nothing", (2, 3), ((0, 0), (0, 0))),
                                   ("uneven", (1, 4, 3, 1), ((0, 0), (3, 0), (0, 2), (0, 0)))):
            mirror.add(f"{name}_{mode.lower()}", [x(*shape), _paddings(pairs)], mode=mode)
        mirror.add(f"int32_{mode.lower()}",
                   [x(3, dtype="int32"), _paddings(((1, 2),))],
                   out="int32",
                   mode=mode)
    mirror.add("int64_paddings", [x(3), _paddings(((1, 2),), "int64")], mode="REFLECT")
    mirror.add("whole_symmetric", [x(3), _paddings(((3, 3),))], mode="SYMMETRIC")
    mirror.add("refuse_too_wide_reflect", [x(3), _paddings(((3, 0),))],
               mode="REFLECT",
               refused=True)
    mirror.add("refuse_too_wide_symmetric", [x(3), _paddings(((4, 0),))],
               mode="SYMMETRIC",
               refused=True)
    return [pad, pad2, mirror]


def _reverse():
    t, seq = Table("REVERSE_V2"), Table("REVERSE_SEQUENCE")
    for shape, axes in (((5,), (0,)), ((3, 4), (0,)), ((3, 4), (1,)), ((2, 3, 4), (1,)),
                        ((2, 3, 4), (-1,)), ((2, 3, 4), (1, 2)), ((1, 3, 4, 2), (2,)),
                        ((1, 3, 4, 2), (1, 2)), ((2, 2, 3), (0, 1, 2)), ((2, 1, 2, 3, 2), (3,))):
        t.add(f"{dims_name(shape)}_{'_'.join(map(str, axes))}".replace("-", "m"),
              [x(*shape), ci(*axes)])
    for dtype in ("int32", "int64", "bool"):
        t.add(dtype, [x(5, dtype=dtype), ci(0)], out=dtype)
    t.add("refuse_axis", [x(3), ci(1)], refused=True)
    for shape, lengths, seq_dim, batch_dim in (((3, 5), [2, 5, 0], 1, 0), ((5, 3), [1, 4, 5], 0, 1),
                                               ((2, 4, 3), [3, 4], 1, 0), ((4, 2, 3), [2, 4], 0, 1),
                                               ((2, 3, 4), [4, 2], 2, 0), ((3, 2, 4), [1, 3], 0, 1),
                                               ((2, 3, 2, 2), [3, 1], 1, 0), ((1, 6), [4], 1, 0)):
        seq.add(f"{dims_name(shape)}_seq{seq_dim}_batch{batch_dim}",
                [x(*shape), c(values=lengths, dtype="int32")],
                seq_dim=seq_dim,
                batch_dim=batch_dim)
    seq.add("lengths_int64", [x(2, 4), x(values=[3, 2], dtype="int64")], seq_dim=1, batch_dim=0)
    seq.add("int32", [x(2, 4, dtype="int32"), ci(3, 2)], out="int32", seq_dim=1, batch_dim=0)
    return [t, seq]


def tables():
    return [_slice(), _strided_slice()] + _pad() + _reverse()
