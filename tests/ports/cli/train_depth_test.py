"""train --layers auto: what is tried, what is taken, and within which time and memory.

Usage: train_depth_test.py TOPWORK
"""
import pathlib
import shutil
import struct
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, Checks, npy, read_npy, run
from train_flags_test import DATA, USAGE, train


def turned(folder):
    """A folder of the digits, every other one dark on bright: what the network before the last layer does not know."""
    _, shape, data = read_npy(DIGITS_8X8 / "train" / "x.npy")
    values = struct.unpack("<%df" % (len(data) // 4), data)
    each = len(values) // shape[0]
    values = [1 - v if i // each % 2 == 0 else v for i, v in enumerate(values)]
    folder.mkdir()
    npy(folder / "x.npy", shape, values, "<f4")
    shutil.copy(DIGITS_8X8 / "train" / "y.npy", folder / "y.npy")
    return ["--data", folder]


def check_depths(checks, tool, here):
    """--layers auto tries depths as --layers N trains them, and tells why it took one."""
    output = here / "depth.tflite"
    steps = ["--epochs", "3", "--lr", "0.01"]
    document = train(checks, tool, "--output", output, "--layers", "auto", *steps)
    depths = document["depths"]
    checks.expect([row["layers"] for row in depths] == [1, 2, 3, 4], "depths: %s" % depths)
    took = document["seconds"]
    checks.expect(sum(took.values()) - took["total"] <= took["total"], "parts overlap: %s" % took)
    for row in depths:
        alone = train(checks, tool, "--output", here / "alone.tflite", "--layers", row["layers"], "--reject", "0",
                      "--keep-held-back", *steps)
        checks.expect(abs(alone["evaluation"]["loss"] - row["loss"]) < 1e-9, "%s loses %s alone" % (
            row, alone["evaluation"]["loss"]))
    taken = [row["layers"] for row in depths if row["chosen"]]
    checks.expect(len(taken) == 1 and max(depths, key=lambda row: row["accuracy"])["layers"] >= taken[0],
                  "one depth is taken, no deeper than the best: %s" % depths)
    checks.expect(document["settings"]["layers"].startswith("last" if taken == [1] else "last %d" % taken[0]) or
                  document["settings"]["layers"] == str(taken[0]), "layers: %s" % document["settings"]["layers"])
    # What the lower layers have to learn anew, no last layer can.
    deep = train(checks, tool, "--output", output, "--layers", "auto", "--epochs", "20", "--lr", "0.003",
                 data=turned(here / "deep"))
    taken = next(row for row in deep["depths"] if row["chosen"])
    checks.expect(taken["layers"] > 1 and taken["accuracy"] > deep["depths"][0]["accuracy"] + 0.03 and
                  deep["settings"]["layers"].lstrip("last ") == str(taken["layers"]), "deeper: %s" % deep["depths"])
    result = run(tool, "train", DIGITS_CNN, *DATA, "--output", output, "--layers", "auto", *steps)
    checks.expect("layers tried" in result.stdout and "taken" in result.stdout, result.stdout)
    for flags, text in ((["--validation", "0"], "--validation above 0"),
                        (["--optimizer", "ridge"], "it solves the last layer alone"),
                        (["--hidden", "4"], "leave out --append-head")):
        wrong = run(tool, "train", DIGITS_CNN, *DATA, "--output", output, "--layers", "auto", *flags)
        checks.expect(wrong.returncode == USAGE and text in wrong.stderr, "%s: %s" % (flags, wrong.stderr))


def check_automatic_depths(checks, tool, here):
    """Without a flag of steps, layers in front of the last one are tried, too; --max-seconds asks for it."""
    output, data = here / "depth.tflite", turned(here / "turned")
    folder = pathlib.Path(tempfile.gettempdir())
    before = set(folder.glob("topwork-features-*"))
    document = train(checks, tool, "--output", output, "--layers", "auto", data=data)
    rows = document["depths"]
    shapes = [(row["layers"], row["projected"], row["hidden"]) for row in rows]
    checks.expect(shapes == [(1, 0, 0), (1, 1024, 0), (1, 0, 64), (2, 0, 0), (3, 0, 0), (4, 0, 0)], "tried: %s" % shapes)
    checks.expect(rows[1]["chosen"] and rows[1]["accuracy"] > rows[0]["accuracy"] + 0.03, "taken: %s" % rows)
    checks.expect(document["settings"].get("features from the cache") == "600", "features are computed once: %s" %
                  document["settings"])
    checks.expect(set(folder.glob("topwork-features-*")) == before, "the tries' features stay behind")
    alone = train(checks, tool, "--output", output, data=data)
    checks.expect("depths" not in alone, "without --max-seconds the last layer alone is trained")
    left_out = max(row["accuracy"] for row in alone["candidates"] if row["chosen"])
    checks.expect(abs(left_out - rows[0]["accuracy"]) < 0.011, "left out: %s and %s" % (left_out, rows[0]))
    bounded = train(checks, tool, "--output", output, "--max-seconds", "600", data=data)
    checks.expect([row["chosen"] for row in bounded["depths"]] == [row["chosen"] for row in rows],
                  "--max-seconds: %s" % bounded.get("depths"))
    checks.expect("depths" not in train(checks, tool, "--output", output, "--max-seconds", "600", "--layers", "last",
                                        data=data), "--layers last is what was asked for")
    numbers = here / "numbers"
    turned(numbers)
    npy(numbers / "y.npy", (600, 1), [i % 7 for i in range(600)], "<f4")
    regression = train(checks, tool, "--output", output, "--layers", "auto", data=["--data", numbers])
    checks.expect(all(row["accuracy"] is None and row["loss"] > 0 for row in
                      regression["depths"] + regression.get("candidates", [])),
                  "numbers have no accuracy: %s" % regression["depths"])
    # Where no more than one example is wrong, nothing else is tried.
    easy = train(checks, tool, "--output", output, "--layers", "auto")
    checks.expect(len(easy["depths"]) == 1 and "could not be clearly better" in easy["depth_reason"], "%s" % easy["depths"])
    projected = train(checks, tool, "--output", output, "--project", "64")
    checks.expect(projected["candidates"][0]["name"] == "ridge", "--project 64: %s" % projected.get("candidates"))
    # Without room or time for more it is the last layer, with the reason.
    small = train(checks, tool, "--output", output, "--layers", "auto", "--cache-limit", "300KB", "--memory-limit",
                  "300KB", data=data)
    checks.expect("are allowed" in small["depth_reason"] and small["depths"][0]["chosen"], small["depth_reason"])
    short = train(checks, tool, "--output", output, "--layers", "auto", "--max-seconds", "0.000001", data=data)
    checks.expect("not tried, half of --max-seconds" in short["depth_reason"], short["depth_reason"])


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="topwork_train_depth_") as folder:
        for check in (check_depths, check_automatic_depths):
            check(checks, tool, pathlib.Path(folder))
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
