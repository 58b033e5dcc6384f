"""NVIDIA: clang makes PTX, ptxas machine code, nvdisasm its text; so does PoCL for CUDA."""

import os
import re
import subprocess

import clang
import loops

ARCHITECTURE = "sm_87"  # Jetson Orin
TRIPLE = "nvptx64--nvidiacl"
LIBRARY = f"{TRIPLE}.bc"

DOT = """
int __attribute__((overloadable)) dot_4x8packed_ss_int(uint a, uint b) {
  int sum;
  __asm__("dp4a.s32.s32 %0, %1, %2, 0;" : "=r"(sum) : "r"(a), "r"(b));
  return sum;
}
"""


def tool(name):
    """Path of a program from PyPI, where toolchains/install-deps.sh puts it, else of this machine's; None."""
    return clang.find(name, os.path.join(clang.ROOT, "build", "third_party", "cuda", name))


def missing():
    """Why nothing can be compiled; empty where it can."""
    lacking = clang.missing(LIBRARY)
    lacking += [name for name in ("ptxas", "nvdisasm") if tool(name) is None]
    return lacking


def version():
    text = subprocess.run([tool("ptxas"), "--version"], capture_output=True, text=True, check=True).stdout
    return f"{clang.version()}, ptxas {re.search(r'V([0-9.]+)', text).group(1)}"


def kind(text):
    text = re.sub(r"^@!?U?P\w+\s+", "", text)
    name, _, rest = text.partition(" ")
    base, *more = name.split(".")
    if base == "FFMA":
        return loops.Kind("float", 1)
    if base in ("HFMA2", "HMUL2") and "-RZ, RZ" not in rest:  # that one moves a constant
        return loops.Kind("float", 2)
    if base == "IDP":
        return loops.Kind("dot", 4)
    if base == "IMAD" and not {"MOV", "SHL", "WIDE", "IADD"}.intersection(more):
        return loops.Kind("integer", 1)
    if base in ("LDG", "LD"):
        bits = [int(m.lstrip("SU")) for m in more if re.fullmatch(r"[SU]?(8|16|64|128)", m)]
        return loops.Kind(load_bits=bits[0] if bits else 32)
    return loops.Kind()


def disassembled(text):
    """Code of each kernel in nvdisasm's output."""
    kernels, code = {}, None
    for line in text.splitlines():
        section = re.match(r"\s*\.section\s+\.text\.([\w$]+)", line)
        label = re.match(r"(\.L_\w+):", line)
        instruction = re.match(r"\s*/\*[0-9a-f]+\*/\s+(.*?)\s*;", line)
        if section:
            code = kernels.setdefault(section.group(1), [])
        elif code is not None and label:
            code.append(("label", label.group(1)))
        elif code is not None and instruction:
            target = re.search(r"BRA.*?(\.L_\w+)", instruction.group(1))
            code.append(("branch", instruction.group(1), target.group(1)) if target else
                        ("code", instruction.group(1)))
    return kernels


def resources(text):
    """Registers, spilled bytes and private memory of each kernel in ptxas' messages."""
    found = {}
    for block in text.split("Compiling entry function '")[1:]:
        stack = re.search(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads", block)
        frame, stores, loads = (int(group) for group in stack.groups())
        spills = stores + loads
        found[block.split("'")[0]] = {
            "registers": int(re.search(r"Used (\d+) registers", block).group(1)),
            "spills": spills, "private": frame if spills == 0 else max(frame - stores, 0)}
    return found


def compile_program(source, options, folder):
    """{kernel: its figures}; clang.Failed says what a compiler said. The folder takes files of its own."""
    ptx, cubin = os.path.join(folder, "x.ptx"), os.path.join(folder, "x.cubin")
    if "-DTW_HALF_PRODUCTS" in options:  # the processor has them, though this target of clang's does not say so
        options += " -Xclang -cl-ext=+cl_khr_fp16"
    clang.assemble(DOT + source, options, TRIPLE, ARCHITECTURE, LIBRARY, ptx)
    said = clang.run([tool("ptxas"), f"-arch={ARCHITECTURE}", "-O3", "-v", ptx, "-o", cubin])
    code = disassembled(clang.run([tool("nvdisasm"), "-c", cubin]))
    return {name: {**row, **loops.hottest(code[name], kind)} for name, row in resources(said).items()}
