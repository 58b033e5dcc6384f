"""Kinds of heads that `topwork train` writes, run by LiteRT: both must give the same outputs.

  python kinds.py TOPWORK

The digits of the zoo teach each model of MODELS each kind of head. The exported file runs in LiteRT
(its default, XNNPACK, and its plain kernels) and in Topwork on the examples kept back.
"""

import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

peers.need("numpy", "ai_edge_litert")

import numpy as np  # noqa: E402

DIGITS = peers.ZOO / "data" / "digits_8x8"
MODELS = [peers.ZOO / "digits_cnn_f32.tflite", peers.ZOO / "digits_cnn_fp16.tflite"]
SHARED = ["int8/gen_digits_cnn_int8_floatio", "float/gen_digits_embedder_f32",
          "int8/gen_digits_embedder_int8_floatio"]
KINDS = [["--balance=smote", "--mixup", "0.2", "--focal", "2"], ["--hidden", "32", "--dropout", "0.2"], ["--hidden", "32", "--optimizer", "lbfgs"],
         ["--project", "200", "--optimizer", "ridge"]]
N_EXAMPLES = 40


def litert(path, x, plain):
    """Outputs of each example, and the shape that an example has for the model."""
    from ai_edge_litert import interpreter
    kind = interpreter.OpResolverType
    it = interpreter.Interpreter(str(path), num_threads=1, experimental_op_resolver_type=(
        kind.BUILTIN_WITHOUT_DEFAULT_DELEGATES if plain else kind.AUTO))
    it.allocate_tensors()
    entry, result = it.get_input_details()[0], it.get_output_details()[0]["index"]
    rows = []
    for example in x:
        it.set_tensor(entry["index"], example.reshape(entry["shape"]))
        it.invoke()
        rows.append(it.get_tensor(result).ravel().copy())
    return np.stack(rows), entry["shape"]


def merge(topwork, folder):
    """Two heads in one file: LiteRT gives each as its own model does."""
    heads = [folder / "first.tflite", folder / "second.tflite"]
    for path, kind in zip(heads, (["--optimizer", "ridge"], ["--hidden", "16"])):
        topwork("train", MODELS[0], "--data", DIGITS / "train", "--output", path, "--reject", 0,
                *kind)
    both = folder / "both.tflite"
    topwork("merge", *heads, "--output", both)
    from ai_edge_litert import interpreter
    it = interpreter.Interpreter(str(both))
    it.allocate_tensors()
    x = np.load(DIGITS / "test" / "x.npy")[:N_EXAMPLES].astype(np.float32)
    worst = 0.0
    for k, path in enumerate(heads):
        expected, shape = litert(path, x, False)
        for example, row in zip(x, expected):
            it.set_tensor(it.get_input_details()[0]["index"], example.reshape(shape))
            it.invoke()
            got = it.get_tensor(it.get_output_details()[k]["index"]).ravel()
            worst = max(worst, float(np.abs(got - row).max()))
    bad = worst > 1e-6
    print(f"{'FAIL' if bad else 'ok  '} merged heads differ by {worst:.1e} at most")
    return bad


def main():
    tool = sys.argv[1]
    topwork = peers.Topwork(tool)
    shared = [peers.shared_models() / (name + ".tflite") for name in SHARED]
    models = MODELS + [path for path in shared if path.exists()]
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for model in models:
            for kind in KINDS:
                path = folder / "new.tflite"
                trained = subprocess.run([tool, "train", model, "--data", DIGITS / "train", "--output",
                                          path, "--json", *kind], capture_output=True, text=True)
                if trained.returncode != 0:
                    failures += 1
                    print(f"FAIL {model.name} {kind}: {trained.stderr.strip()}")
                    continue
                x = np.load(DIGITS / "test" / "x.npy")[:N_EXAMPLES].astype(np.float32)
                fast, shape = litert(path, x, False)
                plain, _ = litert(path, x, True)
                mine = np.stack([topwork.outputs(path, [one.reshape(shape)], folder)[0].ravel()
                                 for one in x])
                worst = max(float(np.abs(mine - theirs).max()) for theirs in (fast, plain))
                right = (mine.argmax(1) == np.load(DIGITS / "test" / "y.npy")[:N_EXAMPLES]).mean()
                bad = worst > (2e-2 if "int8" in model.name else 2e-5)  # a step of a feature
                failures += bad
                print(f"{'FAIL' if bad else 'ok  '} {model.name} {' '.join(kind)}: differs by "
                      f"{worst:.1e} at most, {100 * right:.0f} % right")
        failures += merge(topwork, folder)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
