"""LiteRT's own tests of its Python interpreter, and its label_image.py, run on topwork.tflite.

  python litert_interpreter.py SOURCES [--label-image MODEL PICTURE LABELS] [--rows FILE]

SOURCES is a copy of LiteRT's folder tflite/python of a public repository (interpreter_test.py, testdata/pc_conv.bin,
and beside it testdata/sparse_tensor.bin and gather_string.tflite); nothing of it lies in this one. The tests' files that
LiteRT's build makes are made here; testdata/test_delegate.so is taken where it was built. tflite.python.interpreter is
topwork.tflite; a registerer of custom operators is missing; without TensorFlow its test classes are unittest's. Run it by
the Python that the package is installed in.
"""
import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest

import numpy as np
import topwork.tflite
from topwork.flat import Scalar, write_file


def tensor(name, kind, buffer, shape, scale=None):
    fields = {0: np.array(shape, "<i4"), 1: Scalar("<b", kind), 2: Scalar("<I", buffer), 3: name}
    if scale is not None:
        fields[4] = {2: np.array([scale], "<f4"), 3: np.array([0], "<i8")}
    return fields


def model(code, tensors, inputs, outputs, op_inputs, constants, options=None):
    operator = {0: Scalar("<I", 0), 1: np.array(op_inputs, "<i4"), 2: np.array(outputs, "<i4"), **(options or {})}
    main = {0: tensors, 1: np.array(inputs, "<i4"), 2: np.array(outputs, "<i4"), 3: [operator]}
    buffers = [{}] + [{0: np.frombuffer(constant.tobytes(), "u1")} for constant in constants]
    return write_file({0: Scalar("<I", 3), 1: [{0: Scalar("<b", code), 2: Scalar("<i", 1), 3: Scalar("<i", code)}],
                       2: [main], 4: buffers}, b"TFL3")


def add_multiply():
    """Two signatures, add and multiply, of a subgraph each."""
    def part(name, code):
        operator = {0: Scalar("<I", code), 1: np.array([0, 1], "<i4"), 2: np.array([2], "<i4")}
        tensors = [tensor(f"{name}_x:0", 0, 0, [1]), tensor("c", 0, 1, [1]), tensor("PartitionedCall:0", 0, 0, [1])]
        return {0: tensors, 1: np.array([0], "<i4"), 2: np.array([2], "<i4"), 3: [operator], 4: name}

    def signature(name, number):
        return {0: [{0: "x", 1: Scalar("<I", 0)}], 1: [{0: "output_0", 1: Scalar("<I", 2)}], 2: name,
                4: Scalar("<I", number)}

    codes = [{0: Scalar("<b", code), 2: Scalar("<i", 1), 3: Scalar("<i", code)} for code in (0, 18)]
    return write_file({0: Scalar("<I", 3), 1: codes, 2: [part("add", 0), part("multiply", 1)],
                       4: [{}, {0: np.frombuffer(np.float32(2).tobytes(), "u1")}],
                       7: [signature("add", 0), signature("multiply", 1)]}, b"TFL3")


def make_testdata(folder):
    """The models that LiteRT's build makes of permute.pbtxt and gather*.pbtxt, and two_signatures.tflite."""
    turned = np.eye(4, dtype=np.float32)[::-1]
    full = {3: Scalar("<B", 8), 4: {}}
    files = {
        "permute_float": model(9, [tensor("input", 0, 0, [1, 4]), tensor("Const", 0, 1, [4, 4]),
                                   tensor("output", 0, 0, [1, 4])], [0], [2], [0, 1, -1], [turned], full),
        "permute_uint8": model(9, [tensor("input", 3, 0, [1, 4], 1.0), tensor("Const", 3, 1, [4, 4], 1.0),
                                   tensor("output", 3, 0, [1, 4], 1.0)], [0], [2], [0, 1, -1],
                               [turned.astype(np.uint8)], full),
        "gather_string_0d": model(22, [tensor("input", 5, 0, []), tensor("shape", 2, 1, [1]), tensor("output", 5, 0, [1])],
                                  [0], [2], [0, 1], [np.array([1], "<i4")]),
        "two_signatures": add_multiply()}
    for name, data in files.items():
        (folder / f"{name}.tflite").write_bytes(data)


class TestCase(unittest.TestCase):
    """tensorflow.python.framework.test_util.TensorFlowTestCase, as far as the tests use it."""

    def assertAllEqual(self, a, b):
        np.testing.assert_equal(a if isinstance(a, dict) else list(a), b if isinstance(b, dict) else list(b))

    def assertLen(self, container, n):
        self.assertEqual(len(container), n)


def replace_imports(folder):
    def module(name, **contents):
        made = types.ModuleType(name)
        made.__path__ = []
        made.__dict__.update(contents)
        sys.modules[name] = made
        parent, _, child = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], child, made)

    class Metrics:
        def increase_counter_interpreter_creation(self):
            """Topwork counts nothing."""

    try:
        import tensorflow
        from tensorflow.python.platform import resource_loader
        converter = tensorflow.lite.TFLiteConverter
        resource_loader.get_path_to_datafile = lambda name: str(folder / "python" / name)
    except ImportError:
        converter = None
        for name in ("tensorflow", "tensorflow.python", "tensorflow.python.framework", "tensorflow.python.platform"):
            module(name)
        module("tensorflow.python.framework.test_util", TensorFlowTestCase=TestCase)
        module("tensorflow.python.platform.resource_loader",
               get_path_to_datafile=lambda name: str(folder / "python" / name))
        module("tensorflow.python.platform.test", main=unittest.main)
    for name in ("tflite", "tflite.python", "tflite.python.metrics", "tflite.python.testdata"):
        module(name)
    module("tflite.python.interpreter", **vars(topwork.tflite))
    module("tflite.python.lite", Interpreter=topwork.tflite.Interpreter, TFLiteConverterV2=converter)
    module("tflite.python.metrics.metrics", TFLiteMetrics=Metrics)
    module("tflite.python.testdata._pywrap_test_registerer", TF_TestRegisterer=None,
           get_num_test_registerer_calls=lambda: 0)


def run_tests(sources):
    """(passed, all, [(name, reason of the failure)]); skipped tests do not count."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        testdata = folder / "python" / "testdata"
        testdata.mkdir(parents=True)
        shutil.copytree(sources / "testdata", testdata, dirs_exist_ok=True)
        shutil.copytree(sources / "testdata", folder / "testdata")
        make_testdata(testdata)
        replace_imports(folder)
        spec = importlib.util.spec_from_file_location("interpreter_test", sources / "interpreter_test.py")
        tests = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tests)
        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromModule(tests).run(result)
    failed = [(test.id().split(".", 1)[1], text.strip().splitlines()[-1]) for test, text in result.failures + result.errors]
    n = result.testsRun - len(result.skipped)
    return n - len(failed), n, failed


def label_image(script, network, picture, labels):
    """What LiteRT's own label_image.py prints on Topwork, and on LiteRT where it is installed."""
    # It imports tflite.python.lite, LiteRT's name within its own tree.
    command = ("import importlib, runpy, sys, types; sys.argv = sys.argv[1:]; "
               "package = sys.modules['tflite'] = sys.modules['tflite.python'] = types.ModuleType('tflite'); "
               "package.python, package.lite = package, importlib.import_module(sys.argv.pop(0)); "
               "sys.modules['tflite.python.lite'] = package.lite; runpy.run_path(sys.argv[0], run_name='__main__')")
    answers = []
    for module in ("topwork.tflite", "ai_edge_litert.interpreter"):
        done = subprocess.run([sys.executable, "-c", command, module, str(script), "-m", network, "-i", picture, "-l", labels],
                              capture_output=True, text=True, env=os.environ)
        print(module, done.stdout[-2000:] or done.stderr[-2000:], sep="\n")
        answers.append([line.split(": ", 1)[1] for line in done.stdout.splitlines() if not line.startswith("time")])
    return answers[0] == answers[1] != []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("--label-image", nargs=3, metavar=("MODEL", "PICTURE", "LABELS"))
    parser.add_argument("--rows", type=pathlib.Path)
    arguments = parser.parse_args()
    passed, n, failed = run_tests(arguments.sources)
    for name, reason in failed:
        print(f"FAILED {name}: {reason}")
    print(f"LiteRT's tests of its interpreter: {passed} of {n} pass")
    rows = [{"model": "interpreter_test.py", "what": "tests that pass", "ours": passed, "peer": n, "ratio": None, "runs": []}]
    if arguments.label_image:
        same = label_image(arguments.sources / "label_image.py", *arguments.label_image)
        print(f"label_image.py: {'the same' if same else 'other'} answers")
        rows.append({"model": "label_image.py", "what": "runs with the same answers", "ours": int(same), "peer": 1,
                     "ratio": None, "runs": []})
    if arguments.rows:
        arguments.rows.write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
