"""What compare.py needs before it measures: virtual environments, models, and the models in the peers'
formats. All of it lies in build/, is made once, and what cannot be made is told with the reason."""
import csv
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import peers

HERE = pathlib.Path(__file__).resolve().parent
BUILD = peers.ROOT / "build"
MODELS = BUILD / "peers-models"
# Environment: packages, packages without what they depend on. pnnx is here for its program alone.
ENVIRONMENTS = {
    "peers-venv": (["ai-edge-litert==2.3.0", "MNN==3.6.1", "onnxruntime==1.32.0",
                    "ncnn==1.0.20261020", "numpy==2.4.6"], ["pnnx==20261020"]),
    "peers-plot": (["matplotlib==3.10.8"], []),
    "peers-audit": (["ai-edge-litert==2.3.0", "scikit-learn==1.9.1", "cleanlab==2.9.0", "pydvl==0.10.0"], []),
    "peers-tensorflow": (["tensorflow-cpu==2.21.0", "tf2onnx==1.17.0", "onnx==1.22.0"], []),
}
PEERS = {"litert": "LiteRT", "mnn": "MNN", "ort": "ONNX Runtime", "ncnn": "ncnn"}
SUFFIX = {"litert": "tflite", "mnn": "mnn", "ort": "onnx", "ncnn": "ncnn.param"}
LONG_S = 7200
# Of the shared models: networks that somebody uses, not those made for tests.
NO_NETWORKS = ("gen_", "aeq_", "special")
LEAST_MS, LEAST_OPERATORS = 0.02, 5


class SetupError(Exception):
    """Something cannot be made; the text says why."""


class Model:
    def __init__(self, name, kind, path):
        self.name, self.kind, self.path = name, kind, pathlib.Path(path)


def call(command, what, **options):
    """Runs a program; a failure's last line that says something is the reason."""
    try:
        done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=LONG_S, **options)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise SetupError(f"{what}: {error}") from None
    if done.returncode != 0:
        said = [line.strip() for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
        end = f"exit {done.returncode}" if done.returncode > 0 else f"signal {-done.returncode}"
        raise SetupError(f"{what}: {end}, {(said or ['nothing was said'])[-1][:300]}")
    return done.stdout.decode(errors="replace")


def library_of(build):
    """libtopwork.so of a release build; ends the script as skipped where there is none."""
    library = pathlib.Path(build) / "libtopwork.so"
    if not library.exists():
        print(f"SKIP: there is no {library}")
        sys.exit(peers.SKIP)
    return library


def need_peers():
    """Installs the peers; ends the script as skipped where that fails."""
    try:
        python("peers-venv")
    except SetupError as error:
        print(f"SKIP: the peers cannot be installed: {error}")
        sys.exit(peers.SKIP)


def go_on_in(name):
    """Runs this script in that environment, unless it does already."""
    if pathlib.Path(sys.prefix).resolve() != (BUILD / name).resolve():
        os.execv(python(name), [str(python(name)), *sys.argv])


def python(name):
    """The Python of an environment, which is made now if it is missing or holds other versions."""
    folder = BUILD / name
    packages, alone = ENVIRONMENTS[name]
    wanted = "\n".join([*packages, *alone])
    installed = folder / "installed.txt"
    program = folder / "bin" / "python"
    if installed.exists() and installed.read_text(encoding="utf-8") == wanted:
        return program
    print(f"installing into build/{name}: {', '.join([*packages, *alone])}", flush=True)
    call([sys.executable, "-m", "venv", folder], "venv")
    pip = [program, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    call([*pip, *packages], "pip")
    if alone:
        call([*pip, "--no-deps", *alone], "pip")
    installed.write_text(wanted, encoding="utf-8")
    return program


def shared_models(folder):
    """The networks of MODELS.tsv that take LiteRT some time."""
    table = folder / "MODELS.tsv"
    if not table.exists():
        print(f"left out: the models of {folder}: there is no MODELS.tsv")
        return []
    found = []
    with open(table, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            path = folder / row["category"] / f"{row['name']}.tflite"
            if row["category"] in NO_NETWORKS or row["name"].startswith(NO_NETWORKS) or not path.exists():
                continue
            if float(row["xnnpack_1t_ms"] or 0) >= LEAST_MS and int(row["n_ops"] or 0) >= LEAST_OPERATORS:
                kind = row["quantization"].split("-")[0]
                kind = {"float32": "float", "float16": "float"}.get(kind, kind)
                found.append(Model(row["name"], kind, path))
    return found


def lite0_models(topwork):
    """EfficientNet-Lite0 in all storages: float16 lies in the zoo, the others are made of it."""
    zoo = peers.ZOO / "efficientnet_lite0_fp16.tflite"
    found = [Model("EfficientNet-Lite0 fp16", "float", zoo)]
    wide = MODELS / "lite0" / "model_f32.tflite"
    quantize = [topwork, "quantize", wide, "--to"]
    calibration = ["--data", peers.ZOO / "data" / "digits" / "train", "--calibrate", "40"]
    made = {"f32": (wide, [python("peers-venv"), "-B", HERE / "personalise_network.py", zoo, wide.parent])}
    for storage in ("int8", "dynamic"):
        path = wide.with_name(f"model_{storage}.tflite")
        command = [*quantize, storage, "--output", path]
        made[storage] = (path, command + (calibration if storage == "int8" else []))
    wide.parent.mkdir(parents=True, exist_ok=True)
    for storage, (path, command) in made.items():
        try:
            if not path.exists():
                call(command, command[1])
            kind = "float" if storage == "f32" else storage
            found.append(Model(f"EfficientNet-Lite0 {storage}", kind, path))
        except SetupError as error:
            print(f"left out: EfficientNet-Lite0 {storage}: {error}")
    return found


def keras_models(wanted):
    """The networks of keras.applications in each storage, as far as they are wanted."""
    folder = MODELS / "keras"
    titles = {"mobilenet_v1": "MobileNetV1", "mobilenet_v2": "MobileNetV2", "mobilenet_v3": "MobileNetV3",
              "efficientnet_b0": "EfficientNet-B0", "resnet50": "ResNet-50"}
    found = []
    for network, text in titles.items():
        for storage in ("f32", "fp16", "int8", "dynamic"):
            kind = storage if storage in ("int8", "dynamic") else "float"
            found.append(Model(f"{text} {storage}", kind, folder / f"{network}_{storage}.tflite"))
    found = [model for model in found if is_wanted(model, wanted)]
    missing = [model.path.stem for model in found if not model.path.exists()]
    if missing:
        print(f"making networks of keras.applications: {', '.join(missing)}", flush=True)
        try:
            call([python("peers-tensorflow"), "-B", HERE / "compare_keras.py", "make", folder, *missing],
                 "Keras")
        except SetupError as error:
            print(f"left out: networks of keras.applications: {error}")
    return [model for model in found if model.path.exists()]


def to_mnn(source, target):
    """By the converter itself: its start script would install a package for logging, and report. It
    crashes on dynamic models; where the float model lies beside one, it stores its weights as int8."""
    script = "import _tools, sys; _tools.mnnconvert(['mnnconvert', *sys.argv[1:]])"
    wide, flags = source.with_name(source.name.replace("_dynamic.", "_f32.")), []
    if wide != source and wide.exists():
        source, flags = wide, ["--weightQuantBits", "8"]
    with tempfile.TemporaryDirectory() as folder:  # it leaves a file where it is called
        call([python("peers-venv"), "-B", "-c", script, "-f", "TFLITE", "--modelFile", source, "--MNNModel",
              target, "--bizCode", "x", *flags], "mnnconvert", cwd=folder)


def to_onnx(source, target, *flags):
    call([python("peers-tensorflow"), "-B", HERE / "compare_keras.py", "onnx", source, target, *flags],
         "tf2onnx")


def to_ncnn(source, target):
    """By way of ONNX with channels first."""
    # The package's start script wants torch; its program does not.
    tool = next(python("peers-venv").parent.parent.glob("lib/*/site-packages/pnnx/pnnx"))
    tool.chmod(0o755)
    with tempfile.TemporaryDirectory() as folder:  # pnnx writes a number of files
        between = pathlib.Path(folder, "between.onnx")
        to_onnx(source, between, "--channels-first")
        said = call([tool, between, f"ncnnparam={target}", f"ncnnbin={target.with_suffix('.bin')}", "fp16=0"],
                    "pnnx", cwd=folder)
    shape = re.search(r"model inputshape = \[([\d,]+)\]f32\s*$", said, re.MULTILINE)
    if shape is None:
        raise SetupError("pnnx: the network has several inputs, or others than float32")
    if "pnnx.Expression" in target.read_text(encoding="utf-8"):
        raise SetupError("pnnx: the network has operators that ncnn does not know")
    target.with_suffix(".shape").write_text(shape.group(1).replace(",", " "), encoding="ascii")


CONVERTERS = {"mnn": to_mnn, "ort": to_onnx, "ncnn": to_ncnn}


def file_for(peer, model):
    """The model in the peer's format, made once; SetupError says why it cannot be made."""
    if peer == "litert":
        return model.path
    folder = MODELS / peer
    folder.mkdir(parents=True, exist_ok=True)
    name = f"{model.path.parent.name}_{model.path.stem}"
    target, reason = folder / f"{name}.{SUFFIX[peer]}", folder / f"{name}.why"
    sources = [model.path, *BUILD.glob("peers-*/installed.txt")]
    newest = max(path.stat().st_mtime for path in sources)
    for known in (target, reason):
        if known.exists() and known.stat().st_mtime < newest:
            known.unlink()
    if reason.exists():
        raise SetupError(reason.read_text(encoding="utf-8"))
    try:
        if not target.exists():
            CONVERTERS[peer](model.path, target)
        if not target.exists():
            raise SetupError("the converter wrote no file")
    except SetupError as error:
        target.unlink(missing_ok=True)
        reason.write_text(str(error), encoding="utf-8")
        raise
    return target


def is_wanted(model, words):
    return not words or any(word.lower() in model.name.lower() for word in words)


def models(topwork, wanted):
    """All models whose names contain one of `wanted` (or all), those of shared/ last."""
    found = [*lite0_models(topwork), *keras_models(wanted), *shared_models(peers.shared_models())]
    chosen = [model for model in found if is_wanted(model, wanted)]
    if not chosen:
        sys.exit(f"no model has {' or '.join(wanted)} in its name; there are {', '.join(m.name for m in found)}")
    return chosen
