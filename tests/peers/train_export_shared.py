"""Every float and float16 classifier beside the repository gets a head of another number of classes;
LiteRT must run the result and agree with Topwork within 1e-5.

  python train_export_shared.py TOPWORK        (the topwork command)

TOPWORK_SHARED names the folder that holds models/; skipped without it.
"""

import os
import pathlib
import sys
import tempfile

import peers

peers.need("numpy", "ai_edge_litert")

import numpy as np  # noqa: E402

MODELS = [
    "float/gen_digits_cnn_dynbatch_f32", "float/gen_digits_cnn_batch8_f32",
    "float/gotflite_iris", "float/gotflite_xor", "float/mlperf_ic_resnet8_f32",
    "float/mlperf_vww_mbv1_f32", "float/mltkzip_rock_paper_scissors.float32",
    "float/mlts_mobilenet_v1_0.25_128", "float/mp_custom_gesture_classifier",
    "float/tfex_planestrike", "float/aeq_conv_fc_mnist", "float/aeq_single_fc_bias_logistic",
    "fp16/gen_digits_mlp_fp16", "fp16/gen_mlperf_resnet8_fp16",
]
N_CLASSES = 3
N_EXAMPLES = 24
TOLERANCE = 1e-5


def check(topwork, path, work):
    """None, or what is wrong."""
    shape = tuple(peers.LiteRt(path).input["shape"])
    rng = np.random.default_rng(3)
    x = rng.random((N_EXAMPLES, *shape[1:]), dtype=np.float32)
    y = np.arange(N_EXAMPLES, dtype=np.int64) % N_CLASSES
    data = work / "data"
    data.mkdir()
    np.save(data / "x.npy", x)
    np.save(data / "y.npy", y)
    exported = work / "new.tflite"
    topwork("train", path, "--data", data, "--output", exported, "--epochs", 3)
    batch = x[:shape[0]]
    theirs = peers.LiteRt(exported)
    if tuple(theirs.output["shape"]) != (shape[0], N_CLASSES):
        return f"scores of shape {theirs.output['shape']}"
    expected = theirs.run([batch])
    got = topwork.outputs(exported, [batch], work)[0].reshape(expected.shape)
    worst = float(np.abs(got - expected).max())
    print(f"  {path.stem}: largest difference {worst:.1e}, "
          f"{path.stat().st_size} bytes before, {exported.stat().st_size} after")
    return f"outputs differ by {worst:.1e}" if not worst <= TOLERANCE else None


def main():
    shared = os.environ.get("TOPWORK_SHARED")
    folder = pathlib.Path(shared or "") / "models"
    if not shared or not folder.is_dir():
        print("SKIP: TOPWORK_SHARED does not name a folder that holds models/")
        sys.exit(peers.SKIP)
    topwork = peers.Topwork(sys.argv[1])
    failures = 0
    for name in MODELS:
        with tempfile.TemporaryDirectory() as work:
            problem = check(topwork, folder / f"{name}.tflite", pathlib.Path(work))
        if problem:
            failures += 1
            print(f"FAIL {name}: {problem}")
    print(f"{len(MODELS)} models, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
