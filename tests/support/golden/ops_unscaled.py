"""Integers of 8 and 16 bits without a scale: operators that LiteRT runs on the numbers as they are.

MEAN and SUM are not among them: LiteRT multiplies by the scale that is missing, and answers zeros.
"""

from cases import Table
from sheets import Sheet

POOLS = (((1, 5, 6, 3), (2, 2), (1, 1)), ((1, 6, 7, 4), (2, 2), (2, 2)), ((1, 7, 8, 3), (3, 3),
                                                                      (2, 2)),
         ((2, 4, 5, 7), (4, 5), (1, 1)), ((1, 2, 3, 17), (2, 3), (1, 1)))
REDUCTIONS = (((2, 3, 4), (1,)), ((2, 3, 4), (0, 2)), ((1, 4, 5, 7), (1, 2)), ((9,), (0,)))


def tables():
    table = Table("UNSCALED")
    for dtype in ("int8", "uint8", "int16"):
        for op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
            sheet = Sheet(op, dtype)
            for image, window, stride in POOLS:
                x = sheet.x(image, dtype)
                for padding in ("SAME", "VALID"):
                    sheet.add([x], dtype, padding=padding,
                              stride_h=stride[0], stride_w=stride[1], filter_height=window[0],
                              filter_width=window[1], act="NONE")
            sheet.name = f"{op.lower()}_{dtype}"
            table.append(sheet.case())
        for op in ("MAXIMUM", "MINIMUM"):
            sheet = Sheet(op, dtype)
            for left, right in (((2, 3, 4), (2, 3, 4)), ((3, 1), (1, 5)), ((7,), ()), ((33,), (33,))):
                sheet.add([sheet.x(left, dtype), sheet.x(right, dtype)], dtype)
            sheet.name = f"{op.lower()}_{dtype}"
            table.append(sheet.case())
        for op in ("REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
            sheet = Sheet(op, dtype)
            for shape, axes in REDUCTIONS:
                sheet.add([sheet.x(shape, dtype), sheet.ints(axes)], dtype,
                          keep_dims=len(axes) == 1)
            sheet.name = f"{op.lower()}_{dtype}"
            table.append(sheet.case())
    return [table]
