"""Groups, near-duplicates, monitors and intervals on the command line.

Usage: groups_test.py TOPWORK
"""
import collections
import ctypes
import json
import os
import pathlib
import shutil
import struct
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, Checks, npy, png, read_npy, run

N, TRAINED = 300, 200
PIXELS = 64


def document(checks, tool, *arguments):
    result = run(tool, *arguments, "--json")
    checks.expect(result.returncode == 0, "%s: %d %s" % (" ".join(map(str, arguments)),
                                                         result.returncode, result.stderr))
    return json.loads(result.stdout or "{}")


def numbers(path):
    descr, shape, data = read_npy(path)
    code = {"<f4": "f", "<i8": "q", "<i4": "i", "|u1": "B"}[descr]
    return list(struct.unpack("<%d%s" % (len(data) // struct.calcsize(code), code), data))


def write(folder, x, y, groups=None, descr="<i8"):
    folder.mkdir(parents=True)
    npy(folder / "x.npy", [len(x) // PIXELS, 8, 8, 1], x)
    npy(folder / "y.npy", [len(y)], y, descr)
    if groups:
        npy(folder / "groups.npy", [len(groups)], groups, "<i8")
    return folder


def check_groups(checks, tool, here, x, y):
    data = write(here / "grouped", x[:TRAINED * PIXELS], y[:TRAINED], [i // 20 for i in range(TRAINED)])
    report = document(checks, tool, "train", DIGITS_CNN, "--data", data, "--output", here / "a.tflite",
                      "--balance-groups", "--optimizer", "ridge", "--monitor", here / "a.monitor")
    groups = report["evaluation"]["groups"]
    checks.expect(report["settings"]["groups"] == "10", "settings: %s" % report["settings"])
    checks.expect(len(groups) >= 1 and all(g["n_examples"] == 20 for g in groups),
                  "whole groups are held back: %s" % groups)
    found = document(checks, tool, "evaluate", here / "a.tflite", "--data", data)
    accuracies = [group["accuracy"] for group in found["groups"]]
    checks.expect(len(accuracies) == 10 and accuracies == sorted(accuracies) and
                  found["worst_group_accuracy"] == accuracies[0] and
                  abs(sum(accuracies) / 10 - found["top1"]) < 1e-9, "groups: %s" % found["groups"])
    text = run(tool, "evaluate", here / "a.tflite", "--data", data).stdout
    checks.expect("the worst of 10 groups" in text, "no table of groups in\n%s" % text)
    result = run(tool, "train", DIGITS_CNN, "--data", data, "--output", here / "b.tflite",
                 "--balance-groups", "--balance")
    checks.expect(result.returncode == 2 and "leave out --balance" in result.stderr, result.stderr)


def check_monitor(checks, tool, here, x, y):
    same = write(here / "same", x[TRAINED * PIXELS:N * PIXELS], y[TRAINED:N])
    report = document(checks, tool, "evaluate", here / "a.tflite", "--data", same, "--monitor",
                      here / "a.monitor")["monitor"]
    checks.expect(not report["is_alarm"] and report["n_alarms"] == 0 and report["n_examples"] == 100,
                  "the same kind of digits: %s" % report)
    checks.expect(len(report["classes"]) == 10 and
                  abs(sum(c["frequency"] for c in report["classes"]) - 1) < 1e-6, "%s" % report)
    negatives = [1.0 - value for value in x[TRAINED * PIXELS:N * PIXELS]]
    other = write(here / "other", negatives, y[TRAINED:N])
    arguments = ("evaluate", here / "a.tflite", "--data", other, "--monitor", here / "a.monitor")
    report = document(checks, tool, *arguments)["monitor"]
    checks.expect(report["is_alarm"] and report["n_alarms"] == 1 and report["evidence"] > 2,
                  "negatives: %s" % report)
    text = run(tool, *arguments).stdout
    checks.expect("new kinds of inputs yes" in text and "class frequencies" in text, text)
    # One class alone.
    ones = [i for i in range(N) if y[i] == 1]
    rows = [value for i in ones for value in x[i * PIXELS:(i + 1) * PIXELS]]
    data = write(here / "ones", rows, [1] * len(ones))
    report = document(checks, tool, "evaluate", here / "a.tflite", "--data", data, "--monitor",
                      here / "a.monitor", "--fold-frequencies", here / "ones.tflite")["monitor"]
    said = [document(checks, tool, "evaluate", here / model, "--data", here / "other")["classes"][1]
            for model in ("a.tflite", "ones.tflite")]
    checks.expect(said[1]["n_predicted"] > said[0]["n_predicted"], "folded frequencies: %s" % said)
    checks.expect(report["classes"][1]["frequency"] > 0.8, "ones: %s" % report["classes"])


def opened_during(folders, work):
    """How often each file of the folders is opened while work() runs, by inotify."""
    libc, is_open = ctypes.CDLL(None), 0x20
    watch = libc.inotify_init1(os.O_NONBLOCK)
    counts, head = collections.Counter(), struct.Struct("iIII")
    try:
        for folder in folders:
            libc.inotify_add_watch(watch, os.fsencode(folder), is_open)
        work()
        events = os.read(watch, 1 << 20)
        while events:
            _, mask, _, n = head.unpack_from(events)
            if not mask & 0x40000000:  # a folder
                counts[os.fsdecode(events[head.size:head.size + n].rstrip(b"\0"))] += 1
            events = events[head.size + n:]
    finally:
        os.close(watch)
    return counts


def check_read_once(checks, tool, here, x):
    """A monitor needs no second look at the files."""
    pictures = here / "pictures"
    for i in range(40):
        folder = pictures / ("class_%d" % (i % 2))
        folder.mkdir(parents=True, exist_ok=True)
        image = [int(255 * value) for value in x[i * PIXELS:(i + 1) * PIXELS]]
        png(folder / ("%d.png" % i), 8, 8, lambda c, r: [image[8 * r + c]] * 3)
    for data, folders in ((here / "same", [here / "same"]), (pictures, sorted(pictures.iterdir()))):
        arguments = ("evaluate", here / "a.tflite", "--data", data)
        once = opened_during(folders, lambda: document(checks, tool, *arguments))
        watched = opened_during([here, *folders], lambda: document(
            checks, tool, *arguments, "--monitor", here / "a.monitor"))
        checks.expect(sum(once.values()) > 0 and watched == once + collections.Counter(
            {"a.monitor": 1, "a.tflite": 1}), "opened: %s and %s" % (once, watched))


def check_duplicates(checks, tool, here, x, y):
    twice = write(here / "twice", x[:100 * PIXELS] * 2, y[:100] * 2)
    report = document(checks, tool, "train", DIGITS_CNN, "--data", twice, "--output", here / "c.tflite")
    checks.expect("nearly the same as training examples, such as x.npy[" in report.get("note", ""),
                  "duplicates: %s" % report.get("note"))
    shutil.rmtree(twice)
    write(twice, x[:100 * PIXELS] * 2, y[:100] * 2, [i % 100 for i in range(200)])
    report = document(checks, tool, "train", DIGITS_CNN, "--data", twice, "--output", here / "c.tflite")
    checks.expect("nearly the same" not in report.get("note", ""), "in one group: %s" % report.get("note"))


def check_intervals(checks, tool, here, x, y):
    data = write(here / "numbers", x[:TRAINED * PIXELS], [float(label) for label in y[:TRAINED]], descr="<f4")
    report = document(checks, tool, "train", DIGITS_CNN, "--data", data, "--output", here / "d.tflite",
                      "--optimizer", "ridge", "--loss", "mse")
    intervals = report.get("intervals", {})
    checks.expect(intervals.get("promised") == 0.9 and intervals["coverage"] >= 0.75 and
                  0 < intervals["mean_width"] < 12, "intervals: %s" % intervals)


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_groups_"))
    x, y = numbers(DIGITS_8X8 / "train" / "x.npy"), numbers(DIGITS_8X8 / "train" / "y.npy")
    try:
        check_groups(checks, tool, here, x, y)
        check_monitor(checks, tool, here, x, y)
        check_read_once(checks, tool, here, x)
        check_duplicates(checks, tool, here, x, y)
        check_intervals(checks, tool, here, x, y)
    finally:
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
