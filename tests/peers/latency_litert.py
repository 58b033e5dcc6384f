#!/usr/bin/env python3
"""Median latency of float models beside LiteRT's (XNNPACK), one thread, alternating in one run.

  latency_litert.py TOPWORK MODEL...      needs numpy and ai-edge-litert (build/.venv has them)

Prints, for each model, the medians of both over all rounds and the median of the rounds' ratios: the
ratio is what to quote, for a machine's speed drifts. Random input; not a test, for it measures time.
"""
import json
import pathlib
import statistics
import subprocess
import sys
import time

import numpy as np
from ai_edge_litert.interpreter import Interpreter

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
    tool, models = sys.argv[1], sys.argv[2:]
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
        print(f"{pathlib.Path(model).name:44} {theirs:10.3f} {ours:10.3f} {ratio:6.2f}")


if __name__ == "__main__":
    main()
