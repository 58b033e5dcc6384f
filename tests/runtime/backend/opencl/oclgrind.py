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

CHECKS = ("--data-races", "--check-api")
IMAGES = "[opencl-images]"  # what is read from an image counts as uninitialised there
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
# Kernels of integers alone, and of which.
INTEGERS = {"binary_int": "i32", "logical": "i32", "cast_wrap": "i32", "clear": "i32",
            "integer_binary": "i8", "integer_depthwise": "i8", "integer_depthwise_rows": "i8",
            "integer_lookup": "i8", "integer_pool": "i8", "integer_product": "i8",
            "integer_reduce": "i8"}
# Programs that are made for one size of block at a time, and where the sizes stand.
BLOCKS = {"conv_2d": "conv_2d_gpu.cc", "depthwise_rows": "depthwise_gpu.cc", "gemm": "product_gpu.cc",
          "integer_product": "integer_gpu.cc"}


def kernels_of(path):
    """(op, assumption) of each kernel of a file."""
    text = open(path, encoding="utf-8").read()
    found = re.findall(r"^TW_KERNEL\((\w+)\)\(", text, re.MULTILINE)
    kernels = [(op, "") for op in found]
    kernels += re.findall(r"^TW_KERNEL_FOR\((\w+), (\w+)\)\(", text, re.MULTILINE)
    program = os.path.basename(path)[:-len(".cl")]
    if program in BLOCKS:
        plan = open(os.path.join(os.path.dirname(path), BLOCKS[program]), encoding="utf-8").read()
        kernels += [(program, block) for block in re.findall(rf'"{program}_(\w+)"', plan)]
    return kernels


def wanted():
    """(program, kernel) of all; operators' kernels of reals come in both storages."""
    kernels = set()
    for path in glob.glob(os.path.join(ROOT, "kernels", "**", "*.cl"), recursive=True):
        program = os.path.basename(path)[:-len(".cl")]
        both = os.sep + "ops" + os.sep in path
        for op, assumption in kernels_of(path):
            types = ["f32", "f16"] if both and op not in FLOAT32_ONLY else ["f32"]
            for kind in [INTEGERS[op]] if op in INTEGERS else types:
                kernels.add((program, "_".join(filter(None, (op, kind, assumption)))))
    return kernels


def made(output):
    """The same of what the log says was made."""
    return {(program, name)
            for name, program in re.findall(r"OpenCL: kernel (\w+) of (\w+)\.cl", output)}


def main(tests, tags):
    found = find()
    if found is None:
        print("SKIP: oclgrind is not installed (Debian: apt install oclgrind)")
        return 1 if os.environ.get("TOPWORK_REQUIRE_OPENCL") == "1" else 77
    command, library = found
    checks = CHECKS if tags == IMAGES else (*CHECKS, "--uninitialized")
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "log")
        environment = dict(os.environ, TOPWORK_OPENCL_LIBRARY=library, TOPWORK_OPENCL_CACHE="off",
                           TOPWORK_CACHE=folder, TOPWORK_REQUIRE_OPENCL="1", TOPWORK_TEST_LOG="1")
        result = subprocess.run([command, *checks, "--log", log, tests, tags], env=environment,
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
    if tags == IMAGES:
        return 0
    kernels = wanted()
    missing = sorted(kernels - made(result.stdout))
    for program, name in missing:
        print(f"kernel {name} of {program}.cl is not run by any test of {tags}")
    if missing or not kernels:
        return 1
    print(f"oclgrind: 0 reports, {len(kernels)} kernels")
    return 0


sys.exit(main(*sys.argv[1:]))
