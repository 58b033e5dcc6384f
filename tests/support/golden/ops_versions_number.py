"""Versions that bring nothing that LiteRT runs: uses of the least version that does the same, under
that number.

A model has one number for all nodes of an operator, and a converter raises it to the highest that a
node needs: every version comes with nodes that need less. So here are
  float8                       CONCATENATION 7, PAD 6, ... : LiteRT 2.3 knows the types and has no
                               kernels for them
  SELECT 2 and 4, SELECT_V2 2  data of int8 and uint32; the converter's rule looks at the condition
  FAKE_QUANT 2                 narrow_range, which LiteRT refuses to run
  ABS 4, DEQUANTIZE 4, EMBEDDING_LOOKUP 2 and 3, EQUAL 4   in no rule
"""

from cases import Table, x
from sheets import Sheet
from sweeps import const, data, sweep

SIZES = ((4,), (1,), (2,), (3,), (5,), (7,), (0,), (1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (1, 3),
         (2, 3), (0, 2), (1, 1, 1), (1, 2, 2), (2, 1, 1), (1, 1, 1, 3), (1, 2, 1, 1, 2))


def _float8():
    """Of float32: (operator, version, uses of one shape)."""
    ends = lambda s: [[k % 2, 1] for k in range(len(s))]
    last = lambda s: len(s) - 1
    return (
        ("CONCATENATION", 7, lambda s: (s, s, dict(axis=last(s)))),
        ("PAD", 6, lambda s: (s, ends(s))),
        ("PADV2", 6, lambda s: (s, ends(s), const(1))),
        ("GATHER", 8, lambda s: (s, [0] if s[0] else [], dict(axis=0))),
        ("GATHER_ND", 6, lambda s: ((2,) + s[1:], [[1], [0]])),
        ("SPLIT", 5, lambda s: (0, (s[0] * 2,) + s[1:], dict(num_splits=2, n_out=2))),
        ("SPLIT_V", 3, lambda s: ((s[0] + 1,) + s[1:], [1, -1], 0, dict(num_splits=2, n_out=2))),
        ("PACK", 5, lambda s: (s, s, dict(values_count=2, axis=last(s)))),
        ("UNPACK", 6, lambda s: ((2, s[0] or 1), dict(num=2, axis=0, n_out=2))),
        ("FILL", 5, lambda s: (list(s), data())),
        ("REVERSE_V2", 4, lambda s: (s, [last(s)])),
        ("BROADCAST_TO", 4, lambda s: (s, [2] + list(s))),
        ("CAST", 9, lambda s: (s, dict(out="int32"))),
    )


def _numbers():
    t = Table("SWEEP_VERSION_NUMBERS")
    for op, version, use in _float8():
        uses = []
        for shape in SIZES:
            inputs = use(shape)
            options = dict(inputs[-1]) if isinstance(inputs[-1], dict) else {}
            inputs = inputs[:-1] if options else inputs
            uses.append(inputs + (dict(options, version=version),))
        sweep(t, op, "float32", uses)
    for op, dtype, version in (("SELECT", "int8", 2), ("SELECT", "uint32", 4),
                               ("SELECT_V2", "uint32", 2)):
        uses = [(x(*s, dtype="bool"), s, s, dict(version=version)) for s in SIZES]
        sweep(t, op, dtype, uses, lo=0, hi=9)
    sweep(t, "EQUAL", "float32", [(s, s, dict(out="bool", version=4)) for s in SIZES], lo=-1, hi=1)
    sweep(t, "ABS", "int16", [(s, dict(version=4)) for s in SIZES], quantized=False)
    for version in (4, 9):
        uses = [(s, dict(out="float32", version=version)) for s in SIZES]
        sweep(t, "DEQUANTIZE", "int8", uses, 1e-6, f"version{version}")
    uses = [(s, dict(min=-1.5, max=2.0 + k % 3, num_bits=4 + k % 5, version=2))
            for k, s in enumerate(SIZES)]
    sweep(t, "FAKE_QUANT", "float32", uses, 1e-6)
    sheet = Sheet("QUANTIZE", "quantize_float32")
    for k, shape in enumerate(SIZES):
        sheet.add([sheet.x(shape, "float32", lo=-9, hi=9)], "int8", 0.05 + 0.01 * k, k, version=6)
    t.append(sheet.case())
    for version in (2, 3):
        sheet = Sheet("EMBEDDING_LOOKUP", f"embedding_lookup_{version}")
        for k in range(20):
            rows, width = ((4, 3), (7, 1), (2, 5), (1, 2))[k % 4]
            ids = sheet.x((), "int32", values=[(k + i) % rows for i in range(1 + k % 3)])
            table = sheet.c((rows, width), "int8", 1 / 30 + k / 100)
            sheet.add([ids, table], "float32", version=version)
        t.append(sheet.case(1e-6))
    return t


def tables():
    return [_numbers()]
