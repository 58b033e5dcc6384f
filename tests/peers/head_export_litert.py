"""Heads exported in every storage, replaced and appended, run by LiteRT.

For each model: embeddings from LiteRT's own run of the shipped model, a random head, its scores in
NumPy from the parameters as they are stored, and LiteRT's run of the exported model. The outputs must
agree within what the type of scores and output can tell apart, with equal top-1 wherever the best two
scores differ by more than that. LiteRT's default (XNNPACK) must accept the file, and agree where the
model is one of real numbers.

  python head_export_litert.py HEAD_EXPORT        (the topwork_head_export program)

Models in integers lie beside the repository: TOPWORK_SHARED names the folder that holds models/.
Without it the storages float32 and float16 of the zoo are compared alone.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

import peers

peers.need("numpy", "ai_edge_litert")

import numpy as np  # noqa: E402

N_EXAMPLES = 24
ZOO = ["digits_cnn_f32", "digits_cnn_fp16", "digits_mlp_f32"]
SHARED = [
    "float/gen_digits_cnn_batch8_f32", "float/mlts_mobilenet_v1_0.25_128", "float/gotflite_sin",
    "float/gotflite_xor", "float/mp_custom_gesture_classifier", "float/aeq_conv_fc_mnist",
    "fp16/efficientnet_lite0_fp16", "fp16/gen_digits_mlp_fp16", "fp16/gen_mlperf_resnet8_fp16",
    "float/aeq_mnist_quantized", "dynamic/mlperf_ad_fcae_dynamic", "int8/aeq_partly_quantized_mnist",
    "int8/aeq_conv_fc_mnist_srq_a8w8", "int8/coral_keras_lstm_mnist_ptq",
    "int8/efficientnet_lite0_int8", "int8/gen_digits_cnn_batch8_int8",
    "int8/gen_digits_cnn_int8_floatio", "int8/gen_digits_cnn_int8_pertensor",
    "int8/gen_digits_cnn_int8_uint8io", "int8/mlperf_ad_fcae_int8", "int8/mlperf_kws_dscnn_int8",
    "int8/mltkzip_autoencoder_example", "int8/tflm_hello_int8", "int8/tflm_micro_speech_int8",
    "int8/coral_mobilenet_v1_0.25_128_quant",
    "int8/gen_digits_cnn_int16x8", "int8/gen_digits_mlp_int16x8", "int8/gen_mlperf_resnet8_int16x8",
    "int8/gen_digits_mlp_int8", "int8/gen_mlperf_resnet8_int8_pertensor",
    "int8/mlperf_ic_resnet8_int8", "int8/mlperf_sww_int8", "int8/mltk_rock_paper_scissors",
]
EMBEDDERS = [
    "float/gen_digits_embedder_f32", "float/nntrainer_conv4_60classes", "float/oww_embedding_model",
    "dynamic/tfex_mobilenet_v2_035_96_embedder", "int8/gen_digits_embedder_int8_floatio",
    "int8/gen_digits_cnn_int8", "int8/gen_digits_cnn_int8_uint8io",
]
# One step of the scores in an integer head (of a range of 255 or 65535 steps), and of the output.
STEPS = {"int8": 255, "uint8": 255, "int16x8": 65535}
OUTPUT_STEPS = {np.int8: 1 / 256, np.uint8: 1 / 256, np.int16: 1 / 32768}


class Runner:
    """LiteRT on one model; integers come out as the real numbers they stand for."""

    def __init__(self, path, delegate=False):
        from ai_edge_litert import interpreter
        kind = interpreter.OpResolverType
        self.it = interpreter.Interpreter(
            str(path), experimental_preserve_all_tensors=not delegate, num_threads=1,
            experimental_op_resolver_type=kind.AUTO if delegate
            else kind.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        self.it.allocate_tensors()
        self.input = self.it.get_input_details()[0]
        self.output = self.it.get_output_details()[0]
        self.scales = {d["index"]: d["quantization"] for d in self.it.get_tensor_details()}

    def real(self, index):
        value = self.it.get_tensor(index).astype(np.float64)
        scale, zero = self.scales[index]
        return value if scale == 0 else (value - zero) * scale

    def run(self, inputs, tensor=None):
        rows = []
        for x in inputs:
            self.it.set_tensor(self.input["index"], x)
            self.it.invoke()
            rows.append(self.real(self.output["index"] if tensor is None else tensor))
        return np.stack(rows)


def make_inputs(runner, rng):
    """Examples of the input's type: smooth noise of different brightness."""
    shape, dtype = runner.input["shape"], runner.input["dtype"]
    result = []
    for i in range(N_EXAMPLES):
        noise = rng.random(shape) * rng.random() + rng.random() * 0.5
        if dtype == np.float32:
            result.append(((noise - 0.5) * 2).astype(np.float32))
        else:
            info = np.iinfo(dtype)
            result.append(np.clip(info.min + noise * (info.max - info.min), info.min,
                                  info.max).astype(dtype))
    return result


def activate(scores, activation):
    shifted = scores - scores.max(axis=-1, keepdims=True)
    exps = np.exp(shifted)
    if activation == "SOFTMAX":
        return exps / exps.sum(axis=-1, keepdims=True)
    if activation == "LOGISTIC":
        return 1 / (1 + np.exp(-scores))
    return scores


def expected_activation(loss, described, append):
    shipped = {25: "SOFTMAX", 14: "LOGISTIC"}.get(described["activation"])
    if loss == "mse" or (shipped is None and not append):
        return None
    return "LOGISTIC" if loss == "sigmoid" else "SOFTMAX"


def describe(tool, *arguments):
    done = subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def compare(tool, path, mode, loss, n_classes, work):
    """Text that says what was compared; an exception where LiteRT disagrees."""
    rng = np.random.default_rng(n_classes)
    head = describe(tool, path, "append-describe" if mode == "append" else "describe")
    shipped = Runner(path)
    inputs = make_inputs(shipped, rng)
    rows = shipped.run(inputs, head["embedding"]).reshape(-1, head["n_positions"], head["dim"])
    rows = rows.mean(axis=1)
    weights = rng.standard_normal((n_classes, head["dim"])) * 3
    centred = rows - rows.mean(axis=0)
    weights /= max(1e-6, float(np.abs(centred @ weights.T).max())) / 4
    # Centred: which class wins depends on the example.
    bias = -weights @ rows.mean(axis=0) + rng.standard_normal(n_classes) * 0.3
    scores = rows @ weights.T + bias
    parameters = work / "parameters"
    np.concatenate([weights.ravel(), bias]).astype(np.float32).tofile(parameters)
    exported = work / "new.tflite"
    # Twice: the range is that of the scores of the parameters as they are stored.
    for _ in range(2):
        head = describe(tool, path, exported, loss, mode, n_classes, parameters, scores.min(),
                        scores.max())
        rounded = np.fromfile(f"{parameters}.rounded", np.float32).astype(np.float64)
        weights = rounded[:weights.size].reshape(weights.shape)
        scores = rows @ weights.T + rounded[weights.size:]

    new = Runner(exported)
    activation = expected_activation(loss, head, mode == "append")
    theirs = new.run(inputs).reshape(scores.shape)
    integers = head["storage"] in STEPS and mode == "replace"
    span = max(scores.max(), 0.0) - min(scores.min(), 0.0)
    score_step = span / STEPS[head["storage"]] if integers else 0.0
    output_step = OUTPUT_STEPS.get(new.output["dtype"], 0.0)
    if integers and output_step == 0.0:  # integers inside, real numbers outside
        output_step = 1 / 256 if head["storage"] != "int16x8" else 1 / 32768
    if activation is None:
        output_step = span / 255 if new.output["dtype"] in (np.int8, np.uint8) else 0.0
    hybrid = 0.0
    if head["storage"] == "dynamic range" and mode == "replace":
        # The layer rounds a row of its input to 8 bits: five standard deviations of what that does.
        step = (rows.max(axis=1).clip(min=0) - rows.min(axis=1).clip(max=0)).max() / 127
        hybrid = 5 * step / 12 ** 0.5 * np.sqrt((weights ** 2).sum(axis=1)).max()
    tolerance = 1.5 * score_step + hybrid + 2.0 * output_step + 2e-5 * max(1.0, np.abs(scores).max())
    wrong = np.abs(theirs - activate(scores, activation)).max()
    if not wrong <= tolerance:
        raise AssertionError(f"outputs differ by {wrong:.2e}, {tolerance:.2e} at most")

    # Top-1, where two classes are further apart than the storage can confuse.
    best = np.sort(scores, axis=1)[:, ::-1]
    margin = best[:, 0] - best[:, 1] if n_classes > 1 else np.zeros(len(best))
    values = np.sort(activate(scores, activation), axis=1)[:, ::-1]
    apart = values[:, 0] - values[:, 1] if n_classes > 1 else np.zeros(len(best))
    clear = (margin > 3 * score_step + 2 * hybrid + 1e-4) & (apart > 3 * output_step)
    same = theirs.argmax(axis=1) == scores.argmax(axis=1)
    if not same[clear].all():
        raise AssertionError(f"top-1 differs in {(~same[clear]).sum()} of {clear.sum()} clear cases")

    # In integers XNNPACK rounds the backbone itself otherwise, so only its result's form is judged.
    theirs_too = Runner(exported, delegate=True).run(inputs).reshape(scores.shape)
    if not np.isfinite(theirs_too).all():
        raise AssertionError("XNNPACK gives numbers that are not finite")
    apart = np.abs(theirs_too - theirs).max()
    if path.parent.name in ("float", "fp16", "zoo") and not apart <= tolerance + 1e-3:
        raise AssertionError(f"XNNPACK differs by {apart:.2e}")
    return (f"{head['storage']}{' per channel' if head['per_channel'] else ''}: largest difference "
            f"{wrong:.1e}, top-1 equal in {same.sum()} of {len(same)} ({clear.sum()} clear)")


def cases():
    for name in ZOO:
        path = peers.ZOO / f"{name}.tflite"
        yield path, "replace", "softmax", 4
        yield path, "replace", "sigmoid", 10
        yield path, "append", "softmax", 3
    shared = os.environ.get("TOPWORK_SHARED")
    folder = pathlib.Path(shared or "") / "models"
    if not shared or not folder.is_dir():
        print("only float32 and float16: TOPWORK_SHARED does not name a folder that holds models/")
        return
    for name in SHARED:
        path = folder / f"{name}.tflite"
        for mode in ("replace", "float"):
            yield path, mode, "softmax", 3
            yield path, mode, "sigmoid", 12
            yield path, mode, "mse", 2
    for name in EMBEDDERS:
        path = folder / f"{name}.tflite"
        for loss in ("softmax", "sigmoid", "mse"):
            yield path, "append", loss, 3


def main():
    failures = n_cases = 0
    for path, mode, loss, n_classes in cases():
        with tempfile.TemporaryDirectory() as work:
            text = f"{path.stem}, {mode}, {loss}, {n_classes} classes"
            n_cases += 1
            try:
                print(f"  ok    {text}: "
                      f"{compare(sys.argv[1], path, mode, loss, n_classes, pathlib.Path(work))}")
            except (AssertionError, RuntimeError, ValueError) as error:
                failures += 1
                print(f"  FAIL  {text}: {error}")
    print(f"{n_cases} heads, {failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
