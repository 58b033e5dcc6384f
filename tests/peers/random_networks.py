"""Random networks in Topwork and in LiteRT's reference kernels: integers have the same bits, float32 results differ by
rounding.

  python random_networks.py [--first SEED] [--count N] [--dtypes LIST] [--threads LIST] [--keep FOLDER] TOPWORK...

TOPWORK is a command, so that other processors' builds run, too: qemu-aarch64 -L ROOT build/jetson/topwork. A network that
departs is explained operator by operator, as zoo_litert.py does; --keep keeps its model and input.
"""

import argparse
import pathlib
import sys
import tempfile

import peers

peers.need("numpy", "ai_edge_litert", "flatbuffers")

import numpy as np  # noqa: E402

import zoo_sides  # noqa: E402
from random_graph import RandomGraph, serialise  # noqa: E402
from zoo import model as zoo_model  # noqa: E402
from zoo import search as zoo_search  # noqa: E402


def litert(path, data):
    """Every output, or None where LiteRT refuses the network. (Not by zoo_sides: a process each would take minutes.)"""
    try:
        lite = peers.LiteRt(path, reference=True)
        lite.interpreter.set_tensor(lite.input["index"], data)
        lite.interpreter.invoke()
    except (ValueError, RuntimeError):
        return None
    return [lite.interpreter.get_tensor(detail["index"]) for detail in lite.interpreter.get_output_details()]


def departs(ours, theirs):
    gap = zoo_search.gap(ours, theirs)
    return gap > (zoo_search.OPERATOR_FLOAT if ours.dtype == np.float32 and theirs.any() else 0)


def check(sides, seed, dtype, folder):
    """Why Topwork's answer departs, "" where it does not, or None where LiteRT refuses the network."""
    network, path = RandomGraph(seed, dtype), folder / f"{seed}_{dtype}.tflite"
    path.write_bytes(serialise([network.graph]))
    data = network.input_data(seed)
    theirs, answer = litert(path, data), None
    if theirs is not None:
        answer = sides.ours(path, [data])
    if answer is None or answer.kind != "ran":
        return answer and f"{answer.kind}: {answer.text}"
    ours = answer.outputs
    if len(ours) == len(theirs) and not any(map(departs, ours, theirs)):
        path.unlink()
        return ""
    np.save(path.with_suffix(".npy"), data)
    gaps = ", ".join(f"{zoo_search.gap(a, b):.2g}" for a, b in zip(ours, theirs))
    verdict, lines = zoo_search.explain(sides, zoo_model.read(path), [data], ours)
    return "\n  ".join([f"{len(ours)} of {len(theirs)} outputs, which differ by {gaps}: {verdict}", *lines])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--dtypes", default="float32,int8,uint8,int16")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("topwork", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    if not args.topwork:
        parser.error("the command TOPWORK is missing, as in build/release/topwork")
    if args.keep:
        args.keep.mkdir(parents=True, exist_ok=True)
    threads = [int(n) for n in args.threads.split(",")]
    counts = {"agree": 0, "depart": 0, "refused by LiteRT": 0}
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.first, args.first + args.count):
            for dtype in args.dtypes.split(","):
                sides = zoo_sides.Sides(*args.topwork, threads=threads[seed % len(threads)])
                how = check(sides, seed, dtype, args.keep or pathlib.Path(folder))
                counts["refused by LiteRT" if how is None else "depart" if how else "agree"] += 1
                if how:
                    print(f"FAIL: seed {seed}, {dtype}: {how}", flush=True)
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    # Where LiteRT refuses many, or none agrees, little was compared.
    sys.exit(counts["depart"] > 0 or counts["agree"] < counts["refused by LiteRT"] * 9 or not counts["agree"])


if __name__ == "__main__":
    main()
