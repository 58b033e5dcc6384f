"""train: losses, solvers, layers, heads, memories, golden sets, caches and what --json says of them.

Usage: train_flags_test.py TOPWORK
"""
import json
import pathlib
import random
import shutil
import struct
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, EFFICIENTNET, ROOT, ZOO, Checks, npy, png, read_npy, run

DATA = ["--data", DIGITS_8X8 / "train"]
TEST = ["--data", DIGITS_8X8 / "test"]
USAGE, UNSUPPORTED, DATA_WRONG = 2, 4, 5


def train(checks, tool, *arguments, model=DIGITS_CNN, data=DATA):
    """The JSON document of a training, or None."""
    result = run(tool, "train", model, *data, *arguments, "--json")
    if not checks.expect(result.returncode == 0 and result.stderr == "", "train %s: %d %s" % (
            " ".join(map(str, arguments)), result.returncode, result.stderr)):
        return None
    return json.loads(result.stdout)


def top1(tool, model, *data):
    return json.loads(run(tool, "evaluate", model, *data, "--json").stdout)["top1"]


def labels(tool, model):
    return json.loads(run(tool, "info", model, "--json").stdout)["labels"]


def arrays(folder, x, y_shape, y, y_descr):
    """A folder of x.npy, some examples of the digits, and other targets."""
    folder.mkdir()
    shutil.copy(x, folder / "x.npy")
    npy(folder / "y.npy", y_shape, y, y_descr)
    return folder


def digit_labels(part):
    _, shape, data = read_npy(DIGITS_8X8 / part / "y.npy")
    return struct.unpack("<%dq" % shape[0], data)


def check_neighbours(checks, tool, here):
    """knn: every example is stored, or as many as --max-rows says, and a memory goes on."""
    output, memory = here / "knn.tflite", here / "knn.memory"
    document = train(checks, tool, "--output", output, "--optimizer", "knn", "--memory", memory)
    checks.expect(document["settings"]["optimizer"] == "knn", "another optimizer")
    checks.expect(top1(tool, output, *TEST) > 0.97, "nearest neighbours know the digits")
    result = run(tool, "train", DIGITS_CNN, *DATA, "--output", output, "--neighbours", "3", "--max-rows", "40")
    checks.expect("40 of 600 examples are stored" in result.stdout, result.stdout + result.stderr)
    checks.expect(top1(tool, output, *TEST) > 0.9, "40 examples know the digits")
    # What comes later joins what the memory holds.
    more = train(checks, tool, "--output", output, "--optimizer", "knn", "--memory", memory, data=TEST)
    checks.expect(more["settings"]["examples"] == "997", "the memory holds other examples")
    # A learner's memory brings its examples.
    learnt = here / "learnt.memory"
    run(tool, "learn", DIGITS_CNN, "--memory", learnt, "--add", DIGITS_8X8 / "train")
    taken = train(checks, tool, "--output", output, "--optimizer", "knn", "--memory", learnt, data=[])
    checks.expect(taken["settings"]["examples"] == "600" and top1(tool, output, *TEST) > 0.97,
                  "nearest neighbours of a learner's examples")
    for optimizer in ("ridge", "lbfgs"):
        train(checks, tool, "--output", output, "--optimizer", optimizer, "--memory", here / (optimizer + ".memory"))
    for flags, text in ((["--optimizer", "ridge", "--neighbours", "2"], "belong to --optimizer knn"),
                        (["--optimizer", "knn", "--layers", "2"], "solves the last layer alone"),
                        (["--max-rows", "8"], "--max-rows is 8, and 10 classes")):
        wrong = run(tool, "train", DIGITS_CNN, *DATA, "--output", here / "wrong.tflite", *flags)
        checks.expect(wrong.returncode != 0 and text in wrong.stderr, "%s: %s" % (flags, wrong.stderr))


def check_last_fit(checks, tool, here):
    """The examples held back are trained on in the end, unless --keep-held-back; figures stay."""
    models, documents = {}, {}
    for name, flags in (("fitted", []), ("kept", ["--keep-held-back"]),
                        ("all", ["--validation", "0"])):
        output = here / (name + ".tflite")
        report = ["--report", here / (name + ".html")]
        documents[name] = train(checks, tool, "--output", output, "--epochs", "4", "--lr", "0.01",
                                *report, *flags)
        if documents[name] is None:
            return
        models[name] = output.read_bytes()
    checks.expect(models["fitted"] == models["all"] != models["kept"],
                  "the last fit does not give the model of all examples")
    fitted, kept = documents["fitted"], documents["kept"]
    checks.expect(fitted["evaluation"] == kept["evaluation"] and fitted["stored"] == kept["stored"],
                  "the last fit changes the figures of the examples held back")
    checks.expect([fitted["fitted_on_all"], kept["fitted_on_all"],
                   documents["all"]["fitted_on_all"]] == [True, False, False], "fitted_on_all")
    said = fitted["settings"]["fitted on"], kept["settings"]["fitted on"]
    checks.expect(said == ("all 600, once more after the run", "480"), "fitted on: %s" % (said,))
    checks.expect(said[0] in (here / "fitted.html").read_text(), "the report hides the last fit")
    for flags, told in (([], True), (["--keep-held-back"], False)):
        text = run(tool, "train", DIGITS_CNN, *DATA, "--output", here / "t.tflite", "--epochs", "1",
                   *flags).stdout
        checks.expect(("once more on all 600 examples" in text) == told,
                      "train %s says\n%s" % (" ".join(flags), text))


def check_optimizers(checks, tool, here):
    new = here / "o.tflite"
    for flags, least in ((["adamw", "--weight-decay", "0.01"], 0.93), (["lbfgs"], 0.93),
                         (["ridge", "--weight-decay", "0.001"], 0.9), (["imprint"], 0.85),
                         (["sgd", "--momentum", "0.9", "--nesterov", "--lr", "0.02", "--clip-norm",
                           "1"], 0.93),
                         (["adam", "--beta1", "0.8", "--beta2", "0.99", "--epsilon", "1e-7"], 0.93),
                         (["adam", "--l1", "1e-4", "--label-smoothing", "0.1"], 0.93),
                         (["adam", "--feature-type", "float16", "--balance"], 0.93),
                         (["adam", "--init", "imprint", "--class-weights", "1,1,1,1,1,1,1,1,1,2"],
                          0.93)):
        document = train(checks, tool, "--output", new, "--optimizer", *flags)
        if document:
            accuracy = top1(tool, new, *TEST)
            checks.expect(accuracy > least, "%s: accuracy %s" % (" ".join(flags), accuracy))
    rates = {}
    for flags in (["constant"], ["cosine"], ["linear"],
                  ["step", "--schedule-epochs", "2", "--schedule-factor", "0.5"],
                  ["constant", "--warmup", "1000"]):
        document = train(checks, tool, "--output", new, "--lr", "0.01", "--epochs", "6", "--schedule",
                         *flags)
        rates[" ".join(flags)] = [row["learning_rate"] for row in document["epochs"]]
    near = lambda a, b: all(abs(u - v) < 1e-7 for u, v in zip(a, b))
    checks.expect(near(rates["constant"], [0.01] * 6), "constant: %s" % rates["constant"])
    checks.expect(near(rates["step --schedule-epochs 2 --schedule-factor 0.5"],
                       [0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025]), "step: %s" % rates)
    checks.expect(rates["cosine"][-1] < 1e-5 and rates["cosine"][2] > 0.004, "cosine: %s" % rates)
    checks.expect(rates["linear"][-1] < 2e-4, "linear: %s" % rates["linear"])
    rising = rates["constant --warmup 1000"]
    checks.expect(rising == sorted(rising) and rising[-1] < 0.01, "warm-up: %s" % rising)


def check_early_end(checks, tool, here):
    document = train(checks, tool, "--output", here / "e.tflite", "--epochs", "400", "--patience", "3",
                     "--lr", "0.05", "--calibrate", "--report", here / "e.html")
    done = int(document["settings"]["epochs"])
    best = int(document["settings"]["best epoch"])
    checks.expect(done == len(document["epochs"]) < 400 and best == done - 3 and
                  "epoch %d" % best in document["note"], "patience: %s" % document["settings"])
    losses = [row["validation_loss"] for row in document["epochs"]]
    checks.expect(min(losses) == losses[best - 1], "patience: not the best epoch")
    calibration = document["calibration"]
    checks.expect(abs(calibration["loss_before"] - min(losses)) < 1e-6,
                  "patience: the weights are not the best ones")
    checks.expect(calibration["loss_after"] <= calibration["loss_before"] and
                  abs(calibration["error_after"] - document["evaluation"]["calibration_error"]) < 1e-9,
                  "calibration: %s" % calibration)
    checks.expect(len(document["worst"]) > 0 and document["worst"][0]["name"].startswith("x.npy["),
                  "worst: %s" % document["worst"][:1])
    checks.expect("temperature" in (here / "e.html").read_text(), "report: no calibration")
    document = train(checks, tool, "--output", here / "e.tflite", "--epochs", "1000000",
                     "--max-seconds", "0.5", "--lr", "0.01")
    checks.expect(0.4 < document["seconds"]["training"] and len(document["epochs"]) > 1 and
                  "max-seconds" in document["note"], "max-seconds: %s" % document["seconds"])


def check_layers(checks, tool, here):
    n = {}
    for flags in (["last"], ["last2"], ["3"], ["last2", "--bias-only"]):
        document = train(checks, tool, "--output", here / "l.tflite", "--layers", *flags, "--epochs",
                         "8", "--init", "shipped")
        n[" ".join(flags)] = int(document["model_info"]["parameters trained"])
        accuracy = top1(tool, here / "l.tflite", *TEST)
        checks.expect(accuracy > 0.95, "layers %s: accuracy %s" % (flags, accuracy))
    checks.expect(n["last"] < n["last2 --bias-only"] < n["last2"] < n["3"], "layers: %s" % n)
    for flags in (["--hidden", "32", "--dropout", "0.2"], ["--project", "300", "--optimizer", "ridge"]):
        train(checks, tool, "--output", here / "l.tflite", *flags)
        accuracy = top1(tool, here / "l.tflite", *TEST)
        checks.expect(accuracy > 0.9, "%s: accuracy %s" % (flags, accuracy))
    for flags in (["--balance=repeat"], ["--balance=smote", "--focal", "2"], ["--mixup", "0.2"]):
        train(checks, tool, "--output", here / "l.tflite", *flags)
        accuracy = top1(tool, here / "l.tflite", *TEST)
        checks.expect(accuracy > 0.9, "%s: accuracy %s" % (flags, accuracy))
    for flags in (["--dropout", "0.2"], ["--project", "9", "--hidden", "9"], ["--balance=all"]):
        result = run(tool, "train", DIGITS_CNN, *DATA, "--output", here / "l.tflite", *flags)
        checks.expect(result.returncode == 2, "%s: %d" % (flags, result.returncode))
    result = run(tool, "train", DIGITS_CNN, *DATA, "--output", here / "l.tflite", "--layers", "99")
    checks.expect(result.returncode not in (0, 10) and len(result.stderr.splitlines()) >= 1,
                  "99 layers: %d %s" % (result.returncode, result.stderr))


def check_targets(checks, tool, here):
    """Several classes an example, and regression."""
    digits = digit_labels("train")
    x = DIGITS_8X8 / "train" / "x.npy"
    bits = [float(d % 2 == 0) for d in digits], [float(d > 4) for d in digits]
    pairs = [value for pair in zip(*bits) for value in pair]
    several = arrays(here / "several", x, (len(digits), 2), pairs, "<f4")
    document = train(checks, tool, "--output", here / "s.tflite", "--epochs", "30",
                     data=["--data", several])
    judged = document["evaluation"]
    checks.expect(document["settings"]["loss"] == "sigmoid" and judged["accuracy"] > 0.9 and
                  judged["mean_average_precision"] > 0.9, "sigmoid: %s" % judged)
    sums = arrays(here / "sums", x, (len(digits), 1), [float(d) for d in digits], "<f4")
    for flags, least in ((["--optimizer", "ridge"], 0.6), (["--loss", "huber", "--huber-delta", "2",
                                                            "--epochs", "60"], 0.5)):
        document = train(checks, tool, "--output", here / "r.tflite", "--report", here / "r.html", *flags,
                         data=["--data", sums])
        if document is None:
            continue
        judged = document["evaluation"]
        checks.expect(judged["r2"] > least and
                      "train_accuracy" not in document["epochs"][0], "%s: %s" % (flags, judged))
    text = run(tool, "info", here / "r.tflite").stdout  # no SOFTMAX, so no classes
    checks.expect("64 features to 1 output (" in text, "info after a regression: %s" % text)
    for folder, flags, word in ((DIGITS_8X8 / "train", ["--loss", "mse"], "numbers"),
                                (sums, ["--loss", "softmax"], "one class"),
                                (sums, ["--loss", "sigmoid"], "0 and 1")):
        result = run(tool, "train", DIGITS_CNN, "--data", folder, "--output", here / "n.tflite", *flags)
        checks.expect(result.returncode == DATA_WRONG and word in result.stderr,
                      "%s: %d %s" % (flags, result.returncode, result.stderr))


def colours(folder, names, n=6):
    """Photographs of flat colours, told apart by their names."""
    hues = {"red": (220, 30, 30), "green": (30, 200, 40), "blue": (30, 40, 220), "grey": (120, 120, 120)}
    random.seed(1)
    for name in names:
        (folder / name).mkdir(parents=True)
        for i in range(n):
            shift = [random.randrange(-25, 25) for _ in range(3)]
            png(folder / name / ("%d.png" % i), 10, 12, lambda x, y: tuple(
                max(0, min(255, v + s + x)) for v, s in zip(hues[name], shift)))
    return ["--data", folder]


def check_heads(checks, tool, here):
    """Heads are kept, joined by new classes, changed, and put into models."""
    two = colours(here / "two", ["red", "green"])
    three = colours(here / "three", ["red", "green", "blue"])
    head, new = here / "c.head", here / "c.tflite"
    flags = ["--validation", "0", "--epochs", "10"]
    train(checks, tool, "--save-head", head, *flags, model=EFFICIENTNET, data=two)
    checks.expect(head.stat().st_size < 40000, "head: %d bytes" % head.stat().st_size)
    if train(checks, tool, "--head", head, "--output", new, *flags, "--rename-class", "red=rouge",
             "--remove-class", "green", "--rename-class", "rouge=red", model=EFFICIENTNET,
             data=three) is None:
        return
    checks.expect(sorted(labels(tool, new)) == ["blue", "green", "red"] and
                  labels(tool, new)[0] == "red", "head: classes %s" % labels(tool, new))
    checks.expect(top1(tool, new, *three) == 1.0, "head: accuracy %s" % top1(tool, new, *three))
    merged = here / "merged.tflite"
    if train(checks, tool, "--head", head, "--output", merged, *flags, "--merge-class", "red=green", model=EFFICIENTNET,
             data=colours(here / "rest", ["green", "blue"])) is not None:
        checks.expect(labels(tool, merged) == ["green", "blue"], "head: merged classes %s" % labels(tool, merged))
    for change in (["--remove-class", "pink"], ["--rename-class", "pink=rose"], ["--merge-class", "pink=red"],
                   ["--merge-class", "red=red"]):
        result = run(tool, "train", EFFICIENTNET, *two, "--head", head, "--output", new, *change)
        checks.expect(result.returncode == DATA_WRONG and change[1].split("=")[0] in result.stderr,
                      "%s: %s" % (change, result.stderr))
    result = run(tool, "train", DIGITS_CNN, *DATA, "--head", head, "--output", here / "n.tflite")
    checks.expect(result.returncode not in (0, 10) and "c.head" in result.stderr and
                  not (here / "n.tflite").exists(), "foreign head: %s" % result.stderr)


def check_memory(checks, tool, here):
    """New classes arrive alone; the old ones are remembered."""
    first = colours(here / "first", ["red", "green"], 10)
    second = colours(here / "second", ["blue"], 10)
    everything = colours(here / "everything", ["red", "green", "blue"])
    memory, new = here / "m.memory", here / "m.tflite"
    flags = ["--memory", memory, "--output", new, "--replay", "15", "--epochs", "15"]
    train(checks, tool, *flags, model=EFFICIENTNET, data=first)
    shutil.rmtree(here / "first")
    document = train(checks, tool, *flags, model=EFFICIENTNET, data=second)
    if document is None:
        return
    checks.expect(document["epochs"][0]["epoch"] == 16 and document["settings"]["examples"] == "15",
                  "memory: %s" % document["settings"])
    checks.expect(top1(tool, new, *everything) == 1.0, "memory: %s" % top1(tool, new, *everything))
    document = train(checks, tool, *flags, model=EFFICIENTNET, data=[])
    checks.expect(document["epochs"][0]["epoch"] == 31, "memory alone: %s" % document["epochs"][:1])


def check_golden(checks, tool, here):
    kept = ["--golden", DIGITS_8X8 / "test"]
    document = train(checks, tool, "--output", here / "g.tflite", *kept, "--init", "shipped", "--epochs",
                     "5")
    checks.expect(document["golden"]["n_examples"] == 397 and
                  document["golden"]["after"] >= document["golden"]["before"] > 0.95,
                  "golden: %s" % document["golden"])
    digits = digit_labels("train")
    random.seed(2)
    wrong = arrays(here / "wrong", DIGITS_8X8 / "train" / "x.npy", (len(digits),),
                   [(d + random.randrange(10)) % 10 for d in digits], "<i8")
    result = run(tool, "train", DIGITS_CNN, "--data", wrong, "--output", here / "bad.tflite", *kept)
    checks.expect(result.returncode == DATA_WRONG and "golden" in result.stderr and
                  not (here / "bad.tflite").exists(), "golden: %d %s" % (
                      result.returncode, result.stderr.splitlines()[-1:]))
    # Wrong labels spoil the last epochs; in the first ones the rate is next to nothing.
    document = train(checks, tool, "--output", here / "back.tflite", *kept, "--init", "shipped",
                     "--optimizer", "sgd", "--lr", "1", "--warmup", "10000", "--epochs", "30",
                     data=["--data", wrong])
    checks.expect("golden set" in document.get("note", "") and
                  document["golden"]["after"] >= document["golden"]["before"],
                  "roll-back: %s %s" % (document.get("note"), document["golden"]))


def check_cache(checks, tool, here):
    images = colours(here / "cached", ["red", "green"])
    cache = here / "f.cache"
    flags = ["--cache", cache, "--output", here / "f.tflite", "--epochs", "3"]
    first = train(checks, tool, *flags, model=EFFICIENTNET, data=images)
    made = (here / "f.tflite").read_bytes()
    second = train(checks, tool, *flags, model=EFFICIENTNET, data=images)
    checks.expect("features from the cache" not in first["settings"] and
                  second["settings"]["features from the cache"] == "12" and
                  (here / "f.tflite").read_bytes() == made, "cache: %s" % second["settings"])
    other = run(tool, "train", EFFICIENTNET, *images, *flags, "--mean", "100", "--std", "90", "--json")
    checks.expect(other.returncode == 0 and "is replaced" in other.stderr and
                  "features from the cache" not in json.loads(other.stdout)["settings"] and
                  (here / "f.tflite").read_bytes() != made, "other pixels: %s" % other.stderr)
    cache.unlink()
    spilt = train(checks, tool, *flags, "--cache-limit", "20kb", model=EFFICIENTNET, data=images)
    checks.expect((here / "f.tflite").read_bytes() == made and spilt["memory"]["features"] <= 20480,
                  "cache limit: %s" % spilt["memory"])
    varied = train(checks, tool, "--output", here / "v.tflite", "--augment", "3", "--flip", "--crop",
                   "0.2", "--brightness", "0.1", "--noise", "0.02", "--epochs", "10",
                   model=EFFICIENTNET, data=images)
    checks.expect(varied["evaluation"]["top1"] == 1.0, "augmented: %s" % varied["evaluation"])


def check_pixels(checks, tool, here):
    """How pixels were scaled is recorded, so that the new model needs no flags."""
    model = ZOO / "digits_cnn_f32.tflite"
    images = here / "grey"
    for name, level in (("dark", 40), ("light", 200)):
        (images / name).mkdir(parents=True)
        for i in range(5):
            png(images / name / ("%d.png" % i), 8, 8, lambda x, y: (level + 3 * i + x,) * 3)
    result = run(tool, "train", model, "--data", images, "--output", here / "p.tflite", "--mean", "12",
                 "--std", "16", "--json")
    if checks.expect(result.returncode == 0, "pixels: " + result.stderr):
        scale = json.loads(run(tool, "info", here / "p.tflite", "--json").stdout)["normalization"]
        checks.expect(scale == {"mean": [12.0], "std": [16.0]}, "pixels: %s" % scale)


def check_device(checks, tool, here):
    """The last layer trains on an OpenCL device; what that cannot do is said."""
    output = ["--output", here / "d.tflite"]
    absent = run(tool, "train", DIGITS_CNN, *DATA, *output, "--device", "opencl:no such device")
    checks.expect(absent.returncode not in (0, 10) and "OpenCL" in absent.stderr,
                  "absent device: %d %s" % (absent.returncode, absent.stderr))
    devices = json.loads(run(tool, "devices", "--json").stdout)
    usable = [device for device in devices if device["device"] == "opencl" and device["available"]
              and "name" in device]
    if not usable:
        print("SKIP train --device: no usable OpenCL device")
        return
    flags = [*output, "--device", usable[0]["id"]]
    document = train(checks, tool, *flags)
    plain = train(checks, tool, *output, "--device", "cpu", "--optimizer", "adam")
    where = document["settings"]["device of the steps"]
    checks.expect(where == usable[0]["name"] and document["memory"]["on the device"] > 0,
                  "on a device: %s %s" % (where, document["memory"]))
    checks.expect(plain["settings"]["device of the steps"] == "cpu" and
                  "on the device" not in plain["memory"], "on the CPU: %s" % plain["settings"])
    loss = [one["epochs"][-1]["train_loss"] for one in (document, plain)]
    checks.expect(abs(loss[0] - loss[1]) < 1e-3 * loss[1], "losses: %s" % loss)
    solved = train(checks, tool, *flags, "--optimizer", "ridge")["settings"]["device of the steps"]
    checks.expect(solved == usable[0]["name"], "ridge on a device: %s" % solved)
    solved = train(checks, tool, *flags, "--optimizer", "lbfgs")["settings"]["device of the steps"]
    checks.expect(solved.startswith("cpu; lbfgs"), "lbfgs on a device: %s" % solved)


def check_extraction(checks, tool, here):
    """Features on the CPU and an OpenCL device at once, where there is one."""
    devices = json.loads(run(tool, "devices", "--json").stdout)[1:]
    places = ["cpu"] + [device["id"] for device in devices if device["available"]]
    if len(places) == 1:
        print("SKIP train --feature-devices: no OpenCL device")
        return
    for precision in ("float32", "float16"):
        made = here / ("shared_out_%s.tflite" % precision)
        flags = ["--output", made, "--feature-devices", ",".join(places), "--precision", precision]
        document = train(checks, tool, *flags)
        if document is not None:
            checks.expect(top1(tool, made, *TEST) > 0.9, "--feature-devices %s" % ",".join(places))
            told = document["settings"]["device of the features"]
            checks.expect(told == ", ".join(places[1:] + places[:1]), "told as %s" % told)
    chosen = train(checks, tool, "--output", here / "chosen.tflite", "--feature-devices", "auto")
    told = chosen["settings"]["device of the features"]
    checks.expect(told.startswith(("cpu", "opencl:")), "--feature-devices auto: %s" % told)


def check_signature(checks, tool, here):
    """--signature names the subgraph that is trained."""
    for model, words in ((DIGITS_CNN, "no signature 'sort'; it has none"),
                         (ROOT / "tests" / "data" / "api" / "signatures.tflite",
                          "no signature 'sort'; it has 'double', 'mix'")):
        result = run(tool, "train", model, *DATA, "--output", here / "n.tflite", "--signature", "sort")
        checks.expect(result.returncode not in (0, 10) and words in result.stderr,
                      "--signature sort: %s" % result.stderr)
    checks.expect(not (here / "n.tflite").exists(), "a refused signature wrote a model")


def check_flags(checks, tool, here):
    output = ["--output", here / "n.tflite"]
    for flags, word in ((DATA, "--save-head"), (DATA + output + ["--layers", "top"], "--layers"),
                        (output, "--data"), (DATA + output + ["--augment", "2"], "--flip"),
                        (DATA + output + ["--flip"], "--augment"),
                        (DATA + output + ["--remove-class", "3"], "--init shipped"),
                        (DATA + output + ["--class-weights", "1,2"], "10 classes"),
                        (DATA + output + ["--class-weights", "1,2", "--balance"], "exclude"),
                        (DATA + output + ["--calibrate", "--validation", "0"], "--validation"),
                        (DATA + output + ["--optimizer", "lion"], "--optimizer"),
                        (DATA + output + ["--feature-devices", "cpu,abacus"], "abacus"),
                        (DATA + output + ["--feature-devices", "cpu,"], "is empty"),
                        (DATA + output + ["--feature-devices", "auto,cpu"], "auto stands alone"),
                        (DATA + output + ["--head", "a", "--memory", "b"], "exclude"),
                        (DATA + output + ["--init", "shipped", "--rename-class", "3"], "OLD=NEW")):
        result = run(tool, "train", DIGITS_CNN, *flags)
        lines = result.stderr.splitlines()
        checks.expect(result.returncode == USAGE and len(lines) == 1 and word in lines[0],
                      "%s: %d %s" % (flags, result.returncode, result.stderr))
    result = run(tool, "train", DIGITS_CNN, *DATA, *output, "--output-name", "scores")
    checks.expect(result.returncode not in (0, 10) and "scores" in result.stderr,
                  "--output-name: %s" % result.stderr)
    checks.expect(not (here / "n.tflite").exists(), "a refused training wrote a model")


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_train_flags_"))
    try:
        for check in (check_optimizers, check_neighbours, check_last_fit, check_early_end, check_layers,
                      check_targets, check_heads, check_memory, check_golden, check_cache, check_pixels, check_device,
                      check_extraction, check_signature, check_flags):
            try:
                check(checks, tool, here)
            except (TypeError, KeyError, ValueError) as error:  # a document is missing: said above
                checks.expect(False, "%s: %r" % (check.__name__, error))
    finally:
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
