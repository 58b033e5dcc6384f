"""Accuracy of trained last layers beside scikit-learn's LogisticRegression on the same features.

  python accuracy_sklearn.py TOPWORK_HEAD_ACCURACY [--quick] [--seeds N] [--rows FILE]

Each seed splits each data set anew: two thirds to train on, one third to judge. Adam has the
library's defaults; L-BFGS has LogisticRegression's objective (L2 of 1 / n, its C = 1) and goes on
until it converges. Fails when the mean difference on a set is worse than WORST points; --quick (few
examples, which is noisier) allows more. CIFAR-10 is used where TOPWORK_SHARED has it.
"""

import argparse
import pathlib
import sys
import tempfile
import warnings

import peers

peers.need("numpy", "ai_edge_litert", "sklearn")

import numpy as np  # noqa: E402
from sklearn.exceptions import ConvergenceWarning  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import train_test_split  # noqa: E402

import feature_sets  # noqa: E402

WORST = {"adam": -0.5, "lbfgs": -0.5}
WORST_QUICK = {"adam": -4.0, "lbfgs": -1.0}


def reference(x, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return LogisticRegression(max_iter=2000).fit(x, y)


def compare(bench, folder, x, y, seed):
    """Percent right of LogisticRegression, Adam and L-BFGS."""
    train, test, y_train, y_test = train_test_split(x, y, test_size=1 / 3, random_state=seed,
                                                    stratify=y)
    problem = feature_sets.Problem(bench, folder, (train, y_train), (test, y_test), int(y.max()) + 1)
    adam = problem.train(optimizer="adam", seed=seed)
    lbfgs = problem.train(optimizer="lbfgs", epochs=1000, weight_decay=1 / len(train))
    expected = reference(train, y_train).score(test, y_test)
    return 100 * np.array([expected, adam[0], lbfgs[0]])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench", help="path of topwork_head_accuracy")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=24)
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    worst = WORST_QUICK if arguments.quick else WORST
    failures = 0
    with tempfile.TemporaryDirectory() as folder, feature_sets.one_thread():
        for name, (x, y) in feature_sets.load(arguments.quick).items():
            rows = np.stack([compare(arguments.bench, pathlib.Path(folder), x, y, seed)
                             for seed in range(arguments.seeds)])
            print(f"{name}: {len(x)} examples, LogisticRegression {rows[:, 0].mean():.2f} %")
            for column, side in enumerate(worst, 1):
                each = rows[:, column] - rows[:, 0]
                error = each.std(ddof=1) / np.sqrt(len(each))
                bad = each.mean() < worst[side]
                failures += bad
                table.add(f"{len(x)} {name}", {"adam": "Adam", "lbfgs": "L-BFGS"}[side],
                          rows[:, column].mean(), rows[:, 0].mean(), runs=rows[:, [column, 0]].tolist())
                print(f"  {side:6} {rows[:, column].mean():.2f} %, difference {each.mean():+.2f} "
                      f"+- {error:.2f} points; each {' '.join(f'{d:+.1f}' for d in each)}"
                      + (f"  FAIL: worse than {worst[side]}" if bad else ""))
    table.write(arguments.rows)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
