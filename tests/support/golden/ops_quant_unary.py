"""Activations, mathematical functions, QUANTIZE and DEQUANTIZE of quantized tensors."""

from cases import Table
from sheets import LIMITS, ZEROS, Sheet

SHAPES = ((), (1,), (7,), (3, 5), (2, 3, 4), (1, 2, 3, 5), (67,), (2, 1, 2, 1, 3), (0, 4), (300,))


def _pairs(dtype):
    """(input scale, input zero point, output scale, output zero point): near, far, equal, extreme."""
    z = ZEROS[dtype]
    unit = 1 / 4096 if dtype == "int16" else 1 / 16
    return ((unit, z[0], unit, z[0]), (unit, z[1], unit / 2, z[2]), (unit, z[3], unit * 1.7, z[4]),
            (unit * 0.3, z[2], unit, z[1]), (unit * 8, z[4], unit * 0.11, z[3]),
            (unit * 1e-4, z[0], unit, z[3]), (unit, z[0], unit * 1e-4, z[0]),
            (unit * 30, z[1], unit * 29, z[1]), (unit / 3, z[3], unit / 7, z[0]),
            (unit * 1.3, z[0], unit * 1.3, z[1]))


def _table(op, dtypes, fixed=None, positive=False, lsb=0, pairs=_pairs, variants=({},)):
    """fixed: {dtype: (scale, zero)} of outputs whose quantization the operator prescribes."""
    table = Table("QUANT_" + op)
    for dtype in dtypes:
        sheet = Sheet(op, dtype)
        for index, (scale, zero, out_scale, out_zero) in enumerate(pairs(dtype)):
            shape = SHAPES[-1] if index == 0 else SHAPES[index % 9]
            low = None
            if positive:
                zero, low = min(zero, 0) if dtype == "int8" else zero, min(zero, 0)
                low = max(low, zero)
            if fixed:
                out_scale, out_zero = fixed[dtype]
            x = sheet.x(shape, dtype, scale, zero, lo=low)
            for options in variants:
                sheet.add([x], dtype, out_scale, out_zero, **options)
        for index, shape in enumerate(SHAPES):
            scale, zero, out_scale, out_zero = pairs(dtype)[(index * 3 + 1) % 5]
            low = None
            if positive:
                zero = low = min(zero, 0)
            if fixed:
                out_scale, out_zero = fixed[dtype]
            sheet.add([sheet.x(shape, dtype, scale, zero, lo=low)], dtype, out_scale, out_zero,
                      **variants[index % len(variants)])
        table.append(sheet.case(lsb))
    return table


def _gentle(dtype):
    """Pairs for functions whose answers would overflow everywhere on extreme scales."""
    return [p for p in _pairs(dtype) if p[2] > 1e-4 * p[0]] * 2


def _hard_swish_pairs(dtype):
    return [p for p in _pairs(dtype) if 1e-3 * p[2] <= p[0] <= 100 * p[2]] * 2


QUANTIZE_TYPES = (("int8", "int8"), ("int8", "uint8"), ("int8", "int16"), ("uint8", "int8"),
                  ("uint8", "uint8"), ("uint8", "int16"), ("int16", "int8"), ("int16", "int16"),
                  ("int16", "int32"), ("int32", "int8"), ("int32", "int16"))


def _quantize():
    table = Table("QUANT_QUANTIZE")
    for source, target in QUANTIZE_TYPES:
        sheet = Sheet("QUANTIZE", f"{source}_to_{target}")
        unit = 1 / 1024 if "16" in source or "32" in source else 1 / 16
        for index in range(20):
            ratio = (1, 0.5, 2, 1.0001, 3.3, 0.01, 100, 1e-4, 0.7, 40)[index % 10]
            zero = ZEROS.get(source, (0,) * 5)[index % 5]
            out_zero = ZEROS.get(target, (0,) * 5)[index * 2 % 5]
            lo, hi = (-70000, 70000) if source == "int32" else LIMITS[source]
            shape = SHAPES[index % len(SHAPES)]
            if index >= 10 and source != target and "16" in source + target:
                shape = SHAPES[index % 5]
            x = sheet.x(shape, source, unit, zero, lo=lo, hi=hi)
            sheet.add([x], target, unit * ratio, out_zero)
        table.append(sheet.case())
    return table


def tables():
    small = ("int8", "uint8")
    every = small + ("int16",)
    relu = [_table("RELU", every), _table("RELU6", every), _table("RELU_N1_TO_1", small),
            _table("RELU_0_TO_1", small)]
    alphas = ({"alpha": 0.1}, {"alpha": 1.5}, {"alpha": 0.0}, {"alpha": -0.5})
    return relu + [
        _quantize(),
        _table("LEAKY_RELU", every, variants=alphas),
        _table("ELU", ("int8",)),
        _table("GELU", every, variants=({"approximate": False}, {"approximate": True}), lsb=1),
        _table("HARD_SWISH", small, pairs=_hard_swish_pairs),
        _table("LOGISTIC", every, lsb=0,
               fixed={"int8": (1 / 256, -128), "uint8": (1 / 256, 0), "int16": (1 / 32768, 0)}),
        _table("TANH", every, lsb=0,
               fixed={"int8": (1 / 128, 0), "uint8": (1 / 128, 128), "int16": (1 / 32768, 0)}),
        _table("ABS", ("int8", "int16")),
        _table("NEG", ("int8", "int16")),
        _table("LOG", ("int8", "int16"), pairs=_gentle, lsb=1),
        _table("EXP", ("int8", "int16"), pairs=_gentle, lsb=1),
        _table("SQRT", ("int8", "int16"), positive=True, pairs=_gentle),
        _table("RSQRT", ("int8", "int16"), positive=True, pairs=_gentle, lsb=1),
    ]
