"""audit and suggest: wrong labels are found, corrected without a browser and in one (a headless
Chromium, from disk, as large as a phone and a desk), and the labels.csv that comes of it trains.

Usage: audit_test.py TOPWORK [FOLDER FOR SCREENSHOTS]
Without Chromium the pages are left out, and it ends with 77.
"""
import csv
import json
import pathlib
import shutil
import sys
import tempfile
import time

import browser
from cli_support import EFFICIENTNET, ZOO, Checks, npy, run

FACES = ZOO / "data" / "faces" / "train"
SIZES = {"phone": (360, 780), "desk": (1280, 800)}
MARKUP = "a \"face\", </script><b>bold</b>"  # as a class
EACH, WRONG = 40, 4  # examples of a class; of the first one, with the label of the second


def make_data(folder, grouped=False):
    """Class folders, of whose second one WRONG files belong to the first."""
    for k, kind in enumerate(("face", "no_face")):
        for i, path in enumerate(sorted((FACES / kind).glob("*.png"))[:EACH]):
            wrong = k == 0 and i < WRONG
            to = folder / ("no_face" if wrong or k else MARKUP.replace("/", "|"))
            to = to / ("camera %d" % (i % 3)) if grouped else to
            to.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, to / (("wrong_" if wrong else "") + path.name))
    return folder


def document(checks, tool, *arguments):
    result = run(tool, *arguments, "--json")
    if not checks.expect(result.returncode == 0, "%s: %d %s" % (arguments[0], result.returncode, result.stderr)):
        return {}
    return json.loads(result.stdout)


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def name_of(row):
    return pathlib.Path(row["file"]).name


def is_right(row):
    """Whether a line of labels.csv tells what is on the picture."""
    is_face = not name_of(row).startswith("01")
    return (row["label"] == MARKUP.replace("/", "|")) == is_face


def check_audit(checks, tool, here):
    data = make_data(here / "data")
    found = document(checks, tool, "audit", EFFICIENTNET, "--data", data, "--count", "10",
                     "--fix", here / "fixed.csv", "--report", here / "audit.html", "--cache", here / "cache")
    worst = found.get("worst", [])
    checks.expect(len(worst) == 10 and [row["probability"] for row in worst] == sorted(row["probability"] for row in worst),
                  "audit: %s" % worst)
    wrong = {name for name in map(name_of, worst[:WRONG]) if name.startswith("wrong_")}
    checks.expect(len(wrong) == WRONG and all(row["margin"] < 0 and row["label"] == "no_face"
                                              for row in worst[:WRONG]), "audit: %s" % worst[:WRONG])
    suspects = [name_of(row) for row in worst if row["is_suspect"]]
    checks.expect(found.get("n_suspects") == len(suspects) and len(wrong & set(suspects)) >= WRONG - 1 and
                  len(set(suspects) - wrong) <= 1 and 0.01 < found.get("noise", 0) < 0.1, "audit: suspects %s" % suspects)
    least = {name_of(row) for row in found.get("least", [])[:WRONG]}
    checks.expect(len(least & wrong) >= WRONG - 1, "audit: worth least %s" % least)
    values = [row["value"] for row in found.get("best", [])]
    checks.expect(values == sorted(values, reverse=True) and values[0] > 0, "audit: worth most %s" % values)
    # The head is the one that `train` chooses without flags.
    trained = document(checks, tool, "train", EFFICIENTNET, "--data", data, "--cache", here / "cache", "--output",
                       here / "new.tflite", "--report", here / "train.html")
    margins = {row["name"]: row["margin"] for row in trained.get("audit", {}).get("suspects", [])}
    audited = {row["file"]: row["margin"] for row in worst if row["is_suspect"]}
    checks.expect(margins and margins == audited, "audit: %s, the report of train: %s" % (audited, margins))
    lines = read(here / "fixed.csv")
    checks.expect(len(lines) == 2 * EACH and sum(map(is_right, lines)) >= 2 * EACH - 2,
                  "fix: %s" % [row for row in lines if not is_right(row)])
    # A labels.csv beside the folders takes their place, and is not written over.
    shutil.copyfile(here / "fixed.csv", data / "labels.csv")
    again = document(checks, tool, "audit", EFFICIENTNET, "--data", data, "--cache", here / "cache")
    checks.expect(again.get("n_suspects", 9) <= 1, "fix: %s" % again.get("worst", [])[:WRONG])
    refused = run(tool, "audit", EFFICIENTNET, "--data", data, "--fix", data / "labels.csv")
    checks.expect(refused.returncode == 2 and "a file of the data set" in refused.stderr, "fix: " + refused.stderr)
    (data / "labels.csv").unlink()
    text = run(tool, "audit", EFFICIENTNET, "--data", data, "--count", "4", "--cache", here / "cache")
    checks.expect(text.stdout.count("probably wrong") >= WRONG and "suggested" in text.stdout and
                  "worth most" in text.stdout, "audit: " + text.stdout)


def check_groups(checks, tool, here):
    data = make_data(here / "grouped", grouped=True)
    document(checks, tool, "audit", EFFICIENTNET, "--data", data, "--fix", data / "labels.csv")
    lines = read(data / "labels.csv")
    checks.expect(len(lines) == 2 * EACH and all(
        row["group"] == "camera %s" % row["file"].split("camera ")[1][0] for row in lines), "groups: %s" % lines[:2])
    document(checks, tool, "audit", EFFICIENTNET, "--data", data)


def check_refusals(checks, tool, here):
    for folder, targets in (("classes", False), ("numbers", True)):
        (here / folder).mkdir()
        npy(here / folder / "x.npy", (6, 224, 224, 3), b"\0" * (6 * 224 * 224 * 3 * 4))
        npy(here / folder / "y.npy", (6,), [0, 1, 0, 1, 0, 1], "<f4" if targets else "<i8")
    cases = ((("audit", EFFICIENTNET, "--data", here / "numbers"), 5, "needs one class"),
             (("audit", EFFICIENTNET, "--data", here / "classes", "--fix", here / "f.csv"), 5, "holds arrays"),
             (("suggest", EFFICIENTNET, "--data", here / "none"), 6, "none: no such folder"),
             (("suggest", EFFICIENTNET, "--data", EFFICIENTNET), 6, "is not a folder; examples lie in a folder of images"),
             (("suggest", EFFICIENTNET, "--data", here / "classes", "--count", "0"), 2, "--count"))
    for arguments, code, words in cases:
        result = run(tool, *arguments)
        checks.expect(result.returncode == code and words in result.stderr,
                      "%s: %d %s" % (arguments, result.returncode, result.stderr))


def check_suggest(checks, tool, here):
    found = document(checks, tool, "suggest", EFFICIENTNET, "--data", here / "data", "--count", "5", "--output",
                     here / "next.csv", "--report", here / "next.html").get("suggestions", [])
    files = [row["file"] for row in found]
    checks.expect(len(set(files)) == 5 and files == [row["file"] for row in read(here / "next.csv")] and
                  all(0 <= row["doubt"] <= 1 and 0 < row["distance"] <= 2 for row in found), "suggest: %s" % found)
    # What is known already is not suggested again while there is anything else.
    known = here / "known"
    known.mkdir()
    for file in files:
        shutil.copyfile(here / "data" / file, known / pathlib.Path(file).name)
    more = document(checks, tool, "suggest", EFFICIENTNET, "--data", here / "data", "--known", known,
                    "--count", 2 * EACH).get("suggestions", [])
    checks.expect(len(more) == 2 * EACH and {row["file"] for row in more[-5:]} == set(files) and
                  max(row["distance"] for row in more[-5:]) < 1e-5, "suggest: known %s" % more[-6:])


def open_page(checks, page, path, name):
    page.open(path)
    checks.expect(not page.problems(), "%s: %s" % (name, page.problems()))
    checks.expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "%s: too wide" % name)
    checks.expect(page.evaluate("document.querySelector('#page b b, #page script') === null"),
                  "%s: a name became markup" % name)
    checks.expect(page.evaluate("[...document.querySelectorAll('figure img')].every(i => i.naturalWidth > 0)"),
                  "%s: pictures" % name)


def click(page, file, choice):
    """Presses the button `choice` of the first tile that shows `file`, or types it into its field."""
    page.evaluate("""(() => {
      const tile = [...document.querySelectorAll('figure')].find(f => f.querySelector('img').alt.endsWith(%s));
      const button = [...tile.querySelectorAll('button')].find(b => b.textContent === %s);
      if (button) { button.click(); return; }
      tile.querySelector('input').value = %s;
      tile.querySelector('input').dispatchEvent(new Event('change'));
    })()""" % tuple(map(json.dumps, (file, choice, choice))))


def save(page, folder):
    """The labels.csv that the page's button saves."""
    path = folder / "labels.csv"
    path.unlink(missing_ok=True)
    page.browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    page.evaluate("document.getElementById('save').click()")
    deadline = time.monotonic() + 30
    while not path.exists():
        if time.monotonic() > deadline:
            raise TimeoutError("the page saves nothing")
        time.sleep(0.02)
    return path


def check_audit_page(checks, tool, page, name, here):
    open_page(checks, page, here / "audit.html", name)
    state = "document.getElementById('state').textContent"
    disabled = "document.getElementById('save').disabled"
    checks.expect(page.evaluate(state) == "0 corrections" and page.evaluate(disabled), name + ": marks at first")
    page.evaluate("document.getElementById('all').click()")
    shown = page.evaluate("[...document.querySelectorAll('#worst figure')].map(f => "
                          "[f.querySelector('img').alt, f.classList.contains('suspect')])")
    corrected = [pathlib.Path(file).name for file, is_suspect in shown if is_suspect]
    dropped = next(pathlib.Path(file).name for file, is_suspect in shown if not is_suspect)
    renamed = corrected.pop()
    click(page, dropped, "drop")
    click(page, renamed, "some, one")
    text = page.evaluate(state)
    checks.expect(text == "%d corrections, 1 dropped" % (len(corrected) + 1) and not page.evaluate(disabled),
                  "%s: %s" % (name, text))
    lines = read(save(page, here / "saved"))
    label_of = {name_of(row): row["label"] for row in lines}
    checks.expect(len(lines) == 2 * EACH - 1 and dropped not in label_of and label_of[renamed] == "some, one" and
                  len(corrected) >= 2 and all(label_of[file] != "no_face" for file in corrected
                                              if file.startswith("wrong_")),
                  "%s: %s" % (name, lines))
    # All the way round: the saved file trains, with the class that was typed in.
    shutil.copyfile(here / "saved" / "labels.csv", here / "data" / "labels.csv")
    result = run(tool, "train", EFFICIENTNET, "--data", here / "data", "--output", here / "new.tflite",
                 "--validation", "0", "--epochs", "2", "--cache", here / "cache", "--json")
    settings = json.loads(result.stdout or "{}").get("settings", {})
    checks.expect(result.returncode == 0 and settings.get("classes") == "3" and
                  settings.get("examples") == str(2 * EACH - 1), "%s: train %s%s" % (name, settings, result.stderr))
    (here / "data" / "labels.csv").unlink()


def check_suggest_page(checks, page, name, here):
    open_page(checks, page, here / "next.html", name)
    files = [row["file"] for row in read(here / "next.csv")]
    click(page, files[0], "cat")
    click(page, files[3], "dog")
    lines = read(save(page, here / "saved"))
    checks.expect([(row["file"], row["label"]) for row in lines] == [(files[0], "cat"), (files[3], "dog")],
                  "%s: %s" % (name, lines))


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_audit_"))
    try:
        (here / "saved").mkdir()
        check_audit(checks, tool, here)
        check_groups(checks, tool, here)
        check_refusals(checks, tool, here)
        check_suggest(checks, tool, here)
        program = browser.find()
        if program is None:
            print("SKIP: no Chromium on this machine (toolchains/install-deps.sh test installs it)")
            sys.exit(checks.finish() or 77)
        chromium = browser.Browser(program)
        try:
            for size, (width, height) in SIZES.items():
                page = chromium.page(width, height, dark=size == "desk")
                check_audit_page(checks, tool, page, "audit on a " + size, here)
                if shots:
                    page.screenshot(shots / ("audit_%s.png" % size))
                check_suggest_page(checks, page, "suggest on a " + size, here)
                if shots:
                    page.screenshot(shots / ("suggest_%s.png" % size))
        finally:
            chromium.close()
    finally:
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
