"""What the command line does on a device: benchmarks of models, and a personalisation. Its JSON comes back."""
import hashlib
import json
import pathlib
import re
import shlex

from places import ROOT
from runner import watched

ZOO = ROOT / "models" / "zoo"
FACES = ZOO / "data" / "faces" / "train"
TRAIN = "train efficientnet_lite0_fp16.tflite --data faces --output personalised.tflite --mean 127 --std 128 --json"


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def call(connection, program, arguments, name, output):
    """Writes the JSON to output/<name>.json, with the largest memory beside; what failed, in words."""
    place = connection.place
    command = f"{place.program(program)} {arguments} >{name}.json"
    code, text = connection.do(place.output, watched(command, f"{name}.log"))
    (output / f"{name}.log").write_text(text + "\n")
    if code != 0:
        return [f"{name}: exit {code}: {text.strip()[-300:]}"]
    peak = (connection.do(place.pull, "memory") or "").strip()
    try:
        document = json.loads(connection.do(place.pull, f"{name}.json") or "")
    except ValueError as error:
        return [f"{name}: no JSON came back: {error}"]
    document["device_peak_memory_kb"] = int(peak) if peak.isdigit() else None
    (output / f"{name}.json").write_text(json.dumps(document, indent=1) + "\n")
    return []


def push(connection, build, files):
    """The command line and the files; what is missing here ends the run."""
    files = [(build / "topwork", "topwork"), *files]
    missing = [str(path) for path, _ in files if not path.exists()]
    if missing:
        raise SystemExit(f"missing: {' '.join(missing)} (the command line is the target topwork_cli)")
    connection.do(connection.place.push, files)


def benchmark(connection, build, models, output):
    failed = []
    for model in map(pathlib.Path, models):
        push(connection, build, [(model, model.name)])
        name = "benchmark-" + re.sub(r"[^\w.-]", "_", model.stem)
        failed += call(connection, "topwork", f"benchmark {shlex.quote(model.name)} --json", name, output)
    return failed


def personalise(connection, build, output):
    """From pictures in a folder to a new .tflite, as a user would."""
    pictures = [(path, f"faces/{path.relative_to(FACES)}")
                for path in sorted(FACES.rglob("*")) if path.is_file()]
    push(connection, build, [(ZOO / "efficientnet_lite0_fp16.tflite", "efficientnet_lite0_fp16.tflite"), *pictures])
    return call(connection, "topwork", TRAIN, "personalise", output)
