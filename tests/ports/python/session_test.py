"""topwork.Model and topwork.Session: what runs, what is shared, what is refused, and how a run is ended."""
import copy
import json
import os
import pathlib
import pickle
import signal
import threading
import time

import numpy as np
import pytest

import topwork
import topwork.tflite
from topwork import errors
from topwork.flat import Scalar, write_file

ROOT = pathlib.Path(__file__).resolve().parents[3]
ZOO = ROOT / "models" / "zoo"
DIGITS = ZOO / "digits_cnn_f32.tflite"
SHARED = pathlib.Path(os.environ.get("TOPWORK_SHARED", "")) / "models"


def digits():
    return topwork.Model.open(DIGITS)


def pictures(n=1):
    return np.random.default_rng(1).random((n, 8, 8, 1), np.float32)


def test_model_tells_what_it_is():
    model = digits()
    tensor, = model.inputs
    assert (tensor.dtype, tensor.shape, tensor.nbytes) == ("float32", (1, 8, 8, 1), 256)
    assert model.outputs[0].shape == (1, 10) and "float32[1, 10]" in repr(model.outputs[0])
    assert model.head()["n_classes"] == 10 and model.head()["op"] == "FULLY_CONNECTED"
    assert bytes(model) == DIGITS.read_bytes()
    assert {operator["name"] for operator in model.describe()["operators"]} >= {"CONV_2D", "SOFTMAX"}
    with pytest.raises(errors.NotFoundError):
        model.metadata("no such entry")


def test_model_saves_pickles_and_copies(tmp_path):
    model = digits()
    model.save(tmp_path / "ä.tflite")
    assert (tmp_path / "ä.tflite").read_bytes() == bytes(model)
    assert bytes(pickle.loads(pickle.dumps(model))) == bytes(model)
    assert copy.deepcopy(model) is model


@pytest.mark.parametrize("call, kind, words", [
    (lambda: topwork.Model.open("no/such.tflite"), errors.FileError, "no/such.tflite"),
    (lambda: topwork.Model.from_bytes(b"abc"), errors.InvalidModelError, "3 bytes"),
    (lambda: topwork.Session(digits(), signature="none"), errors.NotFoundError, "none"),
    (lambda: topwork.Session(digits(), device="opencl:99"), errors.Error, "opencl"),
    (lambda: topwork.Session(digits(), memory_limit_bytes=100), errors.OutOfMemoryError, "memory"),
    (lambda: topwork.Session(digits(), precision="int8"), ValueError, "float16"),
    (lambda: topwork.Session(digits()).run(np.zeros((1, 8, 8, 3), np.float32)), errors.InvalidArgumentError, ""),
    (lambda: topwork.Session(digits()).run(np.zeros((1, 8, 8, 1), complex)), TypeError, "complex128"),
    (lambda: topwork.Session(digits()).run(y=1), errors.NotFoundError, "'y'"),
    (lambda: topwork.Session(digits()).run(1, 2), ValueError, "1 inputs"),
    (lambda: topwork.Session(digits()).input(1), IndexError, "1"),
    (lambda: topwork.Session(digits()).output(0), errors.FailedPreconditionError, "run"),
])
def test_refusals_say_why(call, kind, words):
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


@pytest.mark.parametrize("precision", ("float32", "float16", "auto"))
def test_precision_reaches_the_session(precision):
    session = topwork.Session(digits(), device="cpu", precision=precision)
    assert ("precision float16" in session.plan()) == (precision == "float16")
    assert session.run(pictures())[0].shape == (1, 10)


def test_every_status_has_a_class():
    header = (ROOT / "runtime" / "include" / "topwork" / "topwork.h").read_text(encoding="utf-8")
    for line in header.splitlines():
        if line.startswith("  TW_STATUS_") and "OK" not in line:
            name, number = line.split(",")[0].split("//")[0].split("=")
            kind = errors.of_status(int(number))
            words = {"IO": "FILE"}.get(name.strip()[len("TW_STATUS_"):], name.strip()[len("TW_STATUS_"):])
            words = words.title().replace("_", "")
            assert kind.__name__ == words + "Error" and issubclass(kind, topwork.Error)


def test_run_gives_new_arrays():
    session = topwork.Session(digits(), n_threads=1)
    first, = session.run(pictures())
    kept = first.copy()
    second, = session.run(1 - pictures())
    np.testing.assert_array_equal(first, kept)
    assert not np.array_equal(first, second) and session.output("Identity") is second
    assert first.sum() == pytest.approx(1, abs=1e-5)


def test_inputs_are_read_in_place():
    session = topwork.Session(digits())
    expected, = session.run(pictures())
    memory = session.input("x")
    memory[...] = 0
    memory[...] = pictures()
    np.testing.assert_array_equal(session.run()[0], expected)
    assert session.input(0) is memory
    other = topwork.Session(digits())
    mine = np.zeros((1, 8, 8, 1), np.float32)
    other.bind_input(0, mine)
    mine[...] = pictures()
    np.testing.assert_array_equal(other.run()[0], expected)


def test_outputs_are_written_in_place():
    session = topwork.Session(digits())
    mine = np.empty((1, 10), np.float32)
    session.bind_output(0, mine)
    assert session.run(pictures())[0] is mine
    session.bind_output(0, None)
    assert session.run(pictures())[0] is not mine
    with pytest.raises(ValueError, match="float64"):
        session.bind_output(0, np.empty((1, 10)))
    with pytest.raises(ValueError, match="contiguous"):
        session.bind_output(0, np.empty((1, 20), np.float32)[:, ::2])


def test_another_shape_resizes():
    session = topwork.Session(digits())
    one, = session.run(pictures())
    view = session.input(0)
    many, = session.run(np.repeat(pictures(), 5, axis=0))
    assert many.shape == (5, 10) and session.inputs[0].shape == (5, 8, 8, 1)
    np.testing.assert_allclose(many, np.repeat(one, 5, axis=0), rtol=1e-5)
    view[...] = 1  # stays memory of its own
    with pytest.raises(errors.InvalidArgumentError):
        session.resize(0, (5, 8, 8))
    np.testing.assert_array_equal(session.run()[0], many)


def test_a_refused_resize_leaves_the_input_where_it_is():
    session = topwork.Session(digits())
    view = session.input(0)
    with pytest.raises(errors.InvalidArgumentError):
        session.resize(0, (-1, 64))
    view[...] = pictures()
    np.testing.assert_array_equal(session.run()[0], topwork.Session(digits()).run(pictures())[0])


def test_lists_float64_and_dlpack():
    class Foreign:
        """Speaks DLPack and nothing else."""

        def __init__(self, array):
            self._array = array

        def __dlpack__(self, **options):
            return self._array.__dlpack__(**options)

        def __dlpack_device__(self):
            return self._array.__dlpack_device__()

    session = topwork.Session(digits())
    expected, = session.run(pictures())
    for values in (pictures().tolist(), pictures().astype(np.float64), np.asfortranarray(pictures()),
                   Foreign(pictures())):
        np.testing.assert_array_equal(session.run(values)[0], expected)


def test_heads_come_and_go(tmp_path):
    x, y = pictures(24), np.arange(24) % 3
    session = topwork.Session(digits(), n_threads=1)
    before = session.run(x[:1])[0]
    expected = {}
    for name, labels in (("three", np.array(["a", "b", "c"])[y]), ("two", np.array(["x", "y"])[y % 2])):
        trainer = topwork.Trainer(digits(), optimizer="knn", reject_rate=0.0, n_threads=1).fit(x, labels)
        trainer.save_head(tmp_path / name)
        expected[name] = topwork.Session(trainer.export(), n_threads=1).run(x[:1])[0]
    session.attach_head("three", tmp_path / "three")
    session.attach_head("two", (tmp_path / "two").read_bytes())
    assert session.heads == {"three": ["a", "b", "c"], "two": ["x", "y"]}
    assert [info.name for info in session.outputs][1:] == ["three", "two"]
    shipped, three, two = session.run(x[:1])
    np.testing.assert_array_equal(shipped, before)
    np.testing.assert_array_equal(three, expected["three"])
    np.testing.assert_array_equal(two, expected["two"])
    assert session.run(x[:4])[2].shape == (4, 2)
    session.detach_head("three")
    assert list(session.heads) == ["two"] and len(session.run(x[:1])) == 2
    with pytest.raises(errors.NotFoundError, match="there is no head 'three'"):
        session.detach_head("three")
    with pytest.raises(errors.FailedPreconditionError, match="it belongs to the model"):
        topwork.Session(ZOO / "digits_cnn_fp16.tflite").attach_head("two", tmp_path / "two")


def test_clone_and_threads():
    session = topwork.Session(digits(), n_threads=1)
    batch = pictures(32)
    expected = [session.run(batch[i:i + 1])[0] for i in range(32)]
    results = [None] * 32
    clones = [session, session.clone(), session]

    def work(k):
        for i in range(k, 32, 3):
            results[i] = clones[k].run(batch[i:i + 1])[0]

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    np.testing.assert_array_equal(np.concatenate(results), np.concatenate(expected))




def test_ctrl_c_ends_runs_and_cancel_too():
    session = topwork.Session(ZOO / "efficientnet_lite0_fp16.tflite", n_threads=1, input_shapes=[(8, 224, 224, 3)])
    session.run()  # from here on it is known to take long
    threading.Timer(0.05, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        for _ in range(1000):
            session.run()
    stop = threading.Event()

    def keep_cancelling():
        while not stop.wait(0.01):
            session.cancel()

    thread = threading.Thread(target=keep_cancelling)
    thread.start()
    with pytest.raises(errors.CancelledError):
        for _ in range(1000):
            session.run()
    stop.set()
    thread.join()
    assert session.run()[0].shape == (8, 1000)


def test_the_lock_is_released():
    session = topwork.Session(ZOO / "efficientnet_lite0_fp16.tflite", n_threads=1)
    session.run()
    counted = []
    stop = threading.Event()

    def count():
        while not stop.is_set():
            counted.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=count)
    thread.start()
    seen = False
    for _ in range(500):  # A busy machine may not let the thread in during one run.
        start = time.perf_counter()
        session.run()
        end = time.perf_counter()
        margin = (end - start) / 10  # Before and after the call itself, the lock is anybody's.
        seen = any(start + margin < moment < end - margin for moment in counted)
        if seen:
            break
    stop.set()
    thread.join()
    assert seen


def test_plan_verify_and_info():
    session = topwork.Session(digits())
    session.run(pictures())
    assert "CONV_2D" in session.plan() and session.info["arena_bytes"] > 0
    result = session.verify()
    assert result["agrees"] and json.dumps(result)
    assert topwork.devices()[0]["id"] == "cpu" and topwork.__version__.count(".") == 2


def test_strings():
    def tensor(name, kind, buffer, shape):
        return {0: np.array(shape, "<i4"), 1: Scalar("<b", kind), 2: Scalar("<I", buffer), 3: name}

    reshape = {0: Scalar("<I", 0), 1: np.array([0, 1], "<i4"), 2: np.array([2], "<i4")}
    main = {0: [tensor("in", 5, 0, [3]), tensor("shape", 2, 1, [2]), tensor("out", 5, 0, [1, 3])],
            1: np.array([0], "<i4"), 2: np.array([2], "<i4"), 3: [reshape]}
    file = write_file({0: Scalar("<I", 3), 1: [{0: Scalar("<b", 22), 3: Scalar("<i", 22)}], 2: [main],
                       4: [{}, {0: np.array([1, 3], "<i4").view("u1")}]}, b"TFL3")
    answer, = topwork.Session(topwork.Model.from_bytes(file)).run(["film", b"\xff\0", ""])
    assert answer.tolist() == [[b"film", b"\xff\0", b""]]
    interpreter = topwork.tflite.Interpreter(model_content=file)
    interpreter.allocate_tensors()
    interpreter.set_tensor(0, np.array(["a", "b", "c"], dtype=object))
    interpreter.invoke()
    assert interpreter.get_tensor(2).tolist() == [[b"a", b"b", b"c"]]


def test_state():
    if not SHARED.is_dir():
        pytest.skip("SKIP: the larger models are not here (TOPWORK_SHARED)")
    stateful = topwork.Session(SHARED / "int8" / "mww_v2_okay_nabu.tflite")
    tensor, = stateful.inputs
    sound = np.full(tensor.shape, 50, tensor.dtype)
    first, second = stateful.run(sound)[0], stateful.run(sound)[0]
    stateful.reset_state()
    np.testing.assert_array_equal(stateful.run(sound)[0], first)
    np.testing.assert_array_equal(stateful.run(sound)[0], second)
