"""Doxygen's input filter: the headers' plain // comments become what Doxygen reads.

A comment in front of a declaration documents it, one behind a value or field on the same line documents that; a
comment that a blank line follows documents nothing, but for the first, which is the file's. Indented lines
(programs, tables) are shown as they are.
"""
import re
import sys

COMMENT = re.compile(r"^(\s*)// ?(.*)$")
SPECIAL = re.compile(r"([\\@<>#&$%])")


def plain(text):
    return SPECIAL.sub(r"\\\1", text).replace("--", r"\--")


def block(indent, lines, first):
    """A comment in front of something."""
    shown, in_table = [], False
    for line in lines:
        table = line.startswith("  ") and line.strip() != ""
        if table != in_table and (table or line.strip()):
            shown.append(r"\code{.unparsed}" if table else r"\endcode")
            in_table = table
        # A line that begins with a minus sign or a number and a dot would begin a list.
        shown.append(line if in_table else re.sub(r"^(-|\+|\d+\.)", r"&zwj;\1", plain(line)))
    if in_table:
        shown.append(r"\endcode")
    return [f"{indent}/// {first}"] * bool(first) + [f"{indent}/// {line}".rstrip() for line in shown]


def convert(lines, name):
    out, at, is_first = [], 0, True
    while at < len(lines):
        found = COMMENT.match(lines[at])
        if found:
            start, indent = at, found.group(1)
            while at < len(lines) and COMMENT.match(lines[at]):
                at += 1
            texts = [COMMENT.match(line).group(2) for line in lines[start:at]]
            followed = at < len(lines) and lines[at].strip() not in ("", "}", "public:", "private:")
            if is_first:
                out += block(indent, texts, rf"\file {name}") + [""]
            else:
                out += block(indent, texts, "") if followed else lines[start:at]
            is_first = False
            continue
        behind = re.match(r"^(.*?\S)\s+// (.*)$", lines[at])
        if behind and not behind.group(2).startswith("NOLINT"):
            out.append(f"{behind.group(1)}  ///< {plain(behind.group(2))}")
        else:
            out.append(lines[at])
        at += 1
    return out


def main():
    path = sys.argv[1]
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    print("\n".join(convert(lines, re.sub(r"^.*/include/", "", path))))


main()
