"""An instruction set that a build cannot have is refused, with the names of those that it can.

Usage: configure_test.py CMAKE GENERATOR CXX_COMPILER
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    cmake, generator, compiler = sys.argv[1:4]
    with tempfile.TemporaryDirectory(prefix="topwork_configure_") as build:
        done = subprocess.run([cmake, "-S", ROOT, "-B", build, "-G", generator, f"-DCMAKE_CXX_COMPILER={compiler}",
                               "-DTOPWORK_TESTS=OFF", "-DTOPWORK_TOOLS=OFF", "-DTOPWORK_ONLY_ISAS=baseline;avx3"],
                              capture_output=True, text=True)
    said = " ".join(done.stderr.split())
    good = done.returncode != 0 and "no set 'avx3'" in said and "There are: baseline" in said
    print("ok" if good else done.stdout + done.stderr)
    return 0 if good else 1


sys.exit(main())
