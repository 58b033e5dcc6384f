"""Tests gpu_day.sh on the OpenCL device that is here (PoCL): what it measures, what it says of wrong input.

  python gpu_day_test.py TOPWORK        (the topwork command)
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "tests" / "peers" / "gpu" / "gpu_day.sh"
MODEL = ROOT / "models" / "zoo" / "digits_mlp_f32.tflite"
failures = []


def check(condition, text):
    print(("  ok    " if condition else "  FAIL  ") + text)
    if not condition:
        failures.append(text)


def run(*arguments):
    return subprocess.run([str(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def has_device(tool):
    devices = json.loads(subprocess.run([tool, "devices", "--json"], stdout=subprocess.PIPE, check=True).stdout)
    return any(entry["id"] == "opencl:0" and entry.get("available") for entry in devices)


def measures(tool, folder):
    result = run("--topwork", tool, "--device", "opencl:0", "--out", folder, "--seconds", 300, MODEL)
    check(result.returncode == 0, f"a day on opencl:0 ends well: {result.stdout[-300:]}{result.stderr[-300:]}")
    data = json.loads((folder / "gpu_day.json").read_text())
    check(data["device"]["id"] == "opencl:0" and not data["failed"] and not data["not_reached"], "nothing is left out")
    check([row["precision"] for row in data["verify"]] == ["float32", "float16"], "answers in both precisions")
    check(all(row["agrees"] and row["on_device"] > 0 for row in data["verify"]), "they agree, computed on the device")
    sides = {(row["device"], row["precision"]) for row in data["latency"]}
    check(len(sides) == 4 and all(row["p50_ms"] > 0 for row in data["latency"]), f"latencies of both sides: {sides}")
    check(all(measured["ops"] and measured["limits"] for measured in data["operators"]), "operators with limits")
    check({row["n_classes"] for row in data["training"]} == {2, 10, 100}, "training of 2, 10 and 100 classes")
    page = (folder / "gpu_day.md").read_text()
    check(all(row["model"] in page for row in data["latency"]) and "## Training" in page, "the page tells it, too")


def runs_out_of_time(tool, folder):
    result = run("--topwork", tool, "--device", "opencl:0", "--out", folder, "--seconds", 0.001, MODEL)
    data = json.loads((folder / "gpu_day.json").read_text())
    check(result.returncode == 0 and len(data["not_reached"]) == 8 and not data["latency"], "late measurements are listed")
    check("What was not reached" in (folder / "gpu_day.md").read_text(), "the page lists them, too")


def refuses(tool, folder):
    result = run("--topwork", tool, "--device", "opencl:99", "--out", folder, MODEL)
    check(result.returncode == 3 and "no device opencl:99 among these" in result.stderr, "an unknown device")
    result = run("--topwork", tool, "--out", folder, folder / "missing.tflite")
    check(result.returncode == 2 and "missing.tflite not found" in result.stderr, "a model that is not there")
    broken = folder / "broken.tflite"
    broken.write_bytes(b"no model")
    result = run("--topwork", tool, "--device", "opencl:0", "--out", folder, "--seconds", 100, broken)
    failed = json.loads((folder / "gpu_day.json").read_text())["failed"]
    check(result.returncode == 1 and failed and all("broken.tflite" in row["why"] for row in failed), "a broken model")
    check(run("--carry").returncode == 2, "--carry without a folder")


def carries(tool, folder):
    if pathlib.Path(tool).resolve() != ROOT / "build" / "release" / "topwork":
        print("  SKIP  --carry: this is another build than build/release")
        return
    result = run("--carry", folder)
    check(result.returncode == 0 and (folder / "lib" / "libOpenCL.so.1").is_file(), f"--carry: {result.stderr}")
    # There the loader and the libraries come from the folder.
    result = subprocess.run([str(folder / "tests" / "peers" / "gpu" / "gpu_day.sh"), "--device", "opencl:99"],
                            stderr=subprocess.PIPE, text=True)
    check(result.returncode == 3 and "opencl:0" in result.stderr, f"what was carried finds devices: {result.stderr}")


# What pocl_cuda.sh calls, as far as it looks at it; what it was told goes to a file.
FAKES = {
    "llvm-config": 'echo "${TARGETS:-X86 NVPTX}"',
    "git": 'for last; do :; done; mkdir -p "$last" && touch "$last/CMakeLists.txt"; echo "git $*" >>"$SAID"',
    "cmake": 'echo "cmake $*" >>"$SAID"; [ "$1" = "${FAILS:-}" ] && echo "no such header" && exit 1; '
             '[ "$1" = --install ] || exit 0; folder=$(dirname "$2")/etc/OpenCL/vendors; mkdir -p "$folder"; '
             'echo libpocl.so >"$folder/pocl.icd"',
    "c++": "", "pkg-config": "",
}


def builds_pocl(_, folder):
    tools, made, said = folder / "tools", folder / "made", folder / "said"
    for name, text in FAKES.items():
        tools.mkdir(exist_ok=True)
        (tools / name).write_text(f"#!/bin/sh\n{text}\n")
        (tools / name).chmod(0o755)
    (folder / "cuda" / "include").mkdir(parents=True)

    def build(**variables):
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SAID": str(said),
                       "CUDA_HOME": str(folder / "cuda"), "LLVM_CONFIG": str(tools / "llvm-config"), **variables}
        result = subprocess.run([str(SCRIPT.parent / "pocl_cuda.sh"), str(made)], env=environment,
                                stderr=subprocess.PIPE, text=True)
        return result.returncode, result.stderr

    check(build()[0] == 77 and "no CUDA toolkit" in build()[1], "PoCL for CUDA: no toolkit")
    (folder / "cuda" / "include" / "cuda.h").touch()
    code, text = build(TARGETS="X86")
    check(code == 77 and "without NVPTX" in text, "PoCL for CUDA: an LLVM without NVPTX")
    code, text = build(FAILS="--build")
    check(code == 77 and "no such header" in text and "the build failed" in text, "PoCL for CUDA: a build that fails")
    said.unlink()
    code, text = build()
    told = said.read_text() if said.exists() else ""
    check(code == 0 and (made / "etc/OpenCL/vendors/pocl.icd").exists(), f"PoCL for CUDA is made: {text}")
    check("-DENABLE_CUDA=ON" in told and f"-DCMAKE_INSTALL_PREFIX={made}" in told and "--install" in told, "by cmake")
    said.unlink()
    check(build()[0] == 0 and not said.exists(), "once")


def main(tool):
    if not has_device(tool):
        print("SKIP: no OpenCL device (Debian: apt install pocl-opencl-icd)")
        return 1 if os.environ.get("TOPWORK_REQUIRE_OPENCL") == "1" else 77
    with tempfile.TemporaryDirectory() as temporary:
        for i, test in enumerate((builds_pocl, measures, runs_out_of_time, refuses, carries)):
            folder = pathlib.Path(temporary) / str(i)
            folder.mkdir()
            test(tool, folder)
    print(f"{len(failures)} failed")
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
