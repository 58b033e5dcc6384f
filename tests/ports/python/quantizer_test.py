"""topwork.quantize: every target and type of inputs, LiteRT's answers to what it makes, and what is refused."""
import pathlib

import numpy as np
import pytest

import topwork
from topwork import errors

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIGITS = ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"
DATA = ROOT / "models" / "zoo" / "data" / "digits_8x8"


def digits(part):
    return [np.load(DATA / part / f"{name}.npy") for name in "xy"]


def accuracy(model):
    """On the test's pictures, through the quantization of inputs and outputs."""
    x, y = digits("test")
    info = model.inputs[0]
    if info.scales:
        limits = np.iinfo(info.dtype)
        x = np.clip(np.round(x / info.scales[0]) + info.zero_points[0], limits.min, limits.max).astype(info.dtype)
    session = topwork.Session(model)
    return np.mean([session.run(picture.reshape(info.shape))[0].argmax() == label for picture, label in zip(x, y)])


@pytest.mark.parametrize("to, io, share", [("int8", "float32", 0.5), ("int8", "int8", 0.5), ("int8", "uint8", 0.5),
                                           ("dynamic", "float32", 0.5), ("fp16", "float32", 0.62)])
def test_targets_keep_the_accuracy(to, io, share):
    made = topwork.quantize(DIGITS, to, digits("train")[0][:100] if to == "int8" else None, io=io)
    assert len(bytes(made.model)) < share * DIGITS.stat().st_size
    assert made.model.inputs[0].dtype == made.model.outputs[0].dtype == io
    assert made.n_examples == (100 if to == "int8" else 0) and made.n_constants > 0 and made.float_operators == []
    assert accuracy(made.model) >= accuracy(topwork.Model.open(DIGITS)) - 0.01


def test_litert_gives_the_same_bytes():
    interpreter = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    model = topwork.quantize(DIGITS, "int8", digits("train")[0][:100], io="uint8").model
    peer = interpreter.Interpreter(model_content=bytes(model),
                                   experimental_op_resolver_type=interpreter.OpResolverType.BUILTIN_REF)
    peer.allocate_tensors()
    session = topwork.Session(model)
    generator = np.random.default_rng(1)
    for _ in range(20):
        picture = generator.integers(0, 256, (1, 8, 8, 1), np.uint8)
        peer.set_tensor(peer.get_input_details()[0]["index"], picture)
        peer.invoke()
        expected = peer.get_tensor(peer.get_output_details()[0]["index"]).astype(int)
        assert np.abs(session.run(picture)[0].astype(int) - expected).max() <= 1  # SOFTMAX may differ by its last bit


def test_pixels_by_a_scale_of_the_callers():
    """Without one they are divided by 255."""
    pixels = np.arange(4 * 64, dtype=np.uint8).reshape(4, 8, 8, 1)
    for scale, wanted in ((None, 1 / 255), (([127.5], [127.5]), 2 / 255)):
        made = topwork.quantize(DIGITS, "int8", pixels, io="int8", input_scale=scale)
        np.testing.assert_allclose(made.model.inputs[0].scales, [wanted], rtol=1e-5)


def test_percentile_cuts_outliers_off():
    x = np.full((5, 8, 8, 1), 0.5, np.float32)
    x[:, 0, 0] = 1000
    scales = [topwork.quantize(DIGITS, "int8", x, io="int8", percentile=p).model.inputs[0].scales[0] for p in (100, 90)]
    np.testing.assert_allclose(scales, [1000 / 255, 0.5 / 255], rtol=1e-5)


def test_errors():
    x = digits("train")[0][:10]
    for arguments in (("int3",), ("int8",), ("fp16", x)):
        with pytest.raises(ValueError):
            topwork.quantize(DIGITS, *arguments)
    for options in ({"io": "uint8"}, {"percentile": 50.0}, {"min_elements": -1}):
        with pytest.raises(ValueError):
            topwork.quantize(DIGITS, "dynamic", **options)
    with pytest.raises(ValueError):
        topwork.quantize(DIGITS, "int8", (x, x))
    with pytest.raises(errors.NumericError):
        topwork.quantize(DIGITS, "int8", np.full((1, 8, 8, 1), np.nan, np.float32))
    with pytest.raises(errors.UnsupportedError):
        topwork.quantize(topwork.quantize(DIGITS, "int8", x).model, "int8", x)
    with pytest.raises(errors.UnsupportedError):
        topwork.quantize(DIGITS, "dynamic", min_elements=10**9)
