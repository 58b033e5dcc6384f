"""Accuracy and time of the automatic head, of Adam and of scikit-learn's LogisticRegressionCV.

  python auto.py TOPWORK_HEAD_ACCURACY [--quick] [--seeds N] [--times] [--recordings DIR] [--rows FILE]

Each set is taught with 5, 20 and all examples a class ("all": two thirds of them) and judged on the
rest. LogisticRegressionCV has standardised features, 8 penalties and 5 folds; every side has one
thread. With --times the rows are milliseconds of training, medians of the seeds; else its features
are, after the first seed, rotated into the space of the examples, which changes no solution and is
many times faster. --recordings names a folder of spoken digits (spoken_digits.py), one more set.
Fails where the automatic head is in the mean more than 0.3 points behind it, takes more than 1/20 of
its time in sum, or is on a set more than 0.5 points (and two standard errors) behind Adam.
"""

import argparse
import pathlib
import sys
import tempfile
import time
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

peers.need("numpy", "ai_edge_litert", "sklearn")

import numpy as np  # noqa: E402
from sklearn import datasets  # noqa: E402
from sklearn.linear_model import LogisticRegressionCV  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402

import feature_sets  # noqa: E402
import few_shot  # noqa: E402
import spoken_digits  # noqa: E402

SIDES = ("auto", "Adam", "LogisticRegressionCV")
WRITERS = "digits by other writers, EfficientNet-Lite0"


def load(quick, recordings):
    """{name: (features, labels)}."""
    sets = {}
    for name in ("wine", "breast_cancer", "iris", "digits"):
        x, y = getattr(datasets, "load_" + name)(return_X_y=True)
        sets[name.replace("_", " ") + ", as it is"] = (x.astype(np.float32), y)
    if quick:
        return sets
    sets.update(feature_sets.load(quick))
    sets[WRITERS] = sets["digits, EfficientNet-Lite0"]
    spoken = recordings and spoken_digits.load(recordings)
    if spoken:
        sets["spoken digits, DS-CNN of commands"] = spoken
    return sets


def split(name, y, shots, seed):
    """Row numbers to train on and to judge on. The later digits are by other writers."""
    if name == WRITERS:
        order = np.random.default_rng(seed).permutation(len(y) // 2)
        train = np.concatenate([order[y[order] == c][:shots] for c in range(y.max() + 1)])
        return train, np.arange(len(y) // 2, len(y))
    most = 2 * len(y) // (3 * (y.max() + 1))
    return few_shot.choose(y, min(shots, most), seed)


def reference(train, test, y, rotated):
    """What LogisticRegressionCV says of the test examples, and its milliseconds."""
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    if rotated and train.shape[1] > len(train):
        axes = np.linalg.svd(train, full_matrices=False)[2].T
        train, test = train @ axes, test @ axes
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LogisticRegressionCV(Cs=8, cv=5).fit(train, y)
    return fitted.predict(test), 1000 * (time.perf_counter() - start)


def compare(bench, folder, name, x, y, shots, seed, rotated):
    """Percent right of the three sides, and milliseconds of the first and the last."""
    train, test = split(name, y, shots, seed)
    problem = feature_sets.Problem(bench, folder, (x[train], y[train]), (x[test], y[test]),
                                   int(y.max()) + 1)
    auto = problem.train(optimizer="auto", seed=seed, threads=1)
    adam = problem.train(optimizer="adam", seed=seed, threads=1)
    said, ms = reference(x[train].astype(np.float64), x[test], y[train], rotated)
    return 100 * np.array([auto[0], adam[0], np.mean(said == y[test])]), auto[4], ms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench", help="path of topwork_head_accuracy")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--times", action="store_true", help="rows are milliseconds")
    parser.add_argument("--recordings", type=pathlib.Path, help="folder of spoken digits")
    table, times = peers.Rows(), peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    sums, failures, milliseconds = [], 0, np.zeros(2)
    with tempfile.TemporaryDirectory() as folder, feature_sets.one_thread():
        for name, (x, y) in load(arguments.quick, arguments.recordings).items():
            for shots in (5,) if arguments.quick else (5, 20, len(y)):
                runs = [compare(arguments.bench, pathlib.Path(folder), name, x, y, shots, seed,
                                seed > 0 and not arguments.times) for seed in range(arguments.seeds)]
                rows = np.stack([run[0] for run in runs])
                mean = rows.mean(axis=0)
                of_seeds = [run[1:] for run in runs] if arguments.times else [runs[0][1:]]
                ms = np.median(of_seeds, axis=0)
                behind = rows[:, 1] - rows[:, 0]
                error = behind.std() / np.sqrt(len(behind))
                bad = behind.mean() > 0.5 + 2 * error and not arguments.quick
                failures += bad
                sums.append(mean)
                milliseconds += ms
                count = "all" if shots == len(y) else shots
                print(f"{name}, {count} a class: "
                      + ", ".join(f"{side} {m:.1f} %" for side, m in zip(SIDES, mean))
                      + f"; {ms[0]:.0f} and {ms[1]:.0f} ms"
                      + ("  FAIL: behind Adam" if bad else ""), flush=True)
                table.add(f"{name}, {count} a class", "automatic head", mean[0], mean[2],
                          runs=rows[:, [0, 2]].tolist())
                table.add(f"{name}, {count} a class", "Adam", mean[1], mean[2])
                times.add(f"{name}, {count} a class", "automatic head", *ms, ms[1] / ms[0],
                          runs=of_seeds)
    mean = np.mean(sums, axis=0)
    share = milliseconds[0] / milliseconds[1]
    print("mean: " + ", ".join(f"{side} {m:.2f} %" for side, m in zip(SIDES, mean))
          + f"; 1/{1 / share:.0f} of LogisticRegressionCV's time")
    table.add("all of them", "automatic head", mean[0], mean[2])
    table.add("all of them", "Adam", mean[1], mean[2])
    times.add("all of them", "automatic head", *milliseconds, 1 / share)
    failures += mean[0] < mean[2] - (2.0 if arguments.quick else 0.3)
    failures += share > 1 / 20 and not arguments.quick
    (times if arguments.times else table).write(arguments.rows)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
