"""topwork.Features are what a trainer trains on, topwork.Scores what a model answers."""
import pathlib

import numpy as np
import pytest

import topwork
from topwork import errors

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIGITS = ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"
DATA = ROOT / "models" / "zoo" / "data" / "digits_8x8"


def digits(part, n):
    return np.load(DATA / part / "x.npy")[:n], np.load(DATA / part / "y.npy")[:n]


def test_a_head_on_features_is_the_trainers():
    x, y = digits("train", 200)
    test, _ = digits("test", 50)
    features = topwork.Features(DIGITS)
    assert features(x).shape == (200, features.n_features) and features(x).dtype == np.float32
    options = {"optimizer": "ridge", "validation_fraction": 0.0}
    whole = topwork.Trainer(DIGITS, **options).fit(x, y)
    apart = topwork.Trainer(**options).fit(features(x), y)
    np.testing.assert_allclose(apart.predict_proba(features(test)), whole.predict_proba(test), atol=1e-4)


def test_features_of_quantized_models_are_real_numbers():
    x, _ = digits("train", 60)
    small = topwork.quantize(DIGITS, "int8", x).model
    expected, found = topwork.Features(DIGITS)(x), topwork.Features(small)(x)
    assert np.abs(found - expected).max() < 0.05 * np.abs(expected).max()


def test_errors():
    with pytest.raises(errors.FileError):
        topwork.Features("nowhere.tflite")
    with pytest.raises(ValueError):
        topwork.Features(DIGITS)(np.zeros((2, 7, 7, 1), np.float32))


def test_scores_are_the_models_answers():
    x, _ = digits("test", 40)
    scores = topwork.Scores(DIGITS)
    session = topwork.Session(DIGITS)
    assert scores.n_outputs == 10
    np.testing.assert_allclose(scores(x), [session.run(row[None])[0][0] for row in x], atol=1e-6)
    small = topwork.quantize(DIGITS, "int8", x).model
    assert np.abs(topwork.Scores(small)(x) - scores(x)).mean() < 0.02


@pytest.mark.parametrize("opened", [str, topwork.Model.open])
def test_signatures_of_other_outputs_are_no_concern(opened, capfd):
    """The model's signature names its last output, which features are read before."""
    path = ROOT / "models" / "zoo" / "efficientnet_lite0_fp16.tflite"
    model = topwork.Model.open(path)
    side = model.inputs[0].shape[1]
    pixels = np.random.default_rng(1).integers(0, 256, (1, side, side, 3), np.uint8)
    features = topwork.Features(opened(path))(pixels)
    scores = topwork.Scores(opened(path))(pixels)
    assert np.isfinite(features).all() and scores.shape[1] == model.outputs[0].shape[1]
    assert capfd.readouterr().err == ""
