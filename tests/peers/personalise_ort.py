"""ONNX Runtime sides of personalise_peers.py: its on-device training, the same network and weights.

ort: the training model holds the whole network, of which only the head's gradient is asked for, and
runs it in every epoch. ort_cached: an inference session makes the features once, a training model of
the head alone learns from them. The training artifacts are generated before the clock starts, though
they depend on the number of classes. Both end with an inference model on disk.
"""

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.training import artifacts
from onnxruntime.training import api
from PIL import Image  # noqa: F401  (imported before the clock starts)

import personalise_side as side

CLASSES = 10


def base_nodes(layers, weights):
    """Nodes and initializers of the network, NCHW, from "x" to "features"."""
    nodes, constants = [], []
    names = {layers[0]["inputs"][0]: "x"}

    def add_constant(name, value):
        constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    add_constant("zero", np.float32(0))
    add_constant("six", np.float32(6))
    for i, spec in enumerate(layers):
        inputs, out = [names[k] for k in spec["inputs"]], f"t{i}"
        if spec["op"] in ("conv", "depthwise"):
            w, bias = weights[spec["weights"]], weights[spec["bias"]]
            is_conv = spec["op"] == "conv"
            w = w.transpose(0, 3, 1, 2) if is_conv else w.transpose(3, 0, 1, 2)
            inputs += [add_constant(spec["weights"], w), add_constant(spec["bias"], bias)]
            nodes.append(helper.make_node(
                "Conv", inputs, [out], auto_pad="SAME_UPPER", strides=[spec["stride"]] * 2,
                kernel_shape=w.shape[2:], group=1 if is_conv else w.shape[0]))
        elif spec["op"] == "add":
            nodes.append(helper.make_node("Add", inputs, [out]))
        else:
            nodes.append(helper.make_node("GlobalAveragePool", inputs, ["pooled"]))
            nodes.append(helper.make_node("Flatten", ["pooled"], ["features"]))
        if spec.get("activation") == "relu6":
            nodes.append(helper.make_node("Clip", [out, "zero", "six"], [out + "r"]))
            out += "r"
        names[spec["output"]] = out
    return nodes, constants


def head_nodes(dim):
    rng = np.random.default_rng(1)
    w = rng.uniform(-1, 1, (CLASSES, dim)).astype(np.float32) / np.float32(np.sqrt(dim))
    nodes = [helper.make_node("Gemm", ["features", "head.w", "head.b"], ["scores"], transB=1)]
    return nodes, [numpy_helper.from_array(w, "head.w"),
                   numpy_helper.from_array(np.zeros(CLASSES, np.float32), "head.b")]


def save_model(nodes, constants, entry, result, path):
    info = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (entry, result)]
    graph = helper.make_graph(nodes, "network", info[:1], info[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 14)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return model


def save_artifacts(model, folder):
    folder.mkdir(exist_ok=True)
    frozen = [c.name for c in model.graph.initializer if not c.name.startswith("head.")]
    artifacts.generate_artifacts(
        model, requires_grad=["head.w", "head.b"], frozen_params=frozen,
        loss=artifacts.LossType.CrossEntropyLoss, optimizer=artifacts.OptimType.AdamW,
        artifact_directory=str(folder), additional_output_names=["scores"])


def prepare(work):
    layers, weights, (height, width, depth) = side.network(work)
    nodes, constants = base_nodes(layers, weights)
    dim = int(weights[layers[-2]["bias"]].shape[0])
    head, head_constants = head_nodes(dim)
    image, features = ("x", ["n", depth, height, width]), ("features", ["n", dim])
    scores = ("scores", ["n", CLASSES])
    save_model(nodes, constants, image, features, work / "features.onnx")
    whole = save_model(nodes + head, constants + head_constants, image, scores, work / "whole.onnx")
    save_artifacts(whole, work / "ort_whole")
    alone = save_model(head, head_constants, features, scores, work / "head.onnx")
    save_artifacts(alone, work / "ort_head")


def session_options(job):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = job.threads
    return options


def open_training(folder, job):
    state = api.CheckpointState.load_checkpoint(str(folder / "checkpoint"))
    module = api.Module(str(folder / "training_model.onnx"), state,
                        str(folder / "eval_model.onnx"), session_options=session_options(job))
    optimizer = api.Optimizer(str(folder / "optimizer_model.onnx"), module)
    optimizer.set_learning_rate(side.RATE)
    return module, optimizer


def train(module, optimizer, x, y, job):
    rng = np.random.default_rng(1)
    module.train()
    for _ in range(job.epochs):
        order = rng.permutation(len(x))
        for first in range(0, len(x), side.BATCH):
            batch = order[first:first + side.BATCH]
            module(x[batch], y[batch])
            optimizer.step()
            module.lazy_reset_grad()
    job.done("training")
    module.export_model_for_inferencing(str(job.output), ["scores"])
    job.done("export")


def images(job, size):
    x, y = side.read_images(job.images, size)
    x = np.ascontiguousarray(x.transpose(0, 3, 1, 2))
    job.done("images")
    return x, y.astype(np.int64)


def finish(x, y, job):
    session = onnxruntime.InferenceSession(str(job.output), session_options(job))
    scores = session.run(["scores"], {session.get_inputs()[0].name: x})[0]
    job.finish(side.accuracy(scores, y), f"onnxruntime-training {onnxruntime.__version__}")


def whole_network(job):
    job.start()
    module, optimizer = open_training(job.work / "ort_whole", job)
    job.done("open")
    x, y = images(job, 224)
    train(module, optimizer, x, y, job)
    finish(x, y, job)


def cached(job):
    job.start()
    session = onnxruntime.InferenceSession(str(job.work / "features.onnx"), session_options(job))
    module, optimizer = open_training(job.work / "ort_head", job)
    job.done("open")
    x, y = images(job, session.get_inputs()[0].shape[2])
    features = np.concatenate([session.run(None, {"x": image[None]})[0] for image in x])
    job.done("features")
    train(module, optimizer, features, y, job)
    finish(features, y, job)


if __name__ == "__main__":
    side.main(prepare, {"ort": whole_network, "ort_cached": cached})
