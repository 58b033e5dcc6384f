"""Nearest neighbours (`topwork train --optimizer knn`) against scikit-learn, NumPy and LiteRT.

  python identity.py TOPWORK

Embeddings of the digits come from LiteRT's own run of the shipped model: the input of its last layer.
Their nearest neighbours by cosine are found by scikit-learn (one neighbour: KNeighborsClassifier) and in
NumPy (several: the class of the largest mean similarity). The exported model, run by LiteRT in plain
kernels and with XNNPACK, must give the same class for every example whose two best classes are further
apart than the storage can tell, and both must give Topwork's numbers.
"""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

peers.need("numpy", "sklearn", "ai_edge_litert")

import numpy as np  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402

from kinds import DIGITS, litert  # noqa: E402

N_EXAMPLES = 100
# The model, and what the storage of rows may change of a similarity.
MODELS = [(peers.ZOO / "digits_cnn_f32.tflite", 2e-6), (peers.ZOO / "digits_cnn_fp16.tflite", 2e-3),
          (peers.shared_models() / "int8" / "gen_digits_cnn_int8_floatio.tflite", 2e-2),
          (peers.shared_models() / "float" / "gen_digits_embedder_f32.tflite", 2e-6),
          (peers.shared_models() / "int8" / "gen_digits_embedder_int8_floatio.tflite", 2e-2)]


def embeddings(path, x):
    """What the last FULLY_CONNECTED reads of each example; where there is none, the output."""
    from ai_edge_litert import interpreter
    it = interpreter.Interpreter(str(path), experimental_preserve_all_tensors=True, num_threads=1,
                                 experimental_op_resolver_type=interpreter.OpResolverType
                                 .BUILTIN_WITHOUT_DEFAULT_DELEGATES)
    it.allocate_tensors()
    entry = it.get_input_details()[0]
    dense = [op for op in it._get_ops_details() if op["op_name"] == "FULLY_CONNECTED"]
    index = it.get_output_details()[0]["index"] if "embedder" in path.name else dense[-1]["inputs"][0]
    scale, zero = {d["index"]: d["quantization"] for d in it.get_tensor_details()}[index]
    rows = []
    for example in x:
        it.set_tensor(entry["index"], example.reshape(entry["shape"]))
        it.invoke()
        value = it.get_tensor(index).astype(np.float64).ravel()
        rows.append((value - zero) * scale if scale else value)
    rows = np.stack(rows)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)


def class_similarities(taught, labels, asked, k):
    """[asked, classes]: the mean of the k largest cosines of each class."""
    cosines = asked @ taught.T
    return np.stack([np.sort(cosines[:, labels == c], axis=1)[:, ::-1][:, :k].mean(axis=1)
                     for c in range(labels.max() + 1)], axis=1)


def compare(topwork, model, apart, k, folder):
    """What is wrong, and a line about it."""
    x, y = np.load(DIGITS / "train" / "x.npy").astype(np.float32), np.load(DIGITS / "train" / "y.npy")
    asked = np.load(DIGITS / "test" / "x.npy")[:N_EXAMPLES].astype(np.float32)
    path = folder / "new.tflite"
    topwork("train", model, "--data", DIGITS / "train", "--output", path, "--optimizer", "knn",
            "--neighbours", k, "--reject", 0)
    taught, queries = embeddings(model, x), embeddings(model, asked)
    expected = class_similarities(taught, y, queries, k)
    if k == 1:
        found = KNeighborsClassifier(1, metric="cosine", algorithm="brute").fit(taught, y)
        assert (found.predict(queries) == expected.argmax(1)).mean() > 0.99  # equal rows may tie
    best = np.sort(expected, axis=1)[:, ::-1]
    clear = best[:, 0] - best[:, 1] > 2 * apart
    plain, shape = litert(path, asked, True)
    fast, _ = litert(path, asked, False)
    mine = np.stack([topwork.outputs(path, [one.reshape(shape)], folder)[0].ravel() for one in asked])
    worst = max(float(np.abs(mine - theirs).max()) for theirs in (plain, fast))
    same = min((theirs.argmax(1) == expected.argmax(1))[clear].mean() for theirs in (plain, fast, mine))
    bad = same < 1.0 or worst > (5e-2 if "int8" in model.name else 2e-4) or clear.mean() < 0.5
    return bad, (f"{model.name}, {k} neighbours: the class of {100 * same:.0f} % of {clear.sum()} clear "
                 f"cases, runtimes differ by {worst:.1e} at most")


def main():
    topwork = peers.Topwork(sys.argv[1])
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        for model, apart in MODELS:
            if not model.exists():
                print(f"SKIP: {model.name} does not lie in $TOPWORK_SHARED/models")
                continue
            for k in (1, 3):
                bad, text = compare(topwork, model, apart, k, pathlib.Path(name))
                failures += bad
                print(f"{'FAIL' if bad else 'ok  '} {text}")
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
