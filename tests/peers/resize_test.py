"""feature_sets.resize() gives the bytes that the command line's images get.

  python resize_test.py TOPWORK

A model that returns its input unchanged shows what `topwork run --input IMAGE` made of the image.
"""

import pathlib
import sys
import tempfile

import peers

peers.need("numpy", "ai_edge_litert")

import numpy as np  # noqa: E402

import feature_sets  # noqa: E402
import personalise_network as network  # noqa: E402

sys.path.append(str(peers.ROOT / "tests" / "ports" / "cli"))
import cli_support  # noqa: E402

# Height and width of the image, then of the model's input.
SIZES = ((8, 8, 224, 224), (32, 32, 224, 224), (25, 25, 96, 128), (96, 96, 40, 33), (7, 30, 31, 9),
         (1, 3, 5, 2), (16, 16, 16, 16))


def identity_model(height, width, path):
    """A .tflite of one RESHAPE from [1, height, width, 3] bytes to the same shape."""
    schema = network.schema
    model, graph, code = schema.ModelT(), schema.SubGraphT(), schema.OperatorCodeT()
    model.version, model.subgraphs, model.operatorCodes = 3, [graph], [code]
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.RESHAPE
    shape = np.array([1, height, width, 3], np.int32)
    constant = schema.BufferT()
    constant.data = np.frombuffer(shape.tobytes(), np.uint8)
    model.buffers = [schema.BufferT(), constant]
    graph.tensors = []
    for name, dims, kind, buffer in (("image", shape, schema.TensorType.UINT8, 0),
                                     ("shape", [4], schema.TensorType.INT32, 1),
                                     ("same", shape, schema.TensorType.UINT8, 0)):
        tensor = schema.TensorT()
        tensor.name, tensor.shape, tensor.type, tensor.buffer = name, list(dims), kind, buffer
        graph.tensors.append(tensor)
    op = schema.OperatorT()
    op.inputs, op.outputs = [0, 1], [2]
    graph.operators, graph.inputs, graph.outputs = [op], [0], [2]
    network.write(model, path)


def main():
    topwork = peers.Topwork(sys.argv[1])
    rng = np.random.default_rng(7)
    failures = 0
    for height, width, to_height, to_width in SIZES:
        image = rng.integers(0, 256, (height, width, 3), np.uint8)
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            cli_support.png(folder / "image.png", width, height, lambda x, y: image[y, x].tolist())
            identity_model(to_height, to_width, folder / "identity.tflite")
            topwork("run", folder / "identity.tflite", "--input", folder / "image.png", "--output", folder)
            expected = np.load(next(folder.glob("*.npy")))[0]
        differing = int((feature_sets.resize(image[None], to_height, to_width)[0] != expected).sum())
        failures += differing > 0
        print(f"{height} x {width} to {to_height} x {to_width}: {differing} of {expected.size} bytes differ")
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
