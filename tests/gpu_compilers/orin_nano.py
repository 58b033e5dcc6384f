#!/usr/bin/env python3
"""A model, not a measurement: what share of the roofline the pointwise layers of EfficientNet-Lite0 (batch 1) reach on
a Jetson Orin Nano with a kernel of the table of sm_87.

Usage: orin_nano.py [--half] [--tile TILE] [--layers]
  --half  float16 storage
  --tile  of every layer, such as 8x4 or split_8x4; without it a layer has the tile that is fastest here, as the tuner
          would choose

Assumptions. The processor: 8 multiprocessors at 0.625 GHz, each with 128 lanes for multiply-adds, 4 warps of 32 items
that issue an instruction a clock, up to 48 warps resident, as many as 65,536 registers serve; 68 GB/s. A warp's load
occupies the load unit for 2 clocks (up to 32 bits an item), 3 (64) or 4 (128); a dependent load takes 300 clocks, which
one pass of the loop waits for unless other warps fill the time. The loop is all that counts: no launches, no ends of
loops, no sums of split depths, no caches that miss. A layer takes the
longest of: instructions, loads, waiting, and the roofline itself, which is the longer of its multiply-adds and of
moving its inputs, weights and outputs once.
"""

import argparse
import math

import table

CLOCK, PROCESSORS, LANES, ISSUE, WARP, RESIDENT, REGISTERS = 0.625e9, 8, 128, 4, 32, 48, 65536
BYTES_PER_SECOND, LATENCY = 68e9, 300
LOAD_CLOCKS = {8: 2, 16: 2, 32: 2, 64: 3, 96: 4, 128: 4}

# Of "EfficientNet" (Tan and Le, 2019) without squeeze-and-excite, a stem of 32 channels at 112 x 112: how much wider a
# block is inside, its output's channels, blocks, stride.
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 40, 2, 2), (6, 80, 3, 2), (6, 112, 3, 1), (6, 192, 4, 2), (6, 320, 1, 1))


def pointwise():
    """(pixels, outputs, inputs) of each pointwise layer, in order."""
    layers, side, channels = [], 112, 32
    for wider, out, blocks, stride in STAGES:
        for block in range(blocks):
            inside = channels * wider
            if wider > 1:
                layers.append((side * side, inside, channels))
            side //= stride if block == 0 else 1
            layers.append((side * side, out, inside))
            channels = out
    return layers + [(side * side, 1280, channels)]


def roofline(m, n, k, bytes_per_value):
    """Seconds of a product of m x k and k x n."""
    return max(m * n * k / (CLOCK * PROCESSORS * LANES),
               bytes_per_value * (m * k + k * n + m * n) / BYTES_PER_SECOND)


def times(m, n, k, row, rows, columns, parts):
    """Seconds by what they are spent on."""
    warps = math.ceil(math.ceil(m / rows) * math.ceil(n / columns) * parts / WARP)
    passes = math.ceil(k * rows * columns / row["multiply_adds"] / parts)
    loads = sum(row[f"load{bits}"] * clocks for bits, clocks in LOAD_CLOCKS.items())
    resident = min(RESIDENT, REGISTERS // (WARP * row["registers"]))
    waves = math.ceil(warps / (PROCESSORS * resident))
    busiest = math.ceil(warps / PROCESSORS)
    return {"instructions": busiest * passes * row["instructions"] / ISSUE / CLOCK,
            "loads": busiest * passes * loads / CLOCK,
            "waiting": waves * passes * (LATENCY + row["instructions"]) / CLOCK}


def tiles(half):
    """{"8x4": (line of the table, rows, columns, parts of the depth)}: the tiles of gemm.cl for rows of a multiple of
    four elements."""
    _, lines = table.read("sm_87")
    found = {}
    for (program, options, kernel), line in lines.items():
        storage, _, tile = kernel.removeprefix("gemm_").partition("_")
        if program == "gemm" and "-DTW_ALIGNED" in options and (storage == "f16") == half == ("-DTW_HALF_PRODUCTS" in options):
            found[tile] = (line, *map(int, tile.removeprefix("split_").split("x")), 8 if "-DTW_SPLIT" in options else 1)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--half", action="store_true")
    parser.add_argument("--tile")
    parser.add_argument("--layers", action="store_true")
    arguments = parser.parse_args()
    choice = tiles(arguments.half)
    if arguments.tile and arguments.tile not in choice:
        parser.error(f"--tile {arguments.tile}: the tiles are {', '.join(sorted(choice))}")
    if arguments.tile:
        choice = {arguments.tile: choice[arguments.tile]}
    total = ideal = 0.0
    for m, n, k in pointwise():
        least = roofline(m, n, k, 2 if arguments.half else 4)
        spent = {name: {**times(m, n, k, *one), "roofline": least} for name, one in choice.items()}
        tile = min(spent, key=lambda name: max(spent[name].values()))
        longest = max(spent[tile], key=spent[tile].get)
        seconds = spent[tile][longest]
        total, ideal = total + seconds, ideal + least
        if arguments.layers:
            print(f"{m:6} x {n:4} x {k:4}: {tile:9}, {seconds * 1e6:7.1f} us, roofline {least * 1e6:6.1f} us, {longest}")
    print(f"{total * 1e3:.2f} ms, roofline {ideal * 1e3:.2f} ms, share {ideal / total:.0%}")


if __name__ == "__main__":
    main()
