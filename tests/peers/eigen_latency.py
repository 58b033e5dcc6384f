"""Latency of models on our own loops beside the instruction set `eigen`, alternating in one run.

  python eigen_latency.py TOPWORK MODEL... [--rounds N] [--rows FILE]

TOPWORK is a command that has the set (cmake -DTOPWORK_EIGEN=ON). For each model it takes the fastest runs of
one thread: on the baseline's loops, which have the same instructions as Eigen's, and on the
processor's best. Random input; not a test, for it measures time.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

import peers

SECONDS = 0.2  # of a turn


def fastest(tool, model, isa, runs):
    command = [tool, "benchmark", model, "--threads", "1", "--runs", str(runs), "--json", "--device", "cpu"]
    done = subprocess.run(command, env={**os.environ, "TOPWORK_ISA": isa}, capture_output=True, check=True)
    if b"TOPWORK_ISA" in done.stderr:
        sys.exit(f"{tool} has no instruction set {isa}: configure with -DTOPWORK_EIGEN=ON")
    return json.loads(done.stdout)["results"][0]["latency_ms"]["min"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool", help="path of the topwork command of a release build")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--rounds", type=int, default=7)
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    kinds = {"baseline": "the same instructions", "": "the processor's best"}
    print(f"{'model':44} {'loops':24} {'Topwork ms':>10} {'Eigen ms':>10} {'ratio':>6}")
    for model in arguments.models:
        runs = max(5, min(1000, int(1e3 * SECONDS / fastest(arguments.tool, model, "eigen", 5))))
        rounds = [{isa: fastest(arguments.tool, model, isa, runs) for isa in ("eigen", *kinds)}
                  for _ in range(arguments.rounds)]
        theirs = min(one["eigen"] for one in rounds)
        for isa, what in kinds.items():
            ours = min(one[isa] for one in rounds)
            name = pathlib.Path(model)
            print(f"{name.name:44} {what:24} {ours:10.3f} {theirs:10.3f} {theirs / ours:6.2f}", flush=True)
            table.add(name.stem, what, ours, theirs, theirs / ours, runs=[[one[isa], one["eigen"]] for one in rounds])
    table.write(arguments.rows)


if __name__ == "__main__":
    main()
