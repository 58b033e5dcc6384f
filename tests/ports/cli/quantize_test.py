"""quantize and prune on the digits models: figures, files and errors.

Usage: quantize_test.py TOPWORK
"""
import json
import pathlib
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, Checks, run


def expect_error(checks, result, code, *words):
    """One line on standard error that holds the words, that exit code, and no new file."""
    last = result.stderr.strip().split("\n")[-1]
    checks.expect(result.returncode == code and last.startswith("topwork: error:") and
                  all(word in last for word in words),
                  "%s: exit %d, expected %d with %s: %s" % (result.args[1:], result.returncode, code,
                                                            words, result.stderr))


def document(checks, result):
    if not checks.expect(result.returncode == 0, "%s: %s" % (result.args[1:], result.stderr)):
        return None
    return json.loads(result.stdout)


def check_quantize(checks, tool, here):
    train, test, out = DIGITS_8X8 / "train", DIGITS_8X8 / "test", here / "new.tflite"
    for io in ("float32", "int8", "uint8"):
        report = document(checks, run(tool, "quantize", DIGITS_CNN, "--to", "int8", "--data", train,
                                      "--eval", test, "--io", io, "--calibrate", "60", "--output",
                                      out, "--json"))
        if report is None:
            continue
        checks.expect(report["n_calibration_examples"] == 60, "60 examples calibrate")
        checks.expect(report["n_examples"] == 397, "all of --eval is judged")
        checks.expect(report["float_operators"] == [], "all operators have an int8 form")
        checks.expect(report["after"]["top1"] >= report["before"]["top1"] - 0.01, "int8 accuracy")
        checks.expect(report["agreement"] > 0.98, "the models agree")
        checks.expect(0 < report["mean_abs_difference"] < 0.02, "outputs are near")
        checks.expect(report["output_bytes"] == out.stat().st_size < 0.5 * report["model_bytes"],
                      "the file is smaller")
        info = document(checks, run(tool, "info", out, "--json"))
        checks.expect(info["inputs"][0]["dtype"] == io, "the input is " + io)
    held_back = document(checks, run(tool, "quantize", DIGITS_CNN, "--to", "int8", "--data", test,
                                     "--output", out, "--json"))
    checks.expect(held_back and held_back["n_calibration_examples"] == 198 and
                  held_back["n_examples"] == 199, "a small set is divided in two")
    alone = document(checks, run(tool, "quantize", DIGITS_CNN, "--to", "dynamic", "--output", out,
                                 "--json"))
    checks.expect(alone and "before" not in alone and alone["n_integer_operators"] > 0,
                  "without data nothing is judged")
    text = run(tool, "quantize", DIGITS_CNN, "--to", "fp16", "--data", test, "--output", out)
    checks.expect(text.returncode == 0 and "top-1 accuracy" in text.stdout and
                  "of the examples have the same largest output" in text.stdout, "text: " + text.stdout)
    again = run(tool, "quantize", here / "none.tflite", "--to", "fp16", "--output", out)
    expect_error(checks, again, 6, "none.tflite")
    run(tool, "quantize", DIGITS_CNN, "--to", "int8", "--data", test, "--output", out)
    twice = run(tool, "quantize", out, "--to", "int8", "--data", test, "--output", here / "b.tflite")
    expect_error(checks, twice, 4, "quantized already")
    checks.expect(not (here / "b.tflite").exists(), "no file after a failure")


def check_errors(checks, tool, here):
    out = here / "error.tflite"
    quantize = ("quantize", DIGITS_CNN, "--output", out)
    expect_error(checks, run(tool, *quantize), 2, "--to")
    expect_error(checks, run(tool, *quantize, "--to", "int3"), 2, "int3")
    expect_error(checks, run(tool, *quantize, "--to", "int8"), 2, "--data")
    expect_error(checks, run(tool, *quantize, "--to", "fp16", "--io", "int8"), 2, "--io goes with --to int8")
    expect_error(checks, run(tool, *quantize, "--to", "int8", "--data", here / "none"), 6, "none")
    expect_error(checks, run(tool, *quantize, "--to", "dynamic", "--min-elements", "1000000"), 4,
                 "1000000 elements")
    prune = ("prune", DIGITS_CNN, "--output", out)
    expect_error(checks, run(tool, *prune), 2, "--sparsity")
    expect_error(checks, run(tool, *prune, "--sparsity", "1.5"), 2, "--sparsity")
    expect_error(checks, run(tool, *prune, "--sparsity", "0.5", "--block", "4"), 2, "--block")
    expect_error(checks, run(tool, *prune, "--sparsity", "0.5", "--block", "0x4"), 2, "--block")
    expect_error(checks, run(tool, *prune, "--sparsity", "0.5", "--min-elements", "100000000"), 4,
                 "pruned")
    for flag, value in (("--calibrate", "9"), ("--percentile", "99"), ("--min-elements", "9")):
        expect_error(checks, run(tool, *quantize, "--to", "fp16", flag, value), 2, flag, "goes with")
    checks.expect(not out.exists(), "no file after failures")
    out.write_text("from before")
    train = DIGITS_8X8 / "test"
    for rest in ((*quantize, "--to", "int8", "--data", train, "--eval", here / "none"),
                 (*quantize, "--to", "dynamic", "--data", here / "none"),
                 (*prune, "--sparsity", "0.5", "--data", here / "none")):
        result = run(tool, *rest)
        checks.expect(result.returncode == 6 and "none: no such folder" in result.stderr,
                      "%s: %s" % (rest, result.stderr))
        checks.expect(out.read_text() == "from before", "%s: the old file is gone" % (rest,))


def check_prune(checks, tool, here):
    dense, sparse = here / "dense.tflite", here / "sparse.tflite"
    prune = ("prune", DIGITS_CNN, "--sparsity", "0.5", "--data", DIGITS_8X8 / "test", "--json")
    report = document(checks, run(tool, *prune, "--output", dense))
    checks.expect(report and report["n_sparse"] == 0 and report["n_layers"] > 0 and
                  abs(report["n_zeros"] / report["n_weights"] - 0.5) < 0.01, "half of the weights")
    stored = document(checks, run(tool, *prune, "--sparse", "--output", sparse))
    checks.expect(stored and stored["n_sparse"] > 0 and
                  stored["output_bytes"] < report["output_bytes"], "sparse storage is smaller")
    checks.expect(stored and stored["after"] == report["after"], "and gives the same answers")
    text = run(tool, *prune[:-1], "--scope", "global", "--block", "1x4", "--output", dense)
    checks.expect(text.returncode == 0 and "weights of" in text.stdout, "text: " + text.stdout)


def main():
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        check_quantize(checks, sys.argv[1], here)
        check_prune(checks, sys.argv[1], here)
        check_errors(checks, sys.argv[1], here)
    return checks.finish()


sys.exit(main())
