"""Random networks in Topwork and in LiteRT's reference kernels: integers have the same bits, float32 results differ by
rounding, and the second run of a session gives what the first gave.

  python random_networks.py [--first SEED] [--count N] [--dtypes LIST] [--threads LIST] [--keep FOLDER] TOPWORK...

TOPWORK is a command, so that other processors' builds run, too: qemu-aarch64 -L ROOT build/jetson/topwork. A network that
departs is printed, with the first operator whose result departs; --keep keeps its model and input.
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

import peers

peers.need("numpy", "ai_edge_litert", "flatbuffers")

import numpy as np  # noqa: E402
from ai_edge_litert.interpreter import Interpreter, OpResolverType  # noqa: E402

from random_graph import RandomGraph, serialise  # noqa: E402

ROUNDING = 2e-4  # of a float32 result, in parts of its largest value, which an activation may have cut


def litert(model, data):
    """Every output, or None where LiteRT refuses the network."""
    try:
        run = Interpreter(model_content=model, experimental_op_resolver_type=OpResolverType.BUILTIN_REF, num_threads=1)
        run.allocate_tensors()
        run.set_tensor(run.get_input_details()[0]["index"], data)
        run.invoke()
    except (ValueError, RuntimeError):
        return None
    return [run.get_tensor(detail["index"]) for detail in run.get_output_details()]


class Topwork:

    def __init__(self, command, folder):
        self.command, self.folder = command, folder

    def __call__(self, model, data, threads):
        path, given = self.folder / "network.tflite", self.folder / "input.npy"
        path.write_bytes(model)
        np.save(given, data)
        line = [*self.command, "run", path, "--input", given, "--output", self.folder, "--device", "cpu", "--threads",
                str(threads)]
        done = subprocess.run(line, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"exit {done.returncode}: {done.stderr.strip() or done.stdout.strip()}")
        found = []
        while (out := self.folder / f"output_{len(found)}.npy").exists():
            found.append(np.load(out))
            out.unlink()
        return found


def departure(ours, theirs):
    """How a result departs, or "" where it does not."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return f"{ours.dtype} {ours.shape} in place of {theirs.dtype} {theirs.shape}"
    gap = np.abs(ours.astype(np.float64) - theirs)
    if theirs.dtype == np.float32:
        worst = gap.max(initial=0) / max(np.abs(theirs).max(initial=0), 1e-6)
        return "" if worst <= ROUNDING else f"{worst:.1e} of the largest value"
    return f"{np.count_nonzero(gap)} of {gap.size} values, by up to {gap.max():.0f}" if gap.any() else ""


def first_departure(topwork, network, data, threads):
    """The first operator whose result departs where every result is an output; these are not always the same kernels."""
    network.graph.outputs = [value.index for value in network.values[1:]]
    model = serialise([network.graph])
    pairs = zip(network.graph.ops, topwork(model, data, threads), litert(model, data))
    for (code, _, _, _, options), ours, theirs in pairs:
        if how := departure(ours, theirs):
            return f"{code} {options}: {how}"
    return "none where every result is an output"


def check(topwork, seed, dtype, threads, keep):
    """A line on what departs, "" where nothing does, or None where LiteRT refuses the network."""
    network = RandomGraph(seed, dtype)
    model, data = serialise([network.graph]), network.input_data(seed)
    theirs = litert(model, data)
    if theirs is None:
        return None
    try:
        ours = topwork(model, data, threads)
    except RuntimeError as error:
        how = str(error)
    else:
        how = next(filter(None, map(departure, ours, theirs)), "") if len(ours) == len(theirs) else "outputs are missing"
        if how:
            how += "; first " + first_departure(topwork, network, data, threads)
    if how and keep:
        (keep / f"{seed}_{dtype}.tflite").write_bytes(model)
        np.save(keep / f"{seed}_{dtype}.npy", data)
    return how


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--dtypes", default="float32,int8,uint8,int16")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--keep", type=pathlib.Path)
    parser.add_argument("topwork", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    threads = [int(n) for n in args.threads.split(",")]
    counts = {"agree": 0, "depart": 0, "refused by LiteRT": 0}
    with tempfile.TemporaryDirectory() as folder:
        topwork = Topwork(args.topwork, pathlib.Path(folder))
        for seed in range(args.first, args.first + args.count):
            for dtype in args.dtypes.split(","):
                how = check(topwork, seed, dtype, threads[seed % len(threads)], args.keep)
                counts["refused by LiteRT" if how is None else "depart" if how else "agree"] += 1
                if how:
                    print(f"FAIL: seed {seed}, {dtype}: {how}", flush=True)
    print(", ".join(f"{n} {what}" for what, n in counts.items()))
    # Where LiteRT refuses many, or none agrees, little was compared.
    sys.exit(counts["depart"] > 0 or counts["agree"] < counts["refused by LiteRT"] * 9 or not counts["agree"])


if __name__ == "__main__":
    main()
