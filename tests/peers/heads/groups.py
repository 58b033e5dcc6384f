"""Groups, the worst group and monitors on real pictures: what is held back, and what it tells.

  python groups.py TOPWORK [--rows FILE]

Digits (scikit-learn's, in the order of their file, where neighbours are by the same writer) through
EfficientNet-Lite0. Blocks of 100 digits are the groups. Estimates by held-back examples stand beside the
accuracy on digits of later blocks; the worst group's accuracy stands beside that without
--balance-groups; alarms of a monitor are counted on the same kind of pictures and on others.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

peers.need("numpy", "ai_edge_litert", "sklearn")

import numpy as np  # noqa: E402
from sklearn.datasets import load_digits  # noqa: E402

import feature_sets  # noqa: E402

TRAINED, BLOCK, SEEDS = 500, 100, 8


class Side:
    """A last layer on features, taught and judged by the command line."""

    def __init__(self, topwork, folder, dim, classes):
        self.topwork, self.folder = topwork, folder
        self.model, self.taught = folder / f"{dim}.tflite", folder / "taught.tflite"
        self.monitor = folder / "taught.monitor"
        feature_sets.dense_model(dim, classes, self.model)

    def data(self, name, x, y, groups=None):
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        np.save(folder / "x.npy", x.astype(np.float32))
        np.save(folder / "y.npy", y.astype(np.int64))
        (folder / "groups.npy").unlink(missing_ok=True)
        if groups is not None:
            np.save(folder / "groups.npy", groups.astype(np.int64))
        return folder

    def run(self, *arguments):
        done = subprocess.run([self.topwork, *map(str, arguments), "--json"], capture_output=True,
                              text=True, check=True)
        return json.loads(done.stdout)

    def train(self, data, *flags):
        return self.run("train", self.model, "--data", data, "--output", self.taught, "--optimizer",
                        "ridge", "--monitor", self.monitor, *flags)["evaluation"]

    def evaluate(self, data, *flags):
        return self.run("evaluate", self.taught, "--data", data, *flags)


def estimates(side, x, y, table):
    """Held-back accuracy, at random and by blocks, beside that of later blocks."""
    blocks = np.arange(len(x)) // BLOCK
    later = side.data("later", x[TRAINED:], y[TRAINED:])
    for what, groups in (("held back at random", None), ("held back by groups", blocks[:TRAINED])):
        data = side.data("taught", x[:TRAINED], y[:TRAINED], groups)
        runs = []
        for seed in range(1, SEEDS + 1):
            held_back = side.train(data, "--seed", seed)["top1"]
            runs.append([100 * held_back, 100 * side.evaluate(later)["top1"]])
        ours, peer = np.mean(runs, axis=0)
        table.add(f"{TRAINED} digits", what, ours, peer, runs=runs)
        print(f"{what}: {ours:.1f} %, later writers {peer:.1f} %")


def worst_group(side, x, y, inverted, table):
    """One digit in ten is a negative; the negatives are the worst group."""
    def mixed(first, last, every):
        chosen = np.arange(first, last) % every == 0
        return np.where(chosen[:, None], inverted[first:last], x[first:last]), chosen.astype(np.int64)
    taught, groups = mixed(0, TRAINED, 10)
    judged, judged_groups = mixed(TRAINED, len(x), 2)
    data = side.data("mixed", taught, y[:TRAINED], groups)
    others = side.data("judged", judged, y[TRAINED:], judged_groups)
    worst = []
    for flags in ((), ("--balance-groups",)):
        side.train(data, *flags)
        worst.append(100 * side.evaluate(others)["worst_group_accuracy"])
    table.add(f"{TRAINED} digits, a tenth of them negatives", "worst group, --balance-groups", worst[1],
              worst[0])
    print(f"worst group: {worst[0]:.1f} %, with --balance-groups {worst[1]:.1f} %")


def monitored(side, x, y, others, table):
    """Windows with an alarm, of 100."""
    counts = {name: np.zeros(2, int) for name in ("other digits", *others)}
    for seed in range(SEEDS):
        order = np.random.default_rng(seed).permutation(len(x))
        taught, same = order[:TRAINED], order[TRAINED:]
        side.train(side.data("shuffled", x[taught], y[taught]))
        for name, rows in (("other digits", x[same]), *others.items()):
            data = side.data("watched", rows, np.arange(len(rows)) % 2)
            report = side.evaluate(data, "--monitor", side.monitor)["monitor"]
            counts[name] += report["n_alarms"], report["n_windows"]
    for name, (alarms, windows) in counts.items():
        table.add(f"taught {TRAINED} digits", f"windows with an alarm: {name}", 100 * alarms / windows)
        print(f"{name}: {alarms} of {windows} windows")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("topwork", type=pathlib.Path)
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    digits = load_digits()
    pixels = np.rint(digits.images[:900] * 255 / 16).astype(np.uint8)
    y = digits.target[:900]
    x = feature_sets.lite0(feature_sets.grey(pixels))
    inverted = feature_sets.lite0(feature_sets.grey(255 - pixels))
    faces = feature_sets.lite0(feature_sets.faces()[0])
    with tempfile.TemporaryDirectory() as folder:
        side = Side(arguments.topwork, pathlib.Path(folder), x.shape[1], 10)
        estimates(side, x, y, table)
        worst_group(side, x, y, inverted, table)
        monitored(side, x, y, {"negatives": inverted[:400], "faces": faces}, table)
    table.write(arguments.rows)


if __name__ == "__main__":
    main()
