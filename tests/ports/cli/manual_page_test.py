"""The manual page topwork.1 has every command, exit code and environment variable of the command line.

Usage: manual_page_test.py TOPWORK
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]


def main():
    def say(*options):
        return subprocess.run([sys.argv[1], *options], capture_output=True, text=True, check=True).stdout

    page = (ROOT / "ports/cli/topwork.1").read_text()
    told = say("--help")
    commands = set(re.findall(r"^  ([a-z]+) {3,}", told.split("Subcommands:")[1].split("Exit codes:")[0], re.M))
    codes = set(re.findall(r"^ +(\d+)  ", told.split("Exit codes:")[1], re.M))
    table = (ROOT / "ARCHITECTURE.md").read_text()
    variables = set(re.findall(r"^\| `(TOPWORK_[A-Z_]+)` \| library", table, re.M))
    problems = []
    for kind, wanted, found in (
            ("commands", commands, re.findall(r"^\.TP\n\.B ([a-z]+)$", page, re.M)),
            ("exit codes", codes, re.findall(r"^\.TP\n(\d+)$", page, re.M)),
            ("variables", variables, re.findall(r"^\.TP\n\.B (TOPWORK_[A-Z_]+)$", page, re.M))):
        if not wanted or set(found) != wanted:
            problems.append(f"{kind}: the page has {sorted(found)}, the program {sorted(wanted)}")
    version = say("--version").split()[-1]
    if f'"topwork {version}"' not in page:
        problems.append(f"the page is not of version {version}")
    print("\n".join(problems) or "the page is complete")
    sys.exit(1 if problems else 0)


main()
