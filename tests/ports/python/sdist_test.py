"""The source distribution of the Python package holds what it is compiled of, and nothing twice.

Usage: sdist_test.py LIBRARY CMAKE PYTHON   compiles the module on a build of the library
       sdist_test.py --whole PYTHON         pip alone builds and installs it, then a run and a training
Exit 77 (skipped) where PYTHON lacks scikit-build-core and nanobind (toolchains/install-deps.sh python).
"""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

from wheels_test import ROOT, SKIPPED, call, try_here


def distribution(python, folder):
    """The path of a fresh source distribution."""
    make = "import sys; sys.path.insert(0, '{}'); import topwork_build; topwork_build.build_sdist(sys.argv[1])"
    call(python, "-c", make.format(ROOT / "ports" / "python"), folder)
    made, = folder.glob("topwork-*.tar.gz")
    return made


def compile_module(sdist, folder, library, cmake, python):
    with tarfile.open(sdist) as archive:
        archive.extractall(folder)
    sources, = (path for path in folder.iterdir() if path.is_dir())
    assert not (sources / "src").exists(), "the module's sources are there twice"
    call(cmake, "-S", sources, "-B", folder / "build", "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
         "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache", f"-DTOPWORK_BUILD={pathlib.Path(library).parent}",
         f"-DPython_EXECUTABLE={python}")
    call(cmake, "--build", folder / "build")


def main():
    whole = sys.argv[1] == "--whole"
    python = sys.argv[2] if whole else sys.argv[3]
    wanted = "import nanobind, scikit_build_core"
    if not os.path.exists(python) or subprocess.run([python, "-c", wanted], stderr=subprocess.DEVNULL).returncode:
        print("SKIP sdist: build/.venv lacks nanobind or scikit-build-core (toolchains/install-deps.sh python)")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        sdist = distribution(python, folder)
        if whole:
            try_here(sdist, python)
        else:
            compile_module(sdist, folder, sys.argv[1], sys.argv[2], python)
        print(f"{sdist.name}: {sdist.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
