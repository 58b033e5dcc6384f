"""The walk of ports/cli/WALK.md: its commands run as they stand on the page, in order, and print the
lines that the page shows.

Usage: walk_test.py TOPWORK
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from cli_support import ROOT, Checks

PAGE = ROOT / "ports" / "cli" / "WALK.md"
N_COMMANDS = 10


def read_page(text):
    """[(command, lines that it prints)] of the fences of sh and of text."""
    steps = []
    for language, body in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.M | re.S):
        if language == "sh":
            steps.append((body.strip(), []))
        else:
            steps[-1][1].extend(body.strip().splitlines())
    return steps


def shows(output, line):
    """Whether a line of the output holds `line`, whose … stands for any text; blanks count as one."""
    words = [re.escape(" ".join(part.split())) for part in line.split("…")]
    pattern = re.compile(r"\s*.*?\s*".join(words))
    return any(pattern.search(" ".join(found.split())) for found in output.splitlines())


def main():
    tool = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    checks.expect(shows("a  b 5 % c", "a b … c") and not shows("a b\nc", "a … c"), "the test finds any line")
    steps = read_page(PAGE.read_text(encoding="utf-8"))
    checks.expect(len(steps) == N_COMMANDS, "the page has %d commands" % len(steps))
    with tempfile.TemporaryDirectory(prefix="topwork_walk_") as name:
        folder = pathlib.Path(name)
        (folder / "bin").mkdir()
        (folder / "bin" / "topwork").symlink_to(tool)
        (folder / "models").symlink_to(ROOT / "models")
        environment = dict(os.environ, NO_COLOR="1", LC_ALL="C.UTF-8", TOPWORK_AUTO_DEVICE="off",
                           PATH="%s:%s" % (folder / "bin", os.environ["PATH"]))
        for command, lines in steps:
            done = subprocess.run(["sh", "-c", command], cwd=folder, env=environment, capture_output=True,
                                  text=True, encoding="utf-8", timeout=600)
            if not checks.expect(done.returncode == 0, "%s\nended with %d: %s" % (
                    command, done.returncode, done.stderr)):
                break
            for line in lines:
                checks.expect(shows(done.stdout, line), "%s\ndoes not print '%s', but\n%s" % (
                    command, line, done.stdout))
        for file in ("report.html", "audit.html", "why.png"):
            checks.expect((folder / "walk" / file).is_file(), "there is no walk/" + file)
    sys.exit(checks.finish())


if __name__ == "__main__":
    main()
