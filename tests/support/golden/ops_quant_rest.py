"""BATCH_MATMUL, REDUCE_PROD, ARG_MAX, ARG_MIN, TOPK_V2 and EMBEDDING_LOOKUP of quantized tensors."""

from cases import Table
from sheets import ZEROS, Sheet

# left, right, adj_x, adj_y
PRODUCTS = (((2, 3), (3, 4), False, False), ((2, 3), (4, 3), False, True),
            ((3, 2), (3, 4), True, False), ((1, 5, 7), (1, 7, 3), False, False),
            ((2, 3, 5), (2, 5, 4), False, False), ((2, 3, 5), (1, 5, 4), False, False),
            ((2, 5, 3), (2, 4, 5), True, True), ((2, 2, 3, 4), (2, 1, 4, 5), False, False),
            ((1, 1, 17), (1, 17, 19), False, False), ((1, 33), (33, 1), False, False))


def _batch_matmul():
    table = Table("QUANT_BATCH_MATMUL")
    for name, left, right, target in (("int8", "int8", "int8", "int8"),
                                      ("int16", "int16", "int16", "int16"),
                                      ("int16x8", "int16", "int8", "int16"),
                                      ("sums", "int8", "int8", "int32"),
                                      ("hybrid", "float32", "int8", "float32"),
                                      ("channels", "float32", "int8", "float32")):
        sheet = Sheet("BATCH_MATMUL", name)
        for index in range(30 if name == "hybrid" else 20):
            # A device computes the last one's single sum otherwise, and it nearly cancels.
            n = len(PRODUCTS) - (name == "channels")
            a, b, adj_x, adj_y = PRODUCTS[index % n]
            depth = a[-2] if adj_x else a[-1]
            constant = index // len(PRODUCTS) == 0 or left == "float32"
            unit = 1 / 2000 if left == "int16" else 1 / 20
            zero = ZEROS["int8"] if left == "int8" else (0,) * 5
            ones = (sheet.x(a, left) if left == "float32" else
                    sheet.x(a, left, unit, zero[index % 5]))
            make = sheet.c if constant else sheet.x
            second = unit * 0.7 if right == left else 1 / 100
            two = make(b, right, second, zero[index * 2 % 5])
            if name == "channels":
                axis = len(b) - (2 if adj_y else 1)
                scales = tuple(0.01 * (1 + i % 5) for i in range(b[axis]))
                sheet.graph.tensors[two].quantization = (scales, (0,) * b[axis], axis)
            scale = unit * second * depth**0.5 * (60 if name == "int8" else
                                                  9000 if name == "int16" else 60)
            spread = (1, 0.2, 5, 40)[index % 4]
            options = dict(adj_x=adj_x, adj_y=adj_y)
            if name == "sums":
                sheet.add([ones, two], target, **options)
            elif left == "float32":
                sheet.add([ones, two], target,
                          asymmetric_quantize_inputs=index % 2 == 1 or index >= 20,
                          **options)
            else:
                sheet.add([ones, two], target, scale * spread, zero[index * 3 % 5],
                          **options)
        case = sheet.case()
        if left == "float32":
            case.rtol = 1e-5
        table.append(case)
    return table


REDUCTIONS = (((2, 3, 4), (1,)), ((2, 3, 4), (-1,)), ((2, 3, 4), (0, 2)), ((1, 4, 3, 2), (1, 2)),
              ((5,), (0,)), ((3, 5), (0, 1)), ((2, 1, 3, 2, 2), (1, 3)), ((1, 1, 1, 5), (1, 2)),
              ((3, 2, 19), (0,)), ((4, 3), (0,)))


def _reduce_prod():
    table = Table("QUANT_REDUCE_PROD")
    for dtype in ("int8", "int16"):
        sheet = Sheet("REDUCE_PROD", dtype)
        for index, (shape, axes) in enumerate(REDUCTIONS):
            zero, scale = ZEROS[dtype][index % 5], 1 / 12000 if dtype == "int16" else 1 / 50
            # Longer chains of larger numbers leave LiteRT's 32 bits.
            bound = dict(lo=-6000, hi=6000) if dtype == "int16" else {}
            x = sheet.x(shape, dtype, scale, zero, **bound)
            for keep in (False, True):
                out = scale * (1, 3.7, 0.4)[(index + keep) % 3]
                sheet.add([x, sheet.ints(axes)], dtype, out, ZEROS[dtype][index * 2 % 5],
                          keep_dims=keep)
        table.append(sheet.case())
    return table


def _choices():
    table = Table("QUANT_CHOICES")
    for dtype in ("int8", "uint8"):
        sheet = Sheet("CHOICES", dtype)
        for index, shape in enumerate(((5,), (2, 3), (2, 3, 4), (1, 2, 2, 17), (3, 1))):
            x = sheet.x(shape, dtype, 1 / 20, ZEROS[dtype][index])
            for op in ("ARG_MAX", "ARG_MIN"):
                for axis in (0, -1):
                    sheet.add([x, sheet.ints(axis)], "int32", op=op, output_type=2)
        table.append(sheet.case())
    return table


def _embedding():
    table = Table("QUANT_EMBEDDING_LOOKUP")
    sheet = Sheet("EMBEDDING_LOOKUP", "hybrid")
    for index in range(40):
        rows, width = ((4, 3), (7, 1), (2, 17), (5, 8))[index % 4]
        scale = 1 / 30 if index % 2 else tuple(0.01 * (k + 1) for k in range(rows))
        ids = sheet.x((), "int32", values=[(index + k) % rows for k in range(index % 3 + 1)])
        table_of = sheet.c((rows, width), "int8", scale)
        sheet.add([ids, table_of], "float32")
    case = sheet.case()
    case.rtol = 1e-6
    table.append(case)
    return table


def tables():
    return [_batch_matmul(), _reduce_prod(), _choices(), _embedding()]
