"""Turns models with golden .npz files into .twcases files, which C++ reads without a zip reader.

  python pack_shared.py --output DIR PATH...

PATH is <category>/<name>.npz with <name>.tflite beside it, or a folder of such pairs. Set K of the
.npz (in_K_I, ref_K_J) becomes case "<name>/setK"; the first case holds the model, the others run on
the same session in order, so that a model's state carries over. Needs numpy only.
"""

import argparse
import pathlib
import re
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).parent / "golden"))

import container  # noqa: E402

RTOL = 1e-4
_KEY = re.compile(r"(in|ref)_(\d+)_(\d+)")


def read_sets(path):
    """[(inputs, outputs)] of the sets 0, 1, 2 ... of a golden file, and how many it names.

    Stops at the first set that lacks a tensor: what follows might need the state it leaves.
    """
    with np.load(path) as archive:
        arrays = {key: archive[key] for key in archive.files}
    keys = [match for match in map(_KEY.fullmatch, arrays) if match]
    n_sets = 1 + max((int(match[2]) for match in keys), default=-1)
    # Set 0 is whole; it tells how many tensors the others must have.
    counts = {kind: sum(m[1] == kind and int(m[2]) == 0 for m in keys) for kind in ("in", "ref")}
    result = []
    for number in range(n_sets):
        names = [[f"{kind}_{number}_{i}" for i in range(counts[kind])] for kind in ("in", "ref")]
        if not all(name in arrays for group in names for name in group):
            break
        result.append([[arrays[name] for name in group] for group in names])
    if not result or not counts["ref"]:
        raise ValueError(f"{path}: no set 0 of in_0_I and ref_0_J")
    return result, n_sets


def pack(npz, output):
    """Writes output/<category>_<name>.twcases; returns its path and what was left out."""
    model = npz.with_suffix(".tflite").read_bytes()
    sets, n_sets = read_sets(npz)
    writer = container.Writer(len(sets))
    for number, (inputs, outputs) in enumerate(sets):
        writer.case(f"{npz.stem}/set{number}", b"" if number else model, inputs, outputs, RTOL)
    path = output / f"{npz.parent.name}_{npz.stem}.twcases"
    path.write_bytes(writer.data)
    left_out = n_sets - len(sets)
    note = f", {left_out} incomplete sets left out" if left_out else ""
    return path, f"{len(sets)} sets{note}"


def golden_files(path):
    if path.is_file():
        return [path]
    files = [f for f in sorted(path.rglob("*.npz")) if f.with_suffix(".tflite").exists()]
    if not files:
        raise ValueError(f"{path}: no .npz with a .tflite of the same name beside it")
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="+", type=pathlib.Path, metavar="PATH")
    parser.add_argument("--output", type=pathlib.Path, required=True, metavar="DIR")
    args = parser.parse_args()
    args.output.mkdir(parents=True, exist_ok=True)
    try:
        for npz in [f for path in args.paths for f in golden_files(path)]:
            path, what = pack(npz, args.output)
            print(f"{path.name}: {what}, {path.stat().st_size} bytes")
    except (OSError, ValueError) as error:
        sys.exit(f"pack_shared: {error}")


if __name__ == "__main__":
    main()
