#!/usr/bin/env python3
"""The library as one source file and two headers, for those who build without CMake.

Usage: amalgamate.py [--selection FILE] [--without PART]... [--build FOLDER] [--output FOLDER]

How to compile topwork.cc is said in its head. Needs Python's standard library and this source tree.
"""
import sys
sys.path.append(sys.path.pop(0))  # select.py of this folder must not stand in for Python's module
import argparse
import glob
import os
import re
import subprocess
import tempfile
import zlib

import cpp_names

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PARTS = ["train", "learn", "judge", "checkpoints", "quantizer", "custom_ops", "opencl", "trials", "describe", "sparse",
         "metadata", "export", "messages"]
FOLDERS = {"ports/linux": "PORT", "runtime/base": "BASE", "runtime/tensor": "TENSOR", "kernels": "KERNELS",
           "models/format": "FORMAT", "runtime/backend": "BACKEND", "runtime/backend/opencl": "OPENCL",
           "runtime/plan": "PLAN", "runtime/session": "SESSION", "runtime/train": "TRAIN", "runtime/api": "API"}
INCLUDE = re.compile(r'^#include "([^"]+)".*$', re.M)
# The instruction sets: only the one that the compiler's options ask for.
ISA_LIST = """#ifndef TW_FULL_ISA
#define TW_FULL_ISA(name, runs)
#endif
TW_FULL_ISA(baseline, true)
#undef TW_FULL_ISA
#undef TW_BYTES_ISA
#undef TW_HALF_ISA
#undef TW_EIGEN_ISA
"""
HEAD = """// Topwork {version} as one file, written by toolchains/amalgamate.py{arguments}. Do not edit it.
//
//   g++ -std=c++17 -O2 -fno-exceptions -fno-rtti -fno-math-errno -ffp-contract=off -I. -I/usr/include/eigen3 -c topwork.cc
//
// clang++ takes the same options. Programs include <topwork/topwork.h> or <topwork/topwork.hpp> and link topwork.o with
// -pthread -ldl. Headers that this file needs (Debian's packages): Eigen (libeigen3-dev), FlatBuffers {flatbuffers}, the
// version that made the tables below (libflatbuffers-dev){opencl}. -ffp-contract=off covers the loops, too: on processors
// with fused multiply-add they may be slower than those of the build by CMake, and differ from them in the last bits.
//
// The loops are compiled for one instruction set, the one of the compiler's options: SSE2 on x86-64, ARMv8.0 on
// aarch64. -march=... names a better one, which the processor must then have. The build by CMake holds several
// sets and chooses at run time. 32-bit ARM needs more options (toolchains/library.cmake); use CMake there.
"""


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


def source_lists(folder, options):
    """The variables of <folder>/sources.cmake: of CMake's language set, list(APPEND) and if of options."""
    lists, taken = {}, [True]
    commands = re.findall(r"(\w+)\s*\(([^)]*)\)", re.sub(r"#.*", "", read(f"{folder}/sources.cmake")))
    for command, text in commands:
        words = text.split()
        if command == "if":
            taken.append(taken[-1] and all(options[word] for word in words[::2]))
        elif command == "else":
            taken[-1] = taken[-2] and not taken[-1]
        elif command == "endif":
            taken.pop()
        elif taken[-1] and command == "set":
            lists[words[0]] = words[1:]
        elif taken[-1] and command == "list" and words[0] == "APPEND":
            lists[words[1]] += words[2:]
    return lists


def kernel_sources():
    """Every .cc of kernels but those of instruction sets that the amalgamation lacks."""
    folders = re.search(r"KERNELS_FOLDERS ([^)]*)\)", read("kernels/sources.cmake"))[1].split()
    files = [file for folder in folders for file in sorted(glob.glob(f"{ROOT}/kernels/{folder}/*.cc"))]
    return [os.path.relpath(file, ROOT) for file in files
            if not re.search(r"/(eigen_\w+|gemm_half_isa|integer_amx_isa)\.cc$", file)]


def sources(has):
    options = {f"TOPWORK_{part.upper()}": has[part] for part in PARTS}
    files = []
    for folder, name in FOLDERS.items():
        if name == "KERNELS":
            files += kernel_sources()
        elif name != "TRAIN" or has["train"]:
            listed = source_lists(folder, options)[f"{name}_SOURCES"]
            files += [os.path.normpath(f"{folder}/{file}") for file in listed]
    return files


def selection_inc(path):
    """selection.inc, as toolchains/selection.cmake writes it."""
    types = re.search(r"set\(types ([^)]*)\)", read("toolchains/selection.cmake"))[1].split()
    names = re.findall(r'^"(\w+)"', read("kernels/contract/op_names.inc"), re.M)
    rows, all_types = [], 5  # float32 and int32 always
    with open(path, encoding="utf-8") as file:
        lines = [line.split("#")[0].split() for line in file]
    for name, *used in filter(None, lines):
        if name.startswith("tw_") and not used:
            continue  # what a shared library exports
        unknown = [word for word in used if word not in types]
        if unknown or not used:
            sys.exit(f"{path}: {name}: write its types after it, of {' '.join(types)}.")
        mask = sum(1 << types.index(word) for word in set(used))
        code, custom = (names.index(name), "nullptr") if name in names else (32, f'"{name}"')
        rows.append(f"TW_SELECT_OP({code}, {custom}, {mask}u)\n")
        all_types |= mask
    if not rows:
        sys.exit(f"{path} names no operator.")
    return f"TW_SELECT_TYPES({all_types}u)\n" + "".join(rows)


def flatc_headers(build):
    """The text of each <name>_generated.h."""
    with tempfile.TemporaryDirectory() as made:
        folder = os.path.join(build, "generated", "flatc") if build else made
        if not build:
            schemas = sorted(glob.glob(f"{ROOT}/models/schema/*.fbs"))
            try:
                subprocess.run(["flatc", "--cpp", "--cpp-std", "c++17", "--scoped-enums", "--gen-object-api",
                                "-o", made, *schemas], check=True)
            except (OSError, subprocess.CalledProcessError) as error:
                sys.exit(f"flatc (Debian: flatbuffers-compiler; or pass --build): {error}")
        texts = {}
        for path in glob.glob(os.path.join(folder, "*_generated.h")):
            with open(path, encoding="utf-8") as file:
                texts[os.path.basename(path)] = "#include <limits.h>\n#undef ARG_MAX\n" + file.read()
    if not texts:
        sys.exit(f"{build} has no generated/flatc/*_generated.h: build it first.")
    return texts


def unused_kernels(has, selection):
    """Names of the OpenCL files that nobody asks for, as toolchains/embed_cl.cmake finds them."""
    rules = read("toolchains/embed_cl.cmake")
    unused = re.search(r"if\(NOT TOPWORK_TOOLS\)\s+list\(APPEND without ([^)]*)\)", rules)[1].split()
    if not has["train"]:
        unused += re.search(r"if\(NOT TOPWORK_TRAIN\)\s+list\(APPEND without ([^)]*)\)", rules)[1].split() + ["square"]
    if selection:
        with open(selection, encoding="utf-8") as file:
            selected = set(re.findall(r"^[A-Z]\w*", file.read(), re.M))
        for name, operators in re.findall(r"set\(TW_KERNELS_OF_(\w+) ([A-Z0-9_ ]+)\)", rules):
            unused += [] if selected & set(operators.split()) else [name]
    return unused


def kernel_table(unused):
    """The OpenCL kernels' texts but for the unused files, compressed, as toolchains/embed_cl.cmake makes them."""
    paths = ["kernels/contract/functions.inc"]
    for pattern in ("*/*.clh", "*/*.cl", "ops/*/*.cl"):
        found = sorted(os.path.relpath(file, ROOT) for file in glob.glob(f"{ROOT}/kernels/{pattern}"))
        paths += [path for path in found if os.path.basename(path).split(".")[0] not in unused]
    rows, total, texts = "", 0, []
    for path in paths:
        text = re.sub(r"[ \t]*//.*", "", read(path))
        texts.append(re.sub(r"^[ \t]+", "", text, flags=re.M).encode())
        rows += f'    {{"{path}", {total}, {len(texts[-1])}}},\n'
        total += len(texts[-1])
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    data = packer.compress(b"".join(texts)) + packer.flush()
    numbers = "\n".join(",".join(map(str, data[i:i + 32])) + "," for i in range(0, len(data), 32))
    table = read("toolchains/kernel_table.cc.in").replace("@total@", str(total)).replace("@rows@", rows)
    table = re.sub(r'extern "C" .*\n', f"static const unsigned char topwork_cl[] = {{\n{numbers}\n}};\n", table)
    return table.replace("static_cast<size_t>(topwork_cl_end - topwork_cl)", "sizeof(topwork_cl)")


def is_of_loops(path):
    """Whether a header is for *_isa.cc files alone: it is, or includes, that of vectors."""
    if path == "kernels/cpu/simd.h":
        return True
    return path.startswith("kernels/") and path.endswith(".h") and any(map(is_of_loops, INCLUDE.findall(read(path))))


def with_loops(path):
    """A file of loops and, inside it, its own copy of the headers of loops: these have names that clash."""
    seen = set()

    def expand(text):
        def included(match):
            if not is_of_loops(match[1]):
                return match[0]
            if match[1] in seen:
                return ""
            seen.add(match[1])
            header = read(match[1])
            if "\nnamespace {\n" not in header:
                header = header.replace("namespace TW_ISA {", "namespace TW_ISA { namespace {")
                header = header.replace("}  // namespace TW_ISA", "} }  // namespace TW_ISA")
            return expand(header)
        return INCLUDE.sub(included, text)
    return expand(read(path))


class Writer:
    """Puts files behind each other, each header where the first file includes it."""

    def __init__(self, generated):
        self.generated, self.seen, self.pieces, self.words = generated, set(), [], {}

    def text_of(self, path):
        return self.generated[path] if path in self.generated else read(path)

    def expand(self, text):
        def included(match):
            path = match[1]
            if path in ("topwork/topwork.h", "topwork/topwork.hpp"):
                return f'#include "{path}"'
            if not path.endswith(".inc"):
                if path in self.seen:
                    return ""
                self.seen.add(path)
            if path not in self.generated and not os.path.exists(os.path.join(ROOT, path)):
                return match[0]  # a dependency's
            return f"// {path}\n" + self.expand(cpp_names.make_internal(self.text_of(path)))
        return INCLUDE.sub(included, text)

    def add(self, path, text, suffix, names):
        text = cpp_names.make_internal(cpp_names.rename(text, names, suffix))
        macros = sorted(set(re.findall(r"^#\s*define (\w+)", text, re.M)))
        self.pieces.append(f"\n// ---- {path}\n{self.expand(text)}" + "".join(f"#undef {name}\n" for name in macros))


def names_of_headers(path, known):
    """Names that a project's header, and those that it includes, add to their namespaces."""
    if path not in known:
        known[path] = set()
        if os.path.exists(os.path.join(ROOT, path)) and path.endswith(".h"):
            text = read(path)
            known[path] |= cpp_names.own_names(cpp_names.code_of(text), True)
            known[path] |= set().union(*(names_of_headers(other, known) for other in INCLUDE.findall(text)))
    return known[path]


def names_to_change(texts):
    """For each file its own names, but for overloads of functions of headers and what macros put together."""
    known, result = {}, {}
    for path, text in texts.items():
        seen = set().union(*(names_of_headers(header, known) for header in INCLUDE.findall(text)))
        pasted = cpp_names.pasted(text)
        own = cpp_names.own_names(cpp_names.code_of(text)) - (set() if "namespace TW_ISA" in text else seen)
        result[path] = {name for name in own if not pasted.fullmatch(name)}
    return result


def definitions(has, selection, version):
    names = ["_GNU_SOURCE", "TW_BUILDING_LIBRARY 1", "TW_ISA baseline", "TW_ONE_ISA 1", "EIGEN_MPL2_ONLY",
             "EIGEN_DONT_PARALLELIZE", "EIGEN_NO_DEBUG"]
    names += ["TW_HAVE_TRAIN 1"] if has["train"] else []
    names += [f'TW_VERSION_TEXT "{version}"'] if has["opencl"] else []
    names += ["TW_SELECTION 1"] if selection else []
    names += [f"TW_NO_{part.upper()} 1" for part in PARTS if not has[part]]
    lines = [f"#ifndef {name.split()[0]}\n#define {name}\n#endif\n" for name in names]
    return "".join(lines) + "#ifndef _FILE_OFFSET_BITS\n#define _FILE_OFFSET_BITS 64\n#endif\n"


def amalgamate(args, has):
    generated = {"isa_list.inc": ISA_LIST, **flatc_headers(args.build)}
    if args.selection:
        generated["selection.inc"] = selection_inc(args.selection)
    texts = {path: with_loops(path) for path in sources(has)}
    if has["opencl"]:
        texts["opencl_kernel_table.cc"] = kernel_table(unused_kernels(has, args.selection))
    names = names_to_change(texts)
    writer = Writer(generated)
    if not has["messages"]:  # before all else, as the build by CMake reads it
        writer.pieces.append(writer.expand('#include "kernels/contract/places.h"\n'))
    for number, (path, text) in enumerate(texts.items()):
        writer.add(path, text, f"_{number}", names[path])
    version = ".".join(re.search(rf"TW_VERSION_{part}\s+(\d+)", read("runtime/include/topwork/topwork.h"))[1]
                       for part in ("MAJOR", "MINOR", "PATCH"))
    flatbuffers = ".".join(re.findall(r"FLATBUFFERS_VERSION_\w+ == (\d+)", generated["tflite_generated.h"]))
    flags = "".join(f" --without {part}" for part in PARTS if not has[part])
    flags = (f" --selection {os.path.basename(args.selection)}" if args.selection else "") + flags
    head = HEAD.format(version=version, arguments=flags, flatbuffers=flatbuffers or "of flatc",
                       opencl=", OpenCL (opencl-c-headers)" if has["opencl"] else "")
    return head + definitions(has, args.selection, version) + "".join(writer.pieces)


def one_header(name):
    """A public header with the parts that it includes, each once; parts in C stay an include of topwork.h in C++."""
    seen = set()

    def expand(path):
        def included(match):
            part = match[1] if match[1].endswith(os.path.splitext(name)[1]) else "topwork/topwork.h"
            if part in seen:
                return ""
            seen.add(part)
            return expand(part) if part == match[1] else f'#include "{part}"'
        return INCLUDE.sub(included, read(f"runtime/include/{path}"))
    return re.sub(r"\n{3,}", "\n\n", expand(f"topwork/{name}"))


def main():
    parser = argparse.ArgumentParser(usage=argparse.SUPPRESS, description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--selection", metavar="FILE",
                        help="operators and types to have, as toolchains/select.py writes it (default: all)")
    parser.add_argument("--without", metavar="PART", action="append", choices=PARTS, default=[],
                        help=", ".join(PARTS) + "; may be repeated")
    parser.add_argument("--build", metavar="FOLDER",
                        help="a built folder of CMake whose FlatBuffers headers are taken (default: flatc makes them)")
    parser.add_argument("--output", metavar="FOLDER", default="build/amalgamation",
                        help="where topwork.cc, topwork/topwork.h and topwork/topwork.hpp go (default: %(default)s)")
    args = parser.parse_args()
    if args.selection and not os.path.isfile(args.selection):
        parser.error(f"--selection {args.selection}: no such file; toolchains/select.py writes one")
    has = {part: part not in args.without for part in PARTS}
    text = amalgamate(args, has)
    os.makedirs(os.path.join(args.output, "topwork"), exist_ok=True)
    with open(os.path.join(args.output, "topwork.cc"), "w", encoding="utf-8") as file:
        file.write(text)
    for name in ("topwork.h", "topwork.hpp"):
        with open(os.path.join(args.output, "topwork", name), "w", encoding="utf-8") as file:
            file.write(one_header(name))
    print(f"{args.output}/topwork.cc: its head says how to compile it")


if __name__ == "__main__":
    main()
