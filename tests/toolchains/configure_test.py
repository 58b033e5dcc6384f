"""Builds that cannot be are refused when they are configured, each with a word on what would do.

Usage: configure_test.py CMAKE GENERATOR CXX_COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What is asked for, and what the refusal says.
REFUSED = [
    (["-DTOPWORK_ONLY_ISAS=baseline;avx3"], ["no set 'avx3'", "There are: baseline"]),
    (["-DTOPWORK_TRAIN=PLAIN"], ["TOPWORK_TRAIN=PLAIN: turn TOPWORK_TESTS, _CHECKPOINTS, _LEARN and _QUANTIZER off"]),
    (["-DTOPWORK_TRAIN=ON", "-DTOPWORK_METADATA=OFF"], ["TOPWORK_LEARN packs files into models", "turn it off, too, or TOPWORK_METADATA on"]),
]


def main():
    cmake, generator, compiler = sys.argv[1:4]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="topwork_configure_") as build:
        # One folder for all: what CMake asks of the compiler is asked once.
        for options, words in REFUSED:
            done = subprocess.run([cmake, "-S", ROOT, "-B", build, "-G", generator, f"-DCMAKE_CXX_COMPILER={compiler}",
                                   "-DTOPWORK_TESTS=OFF", "-DTOPWORK_TOOLS=OFF", "-DTOPWORK_ONLY_ISAS=", *options],
                                  capture_output=True, text=True)
            said = " ".join(done.stderr.split())
            if done.returncode == 0 or not all(word in said for word in words):
                print(f"{options}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
                bad += 1
    print("ok" if not bad else f"{bad} of {len(REFUSED)} were not refused well")
    return 1 if bad else 0


sys.exit(main())
