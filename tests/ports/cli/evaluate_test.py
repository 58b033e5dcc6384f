"""evaluate: its numbers against scikit-learn's (tests/data/cli/evaluate.json, made by
make_evaluate_golden.py), labels.csv with images, matching by name, and what is printed for people.

Usage: evaluate_test.py TOPWORK
"""
import json
import pathlib
import shutil
import sys
import tempfile

from cli_support import DIGITS_8X8, DIGITS_CNN, EFFICIENTNET, ROOT, ZOO, Checks, npy, png, run

GOLDEN = ROOT / "tests" / "data" / "cli"
TOLERANCE = 2e-6


def document(checks, tool, *arguments):
    result = run(tool, "evaluate", *arguments, "--json")
    checks.expect(result.returncode == 0 and result.stderr == "", "evaluate %s: %d %s" % (
        " ".join(map(str, arguments)), result.returncode, result.stderr))
    return json.loads(result.stdout or "{}")


def differences(expected, found, path=""):
    """Where `found` departs from `expected`; keys that are not expected are passed over."""
    if isinstance(expected, dict):
        if not isinstance(found, dict):
            return ["%s: %s" % (path, found)]
        return [text for key, value in expected.items()
                for text in differences(value, found.get(key), path + "." + key)]
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return ["%s: %s, not %s" % (path, found, expected)]
        return [text for i, value in enumerate(expected)
                for text in differences(value, found[i], "%s[%d]" % (path, i))]
    if isinstance(expected, float):
        good = isinstance(found, (int, float)) and \
            abs(found - expected) <= TOLERANCE * max(1.0, abs(expected))
        return [] if good else ["%s: %s, not %s" % (path, found, expected)]
    return [] if found == expected else ["%s: %r, not %r" % (path, found, expected)]


def write_arrays(folder, arrays, inputs, targets, names=None):
    folder.mkdir(parents=True)
    for file, name in (("x.npy", inputs), ("y.npy", targets)):
        array = arrays[name]
        values = array["values"]
        if array["descr"] != "<f4":
            values = [int(value) for value in values]
        npy(folder / file, array["shape"], values, array["descr"])
    if names:
        (folder / "classes.txt").write_text("\n".join(names) + "\n")
    return folder


def check_golden(checks, tool, here):
    golden = json.loads((GOLDEN / "evaluate.json").read_text())
    checks.expect(len(golden["cases"]) == 15, "%d golden cases" % len(golden["cases"]))
    for case in golden["cases"]:
        folder = write_arrays(here / case["name"], golden["arrays"], case["inputs"],
                              case["targets"], golden["names"].get(case["targets"]))
        found = document(checks, tool, GOLDEN / case["model"], "--data", folder, *case["flags"],
                         "--worst", "3")
        for text in differences(case["expected"], found):
            checks.expect(False, "golden '%s' %s" % (case["name"], text))
    checks.expect(differences({"a": [1.0]}, {"a": [1.1]}) == [".a[0]: 1.1, not 1.0"], "differences")
    return golden["arrays"]


def check_people(checks, tool, here, arrays):
    """The same for people: the words that tell what a number is."""
    model = GOLDEN / "outputs.tflite"
    several = write_arrays(here / "people several", arrays, "x", "several", ["a", "b", "c", "d"])
    values = write_arrays(here / "people values", arrays, "x", "values")
    for name, folder, words in (
            ("several", several, ("decisions right", "mean average precision", "calibration error",
                                  "average precision", "the worst examples", "on 60 examples")),
            ("values", values, ("MAE", "RMSE", "R²", "all", "the worst examples", "x.npy["))):
        result = run(tool, "evaluate", model, "--data", folder, "--output-name", "logits", "--worst",
                     "2")
        for word in words:
            checks.expect(word in result.stdout, "%s: '%s' is missing in\n%s%s" % (
                name, word, result.stdout, result.stderr))
        checks.expect("confusion" not in result.stdout and "top-1" not in result.stdout,
                      "%s: a classifier's table in\n%s" % (name, result.stdout))
    text = run(tool, "evaluate", DIGITS_CNN, "--data", DIGITS_8X8 / "test", "--top", "2", "--worst",
               "1").stdout
    for word in ("top-1 98.2 %", "top-2 99.7 %", "calibration error 1.3 %", "x.npy[215]"):
        checks.expect(word in text, "softmax: '%s' is missing in\n%s" % (word, text))
    plain = run(tool, "evaluate", DIGITS_CNN, "--data", DIGITS_8X8 / "test").stdout
    checks.expect("worst" not in plain and "top-2" not in plain, "softmax: " + plain)
    checks.expect("worst" not in document(checks, tool, DIGITS_CNN, "--data", DIGITS_8X8 / "test"),
                  "--json: worst without --worst")
    column = write_arrays(here / "people column", arrays, "column", "two", ["cat", "dog"])
    result = run(tool, "evaluate", GOLDEN / "column.tflite", "--data", column)
    checks.expect("one output; it is taken for the score of 'dog'" in result.stderr and
                  "confusion" in result.stdout, "one output: " + result.stderr)
    (here / "dog_first.txt").write_text("dog\ncat\n")
    result = run(tool, "evaluate", GOLDEN / "column.tflite", "--data", column, "--labels",
                 here / "dog_first.txt")
    checks.expect("score of 'cat'" in result.stderr, "one output: " + result.stderr)


def check_names(checks, tool, here, arrays):
    """Labels in another order than the columns: matched by name, the same numbers come out."""
    model, n = GOLDEN / "outputs.tflite", arrays["x"]["shape"][0]
    names = ["a", "b", "c", "d"]
    straight = write_arrays(here / "straight", arrays, "x", "values", names)
    order = [2, 0, 3, 1]
    x = arrays["x"]["values"]
    arrays = dict(arrays, turned={"descr": "<f4", "shape": [n, 4],
                                  "values": [x[4 * i + c] for i in range(n) for c in order]})
    turned = write_arrays(here / "turned", arrays, "turned", "values", names)
    (here / "labels.txt").write_text("".join(names[c] + "\n" for c in order))
    flags = ["--output-name", "logits"]
    first = document(checks, tool, model, "--data", straight, *flags)
    second = document(checks, tool, model, "--data", turned, *flags, "--labels", here / "labels.txt")
    checks.expect(first["outputs"] == second["outputs"], "columns are not matched by name")
    third = document(checks, tool, model, "--data", turned, *flags)
    checks.expect(first["outputs"] != third["outputs"], "names are looked at without labels")
    # Two of the four columns, named.
    y = arrays["values"]["values"]
    arrays["two columns"] = {"descr": "<f4", "shape": [n, 2],
                             "values": [y[4 * i + c] for i in range(n) for c in (1, 3)]}
    part = write_arrays(here / "part", arrays, "turned", "two columns", ["b", "d"])
    fourth = document(checks, tool, model, "--data", part, *flags, "--labels", here / "labels.txt")
    checks.expect(fourth["outputs"] == [first["outputs"][1], first["outputs"][3]], "two columns")


def check_images(checks, tool, here):
    """labels.csv gives what class folders give; several classes an image; regression."""
    (here / "folders").mkdir()
    lines, several = ["file,label"], ['file,tabby,"Egyptian cat"']
    for c, name in enumerate(("tabby", "tiger cat")):
        (here / "folders" / name).mkdir()
        for i in range(3):
            png(here / "folders" / name / ("%d.png" % i), 12, 10,
                lambda x, y: (200 - 9 * i, 20 * y, 9 * x) if c == 0 else (9 * x, 200 - 9 * i, 20 * y))
            lines.append('"%s/%d.png",%s' % (name, i, name))
            several.append("%s/%d.png,%d,%d" % (name, i, 1 - c, i == 1))
    flags = ["--labels", ZOO / "imagenet_labels.txt", "--worst", "6"]
    by_folder = document(checks, tool, EFFICIENTNET, "--data", here / "folders", *flags)
    (here / "folders" / "labels.csv").write_text("\r\n".join(lines) + "\r\n", newline="")
    by_csv = document(checks, tool, EFFICIENTNET, "--data", here / "folders", *flags)
    checks.expect(by_folder == by_csv, "labels.csv: %s, folders: %s" % (by_csv, by_folder))
    names = {row["name"] for row in by_csv["worst"]}
    checks.expect("tiger cat/1.png" in names and len(names) == 6, "worst: %s" % names)
    (here / "folders" / "labels.csv").write_text("\ufeff" + "\n".join(several), encoding="utf-8")
    found = document(checks, tool, EFFICIENTNET, "--data", here / "folders", *flags)
    checks.expect(found["kind"] == "sigmoid" and
                  [(c["name"], c["n_examples"]) for c in found["classes"]] ==
                  [("tabby", 3), ("Egyptian cat", 2)], "several: %s" % found["classes"])
    checks.expect({row["label"] for row in found["worst"]} ==
                  {"tabby", "Egyptian cat", "tabby, Egyptian cat", "none"}, "%s" % found["worst"])
    text = "\n".join(several[:-1] + ["tiger cat/2.png,0.25,1"])
    (here / "folders" / "labels.csv").write_text(text)
    found = document(checks, tool, EFFICIENTNET, "--data", here / "folders", *flags)
    checks.expect(found["kind"] == "mse" and [c["name"] for c in found["outputs"]] ==
                  ["tabby", "Egyptian cat"] and found["worst"][0]["label"].count(",") == 1,
                  "regression: %s" % found)


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_evaluate_"))
    try:
        arrays = check_golden(checks, tool, here)
        check_people(checks, tool, here, arrays)
        check_names(checks, tool, here, arrays)
        check_images(checks, tool, here)
    finally:
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
