"""What the built library shows to the world.

Usage: library.py symbols LIBRARY          exports tw_* and nothing else
       library.py dependencies LIBRARY     needs only the C and C++ runtime
       library.py size LIBRARY BYTES       is at most that large
       library.py isa NAME OBJECT[;...]    objects of one instruction set lend nothing to others
       library.py products NAME OBJECT[;...]  products of bytes and of 16-bit numbers are made of the
                                           instruction they are for, and "avxvnni" has none of AVX-512
"""
import os
import re
import subprocess
import sys

NM = os.environ.get("NM", "nm")
OBJDUMP = os.environ.get("OBJDUMP") or "objdump"
READELF = os.environ.get("READELF", "readelf")
ALLOWED = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|libpthread|libatomic|libdl|ld-linux-[a-z0-9-]+)\.so")


def output(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()


def symbols(library):
    names = []
    for line in output(NM, "-D", "--defined-only", library).splitlines():
        kind, name = line.split()[-2:]
        if kind != "A":  # The version node itself.
            names.append(name.split("@")[0])
    foreign = [name for name in names if not name.startswith("tw_")]
    if foreign:
        sys.exit("Exported, but outside tw_*:\n  " + "\n  ".join(foreign))
    if "tw_version" not in names:
        sys.exit(f"tw_version is not exported; exported: {names}")
    print(f"{len(names)} functions exported, all tw_*")


def dependencies(library):
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", output(READELF, "-d", library))
    foreign = [name for name in needed if not ALLOWED.match(name)]
    if foreign or not needed:
        sys.exit(f"Dependencies beyond the C and C++ runtime: {foreign} (all: {needed})")
    print("needs " + " ".join(needed))


def size(library, limit):
    n_bytes = os.path.getsize(library)
    if re.search(r"\s\.symtab\s", output(READELF, "-SW", library)):
        sys.exit(f"{library} is not stripped")
    if n_bytes > int(limit):
        sys.exit(f"{library}: {n_bytes} bytes, {limit} at most")
    print(f"{n_bytes} bytes of {limit}")


def isa(name, objects):
    """All global symbols must name the instruction set; weak ones could replace portable code."""
    problems = []
    for path in objects.split(";"):
        for line in output(NM, "-C", "--defined-only", path).splitlines():
            fields = re.match(r"[0-9a-f]* *([A-Za-z]) (.*)", line)
            if fields and fields[1] in "TDBRCWVuG" and name not in fields[2]:
                problems.append(f"{os.path.basename(path)}: {fields[1]} {fields[2]}")
    if problems:
        sys.exit(f"Global symbols without '{name}' in their name:\n  " + "\n  ".join(problems[:40]))
    print(f"objects of {name} stay apart")


def products(name, objects):
    """In 64-bit code 62 begins EVEX instructions and nothing else."""
    wanted = {"avxvnni": r"\{vex\} vpdpbusd .*%ymm", "i8mm": r"smmla\s", "avx512bf16": r"vdpbf16ps .*%zmm",
              "amx": r"tdpbusd ", "amxbf16": r"tdpbf16ps ", "fp16": r"fmla\sv\d+\.8h, v\d+\.8h, v\d+\.h\[", "bf16": r"bfmmla\s"}[name]
    code = "".join(output(OBJDUMP, "-dw", path) for path in objects.split(";"))
    if not re.search(wanted, code):
        sys.exit(f"{name}: no instruction that looks like '{wanted}'")
    evex = re.findall(r"^ *[0-9a-f]+:\t62 .*", code, re.MULTILINE) if name == "avxvnni" else []
    if evex:
        sys.exit("Instructions that need AVX-512:\n  " + "\n  ".join(evex[:20]))
    print(f"{len(re.findall(wanted, code))} products by them, none of another instruction set")


{"symbols": symbols, "dependencies": dependencies, "size": size, "isa": isa,
 "products": products}[sys.argv[1]](*sys.argv[2:])
