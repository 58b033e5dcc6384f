"""Runs tests on oclgrind's simulated device: no data race, uninitialised value or wrong call is let by,
and no kernel of the source tree may be missing.

Usage: oclgrind.py TOPWORK_TESTS TAGS. Skipped (77) without oclgrind, unless TOPWORK_REQUIRE_OPENCL=1.
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile

CHECKS = ("--data-races", "--uninitialized", "--check-api")
ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), *[".."] * 4))


def find():
    """The command and its OpenCL library, or None."""
    command = shutil.which("oclgrind")
    if command is None:
        return None
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(command)))
    libraries = [path for middle in ("", "*/") for path in
                 glob.glob(os.path.join(prefix, "lib*", middle + "oclgrind", "liboclgrind-rt.so"))]
    return (command, libraries[0]) if libraries else None


# Results of int16, which float16 storage does not take.
FLOAT32_ONLY = ("quantize", "quantize_in_place")


def wanted():
    """(program, kernel, storage) of all kernels; operators' kernels come in both storages."""
    kernels = set()
    for path in glob.glob(os.path.join(ROOT, "kernels", "**", "*.cl"), recursive=True):
        program = os.path.basename(path)[:-len(".cl")]
        for name in re.findall(r"__kernel\s+void\s+(\w+)", open(path, encoding="utf-8").read()):
            kernels.add((program, name, "float32"))
            if os.path.basename(os.path.dirname(path)) == "ops" and name not in FLOAT32_ONLY:
                kernels.add((program, name, "float16"))
    return kernels


def made(output):
    """The same of what the log says was made."""
    found = re.findall(r"OpenCL: kernel (\w+) of (\w+)\.cl(.*)", output)
    return {(program, name, "float16" if "-DTW_HALF" in defines else "float32")
            for name, program, defines in found}


def main(tests, tags):
    found = find()
    if found is None:
        print("SKIP: oclgrind is not installed (Debian: apt install oclgrind)")
        return 1 if os.environ.get("TOPWORK_REQUIRE_OPENCL") == "1" else 77
    command, library = found
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        environment = dict(os.environ, TOPWORK_OPENCL_LIBRARY=library, TOPWORK_OPENCL_CACHE="off",
                           TOPWORK_CACHE=folder, TOPWORK_REQUIRE_OPENCL="1", TOPWORK_TEST_LOG="1")
        result = subprocess.run([command, *CHECKS, "--log", log, tests, tags], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        report = open(log, encoding="utf-8", errors="replace").read() if os.path.exists(log) else ""
    said = "\n".join(line for line in result.stdout.splitlines() if "topwork: " not in line)
    print(said[-3000:])
    if report.strip():
        print("oclgrind reports:\n" + report[:6000])
        return 1
    # The simulator must really have run the tests.
    if result.returncode != 0 or "All tests passed" not in result.stdout:
        return 1
    kernels = wanted()
    missing = sorted(kernels - made(result.stdout))
    for program, name, storage in missing:
        print(f"kernel {name} of {program}.cl in {storage} is not run by any test of {tags}")
    if missing or not kernels:
        return 1
    print(f"oclgrind: 0 reports, {len(kernels)} kernels")
    return 0


sys.exit(main(*sys.argv[1:]))
