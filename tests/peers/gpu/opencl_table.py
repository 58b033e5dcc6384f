#!/usr/bin/env python3
"""What an OpenCL device makes of models, beside the CPU: latency and throughput by batch, and each operator's time.

  opencl_table.py TOPWORK DEVICE MODEL... [--precision float16] [--batches 1,8,32] [--operators N]
                  [--peak-gflops G --peak-gbytes B]        needs ai-edge-litert (build/.venv has it)

CPU and device alternate; the ratio is what to quote. --operators prints the N that take longest, with their
GFLOP/s and GB/s (each tensor counted once), and with the device's peaks the share of its roofline. Random
input; not a test, for it measures time.
"""
import argparse
import json
import math
import pathlib
import statistics
import subprocess

from ai_edge_litert.interpreter import Interpreter

ROUNDS = 3


def benchmark(tool, model, device, precision, batch, runs, profile=False):
    command = [tool, "benchmark", model, "--device", device, "--precision", precision, "--batch", str(batch),
               "--runs", str(runs), "--warmup", "3", "--json"] + (["--profile"] if profile else [])
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        raise SystemExit(result.stderr.strip())
    return json.loads(result.stdout)["results"][0]


def count(shape):
    return math.prod(int(n) for n in shape)


def operators_of(model):
    """Output name -> (FLOPs, bytes) at the model's own batch."""
    interpreter = Interpreter(model)
    interpreter.allocate_tensors()
    tensors = {detail["index"]: detail for detail in interpreter.get_tensor_details()}
    work = {}
    for op in interpreter._get_ops_details():
        shapes = [tensors[i]["shape"] for i in op["inputs"] if i in tensors]
        out = tensors.get(op["outputs"][0]) if len(op["outputs"]) else None
        if out is None:
            continue
        n_out = count(out["shape"])
        flops = n_out
        if op["op_name"] == "CONV_2D":
            flops = 2 * n_out * count(shapes[1][1:])
        elif op["op_name"] == "DEPTHWISE_CONV_2D":
            flops = 2 * n_out * count(shapes[1][1:3])
        elif op["op_name"] == "FULLY_CONNECTED":
            flops = 2 * n_out * int(shapes[1][-1])
        work[out["name"]] = (flops, 4 * (n_out + sum(count(shape) for shape in shapes)))
    return work


def print_operators(args, model):
    work = operators_of(model)
    ops = benchmark(args.tool, model, args.device, args.precision, 0, 20, profile=True)["ops"]
    ops = sorted((op for op in ops if op["p50_ms"] > 0), key=lambda op: -op["p50_ms"])[:args.operators]
    print(f"\n  {'operator':20} {'kernel':20} {'us':>8} {'GFLOP/s':>8} {'GB/s':>7}  share of the roofline")
    for op in ops:
        flops, size = work.get(op.get("output", ""), (0, 0))
        seconds = op["p50_ms"] * 1e-3
        share = ""
        if args.peak_gflops and args.peak_gbytes and flops:
            bound = max(flops / (args.peak_gflops * 1e9), size / (args.peak_gbytes * 1e9))
            share = f"{100 * bound / seconds:.0f} %"
        print(f"  {op['op']:20} {op['variant']:20} {1e6 * seconds:8.1f} {flops / seconds * 1e-9:8.1f} "
              f"{size / seconds * 1e-9:7.1f}  {share}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tool")
    parser.add_argument("device")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--precision", default="float32", choices=("float32", "float16"))
    parser.add_argument("--batches", default="1,8,32")
    parser.add_argument("--operators", type=int, default=0)
    parser.add_argument("--peak-gflops", type=float, default=0.0)
    parser.add_argument("--peak-gbytes", type=float, default=0.0)
    args = parser.parse_args()
    print(f"{'model':36} {'batch':>5} {'CPU ms':>9} {'device ms':>9} {'ratio':>6} {'images/s':>9}")
    for model in args.models:
        for batch in (int(b) for b in args.batches.split(",")):
            runs = max(3, 60 // batch)
            rounds = [tuple(benchmark(args.tool, model, device, args.precision, batch, runs)["latency_ms"]["p50"]
                            for device in ("cpu", args.device)) for _ in range(ROUNDS)]
            cpu, device = (statistics.median(column) for column in zip(*rounds))
            ratio = statistics.median(b / a for a, b in rounds)
            print(f"{pathlib.Path(model).name:36} {batch:5} {cpu:9.3f} {device:9.3f} {ratio:6.2f} "
                  f"{1e3 * batch / device:9.0f}")
        if args.operators:
            print_operators(args, model)
            print()


if __name__ == "__main__":
    main()
