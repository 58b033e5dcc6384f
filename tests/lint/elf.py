"""What a built ELF file promises to loaders: hardened, mappable by kernels with pages of 16 KB, for old C libraries.

Usage: elf.py FILE... [--glibc VERSION] [--bionic]
  FILE      a shared library or a program; the checks of libraries are for names with .so in them
  --glibc   needs no symbol of a glibc newer than that
  --bionic  calls only what bionic, Android's C library, has at API 24 (bionic_24.txt)
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

READELF = os.environ.get("READELF") or "readelf"
PAGE = 16384
WIDE = ("AArch64", "X86-64")  # processors whose kernels may have such pages
BIONIC = pathlib.Path(__file__).with_name("bionic_24.txt")


def readelf(path, *options):
    done = subprocess.run([READELF, "-W", *options, str(path)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0 or "Error:" in done.stdout:
        sys.exit(f"{path}: {READELF} says: {done.stdout.strip()[-300:]}")
    return done.stdout


def segments_problems(header, segments):
    machine = re.search(r"Machine:\s+(.*)", header).group(1)
    loads = re.findall(r"^\s+LOAD\s.*?\s([R ][W ][E ])\s+(0x[0-9a-f]+)$", segments, re.MULTILINE)
    if not loads:
        yield "has no LOAD segment"
    for flags, align in loads:
        if any(wide in machine for wide in WIDE) and int(align, 16) % PAGE != 0:
            yield f"a LOAD segment is aligned to {align}, kernels with pages of 16 KB refuse it: -Wl,-z,max-page-size=16384"
        if "W" in flags and "E" in flags:
            yield "a LOAD segment can be written and executed"
    stack = re.search(r"GNU_STACK.*\s([R ][W ][E ])\s+\w+$", segments, re.MULTILINE)
    if not stack or "E" in stack.group(1):
        yield "the stack can hold code: -Wl,-z,noexecstack"
    if "GNU_RELRO" not in segments:
        yield "addresses stay writable (no RELRO): -Wl,-z,relro"


def dynamic_problems(dynamic, is_library):
    if "(NULL)" not in dynamic:
        if is_library:
            yield "has no dynamic section"
        return  # a static program has nothing to relocate late
    if "TEXTREL" in dynamic:
        yield "relocates its code (TEXTREL): compile with -fPIC"
    if not re.search(r"\(FLAGS(_1)?\).*NOW|\(BIND_NOW\)", dynamic):
        yield "looks up functions late (no NOW): -Wl,-z,now"
    if "RPATH" in dynamic or "RUNPATH" in dynamic:
        yield "names folders to search for libraries (RPATH or RUNPATH)"
    if is_library and "SONAME" not in dynamic:
        yield "has no SONAME"


def newest_glibc(versions):
    found = [tuple(map(int, name.split("."))) for name in re.findall(r"\bGLIBC_(\d+(?:\.\d+)+)", versions)]
    return max(found, default=(0,))


def undefined(path):
    for line in readelf(path, "--dyn-syms").splitlines():
        fields = line.split()
        if len(fields) > 7 and fields[6] == "UND" and fields[4] != "WEAK":
            yield fields[7].split("@")[0]


def bionic_names():
    lines = BIONIC.read_text(encoding="utf-8").splitlines()
    return {name for line in lines if not line.startswith("#") for name in line.split()}


def problems(path, glibc, bionic):
    is_library = ".so" in os.path.basename(path)
    yield from segments_problems(readelf(path, "-h"), readelf(path, "-l"))
    yield from dynamic_problems(readelf(path, "-d"), is_library)
    newest = newest_glibc(readelf(path, "-V"))
    if glibc and newest > tuple(map(int, glibc.split("."))):
        yield f"needs glibc {'.'.join(map(str, newest))}; {glibc} is the newest allowed"
    if bionic:
        foreign = sorted(set(undefined(path)) - bionic_names())
        if foreign:
            yield (f"calls what {BIONIC.name} does not list: {' '.join(foreign)}. What bionic has at API 24 is added "
                   "there; what it has not, the code must do without")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+")
    parser.add_argument("--glibc")
    parser.add_argument("--bionic", action="store_true")
    arguments = parser.parse_args()
    found = [f"{path}: {problem}" for path in arguments.files for problem in problems(path, arguments.glibc, arguments.bionic)]
    if found:
        sys.exit("\n".join(found))
    for path in arguments.files:
        newest = newest_glibc(readelf(path, "-V"))
        print(f"{os.path.basename(path)} is in order" + (f", needs glibc {'.'.join(map(str, newest))}" if any(newest) else ""))


if __name__ == "__main__":
    main()
