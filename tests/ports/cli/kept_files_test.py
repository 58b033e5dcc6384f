"""Files that a command reads are left as they are: no output takes their place, and a run that fails
changes none of them.

Usage: kept_files_test.py TOPWORK
"""
import pathlib
import shutil
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, EFFICIENTNET, Checks, npy, png, run

USAGE, DATA = 2, 5
TEST = DIGITS_8X8 / "test"


def check_kept(checks, tool, code, text, files, *arguments):
    """Refused with this text and code, and the files are what they were, as are the generations before them."""
    files = [each for path in files for each in (path, pathlib.Path(str(path) + ".previous"))]
    before = [path.read_bytes() if path.exists() else None for path in files]
    result = run(tool, *arguments)
    name = " ".join(map(str, arguments))
    checks.expect(result.returncode == code and text in result.stderr and result.stdout == "",
                  "%s: %d %s" % (name, result.returncode, result.stderr))
    for path, data in zip(files, before):
        now = path.read_bytes() if path.exists() else None
        checks.expect(now == data, "%s: %s has changed" % (name, path.name))


def check_memories(checks, tool, here):
    memory, other = here / "one.memory", here / "two.memory"
    made = run(tool, "learn", DIGITS_CNN, "--memory", memory, "--add", TEST)
    checks.expect(made.returncode == 0, "learn: " + made.stderr)
    shutil.copy(memory, other)
    learn = ["learn", DIGITS_CNN, "--memory", memory]
    check_kept(checks, tool, USAGE, "is the file of --memory, too", [memory], *learn, "--output", memory)
    check_kept(checks, tool, USAGE, "is the file of --memory, too", [memory], *learn, "--list", "--cache", memory)
    check_kept(checks, tool, USAGE, "is the file of --memory, too", [memory], *learn, "--output",
               str(memory) + ".previous")
    check_kept(checks, tool, USAGE, "is the file of --merge, too", [memory, other], *learn, "--merge", other,
               "--output", other)
    # A memory from which no model can be made.
    folder = here / "two_classes"
    folder.mkdir()
    npy(folder / "x.npy", (6, 8, 8, 1), [(i * i) % 11 / 10 for i in range(6 * 64)])
    npy(folder / "y.npy", (6,), [0, 1] * 3, "<i8")
    (folder / "classes.txt").write_text("k 0\nk 1\n")
    small = here / "small.memory"
    made = run(tool, "learn", DIGITS_CNN, "--memory", small, "--add", folder)
    checks.expect(made.returncode == 0, "learn: " + made.stderr)
    check_kept(checks, tool, DATA, "small.memory: is left as it was: 1 class has examples", [small], "learn",
               DIGITS_CNN, "--memory", small, "--remove-class", "k 1", "--output", here / "v.tflite")
    forgotten = run(tool, "learn", DIGITS_CNN, "--memory", small, "--remove-class", "k 1")
    checks.expect(forgotten.returncode == 0 and "3 removed" in forgotten.stdout,
                  "a class is forgotten where no model is asked for: " + forgotten.stderr)


def check_checkpoints(checks, tool, here):
    text, checkpoint = here / "diary.txt", here / "run.checkpoint"
    text.write_text("dear diary\n")
    train = ["train", DIGITS_CNN, "--data", TEST, "--output", here / "t.tflite", "--epochs", "1", "--checkpoint"]
    check_kept(checks, tool, USAGE, "diary.txt: exists already; --resume continues", [text], *train, text)
    first = run(tool, *train, checkpoint)
    checks.expect(first.returncode == 0 and checkpoint.exists(), "train --checkpoint: " + first.stderr)
    check_kept(checks, tool, USAGE, "run.checkpoint: exists already; --resume continues", [checkpoint], *train,
               checkpoint)
    check_kept(checks, tool, USAGE, "exists already", [checkpoint], *train[:-3], "--layers", "auto", "--checkpoint",
               checkpoint)
    before = pathlib.Path(str(checkpoint) + ".previous")
    shutil.copy(checkpoint, before)
    check_kept(checks, tool, USAGE, "is the file of --checkpoint, too", [checkpoint, before], *train, checkpoint,
               "--resume", "--report", before)
    resumed = run(tool, *train, checkpoint, "--resume")
    checks.expect(resumed.returncode == 0, "train --resume: " + resumed.stderr)


def check_inputs(checks, tool, here):
    model = here / "t.tflite"
    shutil.copy(DIGITS_CNN, model)
    check_kept(checks, tool, USAGE, "is the file of OTHERS, too", [model], "merge", DIGITS_CNN, model, "--output",
               str(here) + "/./t.tflite")
    gold = here / "gold"
    gold.mkdir()
    npy(gold / "x.npy", (2, 8, 8, 1), [0.5] * 128)
    check_kept(checks, tool, USAGE, "is a file of the data set", [gold / "x.npy"], "train", DIGITS_CNN, "--data",
               TEST, "--negatives", gold, "--output", gold / "x.npy")
    picture, labels = png(here / "in.png", 8, 8, lambda x, y: (x, y, 0)), here / "labels.txt"
    labels.write_text("a\n" * 1000)
    explain = ["run", EFFICIENTNET, "--input", picture, "--labels", labels, "--explain"]
    check_kept(checks, tool, USAGE, "is the file of --labels, too", [picture, labels], *explain, labels)
    check_kept(checks, tool, USAGE, "is the file of --input, too", [picture], *explain, picture)
    check_kept(checks, tool, USAGE, "is the model itself", [model], "run", model, "--input", picture, "--explain",
               model)
    check_kept(checks, tool, USAGE, "is written as PNG; give a name that ends in .png", [], *explain,
               here / "why.jpg")
    base = here / "base.json"
    base.write_text(run(tool, "benchmark", DIGITS_CNN, "--runs", "2", "--json").stdout)
    check_kept(checks, tool, USAGE, "is the file of --compare, too", [base], "benchmark", DIGITS_CNN, "--compare",
               base, "--report", base)
    check_kept(checks, tool, USAGE, "is the file of --labels, too", [labels], "evaluate", DIGITS_CNN, "--data", TEST,
               "--labels", labels, "--report", labels)
    check_kept(checks, tool, USAGE, "is the file of --input, too", [picture], "verify", EFFICIENTNET, "--device",
               "cpu", "--precision", "float16", "--input", picture, "--policy", picture)


def main():
    tool = pathlib.Path(sys.argv[1])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        check_memories(checks, tool, here)
        check_checkpoints(checks, tool, here)
        check_inputs(checks, tool, here)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
