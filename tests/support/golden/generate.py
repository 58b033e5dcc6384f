"""Writes tests/data/ops/<operator>.twcases: one-operator models, inputs and LiteRT's answers.

Needs ai-edge-litert and numpy (and tflite-micro for TFLite Micro's operators):
    python generate.py [--only OP ...] [--check] [--output DIR]
A run gives the same bytes on the same machine. --check writes nothing: models and inputs must be
the committed ones to the byte, outputs within each case's tolerance (another processor may round
exp or sin otherwise).
"""

import argparse
import importlib
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import container  # noqa: E402
import run  # noqa: E402

HERE = pathlib.Path(__file__).parent
DATA = HERE.parent.parent / "data" / "ops"


def all_tables():
    tables = {}
    for path in sorted(HERE.glob("ops_*.py")) + sorted(HERE.glob("models_*.py")):
        for table in importlib.import_module(path.stem).tables():
            if table.op in tables:
                raise ValueError(f"two tables named {table.op}")
            tables[table.op] = table
    return tables


def groups(cases):
    """Cases that share a model and a session, as lists."""
    out = []
    for case in cases:
        if case.same_model:
            out[-1].append(case)
        else:
            out.append([case])
    return out


def build_table(table, report):
    """The bytes of the table's file; failures are appended to report."""
    writer = container.Writer(len(table.cases))
    notes = set()
    for group in groups(table.cases):
        label = f"{table.op}/{group[0].name}"
        try:
            model, outputs, note = run.run_group(group)
        except run.Aborted as error:
            report.append(f"{label}: {error}")
            continue
        except run.Refused as error:
            if not group[0].refused:
                report.append(f"{label}: LiteRT refuses: {error}")
            model, outputs, note = run.serialise(group[0].graphs), [None], ""
        else:
            if group[0].refused:
                report.append(f"{label}: LiteRT accepts what the table calls refused")
        notes.add(note)
        for number, (case, answer) in enumerate(zip(group, outputs)):
            name = case.name + (f"@{case.signature}" if case.signature else "")
            writer.case(name, b"" if number else model, case.inputs, answer, case.rtol)
    return bytes(writer.data), notes - {""}


def same(a, b, rtol):
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "iu" and rtol >= 1:
        return bool((np.abs(a.astype(np.int64) - b.astype(np.int64)) <= rtol).all())
    if a.dtype.kind == "c":
        kind = a.real.dtype
        return same(a.reshape(-1).view(kind), b.reshape(-1).view(kind), rtol)
    if a.dtype.kind != "f":
        return np.array_equal(a, b)
    a, b = a.astype(np.float64), b.astype(np.float64)
    finite = np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return False
    scale = np.abs(b[finite]).max(initial=0)
    return bool((np.abs(a[finite] - b[finite]) <= rtol * scale).all())


def compare(new, old):
    """What differs between two files' bytes, or None."""
    if new == old:
        return None
    new, old = container.read(new), container.read(old)
    if [case[0] for case in new] != [case[0] for case in old]:
        return "other cases"
    for (name, model, inputs, outputs, rtol), (_, model2, inputs2, outputs2,
                                               rtol2) in zip(new, old):
        if model != model2:
            return f"{name}: another model"
        if rtol != rtol2 or len(inputs) != len(inputs2) or not all(
                np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                for a, b in zip(inputs, inputs2)):
            return f"{name}: other inputs"
        if (outputs is None) != (outputs2 is None) or len(outputs or ()) != len(outputs2 or ()):
            return f"{name}: another outcome"
        if not all(same(a, b, rtol) for a, b in zip(outputs or (), outputs2 or ())):
            return f"{name}: other outputs"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", metavar="OP", help="these operators alone")
    parser.add_argument("--check", action="store_true", help="compare with the committed files")
    parser.add_argument("--output", type=pathlib.Path, default=DATA)
    args = parser.parse_args()
    tables = all_tables()
    names = [name for name in tables if not args.only or name in args.only]
    unknown = set(args.only or ()) - set(tables)
    if unknown:
        sys.exit(f"no table for {', '.join(sorted(unknown))}; there are: {', '.join(tables)}")
    report, total, n_cases = [], 0, 0
    for name in names:
        data, notes = build_table(tables[name], report)
        path = args.output / f"{name.lower()}.twcases"
        total += len(data)
        n_cases += len(tables[name].cases)
        print(f"{path.name}: {len(tables[name].cases)} cases, {len(data)} bytes",
              *(f"({note})" for note in sorted(notes)))
        if not args.check:
            path.write_bytes(data)
        elif not path.exists():
            report.append(f"{name}: {path.name} is missing")
        else:
            difference = compare(data, path.read_bytes())
            if difference:
                report.append(f"{name}: {difference}")
    print(f"{len(names)} files, {n_cases} cases, {total} bytes")
    for line in report:
        print("WRONG", line)
    sys.exit(1 if report else 0)


if __name__ == "__main__":
    main()
