"""Runs tests on oclgrind's simulated device: no data race, uninitialised value or wrong call is let by.

Usage: oclgrind.py TOPWORK_TESTS TAGS. Skipped (77) without oclgrind, unless TOPWORK_REQUIRE_OPENCL=1.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile

CHECKS = ("--data-races", "--uninitialized", "--check-api")


def find():
    """The command and its OpenCL library, or None."""
    command = shutil.which("oclgrind")
    if command is None:
        return None
    prefix = os.path.dirname(os.path.dirname(os.path.realpath(command)))
    libraries = [path for middle in ("", "*/") for path in
                 glob.glob(os.path.join(prefix, "lib*", middle + "oclgrind", "liboclgrind-rt.so"))]
    return (command, libraries[0]) if libraries else None


def main(tests, tags):
    found = find()
    if found is None:
        print("SKIP: oclgrind is not installed (Debian: apt install oclgrind)")
        return 1 if os.environ.get("TOPWORK_REQUIRE_OPENCL") == "1" else 77
    command, library = found
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        environment = dict(os.environ, TOPWORK_OPENCL_LIBRARY=library, TOPWORK_OPENCL_CACHE="off",
                           TOPWORK_CACHE=folder, TOPWORK_REQUIRE_OPENCL="1")
        result = subprocess.run([command, *CHECKS, "--log", log, tests, tags], env=environment,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        report = open(log, encoding="utf-8", errors="replace").read() if os.path.exists(log) else ""
    print(result.stdout[-3000:])
    if report.strip():
        print("oclgrind reports:\n" + report[:6000])
        return 1
    # The simulator must really have run the tests.
    if result.returncode != 0 or "All tests passed" not in result.stdout:
        return 1
    print("oclgrind: 0 reports")
    return 0


sys.exit(main(*sys.argv[1:]))
