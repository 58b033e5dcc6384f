"""20 uses and more of the versions that came with a feature, swept over types: functions of elements,
conversions, resizing and choices. See ops_versions_move.py.
"""

from cases import Table
from sheets import ZEROS, Sheet
from sweeps import BYTES, WHOLE, data, each, sweep

# Shapes of five dimensions that broadcast against each other.
WIDE = (((2, 1, 2, 1, 3), (1, 2, 1, 2, 1)), ((2, 1, 2, 1, 3), (3,)), ((2,), (1, 2, 1, 2, 2)),
        ((1, 1, 1, 1, 1), (2, 1, 1, 2, 3)), ((2, 1, 1, 1, 2), ()), ((2, 1, 2, 1, 3), (2, 1, 1)),
        ((1, 2, 2, 1, 1), (2, 1, 1, 2, 1)), ((0, 1, 2, 1, 1), (1, 1, 1, 1, 3)),
        ((3, 1, 1, 1, 1), (1, 1, 1, 1, 2)), ((1, 1, 1, 1, 7), (1, 2, 1, 1, 1)),
        ((2, 2, 1, 1, 3), (2, 3)), ((2, 2, 1, 1, 3), (1,)), ((1, 3), (2, 1, 1, 2, 3)),
        ((1, 1, 2, 2, 1), (2, 1, 1, 2, 2)), ((1, 2, 1, 2, 1), (1, 1, 2, 1, 2)),
        ((2, 1, 1, 1, 1), (1, 2, 1, 1, 1)), ((1, 1, 1, 5, 1), (3,)), ((2, 1, 2, 2), (3, 1, 1, 1, 1)),
        ((2, 1, 1, 2, 1), (2, 2, 1, 2)), ((1, 2, 3, 1, 1), (1, 2, 1, 1, 2)))


def _wide():
    t = Table("SWEEP_VERSION_WIDE")
    for op in ("MAXIMUM", "MINIMUM"):
        each(t, op, ("float32",) + WHOLE, WIDE, lo=-9, hi=9)
        each(t, op, BYTES, WIDE)
    each(t, "SUB", ("float32", "int32"), WIDE, lo=-60, hi=60)
    each(t, "SUB", BYTES, WIDE)
    divisors = [(left, data(*right, lo=1, hi=9)) for left, right in WIDE]
    each(t, "DIV", ("float32", "int32"), divisors, rtol=1e-6, lo=-60, hi=60)
    return t


def _casts():
    t = Table("SWEEP_VERSION_CASTS")
    shapes = ((), (1,), (2,), (3,), (5,), (7,), (0,), (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (1, 3),
              (2, 3), (0, 2), (1, 1, 1), (1, 2, 2), (2, 1, 1), (1, 1, 1, 3), (1, 2, 1, 1, 2))
    for dtype in ("float32", "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"):
        limits = dict(lo=0, hi=90) if dtype == "float32" else {}
        for outs in (("int8",), ("float16", "float64"), ("uint32",), ("uint16",)):
            uses = [(shape, dict(out=outs[k % len(outs)])) for k, shape in enumerate(shapes)]
            if outs[0] == dtype or outs[0] == "float16" and dtype == "int64":
                uses = [use[:1] + (dict(out="float64"),) for use in uses]
                limits = dict(limits, lo=-2**20, hi=2**20) if dtype == "int64" else limits
            if outs[0] != dtype:
                sweep(t, "CAST", dtype, uses, name="to_" + outs[0], quantized=False, **limits)
    # NumPy has complex numbers, sweeps do not draw them.
    sheet = Sheet("CAST", "cast_complex64")
    for shape in shapes:
        given = sheet.x(shape, "float32", lo=0, hi=90)
        given = sheet.graph.op("CAST", [given], ("complex64",))
        for out in ("int8", "float16", "uint32", "uint16"):
            sheet.add([given], out)
    t.append(sheet.case())
    uses = [(shape, dict(out="float32")) for shape in shapes[:4]]
    sweep(t, "CAST", "uint32", uses, name="few", quantized=False)
    return t


def _sizes():
    t = Table("SWEEP_VERSION_SIZES")
    images = (((1, 2, 3, 1), [4, 6]), ((1, 3, 2, 2), [2, 5]), ((2, 1, 2, 1), [3, 1]),
              ((1, 1, 1, 3), [2, 2]), ((1, 4, 4, 1), [2, 2]), ((1, 2, 5, 1), [2, 3]),
              ((1, 3, 3, 1), [5, 5]))
    ways = (dict(), dict(align_corners=True), dict(half_pixel_centers=True))
    plain = [image + (way,) for image in images for way in ways[:2]]
    centers = [image + (ways[2],) for image in images * 2]
    sweep(t, "RESIZE_BILINEAR", "float32", centers[:9], 1e-6)
    each(t, "RESIZE_BILINEAR", BYTES, plain[:6] + centers[:13])
    plain = [image + (ways[0],) for image in images * 2][:13]
    moved = [image + (way,) for image in images[:4] for way in ways[1:]]
    for dtype in ("float16", "float32", "bool", "int32", "uint16", "uint32") + BYTES:
        sweep(t, "RESIZE_NEAREST_NEIGHBOR", dtype, plain + moved)
    return t


def _ranks():
    t = Table("SWEEP_VERSION_RANKS")
    shapes = (((2, 5), 2), ((7,), 3), ((1, 2, 9), 1), ((3, 1), 1), ((2, 3), 3), ((5,), 1), ((5,), 5),
              ((1, 1), 1), ((2, 2, 3), 2), ((1, 4), 0), ((0, 3), 2), ((19,), 4), ((3, 4), 4),
              ((1, 1, 1, 6), 5), ((2, 1, 2, 2), 1), ((67,), 2), ((4, 3), 2), ((2, 2), 1), ((6,), 6),
              ((1, 8), 7))
    for dtype in ("float32", "int32", "int64") + BYTES:
        uses = [(shape, k, dict(out=(dtype, "int32"), n_out=2)) for shape, k in shapes]
        sweep(t, "TOPK_V2", dtype, uses, quantized=False)
    return t


def _scales():
    """QUANTIZE and DEQUANTIZE of floats and of int8, a scale for each channel among them."""
    t = Table("SWEEP_VERSION_SCALES")
    shapes = ((2, 3), (3, 2), (5, 1), (1, 4), (2, 1, 3), (1, 2, 2, 3), (3, 1, 2, 1), (2, 2, 2),
              (1, 1, 7), (4,))
    sheet = Sheet("QUANTIZE", "quantize_float32")
    for index in range(20):
        shape = shapes[index % 10]
        given = sheet.x(shape, "float32", lo=-9, hi=9)
        axis = len(shape) - 1 if index % 2 else 0
        axis = axis if shape[axis] > 1 else max(range(len(shape)), key=lambda k: shape[k])
        scales = tuple(0.03 * (k + 1) for k in range(shape[axis]))
        many = sheet.add([given], "int8", scales, 0)
        sheet.graph.tensors[many].quantization = scales, (0,) * len(scales), axis
        sheet.add([given], ("int8", "uint8")[index % 2], 0.05 + 0.01 * index, index)
        sheet.add([given], "int16", 0.0004 * (index + 1), 0)
    t.append(sheet.case())
    sheet = Sheet("DEQUANTIZE", "dequantize_int8")
    for index in range(20):
        shape = shapes[index % 10]
        axis = (index // 2) % len(shape)
        axis = axis if shape[axis] > 1 else max(range(len(shape)), key=lambda k: shape[k])
        scales = tuple(0.03 * (k + 1) for k in range(shape[axis]))
        given = sheet.x(shape, "int8", scales, 0)
        zeros = ZEROS["int8"][index % 5] if index % 3 == 0 else 0
        sheet.graph.tensors[given].quantization = scales, (zeros,) * len(scales), axis
        sheet.add([given], "float32")
    t.append(sheet.case())
    return t


def tables():
    return [_wide(), _casts(), _sizes(), _ranks(), _scales()]
