"""The page of a benchmark in a headless Chromium, from disk, as large as a phone and a desk.

Usage: benchmark_page_test.py TOPWORK [FOLDER FOR SCREENSHOTS]
Without Chromium, or where the build had no uPlot, it prints SKIP and ends with 77.
"""
import json
import pathlib
import shutil
import sys
import tempfile

import browser
from cli_support import DIGITS_CNN, Checks, run
from report_test import INK, SIZES, rows

QUICK = ("--runs", "60", "--device", "cpu")


def make_pages(checks, tool, here):
    """full.html: two settings, all sections. plain.html: a model alone, its name full of markup."""
    settings = (DIGITS_CNN, *QUICK, "--threads", "1,2")
    base = run(tool, "benchmark", *settings, "--json")
    (here / "base.json").write_text(base.stdout)
    done = run(tool, "benchmark", *settings, "--compare", here / "base.json", "--tolerance", "1000000",
               "--roofline", "--train", "--report", here / "full.html")
    checks.expect(done.returncode == 0, "benchmark: " + done.stderr)
    odd = here / "<b>odd&.tflite"
    shutil.copy(DIGITS_CNN, odd)
    done = run(tool, "benchmark", odd, "--runs", "3", "--device", "cpu", "--report", here / "plain.html")
    checks.expect(done.returncode == 0, "benchmark: " + done.stderr)


def check_page(checks, page, name, plots):
    problems = page.problems()
    checks.expect(not problems, "%s: %s" % (name, problems))
    width, inner = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
    checks.expect(width <= inner, "%s: is %d wide in a window of %d" % (name, width, inner))
    ink = page.evaluate(INK)
    checks.expect(set(ink) == plots, "%s: plots %s" % (name, list(ink)))
    for plot, (share, colours, plot_width) in ink.items():
        checks.expect(share > 0.005 and colours > 2 and 200 < plot_width <= inner,
                      "%s: %s: ink %.4f, %d colours, %d wide" % (name, plot, share, colours, plot_width))
    return json.loads(page.evaluate("document.getElementById('data').textContent"))


def check_full(checks, page, name):
    data = check_page(checks, page, name, {"plot-histogram", "plot-runs", "plot-roofline"})
    checks.expect([row[0] for row in rows(page, "setting-table")] == ["1 thread", "2 threads"],
                  "%s: settings %s" % (name, rows(page, "setting-table")))
    n_ops = len(data["results"][0]["ops"])
    operators, types = rows(page, "ops"), rows(page, "types")
    checks.expect(len(operators) == n_ops and all(" % " in row[3] for row in operators) and
                  types[0][0].split(" × ")[1] in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "MEAN",
                                                  "SOFTMAX", "MAX_POOL_2D"),
                  "%s: operators %s %s" % (name, operators, types))
    checks.expect(sum(int(row[0].split(" ")[0]) for row in types) == n_ops, "%s: types %s" % (name, types))
    cut = page.evaluate("""[...document.querySelectorAll("#ops td, #types td")].filter(cell =>
      cell.scrollWidth > cell.clientWidth).map(cell => cell.textContent)""")
    hidden = page.evaluate("""["ops", "types"].filter(id => { const box = document.getElementById(id).parentElement;
      return box.scrollWidth > box.clientWidth; })""")
    checks.expect(not cut and not hidden, "%s: operators are cut off: %s %s" % (name, cut, hidden))
    compared = rows(page, "compared")
    checks.expect(len(compared) == 2 and all(row[1] == "same" for row in compared), "%s: %s" % (name, compared))
    inside = page.evaluate("""[...document.querySelectorAll(".strip")].every(strip => {
      const whole = strip.getBoundingClientRect(), part = strip.querySelector(".interval").getBoundingClientRect();
      return part.width > 0 && part.left >= whole.left - 1 && part.right <= whole.right + 1; })""")
    checks.expect(inside, "%s: an interval lies outside of its strip" % name)
    checks.expect(len(rows(page, "train-table")) == 2 and len(rows(page, "limits")) == 2,
                  "%s: training, limits" % name)
    widths = page.evaluate("[...document.querySelectorAll('#ops .fill')].map(bar => bar.getBoundingClientRect().width)")
    checks.expect(widths == sorted(widths, reverse=True) and widths[0] > widths[-1] > 0, "%s: bars %s" % (name, widths))


def check_plain(checks, page, name):
    check_page(checks, page, name, {"plot-histogram", "plot-runs"})
    checks.expect(page.evaluate("document.querySelector('#page p b') === null") and
                  "<b>odd&.tflite" in page.evaluate("document.querySelector('p.sub').textContent"),
                  "%s: the model's name became markup" % name)
    checks.expect(page.evaluate("document.querySelectorAll('#operators, #roofline, #comparison, #training').length") == 0,
                  "%s: sections without data" % name)


def main():
    program = browser.find()
    if program is None:
        print("SKIP: no Chromium on this machine (toolchains/install-deps.sh test installs it)")
        sys.exit(77)
    tool = pathlib.Path(sys.argv[1]).resolve()
    shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else None
    checks = Checks()
    here = pathlib.Path(tempfile.mkdtemp(prefix="topwork_benchmark_page_"))
    chromium = browser.Browser(program)
    try:
        make_pages(checks, tool, here)
        if "uPlot=" not in (here / "full.html").read_text(encoding="utf-8"):
            print("SKIP: this build has no uPlot (toolchains/install-deps.sh build fetches it)")
            sys.exit(checks.finish() or 77)
        for size, (width, height) in SIZES.items():
            page = chromium.page(width, height, dark=size == "desk")
            for kind, check in (("full", check_full), ("plain", check_plain)):
                page.open(here / (kind + ".html"))
                check(checks, page, "%s on a %s" % (kind, size))
                if shots:
                    page.screenshot(shots / ("%s_%s.png" % (kind, size)))
    finally:
        chromium.close()
        shutil.rmtree(here, ignore_errors=True)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
