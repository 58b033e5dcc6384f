"""How many tests each stage passed, failed and skipped when it ran last (build/device/*/summary.json).

Usage: table.py          prints the table
       table.py write    writes it into tests/README.md, between its marks; stages that did not run here keep their row
"""
import json
import pathlib
import sys

import stages

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "tests" / "README.md"
BEGIN, END = "<!-- stages: toolchains/device/table.py writes what follows -->\n", "<!-- end of stages -->\n"


def rows(known):
    """`known`: {stage: row} for stages without a result here."""
    for name in stages.load():
        path = ROOT / "build" / "device" / name / "summary.json"
        cell = f"`{name}`"
        if path.exists():
            s = json.loads(path.read_text())
            yield (cell, s["tests"], *(str(s[key]) for key in ("passed", "failed", "skipped")))
        else:
            yield known.get(cell, (cell, "not run", "", "", ""))


def rows_of(text):
    cells = [line[1:-1].split("|") for line in text.splitlines() if line.startswith("|`")]
    return {row[0]: tuple(row) for row in cells}


def table(known):
    cells = [("Stage", "Tests", "Passed", "Failed", "Skipped"), ("---",) * 5, *rows(known)]
    return "".join(f"|{'|'.join(row)}|\n" for row in cells)


def main():
    if sys.argv[1:] == ["write"]:
        text = PAGE.read_text(encoding="utf-8")
        before, _, rest = text.partition(BEGIN)
        old, _, after = rest.partition(END)
        PAGE.write_text(before + BEGIN + "\n" + table(rows_of(old)) + "\n" + END + after, encoding="utf-8")
    else:
        print(table({}), end="")


if __name__ == "__main__":
    main()
