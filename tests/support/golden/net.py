"""Whole graphs in a few words: Net appends operators with random constants, Models runs them."""

import numpy as np

from build import Graph, rng_for
from cases import Case, Table


class Net:
    """A graph with random constants; methods return tensor indices."""

    def __init__(self, name):
        self.rng, self.graph = rng_for(name), Graph()

    def data(self, *shape, lo=-1.0, hi=1.0):
        return np.asarray(self.rng.uniform(lo, hi, shape)).astype(np.float32)

    def input(self, *shape, **kwargs):
        return self.graph.input(shape, **kwargs)

    def const(self, *shape, half=False, **kwargs):
        data = self.data(*shape, **kwargs)
        if not half:
            return self.graph.const(data)
        return self.op("DEQUANTIZE", self.graph.const(data.astype(np.float16)))

    def ints(self, *values):
        return self.graph.const(np.array(values, np.int32))

    def number(self, value):
        return self.graph.const(np.array(value, np.int32))

    def op(self, code, *inputs, act=None, **kwargs):
        if act is not None:
            kwargs["fused_activation_function"] = act
        return self.graph.op(code, list(inputs), **kwargs)

    def conv(self, x, filt, half=False, stride=1, padding="SAME", act="NONE"):
        weights, bias = self.const(*filt, half=half), self.const(filt[0], half=half)
        return self.op("CONV_2D",
                       x,
                       weights,
                       bias,
                       padding=padding,
                       stride_h=stride,
                       stride_w=stride,
                       act=act)

    def depthwise(self, x, channels, half=False, padding="SAME", act="NONE"):
        weights, bias = self.const(1, 3, 3, channels, half=half), self.const(channels, half=half)
        return self.op("DEPTHWISE_CONV_2D",
                       x,
                       weights,
                       bias,
                       padding=padding,
                       stride_h=1,
                       stride_w=1,
                       depth_multiplier=1,
                       act=act)

    def full(self, x, units, depth, half=False, act="NONE"):
        return self.op("FULLY_CONNECTED",
                       x,
                       self.const(units, depth, half=half),
                       self.const(units),
                       act=act)

    def pool(self, kind, x, size, act="NONE"):
        return self.op(kind + "_POOL_2D",
                       x,
                       padding="VALID",
                       stride_h=size,
                       stride_w=size,
                       filter_height=size,
                       filter_width=size,
                       act=act)

    def pad(self, x, *pairs):
        return self.op("PAD", x, self.graph.const(np.array(pairs, np.int32)))


class Models(Table):
    """A table of whole graphs: build(net) appends operators and returns the output indices."""

    def model(self, name, build, batches=(None,), signatures=()):
        net = Net(f"{self.op}/{name}")
        outputs = build(net)
        net.graph.outputs = outputs if isinstance(outputs, list) else [outputs]
        for number, batch in enumerate(batches):
            arrays = []
            for index in net.graph.inputs:
                shape = net.graph.tensors[index].shape
                arrays.append(net.data(*(shape if batch is None else (batch,) + shape[1:])))
            label = name if batch is None else f"{name}_run{number}_batch{batch}"
            self.append(Case(label, [net.graph], arrays, rtol=5e-5, same_model=number > 0))
