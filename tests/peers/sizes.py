"""The size of the library by what is left out of it: one build for each row, stripped, for aarch64.

  python3 tests/peers/sizes.py [--rows FILE] [--keep FOLDER] [--only WORD] [--limited]

The compiler is clang++ 19 with -Oz, which sees the whole library at once (-flto); lld merges functions that are the same
(--icf=all), inlines what is smaller inline alone, saves registers by shared helpers, shares repeated instructions in
several rounds, reaches data by one instruction (code-model=tiny: a library of less than 1 MB, or the linker refuses),
and packs relocations, which glibc 2.36 and newer read. Most rows have a limit (--limited: those alone); exit code 1: a
row is above its limit, or exports more than the C API; 77: a tool is missing. Needs the packages
g++-aarch64-linux-gnu, clang-19 and lld-19 (`toolchains/install-deps.sh long`). Builds go to build/sizes (or FOLDER) and
stay there, so that the next call compiles what changed.

Not used, as they cost time: -disable-lsr (4 kB less; int8 runs take a tenth longer under qemu), -enable-post-misched=false
(1.5 kB; processors that run in order wait).
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LLD = os.environ.get("LLD", "/usr/lib/llvm-19/bin/ld.lld")
FLAGS = "-DNDEBUG -flto -fno-asynchronous-unwind-tables -fno-unwind-tables -fomit-frame-pointer"
LINKER = ("-Wl,--icf=all,-O2,-mllvm,-machine-outliner-reruns=4,-mllvm,-homogeneous-prolog-epilog,"
          "-mllvm,-inline-threshold=-20,-mllvm,-enable-merge-functions,-z,pack-relative-relocs,--hash-style=gnu")
TINY = "-DCMAKE_SHARED_LINKER_FLAGS_MINSIZEREL=-Wl,-mllvm,-code-model=tiny"
BARE = ["-DTOPWORK_LEARN=OFF", "-DTOPWORK_QUANTIZER=OFF", "-DTOPWORK_DESCRIBE=OFF", "-DTOPWORK_SPARSE=OFF"]
CPU = ["-DTOPWORK_OPENCL=OFF"]
RUN = ["-DTOPWORK_TRAIN=OFF"]
LAST = ["-DTOPWORK_TRAIN=LAST"]
PLAIN = ["-DTOPWORK_TRAIN=PLAIN"]
ONE_SET = ["-DTOPWORK_ONLY_ISAS=baseline"]
NO_TRIALS = "-DTOPWORK_TRIALS=OFF"
LEAST = ["-DTOPWORK_JUDGE=OFF", "-DTOPWORK_CHECKPOINTS=OFF", "-DTOPWORK_CUSTOM_OPS=OFF", "-DTOPWORK_SHORT_LOOPS=ON",
         "-DTOPWORK_METADATA=OFF", NO_TRIALS, TINY]
CALLS = "--calls"  # of ports/examples/train_head.c and run_model.c
NO_TEXT = ["-DTOPWORK_MESSAGES=OFF"]
LITE0 = "EfficientNet-Lite0 (float, int8)"
# What is in it, the options that say so, and its limit in kB, 0 for none.
ROWS = [
    ("everything", [], 2000),
    ("without OpenCL", CPU, 0),
    ("without training", RUN, 0),
    ("without learners, the quantizer, descriptions and sparse weights", BARE, 0),
    ("all operators on the CPU, inference alone", [*CPU, *RUN, *BARE], 1200),
    (f"{LITE0}: inference and training of the last layer, OpenCL, loops of ARMv8.0 alone",
     [*BARE, *LAST, *ONE_SET, "SELECTION"], 0),
    (f"{LITE0}: inference and training of the last layer, CPU, all loops", [*BARE, *CPU, *LAST, "SELECTION"], 0),
    (f"{LITE0}: the same, loops of ARMv8.0 alone", [*BARE, *CPU, *LAST, *ONE_SET, "SELECTION"], 660),
    (f"{LITE0}: inference, CPU, loops of ARMv8.0 alone", [*BARE, *CPU, *RUN, *ONE_SET, "SELECTION"], 440),
    (f"{LITE0}, the least: inference and training of the last layer, OpenCL",
     [*BARE, *LAST, *ONE_SET, *LEAST, "SELECTION"], 695),
    (f"{LITE0}, the least: inference and training of the last layer, CPU",
     [*BARE, *CPU, *LAST, *ONE_SET, *LEAST, "SELECTION"], 465),
    (f"{LITE0}, the least, with the functions that two examples call: inference and training of the last layer, OpenCL",
     [*BARE, *LAST, *ONE_SET, *LEAST, "SELECTION", CALLS], 660),
    (f"{LITE0}, the least, with the functions that two examples call: inference and training of the last layer, CPU",
     [*BARE, *CPU, *LAST, *ONE_SET, *LEAST, "SELECTION", CALLS], 425),
    (f"{LITE0}, the least, with the functions that two examples call: inference and plain training, OpenCL",
     [*BARE, *PLAIN, *ONE_SET, *LEAST, "SELECTION", CALLS], 550),
    (f"{LITE0}, the least, with the functions that two examples call: inference and plain training, CPU",
     [*BARE, *CPU, *PLAIN, *ONE_SET, *LEAST, "SELECTION", CALLS], 377),
    (f"{LITE0}, the least, with these functions, errors without sentences: inference and plain training, OpenCL",
     [*BARE, *PLAIN, *ONE_SET, *LEAST, *NO_TEXT, "SELECTION", CALLS], 517),
    (f"{LITE0}, the least, with these functions, errors without sentences: inference and plain training, CPU",
     [*BARE, *CPU, *PLAIN, *ONE_SET, *LEAST, *NO_TEXT, "SELECTION", CALLS], 347),
    (f"{LITE0}, the least: the same without writing of trained models",
     [*BARE, *CPU, *LAST, *ONE_SET, *LEAST, "-DTOPWORK_EXPORT=OFF", "SELECTION"], 0),
    (f"{LITE0}, the least: inference, CPU", [*BARE, *CPU, *RUN, *ONE_SET, *LEAST, "SELECTION"], 305),
    (f"{LITE0}, the least, errors without sentences: inference and training of the last layer, OpenCL",
     [*BARE, *LAST, *ONE_SET, *LEAST, *NO_TEXT, "SELECTION"], 0),
    (f"{LITE0}, the least, errors without sentences: inference and training of the last layer, CPU",
     [*BARE, *CPU, *LAST, *ONE_SET, *LEAST, *NO_TEXT, "SELECTION"], 0),
    (f"{LITE0}, the least, errors without sentences: inference, CPU",
     [*BARE, *CPU, *RUN, *ONE_SET, *LEAST, *NO_TEXT, "SELECTION"], 0),
]


def hidden_helpers(folder):
    """An object file that says that the helpers that save registers are no part of the library's interface: they are made
    after the linker has read its version script, which does not hold for them, and would be called as if another library
    could replace them."""
    general, floats = ["x19x20", "x21x22", "x23x24", "x25x26", "x27x28"], ["d8d9", "d10d11", "d12d13", "d14d15"]
    names = [f"OUTLINED_FUNCTION_{what}_{''.join(general[:i])}x30x29{''.join(floats[:j])}"
             for what in ("PROLOG", "EPILOG", "EPILOG_TAIL") for i in range(6) for j in range(5)]
    source, path = folder / "helpers.s", folder / "helpers.o"
    source.write_text("".join(f".weak {name}\n.hidden {name}\n" for name in names))
    subprocess.run(["clang-19", "--target=aarch64-linux-gnu", "-c", source, "-o", path], check=True)
    return path


def toolchain(folder):
    path = folder / "clang-aarch64.cmake"
    path.write_text(f'''set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER clang-19)
set(CMAKE_CXX_COMPILER clang++-19)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_SHARED_LINKER_FLAGS_INIT "--ld-path={LLD} {LINKER} {hidden_helpers(folder)}")
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
''')
    return path


def lite0_selection(folder, flags):
    shared = pathlib.Path(os.environ.get("TOPWORK_SHARED", ROOT.parent / "shared"))
    models = [ROOT / "models/zoo/efficientnet_lite0_fp16.tflite", shared / "models/int8/efficientnet_lite0_int8.tflite"]
    text = subprocess.run([sys.executable, "-B", ROOT / "toolchains/select.py", *flags, *models],
                          stdout=subprocess.PIPE, check=True).stdout
    path = folder / f"lite0{''.join(flag.split('=')[0] for flag in flags)}.selection"
    path.write_bytes(text)
    return path


def size_of(build, arguments):
    log = build.with_suffix(".log")
    (build / "CMakeCache.txt").unlink(missing_ok=True)  # options of a row that had this number before
    with open(log, "wb") as out:
        for command in (["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=MinSizeRel",
                         "-DTOPWORK_TESTS=OFF", "-DTOPWORK_TOOLS=OFF", *arguments],
                        ["cmake", "--build", build, "-j", "2", "--target", "topwork"]):
            if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode:
                sys.exit(f"{build.name} does not build; see {log}")
    library = build / "libtopwork.so"
    names = subprocess.run(["aarch64-linux-gnu-nm", "-D", "--defined-only", "--format=just-symbols", library],
                           stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    strange = [name for name in names if not name.startswith(("tw_", "TOPWORK_"))]
    if strange:
        sys.exit(f"{build.name} exports {len(strange)} names that are none of the C API, as {strange[0]}")
    return library.stat().st_size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows")
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build" / "sizes")
    parser.add_argument("--only", default="")
    parser.add_argument("--limited", action="store_true")
    args = parser.parse_args()
    if not any(args.only in what for what, _, _ in ROWS):
        parser.error(f"--only {args.only}: no row has that in its name")
    for tool in ("clang++-19", "aarch64-linux-gnu-g++", LLD):
        if shutil.which(tool) is None:
            print(f"{tool} is missing")
            sys.exit(77)
    args.keep.mkdir(parents=True, exist_ok=True)
    configure = [f"--toolchain={toolchain(args.keep)}", "-DTOPWORK_WERROR=OFF", f"-DCMAKE_CXX_FLAGS_MINSIZEREL=-Oz {FLAGS}"]
    rows, above = [], 0
    for i, (what, options, limit) in enumerate(ROWS):
        if args.only not in what or args.limited and not limit:
            continue
        if "SELECTION" in options:
            flags = ([] if "-DTOPWORK_TRAIN=OFF" in options else ["--train"]) + ([] if CPU[0] in options or NO_TRIALS in options else ["--opencl"])
            for name in ("train_head.c", "run_model.c") if CALLS in options else ():
                flags.append(f"--calls={ROOT / 'ports' / 'examples' / name}")
            options = [o for o in options if o not in ("SELECTION", CALLS)] + [f"-DTOPWORK_SELECTION={lite0_selection(args.keep, flags)}"]
        kilobytes = round(size_of(args.keep / str(i), [*configure, *options]) / 1000)
        too_large = limit and kilobytes > limit
        above += bool(too_large)
        print(f"{kilobytes:6} kB  {what}{f': above its limit, {limit} kB' if too_large else ''}", flush=True)
        rows.append({"model": what, "what": "clang++ 19 -Oz -flto, lld", "ours": kilobytes, "peer": None, "ratio": None, "runs": []})
    if args.rows:
        pathlib.Path(args.rows).write_text(json.dumps(rows))
    sys.exit(bool(above))


if __name__ == "__main__":
    main()
