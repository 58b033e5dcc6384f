"""The hottest loop of a kernel's machine code, counted.

An instruction set is a function that says of an instruction's text what it is: a Kind. Code is a list of lines, each
("label", name), ("code", text) or ("branch", text, target).
"""

import collections

WIDTHS = (8, 16, 32, 64, 96, 128)  # bits of a load
COLUMNS = ["instructions", "multiply_adds"] + [f"load{bits}" for bits in WIDTHS] + ["textures"]


ADDS = ("float", "dot", "integer")  # multiply-adds; of integers, those that compute addresses are among them


class Kind(collections.namedtuple("Kind", "adds n_adds load_bits count is_texture", defaults=("", 0, 0, 1, False))):
    """adds, n_adds: which multiply-adds (ADDS), and how many; load_bits: of one load from the device's memory, 0 for
    what is none; count: instructions that the line stands for; is_texture: the load is a texture's."""


def innermost(code):
    """(first, last) positions of loops that have no loop inside: what a backward branch encloses."""
    labels = {line[1]: at for at, line in enumerate(code) if line[0] == "label"}
    found = set()
    for at, line in enumerate(code):
        if line[0] == "branch" and labels.get(line[2], at) < at:
            found.add((labels[line[2]], at))
    return [one for one in sorted(found)
            if not any(one != other and one[0] <= other[0] and other[1] <= one[1] for other in found)]


def count(code, kind_of):
    """Sums of a stretch of code."""
    sums = collections.Counter()
    for line in code:
        if line[0] == "label":
            continue
        kind = kind_of(line[1])
        sums["instructions"] += kind.count
        sums[kind.adds] += kind.n_adds * kind.count
        if kind.load_bits:
            sums[f"load{kind.load_bits}"] += kind.count
            sums["textures"] += kind.count * kind.is_texture
    return sums


def hottest(code, kind_of):
    """COLUMNS of the loop with the most multiply-adds, of the first of ADDS that any loop has; 0 without a loop."""
    sums = [count(code[first:last + 1], kind_of) for first, last in innermost(code)]
    what = next((adds for adds in ADDS if any(loop[adds] for loop in sums)), ADDS[0])
    best = max(sums, key=lambda loop: (loop[what], loop["instructions"]), default=collections.Counter())
    best["multiply_adds"] = best[what]
    return {column: best[column] for column in COLUMNS}
