"""AMD RDNA 2: clang makes machine code and describes it."""

import os
import re

import clang
import loops

ARCHITECTURE = "gfx1030"
TRIPLE = "amdgcn--amdhsa"
LIBRARY = f"{TRIPLE}.bc"

DOT = """
int __attribute__((overloadable)) dot_4x8packed_ss_int(uint a, uint b) {
  return __builtin_amdgcn_sdot4((int)a, (int)b, 0, false);
}
"""


def missing():
    """Why nothing can be compiled; empty where it can."""
    return clang.missing(LIBRARY)


def version():
    return clang.version()


def load_bits(name):
    """Bits that a load of this name takes from memory; 0 where it is none."""
    match = re.match(r"(?:global|flat|buffer|s|s_buffer)_load_(?:format_)?(\w+?)(?:_d16(?:_hi)?)?$", name)
    if not match:
        return 0
    what = match.group(1)
    named = {"ubyte": 8, "sbyte": 8, "ushort": 16, "sshort": 16, "short": 16}
    if what in named:
        return named[what]
    words = re.match(r"dword(?:x(\d+))?", what)
    return min(32 * int(words.group(1) or 1), 128) if words else 0


def kind(text):
    name = re.sub(r"_(e32|e64|dpp|sdwa)$", "", text.split()[0])
    if re.match(r"v_pk_(fma|mul)_f16|v_dot2", name):
        return loops.Kind("float", 2)
    if re.match(r"v_(fma|mad|mac)\w*_f(16|32)$", name):
        return loops.Kind("float", 1)
    if name.startswith(("v_dot4", "v_dot8")):
        return loops.Kind("dot", 4)
    if re.match(r"v_mad_(u32_u24|i32_i24|u64_u32|i64_i32)", name):
        return loops.Kind("integer", 1)
    return loops.Kind(load_bits=load_bits(name))


def listed(text):
    """Code of each kernel in the compiler's listing."""
    kernels, code = {}, None
    for line in text.splitlines():
        begin = re.match(r"([\w$]+):\s+; @\1$", line)
        label = re.match(r"(\.LBB\w+):", line)
        instruction = re.match(r"\t([a-z]\w+(?:\s.*)?)$", line.split(";")[0].rstrip())
        if begin:
            code = kernels.setdefault(begin.group(1), [])
        elif line.startswith(".Lfunc_end") or line.startswith("\t.section"):
            code = None
        elif code is not None and label:
            code.append(("label", label.group(1)))
        elif code is not None and instruction:
            target = re.search(r"(\.LBB\w+)$", instruction.group(1))
            code.append(("branch", instruction.group(1), target.group(1)) if target else
                        ("code", instruction.group(1)))
    return kernels


def resources(text):
    """Registers, spilled registers and private memory of each kernel in the listing's description."""
    found = {}
    for block in text[text.index("amdhsa.kernels:"):text.index("amdhsa.target:")].split("\n  - ")[1:]:
        number = dict(re.findall(r"\n    \.(\w+):\s+(\S+)", block))
        found[number["name"]] = {
            "registers": int(number["vgpr_count"]),
            "spills": int(number["vgpr_spill_count"]) + int(number["sgpr_spill_count"]),
            "private": int(number["private_segment_fixed_size"])}
    return found


def compile_program(source, options, folder):
    """As nvidia.compile_program."""
    listing = os.path.join(folder, "x.s")
    clang.assemble(DOT + source, options, TRIPLE, ARCHITECTURE, LIBRARY, listing)
    with open(listing, encoding="utf-8") as file:
        text = file.read()
    code = listed(text)
    return {name: {**row, **loops.hottest(code[name], kind)} for name, row in resources(text).items()}
