"""Wrong input of every kind to every command: one line on standard error that says what, where and
what to do, the documented exit code, nothing on standard output, and nothing left behind.

Usage: errors_test.py TOPWORK
"""
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, EFFICIENTNET, ROOT, Checks, npy, png, run

USAGE, MODEL, UNSUPPORTED, DATA, IO, MEMORY = 2, 3, 4, 5, 6, 7


def make_files(here):
    """The wrong files, and right ones beside them. Returns the names used in the table."""
    whole = DIGITS_CNN.read_bytes()
    (here / "truncated.tflite").write_bytes(whole[:len(whole) // 2])
    (here / "empty.tflite").write_bytes(b"")
    (here / "text.tflite").write_text("this is not a model, it is a sentence\n" * 20)
    (here / "folder.tflite").mkdir()
    (here / "file.txt").write_text("a file\n")
    (here / "two_labels.txt").write_text("cat\ndog\n")
    n = 8 * 8
    npy(here / "one.npy", (1, 8, 8, 1), [0.5] * n)
    npy(here / "output_0.npy", (1, 8, 8, 1), [0.5] * n)
    npy(here / "long.npy", (1, 8, 8, 1), [5] * n, "<i8")
    npy(here / "nan.npy", (1, 4), [1, float("nan"), 1, 1])
    npy(here / "uint8.npy", (1, 8, 8, 1), [5] * n, "|u1")
    npy(here / "fortran.npy", (1, 8, 8, 1), [0.5] * n, fortran=True)
    npy(here / "rank2.npy", (8, 8), [0.5] * n)
    npy(here / "channels.npy", (1, 8, 8, 3), [0.5] * n * 3)
    npy(here / "short.npy", (1, 8, 8, 1), [0.5] * (n - 3))
    npy(here / "huge.npy", (2147483647,) * 5, [])
    npy(here / "object.npy", (1,), b"\0" * 8, "|O")
    npy(here / "big_endian.npy", (1, 8, 8, 1), b"\0" * 4 * n, ">f4")
    (here / "not.npy").write_bytes(b"not an array at all")
    (here / "empty.npy").write_bytes(b"")
    (here / "broken.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"nonsense" * 9)
    (here / "broken.jpg").write_bytes(b"\xff\xd8\xff\xe0" + bytes(64))
    (here / "empty.jpg").write_bytes(b"")
    png(here / "good.png", 9, 7, lambda x, y: (20 * x, 30 * y, 99))
    make_data(here)


def make_data(here):
    (here / "nothing").mkdir()
    (here / "no_images" / "a").mkdir(parents=True)
    (here / "no_images" / "a" / "notes.txt").write_text("no image\n")
    (here / "stray").mkdir()
    png(here / "stray" / "0.png", 8, 8, lambda x, y: (x, y, 0))
    (here / "webp" / "a").mkdir(parents=True)
    (here / "webp" / "a" / "0.webp").write_bytes(b"RIFF")
    for name in ("a", "b"):
        (here / "unreadable" / name).mkdir(parents=True)
        for i in range(3):
            png(here / "unreadable" / name / ("%d.png" % i), 8, 8, lambda x, y: (x, y, i))
    (here / "unreadable" / "b" / "1.png").write_bytes(b"\x89PNG\r\n\x1a\nbroken")
    (here / "one_class" / "only").mkdir(parents=True)
    png(here / "one_class" / "only" / "0.png", 8, 8, lambda x, y: (x, y, 0))
    n = 8 * 8
    arrays = {
        "wrong_x_dtype": ((4, 8, 8, 1), [1] * 4 * n, "<i4", (4,), [0, 1, 0, 1], "<i8"),
        "wrong_x_shape": ((4, 9, 8, 1), [1.0] * 4 * 9 * 8, "<f4", (4,), [0, 1, 0, 1], "<i8"),
        "wrong_y_dtype": ((4, 8, 8, 1), [1.0] * 4 * n, "<f4", (4,), bytes(32), "<c8"),
        "wrong_y_rank": ((4, 8, 8, 1), [1.0] * 4 * n, "<f4", (4, 1), [0, 1, 0, 1], "<i8"),
        "wrong_y_length": ((4, 8, 8, 1), [1.0] * 4 * n, "<f4", (3,), [0, 1, 0], "<i8"),
        "negative_label": ((4, 8, 8, 1), [1.0] * 4 * n, "<f4", (4,), [0, 1, -1, 1], "<i8"),
        "huge_label": ((4, 8, 8, 1), [1.0] * 4 * n, "<f4", (4,), [0, 1, 1 << 40, 1], "<i8"),
        "class_gap": ((4, 8, 8, 1), [1.0] * 4 * n, "<f4", (4,), [0, 1, 3, 1], "<i8"),
        "one_label": ((4, 8, 8, 1), [1.0] * 4 * n, "<f4", (4,), [0, 0, 0, 0], "<i8"),
        "no_examples": ((0, 8, 8, 1), [], "<f4", (0,), [], "<i8"),
        "eleven_labels": ((2, 8, 8, 1), [1.0] * 2 * n, "<f4", (2,), [0, 10], "<i8"),
        "not_finite": ((4, 8, 8, 1), [float("nan")] * 4 * n, "<f4", (4,), [0, 1, 0, 1], "<i8"),
    }
    for name, (x_shape, x, x_type, y_shape, y, y_type) in arrays.items():
        (here / name).mkdir()
        npy(here / name / "x.npy", x_shape, x, x_type)
        npy(here / name / "y.npy", y_shape, y, y_type)
    x = ((4, 8, 8, 1), [1.0] * 4 * n, "<f4")
    for name, y_shape, y, y_type in (
            ("numbers", (4, 10), [0.5 * i for i in range(40)], "<f4"),
            ("decisions", (4, 10), [i % 2 for i in range(40)], "|u1"),
            ("three_numbers", (4, 3), [0.5] * 12, "<f8"),
            ("nan_number", (4, 1), [0.5, 1, float("nan"), 1], "<f4"),
            ("named_wrong", (4, 2), [0, 1] * 4, "|b1")):
        (here / name).mkdir()
        npy(here / name / "x.npy", *x)
        npy(here / name / "y.npy", y_shape, y, y_type)
    (here / "named_wrong" / "classes.txt").write_text("a\nb\nc\n")
    for name, text in (("csv_missing", "file,label\nnowhere.png,a\n"),
                       ("csv_number", "file,age\n0.png,12\n0.png,old\n"),
                       ("csv_header", "0.png,a\n")):
        (here / name).mkdir()
        png(here / name / "0.png", 8, 8, lambda x, y: (x, y, 0))
        (here / name / "labels.csv").write_text(text)
    (here / "only_x").mkdir()
    npy(here / "only_x" / "x.npy", (4, 8, 8, 1), [1.0] * 4 * n)


def table(here):
    """(arguments, exit code, what the line must say) of every case."""
    digits, photo = DIGITS_CNN, EFFICIENTNET
    cases = [
        ([], USAGE, "no command"),
        (["fly"], USAGE, "'fly' is not a command.*info.*train"),
        (["--fly"], USAGE, "--fly|no command"),
        (["devices", "--fly"], USAGE, "--fly.*topwork devices --help"),
        (["devices", "extra"], USAGE, "extra"),
        (["leran"], USAGE, "did you mean learn"),
        (["train", digits, "--optimzer", "adam"], USAGE, "no flag --optimzer; did you mean --optimizer.*train --help"),
        (["learn", digits, "--memry", "m"], USAGE, "no flag --memry; did you mean --memory"),  # which is required
        (["train", digits, "--fly", "1"], USAGE, "no flag --fly(?!; did you mean)"),
        (["train", digits, "--seed", "1", "--fly"], USAGE, "no flag --fly"),
        (["train", digits, "--data", DIGITS_8X8 / "test", "--output", here / "new.tflite", "--negatives",
          here / "nothing"], DATA, "nothing: holds no .jpg"),
        (["evaluate", digits, "--data", DIGITS_8X8 / "test", "--report", here / "none" / "e.html"], IO, "cannot write"),
        (["learn", digits, "--memory", here / "none.memory", "--list"], IO, "none.memory.*--add DIR makes one"),
        (["learn", digits, "--memory", here / "file.txt", "--list"], DATA, "file.txt.*not a Topwork"),
        (["audit", digits, "--data", here / "nothing"], DATA, "nothing: is empty; it must hold"),
        (["suggest", digits, "--data", here / "nothing"], DATA, "nothing: holds no .jpg"),
        (["merge", digits, photo, "--output", here / "new.tflite"], (UNSUPPORTED, DATA), "backbones differ"),
    ]
    needs = {"info": [], "run": [], "benchmark": ["--runs", "2"],
             "evaluate": ["--data", DIGITS_8X8 / "test"],
             "train": ["--data", DIGITS_8X8 / "test", "--output", here / "new.tflite"]}
    for command, rest in needs.items():
        cases += [
            ([command], USAGE, "MODEL|--data|--output"),
            ([command, digits, *rest, "--fly"], USAGE, "--fly.*topwork %s --help" % command),
            ([command, digits, *rest, "--threads", "many"], USAGE, "--threads.*many"),
            ([command, digits, *rest, "--threads", "-1"], USAGE, "--threads"),
            ([command, digits, *rest, "--device", "abacus"], USAGE, "--device.*abacus"),
            ([command, digits, *rest, "--device", "cpu:1"], USAGE, "--device.*only opencl takes"),
            ([command, here / "absent.tflite", *rest], IO, "absent.tflite.*No such file"),
            ([command, here / "folder.tflite", *rest], IO, "folder.tflite.*[Dd]irectory"),
            ([command, here / "truncated.tflite", *rest], MODEL, "truncated.tflite"),
            ([command, here / "empty.tflite", *rest], MODEL, "empty.tflite"),
            ([command, here / "text.tflite", *rest], MODEL, "text.tflite.*not a .tflite"),
        ]
        if command != "info":
            cases.append(([command, digits, *rest, "--device", "opencl:abacus"], (UNSUPPORTED, DATA), "OpenCL"))
    return cases + run_cases(here, digits, photo) + data_cases(here, digits, photo)


def run_cases(here, digits, photo):
    quantized = ROOT / "tests/data/cli/quantized.tflite"

    def given(*files):
        return [value for file in files for value in ("--input", here / file)]
    cases = [
        (["run", digits, *given("absent.npy")], IO, "absent.npy.*No such file"),
        (["run", digits, *given("one.npy", "one.npy")], USAGE, "has 1 input, 2 --input files were"),
        (["run", digits, *given("long.npy")], DATA, "long.npy.*int64.*float32.*NumPy"),
        (["run", digits, *given("uint8.npy")], DATA, "uint8.npy.*uint8.*float32"),
        (["run", digits, *given("fortran.npy")], DATA, "fortran.npy.*Fortran order.*ascontiguous"),
        (["run", digits, *given("rank2.npy")], DATA, r"--input files: .*'x' .*in the file \[1, 8, 8, 1\]"),
        (["run", digits, *given("channels.npy")], DATA, r"--input files: .*'x' .*in the file \[1, 8, 8, 1\]"),
        (["run", digits, *given("short.npy")], DATA, "short.npy.*truncated.*256.*244"),
        (["run", digits, *given("huge.npy")], DATA, "huge.npy.*too large"),
        (["run", digits, *given("object.npy")], DATA, r"object.npy.*\|O"),
        (["run", digits, *given("big_endian.npy")], DATA, "big_endian.npy.*>f4"),
        (["run", digits, *given("not.npy")], DATA, "not.npy.*NumPy"),
        (["run", digits, *given("empty.npy")], DATA, "empty.npy"),
        (["run", digits, *given("folder.tflite")], IO, "folder.tflite"),
        (["run", quantized, *given("nan.npy")], DATA, "nan.npy.*NaN.*'x'"),
        (["run", photo, "--signature", "nil"], DATA, "signature.*nil.*serving_default"),
        (["benchmark", digits, "--signature", "nil"], DATA, "signature.*nil"),
        (["evaluate", digits, "--data", DIGITS_8X8 / "test", "--signature", "nil"], DATA,
         "signature.*nil"),
        (["run", photo, *given("broken.png")], DATA, "broken.png.*JPEG, PNG or BMP"),
        (["run", photo, *given("broken.jpg")], DATA, "broken.jpg.*JPEG, PNG or BMP"),
        (["run", photo, *given("empty.jpg")], DATA, "empty.jpg"),
        (["run", photo, *given("good.png"), "--mean", "1,2"], USAGE, "--mean.*3 channels.*2"),
        (["run", photo, *given("good.png"), "--std", "0"], USAGE, "--std"),
        (["run", photo, *given("good.png"), "--std", "nan"], USAGE, "--std"),
        (["run", photo, *given("good.png"), "--mean", "grey"], USAGE, "--mean.*grey"),
        (["run", photo, "--labels", here / "absent.txt"], IO, "absent.txt"),
        (["run", photo, "--labels", here / "two_labels.txt"], DATA, "two_labels.txt.*2 names.*1000"),
        (["run", photo, "--top", "0"], USAGE, "--top"),
        (["run", photo, "--seed", "x"], USAGE, "--seed"),
        (["run", photo, "--seed", "-1"], USAGE, "--seed: '-1' is not a whole number"),
        (["run", digits, "--output", here / "file.txt"], IO, "file.txt"),
        (["run", digits, "--output", here / "file.txt" / "deeper"], IO, "file.txt"),
        (["run", digits, *given("output_0.npy"), "--output", here], USAGE,
         "output_0.npy is a file of --input"),
        (["benchmark", digits, "--runs", "0"], USAGE, "--runs"),
        (["benchmark", digits, "--warmup", "-1"], USAGE, "--warmup"),
        (["benchmark", digits, "--batch", "x"], USAGE, "--batch"),
        (["run", digits, "--memory-limit", "1KiB"], MEMORY, "memory limit is 1024"),
        (["run", digits, "--memory-limit", "-1"], USAGE, "--memory-limit.*as in 64MiB"),
        (["info", digits, "--signature", "nil"], DATA, "signature 'nil'"),
        (["info", digits, "--cpu-ops", "NONE"], DATA, "'NONE'.*#0 to #8"),
        (["info", digits, "--device-policy", here / "absent.txt"], IO, "absent.txt.*No such file"),
    ]
    return cases


def data_cases(here, digits, photo):
    cases = []
    new = ["--output", here / "new.tflite"]
    for command, more in (("train", new), ("evaluate", [])):
        def case(model, folder, code, pattern):
            cases.append(([command, model, "--data", here / folder, *more], code, pattern))
        case(digits, "absent", IO, "absent.*no such folder")
        case(digits, "file.txt", IO, "file.txt.*not a folder")
        case(photo, "nothing", DATA, "nothing.*empty.*one folder of images or sounds per class")
        case(photo, "no_images", DATA, r"no_images.*\.png")
        case(photo, "stray", DATA, "stray: holds images.*one folder per class.*labels.csv")
        case(photo, "webp", DATA, r"webp: .*no .jpg, .png or .bmp.*convert.*a/0.webp")
        case(photo, "unreadable", DATA, "b/1.png.*JPEG, PNG or BMP")
        case(digits, "wrong_x_dtype", DATA, "x.npy.*int32.*float32.*NumPy")
        case(digits, "wrong_x_shape", DATA, r"x.npy.*\[4, 9, 8, 1\].*\[N, 8, 8, 1\]")
        case(digits, "wrong_y_dtype", DATA, "y.npy.*complex64.*integers")
        case(digits, "wrong_y_rank", DATA, r"y.npy.*\[4, 1\]")
        case(digits, "wrong_y_length", DATA, "y.npy.*3 labels for 4")
        case(digits, "negative_label", DATA, "y.npy.*-1 at position 2")
        case(digits, "huge_label", DATA, "y.npy.*1099511627776")
        case(digits, "no_examples", DATA, "x.npy.*no examples")
        case(digits, "only_x", IO, "y.npy.*No such file")
        case(digits, "nan_number", DATA, r"y.npy.*\[2, 0\].*not finite.*leave the example out")
        case(digits, "named_wrong", DATA, "classes.txt.*3 names.*2 columns")
        case(photo, "csv_missing", DATA, "labels.csv:2: column 1.*nowhere.png.*folder of labels.csv")
        case(photo, "csv_number", DATA, "labels.csv:3: column 2.*'age'.*'old' is not a number")
        case(photo, "csv_header", DATA, "labels.csv:1: .*'file'.*file,label.*'0.png'")
    cases += [
        (["evaluate", digits, "--data", here / "eleven_labels"], DATA, "y.npy.*10.*10 classes"),
        (["evaluate", digits, "--data", DIGITS_8X8 / "test", "--labels", here / "two_labels.txt"],
         DATA, "two_labels.txt.*2 names.*10"),
        (["train", photo, "--data", here / "one_class", *new], DATA, "one class.*only"),
        (["train", digits, "--data", here / "one_label", *new], DATA, "one class"),
        (["train", digits, "--data", here / "class_gap", *new], DATA, "class 2 has no examples"),
        (["train", digits, "--data", here / "not_finite", *new], (DATA, 8), "finite|NaN|nan"),
    ]
    cases += evaluate_cases(here, digits)
    good = ["train", digits, "--data", DIGITS_8X8 / "test", *new]
    for flag, value in (("--epochs", "0"), ("--epochs", "x"), ("--batch", "0"), ("--lr", "0"),
                        ("--lr", "-1"), ("--lr", "fast"), ("--optimizer", "magic"),
                        ("--validation", "1"), ("--validation", "-0.1"), ("--momentum", "1"),
                        ("--weight-decay", "-1"), ("--seed", "x")):
        cases.append((good + [flag, value], USAGE, flag))
    cases += clash_cases(here, digits, good)
    cases += [
        (good + ["--lr", "0"], USAGE, r"--lr: '0' is not a number above 0, up to 1e\+06 \("),
        (good + ["--weight-decay", "nan"], USAGE, "--weight-decay: 'nan' is not a number from 0 to 1e.06"),
        (good + ["--cache-limit", "-5MB"], USAGE, "--cache-limit: '-5MB' is not a number of bytes"),
        (good + ["--seed", "-1"], USAGE, "--seed: '-1' is not a whole number"),
        (good + ["--resume"], USAGE, "--resume needs --checkpoint"),
        (good + ["--resume", "--checkpoint", here / "absent.ckpt"], IO, "absent.ckpt.*No such file"),
        (good + ["--resume", "--checkpoint", here / "text.tflite"], DATA, "text.tflite"),
        (good + ["--checkpoint", here / "absent" / "c.ckpt"], IO, "c.ckpt"),
        (good + ["--report", here / "absent" / "r.html"], IO, "r.html"),
        (["train", digits, "--data", DIGITS_8X8 / "test", "--output", here], IO, "is a folder"),
        (["train", digits, "--data", DIGITS_8X8 / "test", "--output", here / "absent" / "n.tflite"],
         IO, "n.tflite.*No such file"),
        (["train", digits, "--data", DIGITS_8X8 / "test", "--output", digits], USAGE, "model itself"),
    ]
    return cases


def clash_cases(here, digits, good):
    """Outputs that would take the place of something that the user has, or of each other."""
    data, arrays = DIGITS_8X8 / "test", here / "eleven_labels"
    new, mine = here / "new.tflite", here / "arrays_output"
    cases = [
        (good + ["--report", new], USAGE, "--report .*is the file of --output, too"),
        (good + ["--save-head", mine, "--checkpoint", mine], USAGE, "is the file of --checkpoint, too"),
        (good + ["--cache", digits], USAGE, "--cache .*model itself"),
        (good + ["--head", here / "text.tflite", "--report", here / "text.tflite"], USAGE,
         "text.tflite: is the file of --head"),
        (["train", digits, "--data", arrays, "--output", arrays / "x.npy"], USAGE,
         "x.npy: is a file of the data set"),
        (["train", digits, "--data", data, "--output", new, "--golden", arrays, "--report",
          arrays / "y.npy"], USAGE, "y.npy: is a file of the data set"),
        (["quantize", digits, "--to", "fp16", "--output", digits], USAGE, "--output .*model itself"),
        (["quantize", digits, "--to", "fp16", "--eval", arrays, "--output", arrays / "y.npy"], USAGE,
         "y.npy: is a file of the data set"),
        (["prune", digits, "--sparsity", "0.5", "--output", digits], USAGE, "--output .*model itself"),
        (["verify", digits, "--device", "opencl:0", "--policy", digits], USAGE,
         "--policy .*model itself"),
    ]
    return cases


def listing(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def evaluate_cases(here, digits):
    def case(folder, code, pattern, *flags, model=digits):
        cases.append((["evaluate", model, "--data", folder, *flags], code, pattern))
    cases, several, test = [], ROOT / "tests/data/cli/outputs.tflite", DIGITS_8X8 / "test"
    case(here / "numbers", DATA, "numbers: has numbers other than 0 and 1; --loss sigmoid", "--loss",
         "sigmoid")
    case(here / "decisions", DATA, "--loss softmax needs one class", "--loss", "softmax")
    case(test, DATA, "one class.*--loss huber needs numbers.*labels.csv.*y.npy", "--loss", "huber")
    case(here / "three_numbers", DATA, "3 numbers.*the model gives 10")
    case(here / "not_finite", 8, r"x.npy\[0\]: output '.*' has NaN at position 0")
    case(test, USAGE, "--loss", "--loss", "hinge")
    case(test, USAGE, "--top", "--top", "0")
    case(test, USAGE, "--worst", "--worst", "-1")
    case(test, DATA, "no output 'scores'; it has '.*' float32", "--output-name", "scores")
    case(test, UNSUPPORTED, r"choose one by --output-name: 'logits' .*'decisions'.*'map' float32 \[",
         model=several)
    case(test, DATA, "no output 'nil'.*'logits'.*'half' float16", "--output-name", "nil",
         model=several)
    case(test, UNSUPPORTED, r"'map' is .*not a row of numbers", "--output-name", "map",
         model=several)
    case(test, DATA, r"x.npy.*\[397, 8, 8, 1\].*\[N, 4\]", "--output-name", "logits",
         model=several)
    return cases


def check_line(checks, name, result, codes, pattern):
    """One line on standard error, nothing on standard output, and the code."""
    codes = codes if isinstance(codes, tuple) else (codes,)
    lines = [line for line in result.stderr.splitlines() if not re.match(r"(features|evaluate|benchmark): ", line)]
    errors = [line for line in lines if line.startswith("topwork: error: ")]
    checks.expect(result.returncode in codes, "%s: exit code %d instead of %s; %s" % (
        name, result.returncode, codes, result.stderr))
    checks.expect(len(lines) == 1 and len(errors) == 1,
                  "%s: not exactly one line: %r" % (name, result.stderr))
    checks.expect(errors and re.search(pattern, errors[0]),
                  "%s: nothing like '%s' in %r" % (name, pattern, result.stderr))


def check_table(checks, tool, here):
    make_files(here)
    before = listing(here)
    for arguments, code, pattern in table(here):
        name = "topwork " + " ".join(map(str, arguments))
        for json in ([], ["--json"]):
            result = run(tool, *arguments, *(json if len(arguments) > 1 else []))
            check_line(checks, name, result, code, pattern)
            if json:
                checks.expect(result.stdout == "", name + ": --json printed " + result.stdout[:99])
        after = listing(here)
        checks.expect(after == before, "%s: left behind %s" % (name, set(after) - set(before)))


def check_file_size_limit(checks, tool, here):
    """A full disk or quota, by RLIMIT_FSIZE: the write fails, and nothing half-written stays."""
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    for rest in (["train", DIGITS_CNN, "--data", DIGITS_8X8 / "test", "--epochs", "1",
                  "--output", here / "new.tflite"],
                 ["train", DIGITS_CNN, "--data", DIGITS_8X8 / "test", "--epochs", "1",
                  "--output", here / "new.tflite", "--checkpoint", here / "c.ckpt"],
                 ["run", EFFICIENTNET, "--output", here / "results"]):
        result = run(tool, *rest, "--json", preexec_fn=limit)
        check_line(checks, "limited " + str(rest[0]), result, IO,
                   "(new.tflite|c.ckpt|output_0.npy).*File too large")
        left = [name for name in listing(here) if name != "results"]
        checks.expect(left == [], "file size limit: left behind %s" % left)


def check_full_disk(checks, tool, here):
    """A disk of 64 KiB, where one can be mounted."""
    disk = here / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)],
                             capture_output=True)
    if mounted.returncode != 0:
        print("a full disk cannot be made here (mounting needs root); /dev/full is tried below")
        return
    try:
        (disk / "filler").write_bytes(bytes(60 * 1024))
        for rest in (["train", DIGITS_CNN, "--data", DIGITS_8X8 / "test", "--epochs", "1",
                      "--output", disk / "new.tflite"],
                     ["run", EFFICIENTNET, "--output", disk]):
            result = run(tool, *rest, "--json")
            check_line(checks, "full disk, " + str(rest[0]), result, IO,
                       "(new.tflite|output_0.npy).*No space left")
            checks.expect(listing(disk) == ["filler"], "full disk: left %s" % listing(disk))
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def check_read_only(checks, tool, here):
    """A folder that may not be written; root may, so a read-only mount stands in for it there."""
    folder = here / "read_only"
    folder.mkdir()
    mounted = False
    if os.geteuid() == 0:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", str(folder)],
                                 capture_output=True).returncode == 0
        if not mounted:
            print("a read-only folder cannot be made here (root without mounts)")
            return
    else:
        folder.chmod(0o555)
    try:
        data = ["--data", DIGITS_8X8 / "test"]
        for rest in (["train", DIGITS_CNN, *data, "--output", folder / "new.tflite"],
                     ["train", DIGITS_CNN, *data, "--output", here / "n", "--report", folder / "r"],
                     ["train", DIGITS_CNN, *data, "--output", here / "n", "--checkpoint",
                      folder / "c"],
                     ["run", DIGITS_CNN, "--output", folder],
                     ["run", DIGITS_CNN, "--output", folder / "deeper"]):
            result = run(tool, *rest)
            check_line(checks, "read-only, " + str(rest[0]), result, IO,
                       "read_only.*(Read-only|Permission)")
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def check_standard_output(checks, tool):
    if not os.path.exists("/dev/full"):
        return
    for rest in (["devices"], ["devices", "--json"], ["info", DIGITS_CNN],
                 ["run", DIGITS_CNN, "--json"]):
        with open("/dev/full", "w") as full:
            process = subprocess.Popen([tool, *map(str, rest)], stdout=full, stderr=subprocess.PIPE,
                                       text=True)
            error = process.communicate(timeout=60)[1]
        checks.expect(process.returncode == IO and error.count("\n") == 1 and
                      "standard output" in error,
                      "/dev/full, %s: code %d, %r" % (rest[0], process.returncode, error))


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    checks = Checks()
    for check in (check_table, check_file_size_limit, check_full_disk, check_read_only):
        here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_errors_"))
        try:
            check(checks, tool, here)
        finally:
            shutil.rmtree(here, ignore_errors=True)
    check_standard_output(checks, tool)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
