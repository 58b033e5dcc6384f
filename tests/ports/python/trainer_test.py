"""topwork.Trainer: what it learns, exports, refuses; scikit-learn's own checks of an estimator."""
import os
import pathlib
import pickle
import signal
import threading

import numpy as np
import pytest

import topwork
from topwork import errors

ROOT = pathlib.Path(__file__).resolve().parents[3]
DIGITS = ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"


def blobs(n=90, n_classes=3, n_features=6, seed=1):
    generator = np.random.default_rng(seed)
    labels = np.arange(n) % n_classes
    centres = np.random.default_rng(0).normal(size=(n_classes, n_features)) * 3
    return (centres[labels] + generator.normal(size=(n, n_features))).astype(np.float32), labels


def strokes(n=60, seed=1):
    """Pictures [n, 8, 8, 1]: a vertical, a horizontal or no stroke."""
    generator = np.random.default_rng(seed)
    images = generator.random((n, 8, 8, 1)).astype(np.float32) * 0.2
    labels = np.array(["column", "none", "row"])[np.arange(n) % 3]
    for i, label in enumerate(labels):
        at = generator.integers(1, 7)
        if label == "column":
            images[i, :, at] = 1
        elif label == "row":
            images[i, at] = 1
    return images, labels


def test_exported_model_answers_as_the_trainer():
    images, labels = strokes()
    trainer = topwork.Trainer(DIGITS).fit(images, labels)
    others, truth = strokes(seed=2)
    assert trainer.score(others, truth) > 0.8
    assert trainer.classes_.tolist() == ["column", "none", "row"]
    model = trainer.export()
    assert model.labels == ["column", "none", "row"] and model.outputs[0].shape == (1, 3)
    session = topwork.Session(model)
    answers = np.concatenate([session.run(image[None])[0] for image in others])
    np.testing.assert_allclose(answers, trainer.predict_proba(others), atol=1e-5)


def inverted(n=160, seed=1):
    """Strokes, half of them with dark and bright changed: what the network before the last layer has to learn anew."""
    images, labels = strokes(n, seed)
    images[::2] = 1 - images[::2]
    return images, labels


def test_as_many_layers_as_help():
    images, labels = inverted()
    trainer = topwork.Trainer(DIGITS, n_layers="auto", n_epochs=40, learning_rate=0.003).fit(images, labels)
    rows = trainer.depths_
    shapes = [(row["n_layers"], row["n_projected"], row["n_hidden"]) for row in rows]
    assert shapes[:4] == [(1, 0, 0), (1, 1024, 0), (1, 0, 64), (2, 0, 0)]
    assert [row["n_layers"] for row in rows[2:]] == list(range(1, len(rows) - 1))
    fixed = topwork.Trainer(DIGITS, n_layers=2, optimizer="adam", n_epochs=40, learning_rate=0.003,
                            options={"keep_held_back": 1}).fit(images, labels)
    assert rows[3]["loss"] == fixed.evaluate()["loss"]
    right = [row.get("accuracy", 0.0) for row in rows]
    audited = fixed.audit()["examples"]
    assert right[3] == pytest.approx(np.mean([row["suggested"] == row["label"] for row in audited]))
    taken = shapes.index((trainer.n_layers_, trainer.n_projected_, trainer.n_hidden_))
    assert right[taken] == max(right[:taken + 1]) and trainer.n_layers_ > 1
    others, truth = inverted(seed=2)
    assert trainer.score(others, truth) > 0.8
    # Where nothing is wrong, nothing else is tried.
    assert len(topwork.Trainer(n_layers="auto").fit(*blobs()).depths_) == 1
    # A dense layer on features has nothing before it.
    points, names = blobs()
    names[::7] = names[0]
    alone = topwork.Trainer(n_layers="auto").fit(points, names)
    assert alone.n_layers_ == 1 and "skipped" in alone.depths_[-1]


def test_a_projection_where_it_helps():
    """Rings in a plane: no head of their two coordinates tells them apart."""
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 300)
    angles, radii = rng.uniform(0, 2 * np.pi, 300), 1 + labels + 0.1 * rng.normal(size=300)
    X = (radii * np.array([np.cos(angles), np.sin(angles)])).T.astype(np.float32)
    trainer = topwork.Trainer(n_layers="auto").fit(X[:200], labels[:200])
    assert (trainer.n_layers_, trainer.n_projected_, trainer.n_hidden_) == (1, 1024, 0)
    assert trainer.score(X[200:], labels[200:]) > 0.95
    assert topwork.Trainer().fit(X[:200], labels[:200]).score(X[200:], labels[200:]) < 0.8
    again = topwork.Trainer(options={"head.n_projected": 1024}).fit(X[:200], labels[:200])
    assert again.info["candidates"][0][0] == "ridge"


def test_features_are_kept(tmp_path):
    images, labels = strokes()
    cached = [topwork.Trainer(DIGITS, cache_path=path).fit(images, labels).info["n_cached"]
              for path in (tmp_path / "features", str(tmp_path / "features"))]
    assert cached == [0, len(images)]


def test_features_are_computed_once_for_trials_and_training():
    """Each kind of features, of one layer and of two, comes from the trial's file, which is gone afterwards."""
    images, labels = strokes()
    trainer = topwork.Trainer(DIGITS, n_layers="auto").fit(images, labels)
    assert trainer.n_layers_ == 1 and trainer.info["n_cached"] == len(images)
    trainer.partial_fit(images[:9], labels[:9])
    assert trainer.info["n_examples"] == len(images) + 9
    images, labels = inverted()
    trainer = topwork.Trainer(DIGITS, n_layers="auto", n_epochs=40, learning_rate=0.003).fit(images, labels)
    assert trainer.n_layers_ > 1 and trainer.info["n_cached"] == len(images)


def test_features_of_each_depth_are_kept(tmp_path):
    """A file of the user's and those beside it: neither trials nor the next run compute anything anew."""
    images, labels = inverted()
    for kept in (0, len(images)):
        trainer = topwork.Trainer(DIGITS, n_layers="auto", n_epochs=40, learning_rate=0.003, cache_path=tmp_path / "features")
        before = {path.name for path in tmp_path.iterdir()}
        trainer.fit(images, labels)
        assert trainer.n_layers_ > 1 and trainer.info["n_cached"] == len(images)
        tried = {row["n_layers"] for row in trainer.depths_ if "skipped" not in row}
        assert {"features", *(f"features.{n}" for n in tried if n > 1)} <= {path.name for path in tmp_path.iterdir()}
        assert bool(before) == bool(kept)


def test_depths_are_compared_by_their_errors():
    from topwork.depth import is_better
    losses = np.array([1.0, 2.0, 3.0, 4.0])
    assert is_better(losses, losses - [0.4, 0.5, 0.6, 0.5])
    assert not is_better(losses, losses - [2.0, -2.0, 1.5, -1.0])
    assert not is_better(losses, losses)


def test_automatic_depth_says_what_it_needs():
    images, labels = strokes()
    with pytest.raises(ValueError, match="validation_fraction above 0"):
        topwork.Trainer(DIGITS, n_layers="auto", validation_fraction=0.0).fit(images, labels)
    with pytest.raises(ValueError, match="call fit"):
        topwork.Trainer(DIGITS, n_layers="auto").partial_fit(images, labels)
    with pytest.raises(ValueError, match='give a number or "auto"'):
        topwork.Trainer(DIGITS, n_layers="deep").fit(images, labels)


@pytest.mark.parametrize("optimizer", [None, "adam", "sgd", "lbfgs", "ridge", "imprint"])
def test_heads_without_a_backbone(optimizer):
    X, y = blobs()
    trainer = topwork.Trainer(optimizer=optimizer, n_epochs=30).fit(X, y)
    test, truth = blobs(seed=2)
    assert trainer.score(test, truth) > 0.9
    assert len(trainer.history_) == (30 if optimizer in (None, "adam", "sgd") else len(trainer.history_))
    assert trainer.info["optimizer"] == (optimizer or "adam")
    again = topwork.Trainer(optimizer=optimizer, n_epochs=30, n_threads=1).fit(X, y)
    np.testing.assert_array_equal(again.predict_proba(test), trainer.predict_proba(test))


@pytest.mark.parametrize("given", [{"n_epochs": 50}, {"batch_size": 8}, {"n_hidden": 4}, {"options": {"loss.focal_gamma": 2.0}},
                                   {"learning_rate": 0.1, "balance": "weights"}, {"balance": "repeat"}])
def test_the_automatic_head_takes_no_steps(given):
    """With an option of steps the default is Adam, and says so; who names "auto" hears that they exclude each other."""
    X, y = blobs()
    if "options" in given:
        y = np.stack([y == 0, y != 2], axis=1)
    loss = "sigmoid" if "options" in given else "softmax"
    name = next(iter(given))
    with pytest.raises(ValueError, match=f'"auto" takes no steps, which {name}=.*: leave optimizer out, or name .adam'):
        topwork.Trainer(loss=loss, optimizer="auto", **given).fit(X, y)
    assert topwork.Trainer(loss=loss, **given).fit(X, y).info["optimizer"] == "adam"
    assert topwork.Trainer(loss=loss, optimizer="auto").fit(X, y).info["optimizer"] == "auto"


@pytest.mark.parametrize(("X", "y", "more", "said"), [
    (["a.png", "b.png"], [0, 1], {}, "text, not numbers or pictures: open files first"),
    (None, ["a", None, "b", "a"], {}, "labels must be of one type.*NoneType, str"),
    (None, [0, 1, 0, 1], {"groups": ["a", "b", "a", "b"]}, "one integer for each example"),
    (None, [0, 1, 0, 1], {"groups": [0.5, 1, 2, 3]}, "one integer for each example")])
def test_wrong_examples_are_named(X, y, more, said):
    with pytest.raises((TypeError, ValueError), match=said):
        topwork.Trainer().fit(np.eye(4) if X is None else X, y, **more)


def test_wrong_targets_are_named():
    with pytest.raises(ValueError, match="0, 1 or between; this one goes from 0 to 2"):
        topwork.Trainer(loss="sigmoid").fit(np.eye(4), [[0, 2], [1, 0], [0, 1], [1, 1]])
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    with pytest.raises(TypeError, match=r"X holds pictures, but X\[1\] is of type str"):
        topwork.Trainer(DIGITS).fit([image.new("L", (8, 8)), "a.png"], [0, 1])
    X, y = blobs()
    with pytest.raises(ValueError, match=r"y has shape \(3,\), the predictions \(90,\)"):
        topwork.Trainer().fit(X, y).score(X, y[:3])


def test_regression_is_least_squares():
    X, _ = blobs(n=200)
    weights = np.array([[1, 2], [0, 1], [-1, 0], [3, 0], [0, 0], [0, -2]], np.float32)
    y = X @ weights + [0.5, -1]
    trainer = topwork.Trainer(loss="mse", optimizer="ridge").fit(X, y)
    assert trainer.score(X, y) > 0.98
    assert topwork.Trainer(loss="mse").fit(X, y[:, 0]).predict(X).shape == (200,)
    with pytest.raises(AttributeError):
        trainer.predict_proba  # noqa: B018
    parameters = trainer.get_parameters()
    assert parameters["head/weights"].shape == (2, 6)
    parameters["head/weights"][:] = 0
    trainer.set_parameters(parameters)
    assert np.ptp(trainer.predict(X), axis=0).max() == 0


def test_several_classes_an_example():
    X, y = blobs()
    targets = np.stack([y == 0, y != 2], axis=1).astype(int)
    trainer = topwork.Trainer(loss="sigmoid").fit(X, targets)
    assert trainer.predict(X).shape == (90, 2) and trainer.score(X, targets) > 0.9


def drawn_targets(n, seed):
    """Features, and classes of which each is there with its own probability: half, one in ten and one in thirty of the
    examples have it."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 20)).astype(np.float32)
    weights = np.random.default_rng(0).normal(size=(20, 3)) * [1.0, 0.5, 0.7]
    return X, (generator.random((n, 3)) < 1 / (1 + np.exp(-X @ weights - [0, -2.8, -5]))).astype(np.float32)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_probabilities_of_several_classes_are_right(seed):
    """Of new examples: their mean is the share that has the class, also of rare ones, and they lose less than those of the
    shares alone, and no more than scikit-learn's."""
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn is not installed")
    X, Y = drawn_targets(300, seed)
    new, truth = drawn_targets(20000, seed + 10)
    ours = topwork.Trainer(loss="sigmoid", validation_fraction=0.0).fit(X, Y).predict_proba(new)
    theirs = np.stack([linear.LogisticRegression().fit(X, column).predict_proba(new)[:, 1] for column in Y.T], axis=1)
    shares = np.broadcast_to(Y.mean(axis=0), truth.shape)
    lost = [-np.log(np.where(truth > 0, p, 1 - p)).mean(axis=0) for p in (ours, theirs, shares)]
    error = np.sqrt(Y.mean(axis=0) * (1 - Y.mean(axis=0)) / len(Y))  # of a share among those that teach
    assert (np.abs(ours.mean(axis=0) - truth.mean(axis=0)) < 3 * error).all()
    assert (lost[0] < lost[2]).all() and lost[0].mean() < lost[1].mean()


def test_partial_fit_adds_examples_and_classes():
    X, y = blobs()
    trainer = topwork.Trainer()
    known = y < 2
    trainer.partial_fit(X[known], y[known], classes=[0, 1])
    assert trainer.predict_proba(X).shape == (90, 2)
    trainer.partial_fit(X, y)
    assert trainer.classes_.tolist() == [0, 1, 2] and trainer.info["n_examples"] == 150
    assert trainer.score(*blobs(seed=3)) > 0.9
    named = topwork.Trainer().fit(X, y.astype(str))
    with pytest.raises(errors.InvalidArgumentError, match="empty name"):
        named.partial_fit(X[:2], np.array(["", "x"]))
    assert named.classes_.tolist() == ["0", "1", "2"]
    named.partial_fit(X[:2], np.array(["x", "x"]))
    assert named.classes_.tolist() == ["0", "1", "2", "x"] and named.info["n_examples"] == 92


def test_groups_are_split_together_and_evaluate_judges():
    X, y = blobs(n=120)
    for wrong in (np.arange(120) + 2**32, np.arange(120) - 2, np.arange(120) / 10):
        with pytest.raises(ValueError, match="groups"):
            topwork.Trainer().fit(X, y, groups=wrong)
    trainer = topwork.Trainer().fit(X, y, groups=np.arange(120) // 10)
    assert trainer.info["n_validation"] % 10 == 0
    result = trainer.evaluate()
    assert result["n_examples"] == trainer.info["n_validation"] and len(result["confusion"]) == 3
    own = trainer.evaluate(X, y)
    assert own["accuracy"] == pytest.approx(trainer.score(X, y))
    assert trainer.calibrate()["temperature"] > 0


def test_pictures_of_pil():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    images, labels = strokes()
    pixels = (images * 255).astype(np.uint8)
    pil = [image.fromarray(one[:, :, 0]).resize((8, 8)) for one in pixels]
    trainer = topwork.Trainer(DIGITS, input_scale=([0.0], [255.0])).fit(pil, labels)
    np.testing.assert_allclose(trainer.predict_proba(pil), trainer.predict_proba(pixels / np.float32(255)), atol=1e-6)
    np.testing.assert_array_equal(trainer.predict_proba(pil), trainer.predict_proba(pixels))
    colour = image.new("RGB", (30, 20), (255, 255, 255))
    assert trainer.predict([colour]).shape == (1,)


class Opened:
    """Pictures that are opened one by one; the one of index `broken` cannot be."""

    def __init__(self, pictures, broken=-1):
        self.pictures, self.broken, self.n_opened = pictures, broken, 0

    def __len__(self):
        return len(self.pictures)

    def __getitem__(self, index):
        if index == self.broken:
            raise OSError("picture 7 is cut off")
        self.n_opened += 1
        return self.pictures[index]


def test_pictures_are_opened_one_by_one():
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")
    images, labels = strokes()
    pil = [image.fromarray(one[:, :, 0]).resize((8, 8)) for one in (images * 255).astype(np.uint8)]
    opened = Opened(pil)
    trainer = topwork.Trainer(DIGITS, input_scale=([0.0], [255.0])).fit(opened, labels)
    assert opened.n_opened <= len(pil) + 3  # the first is looked at, too
    same = topwork.Trainer(DIGITS, input_scale=([0.0], [255.0])).fit(pil, labels)
    np.testing.assert_array_equal(trainer.predict_proba(Opened(pil)), same.predict_proba(pil))
    assert trainer.n_features_in_ == same.n_features_in_ == 64
    n_examples = trainer.info["n_examples"]
    with pytest.raises(OSError, match="picture 7 is cut off"):
        trainer.partial_fit(Opened(pil, broken=7), labels)
    with pytest.raises(OSError, match="picture 7 is cut off"):
        trainer.predict(Opened(pil, broken=7))
    assert trainer.info["n_examples"] == n_examples
    with pytest.raises(OSError, match="picture 7 is cut off"):
        topwork.quantize(trainer.export(), "int8", Opened(pil, broken=7))


def test_pickle_keeps_the_answers():
    X, y = blobs()
    for options, target in (({}, y), ({"loss": "mse"}, y.astype(float)), ({"n_hidden": 8, "optimizer": "adam"}, y)):
        trainer = topwork.Trainer(**options).fit(X, target)
        copy = pickle.loads(pickle.dumps(trainer))
        np.testing.assert_allclose(copy.predict(X), trainer.predict(X), atol=1e-5)
        assert copy.get_params() == trainer.get_params()


def test_progress_stops_and_history_stays():
    X, y = blobs()
    seen = []

    def progress(epoch):
        seen.append(epoch["epoch"])
        return epoch["epoch"] < 3

    trainer = topwork.Trainer(optimizer="adam", progress=progress).fit(X, y)
    assert seen == [1, 2, 3] == [epoch["epoch"] for epoch in trainer.history_]


def test_a_second_call_is_refused():
    X, y = blobs()
    refused = []

    def progress(epoch):
        try:
            trainer.predict(X)
        except errors.FailedPreconditionError as error:
            refused.append(str(error))
        return False

    trainer = topwork.Trainer(optimizer="adam", progress=progress)
    trainer.fit(X, y)
    assert refused == ["the trainer is at work in another call"]


def test_progress_bar(capsys):
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    topwork.Trainer(optimizer="adam", n_epochs=5, progress=True).fit(*blobs())
    assert "training" in capsys.readouterr().err


def test_html_shows_heads_course_and_confusions():
    X, y = blobs()
    names = np.array(["<a>", "b", "c"])[y]
    auto = topwork.Trainer().fit(X, names)._repr_html_()
    assert "ridge" in auto and "&lt;a&gt;" in auto and "<a>" not in auto and "<rect" in auto
    assert "polyline" in topwork.Trainer(optimizer="adam").fit(X, y)._repr_html_()
    assert "Trainer" in topwork.Trainer(n_epochs=3)._repr_html_()


def test_ctrl_c_ends_training():
    X, y = blobs(n=20_000, n_features=200)
    trainer = topwork.Trainer(optimizer="adam", n_epochs=100_000)
    threading.Timer(1.0, signal.raise_signal, [signal.SIGINT]).start()
    with pytest.raises(KeyboardInterrupt):
        trainer.fit(X, y)
    assert trainer.predict(X[:2]).shape == (2,)  # it stays usable


@pytest.mark.parametrize("call, kind, words", [
    (lambda: topwork.Trainer().predict(blobs()[0]), ValueError, "not fitted"),
    (lambda: topwork.Trainer(optimizer="newton").fit(*blobs()), ValueError, "'ridge'"),
    (lambda: topwork.Trainer(options={"no.such": 1}).fit(*blobs()), TypeError, "no.such"),
    (lambda: topwork.Trainer(options={"head.dropout": "x"}).fit(*blobs()), TypeError, "head.dropout"),
    (lambda: topwork.Trainer("no/such.tflite").fit(*blobs()), errors.FileError, "no/such"),
    (lambda: topwork.Trainer(DIGITS).fit(*blobs()), ValueError, "shape"),
    (lambda: topwork.Trainer().fit(blobs()[0], np.zeros(90)), ValueError, "one class"),
    (lambda: topwork.Trainer(loss="sigmoid").fit(*blobs()), ValueError, "n_classes"),
    (lambda: topwork.Trainer(validation_fraction=0).fit(*blobs()).evaluate(), errors.FailedPreconditionError, ""),
    (lambda: topwork.Trainer().fit(*blobs()).set_parameters({"x": np.zeros(1)}), errors.NotFoundError, "x"),
])
def test_refusals_say_why(call, kind, words):
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


# Checks of scikit-learn that cannot run here, and why.
SKIPPED = {
    "check_array_api_input": "it needs SCIPY_ARRAY_API in the environment",
    "check_classifier_data_not_an_array": "it needs pandas",
    "check_regressor_data_not_an_array": "it needs pandas",
}


@pytest.mark.parametrize("loss", ["softmax", "mse"])
def test_scikit_learn_accepts_the_estimator(loss):
    checks = pytest.importorskip("sklearn.utils.estimator_checks", reason="scikit-learn is not installed")
    results = checks.check_estimator(topwork.Trainer(loss=loss), on_skip=None, on_fail=None)
    for result in results:
        if result["status"] == "skipped":
            print(f"SKIP {result['check_name']}: {SKIPPED[result['check_name']]}")
            continue
        assert result["status"] == "passed", f"{result['check_name']}: {result['exception']!r}"
    assert len(results) > 45


def test_scikit_learn_searches_and_pipelines():
    search = pytest.importorskip("sklearn.model_selection", reason="scikit-learn is not installed")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    X, y = blobs()
    grid = search.GridSearchCV(topwork.Trainer(optimizer="adam", n_epochs=5), {"n_hidden": [0, 4]}, cv=3).fit(X, y)
    assert grid.best_score_ > 0.8
    assert make_pipeline(StandardScaler(), topwork.Trainer()).fit(X, y).score(X, y) > 0.9


def test_what_is_not_fitted_says_so_as_scikit_learn_does():
    exceptions = pytest.importorskip("sklearn.exceptions", reason="scikit-learn is not installed")
    with pytest.raises(exceptions.NotFittedError, match="call fit first"):
        topwork.Trainer().predict(blobs()[0])
    assert repr(topwork.Trainer(loss="mse", seed=7)) == "Trainer(loss='mse', seed=7)"


@pytest.mark.parametrize("missing", ["sys.modules['sklearn'] = None", ""])
def test_without_scikit_learn(tmp_path, missing):
    """Also where it is installed, a training does not import it: that would take longer."""
    import subprocess
    import sys
    script = (f"import sys; {missing}\nimport numpy as np, topwork\n"
              "t = topwork.Trainer(n_epochs=3)\nassert t.get_params()['n_epochs'] == 3\n"
              "t.set_params(seed=5).fit(np.eye(8, 4, dtype='f4') + np.arange(8)[:, None], np.arange(8) % 2)\n"
              "try: topwork.Trainer().predict(np.eye(8))\nexcept ValueError: pass\n"
              "assert not sys.modules.get('sklearn')\n"
              "print(t.predict(np.eye(8, 4, dtype='f4')).shape)\n")
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True,
                          env=dict(os.environ))
    assert done.stdout == "(8,)\n", done.stderr


def test_audit_finds_wrong_labels():
    """Of features in clear clusters, those that were given another label are the suspects, most doubtful first."""
    random = np.random.default_rng(11)
    y = np.arange(90) % 3
    X = (np.eye(3)[y] * 4 + random.normal(size=(90, 3)) * .5).astype(np.float32)
    wrong = [5, 22, 60]
    names = np.array(["a", "b", "c"])
    given = names[y]
    given[wrong] = names[(y[wrong] + 1) % 3]
    trainer = topwork.Trainer().fit(X, given)
    judged = trainer.audit()
    assert len(judged["examples"]) == 90 and sorted(e["index"] for e in judged["examples"]) == list(range(90))
    suspects = [e for e in judged["examples"] if e["is_suspect"]]
    assert sorted(e["index"] for e in suspects) == wrong and judged["n_suspects"] == 3
    for example in suspects:
        assert example["label"] == given[example["index"]] and example["suggested"] == names[y[example["index"]]]
        assert example["margin"] < 0 and example["probability"] < .5 and example["value"] < 0
    probabilities = [e["probability"] for e in judged["examples"]]
    assert probabilities == sorted(probabilities) and 0.01 < judged["noise"] < 0.1
    assert judged["near_duplicates"]["n_checked"] == trainer.info["n_validation"]
    with pytest.raises(topwork.errors.UnsupportedError):
        topwork.Trainer(loss="mse").fit(X, X[:, 0]).audit()
