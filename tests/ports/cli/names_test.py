"""Names of a hostile model: whatever a command prints of them is harmless UTF-8, and JSON is JSON.

Usage: names_test.py TOPWORK
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

from cli_support import DIGITS_8X8, DIGITS_CNN, Checks, png

# A terminal's escape, a line end, a C1 control, a mark that turns text around, markup, no UTF-8.
HOSTILE = b"\x1b]0;owned\x07\nforged line\xc2\x9b2J\xe2\x80\xaeevil</script><script>alert(1)\xff"
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def hostile(length):
    """`length` bytes of it; the first ones differ, so that names stay apart."""
    return (HOSTILE * (length // len(HOSTILE) + 1))[:length]


def hostile_model(path):
    """The digits model with hostile tensor names, description, metadata and labels."""
    data = bytearray(DIGITS_CNN.read_bytes())
    n = 0
    for match in re.finditer(rb"(digits_cnn_1/|Identity|MLIR Converted\.|CONVERSION_METADATA)[^\0]*",
                             bytes(data)):
        data[match.start():match.end()] = hostile(len(match.group()))
        n += 1
    path.write_bytes(data)
    with zipfile.ZipFile(path, "a") as archive:
        lines = [b"%d %s" % (i, HOSTILE.replace(b"\n", b"\t")) for i in range(10)]
        archive.writestr("labels.txt", b"\n".join(lines) + b"\n")
        archive.writestr("\x1b[2J.txt", b"x")
    return n


def main():
    tool = sys.argv[1]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        model = here / "hostile.tflite"
        checks.expect(hostile_model(model) > 20, "the model's names were not found")
        image = png(here / "digit.png", 28, 28, lambda x, y: (x * 9, y * 9, 0))
        report = here / "report.html"
        data = ["--data", DIGITS_8X8 / "train"]
        train = ["train", model, *data, "--epochs", "1"]
        commands = [
            (["info", model], 0), (["info", model, "--plan"], 0), (["info", model, "--json"], 0),
            (["info", model, "--plan", "--json"], 0), (["run", model, "--input", image], 0),
            (["run", model, "--input", image, "--json"], 0), (["verify", model], None),
            (["verify", model, "--json"], None), (["benchmark", model, "--runs", "1"], None),
            (["evaluate", model, *data], None), (["evaluate", model, *data, "--json"], None),
            (train + ["--output", here / "a.tflite", "--init", "shipped", "--report", report], 0),
            (train + ["--output", here / "b.tflite", "--init", "shipped", "--json"], 0),
            (["info", here / "a.tflite"], 0),
            (["run", model, "--input", "\x1b[2J=no.npy"], None),
            (["run", model, "--signature", "\x1b[2J"], None),
        ]
        for command, code in commands:
            what = " ".join(str(part) for part in command[:1]) + " " + " ".join(
                str(part) for part in command[2:] if str(part).startswith("--"))
            result = subprocess.run([tool, *map(str, command)], capture_output=True,
                                    env={"NO_COLOR": "1", "TOPWORK_AUTO_DEVICE": "off"}, timeout=240)
            if code is not None:
                checks.expect(result.returncode == code, "%s: %d %r" % (
                    what, result.returncode, result.stderr))
            for stream in (result.stdout, result.stderr):
                try:
                    text = stream.decode("utf-8")
                except UnicodeDecodeError as error:
                    checks.expect(False, "%s: %s" % (what, error))
                    continue
                found = FORBIDDEN.search(text.replace("\r", ""))
                checks.expect(found is None, "%s prints %r" % (
                    what, text[max(0, found.start() - 20):found.end()] if found else ""))
                checks.expect("\nforged line" not in text, what + ": a name begins a line")
            if "--json" in command and result.returncode == 0:
                json.loads(result.stdout)
        page = report.read_bytes().decode("utf-8") if report.exists() else ""
        checks.expect("owned" in page, "the report shows no class names")
        checks.expect("<script>alert" not in page, "the report holds a name's markup")
        checks.expect("\x1b" not in page and "\x9b" not in page, "the report holds an escape")
    return checks.finish()


sys.exit(main())
