"""Small graphs for the planner: views, shared values, dead parts, other batch sizes, signatures.

Each table becomes tests/data/ops/model_<name>.twcases. Cases of one model at several batch sizes
run one after the other on one session.
"""

import numpy as np

from cases import Case
from net import Models, Net


def _views():
    t = Models("model_views")

    def split(n, x, axis, count):
        return n.op("SPLIT", n.number(axis), x, out_types=("float32",) * count, num_splits=count)

    def join(n, parts, axis):
        return n.op("CONCATENATION", *parts, axis=axis)

    def split_work_concat(shape, axis):

        def build(n):
            a, b = split(n, n.op("NEG", n.input(*shape)), axis, 2)
            return join(n, [n.op("RELU", a), n.op("TANH", b)], axis)

        return build

    def swapped(n):
        a, b = split(n, n.op("NEG", n.input(4, 3)), 0, 2)
        return join(n, [b, a], 0)

    def nested(n):
        x = n.input(2, 3)
        inner = join(n, [n.op("RELU", x), n.op("NEG", x)], 0)
        return join(n, [inner, n.op("ABS", x), inner], 0)

    def same_twice(n):
        y = n.op("EXP", n.input(2, 3))
        return join(n, [y, y], 1)

    def inputs_and_constants(n):
        x = n.input(1, 3)
        return join(n, [x, n.const(1, 3), n.op("NEG", x), x], 0)

    def part_is_output(n):
        a, b, _ = split(n, n.input(3, 4), 0, 3)
        return [a, n.op("RELU", b)]

    def into_two_joins(n):
        x = n.op("TANH", n.input(2, 2))
        y = n.op("NEG", x)
        return [join(n, [x, y], 0), join(n, [y, x], 0)]

    def inception(n):
        x = n.input(1, 4, 4, 3)
        parts = [n.conv(x, (k, 1, 1, 3), act="RELU") for k in (2, 3)] + [n.depthwise(x, 3)]
        return n.conv(join(n, parts, 3), (4, 1, 1, 8))

    def reshape_chain(n):
        y = n.op("RESHAPE", n.op("ABS", n.input(1, 2, 3, 4)), n.ints(6, 4), new_shape=[6, 4])
        y = n.op("EXPAND_DIMS", y, n.number(1))
        y = n.op("SQUEEZE", y, squeeze_dims=[1])
        y = n.op("RESHAPE", y, n.ints(-1), new_shape=[-1])
        return n.op("RESHAPE", n.op("NEG", y), n.ints(2, 12), new_shape=[2, 12])

    def only_reshapes(n):
        return n.op("SQUEEZE", n.op("RESHAPE", n.input(2, 6), n.ints(1, 3, 4)), squeeze_dims=[0])

    def view_and_source(n):
        y = n.op("EXP", n.input(2, 6))
        flat = n.op("RESHAPE", y, n.ints(12))
        return [n.op("NEG", flat), n.op("RELU", y), flat]

    def unpack_pack(n):
        rows = n.op("UNPACK", n.input(3, 4), out_types=("float32",) * 3, num=3, axis=0)
        return n.op("PACK", *[n.op("TANH", r) for r in reversed(rows)], values_count=3, axis=1)

    t.model("outer_axis", split_work_concat((4, 3), 0))
    t.model("inner_axis", split_work_concat((1, 2, 2, 6), 3))
    t.model("middle_axis", split_work_concat((2, 4, 3), 1))
    t.model("leading_ones", split_work_concat((1, 1, 4, 3), 2))
    for build in (swapped, nested, same_twice, inputs_and_constants, part_is_output, into_two_joins,
                  inception, reshape_chain, only_reshapes, view_and_source, unpack_pack):
        t.model(build.__name__, build)
    return t


def _dynamic():
    t = Models("model_dynamic_batch")

    def shape_arithmetic(n):
        x = n.input(1, 2, 3, 2, signature=(-1, 2, 3, 2))
        shape = n.op("SHAPE", x, out_types=("int32",), out_type=2)
        batch = n.op("STRIDED_SLICE",
                     shape,
                     n.ints(0),
                     n.ints(1),
                     n.ints(1),
                     out_types=("int32",),
                     shrink_axis_mask=1)
        target = n.op("PACK", batch, n.number(-1), out_types=("int32",), values_count=2, axis=0)
        return n.full(n.op("RESHAPE", x, target), 4, 12)

    def cnn(n):
        x = n.input(1, 6, 6, 2, signature=(-1, 6, 6, 2))
        y = n.pool("MAX", n.conv(x, (4, 3, 3, 2), act="RELU"), 2)
        y = n.op("MEAN", n.depthwise(y, 4), n.ints(1, 2))
        return n.op("SOFTMAX", n.full(y, 3, 4), beta=1.0)

    def gathered(n):
        x = n.input(1, 4, signature=(-1, 4))
        shape = n.op("SHAPE", x, out_types=("int32",), out_type=2)
        doubled = n.op("MUL", shape, n.ints(1, 2), out_types=("int32",))
        ones = n.op("FILL", shape, n.graph.const(np.array(2, np.float32)))
        wide = n.op("CONCATENATION", n.op("ADD", x, ones), x, axis=1)
        return n.op("RESHAPE", n.op("NEG", wide), doubled)

    t.model("shape_arithmetic", shape_arithmetic, batches=(1, 3, 2, 1))
    t.model("cnn", cnn, batches=(1, 3, 1, 4))
    t.model("computed_shapes", gathered, batches=(1, 2, 5))
    t.model("not_marked", lambda n: n.full(n.input(1, 5), 3, 5), batches=(1, 4))
    return t


def _graphs():
    t = Models("model_graphs")

    def diamond(n):
        x = n.op("ABS", n.input(2, 5))
        return n.op("MUL", n.op("ADD", n.op("EXP", n.op("NEG", x)), n.op("SQRT", x)), x)

    def deep_diamond(n):
        y = n.input(3, 3)
        for _ in range(4):
            y = n.op("SUB", n.op("TANH", y), n.op("LOGISTIC", y), act="RELU_N1_TO_1")
        return y

    def unused_operator(n):
        x = n.input(2, 3)
        n.op("EXP", n.op("NEG", x))
        return n.op("RELU", x)

    def unused_output(n):
        parts = n.op("SPLIT", n.number(0), n.input(3, 2), out_types=("float32",) * 3, num_splits=3)
        return n.op("NEG", parts[1])

    def unused_input(n):
        x, _ = n.input(2, 2), n.input(3)
        return n.op("TANH", x)

    def input_is_output(n):
        x = n.input(2, 3)
        return [x, n.op("RELU", x)]

    def middle_is_output(n):
        y = n.op("ADD", n.input(2, 3), n.const(3))
        return [n.op("RELU", y), y, n.op("NEG", y)]

    def conv_and_activation_are_outputs(n):
        y = n.conv(n.input(1, 3, 3, 2), (3, 3, 3, 2))
        return [y, n.op("RELU", y)]

    def output_twice(n):
        y = n.op("NEG", n.input(4))
        return [y, y]

    def constants_only(n):
        y = n.op("MUL", n.op("ADD", n.const(2, 3), n.const(3)), n.const())
        return n.op("ADD", n.input(2, 3),
                    n.op("TRANSPOSE", n.op("TRANSPOSE", y, n.ints(1, 0)), n.ints(1, 0)))

    def constant_is_output(n):
        c = n.const(2, 2)
        return [n.op("ADD", n.input(2, 2), c), c]

    def folded_is_output(n):
        y = n.op("EXP", n.const(2, 2))
        return [y, n.op("NEG", n.input(2, 2))]

    def shared_weights(n):
        w, b = n.const(3, 3), n.const(3)
        y = n.op("FULLY_CONNECTED", n.input(1, 3), w, b, act="RELU")
        return n.op("FULLY_CONNECTED", y, w, b)

    def activations_in_a_row(n):
        y = n.conv(n.input(1, 3, 3, 2), (3, 1, 1, 2), act="RELU")
        return n.op("RELU_N1_TO_1", n.op("RELU6", n.op("HARD_SWISH", y)))

    def bias_by_add(n):
        y = n.op("FULLY_CONNECTED", n.input(2, 4), n.const(3, 4), None)
        return n.op("ADD", y, n.const(3), act="RELU")

    def attention(n):
        q, k, v = n.input(1, 2, 3, 4), n.input(1, 2, 3, 4), n.input(1, 2, 3, 4)
        scores = n.op("MUL", n.op("BATCH_MATMUL", q, k, adj_y=True), n.const())
        y = n.op("BATCH_MATMUL", n.op("SOFTMAX", scores, beta=1.0), v)
        return n.op("RESHAPE", n.op("TRANSPOSE", y, n.ints(0, 2, 1, 3)), n.ints(1, 3, 8))

    def layer_norm(n):
        x = n.input(2, 5)
        d = n.op("SUB", x, n.op("MEAN", x, n.ints(-1), keep_dims=True))
        var = n.op("MEAN",
                   n.op("SQUARED_DIFFERENCE", x, n.op("MEAN", x, n.ints(-1), keep_dims=True)),
                   n.ints(-1),
                   keep_dims=True)
        scale = n.op("RSQRT", n.op("ADD", var, n.graph.const(np.array(1e-3, np.float32))))
        return n.op("ADD", n.op("MUL", n.op("MUL", d, scale), n.const(5)), n.const(5))

    def no_operators(n):
        return n.input(2, 3)

    for build in (diamond, deep_diamond, unused_operator, unused_output, unused_input,
                  input_is_output, middle_is_output, conv_and_activation_are_outputs, output_twice,
                  constants_only, constant_is_output, folded_is_output, shared_weights,
                  activations_in_a_row, bias_by_add, attention, layer_norm, no_operators):
        t.model(build.__name__, build)
    return t


def _signatures():
    """Two subgraphs, each with a signature; the inputs of "add" are declared in another order."""
    t = Models("model_signatures")
    scale, add = Net("model_signatures/scale"), Net("model_signatures/add")
    x = scale.input(2, 3, name="scale_x")
    y = scale.op("MUL", x, scale.const(3))
    scale.graph.outputs = [y]
    a, b = add.input(2, 3, name="add_a"), add.input(3, name="add_b")
    total, low = add.op("ADD", a, b), add.op("MINIMUM", a, b)
    add.graph.outputs = [total, low]
    graphs = [scale.graph, add.graph]
    signatures = [("scale", 0, {
        "x": x
    }, {
        "y": y
    }), ("add", 1, {
        "b": b,
        "a": a
    }, {
        "low": low,
        "total": total
    })]
    first, second = scale.data(2, 3), scale.data(2, 3)
    t.append(Case("scale", graphs, [first], signatures=signatures, signature="scale"))
    t.append(
        Case("add", graphs, [add.data(3), add.data(2, 3)], signatures=signatures, signature="add"))
    t.append(Case("no_signature_named", graphs, [second], signatures=signatures))
    return t


def tables():
    return [_views(), _dynamic(), _graphs(), _signatures()]
