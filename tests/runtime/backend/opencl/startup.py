"""How long a model takes to start on an OpenCL device, with empty and with filled caches.

Usage: startup.py TOPWORK MODEL [--device opencl:0] [--times 5]

Each start is a process of its own with caches in a temporary folder: compiled programs of Topwork
($TOPWORK_CACHE) and of PoCL ($POCL_CACHE_DIR). Prints the medians of plan_ms (creating the session) and
first_run_ms of `topwork benchmark`, in milliseconds, and the second start's share of the first.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile


def start(arguments, folder):
    """plan_ms and first_run_ms of one process."""
    (folder / "pocl").mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, TOPWORK_CACHE=str(folder), POCL_CACHE_DIR=str(folder / "pocl"))
    environment.pop("TOPWORK_OPENCL_CACHE", None)
    result = subprocess.run([arguments.topwork, "benchmark", arguments.model, "--device", arguments.device,
                             "--warmup", "0", "--runs", "1", "--json"],
                            capture_output=True, text=True, env=environment, timeout=600)
    if result.returncode != 0:
        sys.exit(result.stderr.strip())
    report = json.loads(result.stdout)["results"][0]
    return report["plan_ms"], report["first_run_ms"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("topwork")
    parser.add_argument("model")
    parser.add_argument("--device", default="opencl:0")
    parser.add_argument("--times", type=int, default=5)
    arguments = parser.parse_args()
    starts = {"caches empty": [], "both filled": [], "Topwork's alone": []}
    for _ in range(arguments.times):
        folder = pathlib.Path(tempfile.mkdtemp(prefix="topwork_startup_"))
        try:
            starts["caches empty"].append(start(arguments, folder))
            starts["both filled"].append(start(arguments, folder))
            shutil.rmtree(folder / "pocl")
            starts["Topwork's alone"].append(start(arguments, folder))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    medians = {name: [statistics.median(column) for column in zip(*times)] for name, times in starts.items()}
    print("%-16s %10s %14s %8s %8s" % ("", "session ms", "first run ms", "session", "both"))
    cold = medians["caches empty"]
    for name, (plan, run) in medians.items():
        print("%-16s %10.1f %14.1f %6.1f %% %6.1f %%" % (
            name, plan, run, 100 * plan / cold[0], 100 * (plan + run) / sum(cold)))


if __name__ == "__main__":
    main()
