"""Wrong use: flags that would do nothing are refused, bounds are told in the flags' words and before any
work, exit codes are those of `topwork --help`, and what is printed counts in good English.

Usage: wrong_use_test.py TOPWORK
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from cli_support import DIGITS_8X8, DIGITS_CNN, EFFICIENTNET, Checks, npy, png, run

USAGE, UNSUPPORTED, DATA, IO, CANCELLED = 2, 4, 5, 6, 9
TEST = DIGITS_8X8 / "test"


def make_files(here):
    """A model of two outputs, small data sets, and inputs of run."""
    numbers = here / "numbers"
    numbers.mkdir()
    npy(numbers / "x.npy", (40, 8, 8, 1), [(i * i) % 17 / 16 for i in range(40 * 64)])
    npy(numbers / "y.npy", (40, 1), [i / 40 for i in range(40)])
    npy(here / "three.npy", (3, 8, 8, 1), [0.5] * 192)
    npy(here / "one.npy", (1, 8, 8, 1), [0.5] * 64)
    (here / "empty.txt").write_text("")
    (here / "one_name.txt").write_text("cat\n")
    png(here / "in.png", 8, 8, lambda x, y: (x, y, 0))
    os.symlink("loop", here / "loop")
    return numbers


def train_cases(here, numbers):
    good = ["train", DIGITS_CNN, "--data", TEST, "--output", here / "new.tflite"]
    regression = ["train", DIGITS_CNN, "--data", numbers, "--output", here / "new.tflite"]
    cases = [(regression + ["--calibrate"], USAGE, "--calibrate scales scores of classes"),
             (regression + ["--reject", "0.05"], USAGE, "--reject needs one class an example"),
             (good + ["--reject", "0.001"], USAGE, "'0.001' is neither 0 nor a share from 0.005 to 0.5"),
             (good + ["--lr", "1e30"], USAGE, "--lr: '1e30' is not a number above 0, up to 1e+06"),
             (good + ["--lr", "0"], USAGE, "--lr: '0' is not a number above 0, up to 1e+06"),
             (good + ["--layers", "9"], USAGE, "5 layers with constant weights, fewer than the 9 that --layers asks"),
             (good + ["--hidden", "4", "--optimizer", "ridge"], USAGE, "--hidden is 4"),
             (good + ["--seed", "18446744073709551616"], USAGE, "is above 18446744073709551615"),
             (["train", DIGITS_CNN, "--data", here / "loop", "--output", here / "new.tflite"], IO,
              "loop: cannot read it")]
    for flags, text in ((["--optimizer", "ridge", "--lr", "0.1"], "--lr: goes with --optimizer sgd, adam, adamw; the"),
                        (["--warmup", "10", "--optimizer", "ridge"], "--warmup: goes with --optimizer sgd"),
                        (["--epochs", "3", "--optimizer", "ridge"], "--epochs: goes with --optimizer sgd"),
                        (["--optimizer", "adam", "--momentum", "0.9"], "--momentum: goes with --optimizer sgd"),
                        (["--optimizer", "knn", "--weight-decay", "1"], "--weight-decay: goes with"),
                        (["--momentum", "0.9", "--beta1", "0.3"], "the optimizer is sgd"),
                        (["--huber-delta", "3"], "--huber-delta needs --loss huber"),
                        (["--keep-last"], "--keep-last needs --patience"),
                        (["--min-improvement", "1"], "--min-improvement needs --patience"),
                        (["--nesterov"], "--nesterov needs --momentum"),
                        (["--schedule-epochs", "3"], "need --schedule step"),
                        (["--bias-only"], "--bias-only is about the layers below the last one")):
        cases.append((good + flags, USAGE, text))
    return cases


def other_cases(here):
    array, both = here / "three.npy", here / "both.tflite"
    memory = here / "m.memory"
    quantized = ["--to", "fp16", "--output", here / "q.tflite"]
    of_examples = [["--mean", "1"], ["--std", "3"], ["--rate", "8000"], ["--hop", "1"], ["--level", "-20"], ["--threads", "2"]]
    pruned = ["--sparsity", "0.5", "--output", here / "p.tflite"]
    evaluate = ["evaluate", DIGITS_CNN, "--data", TEST]
    return [
        (["benchmark", DIGITS_CNN, "--delay", "1e9"], USAGE, "--delay: '1e9' is not a number from 0 to 3600"),
        (["benchmark", DIGITS_CNN, here / "none.tflite", "--min-seconds", "60"], IO, "none.tflite"),
        (["quantize", both, *quantized, "--data", TEST], UNSUPPORTED, "--output-name"),
        (["prune", both, *pruned, "--data", TEST], UNSUPPORTED, "--output-name"),
        (["prune", both, *pruned, "--output-name", "x"], USAGE, "needs --data"),
        (["quantize", both, *quantized, "--output-name", "x"], USAGE, "needs --data"),
        *[(["prune", DIGITS_CNN, *pruned, *flag], USAGE, flag[0] + " needs --data: ") for flag in of_examples],
        *[(["quantize", DIGITS_CNN, *quantized, *flag], USAGE, flag[0] + " needs --data or --eval: ") for flag in of_examples],
        (["run", DIGITS_CNN, "--every-window"], USAGE, "--every-window belongs to --stream"),
        (["run", DIGITS_CNN, "--input", array, "--mean", "3"], USAGE, "--mean and --std are of images"),
        (["run", DIGITS_CNN, "--input", array, "--hop", "3"], USAGE, "--rate, --hop and --level are of sounds"),
        (["run", DIGITS_CNN, "--threshold", "0.7"], USAGE, "--threshold and --gap are of sounds"),
        (["run", DIGITS_CNN, "--input", array, "--input-shape", "x=2,8,8,1"], DATA,
         "three.npy: is [3, 8, 8, 1], which is not the shape of --input-shape"),
        (["run", DIGITS_CNN, "--labels", here / "empty.txt"], DATA, "empty.txt: holds no class names"),
        (["run", DIGITS_CNN, "--labels", here / "one_name.txt"], DATA, "has 1 name, but"),
        (["run", DIGITS_CNN, "--input", here / "s.mp3"], IO, "s.mp3"),
        (["run", DIGITS_CNN, "--input-shape", "x=99999999999,8,8,1"], USAGE, "a whole number from 1 to 2147483647"),
        (["run", DIGITS_CNN, "--seed", "18446744073709551616"], USAGE, "is above 18446744073709551615"),
        (["run", DIGITS_CNN, "--seed", "2", "--input", array], USAGE, "--input excludes --seed"),
        (["info", "/dev/null"], IO, "/dev/null: is a device or a pipe; a file is needed"),
        (evaluate + ["--monitor", here / "nope.mon"], IO, "nope.mon': No such file"),
        (evaluate + ["--output-name", "nope"], DATA, "has no output 'nope'"),
        (evaluate + ["--huber-delta", "3"], USAGE, "--huber-delta needs --loss huber"),
        (["learn", DIGITS_CNN, "--memory", memory, "--remove-group", "nix"], DATA,
         "--remove-group nix: there is no example of this group"),
        (["learn", DIGITS_CNN, "--memory", memory, "--reject", "0.001"], USAGE, "is neither 0 nor a share"),
        (["train", DIGITS_CNN, "--memory", memory, "--output", here / "n.tflite", "--rename-class", "0=1"], DATA,
         "there is a class 1 already; `topwork train --merge-class 0=1` makes one class of the two"),
        (["verify", DIGITS_CNN, "--device", "cpu"], USAGE, "--device cpu --precision float16"),
    ]


def check_cases(checks, tool, here, numbers):
    before = sorted(here.iterdir())
    for arguments, code, text in train_cases(here, numbers) + other_cases(here):
        result = run(tool, *arguments)
        name = " ".join(map(str, arguments))
        checks.expect(result.returncode == code and text in result.stderr and "features: " not in result.stderr,
                      "%s: %d %s" % (name, result.returncode, result.stderr))
        checks.expect(result.stdout == "", "%s: printed %s" % (name, result.stdout))
    checks.expect(sorted(here.iterdir()) == before, "something was left: %s" % sorted(here.iterdir()))
    (here / "s.mp3").write_bytes(b"ID3" + bytes(100))
    result = run(tool, "run", DIGITS_CNN, "--input", here / "s.mp3")
    checks.expect(result.returncode == DATA and "sounds in .wav or .flac" in result.stderr, "mp3: " + result.stderr)


def check_several_outputs(checks, tool, here):
    both = here / "both.tflite"
    outputs = json.loads(run(tool, "info", both, "--json").stdout)["outputs"]
    name = outputs[1]["name"]
    for command in (["quantize", both, "--to", "fp16"], ["prune", both, "--sparsity", "0.3"]):
        result = run(tool, *command, "--data", TEST, "--output-name", name, "--output", here / "o.tflite", "--json")
        checks.expect(result.returncode == 0 and json.loads(result.stdout)["after"]["top1"] > 0.9,
                      "%s --output-name %s: %s" % (command[0], name, result.stderr))


def check_verdicts(checks, tool, here):
    """A refusing model on three rows says something of each."""
    model = here / "t.tflite"
    text = run(tool, "run", model, "--input", here / "three.npy").stdout
    checks.expect(all("row %d  " % row in text for row in range(3)) and text.count("p-value") == 3, "rows: " + text)
    document = json.loads(run(tool, "run", model, "--input", here / "three.npy", "--json").stdout)
    checks.expect(len(document["rejections"]) == 3 and "rejection" not in document, "rows: %s" % document.keys())
    one = run(tool, "run", model, "--input", here / "one.npy").stdout
    checks.expect("row 0" not in one and one.count("p-value") == 1, "one row: " + one)


def wait_for_handler(process, number):
    status = pathlib.Path("/proc/%d/status" % process.pid)
    while process.poll() is None:
        caught = next((line for line in status.read_text().splitlines() if line.startswith("SigCgt:")), "SigCgt: 0")
        if int(caught.split()[1], 16) >> (number - 1) & 1:
            return
        time.sleep(0.02)


def check_stop(checks, tool):
    """A benchmark that waits ends at once when it is told to."""
    for number in (signal.SIGINT, signal.SIGTERM):
        process = subprocess.Popen([str(tool), "benchmark", str(DIGITS_CNN), "--delay", "600"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        wait_for_handler(process, number)
        time.sleep(0.5)  # most likely it waits by now
        process.send_signal(number)
        try:
            error = process.communicate(timeout=60)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            error = process.communicate()[1]
        checks.expect(process.returncode == CANCELLED and "stopped by the user" in error,
                      "signal %d: %d %s" % (number, process.returncode, error))


def check_words(checks, tool, here, numbers):
    text = run(tool, "train", DIGITS_CNN, "--data", numbers, "--output", here / "r.tflite").stdout
    checks.expect("40 examples in 1 number from" in text and "64 features to 1 number\n" in text, "train: " + text)
    text = run(tool, "info", here / "r.tflite").stdout
    checks.expect("64 features to 1 output " in text, "info: " + text)
    # Two files for a model that can only be planned with a given shape, and for any other.
    two = ["--input", here / "one.npy", "--input", here / "one.npy"]
    result = run(tool, "run", DIGITS_CNN, *two)
    checks.expect("has 1 input, 2 --input files were given" in result.stderr, "two inputs: " + result.stderr)


def main():
    tool = pathlib.Path(sys.argv[1])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        numbers = make_files(here)
        made = [run(tool, "train", DIGITS_CNN, "--data", TEST, "--output", here / "t.tflite"),
                run(tool, "train", DIGITS_CNN, "--data", TEST, "--output", here / "plain.tflite", "--reject", "0"),
                run(tool, "merge", DIGITS_CNN, here / "plain.tflite", "--output", here / "both.tflite"),
                run(tool, "learn", DIGITS_CNN, "--memory", here / "m.memory", "--add", TEST)]
        for done in made:
            checks.expect(done.returncode == 0, "%s: %s" % (done.args, done.stderr))
        check_cases(checks, tool, here, numbers)
        check_several_outputs(checks, tool, here)
        check_verdicts(checks, tool, here)
        check_stop(checks, tool)
        check_words(checks, tool, here, numbers)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
