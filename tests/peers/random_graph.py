"""Random networks for random_networks.py: a graph of two to nine operators with one input, of float32, int8, uint8 or
int16 values. Each operator reads values that are there; shapes, scales, zero points and options are drawn. What LiteRT's
reference kernels refuse is not drawn."""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support" / "golden"))
from build import Graph, serialise  # noqa: E402, F401

LIMITS = {"int8": (-128, 127), "uint8": (0, 255), "int16": (-32768, 32767)}
MOST_PRODUCTS, MOST_VALUES, MOST_CHANNELS = 60_000_000, 3_000_000, 200  # of one operator
ACTIVATIONS = ("NONE", "NONE", "RELU", "RELU6", "RELU_N1_TO_1")


class Value:
    """A tensor of the graph: what an operator reads. `scale` is None for float32."""

    def __init__(self, index, shape, scale=None, zero=None):
        self.index, self.shape, self.scale, self.zero = index, tuple(map(int, shape)), scale, zero

    @property
    def is_image(self):
        return len(self.shape) == 4


def window_of(rng, shape):
    """Sizes, output sizes, stride and padding of a window over an image, or None where it does not fit."""
    sizes = rng.choice([1, 1, 2, 3, 3, 5, 7], 2)
    if rng.rand() < 0.7:
        sizes[1] = sizes[0]
    strides = np.full(2, rng.choice([1, 1, 1, 2, 3]))
    if rng.rand() < 0.2:
        strides[1] = rng.choice([1, 2])
    dilation = 2 if (strides == 1).all() and rng.rand() < 0.2 else 1
    padding = str(rng.choice(["SAME", "VALID"]))
    reach = (sizes - 1) * dilation + 1
    image = np.array(shape[1:3])
    out = -(-image // strides) if padding == "SAME" else (image - reach) // strides + 1
    if (out < 1).any():
        return None
    options = {"padding": padding, "stride_h": int(strides[0]), "stride_w": int(strides[1])}
    return [int(n) for n in sizes], tuple(map(int, out)), options, dilation


class RandomGraph:
    """`graph` has the network, `values` its tensors: the input first, then each operator's result."""

    def __init__(self, seed, dtype):
        self.rng, self.dtype, self.graph = np.random.RandomState(seed), dtype, Graph()
        rng = self.rng
        sizes = ([1, 3, 5, 8, 13, 17, 24, 32], [1, 2, 7, 8, 11, 16, 24, 33])
        if rng.rand() < 0.15:
            sizes = ([56, 80, 112], [57, 80, 112])
        shape = [rng.choice(of) for of in ([1, 1, 1, 2, 3], *sizes, [1, 2, 3, 4, 8, 13, 16, 24, 32, 40])]
        first = Value(None, shape, *self.grid(0.02 if dtype != "int16" else 0.02 / 256))
        first.index = self.graph.input(first.shape, dtype, quantization=self.quantization(first))
        self.values = [first]
        layers = [self.convolution] * 3 + [self.depthwise] * 2 + [
            self.transposed, self.dense, self.binary, self.binary, self.extreme, self.pool, self.pad, self.concatenate,
            self.resize, self.requantize, self.mean, self.cut, self.activation]
        for _ in range(rng.randint(2, 10)):
            while not layers[rng.randint(len(layers))](self.some_value()):
                pass
        self.graph.outputs = [self.values[-1].index]
        if rng.rand() < 0.3 and len(self.values) > 2:  # one that others read, too
            self.graph.outputs.append(self.values[rng.randint(1, len(self.values) - 1)].index)

    def input_data(self, seed):
        rng = np.random.RandomState(seed)
        if self.dtype == "float32":
            return rng.randn(*self.values[0].shape).astype(np.float32)
        low, high = LIMITS[self.dtype]
        return rng.randint(low, high + 1, self.values[0].shape).astype(self.dtype)

    def some_value(self):
        """Mostly the last one."""
        return self.values[-1 if self.rng.rand() < 0.75 else self.rng.randint(len(self.values))]

    def grid(self, around):
        """A scale about that large and a zero point."""
        if self.dtype == "float32":
            return None, None
        scale = float(np.float32(around * np.exp(self.rng.uniform(-0.7, 0.7))))
        if self.dtype == "int16":
            return scale, 0
        low, high = LIMITS[self.dtype]
        return scale, int(self.rng.choice([low, high, (low + high + 1) // 2, self.rng.randint(low, high + 1)]))

    def regrid(self, value):
        return self.grid(value.scale)

    @staticmethod
    def quantization(value):
        return None if value.scale is None else ((value.scale,), (value.zero,), 0)

    def fused(self):
        return str(self.rng.choice(ACTIVATIONS))

    def add(self, code, inputs, shape, grid, **options):
        out = Value(None, shape, *grid)
        out.index = self.graph.op(code, inputs, (self.dtype,), quantization=self.quantization(out), **options)
        self.values.append(out)
        return True

    # Layers with weights.

    def weights(self, shape, axis, depth):
        """The tensor of the weights, and their scales along `axis`; `depth` products make a sum."""
        rng = self.rng
        if self.dtype == "float32":
            return self.graph.const((rng.randn(*shape) / np.sqrt(depth)).astype(np.float32)), None
        zero = int(rng.choice([128, 0, 255, rng.randint(256)])) if self.dtype == "uint8" else 0
        low, high = (0, 255) if self.dtype == "uint8" else (-127, 127)
        data = rng.randint(low, high + 1, shape)
        if rng.rand() < 0.5:
            data = np.clip(rng.randn(*shape) * 40 + zero, low, high)
        n = shape[axis] if self.dtype != "uint8" and rng.rand() < 0.8 else 1
        scales = (np.exp(rng.uniform(-2, 1, n)) / 128).astype(np.float32)
        data = data.astype("uint8" if self.dtype == "uint8" else "int8")
        return self.graph.const(data, (tuple(scales), (zero,) * n, axis)), scales

    def bias(self, n, x, scales):
        if self.dtype == "float32":
            return self.graph.const(self.rng.randn(n).astype(np.float32))
        scales = np.float32(x.scale) * scales
        most = int(self.rng.choice([100, 5000, 200000]))
        data = self.rng.randint(-most, most, n).astype("int64" if self.dtype == "int16" else "int32")
        return self.graph.const(data, (tuple(scales), (0,) * len(scales), 0))

    def layer(self, code, x, shape, axis, depth, out, before=(), **options):
        """One whose weights have that shape, and whose result has the shape `out`."""
        if np.prod(out) * depth > MOST_PRODUCTS or np.prod(out) > MOST_VALUES or out[-1] > MOST_CHANNELS:
            return False
        weights, scales = self.weights(shape, axis, depth)
        grid = (None, None)
        if scales is not None:  # results that fit, or saturate, or take few steps
            grid = self.grid(x.scale * float(np.median(scales)) * np.sqrt(depth) * 50 *
                             self.rng.choice([1, 0.5, 2, 0.1, 8]))
        bias = self.bias(out[-1], x, scales)
        inputs = [*before, weights, x.index, bias] if before else [x.index, weights, bias]
        return self.add(code, inputs, out, grid, **options)

    def convolution(self, x):
        window = window_of(self.rng, x.shape) if x.is_image else None
        if window is None:
            return False
        sizes, out, options, dilation = window
        n = int(self.rng.choice([1, 2, 3, 5, 8, 12, 16, 17, 24, 31, 32, 40, 48, 64, 96, 100]))
        return self.layer("CONV_2D", x, (n, *sizes, x.shape[3]), 0, int(np.prod(sizes)) * x.shape[3],
                          (x.shape[0], *out, n), fused_activation_function=self.fused(), **options,
                          dilation_h_factor=dilation, dilation_w_factor=dilation)

    def depthwise(self, x):
        window = window_of(self.rng, x.shape) if x.is_image else None
        if window is None:
            return False
        sizes, out, options, dilation = window
        times = int(self.rng.choice([1, 1, 1, 1, 2, 3]))
        n = x.shape[3] * times
        return self.layer("DEPTHWISE_CONV_2D", x, (1, *sizes, n), 3, int(np.prod(sizes)), (x.shape[0], *out, n),
                          fused_activation_function=self.fused(), depth_multiplier=times, **options,
                          dilation_h_factor=dilation, dilation_w_factor=dilation)

    def transposed(self, x):
        if not x.is_image or np.prod(x.shape[1:3]) > 700:
            return False
        rng = self.rng
        size, stride, n = int(rng.choice([1, 2, 3, 4])), int(rng.choice([1, 2])), int(rng.choice([1, 3, 8, 17, 32]))
        padding = str(rng.choice(["SAME", "VALID"]))
        more = 0 if padding == "SAME" else max(size - stride, 0)
        out = (x.shape[0], *(n * stride + more for n in x.shape[1:3]), n)
        return self.layer("TRANSPOSE_CONV", x, (n, size, size, x.shape[3]), 0, size * size * x.shape[3], out,
                          before=[self.graph.const(np.array(out, np.int32))], padding=padding, stride_h=stride,
                          stride_w=stride, fused_activation_function="NONE")

    def dense(self, x):
        n = int(self.rng.choice([1, 3, 7, 10, 16, 33, 64, 130]))
        return self.rng.rand() < 0.4 and self.layer(
            "FULLY_CONNECTED", x, (n, x.shape[-1]), 0, x.shape[-1], (*x.shape[:-1], n),
            fused_activation_function=self.fused(), keep_num_dims=True)

    # Layers without.

    def binary(self, x):
        """ADD, SUB or MUL with a value of the same shape or a constant."""
        rng = self.rng
        like = [value for value in self.values if value.shape == x.shape]
        y = like[rng.randint(len(like))]
        if rng.rand() < 0.3:
            shape = (x.shape, x.shape[-1:], (1,))[rng.randint(3)]
            y = Value(None, shape, *self.regrid(x))
            data = rng.randn(*shape).astype(np.float32)
            if self.dtype != "float32":
                data = rng.randint(LIMITS[self.dtype][0], LIMITS[self.dtype][1] + 1, shape).astype(self.dtype)
            y.index = self.graph.const(data, self.quantization(y))
        code = str(rng.choice(["ADD", "SUB", "MUL"]))
        grid = (None, None)
        if x.scale is not None:
            both = x.scale * y.scale * (60 if self.dtype != "int16" else 15000) if code == "MUL" else x.scale + y.scale
            grid = self.grid(both)
        pair = [x.index, y.index][::int(rng.choice([1, -1]))]
        return self.add(code, pair, x.shape, grid, fused_activation_function=self.fused())

    def extreme(self, x):
        like = [v for v in self.values if (v.shape, v.scale, v.zero) == (x.shape, x.scale, x.zero)]
        return self.add(str(self.rng.choice(["MAXIMUM", "MINIMUM"])), [x.index, like[self.rng.randint(len(like))].index],
                        x.shape, (x.scale, x.zero))

    def pool(self, x):
        window = window_of(self.rng, x.shape) if x.is_image else None
        if window is None or window[3] != 1:
            return False
        (height, width), out, options, _ = window
        return self.add(str(self.rng.choice(["AVERAGE_POOL_2D", "MAX_POOL_2D"])), [x.index],
                        (x.shape[0], *out, x.shape[3]), (x.scale, x.zero), fused_activation_function=self.fused(),
                        filter_height=height, filter_width=width, **options)

    def pad(self, x):
        if not x.is_image or self.rng.rand() < 0.5:
            return False
        edges = np.zeros((4, 2), np.int32)
        edges[1:3 if self.rng.rand() < 0.8 else 4] = self.rng.randint(0, 3, 2)
        return self.add("PAD", [x.index, self.graph.const(edges)], np.array(x.shape) + edges.sum(1), (x.scale, x.zero))

    def concatenate(self, x):
        """Of one grid: what a reference kernel takes in every type."""
        like = [v for v in self.values if v.is_image and v.shape[:3] == x.shape[:3] and (v.scale, v.zero) == (x.scale, x.zero)]
        if not x.is_image:
            return False
        parts = [x] + [like[self.rng.randint(len(like))] for _ in range(self.rng.randint(1, 3))]
        channels = sum(part.shape[3] for part in parts)
        return channels <= MOST_CHANNELS and self.add(
            "CONCATENATION", [part.index for part in parts], (*x.shape[:3], channels), (x.scale, x.zero), axis=3,
            fused_activation_function="NONE")

    def resize(self, x):
        if not x.is_image or np.prod(x.shape) > 60000:
            return False
        size = np.array(x.shape[1:3]) * 2 if self.rng.rand() < 0.5 else self.rng.choice([1, 3, 8, 10, 16, 20, 32], 2)
        corners, centres = ((False, False), (True, False), (False, True))[self.rng.randint(3)]
        return self.add(str(self.rng.choice(["RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR"])),
                        [x.index, self.graph.const(size.astype(np.int32))], (x.shape[0], *size, x.shape[3]),
                        (x.scale, x.zero), align_corners=corners, half_pixel_centers=centres)

    def requantize(self, x):
        return x.scale is not None and self.add("QUANTIZE", [x.index], x.shape, self.regrid(x))

    def mean(self, x):
        if not x.is_image or self.rng.rand() < 0.6:
            return False
        keep = bool(self.rng.rand() < 0.6)
        shape = (x.shape[0], 1, 1, x.shape[3]) if keep else (x.shape[0], x.shape[3])
        grid = self.regrid(x) if self.rng.rand() < 0.5 else (x.scale, x.zero)
        return self.add("MEAN", [x.index, self.graph.const(np.array([1, 2], np.int32))], shape, grid, keep_dims=keep)

    def cut(self, x):
        if self.rng.rand() < 0.5:
            return False
        begin = [0] + [int(self.rng.randint(max(1, n // 3))) for n in x.shape[1:]]
        size = [x.shape[0]] + [int(self.rng.randint(1, n - b + 1)) for n, b in zip(x.shape[1:], begin[1:])]
        return self.add("SLICE", [x.index, *(self.graph.const(np.array(v, np.int32)) for v in (begin, size))], size,
                        (x.scale, x.zero))

    def activation(self, x):
        code = str(self.rng.choice(["RELU", "RELU6", "LEAKY_RELU"] + ["HARD_SWISH"] * (self.dtype != "int16")))
        options = {"alpha": float(self.rng.uniform(0.01, 0.9))} if code == "LEAKY_RELU" else {}
        return self.add(code, [x.index], x.shape, self.regrid(x), **options)
