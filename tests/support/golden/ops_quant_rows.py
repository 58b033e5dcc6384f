"""SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION of quantized tensors."""

from cases import Table
from sheets import ZEROS, Sheet

SHAPES = ((5,), (1,), (1, 10), (3, 7), (2, 3, 5), (2, 2, 2, 3), (4, 17), (2, 1), (1, 300), (0, 4))
# Scales of the input: usual, near one-hot, near uniform.
UNITS = (1 / 16, 1 / 4, 1 / 128, 1.0, 0.0777)


def _table(op, outputs, lsb, variants=({},)):
    """outputs: (name, input type, output type, output scale, output zero point)."""
    table = Table("QUANT_" + op)
    for name, source, target, out_scale, out_zero in outputs:
        sheet = Sheet(op, name)
        for index in range(20):
            unit = UNITS[index % 5] / (200 if source == "int16" else 1)
            zero = ZEROS[source][index * 2 % 5]
            shape = SHAPES[index % len(SHAPES)]
            spread = {} if index < 10 or source == "int16" else dict(lo=zero - 9 if zero > 0 else
                                                                     zero, hi=zero if zero > 0 else
                                                                     zero + 9)
            sheet.add([sheet.x(shape, source, unit, zero, **spread)], target, out_scale, out_zero,
                      **variants[index % len(variants)])
        if op == "L2_NORMALIZATION":  # the norm is 0
            zero = ZEROS[source][0]
            sheet.add([sheet.x((2, 3), source, 1 / 16, zero, lo=zero, hi=zero)], target, out_scale,
                      out_zero)
        table.append(sheet.case(lsb[name]))
    return table


def tables():
    small = [("int8", "int8", "int8"), ("uint8", "uint8", "uint8")]
    scales = {
        "SOFTMAX": ((1 / 256, -128), (1 / 256, 0)),
        "LOG_SOFTMAX": ((16 / 256, 127), (16 / 256, 255)),
        "L2_NORMALIZATION": ((1 / 128, 0), (1 / 128, 128)),
    }
    lsb = {"int8": 1, "uint8": 1, "int16": 0, "int8_to_int16": 32}
    both = {op: [a + b for a, b in zip(small, scales[op])] for op in scales}
    softmax = both["SOFTMAX"] + [("int16", "int16", "int16", 1 / 32768, 0),
                                 ("int8_to_int16", "int8", "int16", 1 / 65536, -32768)]
    betas = ({"beta": 1.0}, {"beta": 1.0}, {"beta": 0.5}, {"beta": 2.0})
    return [
        _table("SOFTMAX", softmax, lsb, betas),
        _table("LOG_SOFTMAX", both["LOG_SOFTMAX"], lsb),
        _table("L2_NORMALIZATION", both["L2_NORMALIZATION"], lsb),
    ]
