"""ARCHITECTURE.md is true: the paths that it names exist, a name "in" a file stands there, each walk has
three steps from README.md, and its table of environment variables is that of the code."""
import functools
import os
import re
import sys

import tree

PAGE = "ARCHITECTURE.md"
TOP = ("runtime/", "kernels/", "models/", "ports/", "tests/", "toolchains/")
PATH = re.compile(r"`([a-z][\w./-]*)`")
NAMED = re.compile(r"`(?:\w+::)?(\w+)`(?: \w+)*? in `([a-z][\w./-]*)`")
GETENV = re.compile(r'getenv\("([A-Z_0-9]+)"\)')
VARIABLE = re.compile(r'"((?:TOPWORK|XDG)_[A-Z_]+|HOME)"')


def wrong_paths(text):
    for path in PATH.findall(text):
        if path.startswith(TOP) and not os.path.exists(os.path.join(tree.ROOT, path)):
            yield f"there is no {path}"
    for name, path in NAMED.findall(text):
        if path.startswith(TOP) and os.path.isfile(os.path.join(tree.ROOT, path)):
            if not re.search(rf"\b{name}\b", tree.read(path)):
                yield f"{path} does not contain {name}"


def wrong_walks(text):
    walks = re.search(r"## Three walks\n(.*?)\n## ", text, re.S)
    parts = re.split(r"\n\*\*[^*]+\?\*\*\n", walks[1])[1:] if walks else []
    if len(parts) != 3:
        yield f"it has {len(parts)} walks, not three"
    for part in parts:
        steps = re.findall(r"^(\d)\. (.*)$", part, re.M)
        if [number for number, _ in steps] != ["1", "2", "3"]:
            yield "a walk does not have the steps 1, 2 and 3"
        for _, step in steps[1:]:
            if not any(path.startswith(TOP) for path in PATH.findall(step)):
                yield f"a step names no path: {step}"


@functools.cache
def variables_of_code():
    """Environment variables that the code reads, tests included."""
    names = set()
    for path in tree.files(".cc", ".c", ".h", ".py"):
        text = tree.read(path)
        if path.endswith(".py"):
            names |= set(re.findall(r'environ(?:\.get|\.setdefault)?[\[(]"(TOPWORK_[A-Z_]+)"', text))
            continue
        names |= set(GETENV.findall(text))
        if "getenv(" in text:
            names |= set(VARIABLE.findall(text))
    return names


def wrong_variables(text):
    table = set(re.findall(r"^\| `([A-Z_0-9]+)` \|", text, re.M))
    code = variables_of_code()
    for name in sorted(code - table):
        yield f"the code reads {name}, which the table of environment variables lacks"
    for name in sorted(table - code):
        yield f"no code reads {name} of the table of environment variables"


def self_test():
    """The lint finds what it looks for."""
    wrong = "`runtime/no/such.cc` and `Missing` in `runtime/base/status.h`\n## Three walks\n## x\n"
    found = [*wrong_paths(wrong), *wrong_walks(wrong), *wrong_variables("| `NO_SUCH_VARIABLE` | x |")]
    for part in ("no/such.cc", "does not contain Missing", "not three", "TOPWORK_ISA", "no code reads NO_SUCH"):
        if not any(part in line for line in found):
            yield f"tests/lint/architecture.py does not find: {part}"


def main():
    text = tree.read(PAGE)
    problems = [f"{PAGE}: {line}" for check in (wrong_paths, wrong_walks, wrong_variables) for line in check(text)]
    problems += self_test()
    print("\n".join(problems) or f"{PAGE} is true")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
