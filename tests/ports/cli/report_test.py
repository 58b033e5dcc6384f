"""The HTML report in a headless Chromium, from disk, as large as a phone and a desk.

Usage: report_test.py TOPWORK REPORT_SAMPLE REPORT_SAMPLE_WITHOUT_UPLOT [FOLDER FOR SCREENSHOTS]
Without Chromium, or where the build had no uPlot, it prints SKIP and ends with 77.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import browser
from cli_support import DIGITS_8X8, DIGITS_CNN, Checks, npy, run

SIZES = {"phone": (360, 780), "desk": (1280, 800)}
PHONES = (360, 390, 412, 430)  # widths
MARKUP = "</script><b>bold & \"quoted\"</b>"

# Share of a canvas's pixels that are drawn on, for each plot.
INK = """Object.fromEntries([...document.querySelectorAll(".plot")].map(plot => {
  const canvas = plot.querySelector("canvas");
  const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
  const colours = new Set();
  let inked = 0;
  for (let i = 0; i < pixels.length; i += 4) {
    if (pixels[i + 3] === 0) continue;
    ++inked;
    colours.add(pixels[i] + "," + pixels[i + 1] + "," + pixels[i + 2]);
  }
  return [plot.id, [inked / (pixels.length / 4), colours.size, canvas.getBoundingClientRect().width]];
}))"""
ROWS = """[...document.querySelectorAll("#%s tbody tr")].map(row =>
  [...row.children].map(cell => cell.textContent))"""
IMAGES = """[...document.querySelectorAll("#worst img")].map(image =>
  [image.complete, image.naturalWidth, image.naturalHeight, image.src.slice(0, 16)])"""


def rows(page, table):
    return page.evaluate(ROWS % table)


def check_page(checks, page, name):
    """What holds for every report at every size."""
    problems = page.problems()
    checks.expect(not problems, "%s: %s" % (name, problems))
    width, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    checks.expect(width <= inner, "%s: is %d wide in a window of %d" % (name, width, inner))
    data = json.loads(page.evaluate("document.getElementById('data').textContent"))
    plots = page.evaluate(INK)
    checks.expect(set(plots) >= {"plot-loss", "plot-rate"}, "%s: plots %s" % (name, list(plots)))
    for plot, (ink, colours, plot_width) in plots.items():
        checks.expect(ink > 0.005 and colours > 2 and 200 < plot_width <= inner,
                      "%s: %s: ink %.4f, %d colours, %d wide" % (name, plot, ink, colours, plot_width))
    checks.expect(page.evaluate("document.querySelector('#page b b, #page script') === null"),
                  "%s: a name became markup" % name)
    checks.expect(len(rows(page, "epochs")) == len(data["epochs"]), "%s: epochs" % name)
    return data, plots


def check_full(checks, page, name):
    data, plots = check_page(checks, page, name)
    checks.expect(set(plots) == {"plot-loss", "plot-rate", "plot-accuracy", "plot-reliability"},
                  "%s: plots %s" % (name, list(plots)))
    matrix = rows(page, "matrix")
    expected = [[c["name"]] + [str(n) if n else "·" for n in counts]
                for c, counts in zip(data["evaluation"]["classes"], data["evaluation"]["confusion"])]
    checks.expect(matrix == expected and matrix[3][5] == "2" and matrix[3][6] == "·" and
                  matrix[1][0] == MARKUP, "%s: matrix %s" % (name, matrix))
    table = rows(page, "class-table")
    checks.expect(len(table) == 11 and table[0] == ["class 0", "12", "83.3 %", "83.3 %", "83.3 %"] and
                  table[4] == ["class 4", "12", "85.7 %", "100.0 %", "92.3 %"],
                  "%s: classes %s" % (name, table))
    check_sorting(checks, page, name, table)
    checks.expect(["40.0 % – 46.7 %", "20", "45.1 %", "100.0 %"] in rows(page, "bins") and
                  ["93.3 % – 100.0 %", "100", "99.7 %", "92.0 %"] in rows(page, "bins"),
                  "%s: bins %s" % (name, rows(page, "bins")))
    checks.expect(["temperature", "1.75"] in rows(page, "calibration-table"), "%s: temperature" % name)
    images = page.evaluate(IMAGES)
    checks.expect(len(images) == 24 and all(
        done and 0 < w <= 96 and 0 < h <= 96 for done, w, h, _ in images), "%s: %s" % (name, images))
    checks.expect({kind for *_, kind in images} == {"data:image/png;b", "data:image/jpeg;"},
                  "%s: %s" % (name, images))
    suspects = page.evaluate("[...document.querySelectorAll('#audit figcaption')].map(c => c.textContent)")
    checks.expect(len(suspects) == 3 and suspects[0] == MARKUP + " → class 2margin -3.5photos/class 0/0.jpg" and
                  "30 are probably wrong" in page.evaluate("document.querySelector('#audit').textContent"),
                  "%s: audit %s" % (name, suspects))
    checks.expect(rows(page, "refused") == [["known", "120", "5.0 %"], ["negatives", "40", "92.5 %"]] and
                  ["promised", "at most 5.0 % of known"] in rows(page, "refused-facts"),
                  "%s: refused %s" % (name, rows(page, "refused")))
    checks.expect(["features", "2.5 s"] in rows(page, "times") and
                  ["mean epoch", "13 ms"] in rows(page, "times") and
                  ["peak", "42.9 MiB"] in rows(page, "memory") and
                  ["optimizer", "adam"] in rows(page, "settings"), "%s: run" % name)


def check_sorting(checks, page, name, table):
    """A click on a title sorts by that column, a second one the other way round; the mean stays last."""
    def click(column):
        page.evaluate("document.querySelectorAll('#class-table th button')[%d].click()" % column)
        return rows(page, "class-table")
    by_recall = click(3)
    recalls = [float(row[3].split()[0]) for row in by_recall[:-1]]
    checks.expect(recalls == sorted(recalls) and by_recall[-1][0] == "mean" and by_recall != table,
                  "%s: sorted by recall %s" % (name, by_recall))
    down = [float(row[3].split()[0]) for row in click(3)[:-1]]
    checks.expect(down == sorted(down, reverse=True), "%s: sorted downwards %s" % (name, down))
    checks.expect(click(0)[0][0] in ("class 0", MARKUP, table[2][0]), "%s: sorted by name" % name)


def check_many(checks, page, name):
    data, _ = check_page(checks, page, name)
    confusions = rows(page, "confusions")
    checks.expect(page.evaluate("document.getElementById('matrix') === null") and
                  len(confusions) == 27 and ["class 3", "class 4", "2"] in confusions,
                  "%s: confusions %s" % (name, confusions))
    checks.expect(len(rows(page, "class-table")) == 81 and data["evaluation"]["confusion"] == [],
                  "%s: classes" % name)


def check_several(checks, page, name):
    check_page(checks, page, name)
    checks.expect(rows(page, "class-table") == [
        ["beach", "40", "75.0 %", "82.5 %", "78.6 %", "87.5 %"],
        ["sunset", "30", "100.0 %", "66.7 %", "80.0 %", "75.0 %"],
        ["mean", "", "87.5 %", "74.6 %", "79.3 %", "81.3 %"]], "%s: %s" % (name, rows(page, "class-table")))


def check_values(checks, page, name):
    _, plots = check_page(checks, page, name)
    checks.expect("plot-accuracy" not in plots, "%s: an accuracy of values" % name)
    checks.expect(rows(page, "outputs") == [["x", "0.1", "0.15", "0.9"], ["y", "0.3", "0.35", "0.85"],
                                            ["all", "0.2", "0.25", "0.875"]],
                  "%s: %s" % (name, rows(page, "outputs")))
    checks.expect(page.evaluate("document.querySelectorAll('#worst figure').length") == 1, "%s: worst" % name)


def check_bare(checks, page, name):
    check_page(checks, page, name)
    checks.expect(page.evaluate("document.querySelectorAll('#confusion, #classes, #worst').length") == 0,
                  "%s: sections without data" % name)


def check_without_uplot(checks, page, name):
    """The page says that it has no plots, and everything else is there."""
    problems = page.problems()
    checks.expect(not problems, "%s: %s" % (name, problems))
    checks.expect(page.evaluate("document.querySelectorAll('.plot, canvas').length") == 0, "%s: a plot" % name)
    text = page.evaluate("document.getElementById('curves').textContent")
    checks.expect("without uPlot" in text, "%s: %s" % (name, text))
    checks.expect("uPlot" not in page.evaluate("document.querySelector('footer').textContent"),
                  "%s: the footer names uPlot" % name)
    data = json.loads(page.evaluate("document.getElementById('data').textContent"))
    checks.expect(len(rows(page, "epochs")) == len(data["epochs"]) > 1 and len(rows(page, "bins")) > 1 and
                  len(rows(page, "class-table")) == 11, "%s: tables" % name)


def check_resize(checks, page):
    """Turning the phone, and a change to dark colours, redraw the plots."""
    page.resize(844, 390)
    page.settle()
    checks.expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "turned: too wide")
    widths = page.evaluate("[...document.querySelectorAll('.plot')].map(p => "
                           "[p.clientWidth, p.querySelector('canvas').getBoundingClientRect().width])")
    checks.expect(all(abs(a - b) <= 1 for a, b in widths), "turned: plots %s" % widths)
    before = page.evaluate("document.querySelector('canvas').toDataURL()")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.settle()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    checks.expect(page.evaluate("document.querySelector('canvas').toDataURL()") != before and
                  dark == "rgb(13, 17, 23)", "dark: %s" % dark)


def check_training(checks, tool, page, here):
    """The report of a real training says what its JSON document says."""
    result = run(tool, "train", DIGITS_CNN, "--data", DIGITS_8X8 / "train", "--output", here / "d.tflite",
                 "--epochs", "4", "--report", here / "d.html", "--json")
    if not checks.expect(result.returncode == 0, "train: " + result.stderr):
        return
    document = json.loads(result.stdout)
    page.open(here / "d.html")
    checks.expect(not page.problems(), "train: %s" % page.problems())
    data = json.loads(page.evaluate("document.getElementById('data').textContent"))
    checks.expect(data["evaluation"] == document["evaluation"] and data["epochs"] == document["epochs"],
                  "train: the report's numbers are not those of --json")
    checks.expect(document["audit"]["n_suspects"] == data["audit"]["n_suspects"] and
                  page.evaluate("document.getElementById('audit') !== null"), "train: audit %s" % document.get("audit"))
    counts = [[int(cell.replace("·", "0")) for cell in row[1:]] for row in rows(page, "matrix")]
    checks.expect(counts == document["evaluation"]["confusion"], "train: matrix %s" % counts)
    card = page.evaluate("document.querySelector('.card b').textContent")
    checks.expect(card == "%.1f %%" % (100 * document["evaluation"]["top1"]), "train: card %s" % card)
    ink = page.evaluate(INK)
    checks.expect(all(value[0] > 0.005 for value in ink.values()) and len(ink) >= 2, "train: %s" % ink)
    for phone in PHONES:
        page.resize(phone, SIZES["phone"][1])
        for table in ("refused-facts", "class-table"):
            widths = page.evaluate("(box => [box.scrollWidth, box.clientWidth])"
                                   "(document.getElementById('%s').parentElement)" % table)
            checks.expect(widths[0] <= widths[1], "train: %s is cut off at %d, %s" % (table, phone, widths))


def check_evaluation(checks, tool, page, here, name, shot):
    """The page of an evaluation says what its JSON document says, and draws who is refused."""
    npy(here / "noise" / "x.npy", (30, 8, 8, 1), [(i * 7919 % 997) / 62.0 for i in range(30 * 64)])
    result = run(tool, "evaluate", here / "d.tflite", "--data", DIGITS_8X8 / "test", "--unknown", here / "noise",
                 "--report", here / "e.html", "--json")
    if not checks.expect(result.returncode == 0, "evaluate: " + result.stderr):
        return
    document = json.loads(result.stdout)
    page.open(here / "e.html")
    checks.expect(not page.problems(), "%s: %s" % (name, page.problems()))
    checks.expect(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name + ": too wide")
    refused = document["rejection"]
    share = lambda key: "%.1f %%" % (100 * refused[key])  # noqa: E731
    checks.expect(rows(page, "refused") == [["known", str(refused["n_known"]), share("known_refused")],
                                            ["unknown", "30", share("unknown_refused")]] and
                  "curve" not in refused and "worst" not in document, "%s: %s" % (name, rows(page, "refused")))
    checks.expect(page.evaluate("document.querySelectorAll('#worst figure').length") == 24, name + ": worst")
    ink = page.evaluate(INK)
    checks.expect(set(ink) == {"plot-rejection", "plot-reliability"} and all(
        value[0] > 0.005 for value in ink.values()), "%s: %s" % (name, ink))
    if shot:
        page.screenshot(shot)


def main():
    program = browser.find()
    if program is None:
        print("SKIP: no Chromium on this machine (toolchains/install-deps.sh test installs it)")
        sys.exit(77)
    tool, sample, bare_sample = (pathlib.Path(argument).resolve() for argument in sys.argv[1:4])
    shots = pathlib.Path(sys.argv[4]) if len(sys.argv) > 4 else None
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_report_"))
    chromium = browser.Browser(program)
    try:
        (here / "without").mkdir()
        subprocess.run([str(bare_sample), str(here / "without")], check=True)
        page = chromium.page(*SIZES["phone"])
        page.open(here / "without" / "full.html")
        check_without_uplot(checks, page, "without uPlot")
        subprocess.run([str(sample), str(here)], check=True)
        if "uPlot=" not in (here / "full.html").read_text(encoding="utf-8"):
            print("SKIP: this build has no uPlot (toolchains/install-deps.sh build fetches it)")
            sys.exit(checks.finish() or 77)
        for size, (width, height) in SIZES.items():
            page = chromium.page(width, height, dark=size == "desk")
            for kind, check in (("full", check_full), ("many", check_many), ("several", check_several),
                                ("values", check_values), ("bare", check_bare)):
                page.open(here / (kind + ".html"))
                check(checks, page, "%s on a %s" % (kind, size))
                if shots:
                    page.screenshot(shots / ("%s_%s.png" % (kind, size)))
        page = chromium.page(*SIZES["phone"])
        page.open(here / "full.html")
        check_resize(checks, page)
        check_training(checks, tool, page, here)
        (here / "noise").mkdir()
        for size, (width, height) in SIZES.items():
            check_evaluation(checks, tool, chromium.page(width, height, dark=size == "desk"), here,
                             "evaluation on a " + size, shots / ("evaluation_%s.png" % size) if shots else None)
    finally:
        chromium.close()
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
