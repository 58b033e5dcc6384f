"""Reads an image classifier out of a .tflite so that other frameworks can be given the same network.

  python personalise_network.py MODEL.tflite FOLDER

Writes to FOLDER: model_f32.tflite (weights stored as float16 become float32), features_f32.tflite
(the same without its last FULLY_CONNECTED and SOFTMAX) and network.npz: the weights, and under
"layers" a JSON list of {op, inputs, output, weights, bias, stride, activation}; op is one of conv,
depthwise, add, mean; stored as TensorFlow does (OHWI, 1HWC). Networks of other operators are refused.
Needs ai_edge_litert (its flatbuffer classes) and numpy.
"""

import copy
import json
import pathlib
import sys

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema

OPS = {
    schema.BuiltinOperator.CONV_2D: "conv",
    schema.BuiltinOperator.DEPTHWISE_CONV_2D: "depthwise",
    schema.BuiltinOperator.ADD: "add",
    schema.BuiltinOperator.MEAN: "mean",
}
HEAD = [schema.BuiltinOperator.FULLY_CONNECTED, schema.BuiltinOperator.SOFTMAX]
ACTIVATIONS = {
    schema.ActivationFunctionType.NONE: "none",
    schema.ActivationFunctionType.RELU6: "relu6",
}


def read(path):
    data = bytearray(pathlib.Path(path).read_bytes())
    return schema.ModelT.InitFromObj(schema.Model.GetRootAsModel(data, 0))


def write(model, path):
    builder = flatbuffers.Builder(1 << 20)
    builder.Finish(model.Pack(builder), b"TFL3")
    pathlib.Path(path).write_bytes(bytes(builder.Output()))


def code_of(model, op):
    return model.operatorCodes[op.opcodeIndex].builtinCode


def to_float32(model):
    """Takes DEQUANTIZE operators of float16 constants out; their results become constants."""
    graph = model.subgraphs[0]
    kept = []
    for op in graph.operators:
        source = graph.tensors[op.inputs[0]]
        data = model.buffers[source.buffer].data
        if (code_of(model, op) != schema.BuiltinOperator.DEQUANTIZE or data is None
                or source.type != schema.TensorType.FLOAT16):
            kept.append(op)
            continue
        values = np.asarray(data, np.uint8).tobytes()
        wide = np.frombuffer(values, np.float16).astype(np.float32)
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(wide.tobytes(), np.uint8)
        model.buffers[source.buffer].data = None
        model.buffers.append(buffer)
        graph.tensors[op.outputs[0]].buffer = len(model.buffers) - 1
    graph.operators = kept


def without_head(model):
    """A copy that ends where the last FULLY_CONNECTED begins."""
    short = copy.deepcopy(model)
    graph = short.subgraphs[0]
    if [code_of(short, op) for op in graph.operators[-2:]] != HEAD:
        sys.exit("the model does not end in FULLY_CONNECTED and SOFTMAX")
    dense = graph.operators[-2]
    graph.operators = graph.operators[:-2]
    graph.outputs = np.array([dense.inputs[0]], np.int32)
    for tensor in dense.inputs[1:]:
        short.buffers[graph.tensors[tensor].buffer].data = None
    short.signatureDefs = None
    return short


def constant(model, index):
    tensor = model.subgraphs[0].tensors[index]
    data = np.asarray(model.buffers[tensor.buffer].data, np.uint8).tobytes()
    return np.frombuffer(data, np.float32).reshape(tensor.shape)


def describe(model):
    """(layers, weights by name) of a model that without_head made."""
    graph = model.subgraphs[0]
    layers, weights = [], {}
    for op in graph.operators:
        kind = OPS.get(code_of(model, op))
        if kind is None:
            sys.exit(f"operator {code_of(model, op)} is not one that the peers are given")
        layer = {"op": kind, "inputs": [int(op.inputs[0])], "output": int(op.outputs[0])}
        options = op.builtinOptions
        if kind == "add":
            layer["inputs"].append(int(op.inputs[1]))
        if kind in ("conv", "depthwise"):
            if options.padding != schema.Padding.SAME:
                sys.exit("a convolution without SAME padding is not one that the peers are given")
            layer["stride"] = int(options.strideH)
            layer["weights"], layer["bias"] = f"w{len(layers)}", f"b{len(layers)}"
            weights[layer["weights"]] = constant(model, op.inputs[1])
            weights[layer["bias"]] = constant(model, op.inputs[2])
        if kind != "mean":
            layer["activation"] = ACTIVATIONS[options.fusedActivationFunction]
        layers.append(layer)
    return layers, weights


def main():
    folder = pathlib.Path(sys.argv[2])
    model = read(sys.argv[1])
    to_float32(model)
    write(model, folder / "model_f32.tflite")
    features = without_head(model)
    write(features, folder / "features_f32.tflite")
    layers, weights = describe(features)
    graph = features.subgraphs[0]
    shape = [int(d) for d in graph.tensors[graph.inputs[0]].shape]
    result = graph.tensors[graph.outputs[0]].name.decode()
    np.savez(folder / "network.npz", input=np.array(shape[1:]), result=result,
             layers=json.dumps(layers), **weights)
    print(f"{len(layers)} layers, {sum(w.size for w in weights.values())} numbers, input {shape}")


if __name__ == "__main__":
    main()
