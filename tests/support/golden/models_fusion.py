"""Small graphs for the planner's fusions: what may be fused or folded, and what must not.

Each table becomes tests/data/ops/model_<name>.twcases.
"""

import numpy as np

from net import Models


def _scale_shift(n, x, channels, first="MUL", second="ADD"):
    scaled = n.op(first, x, n.const(channels, lo=0.5, hi=2))
    return n.op(second, scaled, n.const(channels))


def _conv_bn():
    t = Models("model_conv_bn")

    def after(layer, channels, act_inside="NONE", **kwargs):

        def build(n):
            x = n.input(1, 5, 5, 3)
            y = (n.conv(x, (channels, 3, 3, 3), act=act_inside)
                 if layer == "conv" else n.depthwise(x, channels, act=act_inside))
            return n.op("RELU", _scale_shift(n, y, channels, **kwargs))

        return build

    def full(n):
        y = n.full(n.input(2, 7), 5, 7)
        return n.op("RELU6", _scale_shift(n, y, 5))

    def used_twice(n):
        y = n.conv(n.input(1, 4, 4, 2), (3, 3, 3, 2))
        return [n.op("RELU", _scale_shift(n, y, 3)), n.op("TANH", y)]

    def spatial_scale(n):
        y = n.conv(n.input(1, 3, 3, 2), (3, 1, 1, 2))
        return n.op("ADD", n.op("MUL", y, n.const(3, 1)), n.const(1, 3, 3, 3))

    def scalar(n):
        y = n.conv(n.input(1, 3, 3, 2), (3, 1, 1, 2))
        return n.op("ADD", n.op("MUL", y, n.const()), n.const(1), act="RELU")

    def before(n):
        return n.conv(_scale_shift(n, n.input(1, 4, 4, 3), 3), (4, 3, 3, 3), act="RELU")

    t.model("conv", after("conv", 4))
    t.model("depthwise", after("depthwise", 3))
    t.model("sub", after("conv", 4, second="SUB"))
    t.model("div", after("conv", 4, first="DIV"))
    t.model("activation_between", after("conv", 4, act_inside="RELU"))
    t.model("fully_connected", full)
    t.model("conv_used_twice", used_twice)
    t.model("scale_is_not_per_channel", spatial_scale)
    t.model("scalars", scalar)
    t.model("before_the_conv", before)
    return t


def _pad_conv():
    t = Models("model_pad_conv")

    def padded(*pairs, padding="VALID", stride=1):

        def build(n):
            x = n.pad(n.input(1, 5, 6, 2), *pairs)
            channels = 2 + sum(pairs[3])
            return n.conv(x, (3, 3, 3, channels), stride=stride, padding=padding, act="RELU")

        return build

    def depthwise(n):
        x = n.pad(n.input(1, 4, 4, 3), (0, 0), (1, 1), (1, 1), (0, 0))
        return n.depthwise(x, 3, padding="VALID", act="RELU6")

    def used_twice(n):
        x = n.pad(n.input(1, 4, 4, 2), (0, 0), (1, 1), (1, 1), (0, 0))
        return [n.conv(x, (3, 3, 3, 2), padding="VALID"), n.pool("MAX", x, 2)]

    def pool(kind):

        def build(n):
            x = n.op("NEG", n.op("EXP", n.input(1, 4, 4, 2)))
            return n.pool(kind, n.pad(x, (0, 0), (1, 1), (1, 1), (0, 0)), 2)

        return build

    def other_value(n):
        pairs = n.graph.const(np.array([[0, 0], [1, 1], [1, 1], [0, 0]], np.int32))
        x = n.op("PADV2", n.input(1, 4, 4, 2), pairs, n.const(1))
        return n.conv(x, (3, 3, 3, 2), padding="VALID")

    none, one = (0, 0), (1, 1)
    t.model("symmetric", padded(none, one, one, none))
    t.model("uneven_stride2", padded(none, (0, 1), (0, 1), none, stride=2))
    t.model("wide", padded(none, (3, 2), (0, 4), none))
    t.model("before_same", padded(none, one, one, none, padding="SAME"))
    t.model("channels", padded(none, one, one, (0, 1)))
    t.model("batch", padded(one, none, none, none))
    t.model("depthwise", depthwise)
    t.model("used_twice", used_twice)
    t.model("before_max_pool", pool("MAX"))
    t.model("before_average_pool", pool("AVERAGE"))
    t.model("value_is_not_zero", other_value)
    return t


def _residual():
    t = Models("model_residual")

    def block(n, x, channels):
        y = n.conv(n.conv(x, (channels, 3, 3, channels), act="RELU"), (channels, 3, 3, channels))
        return n.op("RELU", n.op("ADD", y, x))

    def two_blocks(n):
        x = n.conv(n.input(1, 5, 5, 3), (4, 3, 3, 3), act="RELU")
        return n.full(n.pool("AVERAGE", block(n, block(n, x, 4), 4), 5), 3, 4)

    def with_projection(n):
        x = n.input(1, 6, 6, 3)
        y = n.conv(n.conv(x, (4, 3, 3, 3), stride=2, act="RELU6"), (4, 3, 3, 4))
        return n.op("ADD", y, n.conv(x, (4, 1, 1, 3), stride=2), act="RELU")

    def inverted(n):
        x = n.input(1, 4, 4, 4)
        y = n.depthwise(n.conv(x, (8, 1, 1, 4), act="RELU6"), 8, act="RELU6")
        return n.op("ADD", x, n.conv(y, (4, 1, 1, 8)))

    def squeeze_excite(n):
        x = n.conv(n.input(1, 4, 4, 3), (6, 3, 3, 3), act="RELU")
        s = n.op("MEAN", x, n.ints(1, 2), keep_dims=True)
        s = n.op("LOGISTIC", n.conv(n.conv(s, (2, 1, 1, 6), act="RELU"), (6, 1, 1, 2)))
        return n.op("MUL", x, s)

    t.model("one_block", lambda n: block(n, n.input(1, 4, 4, 3), 3))
    t.model("two_blocks", two_blocks)
    t.model("with_projection", with_projection)
    t.model("inverted", inverted)
    t.model("squeeze_excite", squeeze_excite)
    t.model("added_to_itself", lambda n: (lambda x: n.op("ADD", x, x, act="RELU"))(n.input(2, 3)))
    return t


def _half():
    t = Models("model_fp16_weights")

    def cnn(n):
        x = n.conv(n.input(1, 6, 6, 3), (4, 3, 3, 3), half=True, stride=2, act="RELU6")
        y = n.conv(n.depthwise(x, 4, half=True, act="RELU6"), (4, 1, 1, 4), half=True)
        y = n.op("MEAN", n.op("ADD", x, y), n.ints(1, 2))
        return n.op("SOFTMAX", n.full(y, 5, 4, half=True), beta=1.0)

    def elementwise(n):
        x = n.input(2, 3)
        return n.op("MUL", n.op("ADD", x, n.const(3, half=True)), n.const(half=True))

    def shared(n):
        weights, bias = n.const(3, 3, half=True), n.const(3)
        y = n.op("FULLY_CONNECTED", n.input(2, 3), weights, bias, act="RELU")
        return [n.op("FULLY_CONNECTED", y, weights, bias), weights]

    t.model("cnn", cnn)
    t.model("elementwise", elementwise)
    t.model("shared_and_output", shared)
    return t


def tables():
    return [_conv_bn(), _pad_conv(), _residual(), _half()]
