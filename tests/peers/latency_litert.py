"""Latency of models beside LiteRT's (XNNPACK), alternating in one run.

  python latency_litert.py TOPWORK MODEL... [--threads 1,2] [--busy 1] [--quiet] [--rows FILE]

Prints, for each model and number of threads, the medians of both over all rounds and the median of
the rounds' ratios: the ratio is what to quote, for a machine's speed drifts. --quiet takes minima
instead, which hardly see what else the machine does. --busy N keeps N processes computing beside.
Random input; not a test, for it measures time.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import time

import peers

peers.need("numpy", "ai_edge_litert")

import numpy as np  # noqa: E402
from ai_edge_litert.interpreter import Interpreter  # noqa: E402

ROUNDS, RUNS = 7, 60


class LiteRt:
    """A model in LiteRT with random inputs; a call gives the minimum and the median."""

    def __init__(self, model, n_threads):
        self.interpreter = Interpreter(model, num_threads=n_threads)
        self.interpreter.allocate_tensors()
        random = np.random.default_rng(1)
        for detail in self.interpreter.get_input_details():
            values = random.random(tuple(detail["shape"])).astype(detail["dtype"])
            self.interpreter.set_tensor(detail["index"], values)
        self.interpreter.invoke()

    def __call__(self):
        times = []
        for _ in range(RUNS):
            start = time.perf_counter()
            self.interpreter.invoke()
            times.append(1e3 * (time.perf_counter() - start))
        return min(times), statistics.median(times)


def topwork(tool, model, n_threads):
    command = [tool, "benchmark", model, "--threads", str(n_threads), "--runs", str(RUNS), "--json",
               "--device", "cpu"]
    result = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    latency = json.loads(result.stdout)["latency_ms"]
    return latency["min"], latency["p50"]


def measure(arguments, table):
    which = 0 if arguments.quiet else 1
    kind = ("minimum" if arguments.quiet else "median") + (", machine busy" if arguments.busy else "")
    print(f"{'model':44} {'threads':>7} {'LiteRT ms':>10} {'Topwork ms':>10} {'ratio':>6}")
    for model in arguments.models:
        for n_threads in arguments.threads:
            theirs_runs = LiteRt(model, n_threads)
            rounds = [(theirs_runs()[which], topwork(arguments.tool, model, n_threads)[which])
                      for _ in range(arguments.rounds)]
            of_rounds = min if arguments.quiet else statistics.median
            theirs, ours = (of_rounds(column) for column in zip(*rounds))
            ratio = ours / theirs if arguments.quiet else statistics.median(b / a for a, b in rounds)
            name = pathlib.Path(model)
            print(f"{name.name:44} {n_threads:7} {theirs:10.3f} {ours:10.3f} {ratio:6.2f}", flush=True)
            plural = "" if n_threads == 1 else "s"
            table.add(name.stem, f"{kind}, {n_threads} thread{plural}", ours, theirs, 1 / ratio,
                      runs=[[b, a] for a, b in rounds])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", help="path of the topwork command of a release build")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", default=[1], help="numbers of threads, separated by commas",
                        type=lambda text: [int(n) for n in text.split(",")])
    parser.add_argument("--busy", type=int, default=0, help="processes that compute beside")
    parser.add_argument("--quiet", action="store_true", help="minima instead of medians")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"])
            for _ in range(arguments.busy)]
    try:
        measure(arguments, table)
    finally:
        for process in busy:
            process.kill()
    table.write(arguments.rows)


if __name__ == "__main__":
    main()
