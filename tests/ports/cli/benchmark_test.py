"""benchmark: lists of settings, formats, comparison, training, traces, benchmark_model's flags.

Usage: benchmark_test.py TOPWORK
What is measured is not looked at, only that it is there and fits together.
"""
import csv
import io
import json
import pathlib
import re
import shutil
import sys
import tempfile

from cli_support import DIGITS_CNN, ROOT, ZOO, Checks, run

USAGE, DATA, IO, SLOWER = 2, 5, 6, 12
MLP = ZOO / "digits_mlp_f32.tflite"
OPEN_SIZE = ROOT / "tests" / "data" / "cli" / "open_size.tflite"
QUICK = ("--runs", "25", "--warmup", "1")


def measure(checks, tool, *arguments):
    result = run(tool, "benchmark", *arguments, "--json")
    checks.expect(result.returncode == 0 and result.stderr == "",
                  "benchmark %s: %d %s" % (arguments, result.returncode, result.stderr))
    return json.loads(result.stdout)


def check_document(checks, tool):
    document = measure(checks, tool, DIGITS_CNN, *QUICK, "--threads", "1", "--profile", "--batch", "2")
    checks.expect(document["schema"] == "topwork benchmark 1" and
                  re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", document["date"]) and
                  document["machine"]["instruction_set"] and document["machine"]["memory_bytes"] > 0,
                  "document: %s" % {k: v for k, v in document.items() if k != "results"})
    (result,) = document["results"]
    for key in ("open_ms", "plan_ms", "first_run_ms", "rss_peak_bytes", "arena_bytes", "file_bytes"):
        checks.expect(result[key] > 0, "document: %s is %s" % (key, result.get(key)))
    latency = result["latency_ms"]
    checks.expect(list(latency) == ["min", "p5", "p50", "p90", "p99", "max", "mean", "std"], "latency_ms")
    ordered = [latency[key] for key in ("min", "p5", "p50", "p90", "p99", "max")]
    checks.expect(ordered == sorted(ordered) and ordered[0] > 0, "document: %s" % latency)
    checks.expect(result["runs"] == len(result["samples_ms"]) == 25 and len(result["warmup_ms"]) == 1 and
                  min(result["samples_ms"]) == latency["min"], "document: samples")
    checks.expect(result["inputs"][0]["shape"] == [2, 8, 8, 1] and result["batch"] == 2 and
                  result["threads"] == 1 and result["power"] is None and
                  set(result["clocks"]) == {"before", "after"} and sum(result["placed"].values()) > 0,
                  "document: %s" % {k: v for k, v in result.items() if k not in ("ops", "samples_ms")})
    conv = [op for op in result["ops"] if op["op"] == "CONV_2D"]
    # 8 x 8 pixels, 16 channels, 3 x 3 x 1 weights, two images.
    checks.expect(conv and conv[0]["p50_ms"] > 0 and conv[0]["flops"] == 2 * 64 * 16 * 9 * 2,
                  "document: ops %s" % conv[:1])
    checks.expect(conv[0]["bytes"] == 4 * (2 * 64 + 16 * 9 + 16 + 2 * 64 * 16) and not conv[0]["is_bytes"],
                  "document: bytes of %s" % conv[:1])


def check_lists(checks, tool):
    results = measure(checks, tool, "--threads", "1,2", "--batch=1,3", DIGITS_CNN, MLP, *QUICK)["results"]
    found = [(pathlib.Path(r["model"]).name, r["batch"], r["threads"]) for r in results]
    checks.expect(found == [(model.name, batch, threads) for model in (DIGITS_CNN, MLP)
                            for batch in (1, 3) for threads in (1, 2)], "lists: %s" % found)
    twice = measure(checks, tool, MLP, DIGITS_CNN, MLP, *QUICK, "--threads", "1,2,1", "--device", "cpu,cpu")["results"]
    checks.expect([(pathlib.Path(r["model"]).name, r["threads"]) for r in twice] ==
                  [(model.name, threads) for model in (MLP, DIGITS_CNN) for threads in (1, 2)],
                  "lists: %d settings" % len(twice))
    half = measure(checks, tool, DIGITS_CNN, *QUICK, "--device", "cpu", "--precision", "float32,float16")
    checks.expect([r["precision"] for r in half["results"]] == ["float32", "float16"], "lists: precision")
    text = run(tool, "benchmark", DIGITS_CNN, *QUICK, "--threads", "1,2", "--profile").stdout
    checks.expect("2 threads" in text and "times as fast" in text and "CONV_2D" in text and
                  "median of 25 runs" in text, text)


def check_lengths(checks, tool):
    (result,) = measure(checks, tool, MLP, "--runs", "1", "--min-seconds", "0.2", "--warmup-seconds",
                        "0.05")["results"]
    checks.expect(result["runs"] > 1 and sum(result["samples_ms"]) <= 1e6 and
                  len(result["warmup_ms"]) >= 5, "--min-seconds: %d runs" % result["runs"])
    checks.expect(len(result["samples_ms"]) <= 2000, "--min-seconds: %d samples" % len(result["samples_ms"]))
    (result,) = measure(checks, tool, MLP, "--runs", "10000000", "--max-seconds", "0.1")["results"]
    checks.expect(1 <= result["runs"] < 10000000, "--max-seconds: %d runs" % result["runs"])


def check_open_sizes(checks, tool):
    result = run(tool, "benchmark", OPEN_SIZE, *QUICK)
    checks.expect(result.returncode != 0 and "--input-shape" in result.stderr, "open size: " + result.stderr)
    (result,) = measure(checks, tool, OPEN_SIZE, *QUICK, "--input-shape", "x=1,1,9,1")["results"]
    checks.expect(result["inputs"][0]["shape"] == [1, 1, 9, 1], "--input-shape: %s" % result["inputs"])
    output = json.loads(run(tool, "run", OPEN_SIZE, "--input-shape", "#0=1,1,9,1", "--json").stdout)
    checks.expect(output["outputs"][0]["shape"] == [1, 1, 6, 1], "run --input-shape: %s" % output)
    info = json.loads(run(tool, "info", OPEN_SIZE, "--input-shape", "x=1,1,9,1", "--plan", "--json").stdout)
    checks.expect(info["runs"] and info["plan"]["steps"][0]["outputs"][0]["shape"] == [1, 1, 6, 1],
                  "info --input-shape: %s" % info.get("reason"))
    for command in ("benchmark", "run", "info"):
        for shape, code, said in (("y=1,1,9,1", DATA, "no input 'y'; there is 'x'"),
                                  ("x=1,9", DATA, r"x=1,9 has 2 dimensions; input 'x' is \[1, 1, open, 1\]"),
                                  ("#1=1,1,9,1", DATA, "no input '#1'"),
                                  ("x=1,1,9,7", DATA, "does not fit the shapes"),
                                  ("x=1,1,0,1", USAGE, "a size is a whole number from 1 to 2147483647"),
                                  ("x=1,1,-9,1", USAGE, "a size is a whole number from 1 to 2147483647"),
                                  ("x=1,,1", USAGE, "is not INPUT=D,D"), ("1,1,9,1", USAGE, "is not INPUT=D,D"),
                                  ("x=1,1,9999999999,1", USAGE, "a size is")):
            result = run(tool, command, OPEN_SIZE, "--input-shape", shape)
            checks.expect(result.returncode == code and result.stderr.count("\n") == 1 and
                          re.search(said, result.stderr), "%s --input-shape %s: %d %s" % (
                              command, shape, result.returncode, result.stderr))


def check_ranges(checks, tool):
    measure(checks, tool, DIGITS_CNN, *QUICK, "--input-range", "x=0,1")
    for given, code, said in (("y=0,1", DATA, "no input 'y'"), ("x=2,1", USAGE, "LOW is above HIGH"),
                              ("x=1", USAGE, "is not INPUT=LOW,HIGH")):
        result = run(tool, "benchmark", DIGITS_CNN, "--input-range", given)
        checks.expect(result.returncode == code and said in result.stderr, "--input-range: " + result.stderr)


def scaled(document, factor):
    copy = json.loads(json.dumps(document))
    for result in copy["results"]:
        result["samples_ms"] = [factor * x for x in result["samples_ms"]]
    return copy


def check_compare(checks, tool, here):
    arguments = (MLP, "--runs", "60", "--threads", "1,2", "--device", "cpu")
    document = measure(checks, tool, *arguments)
    (here / "fast.json").write_text(json.dumps(scaled(document, 0.02)))
    (here / "slow.json").write_text(json.dumps(scaled(document, 50)))
    slower = run(tool, "benchmark", *arguments, "--compare", here / "fast.json")
    checks.expect(slower.returncode == SLOWER and "2 of 2 settings slower than in" in slower.stderr and
                  slower.stdout.count("slower") == 2 and "confidence 99.0 %" in slower.stdout,
                  "--compare: %d %s %s" % (slower.returncode, slower.stdout, slower.stderr))
    faster = run(tool, "benchmark", *arguments, "--compare", here / "slow.json", "--json")
    compared = json.loads(faster.stdout)["comparison"]
    checks.expect(faster.returncode == 0 and [row["verdict"] for row in compared["rows"]] == ["faster"] * 2 and
                  compared["confidence"] == 0.99 and compared["n_slower"] == 0, "--compare: %s" % compared)
    # A tolerance beyond the change.
    tolerant = run(tool, "benchmark", *arguments, "--compare", here / "fast.json", "--tolerance", "100000")
    checks.expect(tolerant.returncode == 0, "--tolerance: " + tolerant.stderr)
    (here / "other.json").write_text("{}")
    (here / "newer.json").write_text(json.dumps({**document, "schema": "topwork benchmark 9"}))
    for file, code, said in (("absent.json", IO, "No such file"), ("other.json", DATA, "is not a document"),
                             ("newer.json", DATA, "measure the base again")):
        result = run(tool, "benchmark", *arguments, "--compare", here / file)
        checks.expect(result.returncode == code and said in result.stderr and result.stdout == "",
                      "--compare %s: %s" % (file, result.stderr))
    # Refused before anything is measured: these runs would take hours.
    for model, *other in ((DIGITS_CNN,), (MLP, "--batch", "7"), (MLP, "--threads", "3")):
        result = run(tool, "benchmark", model, "--runs", "1", "--min-seconds", "9999", *other, "--compare", here / "fast.json")
        checks.expect(result.returncode == DATA and "none of the settings" in result.stderr, result.stderr)
    # The shape that is planned is the one that is measured.
    for shaped in ((DIGITS_CNN, "--batch", "3"), (OPEN_SIZE, "--input-shape", "x=1,1,9,1"),
                   (ZOO / "efficientnet_lite0_fp16.tflite", "--signature", "serving_default", "--batch", "2")):
        shaped += ("--runs", "1", "--warmup", "0")
        (here / "shaped.json").write_text(json.dumps(measure(checks, tool, *shaped)))
        result = run(tool, "benchmark", *shaped, "--compare", here / "shaped.json")
        checks.expect(result.returncode == 0, "--compare of %s: %s" % (shaped, result.stderr))


def check_formats(checks, tool, here):
    settings = (DIGITS_CNN, *QUICK, "--threads", "1,2")
    rows = list(csv.DictReader(io.StringIO(run(tool, "benchmark", *settings, "--format", "csv").stdout)))
    checks.expect([row["threads"] for row in rows] == ["1", "2"] and
                  all(re.fullmatch(r"\d+\.\d{6}", row["p50_ms"]) and row["model"] == str(DIGITS_CNN) for row in rows),
                  "csv: %s" % rows)
    lines = run(tool, "benchmark", *settings, "--format", "jsonl").stdout.splitlines()
    checks.expect([json.loads(line)["threads"] for line in lines] == [1, 2], "jsonl: %s" % lines)
    table = run(tool, "benchmark", *settings, "--format", "markdown").stdout.splitlines()
    checks.expect(len(table) == 4 and all(line.startswith("|") and line.endswith("|") for line in table),
                  "markdown: %s" % table)
    trace = here / "trace.json"
    run(tool, "benchmark", *settings, "--trace", trace)
    events = json.loads(trace.read_text())["traceEvents"]
    for process in (1, 2):
        spans = [e for e in events if e["ph"] == "X" and e["pid"] == process]
        checks.expect(len(spans) >= 3 and any(e["name"] == "CONV_2D" for e in spans) and
                      all(a["ts"] + a["dur"] <= b["ts"] + 1e-6 for a, b in zip(spans, spans[1:])),
                      "trace: %s" % spans)
    blocked = run(tool, "benchmark", *settings, "--report", here / "no" / "such" / "page.html")
    checks.expect(blocked.returncode == IO and blocked.stdout == "", "--report: " + blocked.stderr)
    # Options that would have no effect are refused.
    for options in (["--json", "--format", "csv"], ["--train-classes", "3"], ["--train-examples", "9"],
                    ["--confidence", "0.9"], ["--tolerance", "0.1"]):
        refused = run(tool, "benchmark", *settings, *options)
        checks.expect(refused.returncode == USAGE and options[-2] in refused.stderr, "%s: %s" % (options, refused.stderr))
    itself = run(tool, "benchmark", *settings, "--trace", DIGITS_CNN)
    checks.expect(itself.returncode == USAGE, "--trace onto the model: " + itself.stderr)


def check_power(checks, tool):
    """Where there is a sensor, numbers; elsewhere the reason why not."""
    (result,) = measure(checks, tool, MLP, *QUICK, "--power", "--train")["results"]
    power, step = result["power"], result["train"]["power"]
    if list(power) == ["reason"]:
        text = run(tool, "benchmark", MLP, *QUICK, "--power", "--train").stdout
        checks.expect(text.count(power["reason"]) == 2 and step == power, "--power: %s %s %s" % (power, step, text))
    else:
        checks.expect("steps" in step["reason"], "--power: %s" % step)  # of the automatic head
        checks.expect(power["joules"] > 0 and power["seconds"] >= 1, "--power: %s" % power)


def check_training(checks, tool):
    (result,) = measure(checks, tool, DIGITS_CNN, *QUICK, "--train", "--train-classes", "3",
                        "--train-examples", "24")["results"]
    train = result["train"]
    checks.expect(train["n_classes"] == 3 and train["n_examples"] == 24 and train["n_features"] > 0 and
                  train["features_per_s"] > 0, "--train: %s" % train)
    # The automatic head is one fit: nothing may look like steps.
    checks.expect(train["optimizer"] == "auto" and train["n_steps"] is None and train["steps_per_s"] is None and
                  train["fit_ms"]["p50"] > 0, "--train: %s" % train)
    text = run(tool, "benchmark", DIGITS_CNN, *QUICK, "--train", "--train-classes", "3", "--train-examples", "24").stdout
    checks.expect("automatic head in" in text and "steps/s" not in text, "--train: " + text)
    # The whole is its parts and what lies between them, which is long where the system runs something else.
    least, most = (sum(train[key][end] for key in ("create_ms", "features_ms", "fit_ms", "export_ms"))
                   for end in ("min", "max"))
    checks.expect(least <= train["personalise_ms"]["min"] <= 20 * most and
                  train["memory_bytes"] == sum(train[key + "_bytes"] for key in
                                               ("backbone", "cache", "training", "working")),
                  "--train: %s" % train)
    refused = run(tool, "benchmark", OPEN_SIZE, *QUICK, "--input-shape", "x=1,1,9,1", "--train")
    checks.expect(refused.returncode == 4 and "CONV_2D" in refused.stderr, "--train: " + refused.stderr)


def check_roofline(checks, tool):
    document = measure(checks, tool, DIGITS_CNN, *QUICK, "--roofline", "--threads", "1", "--device", "cpu")
    (limits,) = document["limits"]
    checks.expect(limits["name"] == "cpu" and limits["flops_per_s"] > 1e6 and limits["launch_ns"] >= 0 and
                  [level["bytes"] for level in limits["bytes_per_s"]] ==
                  [16 << 10, 128 << 10, 1 << 20, 8 << 20, 64 << 20] and
                  all(level["bytes_per_s"] > 1e6 for level in limits["bytes_per_s"]), "--roofline: %s" % limits)
    ops = [op for op in document["results"][0]["ops"] if op["flops"] is not None]
    checks.expect(ops and all(op["limit"] in ("compute", "bandwidth", "launch") and op["limit_ms"] >= 0 and
                              op["limit_share"] >= 0 for op in ops), "--roofline: %s" % ops[:1])


LINE = (r"^INFO: Inference timings in us: Init: \d+, First inference: \d+, "
        r"Warmup \(avg\): [\d.e+]+, Inference \(avg\): [\d.e+]+$")


def check_tflite(checks, tool, here):
    flags = ("--graph=%s" % DIGITS_CNN, "--num_threads=2", "--num_runs=20", "--min_secs=0", "--warmup_min_secs=0")
    result = run(tool, "benchmark", *flags)
    checks.expect(result.returncode == 0 and result.stderr == "" and
                  len(re.findall(LINE, result.stdout, re.M)) == 1 and "count=20 " in result.stdout and
                  "INFO: Num threads: [2]" in result.stdout, "tflite: %s %s" % (result.stdout, result.stderr))
    link = here / "benchmark_model"
    link.symlink_to(tool)
    linked = run(link, *flags, "--use_xnnpack=true", "--enable_op_profiling=true")
    checks.expect(linked.returncode == 0 and re.search(LINE, linked.stdout, re.M) and
                  "--use_xnnpack means nothing here" in linked.stderr and
                  "Summary by node type" in linked.stdout and "CONV_2D" in linked.stdout,
                  "tflite by a link: %s %s" % (linked.stdout, linked.stderr))
    shaped = run(tool, "benchmark", "--graph=%s" % OPEN_SIZE, "--num_runs=2", "--min_secs=0", "--warmup_min_secs=0",
                 "--input_layer=any", "--input_layer_shape=1,1,6,1", "--input_layer_value_range=any,0,3")
    checks.expect(shaped.returncode == 0 and re.search(LINE, shaped.stdout, re.M), "tflite: " + shaped.stderr)
    refused = run(tool, "benchmark", "--graph=%s" % DIGITS_CNN, "--use_nnapi=true")
    checks.expect(refused.returncode == USAGE and "--use_nnapi" in refused.stderr and
                  refused.stderr.count("\n") == 1, "tflite: " + refused.stderr)
    for given, code, said in (("--num_threads=x", USAGE, "--num_threads: "), ("--max_secs=x", USAGE, "--max_secs: "),
                              ("--input_layer_shape=1,8", DATA, "--input_layer_shape 1,8 has 2 dimensions")):
        wrong = run(tool, "benchmark", "--graph=%s" % DIGITS_CNN, "--input_layer=x", given)
        checks.expect(wrong.returncode == code and said in wrong.stderr, "tflite: " + wrong.stderr)
    bare = run(link, "--num_threads=2")
    checks.expect(bare.returncode == USAGE and "--graph" in bare.stderr, "tflite: " + bare.stderr)
    unknown = run(tool, "benchmark", "--graph=%s" % DIGITS_CNN, "--fly")
    checks.expect(unknown.returncode == USAGE and "--fly" in unknown.stderr, "tflite: " + unknown.stderr)


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_benchmark_"))
    try:
        check_document(checks, tool)
        check_lists(checks, tool)
        check_lengths(checks, tool)
        check_open_sizes(checks, tool)
        check_ranges(checks, tool)
        check_compare(checks, tool, here)
        check_formats(checks, tool, here)
        check_power(checks, tool)
        check_training(checks, tool)
        check_roofline(checks, tool)
        check_tflite(checks, tool, here)
    finally:
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
