"""Tables of kernels: one file per GPU, one line per kernel."""

import csv
import os

import loops

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "tables")
KEY = ["program", "options", "kernel"]
FIGURES = ["registers", "spills", "private"] + loops.COLUMNS
GROWTH = 1.05  # what a loop may grow by


def path(gpu):
    return os.path.join(FOLDER, f"{gpu}.csv")


def write(gpu, version, rows):
    """rows: {(program, options, kernel): figures}."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(path(gpu), "w", encoding="utf-8", newline="") as file:
        file.write(f"# {version}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(KEY + FIGURES)
        for key in sorted(rows):
            writer.writerow(list(key) + [rows[key][figure] for figure in FIGURES])


def read(gpu):
    """(version, rows); no rows where there is no table."""
    if not os.path.exists(path(gpu)):
        return "", {}
    with open(path(gpu), encoding="utf-8", newline="") as file:
        version = file.readline()[2:].strip()
        rows = {tuple(row[key] for key in KEY): {figure: int(row[figure]) for figure in FIGURES}
                for row in csv.DictReader(file)}
    return version, rows


def loads(row):
    return sum(row[f"load{bits}"] for bits in loops.WIDTHS)


def worse(now, before):
    """What is worse of a kernel than its line says, as texts."""
    found = [f"{what} {before[what]} -> {now[what]}" for what in ("spills", "private") if now[what] > before[what]]
    if not before["multiply_adds"]:
        return found
    if not now["multiply_adds"]:
        return found + ["its hot loop has no multiply-adds any more"]
    for what, number in (("instructions", lambda row: row["instructions"]), ("loads", loads)):
        old, new = number(before) / before["multiply_adds"], number(now) / now["multiply_adds"]
        if new > old * GROWTH:
            found.append(f"{what} per multiply-add {old:.3f} -> {new:.3f}")
    return found


def compare(now, before):
    """What a test says of rows against those of a table; empty where all is well."""
    found = []
    for key in sorted(set(now) | set(before)):
        if key not in before:
            found.append((key, "is not in the table"))
        elif key not in now:
            found.append((key, "is in the table alone"))
        else:
            found += [(key, text) for text in worse(now[key], before[key])]
    return found
