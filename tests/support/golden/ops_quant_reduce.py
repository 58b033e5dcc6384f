"""Pools and reductions of quantized tensors."""

from cases import ACTIVATIONS, Table
from sheets import ZEROS, Sheet

EVERY = ("int8", "uint8", "int16")
# image, window, stride
POOLS = (((1, 5, 6, 3), (2, 2), (1, 1)), ((1, 6, 7, 4), (2, 2), (2, 2)), ((1, 7, 8, 3), (3, 3),
                                                                      (2, 2)),
         ((1, 6, 9, 2), (3, 2), (1, 3)), ((1, 5, 5, 3), (1, 1), (2, 2)), ((1, 9, 8, 1), (5, 5),
                                                                         (3, 3)),
         ((2, 4, 5, 7), (4, 5), (1, 1)), ((1, 2, 3, 3), (2, 3), (1, 1)), ((1, 4, 4, 17), (2, 2),
                                                                         (2, 2)),
         ((1, 3, 4, 65), (3, 3), (1, 1)))


def _pools(op):
    table = Table("QUANT_" + op)
    for dtype in EVERY:
        sheet = Sheet(op, dtype)
        for index, (image, window, stride) in enumerate(POOLS):
            zero, scale = ZEROS[dtype][index % 5], 1 / 3000 if dtype == "int16" else 1 / 20
            x = sheet.x(image, dtype, scale, zero)
            for padding in ("SAME", "VALID"):
                act = ACTIVATIONS[(index + (padding == "SAME")) % 4]
                sheet.add([x], dtype, scale, zero, padding=padding, stride_h=stride[0], stride_w=stride[1],
                          filter_height=window[0], filter_width=window[1], act=act)
        table.append(sheet.case())
    return table


# shape, axes
REDUCTIONS = (((2, 3, 4), (1,)), ((2, 3, 4), (-1,)), ((2, 3, 4), (0, 2)), ((1, 4, 5, 7), (1, 2)),
              ((1, 4, 5, 7), (2, 1)), ((9,), (0,)), ((3, 5), (0, 1)), ((2, 3, 4), (0, -3)),
              ((2, 1, 3, 2, 2), (1, 3)), ((1, 1, 1, 5), (1, 2)), ((3, 7, 19), (0,)),
              ((300, 3), (0,)))


def _reductions(op, rescales, dtypes=EVERY):
    table = Table("QUANT_" + op)
    for dtype in dtypes:
        sheet = Sheet(op, dtype)
        for index, (shape, axes) in enumerate(REDUCTIONS):
            zero, scale = ZEROS[dtype][index % 5], 1 / 3000 if dtype == "int16" else 1 / 20
            x = sheet.x(shape, dtype, scale, zero)
            for keep in (False, True):
                out, out_zero = scale, zero
                if rescales:
                    out = scale * (1, 3.7, 0.4, 20, 0.09)[(index + keep) % 5]
                    out_zero = ZEROS[dtype][index * 2 % 5]
                sheet.add([x, sheet.ints(axes)], dtype, out, out_zero, keep_dims=keep)
        # LiteRT 2.3's reference SUM leaves int8 and int16 outputs unset.
        table.append(sheet.case(lsb=op == "SUM", optimized=op == "SUM"))
    return table


def tables():
    return [_pools("AVERAGE_POOL_2D"), _pools("MAX_POOL_2D"),
            _reductions("MEAN", True), _reductions("SUM", True),
            _reductions("REDUCE_MAX", False), _reductions("REDUCE_MIN", False)]
