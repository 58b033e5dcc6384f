#!/usr/bin/env python3
"""The first answer of a second start on an OpenCL device, with two builds of topwork in turn.

  second_start.py TOPWORK BEFORE [--device opencl:0] [--rounds 9] [--rows FILE] [MODEL]...

BEFORE is another build's command. Without models those of compare.py and of the zoo that are here. Each build has
caches of its own in a temporary folder, which its first start fills; that start does not count. A start is a process
that opens the model, makes a session and runs it once: the time until then, and the processor's time of the whole
process. Both are medians of the rounds. Not a test, for it measures time.
"""
import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import peers
import two_builds

MODELS = peers.ROOT / "build" / "peers-models"
NETWORKS = [
    ("MobileNet v2", MODELS / "keras" / "mobilenet_v2_f32.tflite"),
    ("EfficientNet-Lite0, float16", peers.ROOT / "models" / "zoo" / "efficientnet_lite0_fp16.tflite"),
    ("ResNet-50", MODELS / "keras" / "resnet50_f32.tflite"),
    ("ResNet-50, dynamic range", MODELS / "keras" / "resnet50_dynamic.tflite"),
]


def processor_seconds():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def start(tool, model, folder, device):
    """(milliseconds until the first answer, the processor's milliseconds) of a process."""
    pocl = folder / "pocl"
    pocl.mkdir(parents=True, exist_ok=True)
    environment = dict(os.environ, TOPWORK_CACHE=str(folder), POCL_CACHE_DIR=str(pocl))
    environment.pop("TOPWORK_OPENCL_CACHE", None)
    line = [tool, "benchmark", str(model), "--device", device, "--all-on-device", "--warmup", "0", "--runs", "1", "--json"]
    before = processor_seconds()
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}\n{done.stderr.strip()}")
    report = json.loads(done.stdout)["results"][0]
    return (report["open_ms"] + report["plan_ms"] + report["first_run_ms"], 1000 * (processor_seconds() - before))


def measure(model, arguments):
    """{build: [(first answer, processor's time) of each round]}"""
    sides = (arguments.topwork, arguments.before)
    times = {side: [] for side in sides}
    with tempfile.TemporaryDirectory(prefix="topwork_second_start_") as folder:
        for i in range(arguments.rounds + 1):
            for side in sides if i % 2 == 0 else sides[::-1]:
                taken = start(side, model, pathlib.Path(folder, str(sides.index(side))), arguments.device)
                if i > 0:
                    times[side].append(taken)
    return times


def main():
    arguments = two_builds.parsed(two_builds.parser(rounds=9))
    rows = []
    for title, model in [(path.stem, path) for path in arguments.models] or NETWORKS:
        if not model.is_file():  # of the networks that are taken without models
            continue
        times = measure(model, arguments)
        for i, what in enumerate(("first answer", "processor's time")):
            ours, before = ([taken[i] for taken in times[side]] for side in (arguments.topwork, arguments.before))
            ms, other = statistics.median(ours), statistics.median(before)
            print(f"{title:30} {what:18}: {ms:9.1f} and {other:9.1f} ms, ratio {other / ms:.3f}", flush=True)
            figures = {"ours": ms, "peer": other, "ratio": other / ms, "runs": list(zip(ours, before))}
            rows.append({"model": title, "what": what, **{key: peers.rounded(value) for key, value in figures.items()}})
    if arguments.rows:
        pathlib.Path(arguments.rows).write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
