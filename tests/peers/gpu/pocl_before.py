#!/usr/bin/env python3
"""What became faster or slower on an OpenCL device between two builds of topwork, and int8 beside float32.

  pocl_before.py TOPWORK BEFORE [--device opencl:0] [--rounds 5] [--runs 10] [--rows FILE] [FLOAT INT8]...

BEFORE is another build's command. FLOAT and INT8 are forms of one network; without them those of compare.py and of
$TOPWORK_SHARED/models that are here. Both builds and both forms take turns in each round, a process each; all
operators run on the device. A first round, in which programs are compiled, does not count. A time is the fastest run of
all rounds. Not a test, for it measures time.
"""
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import peers
import two_builds

COMPARED = peers.ROOT / "build" / "peers-models"
SHARED = peers.shared_models()
NETWORKS = [
    ("EfficientNet-Lite0", COMPARED / "lite0" / "model_f32.tflite", COMPARED / "lite0" / "model_int8.tflite"),
    *((title, COMPARED / "keras" / f"{name}_f32.tflite", COMPARED / "keras" / f"{name}_int8.tflite")
      for title, name in (("MobileNet v1", "mobilenet_v1"), ("MobileNet v2", "mobilenet_v2"))),
    *((title, SHARED / "float" / f"{name}_f32.tflite", SHARED / "int8" / f"{name}_int8.tflite")
      for title, name in (("MobileNet v1 0.25, 96 pixels", "mlperf_vww_mbv1"), ("ResNet-8", "mlperf_ic_resnet8"))),
]
BEFORE, FORMS = "now (before / now)", "int8 (float32 / int8)"


def fastest(tool, model, arguments):
    """Milliseconds of the fastest run of a process."""
    line = [tool, "benchmark", str(model), "--device", arguments.device, "--all-on-device", "--warmup", "3",
            "--runs", str(arguments.runs), "--json"]
    done = subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}\n{done.stderr.strip()}")
    return json.loads(done.stdout)["results"][0]["latency_ms"]["min"]


def measure(network, arguments):
    """{(build, form): [milliseconds of each round]}"""
    _, *models = network
    sides = [(tool, model) for model in models for tool in (arguments.topwork, arguments.before)]
    times = {side: [] for side in sides}
    for i in range(arguments.rounds + 1):
        for side in sides if i % 2 == 0 else sides[::-1]:
            ms = fastest(*side, arguments)
            if i > 0:
                times[side].append(ms)
    return times


def row(title, kind, table, what, ours, peer):
    """A line of a table: two lists of times."""
    ms, other = min(ours), min(peer)
    print(f"{title:30} {kind:5} {table}: {ms:9.3f} and {other:9.3f} ms, ratio {other / ms:.3f}", flush=True)
    figures = {"ours": ms, "peer": other, "ratio": other / ms, "runs": list(zip(ours, peer))}
    return {"model": f"{title} {kind}", "what": what, **{key: peers.rounded(value) for key, value in figures.items()},
            "table": table, "kind": kind}


def main():
    parser = two_builds.parser(rounds=5)
    parser.add_argument("--runs", type=int, default=10)
    arguments = two_builds.parsed(parser)
    pairs = zip(arguments.models[::2], arguments.models[1::2])
    given = [(pair[0].stem, *pair) for pair in pairs]
    rows = []
    for network in given or [network for network in NETWORKS if all(path.is_file() for path in network[1:])]:
        title, single, byte = network
        times = measure(network, arguments)
        of = {(tool, kind): times[(tool, model)] for kind, model in (("float", single), ("int8", byte))
              for tool in (arguments.topwork, arguments.before)}
        for kind in ("float", "int8"):
            rows.append(row(title, kind, "Beside the build before", BEFORE, of[arguments.topwork, kind],
                            of[arguments.before, kind]))
        rows.append({**row(title, "int8", "int8 beside float32", FORMS, of[arguments.topwork, "int8"],
                           of[arguments.topwork, "float"]), "model": title})
    if arguments.rows:
        pathlib.Path(arguments.rows).write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
