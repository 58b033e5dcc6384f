"""Labels that were changed on purpose, found by `topwork audit` and by other ways; and what the examples
that `topwork suggest` chooses are worth beside random ones.

  python audit.py TOPWORK [--quick] [--seeds N] [--rows FILE]

Of every data set FLIPPED of the labels become another class. Each way puts all examples in order, the
most suspicious first; with k changed labels, the figure is the share of them among the first 2k.
Beside `topwork audit` (probabilities without the example): cleanlab with LogisticRegression's probabilities
of five folds (its label quality scores by normalized margin), and training margins of scikit-learn's
LogisticRegression on the examples themselves. Where fewer than LEAST are found, what is possible is told:
each changed label is audited with all other labels right. Topwork's values are those of pyDVL's exact k-NN Shapley
valuation, one example judged at a time by all others; the script fails where they differ, or where
fewer than LEAST of the changed labels are found over all sets.

`topwork suggest` starts with one labelled example of each class, and chooses EACH others to label, ROUNDS
times; the figure is the accuracy on a third of the data that is kept back.
"""

import argparse
import pathlib
import sys
import tempfile
import warnings

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import compare_setup  # noqa: E402
import peers  # noqa: E402

compare_setup.go_on_in("peers-audit")

import numpy as np  # noqa: E402
from cleanlab.rank import get_label_quality_scores  # noqa: E402
from pydvl.valuation import Dataset, KNNShapleyValuation  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import cross_val_predict  # noqa: E402
from sklearn.neighbors import KNeighborsClassifier  # noqa: E402

import feature_sets  # noqa: E402

FLIPPED, LEAST, VALUES = 0.05, 0.85, 1e-6
EACH, ROUNDS = 20, 2
NEIGHBOURS, JUDGED = 5, 60  # pyDVL's values are compared on so many examples


def flip(labels, seed):
    """Labels of which a share is wrong, and which."""
    random = np.random.default_rng(seed)
    wrong = random.permutation(len(labels))[:round(FLIPPED * len(labels))]
    flipped = labels.copy()
    for i in wrong:
        flipped[i] = random.choice(np.setdiff1d(np.unique(labels), [labels[i]]))
    return flipped, set(wrong.tolist())


def write(folder, x, y=None):
    """A folder of arrays as the command line reads them."""
    folder.mkdir(exist_ok=True)
    np.save(folder / "x.npy", np.ascontiguousarray(x, np.float32))
    if y is not None:
        np.save(folder / "y.npy", y.astype(np.int64))
    return folder


def head(folder, x, y):
    """A model that is nothing but a last layer."""
    model = folder / f"dense_{x.shape[1]}_{y.max() + 1}.tflite"
    if not model.exists():
        feature_sets.dense_model(x.shape[1], int(y.max()) + 1, model)
    return model


def position(row):
    return int(row["file"][len("x.npy["):-1])


def audit(tool, folder, x, y):
    """`topwork audit` of features: all examples, the least probable label first."""
    return tool("audit", head(folder, x, y), "--data", write(folder / "data", x, y), "--count", len(x),
                "--neighbours", NEIGHBOURS)["worst"]


def learn(tool, folder, x, y, seed, suggested):
    """Per cent right with EACH x ROUNDS more labels than one for each class."""
    random = np.random.default_rng(seed)
    order = random.permutation(len(x))
    kept, pool = order[:len(x) // 3], order[len(x) // 3:]
    known = [next(i for i in pool if y[i] == c) for c in np.unique(y)]
    model, new = head(folder, x, y), folder / "new.tflite"
    for left in reversed(range(ROUNDS + 1)):
        data = write(folder / "known", x[known], y[known])
        tool("train", model, "--data", data, "--output", new, "--validation", 0)
        rest = np.setdiff1d(pool, known)
        if left and suggested:
            rows = tool("suggest", new, "--data", write(folder / "pool", x[rest]), "--known", data, "--count", EACH)
            known += [rest[position(row)] for row in rows["suggestions"]]
        elif left:
            known += list(random.choice(rest, EACH, replace=False))
    return 100 * tool("evaluate", new, "--data", write(folder / "kept", x[kept], y[kept]))["top1"]


def margins(scores, y):
    """Of every example's label: its score less the largest other one."""
    scores = np.stack([-scores, scores], 1) if scores.ndim == 1 else scores
    own = scores[np.arange(len(y)), y]
    others = np.where(np.arange(scores.shape[1]) == y[:, None], -np.inf, scores)
    return own - others.max(1)


def orders(x, y):
    """The two peers' orders of the examples."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaled = (x - x.mean(0)) / np.maximum(x.std(0), 1e-9)
        peer = LogisticRegression(max_iter=300)
        folds = cross_val_predict(peer, scaled, y, cv=5, method="predict_proba")
        quality = get_label_quality_scores(y, folds, method="normalized_margin")
        trained = margins(peer.fit(scaled, y).decision_function(scaled), y)
    return np.argsort(quality, kind="stable"), np.argsort(trained, kind="stable")


def found(order, wrong):
    """Shares of the changed labels among the first k and 2k of an order."""
    return [len(wrong & set(list(order)[:m * len(wrong)])) / len(wrong) for m in (1, 2)]


def possible(tool, folder, x, y, flipped, wrong):
    """The order of the examples if each changed label were the only one."""
    probabilities = np.zeros(len(x))
    for row in audit(tool, folder, x, y):
        probabilities[position(row)] = row["probability"]
    for i in wrong:
        labels = y.copy()
        labels[i] = flipped[i]
        probabilities[i] = next(row["probability"] for row in audit(tool, folder, x, labels) if position(row) == i)
    return np.argsort(probabilities, kind="stable")


def shapley_error(tool, folder, x, y):
    """The largest difference to pyDVL's values."""
    some = np.random.default_rng(0).permutation(len(x))[:JUDGED]
    x, y = x[some], y[some]
    ours = np.zeros(len(x))
    for row in audit(tool, folder, x, y):
        ours[position(row)] = row["value"]
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float64)
    expected = np.zeros(len(x))
    for i in range(len(x)):
        others = np.delete(np.arange(len(x)), i)
        method = KNNShapleyValuation(KNeighborsClassifier(NEIGHBOURS), Dataset(x[[i]], y[[i]]), progress=False)
        method.fit(Dataset(x[others], y[others]))
        expected[others] += method.result.values / (len(x) - 1)
    return np.abs(ours - expected).max()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("topwork")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seeds", type=int, default=3)
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    tool, all_found, failures = peers.Topwork(arguments.topwork), [], 0
    with tempfile.TemporaryDirectory() as name, feature_sets.one_thread():
        folder = pathlib.Path(name)
        for set_name, (x, y) in feature_sets.load(arguments.quick).items():
            runs, changed = [], [flip(y, seed) for seed in range(arguments.seeds)]
            for seed, (flipped, wrong) in enumerate(changed):
                rows = audit(tool, folder, x, flipped)
                ours = found(list(map(position, rows)), wrong)
                cleanlab, trained = (found(order, wrong) for order in orders(x, flipped))
                runs.append([ours, cleanlab, trained])
                fixed = flipped.copy()
                for row in rows:
                    if row["is_suspect"]:
                        fixed[position(row)] = int(row["suggested"])
                print(f"  {set_name}, seed {seed}: wrong labels {np.mean(flipped != y):.3f}, with --fix "
                      f"{np.mean(fixed != y):.3f}", flush=True)
            shares = 100 * np.mean(runs, axis=0)
            all_found.append(shares[0, 1])
            for side, (first, twice) in zip(("audit", "cleanlab", "training margin"), shares):
                print(f"{set_name}: {side:16} {first:5.1f} % in k, {twice:5.1f} % in 2k", flush=True)
            for peer, column in (("cleanlab, five folds", 1), ("training margins", 2)):
                table.add(f"{len(x)} {set_name}", peer, shares[0, 1], shares[column, 1],
                          runs=[[100 * run[0][1], 100 * run[column][1]] for run in runs])
            if shares[0, 1] < 100 * LEAST:
                best = [100 * found(possible(tool, folder, x, y, *one), one[1])[1] for one in changed]
                print(f"{set_name}: with all other labels right {np.mean(best):.1f} % in 2k", flush=True)
                table.add(f"{len(x)} {set_name}", "all other labels right", shares[0, 1], np.mean(best),
                          runs=[[100 * run[0][1], one] for run, one in zip(runs, best)])
            error = shapley_error(tool, folder, x, y)
            print(f"{set_name}: values differ from pyDVL's by {error:.1e}", flush=True)
            failures += error > VALUES
            runs = [[learn(tool, folder, x, y, seed, suggested) for suggested in (True, False)]
                    for seed in range(2 * arguments.seeds)]
            ours, peer = np.mean(runs, axis=0)
            print(f"{set_name}: {ours:.1f} % right with suggested labels, {peer:.1f} % with random ones", flush=True)
            table.add(f"{len(x)} {set_name}", f"{EACH * ROUNDS} labels suggested; random", ours, peer, runs=runs)
    print(f"over all sets {np.mean(all_found):.1f} % in 2k")
    failures += np.mean(all_found) < 100 * LEAST
    table.write(arguments.rows)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
