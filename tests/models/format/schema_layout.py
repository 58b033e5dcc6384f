"""Compares models/schema/tflite.fbs with the public format's layout, field by field, and both schemas with layouts.inc.

schema_layout.py check FLATC LAYOUT.txt LAYOUTS.inc TFLITE.fbs METADATA.fbs   compiles the schemas and compares
schema_layout.py rows FLATC TFLITE.fbs METADATA.fbs   prints what models/format/layouts.inc must be
schema_layout.py dump GENERATED.py   prints the layout of a generated Python module

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
import textwrap


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


HEAD = """// The fields of every table of models/schema/tflite.fbs and metadata.fbs, in order (layout.h).
//
// Written by tests/models/format/schema_layout.py, whose check compares it with the schemas.
"""
SIZES = {"Bool": 1, "Int8": 1, "Uint8": 1, "Int16": 2, "Uint16": 2, "Int32": 4, "Uint32": 4, "Float32": 4,
         "Int64": 8, "Uint64": 8, "Float64": 8}


def field_row(name, kind, what, schema):
    """A field as layout.cc's functions name it."""
    if kind != "UOffsetTRelative":
        return f"Number({SIZES[kind]})"
    if what == "union":
        return f"Union(k{re.search(rf'{name}: *([A-Z][A-Za-z0-9]*)', schema)[1]})"
    if what in ("String", "[]String"):
        return "Text()" if what == "String" else "Texts()"
    if what == "[]Uint8" and re.search(rf"{name}: *.ubyte. *.force_align: 16", schema):
        return "Blob()"
    if what.startswith("[]"):
        return f"List({SIZES[what[2:]]})" if what[2:] in SIZES else f"Tables(k{what[2:]})"
    return f"Table(k{what})"


def rows_of(flatc, path):
    """The rows of a schema: tables, those of a union together, and the unions."""
    schema = re.sub("//.*", "", pathlib.Path(path).read_text())
    lines = [line.split(" ") for line in layout(compile_schema(flatc, path))]
    slots = {words[1]: int(words[2]) for words in lines if words[0] == "table" and len(words) == 3}
    fields = {name: ["Unused()"] * n for name, n in slots.items()}
    for words in lines:
        if words[0] == "table" and len(words) > 3:
            fields[words[1]][int(words[2])] = field_row(words[3], words[4], words[5], schema)
    unions = {name: re.findall(r"\w+", body) for name, body in re.findall(r"union (\w+) {([^}]*)}", schema)}
    in_unions = [table for tables in unions.values() for table in tables]
    rows = []
    for name in sorted(set(slots) - set(in_unions)) + in_unions:
        rows.append(f"TW_TABLE({', '.join([name, f'Fields({slots[name]})', *fields[name]])})")
    return rows, [f"TW_UNION({name}, k{tables[0]}, k{tables[-1]})" for name, tables in unions.items()]


def wrap(row):
    return textwrap.fill(row, 100, subsequent_indent="         ", break_long_words=False, break_on_hyphens=False)


def layouts(flatc, schemas):
    tables, unions = zip(*(rows_of(flatc, schema) for schema in schemas))
    return HEAD + "".join(wrap(row) + "\n" for row in [*sum(tables, []), *sum(unions, [])])


def main():
    if sys.argv[1] == "dump":
        print("\n".join(layout(pathlib.Path(sys.argv[2]).read_text())))
        return
    if not os.path.exists(sys.argv[2]):
        sys.exit(f"no flatc at {sys.argv[2]}")
    if sys.argv[1] == "rows":
        print(layouts(sys.argv[2], sys.argv[3:]), end="")
        return
    flatc, expected, rows, *schemas = sys.argv[2:]
    ours = set(layout(compile_schema(flatc, schemas[0])))
    public = set(pathlib.Path(expected).read_text().splitlines())
    problems = [f"missing: {line}" for line in sorted(public - ours)]
    problems += [f"not in the public format: {line}" for line in sorted(ours - public)]
    if pathlib.Path(rows).read_text() != layouts(flatc, schemas):
        problems.append(f"{rows} differs from the schemas: write it anew with `schema_layout.py rows`")
    if problems or len(public) < 900:
        sys.exit("\n".join(problems) or f"{expected} is cut off")
    print(f"{len(ours)} tables, fields and enumerations agree")


if __name__ == "__main__":
    main()
