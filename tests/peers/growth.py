"""Latency against input size, width, depth, batch and threads, and what arithmetic predicts of each step.

  python growth.py BUILD [--rounds N] [--rows FILE]

BUILD is a release build with `topwork` and `topwork_growth_model`, which writes the networks: one is the
middle of all, and each of the five sizes is doubled in turn while the others keep its values. The float32
network and its int8 form are measured; every setting takes its turn in every round, and the fastest run of
all rounds counts. A row's ratio is the growth that its multiply-adds, or its threads, predict over the
growth since the row before: below 1 the step costs more than arithmetic.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile

import peers

MIDDLE = {"input size": 112, "width": 64, "depth": 8, "batch": 1, "threads": 1}
SERIES = {"input size": [28, 56, 112, 224, 448], "width": [16, 32, 64, 128, 256], "depth": [1, 2, 4, 8, 16],
          "batch": [1, 2, 4, 8, 16], "threads": [1, 2, 4, 8]}
DIGITS = peers.ZOO / "data" / "digits" / "train"
TURN_MS = 150


class Networks:
    """The models of all settings, made once in a folder that goes away."""

    def __init__(self, build, topwork, folder):
        self.maker, self.topwork, self.folder, self.made = build / "topwork_growth_model", topwork, folder, {}

    def model(self, setting, storage):
        """The file of the storage, and the multiply-adds of its run."""
        sizes = [str(setting[axis]) for axis in ("input size", "width", "depth")]
        if (*sizes, storage) not in self.made:
            path = self.folder / ("_".join([*sizes, storage]) + ".tflite")
            if storage == "float32":
                said = subprocess.run([self.maker, path, *sizes], check=True, capture_output=True, text=True).stdout
                products = float(said)
            else:
                source, products = self.model({**setting, "batch": 1}, "float32")
                self.topwork("quantize", source, "--to", storage, "--output", path, "--data", DIGITS,
                             "--calibrate", "10")
            self.made[(*sizes, storage)] = path, products
        path, products = self.made[(*sizes, storage)]
        return path, products * setting["batch"]


def settings():
    """[(axis, value, setting)]: a series for each axis, without threads that no processor is there for."""
    for axis, values in SERIES.items():
        for value in values:
            if axis != "threads" or value <= len(os.sched_getaffinity(0)):
                yield axis, value, {**MIDDLE, axis: value}


def measure(topwork, networks, storage, rounds):
    """{(axis, value): (fastest ms, multiply-adds)}"""
    found, n_runs = {}, {}
    for number in range(rounds):
        for axis, value, setting in settings():
            path, products = networks.model(setting, storage)
            key = axis, value
            report = topwork("benchmark", path, "--device", "cpu", "--batch", setting["batch"], "--threads",
                             setting["threads"], "--runs", n_runs.get(key, 3), "--warmup", 3)["results"][0]
            ms = report["latency_ms"]["min"]
            n_runs[key] = max(3, int(TURN_MS / ms))
            found[key] = min(ms, found[key][0] if number else ms), products
    return found


def rows_of(storage, found, rows):
    before = None
    for (axis, value), (ms, products) in found.items():
        ratio = None
        if before and before[0] == axis:
            expected = before[1] / value if axis == "threads" else products / before[3]
            ratio = expected / (ms / before[2])
        rows.add(storage, f"{axis} {value}", ms, None, ratio)
        before = axis, value, ms, products
        print(f"{storage:8} {axis:12} {value:4} {ms:9.3f} ms {products * 1e-6:10.1f} million"
              + (f"   predicted / measured growth {ratio:.2f}" if ratio else ""), flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    rows = peers.Rows()
    rows.add_option(parser)
    arguments = parser.parse_args()
    topwork = peers.Topwork(arguments.build / "topwork")
    with tempfile.TemporaryDirectory() as folder:
        networks = Networks(arguments.build, topwork, pathlib.Path(folder))
        for storage in ("float32", "int8"):
            rows_of(storage, measure(topwork, networks, storage, arguments.rounds), rows)
    rows.write(arguments.rows)


if __name__ == "__main__":
    main()
