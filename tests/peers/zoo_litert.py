"""Runs every .tflite file below the folders that are named on Topwork and on LiteRT, and tells what departs.

  python zoo_litert.py TOPWORK FOLDER_OR_MODEL... [--jobs N] [--only TEXT] [--report FILE.json] [--keep FOLDER]

Each model runs as it is, with batch 2 and by every signature, on seeded random inputs, beside LiteRT's reference
kernels, its builtin kernels and XNNPACK. Where a last layer is found it is trained for two epochs on a few random
examples, and the exported file runs on both sides. Each run is a process of its own with a time limit, so that a
crash of LiteRT's is told as LiteRT's.

A model departs where none of LiteRT's kernels answer as Topwork does: within 0.001 of a float output's range, or
one step of a quantized one. Its departing operators are then found (zoo/search.py) and judged by a computation in
float64 (zoo/float64.py). Exit code 1: Topwork departs from float64 or contradicts its own operators, crashes or
hangs. Needs the Python packages ai-edge-litert and numpy.
"""

import argparse
import collections
import concurrent.futures
import json
import pathlib
import shutil
import subprocess
import sys

import peers

STATUSES = {"agrees": "agree", "wrong": "Topwork wrong", "departs": "depart", "LiteRT cannot": "LiteRT cannot",
            "refused": "Topwork refuses", "crashed": "Topwork crashes"}
WAYS = ("as it is", "batch 2", "signatures", "trained")
MODEL_SECONDS = 3600


def files_of(paths, only):
    """Files in a fixed order, each once."""
    found = {}
    for path in map(pathlib.Path, paths):
        if not path.exists():
            sys.exit(f"there is no {path}")
        for file in sorted(path.rglob("*.tflite")) if path.is_dir() else [path]:
            if only in str(file):
                found[file.resolve()] = file
    return list(found.values())


def check(topwork, path, keep):
    """The report of one model, made by a process of its own."""
    script = pathlib.Path(__file__).with_name("zoo_check.py")
    line = [sys.executable, "-B", str(script), topwork, str(path), *([keep] if keep else [])]
    try:
        done = subprocess.run(line, capture_output=True, text=True, timeout=MODEL_SECONDS)
    except subprocess.TimeoutExpired:
        return [{"what": "as it is", "status": "departs", "lines": ["the comparison took too long"]}]
    if done.returncode != 0:
        text = (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1]
        return [{"what": "as it is", "status": "departs", "lines": [f"the comparison failed: {text}"]}]
    return json.loads(done.stdout)


def largest(gaps):
    return ", ".join(f"{kernels} {gap:.1e}" for kernels, gap in gaps.items())


def print_model(path, cases):
    main = cases[0] if cases else {}
    gaps = f" ({largest(main['gaps'])})" if main.get("gaps") else ""  # none where a side did not run
    print(f"{path}: {main.get('status', 'nothing to run')}{gaps}")
    # That a model of one example takes no batch is no news.
    quiet = [c for c in cases if c["status"] == "agrees" and not c["lines"]
             or (c["what"], c["status"]) == ("batch 2", "LiteRT cannot")]
    for case in (c for c in cases if c not in quiet):
        print(f"  {case['what']}: {case['status']}")
        for line in case["lines"]:
            print("    " + line.encode("unicode_escape").decode())
        if case.get("gaps"):
            print(f"    largest difference from LiteRT's kernels: {largest(case['gaps'])}")
    sys.stdout.flush()


def table(report):
    """Rows: ways to run; columns: how it went."""
    counts = collections.Counter()
    for cases in report.values():
        for case in cases:
            way = "signatures" if case["what"].startswith("signature") else case["what"]
            counts[way, case["status"]] += 1
    rows = [["", *STATUSES.values()]]
    rows += [[way, *(str(counts[way, status]) for status in STATUSES)] for way in WAYS]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    for row in rows:
        print("  ".join(text.ljust(w) if k == 0 else text.rjust(w)
                        for k, (text, w) in enumerate(zip(row, widths))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("topwork", help="the topwork command")
    parser.add_argument("paths", nargs="+", help="folders and .tflite files")
    parser.add_argument("--jobs", type=int, default=1, help="models at a time")
    parser.add_argument("--only", default="", help="models whose path holds this text")
    parser.add_argument("--report", help="file for all results as JSON")
    parser.add_argument("--keep", help="folder for the departing operators as models with their inputs")
    options = parser.parse_args()
    if shutil.which(options.topwork) is None:
        sys.exit(f"{options.topwork} is no command; give the path of topwork, such as build/release/topwork")
    if options.jobs < 1:
        parser.error("--jobs must be 1 or more")
    files = files_of(options.paths, options.only)
    if not files:
        only = f" whose path holds '{options.only}'" if options.only else ""
        sys.exit(f"there is no .tflite file{only} in {' '.join(options.paths)}")
    if options.report and not pathlib.Path(options.report).absolute().parent.is_dir():
        sys.exit(f"--report {options.report}: its folder does not exist")
    report = {}
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(check, options.topwork, path, options.keep) for path in files]
        for path, job in zip(files, jobs):
            report[str(path)] = job.result()
            print_model(path, report[str(path)])
    if options.report:
        pathlib.Path(options.report).write_text(json.dumps(report, indent=1))
    print(f"\n{len(files)} models; how the ways to run them ended:")
    table(report)
    sys.exit(any(c["status"] in ("wrong", "crashed") for cases in report.values() for c in cases))


if __name__ == "__main__":
    peers.need("numpy", "ai_edge_litert")
    main()
