"""Pooling, softmax and normalisations."""

from cases import ACTIVATIONS, Table, x


def _pool(table, name, image, window, stride=(1, 1), padding="SAME", act="NONE", **kwargs):
    table.add(name, [x(*image)],
              padding=padding,
              stride_h=stride[0],
              stride_w=stride[1],
              filter_height=window[0],
              filter_width=window[1],
              act=act,
              **kwargs)


def _pool_table(op):
    t = Table(op)
    for pad in ("SAME", "VALID"):
        p = pad.lower()
        _pool(t, f"2x2_{p}", (1, 5, 6, 3), (2, 2), padding=pad)
        _pool(t, f"2x2_{p}_stride2", (1, 6, 7, 4), (2, 2), (2, 2), pad)
        _pool(t, f"3x3_{p}", (1, 5, 6, 3), (3, 3), padding=pad)
        _pool(t, f"3x3_{p}_stride2", (1, 7, 8, 3), (3, 3), (2, 2), pad)
        _pool(t, f"3x2_{p}_stride_1x3", (1, 6, 9, 2), (3, 2), (1, 3), pad)
        _pool(t, f"1x1_{p}_stride2", (1, 5, 5, 3), (1, 1), (2, 2), pad)
        _pool(t, f"5x5_{p}_stride3", (1, 9, 8, 1), (5, 5), (3, 3), pad)
        _pool(t, f"1x3_{p}", (1, 3, 7, 2), (1, 3), padding=pad)
    _pool(t, "global", (1, 4, 5, 7), (4, 5), padding="VALID")
    _pool(t, "global_batch2", (2, 3, 3, 5), (3, 3), (3, 3), "VALID")
    _pool(t, "window_larger_same", (1, 2, 3, 3), (5, 5))
    _pool(t, "batch3", (3, 4, 4, 2), (2, 2), (2, 2))
    for channels in (1, 8, 16, 17):
        _pool(t, f"channels_{channels}", (1, 4, 4, channels), (2, 2), (2, 2))
    for act in ACTIVATIONS[1:]:
        _pool(t, f"act_{act.lower()}", (1, 4, 5, 3), (2, 2), act=act)
    return t


def _softmax():
    t = Table("SOFTMAX")
    for shape in ((5,), (1,), (1, 10), (3, 7), (2, 3, 5), (2, 2, 2, 3), (1, 1, 1, 1), (4, 17),
                  (2, 1), (1, 33)):
        t.add("rank%d_%s" % (len(shape), "x".join(map(str, shape))), [x(*shape, lo=-6, hi=6)],
              beta=1.0)
    for beta in (0.5, 2.0, 0.1):
        t.add(f"beta_{beta}", [x(2, 6, lo=-4, hi=4)], beta=beta)
    t.add("large_values", [x(values=[[1000, 1001, 999], [-1000, -1001, -999]])], beta=1.0)
    t.add("far_apart", [x(values=[[0, 200, -200, 100]])], beta=1.0)
    t.add("equal_values", [x(values=[[3, 3, 3, 3]])], beta=1.0)
    t.add("rank5", [x(1, 2, 1, 2, 3)], beta=1.0)
    return t


def _log_softmax():
    t = Table("LOG_SOFTMAX")
    for shape in ((5,), (1,), (1, 10), (3, 7), (2, 3, 5), (2, 2, 2, 3), (4, 17), (2, 1)):
        t.add("rank%d_%s" % (len(shape), "x".join(map(str, shape))), [x(*shape, lo=-6, hi=6)])
    t.add("large_values", [x(values=[[1000, 1001, 999], [-1000, -1001, -999]])])
    t.add("far_apart", [x(values=[[0, 200, -200, 100]])])
    return t


def _l2_normalization():
    t = Table("L2_NORMALIZATION")
    for shape in ((6,), (1,), (3, 7), (1, 16), (2, 3, 5), (2, 2, 2, 3), (4, 17), (1, 2, 1, 2, 3)):
        t.add("rank%d_%s" % (len(shape), "x".join(map(str, shape))), [x(*shape)])
    t.add("tiny", [x(values=[[1e-7, -1e-7, 0], [3e-4, 4e-4, 0]])])
    t.add("zeros", [x(values=[[0, 0, 0], [1, 0, 0]])])
    return t


def _local_response():
    t = Table("LOCAL_RESPONSE_NORMALIZATION")
    for name, shape, radius, bias, alpha, beta in (("radius1", (1, 2, 3, 5), 1, 1.0, 1.0, 0.5),
                                                   ("radius2", (1, 3, 2, 7), 2, 2.0, 0.5, 0.75),
                                                   ("radius_larger", (1, 2, 2, 3), 20, 0.0, 1.0,
                                                    0.5), ("radius0", (1, 2, 2, 4), 0, 1.0, 2.0,
                                                           1.0), ("alexnet", (1, 2, 2, 16), 5, 1.0,
                                                                  1e-4, 0.75),
                                                   ("batch2", (2, 2, 2, 6), 2, 1.0, 4.0,
                                                    0.5), ("one_channel", (1, 3, 3, 1), 2, 1.0, 1.0,
                                                           0.5), ("beta1", (1, 1, 1, 9), 3, 9.0,
                                                                  4.0, 1.0)):
        t.add(name, [x(*shape)], radius=radius, bias=bias, alpha=alpha, beta=beta)
    return t


def tables():
    return [
        _pool_table("AVERAGE_POOL_2D"),
        _pool_table("MAX_POOL_2D"),
        _pool_table("L2_POOL_2D"),
        _softmax(),
        _log_softmax(),
        _l2_normalization(),
        _local_response()
    ]
