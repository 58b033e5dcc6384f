"""Models that `topwork quantize` and `topwork prune` write, run by LiteRT: its reference kernels and
XNNPACK take every one of them, give the answers that Topwork gives, and keep the float model's
accuracy within a percentage point (quantized ones).

  python quantize_litert.py TOPWORK        (the topwork command)
"""

import pathlib
import sys
import tempfile

import peers

peers.need("numpy", "ai_edge_litert")

import numpy as np  # noqa: E402
from ai_edge_litert import interpreter  # noqa: E402

failures = []
N_COMPARED = 10  # examples of which every output is compared


def check(condition, text):
    print(("  ok    " if condition else "  FAIL  ") + text)
    if not condition:
        failures.append(text)


def litert(path, kind, x):
    run = interpreter.Interpreter(str(path), experimental_op_resolver_type=kind, num_threads=1)
    run.allocate_tensors()
    i, o = run.get_input_details()[0], run.get_output_details()[0]
    rows = []
    for example in x:
        value = example.reshape(i["shape"])
        if i["dtype"] != np.float32:
            scale, zero = i["quantization"]
            info = np.iinfo(i["dtype"])
            value = np.clip(np.round(value / scale) + zero, info.min, info.max)
        run.set_tensor(i["index"], value.astype(i["dtype"]))
        run.invoke()
        row = run.get_tensor(o["index"]).ravel().astype(np.float64)
        if o["dtype"] != np.float32:
            row = (row - o["quantization"][1]) * o["quantization"][0]
        rows.append(row)
    return np.stack(rows)


def topwork_rows(topwork, path, x, work):
    scale, zero = peers.LiteRt(path).output["quantization"]
    rows = []
    for example in x:
        (out,) = topwork.outputs(path, [example[None]], work)
        row = out.ravel().astype(np.float64)
        rows.append(row if out.dtype == np.float32 else (row - zero) * scale)
    return np.stack(rows)


def save(folder, x, y):
    folder.mkdir()
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y.astype(np.int64))
    return folder


def compare(topwork, name, model, x, y, command, work, step=0.0, loss=0.01):
    """One command, its figures, and the new model in LiteRT. `loss`: of accuracy, at most."""
    new = work / f"{model.stem}_{name}.tflite"
    report = topwork(*command, "--output", new)
    kind = interpreter.OpResolverType
    before = report["before"]["top1"]
    reference = litert(new, kind.BUILTIN_REF, x)
    delegate = litert(new, kind.AUTO, x)
    right = float((reference.argmax(1) == y).mean())
    text = (f"{model.stem} {name}: {report['output_bytes'] / report['model_bytes']:.2f} of the size, "
            f"top-1 {before:.4f} -> {report['after']['top1']:.4f}, LiteRT {right:.4f}, "
            f"agreement {report['agreement']:.4f}")
    check(report["after"]["top1"] >= before - loss, text)
    check(abs(right - report["after"]["top1"]) <= 0.005, f"{model.stem} {name}: LiteRT's accuracy")
    check(float((delegate.argmax(1) == reference.argmax(1)).mean()) >= 0.95,
          f"{model.stem} {name}: XNNPACK agrees with the reference")
    own = topwork_rows(topwork, new, x[:N_COMPARED], work)
    difference = np.abs(own - reference[:len(own)])
    check(difference.max() <= max(1e-4, 2 * step) and difference.mean() <= max(1e-5, 0.25 * step),
          f"{model.stem} {name}: outputs differ by {difference.max():.2g} at most, "
          f"{difference.mean():.2g} on average")


def run_model(topwork, model, train, test, work):
    shape = tuple(peers.LiteRt(model).input["shape"][1:])
    x, y = test[0].reshape(-1, *shape), test[1]
    data = save(work / "train", train[0].reshape(-1, *shape), train[1])
    kept = save(work / "test", x, y)
    base = ["quantize", model, "--eval", kept]
    step = 1 / 256  # of an int8 probability
    compare(topwork, "int8", model, x, y, [*base, "--to", "int8", "--data", data],
            work, step)
    compare(topwork, "uint8_io", model, x, y, [*base, "--to", "int8", "--data", data, "--io", "uint8"],
            work, step)
    compare(topwork, "dynamic", model, x, y, [*base, "--to", "dynamic"], work, step)
    compare(topwork, "fp16", model, x, y, [*base, "--to", "fp16"], work)
    prune = ["prune", model, "--data", kept, "--sparsity", "0.3"]
    # Without training again, pruning costs what it costs.
    compare(topwork, "pruned", model, x, y, prune, work, loss=0.15)
    compare(topwork, "sparse", model, x, y, [*prune, "--sparse"], work, loss=0.15)


def digits(part):
    folder = peers.ZOO / "data" / "digits_8x8" / part
    return np.load(folder / "x.npy"), np.load(folder / "y.npy")


def main():
    topwork = peers.Topwork(sys.argv[1])
    for name in ("digits_cnn_f32", "digits_mlp_f32"):
        with tempfile.TemporaryDirectory() as folder:
            run_model(topwork, peers.ZOO / f"{name}.tflite", digits("train"), digits("test"),
                      pathlib.Path(folder))
    resnet = peers.shared_models() / "float" / "mlperf_ic_resnet8_f32.tflite"
    if resnet.exists():
        with tempfile.TemporaryDirectory() as folder:
            photographs = [peers.cifar(part) for part in ("train", "test")]
            train, test = [(x.astype(np.float32), y) for x, y in photographs]
            run_model(topwork, resnet, train, test, pathlib.Path(folder))
    else:
        print("  SKIP  the larger model: TOPWORK_SHARED does not lead to it")
    if failures:
        sys.exit(f"{len(failures)} checks failed")


main()
