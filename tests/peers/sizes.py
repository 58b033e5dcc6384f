"""The size of the library by what is left out of it: one build for each row, stripped, for aarch64.

  python3 tests/peers/sizes.py [--rows FILE] [--keep FOLDER] [--only WORD]

Compilers: Debian's cross g++ with -Os, linked by GNU ld or by lld, which merges functions that are the same (--icf=all),
and clang++ 15 with -Oz and lld, also with -flto. Needs the packages g++-aarch64-linux-gnu, clang-15 and lld-15. Builds go to build/sizes (or
FOLDER) and stay there, so that the next call compiles what changed.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FLAGS = "-DNDEBUG -fno-asynchronous-unwind-tables -fno-unwind-tables"
BARE = ["-DTOPWORK_QUANTIZER=OFF", "-DTOPWORK_DESCRIBE=OFF", "-DTOPWORK_SPARSE=OFF"]
CPU = ["-DTOPWORK_OPENCL=OFF"]
RUN = ["-DTOPWORK_TRAIN=OFF"]
LITE0 = "EfficientNet-Lite0 (float, int8)"
# What is in it, and the options that say so.
ROWS = [
    ("everything", []),
    ("without OpenCL", CPU),
    ("without training", RUN),
    ("without the quantizer, descriptions and sparse weights", BARE),
    ("all operators on the CPU, inference alone", [*CPU, *RUN, *BARE]),
    (f"{LITE0}: inference and training, OpenCL", [*BARE, "SELECTION"]),
    (f"{LITE0}: inference and training, CPU", [*BARE, *CPU, "SELECTION"]),
    (f"{LITE0}: the same, loops of ARMv8.0 alone", [*BARE, *CPU, "SELECTION", "-DTOPWORK_ONLY_ISAS=baseline"]),
    (f"{LITE0}: inference, loops of ARMv8.0 alone", [*BARE, *CPU, *RUN, "SELECTION", "-DTOPWORK_ONLY_ISAS=baseline"]),
]


def compilers(folder):
    """Name -> configure arguments."""
    lld = os.environ.get("LLD", "/usr/lib/llvm-15/bin/ld.lld")
    gnu = [f"--toolchain={ROOT}/toolchains/aarch64-linux-gnu.cmake", f"-DCMAKE_CXX_FLAGS_MINSIZEREL=-Os {FLAGS}"]
    toolchain = folder / "clang-aarch64.cmake"
    toolchain.write_text(f'''set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER clang-15)
set(CMAKE_CXX_COMPILER clang++-15)
set(CMAKE_C_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_CXX_COMPILER_TARGET aarch64-linux-gnu)
set(CMAKE_SHARED_LINKER_FLAGS_INIT "--ld-path={lld} -Wl,--icf=all")
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
''')
    clang = [f"--toolchain={toolchain}", "-DTOPWORK_WERROR=OFF"]
    return {
        "g++ -Os, GNU ld": gnu,
        "g++ -Os, lld": [*gnu, f"-DCMAKE_SHARED_LINKER_FLAGS=-B{os.path.dirname(lld)} -fuse-ld=lld -Wl,--icf=all"],
        "clang++ -Oz, lld": [*clang, f"-DCMAKE_CXX_FLAGS_MINSIZEREL=-Oz {FLAGS}"],
        "clang++ -Oz -flto, lld": [*clang, f"-DCMAKE_CXX_FLAGS_MINSIZEREL=-Oz -flto {FLAGS}"],
    }


def lite0_selection(folder):
    shared = pathlib.Path(os.environ.get("TOPWORK_SHARED", ROOT.parent / "shared"))
    models = [ROOT / "models/zoo/efficientnet_lite0_fp16.tflite", shared / "models/int8/efficientnet_lite0_int8.tflite"]
    text = subprocess.run([sys.executable, "-B", ROOT / "toolchains/select.py", "--train", "--opencl", *models],
                          stdout=subprocess.PIPE, check=True).stdout
    path = folder / "lite0.selection"
    path.write_bytes(text)
    return path


def size_of(build, arguments):
    log = build.with_suffix(".log")
    with open(log, "wb") as out:
        for command in (["cmake", "-G", "Ninja", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=MinSizeRel",
                         "-DTOPWORK_TESTS=OFF", "-DTOPWORK_TOOLS=OFF", *arguments],
                        ["cmake", "--build", build, "-j", "2", "--target", "topwork"]):
            if subprocess.run(command, stdout=out, stderr=subprocess.STDOUT).returncode:
                sys.exit(f"{build.name} does not build; see {log}")
    return (build / "libtopwork.so").stat().st_size


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows")
    parser.add_argument("--keep", type=pathlib.Path, default=ROOT / "build" / "sizes")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    args.keep.mkdir(parents=True, exist_ok=True)
    selection = f"-DTOPWORK_SELECTION={lite0_selection(args.keep)}"
    rows = []
    for i, (what, options) in enumerate(ROWS):
        for j, (name, configure) in enumerate(compilers(args.keep).items()):
            if args.only not in f"{what} {name}":
                continue
            build = args.keep / f"{i}-{j}"
            options = [selection if option == "SELECTION" else option for option in options]
            kilobytes = round(size_of(build, [*configure, *options]) / 1000)
            print(f"{kilobytes:6} KB  {what}, {name}", flush=True)
            rows.append({"model": what, "what": name, "ours": kilobytes, "peer": None, "ratio": None, "runs": []})
    if args.rows:
        pathlib.Path(args.rows).write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
