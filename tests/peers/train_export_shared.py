"""Every float, float16 and integer classifier beside the repository gets a head of another number of
classes; LiteRT must run the result and agree with Topwork: within 1e-5, integers within 1 and with
equal top-1 on LiteRT's reference kernels.

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
INTEGERS = [
    "int8/gen_digits_cnn_int8", "int8/gen_digits_cnn_int8_uint8io",
    "int8/gen_digits_cnn_int8_floatio", "int8/gen_digits_cnn_int8_pertensor",
    "int8/gen_digits_cnn_batch8_int8", "int8/gen_digits_cnn_int16x8", "int8/gen_digits_mlp_int8",
    "int8/gen_digits_mlp_int16x8", "int8/mlperf_kws_dscnn_int8", "int8/mlperf_ic_resnet8_int8",
    "int8/gen_mlperf_resnet8_int16x8", "int8/tflm_micro_speech_int8",
    "int8/mltk_rock_paper_scissors", "int8/aeq_conv_fc_mnist_srq_a8w8",
    "int8/coral_mobilenet_v1_0.25_128_quant", "int8/efficientnet_lite0_int8",
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


def random_values(rng, shape, dtype):
    if dtype == np.float32:
        return rng.random(shape, dtype=np.float32)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max + 1, shape).astype(dtype)


def check_integers(topwork, path, work):
    """None, or what is wrong."""
    shipped = peers.LiteRt(path, reference=True)
    shape = tuple(shipped.input["shape"])
    x = random_values(np.random.default_rng(3), (N_EXAMPLES, *shape[1:]), shipped.input["dtype"])
    data = work / "data"
    data.mkdir()
    np.save(data / "x.npy", x)
    np.save(data / "y.npy", np.arange(N_EXAMPLES, dtype=np.int64) % N_CLASSES)
    exported = work / "new.tflite"
    topwork("train", path, "--data", data, "--output", exported, "--epochs", 30)
    theirs = peers.LiteRt(exported, reference=True)
    if theirs.output["dtype"] != shipped.output["dtype"]:
        return f"scores are {theirs.output['dtype']}, before {shipped.output['dtype']}"
    worst, n_same, n = 0.0, 0, 0
    step = 1.0 if theirs.output["dtype"] != np.float32 else 1 / 256
    for first in range(0, N_EXAMPLES - shape[0] + 1, shape[0]):
        batch = x[first:first + shape[0]]
        expected = theirs.run([batch]).reshape(-1, N_CLASSES).astype(np.float64)
        got = topwork.outputs(exported, [batch], work)[0].reshape(-1, N_CLASSES)
        worst = max(worst, float(np.abs(got - expected).max()) / step)
        lead = expected.max(axis=1) - np.take_along_axis(
            expected, got.argmax(axis=1)[:, None], axis=1)[:, 0]
        n_same += int((lead <= 0).sum())
        n += len(lead)
    print(f"  {path.stem}: differs by {worst:.2g} steps at most, top-1 equal in {n_same} of {n}")
    if worst > 1:
        return f"outputs differ by {worst:.2g} steps"
    return f"top-1 differs in {n - n_same} of {n}" if n_same != n else None


def main():
    shared = os.environ.get("TOPWORK_SHARED")
    folder = pathlib.Path(shared or "") / "models"
    if not shared or not folder.is_dir():
        print("SKIP: TOPWORK_SHARED does not name a folder that holds models/")
        sys.exit(peers.SKIP)
    topwork = peers.Topwork(sys.argv[1])
    failures = 0
    for name in MODELS + INTEGERS:
        with tempfile.TemporaryDirectory() as work:
            judge = check if name in MODELS else check_integers
            problem = judge(topwork, folder / f"{name}.tflite", pathlib.Path(work))
        if problem:
            failures += 1
            print(f"FAIL {name}: {problem}")
    print(f"{len(MODELS + INTEGERS)} models, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
