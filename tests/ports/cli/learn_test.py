"""learn: a memory that grows, forgets, corrects and merges, and the models that follow it.

Usage: learn_test.py TOPWORK
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, EFFICIENTNET, Checks, npy, png, read_npy, run

USAGE, DATA, IO = 2, 5, 6


def learn(checks, tool, memory, *arguments, model=DIGITS_CNN):
    """The JSON document of a run that must work."""
    result = run(tool, "learn", model, "--memory", memory, *arguments, "--json")
    if not checks.expect(result.returncode == 0 and result.stderr == "", "learn %s: %d %s" % (
            " ".join(map(str, arguments)), result.returncode, result.stderr)):
        return {}
    return json.loads(result.stdout)


def refused(checks, tool, code, text, memory, *arguments, model=DIGITS_CNN):
    result = run(tool, "learn", model, "--memory", memory, *arguments)
    checks.expect(result.returncode == code and text in result.stderr, "learn %s: %d %s" % (
        " ".join(map(str, arguments)), result.returncode, result.stderr))


def part(folder, source, first, last):
    """The digits [first, last) of an array data set as another one."""
    folder.mkdir()
    descr, shape, data = read_npy(source / "x.npy")
    size = len(data) // shape[0]
    npy(folder / "x.npy", (last - first, *shape[1:]), data[first * size:last * size], descr)
    descr, shape, data = read_npy(source / "y.npy")
    size = len(data) // shape[0]
    npy(folder / "y.npy", (last - first,), data[first * size:last * size], descr)
    if (source / "classes.txt").exists():
        shutil.copy(source / "classes.txt", folder)
    return folder


def top1(tool, model):
    return json.loads(run(tool, "evaluate", model, "--data", DIGITS_8X8 / "test", "--json").stdout)["top1"]


def check_arrays(checks, tool, here):
    everything = learn(checks, tool, here / "all.memory", "--add", DIGITS_8X8 / "train", "--output",
                       here / "all.tflite")
    n = everything["n_examples"]
    checks.expect(everything["n_added"] == n and everything["n_chosen"] == n and
                  everything["penalty"] > 0 and sum(everything["classes"].values()) == n,
                  "a first run: %s" % everything)
    accuracy = top1(tool, here / "all.tflite")
    checks.expect(accuracy > 0.95, "accuracy on new digits is %s" % accuracy)
    listed = learn(checks, tool, here / "all.memory", "--list")["examples"]
    checks.expect(len(listed) == n and listed[3]["id"] == "x.npy[3]", "--list: %s" % listed[:5])
    # What comes and goes leaves the same model.
    penalty = ["--penalty", "20"]
    learn(checks, tool, here / "all.memory", *penalty, "--output", here / "a.tflite")
    removed = learn(checks, tool, here / "all.memory", "--remove", "x.npy[3]", "x.npy[200]")
    checks.expect(removed["n_removed"] == 2 and removed["n_examples"] == n - 2, "--remove: %s" % removed)
    refused(checks, tool, DATA, "x.npy[3]", here / "all.memory", "--remove", "x.npy[3]")
    refused(checks, tool, DATA, "is there already", here / "all.memory", "--add", DIGITS_8X8 / "train")
    # Two parts, merged, against all at once.
    half = n // 2
    for name, first, last in (("one", 0, half), ("two", half, n)):
        learn(checks, tool, here / (name + ".memory"), "--add",
              part(here / name, DIGITS_8X8 / "train", first, last), *penalty)
    clash = run(tool, "learn", DIGITS_CNN, "--memory", here / "one.memory", "--merge", here / "two.memory")
    checks.expect(clash.returncode == DATA and "is in both memories" in clash.stderr,
                  "ids of two data sets: %s" % clash.stderr)
    for name in ("one", "two"):
        learn(checks, tool, here / (name + ".memory"), "--drop-features")
    merged = learn(checks, tool, here / "one.memory", "--merge", here / "two.memory", "--output",
                   here / "merged.tflite")
    checks.expect(merged["n_examples"] == n and merged["n_kept"] == 0 and merged["n_merged"] == n - half,
                  "--merge: %s" % merged)
    checks.expect(abs(top1(tool, here / "merged.tflite") - top1(tool, here / "a.tflite")) < 1e-9,
                  "a merged model has another accuracy")
    less = learn(checks, tool, here / "one.memory", "--subtract", here / "two")
    checks.expect(less["n_examples"] == half and less["n_removed"] == n - half, "--subtract: %s" % less)
    refused(checks, tool, DATA, "not kept", here / "one.memory", "--remove-class",
            next(iter(less["classes"])))


def check_with_train(checks, tool, here):
    memory = here / "both.memory"
    learn(checks, tool, memory, "--add", DIGITS_8X8 / "train")
    trained = run(tool, "train", DIGITS_CNN, "--memory", memory, "--output", here / "t.tflite",
                  "--epochs", "2", "--json")
    checks.expect(trained.returncode == 0, "train goes on from a learner's memory: " + trained.stderr)
    checks.expect(top1(tool, here / "t.tflite") > 0.9, "a head trained from a memory is bad")
    again = learn(checks, tool, memory, "--output", here / "u.tflite")
    checks.expect(again.get("n_examples", 0) > 100 and top1(tool, here / "u.tflite") > 0.95,
                  "learn goes on from a trainer's memory: %s" % again)


def check_negatives(checks, tool, here):
    """A memory keeps what belongs to no class, for train and for learn."""
    memory, others = here / "negatives.memory", here / "others"
    others.mkdir()
    npy(others / "x.npy", (20, 8, 8, 1), [(i * i) % 17 / 16 for i in range(20 * 64)])
    counts = []
    for folder, flags in ((part(here / "n1", DIGITS_8X8 / "train", 0, 100), ["--negatives", others]),
                          (part(here / "n2", DIGITS_8X8 / "train", 100, 200), []),
                          (part(here / "n3", DIGITS_8X8 / "train", 200, 300), ["--negatives", others])):
        trained = run(tool, "train", DIGITS_CNN, "--data", folder, "--memory", memory, "--output", here / "n.tflite",
                      *flags, "--json")
        counts.append(json.loads(trained.stdout)["rejection"]["n_negatives"] if trained.returncode == 0
                      else trained.stderr)
        learn(checks, tool, memory, "--remove", "x.npy[0]", "--output", here / "l.tflite")
    # Of the 20 pictures 17 are different.
    checks.expect(counts == [17] * 3, "negatives of three runs with one memory: %s" % counts)


def check_pictures(checks, tool, here):
    colours = {"red": (220, 40, 40), "green": (40, 200, 60), "blue": (40, 60, 220)}
    for c, (name, colour) in enumerate(colours.items()):
        for person in ("ann", "bob"):
            folder = here / "pictures" / name / person
            folder.mkdir(parents=True)
            for i in range(2):
                png(folder / ("%d.png" % i), 24, 24,
                    lambda x, y: tuple((v + 7 * i * x + 3 * c * y) % 256 for v in colour))
    memory, model = here / "p.memory", EFFICIENTNET
    first = learn(checks, tool, memory, "--add", here / "pictures", "--penalty", "100", "--output",
                  here / "p.tflite", model=model)
    checks.expect(first["classes"] == {"blue": 4, "green": 4, "red": 4}, "classes: %s" % first)
    shown = run(tool, "run", here / "p.tflite", "--input", here / "pictures/green/ann/1.png").stdout
    checks.expect(shown.find("green") < max(shown.find("red"), shown.find("blue")), "run: " + shown)
    less = learn(checks, tool, memory, "--remove-group", "bob", "--list", model=model)
    checks.expect(less["n_removed"] == 6 and all("bob" not in e["id"] for e in less["examples"]),
                  "--remove-group: %s" % less)
    refused(checks, tool, DATA, "--remove-group carol", memory, "--remove-group", "carol", model=model)
    wrong = less["examples"][0]
    other = learn(checks, tool, memory, "--relabel", wrong["id"] + "=purple", "--rename-class",
                  "red=rose", "--list", model=model)
    checks.expect(other["classes"]["purple"] == 1 and other["classes"]["rose"] == 2 and
                  other["n_relabelled"] == 1, "--relabel: %s" % other)
    gone = learn(checks, tool, memory, "--remove-class", "rose", model=model)
    checks.expect("rose" not in gone["classes"] and gone["n_removed"] == 2, "--remove-class: %s" % gone)
    refused(checks, tool, DATA, "no such class", memory, "--remove-class", "rose", model=model)
    refused(checks, tool, DATA, "belongs to the model", memory, "--list")
    text = run(tool, "learn", model, "--memory", memory, "--list").stdout
    checks.expect("purple" in text and "penalty" in text, "--list in words: " + text)


def check_errors(checks, tool, here):
    refused(checks, tool, IO, "--add DIR makes one", here / "none.memory", "--list")
    refused(checks, tool, USAGE, "--penalty", here / "none.memory", "--add", DIGITS_8X8 / "train",
            "--penalty", "-3")
    refused(checks, tool, USAGE, "is not ID=CLASS", here / "all.memory", "--relabel", "x.npy[0]")
    checks.expect(not (here / "none.memory").exists(), "a failed run made a memory")
    before = (here / "all.memory").read_bytes()
    damaged = bytearray(before)
    damaged[len(damaged) // 2] ^= 1
    (here / "bad.memory").write_bytes(damaged)
    refused(checks, tool, DATA, "checksum", here / "bad.memory", "--list")
    learn(checks, tool, here / "all.memory", "--list")
    checks.expect((here / "all.memory").read_bytes() == before, "--list wrote the memory")
    # A disk that is full: the old memory stays.
    limited = subprocess.run(["bash", "-c", "ulimit -f 8; exec \"$@\"", "-", str(tool), "learn",
                              str(DIGITS_CNN), "--memory", str(here / "all.memory"), "--remove",
                              "x.npy[7]"], capture_output=True, text=True)
    checks.expect(limited.returncode == IO and (here / "all.memory").read_bytes() == before,
                  "a full disk: %d %s" % (limited.returncode, limited.stderr))


def main():
    tool = pathlib.Path(sys.argv[1])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        check_arrays(checks, tool, here)
        check_with_train(checks, tool, here)
        check_negatives(checks, tool, here)
        check_pictures(checks, tool, here)
        check_errors(checks, tool, here)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
