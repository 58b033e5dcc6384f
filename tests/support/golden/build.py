"""Builds small .tflite models through the schema module that ai-edge-litert ships.

A Graph is a list of tensors and operators; serialise() gives the FlatBuffers file. Constant buffers
are aligned to 16 bytes, as the public schema demands and the Python object API alone would not do.
Shapes of computed tensors may be left open: run.py fills them with what LiteRT computes.
"""

import re
import zlib
from dataclasses import dataclass, field

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

from dtypes import PACKED, TYPES, raw_bytes
from sparse import compress
from versions import version_of

# Operators whose options table is not named after them.
_OPTIONS = {
    "AVERAGE_POOL_2D": "Pool2D",
    "MAX_POOL_2D": "Pool2D",
    "L2_POOL_2D": "Pool2D",
    "MEAN": "Reducer",
    "SUM": "Reducer",
    "REDUCE_MAX": "Reducer",
    "REDUCE_MIN": "Reducer",
    "REDUCE_PROD": "Reducer",
    "REDUCE_ANY": "Reducer",
    "REDUCE_ALL": "Reducer",
    "MAXIMUM": "MaximumMinimum",
    "MINIMUM": "MaximumMinimum",
    "BATCH_MATMUL": "BatchMatMul",
    "L2_NORMALIZATION": "L2Norm",
    "TOPK_V2": "TopKV2",
    "PADV2": "PadV2",
    "SPLIT_V": "SplitV",
    "ATAN2": "ATan2",
    "SPACE_TO_BATCH_ND": "SpaceToBatchND",
    "BATCH_TO_SPACE_ND": "BatchToSpaceND",
    "UNIDIRECTIONAL_SEQUENCE_LSTM": "UnidirectionalSequenceLSTM",
    "BIDIRECTIONAL_SEQUENCE_LSTM": "BidirectionalSequenceLSTM",
    "UNIDIRECTIONAL_SEQUENCE_RNN": "SequenceRNN",
    "BIDIRECTIONAL_SEQUENCE_RNN": "BidirectionalSequenceRNN",
    "LSTM": "LSTM",
    "RNN": "RNN",
    "SVDF": "SVDF",
    "RANDOM_UNIFORM": "Random",
    "RANDOM_STANDARD_NORMAL": "Random",
    "MULTINOMIAL": "Random",
    "CONV_3D_TRANSPOSE": "Conv3D",
    "LSH_PROJECTION": "LSHProjection",
    "STABLEHLO_COMPOSITE": "StableHLOComposite",
    "HASHTABLE_LOOKUP": None,
    "COMPLEX_ABS": None,
    "REAL": None,
    "IMAG": None,
    "STABLEHLO_ADD": None,
    "STABLEHLO_MULTIPLY": None,
    "STABLEHLO_MAXIMUM": None,
    "STABLEHLO_MINIMUM": None,
    "STABLEHLO_AND": None,
    "STABLEHLO_CBRT": None,
}

_ENUMS = {
    "fused_activation_function": schema.ActivationFunctionType,
    "padding": schema.Padding,
    "mode": schema.MirrorPadMode
}


def camel(name, first_upper):
    text = "".join(part.capitalize() for part in name.lower().split("_"))
    text = re.sub(r"(\d)d\b", r"\1D", re.sub(r"(\d)d$", r"\1D", text))
    return text if first_upper else text[0].lower() + text[1:]


def options_class(op):
    """The object-API class of an operator's options, or None where it has none."""
    if op.startswith("CUSTOM:"):
        return None
    name = _OPTIONS.get(op, camel(op, True))
    return getattr(schema, f"{name}OptionsT", None)


@dataclass
class Tensor:
    dtype: str
    shape: tuple
    data: np.ndarray = None
    quantization: tuple = None  # (scales, zero_points, axis)
    signature: tuple = None
    name: str = ""
    computed: bool = False
    variable: bool = False
    blocks: tuple = None  # (tensor of scales, size)
    sparsity: object = None


@dataclass
class Graph:
    """One subgraph under construction; tensors are named by their index."""

    tensors: list = field(default_factory=list)
    ops: list = field(default_factory=list)
    inputs: list = field(default_factory=list)
    outputs: list = field(default_factory=list)
    intermediates: dict = field(default_factory=dict)  # tensors by position of the operator
    callees: list = field(default_factory=list)  # of a main graph: subgraphs 1, 2, ...

    def _add(self, tensor):
        self.tensors.append(tensor)
        return len(self.tensors) - 1

    def input(self, shape, dtype="float32", signature=None, quantization=None, name=""):
        index = self._add(
            Tensor(dtype, tuple(shape), signature=signature, name=name, quantization=quantization))
        self.inputs.append(index)
        return index

    def const_packed(self, array, dtype, quantization=None):
        """A constant of int2, int4 or uint4: several a byte, the first in the lowest bits."""
        bits = 2 if dtype == "int2" else 4
        flat = (array.ravel().astype(np.int64) & (1 << bits) - 1).astype(np.uint8)
        flat = np.append(flat, np.zeros(-flat.size % (8 // bits), np.uint8))
        packed = np.zeros(flat.size * bits // 8, np.uint8)
        for i in range(8 // bits):
            packed |= flat[i::8 // bits] << bits * i
        return self._add(Tensor(dtype, array.shape, packed, quantization))

    def const_blocks(self, array, dtype, scales, size):
        """Rows of a packed type in blocks of `size` values, each with a float16 scale."""
        index = self.const_packed(array, dtype)
        self.tensors[index].blocks = (self.const(scales.astype(np.float16)), size)
        return index

    def const_int4(self, array, quantization):
        return self.const_packed(array, "int4", quantization)

    def const_sparse(self, array, quantization=None, block=1):
        """A constant whose zeros are left out (sparse.py)."""
        stored, sparsity = compress(array, block)
        index = self._add(Tensor(str(array.dtype), array.shape, stored, quantization))
        self.tensors[index].sparsity = sparsity
        return index

    def const(self, array, quantization=None):
        array = np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)
        dtype = "string" if array.dtype == np.object_ else str(array.dtype)
        return self._add(Tensor(dtype, array.shape, array, quantization))

    def variable(self, shape, dtype="float32", quantization=None):
        """Memory that lasts from run to run."""
        return self._add(Tensor(dtype, tuple(shape), None, quantization, variable=True))

    def hidden(self, quantizations):
        """What quantizes the values inside the operator added last (None: nothing)."""
        self.intermediates[len(self.ops) - 1] = [
            self._add(Tensor("int16", (), None, q)) for q in quantizations
        ]

    def op(self, code, inputs, out_types=("float32",), version=None, quantization=None, **options):
        """Appends an operator; returns the index of its output, or a list where it has several.

        version None: what a converter would write (versions.py).
        """
        outs = [
            self._add(Tensor(t, (), computed=True, quantization=quantization)) for t in out_types
        ]
        self.ops.append((code, version, [-1 if i is None else i for i in inputs], outs, options))
        return outs[0] if len(outs) == 1 else outs


class _AlignedBuffer(schema.BufferT):

    def Pack(self, builder):
        data = None
        if self.data is not None:
            raw = bytes(self.data)
            builder.StartVector(1, len(raw), 16)
            builder.head -= len(raw)
            builder.Bytes[builder.head:builder.head + len(raw)] = raw
            data = builder.EndVector()
        schema.BufferStart(builder)
        if data is not None:
            schema.BufferAddData(builder, data)
        return schema.BufferEnd(builder)


def _pack_options(code, options):
    cls = options_class(code)
    if cls is None:
        if options:
            raise ValueError(f"{code} has no options, got {options}")
        return 0, None
    table = cls()
    for key, value in options.items():
        enum = _ENUMS.get(key)
        if enum is not None and isinstance(value, str):
            value = getattr(enum, value)
        attribute = camel(key, False)
        if not hasattr(table, attribute):
            raise ValueError(f"{cls.__name__} has no {attribute}")
        setattr(table, attribute, value)
    name = cls.__name__[:-1]
    return getattr(schema.BuiltinOptions, name, None) or -getattr(schema.BuiltinOptions2, name), table


def _pack_tensor(tensor, buffers):
    out = schema.TensorT()
    out.name = tensor.name or None
    out.type = getattr(schema.TensorType, tensor.dtype.upper())
    out.shape = list(tensor.shape)
    out.hasRank = True
    out.isVariable = tensor.variable
    out.sparsity = tensor.sparsity
    if tensor.signature is not None:
        out.shapeSignature = list(tensor.signature)
    if tensor.data is not None:
        buffers.append(_AlignedBuffer())
        buffers[-1].data = raw_bytes(tensor.data)
        out.buffer = len(buffers) - 1
    if tensor.quantization is not None:
        scales, zeros, axis = tensor.quantization
        out.quantization = schema.QuantizationParametersT()
        out.quantization.scale = [float(s) for s in scales]
        out.quantization.zeroPoint = [int(z) for z in zeros]
        out.quantization.quantizedDimension = axis
    if tensor.blocks is not None:
        out.quantization = schema.QuantizationParametersT()
        out.quantization.detailsType = schema.QuantizationDetails.BlockwiseQuantization
        out.quantization.details = schema.BlockwiseQuantizationT()
        out.quantization.details.scales, out.quantization.details.blockSize = tensor.blocks
        out.quantization.details.zeroPoints = -1
    return out


def serialise(graphs, signatures=()):
    """Bytes of a .tflite file. signatures: (key, subgraph, {name: tensor}, {name: tensor})."""
    model = schema.ModelT()
    model.version = 3
    model.buffers = [_AlignedBuffer()]
    model.operatorCodes = []
    model.subgraphs = []
    codes = {}
    for graph in list(graphs) + [callee for graph in graphs for callee in graph.callees]:
        sub = schema.SubGraphT()
        sub.tensors = [_pack_tensor(t, model.buffers) for t in graph.tensors]
        sub.inputs, sub.outputs, sub.operators = graph.inputs, graph.outputs, []
        for at, (code, version, inputs, outputs, options) in enumerate(graph.ops):
            version = version or version_of(graph, code, inputs, outputs, options)
            if (code, version) not in codes:
                codes[code, version] = len(codes)
                entry = schema.OperatorCodeT()
                builtin, _, custom = code.partition(":")  # "CUSTOM:Name"
                entry.builtinCode = getattr(schema.BuiltinOperator, builtin)
                entry.customCode = custom or None
                entry.deprecatedBuiltinCode = min(entry.builtinCode, 127)
                entry.version = version
                model.operatorCodes.append(entry)
            op = schema.OperatorT()
            op.opcodeIndex = codes[code, version]
            op.inputs, op.outputs = inputs, outputs
            op.intermediates = graph.intermediates.get(at)
            if code.startswith("CUSTOM:"):
                op.customOptions = list(options["custom_options"])
                options = {}
            kind, table = _pack_options(code, options)
            if kind < 0:
                op.builtinOptions2Type, op.builtinOptions2 = -kind, table
            else:
                op.builtinOptionsType, op.builtinOptions = kind, table
            sub.operators.append(op)
        model.subgraphs.append(sub)
    model.signatureDefs = [_pack_signature(*s) for s in signatures] or None
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())


def _pack_signature(key, subgraph, inputs, outputs):
    out = schema.SignatureDefT()
    out.signatureKey, out.subgraphIndex = key, subgraph

    def pack(mapping):
        maps = []
        for name, tensor in mapping.items():
            entry = schema.TensorMapT()
            entry.name, entry.tensorIndex = name, tensor
            maps.append(entry)
        return maps

    out.inputs, out.outputs = pack(inputs), pack(outputs)
    return out


def rng_for(name):
    """A generator whose stream depends on the case's name alone and never changes with NumPy."""
    return np.random.RandomState(zlib.crc32(name.encode()))
