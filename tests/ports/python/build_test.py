"""Builds the Python package on a build of the library and installs it into build/python/stage; checks its types.

Usage: build_test.py LIBRARY CMAKE PYTHON
Exit 77 (skipped) where PYTHON lacks the packages that build it (toolchains/install-deps.sh python).
"""
import os
import subprocess
import sys

SKIPPED = 77
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))


def call(*command):
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        print(done.stdout.decode(errors="replace")[-8000:])
        sys.exit(f"{command[0]} ended with {done.returncode}")


def main():
    library, cmake, python = sys.argv[1:]
    wanted = "import nanobind, numpy, pytest, mypy"
    if not os.path.exists(python) or subprocess.run([python, "-c", wanted], stderr=subprocess.DEVNULL).returncode:
        print("SKIP python: build/.venv lacks nanobind, numpy, pytest or mypy (toolchains/install-deps.sh python)")
        sys.exit(SKIPPED)
    build = os.path.join(ROOT, "build", "python")
    call(cmake, "-S", "ports/python", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
         "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", f"-DTOPWORK_BUILD={os.path.dirname(library)}",
         f"-DPython_EXECUTABLE={python}", "--install-prefix", os.path.join(build, "stage"))
    call(cmake, "--build", build)
    call(cmake, "--install", build)
    call(python, "-m", "mypy", "--config-file", "ports/python/pyproject.toml", "--cache-dir", os.path.join(build, "mypy"),
         os.path.join(build, "stage", "topwork"))
    print("built, and mypy finds nothing")


if __name__ == "__main__":
    main()
