"""Few-shot accuracy: imprinting alone, imprinting as the start of training, and scikit-learn.

  python few_shot.py TOPWORK_HEAD_ACCURACY [--quick] [--seeds N] [--rows FILE]

Each seed takes 1, 5 and 10 examples a class to train on and judges on the rest (1000 at most). Adam
has the library's defaults, L-BFGS the L2 penalty of LogisticRegression, 1 / n. Prints percent right,
mean and standard deviation over the seeds. Fails where L-BFGS is more than a point behind
LogisticRegression in the mean, or where with 10 examples training has lost more than 3 points of
what imprinting alone gave.
"""

import argparse
import pathlib
import sys
import tempfile

import peers

peers.need("numpy", "ai_edge_litert", "sklearn")

import numpy as np  # noqa: E402

import accuracy_sklearn  # noqa: E402
import feature_sets  # noqa: E402

SHOTS = (1, 5, 10)
MOST_TESTED = 1000
SIDES = ("imprint", "imprint + Adam", "imprint + L-BFGS", "Adam", "L-BFGS", "LogisticRegression")


def choose(y, shots, seed):
    """Row numbers of `shots` examples of each class, and of the examples to judge on."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    train = np.concatenate([order[y[order] == c][:shots] for c in range(y.max() + 1)])
    test = np.setdiff1d(order, train)
    return train, rng.permutation(test)[:MOST_TESTED]


def compare(bench, folder, x, y, shots, seed):
    train, test = choose(y, shots, seed)
    problem = feature_sets.Problem(bench, folder, (x[train], y[train]), (x[test], y[test]),
                                   int(y.max()) + 1)
    solver = {"optimizer": "lbfgs", "epochs": 1000, "weight_decay": 1 / len(train)}
    runs = [{"optimizer": "imprint"}, {"init": "imprint", "seed": seed},
            {"init": "imprint", **solver}, {"optimizer": "adam", "seed": seed}, solver]
    accuracies = [problem.train(**options)[0] for options in runs]
    expected = accuracy_sklearn.reference(x[train], y[train])
    return 100 * np.array([*accuracies, expected.score(x[test], y[test])])


def judge(mean, shots):
    """What is wrong with the means of the sides."""
    of = dict(zip(SIDES, mean))
    if of["L-BFGS"] < of["LogisticRegression"] - 1:
        return "L-BFGS is more than a point behind LogisticRegression"
    trained = min(of["imprint + Adam"], of["imprint + L-BFGS"])
    if shots == 10 and trained < of["imprint"] - 3:
        return "training lost more than 3 points of imprinting"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench", help="path of topwork_head_accuracy")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=10)
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    failures = 0
    print(f"{'':30} {'a class':>7}  " + "  ".join(f"{side:>18}" for side in SIDES))
    with tempfile.TemporaryDirectory() as folder, feature_sets.one_thread():
        for name, (x, y) in feature_sets.load(arguments.quick).items():
            for shots in SHOTS:
                rows = np.stack([compare(arguments.bench, pathlib.Path(folder), x, y, shots, seed)
                                 for seed in range(arguments.seeds)])
                cells = [f"{m:.1f} +- {s:.1f}" for m, s in zip(rows.mean(0), rows.std(0, ddof=1))]
                for column, side in enumerate(SIDES[:-1]):
                    table.add(f"{name}, {shots} a class", side, rows[:, column].mean(),
                              rows[:, -1].mean(), runs=rows[:, [column, -1]].tolist())
                problem = judge(rows.mean(0), shots)
                failures += problem is not None
                print(f"{name:30} {shots:7}  " + "  ".join(f"{cell:>18}" for cell in cells)
                      + (f"  FAIL: {problem}" if problem else ""), flush=True)
    table.write(arguments.rows)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
