"""Makes the small models of the C API's tests and examples. Needs ai-edge-litert.

  scale.tflite       x f32 [1, 4], batch open -> TopworkScale(factor 3) -> y; metadata entry "note",
                     labels.txt and notes.txt packed in
  scale_int8.tflite  the same operator on int8 tensors with quantization
  repeat.tflite      x f32 [3], n int32 [] -> TopworkRepeat -> y of n * 3 elements
  signatures.tflite  "double": x -> y = x + x (subgraph 0); "mix": b, a -> difference = a - b,
                     sum = a + b (subgraph 1, whose own order is a, b -> sum, difference)
  strings.tflite     names string [3], index int32 [1] -> GATHER -> the string at index
  where.tflite       flags bool [4] -> WHERE -> the places of those that are set, int64 [n, 1]

Run it in this folder; the files lie in the repository.
"""
import io
import struct
import zipfile

import flatbuffers
from ai_edge_litert import schema_py_generated as schema

FLOAT, INT32, INT8 = schema.TensorType.FLOAT32, schema.TensorType.INT32, schema.TensorType.INT8
BOOL, INT64, STRING = schema.TensorType.BOOL, schema.TensorType.INT64, schema.TensorType.STRING
ADD, SUB = schema.BuiltinOperator.ADD, schema.BuiltinOperator.SUB
GATHER, WHERE = schema.BuiltinOperator.GATHER, schema.BuiltinOperator.WHERE
OPTIONS = {ADD: (schema.BuiltinOptions.AddOptions, schema.AddOptionsT),
           SUB: (schema.BuiltinOptions.SubOptions, schema.SubOptionsT),
           GATHER: (schema.BuiltinOptions.GatherOptions, schema.GatherOptionsT),
           WHERE: (schema.BuiltinOptions.WhereOptions, schema.WhereOptionsT)}


def tensor(name, dtype, shape, open_shape=None, scale=None, zero_point=None):
    t = schema.TensorT()
    t.name, t.type, t.shape, t.hasRank = name, dtype, shape, True
    t.shapeSignature = open_shape
    if scale is not None:
        t.quantization = schema.QuantizationParametersT()
        t.quantization.scale, t.quantization.zeroPoint = [scale], [zero_point]
    return t


def subgraph(name, tensors, inputs, outputs, ops):
    """ops: (code or custom name, inputs, outputs, custom options)."""
    s = schema.SubGraphT()
    s.name, s.tensors, s.inputs, s.outputs, s.ops = name, tensors, inputs, outputs, ops
    return s


def operator(codes, code, inputs, outputs, options):
    if code not in codes:
        codes.append(code)
    op = schema.OperatorT()
    op.opcodeIndex, op.inputs, op.outputs = codes.index(code), inputs, outputs
    if isinstance(code, str):
        op.customOptions = list(options)
    else:
        op.builtinOptionsType, table = OPTIONS[code][0], OPTIONS[code][1]()
        op.builtinOptions = table
    return op


def signature(key, index, inputs, outputs):
    s = schema.SignatureDefT()
    s.signatureKey, s.subgraphIndex = key, index
    for attribute, names in (("inputs", inputs), ("outputs", outputs)):
        maps = []
        for name, t in names:
            m = schema.TensorMapT()
            m.name, m.tensorIndex = name, t
            maps.append(m)
        setattr(s, attribute, maps)
    return s


def write(path, subgraphs, signatures=(), metadata=None, files=None):
    model = schema.ModelT()
    model.version, model.description = 3, "made for Topwork's tests"
    model.buffers = [schema.BufferT()]
    codes = []
    for s in subgraphs:
        s.operators = [operator(codes, *op) for op in s.ops]
        for t in s.tensors:
            t.buffer = 0
    model.subgraphs = list(subgraphs)
    model.operatorCodes = []
    for code in codes:
        c = schema.OperatorCodeT()
        c.version = 1
        c.builtinCode = schema.BuiltinOperator.CUSTOM if isinstance(code, str) else code
        c.deprecatedBuiltinCode = c.builtinCode
        c.customCode = code if isinstance(code, str) else None
        model.operatorCodes.append(c)
    model.signatureDefs = list(signatures) or None
    for name, data in (metadata or {}).items():
        buffer, entry = schema.BufferT(), schema.MetadataT()
        buffer.data = list(data)
        model.buffers.append(buffer)
        entry.name, entry.buffer = name, len(model.buffers) - 1
        model.metadata = (model.metadata or []) + [entry]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    content = bytes(builder.Output())
    if files:
        archive = io.BytesIO(content)
        with zipfile.ZipFile(archive, "a") as packed:
            for name, text in files.items():
                packed.writestr(zipfile.ZipInfo(name), text)  # A fixed date: the same bytes always.
        content = archive.getvalue()
    with open(path, "wb") as file:
        file.write(content)


factor = struct.pack("<f", 3.0)
write("scale.tflite",
      [subgraph("main", [tensor("x", FLOAT, [1, 4], [-1, 4]), tensor("y", FLOAT, [1, 4], [-1, 4])],
                [0], [1], [("TopworkScale", [0], [1], factor)])],
      metadata={"note": b"hello"}, files={"labels.txt": "one\ntwo\nthree\nfour\n", "notes.txt": "a"})
write("scale_int8.tflite",
      [subgraph("main", [tensor("x", INT8, [1, 4], None, 0.5, 3), tensor("y", INT8, [1, 4], None, 0.25, -7)],
                [0], [1], [("TopworkScale", [0], [1], factor)])])
write("repeat.tflite",
      [subgraph("main", [tensor("x", FLOAT, [3]), tensor("n", INT32, []), tensor("y", FLOAT, [3])],
                [0, 1], [2], [("TopworkRepeat", [0, 1], [2], b"")])])
write("signatures.tflite",
      [subgraph("main", [tensor("x0", FLOAT, [1, 4]), tensor("y0", FLOAT, [1, 4])], [0], [1],
                [(ADD, [0, 0], [1], b"")]),
       subgraph("second", [tensor("a1", FLOAT, [1, 4]), tensor("b1", FLOAT, [1, 4]),
                           tensor("sum1", FLOAT, [1, 4]), tensor("difference1", FLOAT, [1, 4])],
                [0, 1], [2, 3], [(ADD, [0, 1], [2], b""), (SUB, [0, 1], [3], b"")])],
      [signature("double", 0, [("x", 0)], [("y", 1)]),
       signature("mix", 1, [("b", 1), ("a", 0)], [("difference", 3), ("sum", 2)])])
write("strings.tflite",
      [subgraph("main", [tensor("names", STRING, [3]), tensor("index", INT32, [1]), tensor("name", STRING, [1])],
                [0, 1], [2], [(GATHER, [0, 1], [2], b"")])])
write("where.tflite",
      [subgraph("main", [tensor("flags", BOOL, [4]), tensor("places", INT64, [4, 1], [-1, 1])],
                [0], [1], [(WHERE, [0], [1], b"")])])
