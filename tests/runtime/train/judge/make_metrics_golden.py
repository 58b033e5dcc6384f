"""Writes tests/data/train/metrics.npz: scores, targets, and what scikit-learn and SciPy say of them.

  python make_metrics_golden.py [OUTPUT]

soft_*: logits [N, C] and labels of a classifier; multi_*: logits and targets [N, C] of a multi-label
one (ties among the scores; the last output has no positives); reg_*: predictions and targets [N, K]
(the last output's targets are constant). <kind>_expected are rows of numbers in the order in which
metrics_test.cc reads them. *_temperature: [T, loss before, loss after], by SciPy's bounded scalar
minimisation. Needs numpy, scipy and scikit-learn.
"""

import pathlib
import sys

import numpy as np
from scipy import optimize, special
from sklearn import metrics

N, C, K = 300, 7, 3


def log_loss_soft(z, y):
    return -np.mean(special.log_softmax(z, axis=1)[np.arange(len(y)), y])


def log_loss_multi(z, t):
    return np.mean(np.logaddexp(0, z) - t * z)


def temperature(loss, z, y):
    best = optimize.minimize_scalar(lambda log_b: loss(z * np.exp(log_b), y), method="bounded",
                                    bounds=(np.log(0.01), np.log(100)), options={"xatol": 1e-11})
    return np.array([np.exp(-best.x), loss(z, y), best.fun])


def calibration_error(confidence, right, bins=15):
    """Mean distance of confidence and accuracy, by the definition."""
    edges = np.linspace(0, 1, bins + 1)
    error, rows = 0.0, []
    for low, high in zip(edges[:-1], edges[1:]):
        inside = (confidence > low) & (confidence <= high)
        n = inside.sum()
        rows.append([n, confidence[inside].mean() if n else 0, right[inside].mean() if n else 0])
        error += n / len(confidence) * abs(rows[-1][1] - rows[-1][2])
    return error, np.array(rows)


def soft(rng):
    y = rng.integers(0, C, N)
    z = (6.0 * rng.normal(size=(N, C)) + 8.0 * np.eye(C)[y]).astype(np.float32)
    z64 = z.astype(np.float64)
    said = z.argmax(axis=1)
    table = np.stack(metrics.precision_recall_fscore_support(y, said, zero_division=0))
    macro = metrics.precision_recall_fscore_support(y, said, average="macro", zero_division=0)[:3]
    error, bins = calibration_error(special.softmax(z64, axis=1).max(axis=1), said == y)
    expected = [log_loss_soft(z64, y), metrics.accuracy_score(y, said),
                metrics.top_k_accuracy_score(y, z, k=3), *macro, error]
    return {"soft_logits": z, "soft_labels": y.astype(np.int32), "soft_expected": expected,
            "soft_classes": table, "soft_bins": bins,
            "soft_confusion": metrics.confusion_matrix(y, said),
            "soft_temperature": temperature(log_loss_soft, z64, y)}


def multi(rng):
    t = (rng.random((N, C)) < 0.3).astype(np.float32)
    t[:, -1] = 0
    z = np.round(4.0 * rng.normal(size=(N, C)) + 5.0 * t - 2.0, 1).astype(np.float32)
    z64 = z.astype(np.float64)
    said = z >= 0
    table = np.stack(metrics.precision_recall_fscore_support(t, said, zero_division=0))
    average = [metrics.average_precision_score(t[:, c], z[:, c]) for c in range(C - 1)]
    macro = metrics.precision_recall_fscore_support(t, said, average="macro", zero_division=0)[:3]
    p = special.expit(z64)
    error, bins = calibration_error(np.maximum(p, 1 - p).ravel(), (said == t).ravel())
    expected = [log_loss_multi(z64, t), (said == t).mean(), metrics.accuracy_score(t, said), *macro,
                error, np.mean(average)]
    return {"multi_logits": z, "multi_targets": t, "multi_expected": expected,
            "multi_classes": np.vstack([table, [*average, 0.0]]), "multi_bins": bins,
            "multi_temperature": temperature(log_loss_multi, z64, t)}


def regression(rng):
    t = (10.0 * rng.normal(size=(N, K)) + 1000.0).astype(np.float32)
    t[:, -1] = 3.0
    z = (t + rng.normal(size=(N, K)) * [1, 20, 1]).astype(np.float32)
    t64, z64 = t.astype(np.float64), z.astype(np.float64)
    raw = {"multioutput": "raw_values"}
    table = np.stack([metrics.mean_absolute_error(t64, z64, **raw),
                      metrics.root_mean_squared_error(t64, z64, **raw),
                      metrics.r2_score(t64, z64, **raw)])
    e = np.abs(z64 - t64)
    expected = [np.mean(e**2), metrics.mean_absolute_error(t64, z64), np.sqrt(np.mean(e**2)),
                metrics.r2_score(t64, z64), np.mean(np.where(e <= 2, e**2 / 2, 2 * (e - 1)))]
    return {"reg_predictions": z, "reg_targets": t, "reg_expected": expected, "reg_outputs": table}


def main():
    rng = np.random.default_rng(3)
    arrays = {**soft(rng), **multi(rng), **regression(rng)}
    arrays = {name: np.asarray(a if getattr(a, "dtype", None) in (np.float32, np.int32)
                               else np.asarray(a, np.float64)) for name, a in arrays.items()}
    default = pathlib.Path(__file__).parents[3] / "data" / "train" / "metrics.npz"
    np.savez(pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default, **arrays)


if __name__ == "__main__":
    main()
