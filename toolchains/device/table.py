"""How many tests each stage passed, failed and skipped when it ran last (build/device/*/summary.json).

Usage: table.py          prints the table
       table.py write    writes it into tests/README.md, between its marks
"""
import json
import pathlib
import sys

import stages

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "tests" / "README.md"
BEGIN, END = "<!-- stages: toolchains/device/table.py writes what follows -->\n", "<!-- end of stages -->\n"


def rows():
    for name in stages.load():
        path = ROOT / "build" / "device" / name / "summary.json"
        s = json.loads(path.read_text()) if path.exists() else {"tests": "not run"}
        yield (f"`{name}`", s["tests"], *(str(s.get(key, "")) for key in ("passed", "failed", "skipped")))


def table():
    cells = [("Stage", "Tests", "Passed", "Failed", "Skipped"), ("---",) * 5, *rows()]
    return "".join(f"|{'|'.join(row)}|\n" for row in cells)


def main():
    if sys.argv[1:] == ["write"]:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        PAGE.write_text(before + BEGIN + "\n" + table() + "\n" + END + rest.partition(END)[2], encoding="utf-8")
    else:
        print(table(), end="")


if __name__ == "__main__":
    main()
