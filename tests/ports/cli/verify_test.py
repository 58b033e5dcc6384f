"""verify: a device, and the CPU in 16 bits, against the CPU in float32, and policies, on the digits models.

Usage: verify_test.py TOPWORK
"""
import json
import pathlib
import re
import shutil
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, ZOO, Checks, npy, run

DIGITS_MLP = ZOO / "digits_mlp_f32.tflite"
TITLE = "topwork device policy 1"


def expect_error(checks, result, code, *words):
    """One line on standard error that holds the words, and that exit code (or one of several)."""
    codes = code if isinstance(code, tuple) else (code,)
    last = result.stderr.strip().split("\n")[-1]
    checks.expect(result.returncode in codes and last.startswith("topwork: error:") and
                  all(word in last for word in words),
                  "%s: exit %d, expected %s with %s: %s" % (result.args[1:], result.returncode, code, words,
                                                            result.stderr))


def check_errors(checks, tool, here):
    def verify(*arguments):
        return run(tool, "verify", *arguments)

    expect_error(checks, verify(DIGITS_CNN, "--device", "cpu"), 2, "--device opencl")
    expect_error(checks, verify(DIGITS_CNN, "--input", "a.npy", "--data", "b"), 2, "--input and --data")
    expect_error(checks, verify(DIGITS_CNN, "--examples", "0"), 2, "--examples")
    expect_error(checks, verify(DIGITS_CNN, "--tolerance", "-1"), 2, "--tolerance")
    expect_error(checks, verify(here / "none.tflite"), 6, "none.tflite")
    expect_error(checks, verify(DIGITS_CNN, "--device", "opencl:abacus"), (4, 5), "OpenCL")
    (here / "wrong.policy").write_text("cpu #0 CONV_2D\n")
    (here / "other.policy").write_text(TITLE + "\nfloat32 #3 SOFTMAX\n")
    for command in ("run", "info", "benchmark"):
        more = ("--plan",) if command == "info" else ("--runs", "1") if command == "benchmark" else ()
        expect_error(checks, run(tool, command, DIGITS_CNN, *more, "--device-policy", here / "wrong.policy"), 5,
                     "is no device policy")
        expect_error(checks, run(tool, command, DIGITS_CNN, *more, "--device-policy", here / "other.policy"), 5,
                     "line 2", "another model")
        expect_error(checks, run(tool, command, DIGITS_CNN, *more, "--device-policy", here / "none.policy"), 6,
                     "none.policy")


def check_agreement(checks, tool, device, here):
    one = npy(here / "one.npy", (1, 8, 8, 1), [0.25] * 64)
    eight = npy(here / "eight.npy", (8, 8, 8, 1), [i % 17 / 16 for i in range(512)])
    for flags in ((), ("--precision", "float16"), ("--data", DIGITS_8X8 / "test", "--examples", "3"),
                  ("--input", one), ("--input", eight)):
        result = run(tool, "verify", DIGITS_CNN, "--device", device, *flags, "--json")
        name = "verify %s: %d %s" % (flags, result.returncode, result.stderr)
        if not checks.expect(result.returncode == 0 and result.stderr == "", name):
            continue
        report = json.loads(result.stdout)
        checks.expect(report["agrees"] and report["first_divergence"] is None, name)
        # MEAN and FULLY_CONNECTED are one launch, which has the latter's output.
        checks.expect(report["on_device"] == len(report["layers"]) == 7, "%s: %s" % (name, report["on_device"]))
        checks.expect(report["examples"] == (1 if "--input" in flags else 3 if "--data" in flags else 4), name)
        batch = 8 if eight in flags else 1
        for layer in report["layers"] + report["outputs"]:
            checks.expect(layer["agrees"] and layer["difference"] <= report["tolerance"] and layer["range"] > 0 and
                          layer["shape"][0] == batch, "%s: %s" % (name, layer))
    text = run(tool, "verify", DIGITS_CNN, "--device", device).stdout
    for word in ("CONV_2D", "SOFTMAX", "(output)", "agrees", "7 of 7 operators' outputs agree"):
        checks.expect(word in text, "verify: '%s' is missing in\n%s" % (word, text))


def check_difference(checks, tool, device):
    flags = (DIGITS_CNN, "--device", device, "--precision", "float16", "--tolerance", "1e-6")
    result = run(tool, "verify", *flags)
    expect_error(checks, result, 11, "the device and the CPU differ", "operator #0 CONV_2D")
    checks.expect("begins" in result.stdout and "follows" in result.stdout, result.stdout)
    report = json.loads(run(tool, "verify", *flags, "--json").stdout)
    checks.expect(not report["agrees"] and report["first_divergence"] == 0 and
                  report["layers"][0]["verdict"] == "begins", "verify --json: %s" % report["first_divergence"])


def check_steps(checks, tool, device):
    for data in ((), ("--data", DIGITS_8X8 / "train")):
        result = run(tool, "verify", DIGITS_CNN, "--device", device, "--steps", "20", "--examples", "1", *data, "--json")
        name = "verify --steps %s: %d %s" % (data, result.returncode, result.stderr)
        if not checks.expect(result.returncode == 0, name):
            continue
        training = json.loads(result.stdout)["training"]
        checks.expect(training["agrees"] and training["steps"] == 20 and training["difference"] < 1e-4 and
                      abs(training["loss_on_cpu"] - training["loss_on_device"]) < 1e-4, "%s: %s" % (name, training))
    text = run(tool, "verify", DIGITS_CNN, "--device", device, "--steps", "3").stdout
    checks.expect("3 training steps on" in text, text)


def check_policy(checks, tool, device, here):
    policy = here / "digits.policy"
    flags = (DIGITS_CNN, "--device", device, "--precision", "float16")
    strict = ("--tolerance", "1e-5", "--examples", "2")
    result = run(tool, "verify", *flags, *strict, "--policy", policy, "--json")
    if not checks.expect(result.returncode == 0, "verify --policy: %d %s" % (result.returncode, result.stderr)):
        return
    found = json.loads(result.stdout)["policy"]
    checks.expect(found["agrees"] and len(found["float32_ops"]) > 0, "verify --policy: %s" % found)
    lines = policy.read_text().splitlines()
    checks.expect(lines[0] == TITLE and len(lines) == 1 + len(found["float32_ops"]) + len(found["cpu_ops"]) and
                  "float32 #0 CONV_2D" in lines, "verify --policy: %s" % lines)
    # An operator of its own in float16 that shares a launch when both are in float32.
    checks.expect("float32 #6 MEAN" in lines, "verify --policy: %s" % lines)
    again = run(tool, "verify", *flags, *strict, "--device-policy", policy)
    checks.expect(again.returncode == 0, "verify --device-policy: %d %s" % (again.returncode, again.stderr))
    for command, more in (("run", ()), ("benchmark", ("--runs", "1")), ("info", ("--plan",)),
                          ("evaluate", ("--data", DIGITS_8X8 / "test"))):
        used = run(tool, command, *flags, *more, "--device-policy", policy)
        checks.expect(used.returncode == 0, "%s --device-policy: %d %s" % (command, used.returncode, used.stderr))
        if command == "info":
            checks.expect("float32" in used.stdout, used.stdout)
    policy.write_text(TITLE + "\ncpu #8 SOFTMAX\n")
    plan = run(tool, "info", *flags, "--plan", "--device-policy", policy).stdout
    checks.expect("pinned to the CPU" in plan, plan)
    plan = run(tool, "info", *flags, "--plan", "--cpu-ops", "CONV_2D").stdout
    checks.expect("pinned to the CPU" in plan and "float16 products" not in plan, plan)
    plan = run(tool, "info", *flags, "--plan", "--float32-ops", "SOFTMAX").stdout
    checks.expect("float16 storage" in plan and "float32  " in plan, plan)
    everything = run(tool, "verify", *flags, "--cpu-ops",
                     "CONV_2D,DEPTHWISE_CONV_2D,MAX_POOL_2D,MEAN,FULLY_CONNECTED,SOFTMAX")
    expect_error(checks, everything, 4, "no operator runs on the device")
    expect_error(checks, run(tool, "verify", DIGITS_MLP, "--device", device, "--device-policy", policy), 5,
                 "another model")
    expect_error(checks, run(tool, "verify", *flags, "--policy", here / "no" / "folder" / "x.policy"), 6, "x.policy")


def check_cpu(checks, tool, here):
    """Products of 16-bit numbers on the CPU against float32; a processor without them says so."""
    flags = (DIGITS_CNN, "--device", "cpu", "--precision", "float16")
    expect_error(checks, run(tool, "verify", *flags, "--steps", "3"), 2, "--steps")
    plan = run(tool, "info", *flags, "--plan").stdout
    checks.expect("precision float16: " in plan, plan)
    if "all is float32" in plan:
        expect_error(checks, run(tool, "verify", *flags), 4, "no operator is computed in 16 bits")
        return
    result = run(tool, "verify", *flags)
    checks.expect(result.returncode == 0 and re.search("cpu b?float16", result.stdout) and "computed in 16 bits" in result.stdout,
                  "verify --device cpu: %d %s" % (result.returncode, result.stdout))
    strict = ("--tolerance", "1e-5", "--examples", "2")
    expect_error(checks, run(tool, "verify", *flags, *strict), 11, "float16 and float32 differ", "#0 CONV_2D")
    policy = here / "cpu.policy"
    result = run(tool, "verify", *flags, *strict, "--policy", policy, "--json")
    if not checks.expect(result.returncode == 0, "verify --policy: %d %s" % (result.returncode, result.stderr)):
        return
    found = json.loads(result.stdout)["policy"]
    checks.expect(found["agrees"] and found["cpu_ops"] == [] and 0 in found["float32_ops"], "verify: %s" % found)
    plan = run(tool, "info", *flags, "--plan", "--device-policy", policy).stdout
    n = len(found["float32_ops"])
    checks.expect("products in %d of" % (4 - n) in plan, "%d: %s" % (n, plan))
    for command, more in (("run", ()), ("benchmark", ("--runs", "1")), ("evaluate", ("--data", DIGITS_8X8 / "test"))):
        used = run(tool, command, *flags, *more, "--device-policy", policy)
        checks.expect(used.returncode == 0, "%s --device-policy: %d %s" % (command, used.returncode, used.stderr))
    judged = [json.loads(run(tool, "evaluate", DIGITS_CNN, "--device", "cpu", "--precision", precision, "--data",
                             DIGITS_8X8 / "test", "--json").stdout) for precision in ("float32", "float16")]
    right = [round(one["top1"] * one["n_examples"]) for one in judged]
    checks.expect(abs(right[0] - right[1]) <= 1, "evaluate: %s of %d are right" % (right, judged[0]["n_examples"]))


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_verify_"))
    try:
        check_errors(checks, tool, here)
        check_cpu(checks, tool, here)
        devices = json.loads(run(tool, "devices", "--json").stdout)
        usable = [device["id"] for device in devices[1:] if device["available"]]
        if not usable:
            print("SKIP verify on a device: no OpenCL device")
        else:
            check_agreement(checks, tool, usable[0], here)
            check_difference(checks, tool, usable[0])
            check_policy(checks, tool, usable[0], here)
            check_steps(checks, tool, usable[0])
    finally:
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
