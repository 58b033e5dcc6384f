"""What processors of ARM would make of the library's innermost loops, simulated: there is no such processor here.

  python mca.py BUILD [--rows FILE] [--show]

BUILD is a build for aarch64 (preset jetson). GNU objdump takes the innermost loops out of its object files:
of a function, the loop without another loop inside that has the most products (fmla, smlal, sdot, smmla, bfmmla), and
where it branches, the way with the most of them.
llvm-mca repeats the loop on its model of a core, where every load finds its value in the first cache. The
core's peak is what the same model does with products alone, none of which waits for another. --show prints
the loops.

Its models of cores in order let no result overtake that of an earlier instruction: on the A53 a load waits for
the products before it, and on both what adds to a pointer for the loads before it. A loop that mixes them, as a
depthwise tile does, gets too low a figure there.
"""
import argparse
import dataclasses
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

MCA = ("llvm-mca-19", "llvm-mca")  # older ones lack models of Neoverse
OBJDUMP = "aarch64-linux-gnu-objdump"
PRODUCT = 1000  # what a product is worth when a way through a loop is chosen
IN_ORDER, OUT_OF_ORDER = 70, 85  # per cent of the peak that a loop should reach


@dataclasses.dataclass
class Core:
    name: str
    model: str  # of llvm-mca
    goal: int
    sets: tuple  # the instruction sets that it runs, the best last
    most: float = 4  # products a cycle


CORES = [
    Core("Cortex-A53", "cortex-a53", IN_ORDER, ("baseline",)),
    # The model takes two vectors of 128 bits a cycle, which are two of 64.
    Core("Cortex-A55", "cortex-a55", IN_ORDER, ("baseline", "dotprod", "fp16"), most=1),
    Core("Cortex-A76 (Neoverse N1)", "neoverse-n1", OUT_OF_ORDER, ("baseline", "dotprod", "fp16")),
    Core("Cortex-A710 (Neoverse N2)", "neoverse-n2", OUT_OF_ORDER, ("baseline", "dotprod", "i8mm", "fp16", "bf16")),
    Core("Cortex-X1 (Neoverse V1)", "neoverse-v1", OUT_OF_ORDER, ("baseline", "dotprod", "i8mm", "fp16", "bf16")),
]


@dataclasses.dataclass
class Loop:
    title: str
    isa: str
    source: str
    function: str  # a pattern of its name
    product: str   # the instruction, and an example of it that the peak is measured with
    also: str = ""  # another that the way through the loop is to have as often as it can


FMLA = "fmla v{0}.4s, v30.4s, v31.s[0]"
SMLAL = "smlal v{0}.4s, v30.4h, v15.h[0]"
LOOPS = [
    Loop("float GEMM, 8 x 8 tile", "baseline", "cpu/gemm_isa", r"Tile<float, 8, 2>", FMLA),
    Loop("float GEMM, 8 x 8 tile", "dotprod", "cpu/gemm_isa", r"Tile<float, 8, 2>", FMLA),
    Loop("float depthwise 3 x 3, clamped", "baseline", "cpu/depthwise_isa", r"InnerTile<4, false, 3, 1>", FMLA, "fmin"),
    Loop("float depthwise 3 x 3, clamped", "dotprod", "cpu/depthwise_isa", r"InnerTile<4, false, 3, 1>", FMLA, "fmin"),
    Loop("float depthwise 3 x 3, without bounds", "baseline", "cpu/depthwise_isa", r"InnerTile<4, false, 3, 1>", FMLA),
    Loop("float depthwise 3 x 3, without bounds", "dotprod", "cpu/depthwise_isa", r"InnerTile<4, false, 3, 1>", FMLA),
    Loop("int8 GEMM by smlal, weights of bytes, 8 x 8 tile", "baseline", "cpu/integer_gemm_isa", r"ByteTiles<.*NarrowInt16s, .*SmallColumns<true>, 8, 2>", SMLAL),
    Loop("int16 GEMM by smlal, 8 x 8 tile", "baseline", "cpu/integer_gemm_isa", r"Tile<.*::Int16s, 8, 2>", SMLAL),
    Loop("int8 GEMM by sdot, 8 x 8 tile", "dotprod", "cpu/integer_gemm_isa", r"ByteTiles<.*NativeBytes, .*SmallColumns<true>, 8, 2>",
         "sdot v{0}.4s, v30.16b, v31.16b"),
    Loop("int8 GEMM by smmla, 6 x 16 tile", "i8mm", "cpu/integer_gemm_isa", r"ByteTiles<.*NativeBytes, .*SmallColumns<true>, 6, 4>",
         "smmla v{0}.4s, v30.16b, v31.16b"),
    Loop("bfloat16 GEMM by bfmmla, 6 x 16 tile", "bf16", "cpu/gemm_half_isa", r"Tile<float, 6, 4>",
         "bfmmla v{0}.4s, v30.8h, v31.8h"),
    Loop("float16 GEMM by fmla, 8 x 16 tile", "fp16", "cpu/gemm_half_isa", r"Tile<float, 8, 4>",
         "fmla v{0}.8h, v30.8h, v15.h[0]"),
    Loop("int8 depthwise 3 x 3, with its rounding", "baseline", "cpu/integer_depthwise_isa",
         r"Strip<false, 3, 1, 3>", SMLAL, "srshl"),
    Loop("int8 depthwise 3 x 3, with its rounding", "dotprod", "cpu/integer_depthwise_bytes_isa",
         r"ByteChannels<.*Form<3, 1>", "sdot v{0}.4s, v30.16b, v31.16b", "srshl"),
]


def functions(build, loop):
    """The instructions of each function of the object file that the pattern finds: (address, text)."""
    path = pathlib.Path(build, f"CMakeFiles/topwork_isa_{loop.isa}.dir/kernels/{loop.source}.cc.o")
    listing = subprocess.run([OBJDUMP, "-d", "-C", "--no-show-raw-insn", path], capture_output=True, text=True, check=True).stdout
    for part in re.split(r"\n(?=[0-9a-f]{16} <)", listing):
        head, _, body = part.partition("\n")
        if re.search(loop.function, head):
            yield [(int(at, 16), text.split("//")[0].strip())
                   for at, text in re.findall(r"^\s*([0-9a-f]+):\t(.*)$", body, re.MULTILINE)]


def target_of(text):
    """The address that a branch inside a function goes to; None: no branch."""
    branch = re.match(r"(?:b|cbn?z|tbn?z)(?:\.?\w+)?\s.*?\b([0-9a-f]+) <", text)
    return int(branch.group(1), 16) if branch and not text.startswith("bl") else None


def loops_of(code):
    """The bodies of the loops that have no other loop inside."""
    found = [(target_of(text), at) for at, text in code if (target_of(text) or at + 1) <= at]
    for begin, end in found:
        if not any(begin <= b and e <= end and (b, e) != (begin, end) for b, e in found):
            yield [(at, text) for at, text in code if begin <= at <= end]


def longest_way(body, worth):
    """Of the ways through a loop without a call the one whose instructions are worth the most, the shortest
    of those: (worth, instructions)."""
    index = {at: i for i, (at, _) in enumerate(body)}
    best = [None] * len(body) + [None]
    best[-2] = (0, [body[-1][1]])
    for i in range(len(body) - 2, -1, -1):
        text = body[i][1]
        target = index.get(target_of(text))
        goes_on = not re.match(r"(?:b|br|ret|bl|blr)\s", text)
        ways = [best[i + 1]] if goes_on else []
        ways += [best[target]] if target is not None and target > i else []
        ways = [(n + worth(text), [text, *rest]) for n, rest in filter(None, ways)]
        best[i] = max(ways, key=lambda way: (way[0], -len(way[1])), default=None)
    return best[0] or (0, [])


def hottest(build, loop):
    """The loop of `loop.function` with the most products: (products, instructions)."""
    product = loop.product.split()[0]

    def worth(text):
        name = text.split()[0]
        return PRODUCT if name in (product, product + "2") else int(name == loop.also)

    ways = [longest_way(body, worth) for code in functions(build, loop) for body in loops_of(code)]
    best = max(ways, key=lambda way: way[0], default=(0, []))
    if best[0] < PRODUCT:
        sys.exit(f"FAIL: no loop with {product} in {loop.function} of {loop.source} ({loop.isa})")
    return best[0] // PRODUCT, best[1]


def cycles(mca, model, body):
    """Of an iteration, once the loop goes round and round."""
    text = "loop:\n" + "\n".join(re.sub(r"[0-9a-f]+ <.*>", "loop", line) for line in body) + "\n"
    total = []
    for n in (200, 400):
        done = subprocess.run([mca, "-mtriple=aarch64-linux-gnu", f"-mcpu={model}", "-mattr=+dotprod,+i8mm,+fullfp16,+bf16", f"-iterations={n}",
                               "-instruction-info=false", "-resource-pressure=false"], input=text, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"FAIL: {mca} for {model}: {done.stderr}")
        total.append(int(re.search(r"Total Cycles:\s+(\d+)", done.stdout).group(1)))
    return (total[1] - total[0]) / 200


def peak(mca, core, product):
    """Products a cycle, when nothing else is to be done."""
    body = [product.format(i) for i in range(15)] + [product.format(i) for i in range(16, 30)]
    return min(core.most, len(body) / cycles(mca, core.model, body))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--show", action="store_true", help="print the loops")
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    mca = next(filter(shutil.which, MCA), None)
    if mca is None or shutil.which(OBJDUMP) is None:
        print(f"SKIP: {MCA[0]} or {OBJDUMP} is missing (Debian: apt install llvm-19 g++-aarch64-linux-gnu)")
        sys.exit(peers.SKIP)
    for loop in LOOPS:
        count, body = hottest(arguments.build, loop)
        if arguments.show:
            print(f"\n{loop.title} ({loop.isa}): {count} of {len(body)} instructions\n  " + "\n  ".join(body))
        for core in CORES:
            better = [other.isa for other in LOOPS if other.title == loop.title and other.isa in core.sets]
            if loop.isa not in core.sets or loop.isa != better[-1]:
                continue
            best = count / peak(mca, core, loop.product)
            taken = max(best, cycles(mca, core.model, body))
            share = 100 * best / taken
            below = "" if share >= core.goal else f"  below {core.goal} %"
            print(f"{loop.title:42} {loop.isa:9} {core.name:28} {taken:6.1f} cycles {share:5.1f} %{below}", flush=True)
            table.add(loop.title, core.name, f"{share:.0f} % ({taken:.1f})", runs=[[taken, count]])
    table.write(arguments.rows)


if __name__ == "__main__":
    main()
