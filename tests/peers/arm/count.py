"""Instructions of a run on processors of ARM, ours and LiteRT's, counted under qemu: no such processor is here.

  python count.py BUILD [MODEL...] [--rows FILE]

BUILD is a build for aarch64 (preset jetson). Both sides run in the same Python for aarch64, which this makes
once, with LiteRT's wheel, in build/arm64, by toolchains/arm64_root.sh and pip; nothing is installed. A plugin of qemu counts
(instruction_count.c). What a run takes is what three more of them add; one thread. An instruction is no
time: loads, products and branches count alike.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

FOLDER = peers.ROOT / "build" / "arm64"
ROOT = FOLDER / "root"
SITE = FOLDER / "site"
DEBIAN = ["python3.11-minimal", "libpython3.11-stdlib", "libstdc++6"]
WHEELS = """ai-edge-litert==2.3.0 numpy flatbuffers backports.strenum typing_extensions tqdm protobuf ml_dtypes""".split()
PLATFORMS = [f"manylinux{name}_aarch64" for name in ("_2_28", "_2_27", "_2_17", "2014")]
# What LiteRT reads of the processor in /proc/cpuinfo; qemu gives the rest.
CORES = {"cortex-a53": ("0xd03", "fp asimd aes pmull sha1 sha2 crc32 cpuid"),
         "cortex-a76": ("0xd0b", "fp asimd aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp")}
MORE = 3  # runs


def call(*command, **options):
    done = subprocess.run(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"FAIL: {' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-2000:]}")
    return done.stdout


def make_root():
    """Debian's Python for aarch64 and LiteRT's wheel, unpacked into build/arm64."""
    call(peers.ROOT / "toolchains" / "arm64_root.sh", "make", FOLDER, *DEBIAN)
    if SITE.exists():
        return
    print(f"fetching LiteRT for aarch64 into {FOLDER}", flush=True)
    call(sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:", "--python-version", "3.11",
         *(f"--platform={name}" for name in PLATFORMS), "-d", FOLDER / "wheels", *WHEELS)
    for wheel in (FOLDER / "wheels").glob("*.whl"):
        shutil.unpack_archive(wheel, SITE, "zip")
    for name in ("possible", "present", "online", "kernel_max"):
        file = ROOT / "sys/devices/system/cpu" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("0\n")


def side(engine, model, runs, library):
    """In the emulated Python: opens the model and runs it."""
    sys.path.insert(0, str(SITE))
    if engine == "topwork":
        import compare_topwork
        network = compare_topwork.Topwork(library)
    else:
        import compare_engines
        network = compare_engines.LiteRt()
    network.open(model, 1, 1)
    network.fill(lambda dtype, n, size: bytearray(n * size))
    for _ in range(runs):
        network.run()


def instructions(core, engine, model, library):
    """Of a run."""
    part, features = CORES[core]
    (ROOT / "proc/cpuinfo").write_text(f"processor\t: 0\nFeatures\t: {features}\nCPU implementer\t: 0x41\n"
                                       f"CPU architecture: 8\nCPU variant\t: 0x1\nCPU part\t: {part}\nCPU revision\t: 0\n\n")
    counts = []
    for runs in (1, 1 + MORE):
        said = call("qemu-aarch64", "-cpu", core, "-L", ROOT, "-plugin", FOLDER / "count.so", ROOT / "usr/bin/python3.11",
                    "-S", "-B", __file__, "--side", engine, model, runs, library,
                    env={**os.environ, "PYTHONHASHSEED": "0", "TOPWORK_CACHE": str(FOLDER / "cache")})
        counts.append(int(re.search(r"instructions (\d+)", said).group(1)))
    return (counts[1] - counts[0]) / MORE


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("models", nargs="*", default=[peers.ZOO / "efficientnet_lite0_fp16.tflite"])
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    missing = [name for name in ("qemu-aarch64", "apt-get", "dpkg-deb", "gcc") if shutil.which(name) is None]
    if missing:
        print(f"SKIP: {', '.join(missing)} missing (Debian: apt install qemu-user gcc)")
        sys.exit(peers.SKIP)
    make_root()
    call("gcc", "-O2", "-shared", "-fPIC", "-o", FOLDER / "count.so", pathlib.Path(__file__).with_name("instruction_count.c"))
    library = pathlib.Path(arguments.build, "libtopwork.so").resolve()
    print(f"{'model':44} {'processor':12} {'Topwork':>10} {'LiteRT':>10} {'ratio':>6}   millions of instructions")
    for model in map(pathlib.Path, arguments.models):
        for core in CORES:
            ours, theirs = (instructions(core, engine, model, library) / 1e6 for engine in ("topwork", "litert"))
            print(f"{model.stem:44} {core:12} {ours:10.2f} {theirs:10.2f} {theirs / ours:6.2f}", flush=True)
            table.add(model.stem, core, ours, theirs, theirs / ours)
    table.write(arguments.rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        side(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        main()
