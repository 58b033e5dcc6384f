"""topwork.read_head, with_head and head_model: last layers as arrays, against NumPy."""
import pathlib

import numpy as np
import pytest

import topwork

ZOO = pathlib.Path(__file__).resolve().parents[3] / "models" / "zoo"
RANDOM = np.random.default_rng(7)


def embeddings(n, size, n_classes):
    """[n, size] float32 features around a centre for each class, and the classes."""
    y = np.arange(n) % n_classes
    centres = RANDOM.normal(size=(n_classes, size)) * 2
    return (centres[y] + RANDOM.normal(size=(n, size))).astype(np.float32), y


def test_a_head_read_and_put_back_changes_nothing():
    """float32, float16 and a convolution in front of pooling (EfficientNet)."""
    for name in ("digits_cnn_f32", "digits_cnn_fp16", "digits_mlp_f32", "efficientnet_lite0_fp16"):
        model = topwork.Model.open(ZOO / f"{name}.tflite")
        arrays = topwork.read_head(model)
        again = topwork.with_head(model, arrays, [f"c{i}" for i in range(len(arrays["head/bias"]))])
        x = RANDOM.random(model.inputs[0].shape).astype(np.float32)
        np.testing.assert_allclose(topwork.Session(again).run(x)[0], topwork.Session(model).run(x)[0], atol=1e-6, err_msg=name)
        assert again.labels[:2] == ["c0", "c1"]


@pytest.mark.parametrize("n_hidden", [0, 5])
def test_a_head_fitted_on_features_goes_into_the_model(n_hidden):
    """The model then gives what the trainer of features predicts."""
    model = topwork.Model.open(ZOO / "digits_cnn_f32.tflite")
    features = topwork.Features(model)
    pictures = RANDOM.random((40, 8, 8, 1)).astype(np.float32)
    rows = features(pictures)
    labels = np.array(["a", "b", "c"])[np.arange(40) % 3]
    trainer = topwork.Trainer(n_hidden=n_hidden, n_epochs=3).fit(rows, labels)
    made = topwork.with_head(model, trainer.get_parameters(), trainer.classes_)
    session = topwork.Session(made)
    answers = np.concatenate([session.run(picture[None])[0] for picture in pictures])
    np.testing.assert_allclose(answers, trainer.predict_proba(rows), atol=1e-5)
    assert made.labels == ["a", "b", "c"]


def test_wrong_arrays_are_named():
    model = topwork.Model.open(ZOO / "digits_cnn_f32.tflite")
    arrays = topwork.read_head(model)
    with pytest.raises(ValueError, match="'head/weights' has shape .* the layer takes"):
        topwork.with_head(model, arrays, ["a", "b"])
    with pytest.raises(ValueError, match="'head/bias' is missing"):
        topwork.with_head(model, {"head/weights": arrays["head/weights"]}, list("abcdefghij"))
    with pytest.raises(topwork.errors.NotFoundError, match="head/extra"):
        topwork.with_head(model, {**arrays, "head/extra": arrays["head/bias"]}, list("abcdefghij"))


@pytest.mark.parametrize("loss, last", [("softmax", lambda z: np.exp(z) / np.exp(z).sum()),
                                        ("sigmoid", lambda z: 1 / (1 + np.exp(-z))), (None, lambda z: z)])
def test_head_model(loss, last):
    weights, bias = RANDOM.normal(size=(3, 8)), RANDOM.normal(size=3)
    for shape in (None, (1, 2, 4), (1, 2, 2, 2)):
        model = topwork.head_model(weights, bias, loss=loss, shape=shape)
        assert model.inputs[0].shape == (shape or (1, 8))
        x = RANDOM.normal(size=8)
        got, = topwork.Session(model).run(x.reshape(shape or (1, 8)).astype(np.float32))
        np.testing.assert_allclose(got[0], last(weights @ x + bias), atol=1e-5)
    assert topwork.read_head(model)["head/weights"].shape == (3, 8)


def test_head_model_of_one_output():
    """As models for wake words have."""
    model = topwork.head_model(RANDOM.normal(size=(1, 8)), [0.5])
    assert model.outputs[0].shape == (1, 1)
    np.testing.assert_allclose(topwork.Session(model).run(np.zeros((1, 8), np.float32))[0], 1 / (1 + np.exp(-.5)), atol=1e-6)


def test_head_model_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match="are not"):
        topwork.head_model(np.zeros((2, 8)), np.zeros(3))
    with pytest.raises(ValueError, match="does not hold one example of 8 features"):
        topwork.head_model(np.zeros((2, 8)), np.zeros(2), shape=(1, 9))
    with pytest.raises(ValueError, match="does not hold one example of 8 features"):
        topwork.head_model(np.zeros((2, 8)), np.zeros(2), shape=(2, 4))


def resident_kb(path):
    """Of a mapped file."""
    found = 0
    with open("/proc/self/smaps", encoding="utf-8") as maps:
        for line in maps:
            if str(path) in line:
                found += next(int(part.split()[1]) for part in maps if part.startswith("Rss:"))
    return found


def test_a_large_file_is_not_held_twice():
    """What the new model has of a mapped one leaves memory there as it is copied."""
    path = ZOO / "efficientnet_lite0_fp16.tflite"
    model = topwork.Model.open(path)
    whole = topwork._core.file_of(model)
    assert whole.any() and np.count_nonzero(whole) > 0
    before = resident_kb(path)
    if before < len(whole) // 1024:
        pytest.skip("/proc/self/smaps does not tell what is in memory")
    rows = np.zeros((2, model.head()["n_features"]), np.float32)
    made = topwork.with_head(model, {"head/weights": rows, "head/bias": np.zeros(2, np.float32)}, ["a", "b"])
    assert len(bytes(made)) > len(whole) / 2
    assert resident_kb(path) < before / 2


def test_weights_of_other_programs():
    """A logistic regression of scikit-learn inside a model."""
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    X, y = embeddings(60, 6, 3)
    theirs = linear.LogisticRegression().fit(X, y)
    model = topwork.head_model(theirs.coef_, theirs.intercept_, loss="softmax")
    session = topwork.Session(model)
    np.testing.assert_allclose(np.concatenate([session.run(x[None])[0] for x in X]), theirs.predict_proba(X), atol=1e-5)
