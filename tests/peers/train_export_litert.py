"""A head trained and exported by Topwork, run by LiteRT: the same outputs within 1e-5, an accuracy on
held-back examples within 1 percentage point of scikit-learn's LogisticRegression on the same
features, labels where metadata readers look for them, and the backbone unchanged bit for bit.

  python train_export_litert.py TOPWORK        (the topwork command)
"""

import pathlib
import sys
import tempfile
import zipfile

import peers

peers.need("numpy", "ai_edge_litert", "sklearn")

import numpy as np  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402

import feature_sets  # noqa: E402

TOLERANCE = 1e-5
MODELS = ["digits_cnn_f32", "digits_cnn_fp16", "digits_mlp_f32"]
LARGE = "efficientnet_lite0_fp16"  # on fewer digits, blown up to photographs
failures = []


def check(condition, text):
    print(("  ok    " if condition else "  FAIL  ") + text)
    if not condition:
        failures.append(text)


def digits(part):
    folder = peers.ZOO / "data" / "digits_8x8" / part
    return np.load(folder / "x.npy"), np.load(folder / "y.npy")


def photographs(x):
    """8 x 8 digits as 224 x 224 RGB in [-1, 1]."""
    return feature_sets.enlarge(feature_sets.grey(np.rint(255 * x.reshape(-1, 8, 8)).astype(np.uint8)))


def save(folder, x, y):
    folder.mkdir()
    np.save(folder / "x.npy", x)
    np.save(folder / "y.npy", y.astype(np.int64))


def accuracy(scores, labels):
    return float((scores.argmax(axis=1) == labels).mean())


def embedding_of(model):
    """Index of the tensor that the last FULLY_CONNECTED reads."""
    dense = [op for op in model.operators() if op["op_name"] == "FULLY_CONNECTED"]
    return int(dense[-1]["inputs"][0])


def labels_in(path):
    with zipfile.ZipFile(path) as archive:
        return archive.read("labels.txt").decode().splitlines()


def compare(topwork, name, n_classes, work):
    """Trains on the first n_classes digits and compares everything that can be compared."""
    print(f"{name}, {n_classes} classes")
    shipped = peers.ZOO / f"{name}.tflite"
    original = peers.LiteRt(shipped)
    shape = tuple(original.input["shape"][1:])
    (x, y), (x_test, y_test) = digits("train"), digits("test")
    keep, keep_test = y < n_classes, y_test < n_classes
    x, y, x_test, y_test = x[keep], y[keep], x_test[keep_test], y_test[keep_test]
    if name == LARGE:
        x, y, x_test, y_test = photographs(x[:150]), y[:150], photographs(x_test[:100]), y_test[:100]
    x, x_test = x.reshape(-1, *shape), x_test.reshape(-1, *shape)

    save(work / "train", x, y)
    save(work / "test", x_test, y_test)
    exported = work / "new.tflite"
    epochs = 20 if name != LARGE else 50  # 15 examples a class
    topwork("train", shipped, "--data", work / "train", "--output", exported, "--validation", 0,
            "--optimizer", "adam", "--epochs", epochs)  # heads/auto.py judges the automatic head

    new = peers.LiteRt(exported)
    theirs = new.run(x_test)
    check(theirs.shape[1] == n_classes, f"LiteRT sees {theirs.shape[1]} scores")
    few = slice(0, 400 if name != LARGE else 8)
    ours = topwork.outputs(exported, [x_test[few]], work)[0].reshape(theirs[few].shape)
    worst = float(np.abs(ours - theirs[few]).max())
    check(worst <= TOLERANCE, f"outputs agree with LiteRT's: largest difference {worst:.1e}")

    embedding = embedding_of(original)
    regression = LogisticRegression(max_iter=10000)
    regression.fit(original.run(x, embedding), y)
    reference = regression.score(original.run(x_test, embedding), y_test)
    got = accuracy(theirs, y_test)
    check(got >= reference - 0.01, f"accuracy {got:.4f}, LogisticRegression {reference:.4f}")
    judged = topwork("evaluate", exported, "--data", work / "test")
    check(abs(judged["top1"] - got) < 1e-9, f"topwork evaluate says the same: {judged['top1']:.4f}")

    before, after = original.constants(), new.constants()
    head = {t for op in original.operators() if op["op_name"] == "FULLY_CONNECTED"
            for t in op["inputs"][1:]}
    head |= {t for op in original.operators() if op["op_name"] == "DEQUANTIZE"
             and op["outputs"][0] in head for t in op["inputs"]}
    head_names = {d["name"] for d in original.interpreter.get_tensor_details()
                  if d["index"] in head}
    shared = [n for n in before if n and n in after and n not in head_names and
              len(before[n]) == len(after[n])]
    changed = [n for n in shared if before[n] != after[n] and is_constant(original, n)]
    check(shared and not changed, f"backbone unchanged: {len(shared)} tensors {changed[:3]}")
    labels = labels_in(exported)
    check(labels == [str(c) for c in range(n_classes)], f"labels in the archive: {labels}")


def is_constant(model, name):
    """True for tensors that no operator writes and that are no input."""
    details = {d["name"]: d["index"] for d in model.interpreter.get_tensor_details()}
    written = {int(t) for op in model.operators() for t in op["outputs"]}
    return details[name] not in written and details[name] != model.input["index"]


def main():
    topwork = peers.Topwork(sys.argv[1])
    for name in [*MODELS, LARGE]:
        for n_classes in (10, 4) if name != LARGE else (10,):
            with tempfile.TemporaryDirectory() as folder:
                compare(topwork, name, n_classes, pathlib.Path(folder))
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
