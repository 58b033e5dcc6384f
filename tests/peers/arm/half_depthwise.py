"""What depthwise layers in float16 would take on processors of ARM, simulated, while activations are float32 in memory.

  python half_depthwise.py [--rows FILE]

llvm-mca repeats two loops that this writes, each eight channels of four pixels with a clamp: the products
of the library's tile (fmla .4s), and the same in float16 (fmla .8h, weights in float16), which narrows what
it loads and widens what it stores.
"""
import argparse
import shutil
import sys

import mca as loops
import peers

CORES = [core for core in loops.CORES if core.goal == loops.OUT_OF_ORDER]
PIXELS = 4


def taps(width, stride, column):
    """(pixel, tap) of the products that a column of input has."""
    return [(pixel, column - pixel * stride) for pixel in range(PIXELS) if 0 <= column - pixel * stride < width]


def in_float32(width, stride):
    yield from ("ldp q0, q4, [x19]", *(f"mov v{i}.16b, v{i // 4 * 4}.16b" for i in (1, 2, 3, 5, 6, 7)))
    for _ in range(width):
        for tap in range(width):
            yield from (f"ldp q{8 + 2 * tap}, q{9 + 2 * tap}, [x2]", "add x2, x2, x1")
        for column in range((PIXELS - 1) * stride + width):
            low = 20 + 2 * (column % 4)
            yield from (f"ldp q{low}, q{low + 1}, [x0]", "add x0, x0, x1")
            for pixel, tap in taps(width, stride, column):
                yield f"fmla v{pixel}.4s, v{8 + 2 * tap}.4s, v{low}.4s"
                yield f"fmla v{pixel + 4}.4s, v{9 + 2 * tap}.4s, v{low + 1}.4s"
    for i in range(2 * PIXELS):
        yield from (f"fmax v{i}.4s, v{i}.4s, v30.4s", f"fmin v{i}.4s, v{i}.4s, v31.4s", f"str q{i}, [x9]")


def in_float16(width, stride):
    yield from ("ldr q0, [x19]", *(f"mov v{i}.16b, v0.16b" for i in (1, 2, 3)))
    for _ in range(width):
        for tap in range(width):
            yield from (f"ldr q{8 + tap}, [x2]", "add x2, x2, x1")
        for column in range((PIXELS - 1) * stride + width):
            halves = 20 + column % 8
            yield from ("ldp q14, q15, [x0]", "add x0, x0, x1", f"fcvtn v{halves}.4h, v14.4s", f"fcvtn2 v{halves}.8h, v15.4s")
            yield from (f"fmla v{pixel}.8h, v{8 + tap}.8h, v{halves}.8h" for pixel, tap in taps(width, stride, column))
    for i in range(PIXELS):
        yield from (f"fmax v{i}.8h, v{i}.8h, v30.8h", f"fmin v{i}.8h, v{i}.8h, v31.8h", f"fcvtl v16.4s, v{i}.4h",
                    f"fcvtl2 v17.4s, v{i}.8h", "stp q16, q17, [x9]", "add x9, x9, x1")


def main():
    parser = argparse.ArgumentParser()
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    mca = next(filter(shutil.which, loops.MCA), None)
    if mca is None:
        print(f"SKIP: {loops.MCA[0]} is missing (Debian: apt install llvm-19)")
        sys.exit(peers.SKIP)
    for width, stride in ((3, 1), (3, 2), (5, 1), (5, 2)):
        for core in CORES:
            wide, half = (loops.cycles(mca, core.model, loop(width, stride)) for loop in (in_float32, in_float16))
            name = f"{width} x {width}, stride {stride}"
            print(f"{name:16} {core.name:28} float32 {wide:6.1f} cycles, float16 {half:6.1f}", flush=True)
            table.add(name, core.name, f"{half:.0f} ({wide:.0f})", runs=[[half, wide]])
    table.write(arguments.rows)


if __name__ == "__main__":
    main()
