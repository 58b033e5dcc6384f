"""What the command line does on a device: benchmarks of models, and a personalisation. Its JSON comes back."""
import hashlib
import json
import pathlib
import re
import shlex

import stages
from places import ROOT
from runner import STOP, watched

ZOO = ROOT / "models" / "zoo"
FACES = ZOO / "data" / "faces" / "train"
TRAIN = "train efficientnet_lite0_fp16.tflite --data faces --output personalised.tflite --mean 127 --std 128 --json"


def sha256(path):
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def call(connection, program, arguments, name, output):
    """Writes the JSON to output/<name>.json, with the largest memory beside; what failed, in words."""
    place = connection.place
    command = f"{place.program(program)} {arguments} >{name}.json"
    code, text = connection.do(place.output, watched(command, f"{name}.log"), again=STOP)
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


def how_to_build(build, target, long=False):
    """The command that makes a target of the folder, with the tests that stages of the preset have."""
    presets = json.loads((ROOT / "CMakePresets.json").read_text())["configurePresets"]
    if build.name not in [preset["name"] for preset in presets]:
        return f"no preset has the name {build.name} (cmake --list-presets lists them)"
    files = stages.test_files(build.name, long) if target == "topwork_tests" else None
    option = "" if files is None else f' "-DTOPWORK_TEST_FILES={files}"'
    return f"build it: cmake --preset {build.name}{option} && cmake --build --preset {build.name} --target {target}"


def push(connection, build, files):
    """The command line and the files; what is missing here ends the run."""
    program = build / "topwork"
    if not program.exists():
        raise SystemExit(f"{program} is missing; {how_to_build(build, 'topwork_cli')}")
    missing = [str(path) for path, _ in files if not path.is_file()]
    if missing:
        raise SystemExit(f"no such file: {' '.join(missing)}")
    files = [(program, program.name), *files]
    connection.do(connection.place.push, files)


def result_names(models):
    """One name for each model, in their order: of models with equal names, all but the first get a number."""
    names = []
    for model in models:
        first = name = "benchmark-" + re.sub(r"[^\w.-]", "_", model.stem)
        number = 1
        while name in names:
            number += 1
            name = f"{first}-{number}"
        names.append(name)
    return names


def benchmark(connection, build, models, output):
    failed = []
    models = [pathlib.Path(model) for model in models]
    for model, name in zip(models, result_names(models)):
        push(connection, build, [(model, model.name)])
        failed += call(connection, "topwork", f"benchmark {shlex.quote(model.name)} --json", name, output)
    return failed


def personalise(connection, build, output):
    """From pictures in a folder to a new .tflite, as a user would."""
    pictures = [(path, f"faces/{path.relative_to(FACES)}")
                for path in sorted(FACES.rglob("*")) if path.is_file()]
    push(connection, build, [(ZOO / "efficientnet_lite0_fp16.tflite", "efficientnet_lite0_fp16.tflite"), *pictures])
    return call(connection, "topwork", TRAIN, "personalise", output)
