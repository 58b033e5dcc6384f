#!/usr/bin/env python3
"""What each OpenCL implementation makes of models: a table, and a failure where one ends the process or answers wrongly.

  matrix.py TOPWORK [--only PART]... [--models PART]... [--json FILE] [--rows FILE] [--seconds N]

`topwork verify` compares every operator of every model with the CPU; then one training on both is compared, and a
second start is to compile nothing. Models are those of models/zoo and, where it is, of ../shared/models.
--only and --models choose by a part of the name. --rows is what tests/peers/figures.py takes.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

import implementations

ROOT = implementations.ROOT
BUILD = ROOT / "build" / "portability"
KINDS = ("float", "fp16", "int8", "dynamic", "special")
ZOO = ROOT / "models" / "zoo"
SKIPPED = 77
DIFFERS = 11  # what verify exits with
DEVICE = "opencl:0"
# Shares of an operator's range. Bytes may be a few steps apart; where the CPU rounds inputs to bytes, a device computes
# real numbers.
TOLERANCES = {"int8": 0.03, "dynamic": 0.2}
MOST_DIFFERENCE = 1e-3  # of training
AGAIN = 2  # starts after the process was ended
TITLES = {"agreed": "agree with the CPU", "operators": "operators on the device", "ended": "ended the process",
          "second": "second start", "training": "training differs by"}


def models(shared):
    found = sorted(ZOO.glob("*.tflite"))
    for kind in KINDS:
        found += sorted((shared / "models" / kind).glob("*.tflite"))
    return found


class Runner:
    """Runs the command line in an implementation, with caches of its own."""

    def __init__(self, implementation, topwork, seconds):
        self.implementation, self.seconds = implementation, seconds
        self.topwork = implementation.place(topwork)
        self.work = BUILD / "work" / implementation.name.replace(" ", "_").replace(",", "").replace("'", "")
        shutil.rmtree(self.work, ignore_errors=True)
        self.work.mkdir(parents=True)

    def run(self, *command, cache="cache"):
        """(exit code, negative of a signal's; what it printed as JSON, or nothing; its last complaint)."""
        inside = self.implementation.place(self.work)
        environment = {"TOPWORK_CACHE": f"{inside}/{cache}", "POCL_CACHE_DIR": f"{inside}/pocl",
                       "TOPWORK_REQUIRE_OPENCL": "", **self.implementation.environment()}
        (self.work / "pocl").mkdir(exist_ok=True)
        texts = [self.implementation.place(part) if isinstance(part, pathlib.Path) else part for part in command]
        try:
            done = self.implementation.run([self.topwork, *texts, "--json"], environment, self.seconds)
        except subprocess.TimeoutExpired:
            return None, None, f"took more than {self.seconds} seconds"
        try:
            printed = json.loads(done.stdout)
        except ValueError:
            printed = None
        said = (done.stderr.strip().splitlines() or [""])[-1]
        return done.returncode, printed, said

    def programs(self, cache):
        """The compiled programs that are kept, and when they were written."""
        return {path.name: path.stat().st_mtime_ns for path in (self.work / cache).rglob("*.clbin")}


def is_death(code):
    return code is None or code < 0 or code >= 128


def verify(runner, model):
    """One of "agrees", "differs", "refused", "died"; operators on the device; and why."""
    command = ["verify", model, "--device", DEVICE, "--examples", "1"]
    if model.parent.name in TOLERANCES:
        command += ["--tolerance", str(TOLERANCES[model.parent.name])]
    code, printed, said = runner.run(*command)
    if is_death(code):
        for _ in range(AGAIN):
            if not is_death(runner.run(*command)[0]):
                return "died", 0, f"{said or code}; a later start goes well"
        return "died", 0, f"{said or code}; so do later starts"
    if code == DIFFERS:
        return "differs", printed["on_device"] if printed else 0, said
    if code != 0:
        return "refused", 0, said
    return "agrees", printed["on_device"], ""


def second_start(runner):
    """How many programs two starts compile, the second with what the first one kept."""
    counts = []
    for _ in range(2):
        before = runner.programs("second")
        for model in sorted(ZOO.glob("*.tflite")):
            code, _, said = runner.run("benchmark", model, "--device", DEVICE, "--warmup", "0", "--runs", "1",
                                       cache="second")
            if code != 0:
                return None, said or str(code)
        after = runner.programs("second")
        counts.append(sum(before.get(name) != written for name, written in after.items()))
    return counts, ""


def training(runner):
    """How far weights are apart after the same steps on the device and on the CPU, and the loss on examples held back
    after the same training, the larger difference; and why there is none."""
    model, data = ZOO / "digits_cnn_f32.tflite", ZOO / "data" / "digits" / "train"
    code, steps, said = runner.run("verify", model, "--data", data, "--device", DEVICE, "--examples", "1",
                                   "--steps", "60")
    if code not in (0, DIFFERS) or steps is None:
        return None, said or str(code)
    losses = []
    for device in ("cpu", DEVICE):
        code, trained, said = runner.run("train", model, "--data", data, "--device", device, "--optimizer", "adam",
                                         "--epochs", "3", "--save-head", runner.work / "head")
        if code != 0:
            return None, said or str(code)
        losses.append(trained["epochs"][-1]["validation_loss"])
    if trained["settings"]["device of the steps"] == "cpu":
        return None, f"the CPU took the steps: {trained['settings']}"
    return max(steps["training"]["difference"], abs(losses[0] - losses[1])), ""


def measure(implementation, topwork, chosen, seconds):
    runner = Runner(implementation, topwork, seconds)
    code, devices, said = runner.run("devices")
    if code != 0:
        raise implementations.Missing(f"topwork devices: {said or code}")
    found = [device for device in devices if device["id"] == DEVICE]
    if not found or not found[0]["available"]:
        raise implementations.Missing(found[0]["reason"] if found else "it has no OpenCL device")
    row = {"name": implementation.name, "driver": f"{found[0]['platform']} {found[0]['driver']}",
           "device": found[0]["name"], "models": {}, "operators": 0}
    for model in chosen:
        verdict, operators, why = verify(runner, model)
        if verdict == "differs":  # A slip of the driver, or always so.
            again = verify(runner, model)
            why += " (always)" if again[0] == "differs" else " (once)"
        row["models"][f"{model.parent.name}/{model.name}"] = {"verdict": verdict, "operators": operators, "why": why}
        row["operators"] += operators
        if why:
            print(f"  {model.parent.name}/{model.name} {verdict}: {why}", flush=True)
    row["second"], why = second_start(runner)
    if why:
        print(f"  second start: {why}", flush=True)
    row["training"], why = training(runner)
    if why:
        print(f"  training: {why}", flush=True)
    return row


def cells(row):
    """What the table says of an implementation."""
    counts = collections.Counter(model["verdict"] for model in row["models"].values())
    second = row["second"]
    return {"agreed": f"{counts['agrees']} of {len(row['models']) - counts['refused']}",
            "operators": str(row["operators"]),
            "ended": str(counts["died"]),
            "second": "failed" if second is None else f"compiles {second[1]} of {second[0]}",
            "training": "failed" if row["training"] is None else f"{row['training']:.1g}"}


def failures(row):
    for name, model in row["models"].items():
        if model["verdict"] in ("differs", "died") and not model["why"].endswith("(once)"):
            yield f"{name} {model['verdict']}: {model['why']}"
    if row["second"] is None or row["second"][1] != 0 or row["second"][0] == 0:
        yield f"the second start compiles programs: {row['second']}"
    if row["training"] is None or row["training"] > MOST_DIFFERENCE:
        yield f"training differs from the CPU's: {row['training']}"


def show(rows):
    titles = ["implementation", *TITLES.values()]
    lines = [titles] + [[f"{row['name']} ({row['driver']})", *cells(row).values()] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    for line in lines:
        print("  ".join(text.ljust(width) for text, width in zip(line, widths)).rstrip())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("topwork", type=pathlib.Path)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--models", action="append", default=[])
    parser.add_argument("--json", type=pathlib.Path, default=BUILD / "matrix.json")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=600)
    arguments = parser.parse_args()
    shared = pathlib.Path(os.environ.get("TOPWORK_SHARED", ROOT.parent / "shared"))
    chosen = [model for model in models(shared)
              if not arguments.models or any(part in str(model) for part in arguments.models)]
    rows, wrong = [], []
    for implementation in implementations.implementations(BUILD):
        if arguments.only and not any(part in implementation.name for part in arguments.only):
            continue
        print(implementation.name, flush=True)
        try:
            rows.append(measure(implementation.prepare(), arguments.topwork.resolve(), chosen, arguments.seconds))
        except implementations.Missing as why:
            print(f"SKIP {implementation.name}: {why}", flush=True)
            continue
        wrong += [f"{implementation.name}: {failure}" for failure in failures(rows[-1])]
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n")
    if arguments.rows:
        arguments.rows.write_text(json.dumps(
            [{"model": f"{row['name']} ({row['driver']})", "what": TITLES[key], "ours": text, "peer": None, "ratio": None}
             for row in rows for key, text in cells(row).items()]))
    show(rows)
    for failure in wrong:
        print(f"FAILED {failure}")
    sys.exit(1 if wrong else 0 if rows else SKIPPED)


if __name__ == "__main__":
    main()
