"""What an installed wheel must do: import, run a model, train a few steps, export.

Usage: try_wheel.py MODEL    (models/zoo/digits_cnn_f32.tflite)
"""
import platform
import sys

import numpy as np

import topwork


def strokes(n, seed):
    """Pictures [n, 8, 8, 1] with a vertical stroke, a horizontal one or none."""
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


def main():
    model = topwork.Model.open(sys.argv[1])
    scores, = topwork.Session(model).run(np.full((1, 8, 8, 1), 0.5, np.float32))
    assert scores.shape == (1, 10) and abs(float(scores.sum()) - 1) < 1e-4, scores
    images, labels = strokes(45, 1)
    trainer = topwork.Trainer(model, optimizer="adam", n_epochs=30).fit(images, labels)
    losses = [epoch["train_loss"] for epoch in trainer.history_]
    assert losses[-1] < losses[0], losses
    others, truth = strokes(30, 2)
    score = trainer.score(others, truth)
    assert score > 0.6, score
    exported = topwork.Session(trainer.export())
    answer = exported.run(others[:1])[0]
    np.testing.assert_allclose(answer, trainer.predict_proba(others[:1]), atol=1e-5)
    print("Python %s on %s, numpy %s: ran, trained to %.2f of others right, exported"
          % (platform.python_version(), platform.machine(), np.__version__, score))


if __name__ == "__main__":
    main()
