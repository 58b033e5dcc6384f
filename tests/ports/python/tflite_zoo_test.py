"""Every public method of topwork.tflite.Interpreter against ai-edge-litert's, on the models of the repository and of
shared/models: the same details, the same answers, the same refusals."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import topwork.tflite

peer = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
ROOT = pathlib.Path(__file__).resolve().parents[3]
SHARED = pathlib.Path(os.environ.get("TOPWORK_SHARED", "")) / "models"
# LiteRT ends the process, or has no answer to compare with.
NOT_BY_LITERT = {
    "tfs_nl_classifier_stub": "LiteRT crashes when it reads the strings",
    "coral_invalid_model_invoking_error": "made so that running it fails",
    "mp_selfie_segmentation": "LiteRT lacks its custom operators",
    "seanet_transpose_conv0_int16": "LiteRT refuses to run it",
    "seanet_transpose_conv4_int16": "LiteRT refuses to run it",
    "tflm_person_detect_int8": "LiteRT refuses its scales",
    "gen_unet_ops_f32": "LiteRT's reference kernels lack ELU",
    "gen_unet_ops_int8": "LiteRT's reference kernels lack ELU",
    "aeq_single_slice": "LiteRT reads beyond its inputs",
}
LARGEST = 2_000_000  # bytes of a model that is run; larger ones are compared elsewhere


def models():
    folders = [ROOT / "models" / "zoo", *(SHARED / name for name in ("float", "int8", "fp16", "dynamic", "special"))]
    return [path for folder in folders for path in sorted(folder.glob("*.tflite"))
            if path.stat().st_size <= LARGEST and path.stem not in NOT_BY_LITERT]


def both(path, **options):
    reference = peer.OpResolverType.BUILTIN_REF
    theirs = peer.Interpreter(str(path), num_threads=1, experimental_op_resolver_type=reference, **options)
    return topwork.tflite.Interpreter(path, num_threads=1, **options), theirs


def same_details(ours, theirs):
    assert ours.keys() == theirs.keys()
    for key, theirs_value in theirs.items():
        ours_value = ours[key]
        if isinstance(theirs_value, dict):
            same_details(ours_value, theirs_value)
        elif isinstance(theirs_value, np.ndarray):
            assert ours_value.dtype == theirs_value.dtype, key
            np.testing.assert_array_equal(ours_value, theirs_value, err_msg=key)
        elif isinstance(theirs_value, list):
            for a, b in zip(ours_value, theirs_value):
                same_details(a, b)
        else:
            assert ours_value == theirs_value, key


def value_for(detail, generator):
    dtype, shape = np.dtype(detail["dtype"]), detail["shape"]
    if dtype.kind == "f":
        return generator.random(shape).astype(dtype)
    if dtype.kind == "c":
        return (generator.random(shape) + 1j).astype(dtype)
    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(bool)
    most = 1 if detail["quantization"][0] == 0 else min(127, np.iinfo(dtype).max)
    return generator.integers(0, most, shape, endpoint=True).astype(dtype)


def close(ours, theirs, name):
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape, name
    if ours.dtype.kind in "fc":
        scale = max(1e-3, float(np.abs(theirs[np.isfinite(theirs)]).max(initial=0)))
        np.testing.assert_allclose(ours / scale, theirs / scale, atol=2e-3, err_msg=name)
    elif ours.dtype.kind in "iu" and ours.dtype.itemsize < 4:
        assert np.abs(ours.astype(int) - theirs.astype(int)).max(initial=0) <= 2, name
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


def run_both(ours, theirs):
    for interpreter in (ours, theirs):
        interpreter.allocate_tensors()
    generator = np.random.default_rng(1)
    for detail in theirs.get_input_details():
        value = value_for(detail, generator)
        for interpreter in (ours, theirs):
            interpreter.set_tensor(detail["index"], value)
            np.testing.assert_array_equal(interpreter.get_tensor(detail["index"]), value)
    for interpreter in (ours, theirs):
        interpreter.invoke()
    for detail in theirs.get_output_details():
        close(ours.get_tensor(detail["index"]), theirs.get_tensor(detail["index"]), detail["name"])


@pytest.mark.parametrize("path", models(), ids=lambda path: path.stem)
def test_model(path):
    ours, theirs = both(path)
    assert ours.num_subgraphs() == theirs.num_subgraphs()
    assert ours.get_signature_list() == theirs.get_signature_list()
    for subgraph in range(ours.num_subgraphs()):
        mine = ours.get_tensor_details(subgraph)
        for a, b in zip(mine, theirs.get_tensor_details(subgraph)):
            same_details(a, b)
    run_both(ours, theirs)
    for a, b in zip(ours.get_input_details() + ours.get_output_details(),
                    theirs.get_input_details() + theirs.get_output_details()):
        same_details(a, b)
    assert [op["op_name"] for op in ours._get_ops_details()] == [op["op_name"] for op in theirs._get_ops_details()]


@pytest.mark.parametrize("path", [path for path in models() if "signature" in path.stem], ids=lambda path: path.stem)
def test_signatures(path):
    ours, theirs = both(path)
    for key in ours.get_signature_list():
        runners = [interpreter.get_signature_runner(key) for interpreter in (ours, theirs)]
        for method in ("get_input_details", "get_output_details"):
            same_details(*(getattr(runner, method)() for runner in runners))
        generator = np.random.default_rng(1)
        inputs = {name: value_for(detail, generator) for name, detail in runners[1].get_input_details().items()}
        answers = [runner(**inputs) for runner in runners]
        assert answers[0].keys() == answers[1].keys()
        for name in answers[1]:
            close(answers[0][name], answers[1][name], f"{key} {name}")


def test_resize():
    path = ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"
    ours, theirs = both(path)
    for interpreter in (ours, theirs):
        interpreter.resize_tensor_input(0, [3, 8, 8, 1])
        assert interpreter.get_input_details()[0]["shape"].tolist() == [3, 8, 8, 1]
        with pytest.raises(RuntimeError, match="not ready"):
            interpreter.invoke()
        with pytest.raises(RuntimeError, match="only allows mutating unknown dimensions"):
            interpreter.resize_tensor_input(0, [4, 8, 8, 1], strict=True)
    run_both(ours, theirs)
    assert ours.get_output_details()[0]["shape"].tolist() == [3, 10]


def test_preserved_tensors():
    path = ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"
    ours, theirs = both(path, experimental_preserve_all_tensors=True)
    run_both(ours, theirs)
    for detail in ours.get_tensor_details():
        close(ours.get_tensor(detail["index"]), theirs.get_tensor(detail["index"]), detail["name"])
    assert len(ours.get_output_details()) == 1


def refusals(module):
    """What each call does: the class that LiteRT raises, or its answer."""
    path = str(ROOT / "models" / "zoo" / "digits_cnn_f32.tflite")
    fresh = module.Interpreter(path)
    ready = module.Interpreter(path)
    ready.allocate_tensors()
    image = np.zeros((1, 8, 8, 1), np.float32)
    calls = [
        lambda: module.Interpreter(), lambda: module.Interpreter(path, b"x"), lambda: module.Interpreter("no/such"),
        lambda: module.Interpreter(model_content=b"abc"), lambda: module.Interpreter(path, num_threads=0),
        lambda: module.Interpreter(path, num_threads=1.5),
        lambda: module.Interpreter(path, experimental_op_resolver_type="x"),
        fresh.invoke, lambda: fresh.get_tensor(0), lambda: fresh.set_tensor(0, image), fresh.tensor(0),
        lambda: ready.set_tensor(0, image.astype(np.float64)), lambda: ready.set_tensor(0, image[:, :7]),
        lambda: ready.set_tensor(0, image[0]), lambda: ready.set_tensor(99, image), lambda: ready.get_tensor(-1),
        lambda: ready.get_tensor(99), lambda: ready.resize_tensor_input(5, [2, 8, 8, 1]),
        lambda: ready.resize_tensor_input(99, [1]), lambda: ready.resize_tensor_input(0, [2, 8, 8, 1], strict=True),
        lambda: ready.get_tensor_details(7), lambda: ready.get_signature_runner(),
        lambda: ready.get_signature_runner("x"), ready.num_subgraphs, ready.reset_all_variables,
        lambda: ready.experimental_compress_quantization_zero_points]
    answers = []
    for call in calls:
        try:
            answers.append(call())
        except Exception as error:  # noqa: BLE001: the class is what is compared
            answers.append(next(kind for kind in (ValueError, RuntimeError, TypeError) if isinstance(error, kind)))
    return answers


def test_refusals():
    assert refusals(topwork.tflite) == refusals(peer)


def test_views_hold_back_runs():
    for module in (topwork.tflite, peer):
        interpreter = module.Interpreter(str(ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"))
        interpreter.allocate_tensors()
        see_input, see_output = interpreter.tensor(0), interpreter.tensor(interpreter.get_output_details()[0]["index"])
        see_input().fill(0.5)
        interpreter.invoke()
        first = see_output().copy()
        assert first.sum() == pytest.approx(1, abs=1e-5) and interpreter.get_tensor(0).min() == 0.5
        for call in (interpreter.invoke, interpreter.allocate_tensors):
            held = see_input()[0]  # a slice, too
            with pytest.raises(RuntimeError, match="at least 1 reference"):
                call()
            del held
        interpreter.invoke()
        np.testing.assert_array_equal(see_output(), first)


def test_names_are_those_of_litert():
    ours = {name for name in dir(topwork.tflite.Interpreter) if not name.startswith("_")}
    theirs = {name for name in dir(peer.Interpreter) if not name.startswith("_")}
    assert ours == theirs
    public = {name for name, value in vars(peer).items() if not name.startswith("_")
              and getattr(value, "__module__", "") == peer.__name__}
    assert public <= set(dir(topwork.tflite))


HIDES = """
import importlib.abc, importlib.util, sys
class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("tflite_runtime", "ai_edge_litert"):
            raise ModuleNotFoundError(name)
sys.meta_path.insert(0, Hidden())
import topwork.tflite
topwork.tflite.install()
for name in ("tflite_runtime", "ai_edge_litert"):
    assert importlib.util.find_spec(name) is not None
import tflite_runtime.interpreter as old
from ai_edge_litert import interpreter as new
assert old.Interpreter is new.Interpreter is topwork.tflite.Interpreter
"""


def test_install_where_litert_is_missing():
    """As birdnet does, programs ask whether the package exists before they import it."""
    done = subprocess.run([sys.executable, "-c", HIDES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
