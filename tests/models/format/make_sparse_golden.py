"""Writes tests/data/format/sparse.npz: models with sparse constants in every layout that LiteRT reads,
and int4 weights with a scale for each block, and what LiteRT answers.

  python make_sparse_golden.py        (needs ai-edge-litert 2.3.0, flatbuffers, numpy)
"""

import pathlib

import flatbuffers
import numpy as np
from ai_edge_litert import interpreter, schema_py_generated as schema

OUT = pathlib.Path(__file__).resolve().parents[2] / "data" / "format" / "sparse.npz"
FULLY_CONNECTED, CONV_2D, DEQUANTIZE, DENSIFY = 9, 3, 6, 124
FLOAT32, FLOAT16, INT8, INT4 = 0, 1, 9, 17
INDEX = {"u1": (schema.SparseIndexVector.Uint8Vector, schema.Uint8VectorT),
         "u2": (schema.SparseIndexVector.Uint16Vector, schema.Uint16VectorT),
         "i4": (schema.SparseIndexVector.Int32Vector, schema.Int32VectorT)}
random = np.random.default_rng(7)


def vector(values, width):
    kind, make = INDEX[width]
    table = make()
    table.values = np.array(values, "<" + width)
    return kind, table


def compress(dense, order, block_map, block, csr, width):
    """(stored elements, SparsityParameters) of the array; levels in `csr` are compressed."""
    rank = dense.ndim
    shape = list(dense.shape)
    expanded = []
    for d in range(rank):
        if d in block_map:
            size = block[block_map.index(d)]
            expanded += [shape[d] // size, size]
        else:
            expanded += [shape[d]]
    split = dense.reshape(expanded)
    position = 0
    outer_axis, inner_axis = {}, {}
    for d in range(rank):
        outer_axis[d] = position
        position += 1
        if d in block_map:
            inner_axis[d] = position
            position += 1
    all_axes = [outer_axis[d] for d in range(rank)] + [inner_axis[d] for d in block_map]
    walked = split.transpose([all_axes[i] for i in order])
    metadata = []
    nodes = [walked]
    for level in range(len(order)):
        size = walked.shape[level]
        entry = schema.DimensionMetadataT()
        children = []
        if level in csr:
            segments, indices = [0], []
            for node in nodes:
                for i in range(size):
                    if np.any(node[i]):
                        indices.append(i)
                        children.append(node[i])
                segments.append(len(indices))
            entry.format = schema.DimensionType.SPARSE_CSR
            entry.arraySegmentsType, entry.arraySegments = vector(segments, width)
            entry.arrayIndicesType, entry.arrayIndices = vector(indices, width)
        else:
            entry.format = schema.DimensionType.DENSE
            entry.denseSize = size
            for node in nodes:
                children += [node[i] for i in range(size)]
        metadata.append(entry)
        nodes = children
    parameters = schema.SparsityParametersT()
    parameters.traversalOrder = list(order)
    parameters.blockMap = list(block_map)
    parameters.dimMetadata = metadata
    return np.array(nodes, dense.dtype), parameters


class Builder:
    def __init__(self):
        self.model = schema.ModelT()
        self.model.version = 3
        self.model.buffers = [schema.BufferT()]
        self.model.operatorCodes = []
        graph = schema.SubGraphT()
        graph.tensors, graph.operators, graph.inputs, graph.outputs = [], [], [], []
        self.model.subgraphs = [graph]
        self.graph = graph

    def tensor(self, name, shape, kind, data=None, sparsity=None, scales=None):
        t = schema.TensorT()
        t.name, t.shape, t.type, t.sparsity = name, list(shape), kind, sparsity
        if data is not None:
            buffer = schema.BufferT()
            buffer.data = np.frombuffer(data.tobytes(), np.uint8)
            self.model.buffers.append(buffer)
            t.buffer = len(self.model.buffers) - 1
        else:
            t.buffer = 0
        if scales is not None:
            t.quantization = schema.QuantizationParametersT()
            t.quantization.scale = scales
            t.quantization.zeroPoint = [0] * len(scales)
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def op(self, code, version, inputs, outputs, kind=0, options=None):
        c = schema.OperatorCodeT()
        c.builtinCode, c.deprecatedBuiltinCode, c.version = code, min(code, 127), version
        self.model.operatorCodes.append(c)
        o = schema.OperatorT()
        o.opcodeIndex = len(self.model.operatorCodes) - 1
        o.inputs, o.outputs = inputs, outputs
        o.builtinOptionsType, o.builtinOptions = kind, options
        self.graph.operators.append(o)

    def bytes(self):
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def sparse_array(shape, kind, keep, block):
    """Random numbers, a share `keep` of the blocks not zero."""
    values = random.normal(size=shape)
    mask = random.random([n // b for n, b in zip(shape, block)]) < keep
    mask = np.kron(mask, np.ones(block)).astype(bool)
    values = np.where(mask, values, 0)
    if kind == INT8:
        return np.clip(np.round(values * 40), -127, 127).astype(np.int8)
    return values.astype(np.float16 if kind == FLOAT16 else np.float32)


def case(name, shape, kind, order, csr, width="u1", block_map=(), block=(), direct=False):
    per_dim = [1] * len(shape)
    for d, size in zip(block_map, block):
        per_dim[d] = size
    dense = sparse_array(shape, kind, 0.4, per_dim)
    stored, sparsity = compress(dense, order, list(block_map), list(block), csr, width)
    b = Builder()
    conv = len(shape) == 4
    x_shape = [1, 5, 5, shape[3]] if conv else [3, shape[1]]
    x = b.tensor("x", x_shape, FLOAT32)
    scales = list(np.linspace(0.01, 0.03, shape[0]).astype(np.float32)) if kind == INT8 else None
    weights = b.tensor("sparse", shape, kind, stored, sparsity, scales)
    if not direct:
        made = b.tensor("dense", shape, kind, scales=scales)
        b.op(DENSIFY, 1, [weights], [made], schema.BuiltinOptions.DensifyOptions,
             schema.DensifyOptionsT())
        weights = made
    if kind != FLOAT32:
        real = b.tensor("real", shape, FLOAT32)
        b.op(DEQUANTIZE, 5 if kind == INT8 else 3, [weights], [real])
        weights = real
    if conv:
        y = b.tensor("y", [1, 5, 5, shape[0]], FLOAT32)
        options = schema.Conv2DOptionsT()
        options.strideH = options.strideW = 1
        options.dilationHFactor = options.dilationWFactor = 1
        bias = b.tensor("bias", [shape[0]], FLOAT32, np.zeros(shape[0], np.float32))
        b.op(CONV_2D, 1, [x, weights, bias], [y], schema.BuiltinOptions.Conv2DOptions, options)
    else:
        y = b.tensor("y", [3, shape[0]], FLOAT32)
        bias = b.tensor("bias", [shape[0]], FLOAT32, np.ones(shape[0], np.float32))
        b.op(FULLY_CONNECTED, 8 if direct else 1, [x, weights, bias], [y],
             schema.BuiltinOptions.FullyConnectedOptions, schema.FullyConnectedOptionsT())
    b.graph.inputs, b.graph.outputs = [x], [y]
    content = b.bytes()
    # Sparse weights without DENSIFY exist in the optimized kernels only.
    resolver = interpreter.OpResolverType
    run = interpreter.Interpreter(
        model_content=content,
        experimental_op_resolver_type=resolver.BUILTIN_WITHOUT_DEFAULT_DELEGATES if direct
        else resolver.BUILTIN_REF)
    run.allocate_tensors()
    value = random.normal(size=x_shape).astype(np.float32)
    run.set_tensor(run.get_input_details()[0]["index"], value)
    run.invoke()
    output = run.get_tensor(run.get_output_details()[0]["index"])
    return {f"{name}/model": np.frombuffer(content, np.uint8), f"{name}/x": value,
            f"{name}/y": output}


def blocks():
    """FULLY_CONNECTED with int4 weights, a float16 scale for each 32 values of a row. LiteRT's
    optimized kernel alone has it; it rounds the activations to 8 bits."""
    b = Builder()
    x = b.tensor("x", [3, 64], FLOAT32)
    q = random.integers(-8, 8, size=(16, 64)).astype(np.int8).ravel()
    weights = b.tensor("w", [16, 64], INT4, ((q[0::2] & 15) | (q[1::2] & 15) << 4).astype(np.uint8))
    scales = b.tensor("scales", [16, 2], FLOAT16,
                      random.uniform(0.01, 0.05, (16, 2)).astype(np.float16))
    details = schema.BlockwiseQuantizationT()
    details.scales, details.zeroPoints, details.blockSize = scales, -1, 32
    quantization = schema.QuantizationParametersT()
    quantization.detailsType = schema.QuantizationDetails.BlockwiseQuantization
    quantization.details = details
    b.graph.tensors[weights].quantization = quantization
    y = b.tensor("y", [3, 16], FLOAT32)
    b.op(FULLY_CONNECTED, 12, [x, weights, -1], [y], schema.BuiltinOptions.FullyConnectedOptions,
         schema.FullyConnectedOptionsT())
    b.graph.inputs, b.graph.outputs = [x], [y]
    content = b.bytes()
    run = interpreter.Interpreter(
        model_content=content,
        experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    run.allocate_tensors()
    # Numbers that 8 bits hold, so that the kernels' rounding of activations changes nothing.
    value = (random.integers(-127, 128, (3, 64)) / 64).astype(np.float32)
    value[:, 0], value[:, 1] = -2, 127 / 64
    run.set_tensor(run.get_input_details()[0]["index"], value)
    run.invoke()
    output = run.get_tensor(run.get_output_details()[0]["index"])
    return {"blocks/model": np.frombuffer(content, np.uint8), "blocks/x": value,
            "blocks/y": output}


def main():
    arrays = blocks()
    for c in (
        case("f32_csr", (8, 12), FLOAT32, (0, 1), {1}),
        case("f32_csr_u2", (8, 12), FLOAT32, (0, 1), {1}, "u2"),
        case("f32_csr_i4", (8, 12), FLOAT32, (0, 1), {1}, "i4"),
        case("f32_columns_first", (8, 12), FLOAT32, (1, 0), {1}),
        case("f32_twice_csr", (8, 12), FLOAT32, (0, 1), {0, 1}),
        case("f32_block_1x4", (8, 12), FLOAT32, (0, 1, 2), {1}, block_map=(1,), block=(4,)),
        case("f32_block_4x3", (8, 12), FLOAT32, (0, 1, 2, 3), {1}, block_map=(0, 1), block=(4, 3)),
        case("f32_block_turned", (8, 12), FLOAT32, (1, 0, 2, 3), {1}, block_map=(0, 1),
             block=(2, 4)),
        case("f16_csr", (8, 12), FLOAT16, (0, 1), {1}),
        case("f16_block", (8, 16), FLOAT16, (0, 1, 2), {1}, "u2", (1,), (4,)),
        case("i8_csr", (8, 12), INT8, (0, 1), {1}),
        case("i8_block_1x16", (8, 32), INT8, (0, 1, 2), {1}, block_map=(1,), block=(16,)),
        case("conv_csr", (4, 3, 3, 6), FLOAT32, (0, 1, 2, 3), {3}),
        case("conv_block", (4, 1, 1, 16), FLOAT32, (0, 1, 2, 3, 4, 5), {3}, block_map=(0, 3),
             block=(4, 4)),
        case("direct_csr", (8, 12), FLOAT32, (0, 1), {1}, direct=True),
        case("direct_1x4", (8, 12), FLOAT32, (0, 1, 2), {1}, block_map=(1,), block=(4,),
             direct=True),
    ):
        arrays.update(c)
    np.savez_compressed(OUT, **arrays)
    print(OUT, OUT.stat().st_size)


main()
