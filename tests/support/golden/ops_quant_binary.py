"""Arithmetic and comparisons of two quantized tensors."""

from cases import ACTIVATIONS, Table
from sheets import ZEROS, Sheet

SHAPES = (((2, 3, 5), (2, 3, 5)), ((), ()), ((3, 7), (1,)), ((1,), (3, 7)), ((2, 3, 4), (4,)),
          ((4,), (2, 3, 4)), ((3, 1), (3, 4)), ((2, 1, 3, 1), (1, 4, 1, 5)),
          ((1, 3, 3, 17), (1, 1, 1, 17)), ((0, 3), (0, 3)), ((2, 0, 3), (1, 1, 3)), ((131,), (131,)))
# Factors of the unit scale: left, right, output.
SCALES = ((1, 1, 1), (1, 0.5, 2), (0.3, 1.7, 1.1), (1, 30, 20), (20, 0.01, 9), (1, 1, 0.2),
          (1e-3, 1, 1), (1, 1, 100), (2.5, 2.5, 2.5), (0.7, 1.3, 1.9))
# LiteRT's comparisons need scales below 1; its DIV shifts too far where quotients are small, and its
# MUL of int16 overflows where they are large.
LOW_SCALES = tuple((a / 32, b / 32, y) for a, b, y in SCALES)
DIV_SCALES = ((1, 1, 0.02), (1, 0.5, 0.03), (0.7, 1.3, 0.01), (2, 1, 0.05))
MUL_SCALES = tuple((a, b, y * 1000) for a, b, y in SCALES)
# Of MUL: the product's scale over the output's is 1 or more in half of them.
GROWING = ((1, 1, 0.5), (1, 2, 1.9), (0.5, 1, 0.6), (3, 1, 2.9))


def _unit(dtype):
    return 1 / 2048 if dtype == "int16" else 1 / 16


def _sheet(op, dtype, name="", acts=(), out=None, scales=SCALES, right=None, **options):
    sheet = Sheet(op, dtype + name)
    zeros, unit = ZEROS[dtype], _unit(dtype)
    right = right or dtype
    right_zeros = ZEROS[right]
    for index in range(24):
        (left_shape, right_shape), (a, b, y) = SHAPES[index % 12], scales[index % len(scales)]
        zero_a, zero_b, zero_y = zeros[index % 5], right_zeros[index * 3 % 5], zeros[index * 2 % 5]
        scale_y = unit * (y * unit if op in ("MUL",) else y)
        if op == "PRELU":
            left_shape, right_shape = max(left_shape, right_shape, key=len), right_shape
            if len(right_shape) > len(left_shape) or left_shape == (1,):
                right_shape = (1,)
            if left_shape[-1:] == (1,):
                right_shape = left_shape
        more = dict(options)
        low, high, least = None, None, None
        if op == "DIV":  # by anything but zero; zero itself is divided wrongly, too
            zero_a = zeros[1]
            low = zero_b + 1 if zero_b < 100 else None
            high = zero_b - 1 if low is None else None
            scale_y, least = y, zero_a + (9000 if dtype == "int16" else 60)
        args = [sheet.x(left_shape, dtype, unit * a, zero_a, lo=least)]
        if index % 6 == 5:
            args.append(sheet.c(right_shape, right, unit * b, zero_b, lo=low, hi=high))
        else:
            args.append(sheet.x(right_shape, right, unit * b, zero_b, lo=low, hi=high))
        if acts and index % 3 == 1:
            more["act"] = acts[index // 3 % len(acts)]
        if out == "bool":
            sheet.add(args, "bool", **more)
        else:
            sheet.add(args, dtype, scale_y, zero_y, **more)
    return sheet


def _powers_of_two(op):
    """int16 on scales that are powers of two: shifts instead of factors."""
    sheet = Sheet(op, "int16_powers_of_two")
    for index in range(20):
        left, right = SHAPES[index % 12]
        if op == "ADD":  # LiteRT adds no others in this way
            right = left
        shift = (0, 1, 3, 8)[index % 4]
        scales = [2.0**-12, 2.0**-12]
        scales[index // 4 % 2] *= 2.0**-shift
        args = [sheet.x(left, "int16", scales[0]), sheet.x(right, "int16", scales[1])]
        sheet.add(args, "int16", 2.0**-12, act=ACTIVATIONS[index % 3], pot_scale_int16=True)
    return sheet


def _same_scales(op, dtype):
    sheet = Sheet(op, dtype)
    for index in range(20):
        left, right = SHAPES[index % 12]
        scale, zero = _unit(dtype), ZEROS[dtype][index % 5]
        args = [sheet.x(left, dtype, scale, zero), sheet.x(right, dtype, scale, zero)]
        sheet.add(args, dtype, scale, zero)
    return sheet


def _table(op, sheets, lsb=0):
    table = Table("QUANT_" + op)
    for sheet in sheets:
        table.append(sheet.case(lsb))
    return table


def tables():
    small, every = ("int8", "uint8"), ("int8", "uint8", "int16")
    acts = ACTIVATIONS[1:]
    result = []
    for op in ("ADD", "SUB"):
        sheets = [_sheet(op, dtype, acts=acts) for dtype in small]
        sheets.append(_sheet(op, "int16", acts=acts, pot_scale_int16=False))
        result.append(_table(op, sheets + [_powers_of_two(op)]))
    result.append(_table("MUL", [_sheet("MUL", dtype, acts=acts) for dtype in small] +
                         [_sheet("MUL", "int16", acts=acts, scales=MUL_SCALES)] +
                         [_sheet("MUL", dtype, "_growing", acts, scales=GROWING) for dtype in small]))
    result.append(_table("DIV", [_sheet("DIV", dtype, acts=acts, scales=DIV_SCALES) for dtype in every], lsb=1))
    result.append(_table("SQUARED_DIFFERENCE", [_sheet("SQUARED_DIFFERENCE", "int8")]))
    result.append(
        _table("PRELU", [_sheet("PRELU", dtype) for dtype in small] +
               [_sheet("PRELU", "int16", right="int8")]))
    for op in ("MAXIMUM", "MINIMUM"):
        result.append(_table(op, [_same_scales(op, dtype) for dtype in every]))
    for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        result.append(_table(op, [_sheet(op, dtype, out="bool", scales=LOW_SCALES) for dtype in small]))
    return result
