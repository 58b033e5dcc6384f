"""Builds a wheel by ports/python/wheels.sh, looks at it with auditwheel, installs it and tries it: that of this processor
in a clean virtual environment, those of others in Debian 12 under qemu, with its Python.

Usage: wheels_test.py MACHINE [PYTHON...]    x86_64, aarch64 or armv7l; Pythons to make wheels by instead of build/.venv's
Exit 77 (skipped) where zig or the Python is missing (toolchains/install-deps.sh long python), or a root cannot be made.
"""
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import zipfile

SKIPPED = 77
ROOT = pathlib.Path(__file__).resolve().parents[3]
WHEELS = ROOT / "build" / "wheels"
MODEL = ROOT / "models" / "zoo" / "digits_cnn_f32.tflite"
TRY = pathlib.Path(__file__).with_name("try_wheel.py")
GLIBC = {"x86_64": 28, "aarch64": 28, "armv7l": 31}  # the minor version of glibc in a wheel's tag
LIBRARIES = {"x86_64": "x86_64-linux-gnu", "aarch64": "aarch64-linux-gnu", "armv7l": "arm-linux-gnueabihf"}


def skip(why):
    print("SKIP wheels: " + why)
    sys.exit(SKIPPED)


def call(*command, **options):
    done = subprocess.run([str(part) for part in command], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    text = done.stdout.decode(errors="replace")
    if done.returncode == SKIPPED:
        skip(text.strip().splitlines()[-1])
    if done.returncode != 0:
        print(text[-8000:])
        sys.exit("%s ended with %d" % (command[0], done.returncode))
    return text


def version_of(python):
    return tuple(map(int, call(python, "-c", "import sys; print(*sys.version_info[:2])").split()))


def wheel_for(machine, version):
    """The newest wheel that the Python takes."""
    tag = "cp312-abi3" if version >= (3, 12) else "cp3%d-cp3%d" % (version[1], version[1])
    found = sorted(WHEELS.glob("topwork-*-%s-*_%s.whl" % (tag, machine)), key=lambda path: path.stat().st_mtime)
    if not found:
        sys.exit("wheels.sh left no wheel %s for %s" % (tag, machine))
    return found[-1]


def check(wheel, machine):
    """auditwheel agrees with the tag; one stripped module, types, and nothing that belongs to the build."""
    tag = "manylinux_2_%d_%s" % (GLIBC[machine], machine)
    shown = call(WHEELS / "tools" / "bin" / "auditwheel", "show", wheel)
    names = zipfile.ZipFile(wheel).namelist()
    modules = [name for name in names if name.endswith(".so")]
    least = re.search(r'following platform tag: "manylinux_2_(\d+)_%s"' % machine, " ".join(shown.split()))
    assert tag in wheel.name and least and int(least.group(1)) <= GLIBC[machine], shown
    assert len(modules) == 1 and "topwork/_core.pyi" in names and "topwork/py.typed" in names, names
    # Python finds a module by the end of its name, which names the processor unless the stable ABI does.
    assert modules[0].endswith((".abi3.so", "-%s.so" % LIBRARIES[machine])), modules
    assert not any(name.endswith((".a", ".h", ".cmake")) for name in names), names
    print("%s: %d bytes" % (wheel.name, wheel.stat().st_size))
    print("  " + " ".join(shown.split()))


def try_here(wheel, python):
    venv = WHEELS / "venv"
    shutil.rmtree(venv, ignore_errors=True)
    call(python, "-m", "venv", venv)
    call(venv / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    print(call(venv / "bin" / "python", "-I", TRY, MODEL, env=environment).strip())


def root_of(machine):
    """A folder with Debian 12, its Python and NumPy for the processor."""
    kind = {"aarch64": "make", "armv7l": "armhf"}[machine]
    folder = ROOT / "build" / ("python-" + machine)
    call("toolchains/arm64_root.sh", kind, folder, "dash", "coreutils", "python3", "python3-numpy")
    return folder / "root"


def try_there(wheel, machine, python):
    """pip of this machine checks the tags; no script of Debian's ran, so libblas is not where it would be."""
    root = root_of(machine)
    site = root / "srv" / "site"
    shutil.rmtree(site, ignore_errors=True)
    call(python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps", "--no-index", "--target", site,
         "--only-binary=:all:", "--python-version", "3.11", "--implementation", "cp", "--platform",
         "manylinux_2_%d_%s" % (GLIBC[machine], machine), wheel)
    shutil.copy(TRY, root / "srv")
    shutil.copy(MODEL, root / "srv")
    libraries = "/usr/lib/" + LIBRARIES[machine]
    environment = dict(os.environ, PYTHONPATH="/srv/site", PYTHONDONTWRITEBYTECODE="1", LC_ALL="C",
                       LD_LIBRARY_PATH="%s/blas:%s/lapack" % (libraries, libraries))
    print(call("toolchains/arm64_root.sh", "run", root, "/usr/bin/python3", "/srv/" + TRY.name, "/srv/" + MODEL.name,
               env=environment).strip())


def main():
    machine, pythons = sys.argv[1], sys.argv[2:] or [str(ROOT / "build" / ".venv" / "bin" / "python")]
    if platform.machine() != "x86_64":
        skip("wheels.sh takes the module's types from a wheel for x86-64, which does not run here")
    if not (shutil.which("zig") or (ROOT / "build" / "third_party" / "zig" / "ziglang" / "zig").exists()):
        skip("zig is missing (toolchains/install-deps.sh zig)")
    for python in pythons:
        if not (shutil.which(python) and subprocess.run([python, "-c", "import pip, venv"], stderr=subprocess.DEVNULL).returncode == 0):
            skip("%s with pip is missing (toolchains/install-deps.sh python)" % python)
        version = version_of(python)
        call("ports/python/wheels.sh", python, machine)
        wheel = wheel_for(machine, version)
        check(wheel, machine)
        if machine == "x86_64":
            try_here(wheel, python)
        elif version == (3, 11):
            try_there(wheel, machine, python)
        else:
            print("not tried: the Python of Debian 12 is 3.11")


if __name__ == "__main__":
    main()
