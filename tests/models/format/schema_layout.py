"""Compares models/schema/tflite.fbs with the public format's layout, field by field.

schema_layout.py check FLATC SCHEMA.fbs LAYOUT.txt FIELDS.inc   compiles the schema and compares
schema_layout.py dump GENERATED.py                   prints the layout of a generated Python module

schema_layout.txt was dumped from ai_edge_litert's schema_py_generated.py (package ai-edge-litert):
for each table its number of slots, then slot, name, type, element and default of each field; for
each enumeration and union its values, one a line. Deprecated fields only show as missing slots.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile


def snake_case(name):
    return re.sub(r"(?<!^)([A-Z])", r"_\1", name).lower()


def element(source, name):
    """What the accessor `name` of an offset field returns: a table, a number, a string, a union."""
    found = re.search(rf"(?m)^    def {name}\(self(, j)?\):\n(.*?)(?=\n    # |\n    def |\Z)",
                      source, re.S)
    prefix, body = "[]" if found[1] else "", found[2]
    table = re.search(r"obj = (\w+)\(\)", body)
    number = re.search(r"number_types\.(\w+)Flags, a \+", body)
    if "Table(bytearray()" in body or "Union(" in body:
        return "union"
    return prefix + (table[1] if table else number[1] if number else "String")


def layout(source):
    parts = re.split(r"(?m)^class (\w+)\(object\):\n", source)
    classes = dict(zip(parts[1::2], parts[2::2]))
    lines = []
    for name, body in classes.items():
        values = re.findall(r"(?m)^    (\w+) = (-?\d+)$", body)
        if values:
            lines += [f"enum {name} {key} {value}" for key, value in values]
            continue
        slots = re.search(rf"(?m)^def {name}Start\(builder\):\s+builder.StartObject\((\d+)\)",
                          source)
        if slots is None:
            continue  # the object API's twin of a table
        lines.append(f"table {name} {slots[1]}")
        fields = re.findall(rf"(?m)^def {name}Add(\w+)\(builder, \w+\):\s+builder.Prepend(\w+)Slot"
                            r"\((\d+), .*, (\S+)\)$", source)
        for field, kind, slot, default in sorted(fields, key=lambda f: int(f[2])):
            what = element(body, field) if kind == "UOffsetTRelative" else ""
            value = float({"False": 0, "True": 1}.get(default, default))
            lines.append(f"table {name} {slot} {snake_case(field)} {kind} {what} {value:g}")
    return sorted(lines)


def compile_schema(flatc, schema):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([flatc, "--python", "-o", folder, schema], check=True)
        files = sorted(pathlib.Path(folder).rglob("*.py"))
        return "\n".join(file.read_text() for file in files)


def known_fields(public):
    """The rows that models/format/known_fields.inc must have."""
    tables = [line.split() for line in public if line.startswith("table")]
    slots = {words[1]: words[2] for words in tables if len(words) == 3}
    rows = []
    for union in ("BuiltinOptions", "BuiltinOptions2"):
        kinds = [line.split() for line in public if line.startswith(f"enum {union} ")]
        rows += [(union, name, slots[name]) for _, _, name, number in
                 sorted(kinds, key=lambda kind: int(kind[3])) if int(number) > 0]
    return rows


def main():
    if sys.argv[1] == "dump":
        print("\n".join(layout(pathlib.Path(sys.argv[2]).read_text())))
        return
    flatc, schema, expected, fields = sys.argv[2:]
    if not os.path.exists(flatc):
        sys.exit(f"no flatc at {flatc}")
    ours = set(layout(compile_schema(flatc, schema)))
    public = set(pathlib.Path(expected).read_text().splitlines())
    problems = [f"missing: {line}" for line in sorted(public - ours)]
    problems += [f"not in the public format: {line}" for line in sorted(ours - public)]
    rows = re.findall(r"(?m)^TW_OPTIONS\((\w+), (\w+), (\d+)\)$", pathlib.Path(fields).read_text())
    if rows != known_fields(public):
        problems.append(f"{fields} differs from the public format: it must have the rows "
                        f"{known_fields(public)}")
    if problems or len(public) < 900:
        sys.exit("\n".join(problems) or f"{expected} is cut off")
    print(f"{len(ours)} tables, fields and enumerations agree")


if __name__ == "__main__":
    main()
