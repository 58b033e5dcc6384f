"""Median latency of models beside LiteRT's (XNNPACK), one thread, alternating in one run.

  python latency_litert.py TOPWORK MODEL... [--rows FILE]

Prints, for each model, the medians of both over all rounds and the median of the rounds' ratios: the
ratio is what to quote, for a machine's speed drifts. Random input; not a test, for it measures time.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import time

import peers

peers.need("numpy", "ai_edge_litert")

import numpy as np  # noqa: E402
from ai_edge_litert.interpreter import Interpreter  # noqa: E402

ROUNDS, RUNS = 7, 60


def litert(interpreter):
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        interpreter.invoke()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def topwork(tool, model):
    command = [tool, "benchmark", model, "--threads", "1", "--runs", str(RUNS), "--json"]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return json.loads(result.stdout)["latency_ms"]["p50"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", help="path of the topwork command of a release build")
    parser.add_argument("models", nargs="+")
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    tool, models = arguments.tool, arguments.models
    random = np.random.default_rng(1)
    print(f"{'model':44} {'LiteRT ms':>10} {'Topwork ms':>10} {'ratio':>6}")
    for model in models:
        interpreter = Interpreter(model, num_threads=1)
        interpreter.allocate_tensors()
        for detail in interpreter.get_input_details():
            values = random.random(tuple(detail["shape"])).astype(detail["dtype"])
            interpreter.set_tensor(detail["index"], values)
        interpreter.invoke()
        rounds = [(litert(interpreter), topwork(tool, model)) for _ in range(ROUNDS)]
        theirs, ours = (statistics.median(column) for column in zip(*rounds))
        ratio = statistics.median(b / a for a, b in rounds)
        print(f"{pathlib.Path(model).name:44} {theirs:10.3f} {ours:10.3f} {ratio:6.2f}", flush=True)
        table.add(pathlib.Path(model).stem, "median, 1 thread", ours, theirs, 1 / ratio,
                  runs=[[b, a] for a, b in rounds])
    table.write(arguments.rows)


if __name__ == "__main__":
    main()
