"""Block rearrangement, resizing and batched matrix products."""

from cases import Table, c, ci, x


def _blocks():
    down, up = Table("SPACE_TO_DEPTH"), Table("DEPTH_TO_SPACE")
    for n, h, w, ch, block in ((1, 4, 4, 1, 2), (1, 2, 4, 3, 2), (2, 2, 2, 2, 2), (1, 6, 3, 1, 3),
                               (1, 4, 8, 2, 4), (3, 2, 6, 1, 2), (1, 2, 2, 5, 2), (1, 3, 3, 2, 1)):
        name = f"{n}x{h}x{w}x{ch}_block{block}"
        down.add(name, [x(n, h, w, ch)], block_size=block)
        up.add(name, [x(n, h // block, w // block, ch * block * block)], block_size=block)
    for t, shape in ((down, (1, 2, 2, 1)), (up, (1, 1, 1, 4))):
        for dtype in ("int32", "int64", "uint8"):
            t.add(dtype, [x(*shape, dtype=dtype)], out=dtype, block_size=2)
    down.add("refuse_indivisible", [x(1, 3, 4, 1)], block_size=2, refused=True)
    up.add("refuse_indivisible", [x(1, 2, 2, 3)], block_size=2, refused=True)
    return [down, up]


def _batch_blocks():
    to, back = Table("SPACE_TO_BATCH_ND"), Table("BATCH_TO_SPACE_ND")
    for shape, block, pads in (((1, 4, 4, 1), (2, 2), ((0, 0), (0, 0))), ((1, 3, 4, 2), (2, 2),
                                                                          ((1, 0), (0, 0))),
                               ((2, 2, 4, 3), (2, 2), ((0, 0), (0, 0))), ((1, 5, 2, 1), (3, 2),
                                                                          ((1, 0), (1, 1))),
                               ((1, 4, 6, 2), (1, 3), ((0, 0), (0, 0))), ((1, 3, 3, 1), (2, 2),
                                                                          ((0, 1), (1, 0))),
                               ((1, 4, 3), (2,), ((0, 0),)), ((2, 5, 2), (3,), ((0, 1),)),
                               ((1, 4, 4, 3), (4, 4), ((0, 0), (0, 0))), ((1, 3, 3, 2), (1, 1),
                                                                          ((0, 0), (0, 0)))):
        name = "x".join(map(str, shape)) + "_" + "x".join(map(str, block)) + "_" + "".join(
            f"{a}{b}" for a, b in pads)
        pairs = c(values=[list(p) for p in pads], dtype="int32")
        to.add(name, [x(*shape), ci(*block), pairs])
        inner = [(size + a + b) // k for size, k, (a, b) in zip(shape[1:], block, pads)]
        batch = shape[0]
        for k in block:
            batch *= k
        back.add(name, [x(batch, *inner, *shape[1 + len(block):]), ci(*block), pairs])
    to.add("int32",
           [x(1, 2, 2, 1, dtype="int32"),
            ci(2, 2),
            c(values=[[0, 0], [0, 0]], dtype="int32")],
           out="int32")
    back.add("int32",
             [x(4, 1, 1, 1, dtype="int32"),
              ci(2, 2),
              c(values=[[0, 0], [0, 0]], dtype="int32")],
             out="int32")
    to.add(
        "block_is_input",
        [x(1, 2, 2, 1),
         x(values=[2, 2], dtype="int32"),
         c(values=[[0, 0], [0, 0]], dtype="int32")])
    to.add("refuse_indivisible",
           [x(1, 3, 4, 1), ci(2, 2),
            c(values=[[0, 0], [0, 0]], dtype="int32")],
           refused=True)
    back.add("refuse_batch",
             [x(3, 2, 2, 1), ci(2, 2),
              c(values=[[0, 0], [0, 0]], dtype="int32")],
             refused=True)
    return [to, back]


SIZES = (
    ("up2", (1, 3, 4, 2), (6, 8)),
    ("down2", (1, 6, 4, 3), (3, 2)),
    ("uneven_up", (1, 3, 2, 1), (5, 7)),
    ("uneven_down", (1, 7, 5, 2), (3, 4)),
    ("same", (1, 3, 4, 2), (3, 4)),
    ("to_one", (1, 4, 5, 2), (1, 1)),
    ("from_one", (1, 1, 1, 3), (3, 4)),
    ("mixed", (1, 2, 6, 1), (5, 3)),
    ("batch2", (2, 2, 3, 2), (4, 5)),
    ("17_channels", (1, 2, 2, 17), (3, 3)),
    ("height_only", (1, 3, 4, 1), (7, 4)),
)


def _resize(op):
    t = Table(op)
    for align, half in ((False, False), (True, False), (False, True), (True, True)):
        key = ("_align" if align else "") + ("_half" if half else "")
        if align and half:
            # LiteRT's kernels differ here: BILINEAR refuses the pair, NEAREST_NEIGHBOR runs it.
            if op == "RESIZE_BILINEAR":
                t.add("refuse_align_half", [x(1, 2, 2, 1), ci(4, 4)],
                      align_corners=True,
                      half_pixel_centers=True,
                      refused=True)
                continue
        for name, shape, size in SIZES:
            t.add(name + key, [x(*shape), ci(*size)],
                  align_corners=align,
                  half_pixel_centers=half)
    t.add("size_is_input", [x(1, 3, 3, 2), x(values=[5, 2], dtype="int32")])
    t.add("refuse_rank", [x(3, 3), ci(2, 2)], refused=True)
    return t


def _batch_matmul():
    t = Table("BATCH_MATMUL")
    for name, left, right in (("rank2", (3, 4), (4, 5)), ("rank3", (2, 3, 4), (2, 4, 5)),
                              ("rank4", (1, 2, 3, 4),
                               (1, 2, 4, 2)), ("rank5", (1, 2, 1, 2, 3),
                                               (1, 2, 1, 3, 2)), ("vector_left", (1, 7), (7, 3)),
                              ("vector_right", (3, 7), (7, 1)), ("inner_product", (1, 9), (9, 1)),
                              ("outer_product", (4, 1), (1, 5)), ("17", (2, 17), (17, 19))):
        for adj_x in (False, True):
            for adj_y in (False, True):
                a = left[:-2] + left[:-3:-1] if adj_x else left
                b = right[:-2] + right[:-3:-1] if adj_y else right
                t.add(name + ("_tx" if adj_x else "") + ("_ty" if adj_y else ""),
                      [x(*a), x(*b)],
                      adj_x=adj_x,
                      adj_y=adj_y)
    for name, left, right in (("broadcast_left", (3, 4),
                               (2, 4, 5)), ("broadcast_right", (2, 3, 4),
                                            (4, 5)), ("broadcast_one", (1, 3, 4), (3, 4, 2)),
                              ("broadcast_both", (2, 1, 2, 3),
                               (1, 3, 3, 2)), ("broadcast_rank5", (2, 1, 1, 2, 3), (1, 2, 3, 1)),
                              ("broadcast_rank4_rank2", (2, 2, 3, 4), (4, 2))):
        t.add(name, [x(*left), x(*right)])
    t.add("broadcast_left_tx", [x(4, 3), x(2, 4, 5)], adj_x=True)
    t.add("broadcast_right_ty", [x(2, 3, 4), x(5, 4)], adj_y=True)
    t.add("constant_right", [x(2, 3, 4), c(2, 4, 5)])
    t.add("constant_right_ty", [x(2, 3, 4), c(2, 5, 4)], adj_y=True)
    t.add("constant_left", [c(3, 4), x(2, 4, 5)])
    t.add("refuse_depth", [x(3, 4), x(5, 2)], refused=True)
    t.add("refuse_batch", [x(2, 3, 4), x(3, 4, 2)], refused=True)
    return t


def tables():
    return _blocks() + _batch_blocks() + [
        _resize("RESIZE_BILINEAR"),
        _resize("RESIZE_NEAREST_NEIGHBOR"),
        _batch_matmul()
    ]
