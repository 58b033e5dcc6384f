"""The source distribution of the Python package holds what it is compiled of, and nothing twice.

Usage: sdist_test.py LIBRARY CMAKE PYTHON   compiles the module on a build of the library
       sdist_test.py --whole PYTHON MODEL     pip alone builds and installs it, then a run and a training
Exit 77 (skipped) where PYTHON lacks scikit-build-core and nanobind (toolchains/install-deps.sh python).
"""
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[3]


def call(*command, cwd=ROOT):
    done = subprocess.run(list(map(str, command)), cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace")
    if done.returncode != 0:
        print(done.stdout[-8000:])
        sys.exit(f"{command[0]} ended with {done.returncode}")


def distribution(python, folder):
    """The path of a fresh source distribution."""
    make = "import sys; sys.path.insert(0, '.'); import topwork_build; topwork_build.build_sdist(sys.argv[1])"
    call(python, "-c", make, folder, cwd=ROOT / "ports" / "python")
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


def install(sdist, folder, python, model):
    call(python, "-m", "venv", folder / "venv")
    own = folder / "venv" / "bin" / "python"
    call(own, "-m", "pip", "install", "--quiet", sdist)
    call(own, "-I", ROOT / "tests" / "ports" / "python" / "try_wheel.py", model)


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
            install(sdist, folder, python, os.path.abspath(sys.argv[3]))
        else:
            compile_module(sdist, folder, sys.argv[1], sys.argv[2], python)
        print(f"{sdist.name}: {sdist.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
