"""Time to personalise, from image files to a new model on disk, beside other frameworks.

  python personalise_peers.py TOPWORK [--rounds N] [--slow-rounds N] [--threads N] [--epochs N]
      [--images DIR] [--keras PYTHON] [--ort PYTHON] [--mnn PYTHON] [--wrap COMMAND] [--rows FILE]

EfficientNet-Lite0 with float32 weights gets a new last layer of 10 classes from 200 images, 20
epochs, 2 threads. All sides have the same network, weights, images, batch size and learning rate,
and run in turn, round after round, each in a process of its own; the fastest round of each side
counts, in seconds and, which other work on the machine disturbs less, in processor seconds of all
threads. README.md beside this file says what each side does, what its time includes, and which
packages it needs. This script itself and the LiteRT sides need ai-edge-litert, numpy, pillow,
scikit-learn and torch; a side whose Python lacks its packages is left out and named. --wrap is put
before the command of every timed run.
"""

import argparse
import json
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import peers

HERE = pathlib.Path(__file__).resolve().parent
PER_CLASS = 20
# Script and its sides, in the order of a round.
SIDES = [
    ("topwork", ["topwork"]), ("litert", ["litert_sklearn", "litert_torch"]),
    ("mnn", ["mnn"]), ("keras", ["keras_cached", "keras"]), ("ort", ["ort_cached", "ort"]),
]
# Ratio to Topwork; of the others 1. 20 forward passes of the same network to one bound that of
# keras; Keras's own MobileNetV2 (personalise_keras_mobilenet.py) takes 40 times as long.
WANTED = {"keras": 25.0, "keras_cached": 4.0}
SLOW = ("keras", "ort")  # most of a minute each
LEARNT = 0.9  # of the training images are classified right, or the side did not train


def choose_images(source, folder):
    """The first PER_CLASS images of each class folder, copied."""
    n = 0
    for name in sorted(p for p in source.iterdir() if p.is_dir()):
        (folder / name.name).mkdir(parents=True)
        for path in sorted(name.iterdir())[:PER_CLASS]:
            shutil.copy(path, folder / name.name)
            n += 1
    return n


def call(python, script, *arguments, wrap=()):
    command = [*wrap, python, "-B", str(HERE / f"personalise_{script}.py"), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True)


def last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "nothing was said"


def prepare(pythons, work):
    """The sides that can run: (script, side)."""
    able = []
    for script, names in SIDES:
        done = call(pythons[script], script, "prepare", work) if pythons[script] else None
        if done is not None and done.returncode == 0:
            able += [(script, name) for name in names]
        else:
            why = last_line(done.stderr) if done else f"no Python was named with --{script}"
            print(f"left out: {', '.join(names)}: {why}")
    return able


def run(side, pythons, arguments, work, images):
    script, name = side
    done = call(pythons[script], script, name, work, images, work / f"{name}.out", arguments.threads,
                arguments.epochs, wrap=shlex.split(arguments.wrap))
    if done.returncode != 0:
        sys.exit(f"FAIL {name}: {last_line(done.stderr)}")
    result = json.loads(last_line(done.stdout))
    if result["accuracy"] < LEARNT:
        sys.exit(f"FAIL {name}: only {result['accuracy']:.0%} of its training images come out right")
    parts = ", ".join(f"{k} {v:.2f}" for k, v in result["seconds"].items() if k != "total")
    print(f"  {name:15} {result['total']:7.2f} s ({parts})", flush=True)
    return result


def without_conversion(result):
    return result["total"] - result["seconds"].get("convert to .tflite", 0.0)


def report(results, table):
    """Prints the table and fills that of BENCHMARKS.md; returns the sides that miss their ratio."""
    ours = min(r["total"] for r in results["topwork"])
    missed = []
    ours_cpu = min(r["cpu"] for r in results["topwork"])
    print(f"\n{'':15} {'fastest s':>9} {'ratio':>7} {'processor s':>12} {'ratio':>7}  "
          "without .tflite conversion")
    for name, rounds in results.items():
        ratio = min(r["total"] for r in rounds) / ours
        bare = min(without_conversion(r) for r in rounds)
        cpu = min(r["cpu"] for r in rounds)
        print(f"{name:15} {ratio * ours:9.2f} {ratio:7.2f} {cpu:12.2f} {cpu / ours_cpu:7.2f}  "
              f"{bare:.2f} s, {bare / ours:.2f} x; {rounds[0]['versions']}")
        if name != "topwork":
            table.add("EfficientNet-Lite0", name, ours, ratio * ours, ratio,
                      [[a["total"], b["total"]] for a, b in zip(results["topwork"], rounds)])
        if name != "topwork" and ratio < WANTED.get(name, 1.0):
            missed.append(f"{name}: {ratio:.1f} x, wanted {WANTED.get(name, 1.0):.0f} x")
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("topwork", help="path of the topwork command of a release build")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--images", default=str(peers.ZOO / "data" / "digits" / "train"))
    parser.add_argument("--model", default=str(peers.ZOO / "efficientnet_lite0_fp16.tflite"))
    for script in ("keras", "ort", "mnn"):
        parser.add_argument(f"--{script}", help=f"Python that has the packages of the {script} side")
    parser.add_argument("--slow-rounds", type=int, help="of the sides that re-run the base")
    parser.add_argument("--wrap", default="")
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    pythons = {"topwork": sys.executable, "litert": sys.executable, "keras": arguments.keras,
               "ort": arguments.ort, "mnn": arguments.mnn}
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "topwork").write_text(str(pathlib.Path(arguments.topwork).resolve()))
        n = choose_images(pathlib.Path(arguments.images), work / "images")
        made = call(sys.executable, "network", arguments.model, work)
        if made.returncode != 0:
            print(f"SKIP: {last_line(made.stderr)}")
            sys.exit(peers.SKIP)
        print(f"{n} images, {arguments.epochs} epochs, {arguments.threads} threads; "
              f"{made.stdout.strip()}")
        able = prepare(pythons, work)
        results = {name: [] for _, name in able}
        for number in range(arguments.rounds):
            print(f"round {number + 1}")
            for side in able:
                if side[1] in SLOW and number >= (arguments.slow_rounds or arguments.rounds):
                    continue
                results[side[1]].append(run(side, pythons, arguments, work, work / "images"))
    missed = report(results, table)
    table.write(arguments.rows)
    for line in missed:
        print(f"MISSED {line}")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
