"""Writes tests/data/cli: two models, and what scikit-learn says of LiteRT's outputs of them.

  python make_evaluate_golden.py

  outputs.tflite  x f32 [1, 4], batch open -> logits = 2 x; probabilities, also as int8, uint8 and
                  int16 with softmax's quantization; decisions = sigmoid(2 x), also as uint8; half =
                  2 x in float16; map = x as [batch, 2, 2], which is no row of numbers
  quantized.tflite  x int8 [1, 4], scale 0.05, zero point 3 -> y = x as float32 and, in the
                  signature "double", y = 2 x
  open_size.tflite  CONV_2D of ones, [1, 1, 4, 1], VALID, over x f32 [1, 1, 1, 1] whose width is open
                  (made with tests/support/golden/build.py)
  column.tflite   x f32 [1, 1], batch open -> p = sigmoid(x)
  evaluate.json   data: arrays by name; cases: model, output, flags, data and the expected part of
                  `topwork evaluate --json`
Needs ai-edge-litert, numpy and scikit-learn.
"""
import json
import pathlib
import sys

import numpy as np
from ai_edge_litert.interpreter import Interpreter
from sklearn import metrics

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tests" / "support" / "golden"))
from build import Graph, serialise  # noqa: E402

FOLDER = ROOT / "tests" / "data" / "cli"
N, C = 60, 4
HALF_A_STEP = {"int8": 0.5 / 256, "uint8": 0.5 / 256, "int16": 0.5 / 32768}


def outputs_model():
    g = Graph()
    x = g.input((1, C), signature=(-1, C), name="x")
    named = {"logits": g.op("ADD", [x, x])}
    named["probabilities"] = g.op("SOFTMAX", [named["logits"]], beta=1.0)
    named["decisions"] = g.op("LOGISTIC", [named["logits"]])
    for source, dtype, scale, zero in (("probabilities", "int8", 1 / 256, -128),
                                       ("probabilities", "uint8", 1 / 256, 0),
                                       ("probabilities", "int16", 1 / 32768, 0),
                                       ("decisions", "uint8", 1 / 256, 0)):
        named[source + "_" + dtype] = g.op("QUANTIZE", [named[source]], (dtype,), version=2,
                                           quantization=((scale,), (zero,), 0))
    named["half"] = g.op("CAST", [named["logits"]], ("float16",))
    shape = g.const(np.array([-1, 2, 2], np.int32))
    named["map"] = g.op("RESHAPE", [x, shape])
    for name, index in named.items():
        g.tensors[index].name = name
        g.tensors[index].shape = (1, 2, 2) if name == "map" else (1, C)
        g.tensors[index].signature = (-1,) + g.tensors[index].shape[1:]
    g.outputs = list(named.values())
    return serialise([g], [("serving_default", 0, {"x": x}, {"scores": named["logits"]})])


def column_model():
    g = Graph()
    x = g.input((1, 1), signature=(-1, 1), name="x")
    p = g.op("LOGISTIC", [x])
    g.tensors[p].name, g.tensors[p].shape, g.tensors[p].signature = "p", (1, 1), (-1, 1)
    g.outputs = [p]
    return serialise([g])


def quantized_model():
    graphs = []
    for double in (False, True):
        g = Graph()
        x = g.input((1, C), "int8", quantization=((0.05,), (3,), 0), name="x")
        y = g.op("DEQUANTIZE", [x], version=2)
        y = g.op("ADD", [y, y]) if double else y
        for op in g.ops:
            g.tensors[op[3][0]].shape = (1, C)
        g.tensors[y].name = "y"
        g.outputs = [y]
        graphs.append(g)
    keys = ("serving_default", "double")
    return serialise(graphs, [(key, i, {"x": graphs[i].inputs[0]}, {"y": graphs[i].outputs[0]})
                              for i, key in enumerate(keys)])


def litert(model, x):
    """Every output of the model for x, as real numbers."""
    interpreter = Interpreter(model_content=model)
    interpreter.resize_tensor_input(interpreter.get_input_details()[0]["index"], x.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    result = {}
    for detail in interpreter.get_output_details():
        value = interpreter.get_tensor(detail["index"]).astype(np.float64)
        scale, zero = detail["quantization"]
        result[detail["name"]] = (value - zero) * scale if scale else value
    return result


def calibration(confidence, right):
    edges = np.linspace(0, 1, 16)
    error = 0.0
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (confidence > low) & (confidence <= high)
        if inside.any():
            error += inside.mean() * abs(confidence[inside].mean() - right[inside].mean())
    return error


def table(truth, said, names, **more):
    rows = zip(*metrics.precision_recall_fscore_support(truth, said, zero_division=0))
    classes = [{"name": name, "precision": p, "recall": r, "f1": f, "n_examples": int(n)}
               for name, (p, r, f, n) in zip(names, rows)]
    for key, values in more.items():
        for entry, value in zip(classes, values):
            entry[key] = value
    macro = metrics.precision_recall_fscore_support(truth, said, average="macro", zero_division=0)
    return {"classes": classes, "macro": dict(zip(("precision", "recall", "f1"), macro))}


def worst(losses, labels, said, n=3):
    order = np.argsort(-losses, kind="stable")[:n]
    return [{"name": "x.npy[%d]" % i, "label": labels[i], "predicted": said[i], "loss": losses[i]}
            for i in order]


def softmax_case(scores, y, k, smallest=1.17549435e-38):
    """Scores: probabilities. scikit-learn's log_loss is the loss where nothing was rounded to 0."""
    said = scores.argmax(axis=1)
    losses = -np.log(np.maximum(scores[np.arange(N), y], smallest))
    if smallest < 1e-30:
        assert abs(metrics.log_loss(y, scores) - losses.mean()) < 1e-6
    return {"kind": "softmax", "n_examples": N, "loss": losses.mean(), "k": k,
            "top1": metrics.accuracy_score(y, said),
            "top_k": metrics.top_k_accuracy_score(y, scores, k=k), "top5": 1.0,
            "calibration_error": calibration(scores.max(axis=1), said == y),
            "confusion": metrics.confusion_matrix(y, said).tolist(),
            "confusion_other": [0] * C, **table(y, said, "0123"),
            "worst": worst(losses, [str(c) for c in y], [str(c) for c in said])}


def sigmoid_case(p, t, names, smallest=1.17549435e-38):
    said = p >= 0.5
    losses = -np.log(np.maximum(np.where(t == 1, p, 1 - p), smallest)).mean(axis=1)
    precisions = metrics.average_precision_score(t, p, average=None)
    text = [[", ".join(name for name, on in zip(names, row) if on) or "none" for row in rows]
            for rows in (t, said)]
    return {"kind": "sigmoid", "n_examples": N, "loss": losses.mean(),
            "accuracy": 1 - metrics.hamming_loss(t, said),
            "exact_match": metrics.accuracy_score(t, said),
            "mean_average_precision": precisions.mean(),
            "calibration_error": calibration(np.maximum(p, 1 - p).ravel(), (said == t).ravel()),
            **table(t, said, names, average_precision=precisions), "worst": worst(losses, *text)}


def regression_case(z, t, kind):
    error = np.abs(z - t)
    losses = (error ** 2 if kind == "mse" else
              np.where(error <= 1, 0.5 * error ** 2, error - 0.5)).mean(axis=1)
    rows = [{"name": str(c), "mae": metrics.mean_absolute_error(t[:, c], z[:, c]),
             "rmse": metrics.root_mean_squared_error(t[:, c], z[:, c]),
             "r2": metrics.r2_score(t[:, c], z[:, c])} for c in range(t.shape[1])]
    text = [[", ".join("%.4g" % v for v in row) for row in rows] for rows in (t, z)]
    return {"kind": kind, "n_examples": N, "loss": losses.mean(), "outputs": rows,
            "mae": metrics.mean_absolute_error(t, z), "r2": metrics.r2_score(t, z),
            "rmse": np.sqrt(metrics.mean_squared_error(t, z)), "worst": worst(losses, *text)}


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    rng = np.random.RandomState(7)
    y = rng.randint(0, C, N)
    x = np.round(rng.normal(size=(N, C)) + 1.2 * np.eye(C)[y], 3).astype(np.float32)
    several = (x + rng.normal(size=(N, C)) > 0.6).astype(np.uint8)
    values = np.round(2 * x + 0.8 * rng.normal(size=(N, C)), 3).astype(np.float32)
    column = np.round(2 * rng.normal(size=(N, 1)), 3).astype(np.float32)
    two = (column[:, 0] + rng.normal(size=N) > 0).astype(np.int64)
    models = {"outputs.tflite": outputs_model(), "column.tflite": column_model(),
              "quantized.tflite": quantized_model()}
    for name, model in models.items():
        (FOLDER / name).write_bytes(model)
    out = litert(models["outputs.tflite"], x)
    p = litert(models["column.tflite"], column)["p"]
    both = np.concatenate([1 - p, p], axis=1)
    exp = np.exp(out["half"] - out["half"].max(axis=1, keepdims=True))
    cases = []

    def case(name, expected, flags=(), model="outputs.tflite", inputs="x", targets="labels"):
        cases.append({"name": name, "model": model, "inputs": inputs, "targets": targets,
                      "flags": list(flags), "expected": expected})

    for name in ("probabilities", "logits", "scores", "half"):
        scores = exp / exp.sum(axis=1, keepdims=True) if name == "half" else out["probabilities"]
        case(name, softmax_case(scores, y, 2), ["--output-name", name, "--top", "2"])
    for dtype, smallest in HALF_A_STEP.items():
        case(dtype, softmax_case(out["probabilities_" + dtype], y, 3, smallest),
             ["--output-name", "probabilities_" + dtype, "--top", "3"])
    names = ["red", "green", "blue", "none of these"]
    for name, smallest in (("decisions", 1.17549435e-38), ("logits", 1.17549435e-38),
                           ("decisions_uint8", 0.5 / 256)):
        scores = out["decisions" if name == "logits" else name]
        case("several " + name, sigmoid_case(scores, several, names, smallest),
             ["--output-name", name], targets="several")
    case("one-hot", sigmoid_case(out["decisions"], np.eye(C)[y], "0123"),
         ["--output-name", "logits", "--loss", "sigmoid"])
    for kind in ("mse", "huber"):
        case(kind, regression_case(out["logits"], values.astype(np.float64), kind),
             ["--output-name", "logits"] + ([] if kind == "mse" else ["--loss", kind]),
             targets="values")
    said = both.argmax(axis=1)
    losses = -np.log(both[np.arange(N), two])
    case("one output for two classes",
         {"loss": metrics.log_loss(two, both), "top1": metrics.accuracy_score(two, said),
          "calibration_error": calibration(both.max(axis=1), said == two),
          "confusion": metrics.confusion_matrix(two, said).tolist(), **table(two, said, "01"),
          "worst": worst(losses, [str(c) for c in two], [str(c) for c in said])},
         model="column.tflite", inputs="column", targets="two")
    case("one number", regression_case(p, two[:, None].astype(np.float64), "mse"),
         ["--loss", "mse"], model="column.tflite", inputs="column", targets="one_value")
    data = {"x": x, "column": column, "labels": y, "several": several, "values": values, "two": two,
            "one_value": two.astype(np.float32)}
    document = {
        "arrays": {name: {"descr": {"float32": "<f4", "int64": "<i8", "uint8": "|u1"}[str(a.dtype)],
                          "shape": a.shape, "values": [round(float(v), 3) for v in a.ravel()]}
                   for name, a in data.items()},
        "names": {"several": names}, "cases": cases}
    text = json.dumps(document, indent=None, separators=(",", ":"), default=float)
    (FOLDER / "evaluate.json").write_text(text.replace('{"name":', '\n{"name":') + "\n")


if __name__ == "__main__":
    main()
