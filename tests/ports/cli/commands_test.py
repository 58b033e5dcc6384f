"""info, run, devices and evaluate on the models of the zoo, as their users run them.

Usage: commands_test.py TOPWORK
"""
import base64
import json
import os
import pathlib
import pty
import shutil
import struct
import subprocess
import sys
import tempfile

from cli_support import (DIGITS_8X8, DIGITS_CNN, EFFICIENTNET, ROOT, ZOO, Checks, npy, png, read_npy, run)

COMMANDS = ("info", "run", "train", "evaluate", "devices", "benchmark", "verify", "quantize",
            "prune", "merge")
CLI_DATA = ROOT / "tests" / "data" / "cli"
LABELS = ZOO / "imagenet_labels.txt"
MANIFEST = {entry["path"]: entry for entry in json.loads((ZOO / "manifest.json").read_text())["files"]}


def document(checks, tool, *arguments):
    """The JSON document that a command prints; nothing else may be printed anywhere."""
    result = run(tool, *arguments, "--json")
    name = "topwork " + " ".join(map(str, arguments))
    checks.expect(result.returncode == 0 and result.stderr == "", "%s: %d %s" % (
        name, result.returncode, result.stderr))
    return json.loads(result.stdout)


def check_help(checks, tool):
    text = run(tool, "--help").stdout
    checks.expect("Exit codes:" in text and all(name in text for name in COMMANDS), "--help: " + text)
    for code in range(2, 13):
        checks.expect("\n  %2d  " % code in text, "--help does not explain exit code %d" % code)
    for command in COMMANDS:
        result = run(tool, command, "--help")
        checks.expect(result.returncode == 0 and "Example" in result.stdout and
                      "topwork %s" % command in result.stdout, "%s --help: %s" % (command, result.stdout))
        wide = [line for line in result.stdout.splitlines()
                if len(line) > 100 and not line.startswith("  topwork ")]
        checks.expect(wide == [], "%s --help: wider than 100 columns: %s" % (command, wide))
    checks.expect(run(tool, "--version").stdout.startswith("topwork "), "--version")


def check_info(checks, tool):
    info = document(checks, tool, "info", EFFICIENTNET, "--plan")
    checks.expect(info["sha256"] == MANIFEST[EFFICIENTNET.name]["sha256"], "info: sha256")
    checks.expect(info["file_bytes"] == EFFICIENTNET.stat().st_size, "info: file_bytes")
    checks.expect(info["inputs"][0]["shape"] == [1, 224, 224, 3], "info: inputs")
    checks.expect(info["head"]["n_features"] == 1280 and info["head"]["n_classes"] == 1000,
                  "info: head %s" % info["head"])
    checks.expect(all(op["supported"] for op in info["operators"]) and info["runs"], "info: runs")
    ticks = {op["name"]: (op["opencl"], op["gradient"]) for op in info["operators"]}
    checks.expect(ticks["CONV_2D"] == (True, True), "info: ticks %s" % ticks)
    pinned = run(tool, "info", EFFICIENTNET, "--plan", "--cpu-ops", "FULLY_CONNECT")
    checks.expect(pinned.returncode != 0 and "near it: 'FULLY_CONNECTED'" in pinned.stderr,
                  "info --cpu-ops: %s" % pinned.stderr)
    checks.expect(run(tool, "info", EFFICIENTNET, "--cpu-ops", "FULLY_CONNECTED,#0").returncode == 0,
                  "info --cpu-ops with good names")
    checks.expect(info["arena_bytes"] <= 1.05 * info["live_bytes"], "info: arena beyond 5 %")
    checks.expect(len(info["plan"]["steps"]) > 20, "info --plan: no steps")
    text = run(tool, "info", EFFICIENTNET, "--plan").stdout
    for word in ("serving_default", "FULLY_CONNECTED, 1280 features to 1000 classes", "8.9 MiB",
                 info["sha256"], "4.63 million", "largest live set", "gemm", "min_runtime_version"):
        checks.expect(word in text, "info: '%s' is missing in\n%s" % (word, text))
    checks.expect("\x1b" not in text, "info: colours in a pipe")


def check_signature_info(checks, tool):
    """Inputs, outputs and head are those of the signature."""
    model = ROOT / "tests" / "data" / "api" / "signatures.tflite"
    mix = document(checks, tool, "info", model, "--signature", "mix")
    checks.expect([i["name"] for i in mix["inputs"]] == ["b", "a"] and
                  [o["name"] for o in mix["outputs"]] == ["difference", "sum"],
                  "info --signature: %s" % mix)
    checks.expect("comes from SUB" in mix["head_reason"], "info --signature: %s" % mix["head_reason"])
    double = document(checks, tool, "info", model)
    checks.expect("comes from ADD" in double["head_reason"], "info: %s" % double["head_reason"])


def check_photograph(checks, tool, here):
    photo = ["run", EFFICIENTNET, "--input", ZOO / "data" / "cat.jpg", "--labels", LABELS,
             "--mean", "127", "--std", "128"]
    result = document(checks, tool, *photo, "--output", here / "out", "--top", "3")
    top = result["outputs"][0]["top"]
    expected = MANIFEST[EFFICIENTNET.name]["expected"]["top1_one_of"]
    checks.expect(len(top) == 3 and top[0]["label"] in expected, "run: the cat is %s" % top)
    descr, shape, data = read_npy(here / "out" / "output_0.npy")
    scores = struct.unpack("<1000f", data)
    checks.expect((descr, shape) == ("<f4", (1, 1000)), "run --output: %s %s" % (descr, shape))
    checks.expect(abs(sum(scores) - 1) < 1e-4 and max(scores) == scores[top[0]["class"]],
                  "run --output: not the scores")
    for threads in ("1", "3"):
        run(tool, *photo, "--threads", threads, "--output", here / threads)
        checks.expect((here / threads / "output_0.npy").read_bytes()[128:] == data,
                      "run: %s threads give other results" % threads)
    text = run(tool, *photo).stdout
    checks.expect(top[0]["label"] in text and "%" in text and "\x1b" not in text, "run: " + text)
    channels = run(tool, *photo[:-4], "--mean", "127,127,127", "--std", "128,128,128", "--output",
                   here / "channels")
    checks.expect(channels.returncode == 0 and
                  (here / "channels" / "output_0.npy").read_bytes()[128:] == data,
                  "run: --mean and --std, one value a channel, give other results")


def check_explain(checks, tool, here):
    picture = here / "why.png"
    photo = ["run", EFFICIENTNET, "--input", ZOO / "data" / "cat.jpg", "--mean", "127", "--std", "128"]
    plain = document(checks, tool, *photo)
    why = document(checks, tool, *photo, "--explain", picture)
    checks.expect(why["outputs"][0] == plain["outputs"][0], "run --explain changes the scores")
    checks.expect(why["outputs"][1]["shape"] == [1, 7, 7, 1000] and
                  why["explained_class"] == plain["outputs"][0]["top"][0]["class"], "run --explain: %s" % why)
    checks.expect(picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n", "run --explain: no PNG")
    for arguments, words in (
            ([*photo[:2], "--explain", picture], "give one with --input"),
            ([*photo, "--explain", ZOO / "data" / "cat.jpg"], "is the file of --input")):
        refused = run(tool, *arguments)
        checks.expect(refused.returncode != 0 and words in refused.stderr, "run --explain: " + refused.stderr)


def check_arrays(checks, tool, here):
    x = read_npy(DIGITS_8X8 / "test" / "x.npy")[2]
    y = struct.unpack("<397q", read_npy(DIGITS_8X8 / "test" / "y.npy")[2])
    npy(here / "three.npy", (3, 8, 8, 1), x[:3 * 256])
    result = document(checks, tool, "run", DIGITS_CNN, "--input", here / "three.npy", "--output",
                      here / "three")
    checks.expect(result["outputs"][0]["shape"] == [3, 10], "run: a batch of 3 gives %s" % result)
    descr, shape, data = read_npy(here / "three" / "output_0.npy")
    rows = [struct.unpack_from("<10f", data, 40 * i) for i in range(3)]
    checks.expect([row.index(max(row)) for row in rows] == list(y[:3]), "run: wrong digits")
    seeds = {}
    for seed in ("1", "1", "2"):
        run(tool, "run", DIGITS_CNN, "--seed", seed, "--output", here / "seed")
        seeds.setdefault(seed, set()).add((here / "seed" / "output_0.npy").read_bytes())
    checks.expect(len(seeds["1"]) == 1 and seeds["1"] != seeds["2"], "run: --seed")
    checks.expect("random" in run(tool, "run", DIGITS_CNN).stdout, "run: random input is not told")


def check_not_a_number(checks, tool, here):
    """Outputs that are no numbers come in the order of the classes, without a sign."""
    npy(here / "nan.npy", (1, 8, 8, 1), [float("nan")] * 64)
    text = run(tool, "run", DIGITS_CNN, "--input", here / "nan.npy", "--top", "3").stdout
    rows = [line.split() for line in text.splitlines()[1:4]]
    checks.expect(rows == [["nan", "class", str(i)] for i in range(3)], "run on NaN: " + text)


def check_two_classes(checks, tool, here):
    """top-5 of a model of two classes says nothing."""
    data = here / "two_classes"
    data.mkdir()
    npy(data / "x.npy", (40, 8, 8, 1), [i % 7 / 7 for i in range(40 * 64)])
    npy(data / "y.npy", (40,), [i % 2 for i in range(40)], "<i8")
    result = run(tool, "train", DIGITS_CNN, "--data", data, "--output", here / "two.tflite", "--epochs", "1")
    checks.expect("top-1" in result.stdout and "top-5" not in result.stdout, "train: " + result.stdout)
    for model, told in ((here / "two.tflite", False), (DIGITS_CNN, True)):
        text = run(tool, "evaluate", model, "--data", data).stdout
        checks.expect(("top-5" in text) == told, "evaluate %s: %s" % (model, text))


def first_model(cases):
    """The model of a .twcases file's first case (tests/support/op_cases.h)."""
    data = cases.read_bytes()
    at = 16 + struct.unpack_from("<I", data, 12)[0]
    size = struct.unpack_from("<I", data, at)[0]
    at += 4
    at += -at % 16
    return data[at:at + size]


def check_open_sizes(checks, tool, here):
    """The sums of four neighbours; the file says one value, and that any number may come."""
    model = CLI_DATA / "open_size.tflite"
    refused = run(tool, "run", model)
    checks.expect(refused.returncode != 0 and "author left open" in refused.stderr,
                  "run: sizes of the file that cannot run: %s" % refused.stderr)
    npy(here / "six.npy", (1, 1, 6, 1), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    output = document(checks, tool, "run", model, "--input", here / "six.npy")["outputs"][0]
    checks.expect(output["shape"] == [1, 1, 3, 1] and output["max"] == 18.0,
                  "run: the sizes of the .npy file: %s" % output)


def check_strings(checks, tool, here):
    """Strings in and out: a text and its sequences of two words, one of which may be left out."""
    model = here / "grams.tflite"
    model.write_bytes(first_model(ROOT / "tests" / "data" / "ops" / "string_skip_gram.twcases"))
    (here / "text.txt").write_text("the quick \u201cfox\u201d\nnot read\n", encoding="utf-8")
    result = document(checks, tool, "run", model, "--input", here / "text.txt", "--output",
                      here / "grams")
    want = ["the quick", "the \u201cfox\u201d", "the", "quick \u201cfox\u201d", "quick",
            "\u201cfox\u201d"]
    output = result["outputs"][0]
    checks.expect(output["strings"] == want and output["shape"] == [6], "run: strings %s" % result)
    saved = json.loads((here / "grams" / "output_0.json").read_text(encoding="utf-8"))
    checks.expect(saved == want, "run --output: strings %s" % saved)
    (here / "bytes.txt").write_bytes(b"caf\xe9 ok")  # not UTF-8: nothing of it may be lost
    document(checks, tool, "run", model, "--input", here / "bytes.txt", "--output", here / "bytes")
    saved = json.loads((here / "bytes" / "output_0.json").read_text(encoding="utf-8"))
    saved = [s.encode() if isinstance(s, str) else base64.b64decode(s["base64"]) for s in saved]
    checks.expect(saved == [b"caf\xe9 ok", b"caf\xe9", b"ok"], "run --output: bytes %s" % saved)
    text = run(tool, "run", model, "--input", here / "text.txt").stdout
    checks.expect('"the quick"' in text, "run: strings are printed as %s" % text)
    checks.expect(document(checks, tool, "run", model)["outputs"][0]["strings"] == [],
                  "run: an empty text has no sequences")
    checks.expect("string [1]" in run(tool, "info", model).stdout, "info: a string input")
    npy(here / "number.npy", (1,), [1.0])
    refused = run(tool, "run", model, "--input", here / "number.npy")
    checks.expect(refused.returncode != 0 and "string" in refused.stderr,
                  "run: an array for strings: %s" % refused.stderr)
    lines = run(tool, "run", DIGITS_CNN, "--input", here / "text.txt")
    checks.expect(lines.returncode != 0 and "2 lines" in lines.stderr,
                  "run: strings for an array: %s" % lines.stderr)


def check_conversion(checks, tool, here):
    """Floats for a quantized input, doubles for a float one; signatures; 16-bit random input."""
    quantized = CLI_DATA / "quantized.tflite"
    values = [0.126, -1.0, 9.0, -9.0]  # the last two are beyond int8: scale 0.05, zero point 3
    npy(here / "float.npy", (1, 4), values)
    npy(here / "double.npy", (1, 4), values, "<f8")
    npy(here / "half.npy", (1, 4), values, "<f2")
    npy(here / "int8.npy", (1, 4), [6, -17, 127, -128], "|i1")
    want = (0.15, -1.0, 6.2, -6.55)
    for file in ("float", "double", "half", "int8"):
        for flags, factor in (([], 1), (["--signature", "double"], 2)):
            run(tool, "run", quantized, "--input", here / (file + ".npy"), "--output", here / "out",
                *flags)
            got = struct.unpack("<4f", read_npy(here / "out" / "output_0.npy")[2])
            checks.expect(max(abs(factor * w - g) for w, g in zip(want, got)) < 1e-5,
                          "run: %s.npy into int8, %s gives %s" % (file, flags, got))
    x = struct.unpack("<64f", read_npy(DIGITS_8X8 / "test" / "x.npy")[2][:256])
    npy(here / "digit.npy", (1, 8, 8, 1), x, "<f8")
    npy(here / "digit32.npy", (1, 8, 8, 1), x)
    outputs = [document(checks, tool, "run", DIGITS_CNN, "--input", here / name)["outputs"]
               for name in ("digit.npy", "digit32.npy")]
    checks.expect(outputs[0] == outputs[1], "run: float64 input: %s" % outputs)
    (here / "quantized").mkdir()
    npy(here / "quantized" / "x.npy", (3, 4), values * 3)
    npy(here / "quantized" / "y.npy", (3, 4), [0.15, -1.0, 6.2, -6.55] * 3)
    judged = document(checks, tool, "evaluate", quantized, "--data", here / "quantized")
    checks.expect(judged["mae"] < 1e-5, "evaluate: floats for an int8 input: %s" % judged)
    judged = document(checks, tool, "evaluate", quantized, "--data", here / "quantized", "--signature",
                      "double")
    checks.expect(abs(judged["mae"] - 13.9 / 4) < 1e-5, "evaluate --signature: %s" % judged)
    text = run(tool, "run", CLI_DATA / "outputs.tflite", "--seed", "3").stdout
    checks.expect(text.count("%") >= 16, "run: rounded probabilities as percent:\n" + text)
    checks.expect("half" in text and "min" in text, "run: " + text)


def check_evaluate(checks, tool, here):
    data = DIGITS_8X8 / "test"
    expected = MANIFEST["digits_cnn_f32.tflite"]["expected"]["top1"]
    for model in ("digits_cnn_f32.tflite", "digits_cnn_fp16.tflite"):
        judged = document(checks, tool, "evaluate", ZOO / model, "--data", data)
        checks.expect(abs(judged["top1"] - expected) < 1e-9, "evaluate %s: %s" % (model, judged["top1"]))
        checks.expect(judged["top1"] <= judged["top5"] <= 1 and judged["n_examples"] == 397, "top-5")
        diagonal = sum(judged["confusion"][i][i] for i in range(10))
        checks.expect(diagonal == round(judged["top1"] * 397), "evaluate: confusion matrix")
        checks.expect(sum(map(sum, judged["confusion"])) == 397, "evaluate: confusion sums to all")
        for i, row in enumerate(judged["confusion"]):
            recall = row[i] / sum(row)
            precision = row[i] / sum(other[i] for other in judged["confusion"])
            entry = judged["classes"][i]
            checks.expect(abs(entry["recall"] - recall) < 1e-9 and
                          abs(entry["precision"] - precision) < 1e-9, "evaluate: class %d" % i)
        checks.expect(0 < judged["loss"] < 0.3, "evaluate: loss %s" % judged["loss"])
    for name in ("tabby", "no such class"):  # one class that the model has, one that it has not
        (here / "folders" / name).mkdir(parents=True)
        png(here / "folders" / name / "0.png", 16, 16, lambda x, y: (9 * x, 9 * y, 40))
    judged = document(checks, tool, "evaluate", EFFICIENTNET, "--data", here / "folders", "--labels",
                      LABELS)
    checks.expect("1 of 2 classes" in judged["note"] and judged["said_instead"], "evaluate: note")
    result = run(tool, "evaluate", EFFICIENTNET, "--data", here / "folders")
    checks.expect("note: " in result.stderr and "top-1 0.0 %" in result.stdout and
                  "class " in result.stdout, "evaluate: unknown classes: " + result.stdout)


def check_devices(checks, tool):
    devices = document(checks, tool, "devices")
    cpu = devices[0]
    checks.expect(cpu["device"] == "cpu" and cpu["available"] and cpu["instruction_set"] and
                  1 <= cpu["n_threads"] <= min(4, cpu["n_processors"]) and cpu["n_threads_reason"],
                  "devices: %s" % cpu)
    text = run(tool, "devices").stdout
    checks.expect(cpu["n_threads_reason"] in text, text)
    checks.expect("instruction set " + cpu["instruction_set"] in text, "devices")
    checks.expect(len(devices) >= 2, "devices: OpenCL, or why there is none")
    for device in devices[1:]:
        said = device["name"] if device["available"] else device["reason"]
        checks.expect(device["device"] == "opencl" and device["id"] in text and said in text,
                      "devices: %s\n%s" % (device, text))
    no_library = run(tool, "devices",
                     env={"TOPWORK_OPENCL_LIBRARY": "/no/such/library.so"}).stdout
    checks.expect("/no/such/library.so" in no_library or "built without OpenCL" in no_library, no_library)


def check_board(checks, tool):
    """What devices says of a Jetson, from a copy of the files that tell it."""
    hwmon = "sys/class/hwmon/hwmon1/"
    files = {"proc/device-tree/model": "NVIDIA Jetson Orin Nano Developer Kit\0",
             "etc/nv_tegra_release": "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic\n",
             "etc/nvpmodel.conf": "< POWER_MODEL ID=0 NAME=15W >\n< POWER_MODEL ID=1 NAME=7W >\n",
             "var/lib/nvpmodel/status": "pmode:0001\n", hwmon + "name": "ina3221\n", hwmon + "in1_label": "VDD_IN\n",
             hwmon + "in1_input": "5080\n", hwmon + "curr1_input": "1000\n"}
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, name)), exist_ok=True)
            with open(os.path.join(root, name), "w", encoding="utf-8") as file:
                file.write(text)
        no_gpu = {"TOPWORK_OPENCL_LIBRARY": "none"}
        machine = document(checks, tool, "devices", "--root", root)[0]["machine"]
        sensor = machine["power_sensors"][0]
        checks.expect(abs(sensor.pop("watts") - 5.08) < 1e-9 and
                      sensor == {"driver": "ina3221", "name": "VDD_IN", "scope": "board"} and
                      machine["power_mode"] == "7W" and machine["energy_from"] == "ina3221 VDD_IN", str(machine))
        text = run(tool, "devices", "--root", root, env=no_gpu).stdout
        for part in ("NVIDIA Jetson Orin Nano Developer Kit, Jetson Linux R36.4.3, power mode 7W",
                     "NVIDIA has no OpenCL for Jetson", "energy: ina3221 VDD_IN"):
            checks.expect(part in text, text)
    with tempfile.TemporaryDirectory() as root:
        text = run(tool, "devices", "--root", root).stdout
        checks.expect("Jetson" not in text and "energy: no sensor of power" in text, text)


def check_opencl(checks, tool):
    """The same scores on an OpenCL device, where there is one, and a plan that tells what runs there."""
    usable = [device["id"] for device in document(checks, tool, "devices")[1:] if device["available"]]
    if not usable:
        print("SKIP run --device opencl: no OpenCL device")
        return
    on_cpu = document(checks, tool, "run", DIGITS_CNN)["outputs"][0]["top"]
    for precision, most in (("float32", 1e-4), ("float16", 5e-3)):
        flags = ("--device", usable[0], "--precision", precision)
        there = document(checks, tool, "run", DIGITS_CNN, *flags)["outputs"][0]["top"]
        scores = {entry["class"]: entry["score"] for entry in there}
        checks.expect(all(abs(scores.get(entry["class"], 9) - entry["score"]) < most for entry in on_cpu[:1]),
                      "run --device %s --precision %s: %s on the CPU, %s there" % (
                          usable[0], precision, on_cpu, there))
    plan = run(tool, "info", DIGITS_CNN, "--plan", "--device", usable[0]).stdout
    checks.expect("CONV_2D" in plan and "opencl" in plan and "device" in plan, plan)
    described = document(checks, tool, "info", DIGITS_CNN, "--plan", "--device", usable[0])
    checks.expect(described["device_bytes"] > 0, "info: device_bytes %s" % described.get("device_bytes"))


def on_terminal(tool, arguments, **environment):
    """What a command prints when both its outputs are a terminal."""
    mine, its = pty.openpty()
    process = subprocess.Popen([str(tool), *map(str, arguments)], stdout=its, stderr=its,
                               env=dict({k: v for k, v in os.environ.items() if k != "NO_COLOR"},
                                        TERM="xterm-256color", **environment))
    os.close(its)
    text = b""
    while True:
        try:
            piece = os.read(mine, 65536)
        except OSError:  # the other side is closed
            break
        if not piece:
            break
        text += piece
    os.close(mine)
    process.wait(timeout=60)
    return text.decode()


def check_terminal(checks, tool):
    arguments = ["evaluate", DIGITS_CNN, "--data", DIGITS_8X8 / "test"]
    text = on_terminal(tool, arguments)
    checks.expect("\x1b[32m" in text and "\r" in text and "397/397 examples" in text and "/s" in text,
                  "terminal: no coloured progress in %r" % text[:300])
    plain = on_terminal(tool, arguments, NO_COLOR="1")
    checks.expect("\x1b[3" not in plain and "\x1b[1" not in plain and "397/397 examples" in plain,
                  "terminal: NO_COLOR: %r" % plain[:300])
    piped = run(tool, *arguments)
    checks.expect("\r" not in piped.stderr and "397 of 397 examples" in piped.stderr and
                  "\x1b" not in piped.stderr + piped.stdout, "pipe: %r" % piped.stderr)


# Shapes that depend on values of inputs; random ones need not fit.
NEEDS_RIGHT_VALUES = {"aeq_single_slice.tflite"}


def check_shared_models(checks, tool):
    """Every model beside the repository is described; those that run, run on random input."""
    folder = pathlib.Path(os.environ.get("TOPWORK_SHARED", "/nonexistent")) / "models"
    models = sorted(folder.glob("*/*.tflite"))
    if not models:
        print("no models in TOPWORK_SHARED: those of the zoo are enough for all other checks")
    for model in models:
        result = run(tool, "info", model, "--json")
        if not checks.expect(result.returncode == 0 and result.stderr == "",
                             "info %s: %d %s" % (model.name, result.returncode, result.stderr)):
            continue
        info = json.loads(result.stdout)
        checks.expect(run(tool, "info", model).returncode == 0, "info %s for people" % model.name)
        result = run(tool, "run", model, "--json")
        if info["runs"] and model.name not in NEEDS_RIGHT_VALUES:
            good = result.returncode == 0
        else:
            good = result.returncode in (3, 4, 5) and result.stderr.count("\n") == 1
        checks.expect(good, "run %s: %d %s" % (model.name, result.returncode, result.stderr))
        if model.name == "gen_digits_lstm_f32.tflite":  # reshapes to a batch of 1
            batch = run(tool, "benchmark", model, "--batch", "3")
            checks.expect(batch.returncode == 5 and "cannot run a batch of 3" in batch.stderr,
                          "benchmark --batch: %d %s" % (batch.returncode, batch.stderr))


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_commands_"))
    try:
        check_help(checks, tool)
        check_info(checks, tool)
        check_signature_info(checks, tool)
        check_photograph(checks, tool, here)
        check_explain(checks, tool, here)
        check_arrays(checks, tool, here)
        check_not_a_number(checks, tool, here)
        check_two_classes(checks, tool, here)
        check_open_sizes(checks, tool, here)
        check_strings(checks, tool, here)
        check_conversion(checks, tool, here)
        check_evaluate(checks, tool, here)
        check_board(checks, tool)
        check_devices(checks, tool)
        check_opencl(checks, tool)
        check_terminal(checks, tool)
        check_shared_models(checks, tool)
    finally:
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
