"""Eight axes, the most that tensors have: one file, rank_8.twcases, with a case per operator.

LiteRT stops earlier for BATCH_MATMUL, PAD and PADV2 (five axes); those are absent here.
"""

from cases import Table, c, ci, cs, x

SHAPE = (1, 2, 1, 2, 1, 3, 2, 2)
ZEROS = (0,) * 8


def _binary():
    other = (2, 1, 1, 2, 3, 1, 2, 1)
    for op in ("ADD", "SUB", "MUL", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE"):
        yield op, "", [x(*SHAPE), x(*other)], {}
    for op in ("DIV", "FLOOR_DIV", "FLOOR_MOD"):
        yield op, "", [x(*SHAPE, lo=-7, hi=7), x(*other, lo=0.7, hi=3)], {}
    yield "POW", "", [x(*SHAPE, lo=0.2, hi=2), x(*other)], {}
    for op in ("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL"):
        yield op, "", [x(*SHAPE), x(3, 1, 2)], {"out": "bool"}
    for op in ("LOGICAL_AND", "LOGICAL_OR"):
        yield op, "", [x(*SHAPE, dtype="bool"), x(3, 1, 2, dtype="bool")], {"out": "bool"}
    yield "SELECT_V2", "", [x(3, 1, 2, dtype="bool"), x(*SHAPE), x(2)], {}


def _moves():
    yield "RESHAPE", "", [x(48), ci(*SHAPE)], {}
    yield "TRANSPOSE", "reversed", [x(*SHAPE), ci(7, 6, 5, 4, 3, 2, 1, 0)], {}
    yield "TRANSPOSE", "mixed", [x(*SHAPE), ci(1, 5, 0, 7, 2, 3, 6, 4)], {}
    yield "SLICE", "", [x(*SHAPE), ci(0, 1, 0, 0, 0, 1, 0, 1), ci(1, 1, 1, 2, 1, 2, -1, 1)], {}
    steps = ci(1, 1, 1, -1, 1, 2, 1, 1)
    yield "STRIDED_SLICE", "", [x(*SHAPE), ci(*ZEROS), ci(*SHAPE), steps], dict(begin_mask=255,
                                                                                end_mask=255)
    yield "CONCATENATION", "", [x(*SHAPE), x(*SHAPE)], dict(axis=3)
    yield "TILE", "", [x(*SHAPE), ci(1, 1, 1, 2, 1, 1, 1, 2)], {}
    yield "BROADCAST_TO", "", [x(2, 1, 3, 1, 2), ci(1, 2, 1, 2, 1, 3, 2, 2)], {}
    yield "GATHER", "", [x(*SHAPE), ci(2, 0)], dict(axis=5)
    yield "REVERSE_V2", "", [x(*SHAPE), ci(5)], {}
    yield "PACK", "", [x(*SHAPE[1:]), x(*SHAPE[1:])], dict(values_count=2, axis=3)
    yield "UNPACK", "", [x(*SHAPE)], dict(n_out=3, num=3, axis=5)
    yield "SPLIT", "", [cs(6), x(*SHAPE)], dict(n_out=2, num_splits=2)
    yield "SQUEEZE", "", [x(*SHAPE)], dict(squeeze_dims=[2, 4])
    yield "EXPAND_DIMS", "", [x(*SHAPE[1:]), cs(3)], {}
    pairs = [[0, 0]] * 5 + [[1, 2], [0, 1], [1, 0]]
    yield "MIRROR_PAD", "", [x(*SHAPE), c(values=pairs, dtype="int32")], dict(mode="REFLECT")
    yield "SHAPE", "", [x(*SHAPE)], dict(out="int32", out_type=2)
    yield "FILL", "", [ci(*SHAPE), x()], {}
    yield "CAST", "", [x(*SHAPE)], {"out": "int32"}


def _reductions():
    for op in ("SUM", "MEAN", "REDUCE_MAX", "REDUCE_MIN", "REDUCE_PROD"):
        yield op, "", [x(*SHAPE), ci(1, 5, 7)], {}
        yield op, "keep", [x(*SHAPE), ci(3, -2)], dict(keep_dims=True)
    yield "ARG_MAX", "", [x(*SHAPE), cs(5)], dict(out="int32", output_type=2)
    yield "CUMSUM", "", [x(*SHAPE), cs(5)], {}
    yield "SOFTMAX", "", [x(*SHAPE)], dict(beta=1.0)
    yield "RELU", "", [x(*SHAPE)], {}
    yield "LOGISTIC", "", [x(*SHAPE)], {}
    yield "FULLY_CONNECTED", "", [x(*SHAPE), c(3, 2), c(3)], dict(keep_num_dims=True)


def tables():
    result = Table("RANK_8")
    for rows in (_binary(), _moves(), _reductions()):
        for op, variant, inputs, options in rows:
            table = Table(op)
            table.add("rank_8" + variant, inputs, **options)
            table.cases[0].name = op.lower() + ("_" + variant if variant else "")
            result.append(table.cases[0])
    return [result]
