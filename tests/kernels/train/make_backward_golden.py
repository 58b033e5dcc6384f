"""Writes tests/data/train/backward.npz: gradients of operators by PyTorch in float64.

  python make_backward_golden.py [OUTPUT]

For each case, <name>.op is the operator's code and the parameters [padding (0 SAME, 1 VALID),
stride_h, stride_w, dilation_h, dilation_w, filter_h, filter_w, activation, axis], <name>.alpha is
[alpha, beta], in0, in1, ... are the inputs (NHWC; filters OHWI), y the output, dy its gradient and
d0, d1, ... those of the inputs that have one. Random numbers are those of a fixed seed. Needs numpy
and torch.
"""

import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F

ADD, AVERAGE_POOL, CONCATENATION, CONV, DEPTHWISE, FULLY_CONNECTED = 0, 1, 2, 3, 4, 9
LOGISTIC, MAX_POOL, MUL, RELU, RELU_N1, RELU6, SOFTMAX = 14, 17, 18, 19, 20, 21, 25
TANH, PAD, MEAN, SUB, DIV, PRELU, LEAKY_RELU, ELU = 28, 34, 40, 41, 42, 54, 98, 111
HARD_SWISH, GELU, RELU_0_TO_1 = 117, 150, 152
SAME, VALID = 0, 1
ACTIVATIONS = {0: lambda z: z, 1: F.relu, 2: lambda z: F.hardtanh(z, -1, 1),
               3: F.relu6, 4: torch.tanh, 6: lambda z: F.hardtanh(z, 0, 1)}

rng = np.random.default_rng(11)
arrays = {}


def random(*shape, scale=1.0):
    return (rng.normal(size=shape) * scale).astype(np.float32)


def pads(size, filter_size, stride, dilation, padding):
    if padding == VALID:
        return 0, 0
    out = -(-size // stride)
    total = max(0, (out - 1) * stride + (filter_size - 1) * dilation + 1 - size)
    return total // 2, total - total // 2


def pad_image(x, k, s, d, padding, value=0.0):
    """x [N, C, H, W] with TFLite's padding."""
    top, bottom = pads(x.shape[2], k[0], s[0], d[0], padding)
    left, right = pads(x.shape[3], k[1], s[1], d[1], padding)
    return F.pad(x, (left, right, top, bottom), value=value)


def nchw(x):
    return x.permute(0, 3, 1, 2)


def nhwc(x):
    return x.permute(0, 2, 3, 1)


def case(name, op, inputs, forward, padding=SAME, s=(1, 1), d=(1, 1), k=(1, 1), act=0, axis=0,
         alpha=0.0, beta=0.0, constant=()):
    """forward(tensors...) gives the result before the fused activation."""
    tensors = []
    for i, x in enumerate(inputs):
        if x is None or i in constant:
            tensors.append(None if x is None else torch.tensor(x))
        else:
            tensors.append(torch.tensor(x, dtype=torch.float64, requires_grad=True))
    y = ACTIVATIONS[act](forward(*tensors))
    dy = random(*y.shape)
    y.backward(torch.tensor(dy, dtype=torch.float64))
    params = [op, padding, *s, *d, *k, act, axis]
    arrays[f"{name}.op"] = np.array(params, np.int32)
    arrays[f"{name}.alpha"] = np.array([alpha, beta], np.float32)
    arrays[f"{name}.y"] = y.detach().numpy().astype(np.float32)
    arrays[f"{name}.dy"] = dy
    for i, (x, t) in enumerate(zip(inputs, tensors)):
        if x is None:
            continue
        arrays[f"{name}.in{i}"] = x
        if t.grad is not None:
            arrays[f"{name}.d{i}"] = t.grad.numpy().astype(np.float32)


def dense_cases():
    def dense(x, w, b=None):
        return x.reshape(-1, w.shape[1]) @ w.T + (0 if b is None else b)

    case("dense", FULLY_CONNECTED, [random(5, 19), random(7, 19), random(7)], dense)
    case("dense_wide", FULLY_CONNECTED, [random(9, 70), random(67, 70), random(67)], dense, act=3)
    case("dense_no_bias", FULLY_CONNECTED, [random(3, 4, 6), random(5, 6)], dense, act=4)
    case("dense_rows", FULLY_CONNECTED, [random(520, 3), random(2, 3), random(2)], dense, act=1)


def conv_case(name, x, w, bias=True, padding=SAME, s=(1, 1), d=(1, 1), act=0):
    groups = x[3] // w[3]

    def conv(x, w, b=None):
        z = pad_image(nchw(x), w.shape[1:3], s, d, padding)
        return nhwc(F.conv2d(z, nchw(w), b, stride=s, dilation=d, groups=groups))

    inputs = [random(*x), random(*w)] + ([random(w[0])] if bias else [])
    case(name, CONV, inputs, conv, padding, s, d, act=act)


def conv_cases():
    conv_case("conv_1x1", (2, 5, 4, 9), (13, 1, 1, 9))
    conv_case("conv_1x1_relu6", (3, 3, 3, 33), (50, 1, 1, 33), act=3)
    conv_case("conv_1x1_stride", (2, 5, 6, 4), (3, 1, 1, 4), s=(2, 3))
    conv_case("conv_3x3_same", (2, 7, 6, 5), (8, 3, 3, 5), act=1)
    conv_case("conv_3x3_stride", (2, 8, 7, 3), (6, 3, 3, 3), s=(2, 2), act=2)
    conv_case("conv_5x3_valid", (2, 9, 8, 2), (4, 5, 3, 2), bias=False, padding=VALID, s=(1, 2))
    conv_case("conv_dilated", (1, 11, 9, 3), (5, 3, 3, 3), d=(3, 2), act=4)
    conv_case("conv_grouped", (2, 6, 5, 6), (8, 3, 3, 3), act=6)
    conv_case("conv_grouped_1x1", (2, 4, 4, 8), (12, 1, 1, 2))
    conv_case("conv_many_pixels", (2, 18, 17, 2), (3, 2, 2, 2), padding=VALID)


def depthwise_case(name, x, k, multiplier=1, bias=True, padding=SAME, s=(1, 1), d=(1, 1), act=0):
    c = x[3]

    def conv(x, w, b=None):
        z = pad_image(nchw(x), k, s, d, padding)
        filters = w[0].permute(2, 0, 1)[:, None]
        return nhwc(F.conv2d(z, filters, b, stride=s, dilation=d, groups=c))

    inputs = [random(*x), random(1, *k, c * multiplier)] + ([random(c * multiplier)] if bias else [])
    case(name, DEPTHWISE, inputs, conv, padding, s, d, act=act)


def depthwise_cases():
    depthwise_case("depthwise_3x3", (2, 6, 7, 21), (3, 3), act=3)
    depthwise_case("depthwise_5x5_stride", (2, 9, 8, 70), (5, 5), s=(2, 2))
    depthwise_case("depthwise_dilated", (1, 9, 11, 16), (3, 3), bias=False, d=(2, 3), act=1)
    depthwise_case("depthwise_7x2_valid", (2, 9, 6, 4), (7, 2), padding=VALID, s=(1, 3))
    depthwise_case("depthwise_9x9", (1, 10, 9, 3), (9, 9), act=4)
    depthwise_case("depthwise_multiplier", (2, 6, 5, 3), (3, 3), multiplier=4, s=(2, 1), act=6)


def pool_cases():
    def average(k, s, padding):
        def pool(x):
            z = nchw(x)
            ones = torch.ones_like(z)
            sums, counts = (F.avg_pool2d(pad_image(t, k, s, (1, 1), padding), k, s)
                            for t in (z, ones))
            return nhwc(sums / counts)
        return pool

    def largest(k, s, padding):
        def pool(x):
            z = pad_image(nchw(x), k, s, (1, 1), padding, value=-np.inf)
            return nhwc(F.max_pool2d(z, k, s))
        return pool

    for name, shape, k, s, padding, act in (
            ("same", (2, 7, 6, 5), (3, 2), (2, 2), SAME, 0),
            ("valid", (3, 6, 7, 4), (2, 3), (1, 2), VALID, 1),
            ("whole", (2, 4, 3, 6), (4, 3), (1, 1), VALID, 3)):
        args = dict(padding=padding, s=s, k=k, act=act)
        case(f"average_{name}", AVERAGE_POOL, [random(*shape)], average(k, s, padding), **args)
        case(f"max_{name}", MAX_POOL, [random(*shape)], largest(k, s, padding), **args)
    for name, shape, axes in (("map", (3, 4, 5, 6), [1, 2]), ("last", (2, 3, 7), [-1]),
                              ("all", (2, 3, 4, 2), [3, 1, 2])):
        case(f"mean_{name}", MEAN, [random(*shape), np.array(axes, np.int32)],
             lambda x, _, a=tuple(axes): x.mean(dim=a), constant=(1,))


def elementwise_cases():
    shape = (3, 2, 3, 5)
    for name, op, f, alpha in (
            ("relu", RELU, F.relu, 0), ("relu6", RELU6, F.relu6, 0), ("tanh", TANH, torch.tanh, 0),
            ("relu_n1", RELU_N1, lambda x: F.hardtanh(x, -1, 1), 0),
            ("logistic", LOGISTIC, torch.sigmoid, 0), ("elu", ELU, F.elu, 0),
            ("leaky_relu", LEAKY_RELU, lambda x: F.leaky_relu(x, 0.125), 0.125),
            ("hard_swish", HARD_SWISH, F.hardswish, 0), ("gelu", GELU, F.gelu, 0),
            ("gelu_tanh", GELU, lambda x: F.gelu(x, approximate="tanh"), 1)):
        case(name, op, [random(*shape, scale=3.0)], f, alpha=alpha)
    case("prelu", PRELU, [random(*shape), random(1, 1, 5)], lambda x, a: torch.where(x > 0, x, a * x))
    for name, op, f in (("add", ADD, torch.add), ("sub", SUB, torch.sub), ("mul", MUL, torch.mul),
                        ("div", DIV, torch.div)):
        for how, a, b, act in (("same", shape, shape, 1), ("channel", shape, (5,), 3),
                               ("first", (1, 1, 1, 5), shape, 0), ("gate", shape, (3, 1, 1, 5), 4),
                               ("scalar", shape, (1,), 2), ("rows", (3, 2, 3, 1), (2, 1, 5), 0)):
            second = random(*b)
            if op == DIV:
                second = (np.sign(second) * (np.abs(second) + 0.5)).astype(np.float32)
            case(f"{name}_{how}", op, [random(*a), second], f, act=act)


def shape_cases():
    case("softmax", SOFTMAX, [random(6, 3, 11)], lambda x: torch.softmax(0.5 * x, -1), beta=0.5)
    case("concatenation", CONCATENATION, [random(3, 2, 4), random(3, 2, 1), random(3, 2, 6)],
         lambda *x: torch.cat(x, -1), axis=-1)
    case("concatenation_rows", CONCATENATION, [random(2, 2, 4), random(2, 3, 4)],
         lambda *x: torch.cat(x, 1), axis=1)
    case("pad", PAD, [random(2, 3, 4, 5), np.array([[0, 0], [1, 2], [0, 3], [2, 0]], np.int32)],
         lambda x, _: F.pad(x, (2, 0, 0, 3, 1, 2)), constant=(1,))


def clamp_cases():
    case("relu_0_to_1", RELU_0_TO_1, [random(3, 2, 3, 5, scale=3.0)], lambda x: F.hardtanh(x, 0, 1))


def main():
    for cases in (dense_cases, conv_cases, depthwise_cases, pool_cases, elementwise_cases,
                  shape_cases, clamp_cases):
        cases()
    default = pathlib.Path(__file__).parents[2] / "data" / "train" / "backward.npz"
    np.savez_compressed(sys.argv[1] if len(sys.argv) > 1 else default, **arrays)


if __name__ == "__main__":
    main()
