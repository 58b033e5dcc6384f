"""The version that a converter writes for an operator: the least that has what the node uses.

A node's types, ranks, options and scales decide (TFLite's op_version.cc is the source of the
facts). RULES has for each operator the versions above its first with what needs them, and the first
row that fits wins; an operator without rows has one version. What a version adds is either a type,
and then every case of that type carries it, or a feature, and then ops_versions_*.py sweep it over
the types. Versions in no row, and those whose feature LiteRT does not run, are written in cases that
need less (ops_versions_number.py says why). A test counts the cases of each operator, type and
version.
"""


class Node:
    """What rules ask of one operator of a graph."""

    def __init__(self, graph, inputs, outputs, options):
        self._in = [graph.tensors[i] if i >= 0 else None for i in inputs]
        self._out = [graph.tensors[i] for i in outputs]
        self._options = options

    def n_inputs(self):
        return len(self._in)

    def has(self, i):
        return i < len(self._in) and self._in[i] is not None

    def type(self, i=0):
        return self._in[i].dtype if self.has(i) else None

    def out(self, i=0):
        return self._out[i].dtype if i < len(self._out) else None

    def rank(self, i=0):
        return len(self._in[i].shape) if self.has(i) else 0

    def option(self, name, default=0):
        """An option's value; the activation NONE counts as none."""
        value = self._options.get(name, default)
        return 0 if value == "NONE" else value

    def quantized(self, i=0):
        return self.has(i) and self._in[i].quantization is not None

    def scale(self, i=0):
        """The first scale of input i (-1: of the output), 0 without one."""
        tensor = self._out[0] if i < 0 else self._in[i]
        return tensor.quantization[0][0] if tensor.quantization else 0

    def scales(self, tensor, size_of):
        """Whether the tensor has a scale for each place along the axis that size_of() names."""
        if tensor.quantization is None:
            return False
        scales, _, axis = tensor.quantization
        axis = size_of(axis)
        return axis < len(tensor.shape) and len(scales) == tensor.shape[axis]

    def each_scale(self, i, axis):
        return self.scales(self._in[i], lambda _: axis)

    def per_axis(self, i):
        """Whether input i (-1: the output) has several scales, one a place along its axis."""
        tensor = self._out[0] if i < 0 else self._in[i]
        many = tensor.quantization is not None and len(tensor.quantization[0]) > 1
        return many and self.scales(tensor, lambda axis: axis)

    def sparse(self, i):
        return self.has(i) and self._in[i].sparsity is not None

    def broadcast(self):
        return self.n_inputs() > 1 and self._in[0].shape != self._in[1].shape

    def channels(self, i):
        return self._in[i].shape[3] if self.rank(i) == 4 else 0

    def most_dims(self):
        return max(self.rank(i) for i in range(self.n_inputs()))


def _is(*types):
    return lambda n: n.type() in types


def _types(*types):
    """Types of the first two inputs and of the first output."""
    return lambda n: (n.type(0), n.type(1), n.out()) == types


def _hybrid(weights=1):
    return lambda n: n.type(0) == n.out() == "float32" and n.type(weights) == "int8"


def _both(*conditions):
    return lambda n: all(condition(n) for condition in conditions)


def _any(*conditions):
    return lambda n: any(condition(n) for condition in conditions)


def _set(name):
    return lambda n: bool(n.option(name))


def _deep(dims):
    return lambda n: n.rank() > dims


def _wide(n):
    return n.broadcast() and n.most_dims() > 4


def _input(i, *types):
    return lambda n: n.type(i) in types


def _touches(*types):
    return lambda n: n.type() in types or n.out() in types


def _asymmetric(weights=1):
    return _both(_hybrid(weights), _set("asymmetric_quantize_inputs"))


_INT16_BIAS = _both(_types("int16", "int8", "int16"), _set("quantized_bias_type"))
_GENERAL_INT16 = _both(_is("int16"), lambda n: not n.option("pot_scale_int16", True))
_BYTES = [(2, _is("int8"))]
_BYTES_AND_16 = [(3, _is("int16"))] + _BYTES
_FLOAT8 = _is("float8_e4m3fn", "float8_e5m2")
_RNN = [(3, _asymmetric()), (2, _hybrid())]
_PADS = [(6, _FLOAT8), (5, _is("bool")), (4, _deep(4))] + _BYTES_AND_16
_POSITIONS = [(3, _is("bool"))] + _BYTES
_BLOCKS = [(4, _is("int16")), (3, lambda n: n.rank() != 4)] + _BYTES
_EXTREMES = [(4, _is("int16")), (3, _wide)] + _BYTES
_FUNCTIONS = [(2, _is("int8", "int16"))]
_HALF = [(2, _is("float16"))]


def _mul_grows(n):
    left, right, out = n.scale(0), n.scale(1), n.scale(-1)
    return left and right and out and left * right / out >= 1


RULES = {
    "ABS": [(5, _is("int32")), (4, lambda n: n.type() == "int16" and not n.quantized()),
            (3, _is("int16")), (2, _is("int8", "uint8"))],
    "ADD": [(6, _is("float16")), (5, lambda n: n.type() == "int16" and not n.quantized()),
            (4, _is("int64")), (3, _GENERAL_INT16), (2, _is("int8"))],
    "ARG_MAX": _POSITIONS,
    "ARG_MIN": _POSITIONS,
    "AVERAGE_POOL_2D": _BYTES_AND_16,
    "BATCH_MATMUL": [(4, _asymmetric())] + _BYTES_AND_16,
    "BATCH_TO_SPACE_ND": _BLOCKS,
    "BIDIRECTIONAL_SEQUENCE_LSTM": _RNN,
    "BIDIRECTIONAL_SEQUENCE_RNN": _RNN,
    "BROADCAST_TO": [(4, _FLOAT8), (3, _is("int8", "int16")), (2, lambda n: True)],
    "CAST": [(9, _touches("float8_e4m3fn", "float8_e5m2")), (8, _touches("int2", "uint4")),
             (7, _touches("bfloat16")),
             (6, lambda n: n.type() == "int4" and n.out() == "float32"),
             (5, _touches("float64", "float16")), (4, _touches("uint16")), (3, _touches("int8")),
             (2, _touches("uint32"))],
    "CONCATENATION": [(7, _FLOAT8), (6, _is("float16")), (5, _is("int4")), (4, _is("uint32"))] +
                     _BYTES_AND_16,
    "CONV_2D": [(8, _INT16_BIAS), (6, lambda n: n.channels(0) != n.channels(1)),
                (3, _types("int8", "int8", "int8")), (7, _types("int8", "int4", "int8")),
                (5, _both(_hybrid(), lambda n: n.each_scale(1, 0))), (2, _hybrid())],
    "COS": _HALF,
    "DEPTHWISE_CONV_2D": [(6, _both(_hybrid(), lambda n: n.each_scale(1, 3))), (4, _hybrid()),
                          (3, _types("int8", "int8", "int8")), (7, _types("int8", "int4", "int8")),
                          (2, lambda n: n.option("dilation_w_factor", 1) != 1 or
                           n.option("dilation_h_factor", 1) != 1)],
    "DEPTH_TO_SPACE": _BYTES,
    "DEQUANTIZE": [(9, _FLOAT8), (8, _is("uint4")), (7, _is("int2")), (6, _is("int4")),
                   (3, _is("int16", "float16")),
                   (5, _both(_is("int8"), lambda n: n.per_axis(0))), (2, _is("int8"))],
    "DIV": [(2, _wide)],
    "DYNAMIC_UPDATE_SLICE": [(6, _is("bfloat16")), (5, _is("int4")), (4, _is("int16")),
                             (3, _is("float16")), (2, _input(2, "int64"))],
    "EMBEDDING_LOOKUP": [(4, _any(_input(1, "int4"), lambda n: n.per_axis(1))),
                         (5, _input(1, "int2"))],
    "EQUAL": [(5, _is("int16")), (3, _is("string"))] + _BYTES,
    "EXP": _FUNCTIONS,
    "FAKE_QUANT": [(2, _set("narrow_range"))],
    "FILL": [(5, _input(1, "float8_e4m3fn", "float8_e5m2")), (4, _input(1, "float16")),
             (3, _input(1, "int8", "int16")), (2, _input(1, "bool", "string"))],
    "FLOOR_DIV": [(3, _is("int8", "int16")), (2, _is("float32"))],
    "FLOOR_MOD": _FUNCTIONS,
    "FULLY_CONNECTED": [(14, _input(1, "int2")), (13, _types("int16", "int4", "int16")),
                        (12, _both(_hybrid(), lambda n: n.each_scale(1, 0))), (11, _INT16_BIAS),
                        (8, lambda n: n.sparse(1)), (7, _types("int16", "int16", "int16")),
                        (6, lambda n: n.n_inputs() == 2), (5, _set("keep_num_dims")),
                        (4, _types("int8", "int8", "int8")),
                        (10, _types("int8", "int4", "int8")), (9, _asymmetric()), (3, _hybrid()),
                        (2, _set("weights_format"))],
    "GATHER": [(8, _FLOAT8), (7, _is("int4")), (6, _input(1, "int16")), (5, _set("batch_dims")),
               (4, _is("int16")), (3, _is("bool"))] + _BYTES,
    "GATHER_ND": [(6, _FLOAT8), (5, _is("bool")), (4, _input(1, "int16")), (3, _is("int16")),
                  (2, _is("string"))],
    "GELU": [(3, _is("float16")), (2, _is("int8", "uint8"))],
    "GREATER": _BYTES,
    "GREATER_EQUAL": _BYTES_AND_16,
    "L2_NORMALIZATION": _BYTES,
    "LEAKY_RELU": [(2, _is("int16"))],
    "LESS": _BYTES_AND_16,
    "LESS_EQUAL": _BYTES,
    "LOG": _FUNCTIONS,
    "LOGISTIC": _BYTES_AND_16,
    "LOG_SOFTMAX": _BYTES,
    "LSTM": [(4, _asymmetric(2)), (3, _hybrid(2)), (2, _set("kernel_type"))],
    "MAXIMUM": _EXTREMES,
    "MAX_POOL_2D": _BYTES_AND_16,
    "MEAN": _BYTES_AND_16,
    "MINIMUM": _EXTREMES,
    "MIRROR_PAD": _BYTES_AND_16,
    "MUL": [(8, _is("float16")),
            (7, lambda n: n.type() == "uint32" or n.type() == "int16" and
             not n.quantized(0) and not n.quantized(1)),
            (6, _is("complex64")), (5, _is("int64")), (4, _is("int16")), (3, _mul_grows)] + _BYTES,
    "NOT_EQUAL": [(4, _is("int16")), (3, _is("string"))] + _BYTES,
    "PACK": [(5, _FLOAT8), (4, _is("uint32"))] + _BYTES_AND_16,
    "PAD": _PADS,
    "PADV2": _PADS,
    "QUANTIZE": [(6, lambda n: n.out().startswith("float8")), (5, _touches("uint4")),
                 (4, _touches("int4")), (3, lambda n: n.per_axis(-1)),
                 (2, lambda n: n.out() == "int16")],
    "RANGE": [(2, _is("int64"))],
    "REDUCE_MAX": _BYTES_AND_16,
    "REDUCE_MIN": _BYTES_AND_16,
    "REDUCE_PROD": _FUNCTIONS,
    "RELU": [(3, _is("int16")), (2, _is("int8", "uint8"))],
    "RELU6": _BYTES_AND_16,
    "RESIZE_BILINEAR": [(4, _is("int16")), (3, _set("half_pixel_centers"))] + _BYTES,
    "RESIZE_NEAREST_NEIGHBOR": [(4, _is("int16")),
                                (3, _any(_set("half_pixel_centers"), _set("align_corners")))] +
                               _BYTES,
    "REVERSE_V2": [(4, _FLOAT8), (3, _is("int8")), (2, _is("bool"))],
    "RNN": _RNN,
    "RSQRT": _BYTES_AND_16,
    "SELECT": [(4, _is("uint32")), (3, lambda n: n.most_dims() == 5)] + _BYTES,
    "SELECT_V2": [(2, _is("uint32"))],
    "SIGN": [(2, _is("int32"))],
    "SIN": _HALF,
    "SLICE": [(8, _is("float16")), (7, _is("int4")), (6, _is("uint32")), (5, _deep(4)),
              (4, _is("int16")), (3, _is("string"))] + _BYTES,
    "SOFTMAX": [(4, _is("float16"))] + _BYTES_AND_16,
    "SPACE_TO_BATCH_ND": _BLOCKS,
    "SPACE_TO_DEPTH": _BYTES,
    "SPARSE_TO_DENSE": [(3, _input(2, "int8", "uint8")), (2, _input(2, "int64"))],
    "SPLIT": [(5, _input(1, "float8_e4m3fn", "float8_e5m2")), (4, _input(1, "int16")),
              (3, _input(1, "int32")), (2, _input(1, "int8"))],
    "SPLIT_V": [(3, _FLOAT8)] + _BYTES,
    "SQRT": _FUNCTIONS,
    "SQUARED_DIFFERENCE": _BYTES,
    "SQUEEZE": [(2, _is("string"))],
    "STRIDED_SLICE": [(8, _set("offset")), (7, _is("uint32")),
                      (6, _any(_set("ellipsis_mask"), _set("new_axis_mask"))), (5, _is("string")),
                      (4, _deep(4)), (3, _is("bool"))] + _BYTES,
    "SUB": [(5, _GENERAL_INT16), (4, _is("int64")), (3, _wide)] + _BYTES,
    "SUM": _BYTES,
    "SVDF": [(3, _is("int8")), (4, _asymmetric()), (2, _hybrid())],
    "TANH": _BYTES_AND_16,
    "TILE": [(3, _is("int8")), (2, _is("string"))],
    "TOPK_V2": [(3, _any(_is("int16"), _input(1, "int16"), lambda n: n.out(1) == "int16"))] +
               _BYTES,
    "TRANSPOSE": [(9, _is("float16")), (8, _any(_deep(6), _is("bfloat16"))), (7, _is("int4")),
                  (6, _deep(5)), (5, _is("int16")), (4, _deep(4)), (3, _is("bool"))] + _BYTES,
    "TRANSPOSE_CONV": [(5, _INT16_BIAS), (4, _set("fused_activation_function")),
                       (3, lambda n: n.has(3)), (2, _input(1, "int8"))],
    "UNIDIRECTIONAL_SEQUENCE_LSTM": [(4, _set("diagonal_recurrent_tensors")), (3, _asymmetric(2)),
                                     (2, _hybrid(2))],
    "UNIDIRECTIONAL_SEQUENCE_RNN": _RNN,
    "UNPACK": [(6, _FLOAT8), (2, _is("int8", "uint8")), (3, _is("bool")), (4, _is("int16")),
               (5, _is("float16", "bfloat16"))],
    "WHERE": [(2, lambda n: n.type() != "bool")],
}


def version_of(graph, op, inputs, outputs, options):
    """The version of one operator of a graph (build.py) whose shapes are known."""
    node = Node(graph, inputs, outputs, options)
    for version, condition in RULES.get(op, ()):
        if condition(node):
            return version
    return 1
