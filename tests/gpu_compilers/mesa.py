"""Mesa's compilers for Adreno (ir3) and Mali (Bifrost, Valhall), in the folder that mesa.sh makes."""

import os
import re
import subprocess
import tempfile
import threading

import clang
import loops

ROOT = os.path.join(clang.ROOT, "build", "gpu_compilers", "mesa", "root")
PLACE = "/opt/mesa"  # inside ROOT


def adreno_kind(text):
    repeat = re.search(r"\(rpt(\d)\)", text)
    text = re.sub(r"^(\([a-z0-9]+\)\s*)+", "", text)
    name = text.split()[0]
    count = 1 + int(repeat.group(1)) if repeat else 1
    if re.match(r"mad\.f(16|32)", name):
        return loops.Kind("float", 1, count=count)
    if name.startswith(("dp4acc", "dp2acc")):
        return loops.Kind("dot", 4 if name.startswith("dp4") else 2, count=count)
    if re.match(r"(mad|madsh)\.", name):
        return loops.Kind("integer", 1, count=count)
    texture = re.match(r"i?sam\S*\s+(?:\(\w+\))*?\([fus](16|32)\)\(([xyzw]+)\)", text)
    if texture:
        bits = int(texture.group(1)) * len(texture.group(2))
        return loops.Kind(load_bits=bits, count=count, is_texture=True)
    load = re.match(r"(?:ldg|ldib)\S*\.[usf](8|16|32)", name)
    parts = re.search(r",\s*(\d)\s*$", text)
    if load:
        bits = int(load.group(1)) * (int(parts.group(1)) if parts else 1)
        return loops.Kind(load_bits=next(width for width in loops.WIDTHS if width >= bits), count=count)
    return loops.Kind(count=count)


def adreno_code(lines):
    """Code of ir3's listing."""
    code = []
    for line in lines:
        label = re.match(r"(l\d+):", line)
        if label:
            code.append(("label", label.group(1)))
        elif line and line[0] not in ";@":
            text = re.sub(r"^\([^)]*\)", "", line) if line.startswith("(jp)") else line
            target = re.match(r".*#(l\d+)", text)
            if text:
                code.append(("branch", text, target.group(1)) if target else ("code", text))
    return code


def adreno(said):
    """{kernel: figures} of what the driver printed. Of a kernel's two forms, the second of which cuts a launch into
    pieces, the shorter."""
    rows, kernel, lines = {}, "", None
    for line in said.splitlines():
        line = line.removeprefix("MESA: info: ").strip()
        named = re.match(r"decl_function __wrapped_(\w+)", line)
        size = re.match(r"; CL prog \S+ (\d+) instr,", line)
        registers = re.match(r"; CL prog .*?(\d+) half, (\d+) full,", line)
        if named:
            kernel = named.group(1)
        elif line.startswith("Native code for"):
            lines = []
        elif size and lines is not None:
            length, code, lines = int(size.group(1)), adreno_code(lines), None
        elif registers:
            spills = sum(1 for one in code if one[0] == "code" and re.match(r"(\(\w+\)\s*)*(ldp|stp)\.", one[1]))
            row = {"registers": int(registers.group(2)), "spills": spills, **loops.hottest(code, adreno_kind)}
            if kernel not in rows or length < rows[kernel][0]:
                rows[kernel] = (length, row)
        elif lines is not None:
            lines.append(line)
    return {kernel: row for kernel, (_, row) in rows.items()}


def mali_kind(text):
    name = re.sub(r"^[+*\s]*(.*? = )?", "", text).split()[0]
    if name.startswith("FMA") and ".f32" in name:
        return loops.Kind("float", 1)
    if name.startswith("FMA") and ".v2f16" in name:
        return loops.Kind("float", 2)
    if name.startswith("IDP"):
        return loops.Kind("dot", 4)
    if name.startswith(("IMUL", "IMAD")):
        return loops.Kind("integer", 1)
    load = re.match(r"LOAD\.i(\d+)", name)
    if load:
        return loops.Kind(load_bits=next(width for width in loops.WIDTHS if width >= int(load.group(1))))
    return loops.Kind()


def mali_code(lines):
    """Code of the compiler's last listing before machine code."""
    code = []
    for line in lines:
        block = re.match(r"(block\d+) \{", line)
        target = re.search(r"-> (block\d+)$", line)
        if block:
            code.append(("label", block.group(1)))
        elif re.match(r"\s+([+*]\s+)?(\S.* = )?(?!NOP)[A-Z][A-Z0-9_]*(\.|\s|$)", line):
            code.append(("branch", line.strip(), target.group(1)) if target else ("code", line.strip()))
    return code


def mali(said):
    """As adreno. Listings and totals come by different ways; of each, the first belongs to the first."""
    listings, totals = [], []
    for line in said.splitlines():
        named = re.match(r"impl __wrapped_(\w+)", line)
        total = re.match(r"SHADER-DB: .* (\d+) inst, .*?(\d+) threads, .*?(\d+):(\d+) spills:fills", line)
        if named:
            listings.append((named.group(1), []))
        elif total:
            totals.append([int(group) for group in total.groups()])
        elif listings:
            lines = listings[-1][1]
            if re.match(r"block0 \{", line):
                lines.clear()
            lines.append(line)
    rows = {}
    for (kernel, lines), (length, threads, spills, fills) in zip(listings, totals):
        row = {"registers": 64 // threads, "spills": spills + fills, **loops.hottest(mali_code(lines), mali_kind)}
        if kernel not in rows or length < rows[kernel][0]:
            rows[kernel] = (length, row)
    return {kernel: row for kernel, (_, row) in rows.items()}


class Worker:
    """A process with a driver, which builds one program after the other; it is started anew when it has ended."""

    def __init__(self, environment):
        self.command = [os.path.join(clang.ROOT, "toolchains", "arm64_root.sh"), "run", ROOT, "env",
                        *(f"{name}={value}" for name, value in environment.items()), f"{PLACE}/build_program"]
        self.process = None

    def build(self, path, options):
        """(whether it was built, what the driver printed)."""
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.STDOUT, text=True, errors="replace")
        said = []
        try:
            self.process.stdin.write(f"{path}\n{options}\n")
            self.process.stdin.flush()
            for line in self.process.stdout:
                if line in ("built\n", "refused\n"):
                    return line == "built\n", "".join(said)
                said.append(line)
        except BrokenPipeError:
            pass
        said.append(f"exit code {self.process.wait()}\n")
        self.process = None
        return False, "".join(said)

    def __del__(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


class Mesa:
    """One GPU, as compilers.py wants it."""

    INSTALL = "tests/gpu_compilers/mesa.sh"

    def __init__(self, driver, shim, read, environment):
        self.read = read
        self.environment = {
            "OCL_ICD_VENDORS": PLACE, "RUSTICL_ENABLE": driver, "RUSTICL_FEATURES": "fp16", "MESA_SHADER_CACHE_DISABLE": "1",
            "LD_PRELOAD": f"{PLACE}/lib{shim}_noop_drm_shim.so", **environment}
        self.threads = threading.local()

    def missing(self):
        if not os.path.exists(f"{ROOT}{PLACE}/build_program"):
            return ["Mesa's compilers are"]
        return [] if os.geteuid() == 0 else ["root's rights are"]

    def version(self):
        with open(f"{ROOT}{PLACE}/version", encoding="utf-8") as file:
            return file.read().strip()

    def compile_program(self, source, options, _):
        """As nvidia.compile_program."""
        if not hasattr(self.threads, "worker"):
            self.threads.worker = Worker(self.environment)
        with tempfile.NamedTemporaryFile("w", suffix=".cl", dir=f"{ROOT}/srv", encoding="utf-8") as file:
            file.write(source)
            file.flush()
            built, said = self.threads.worker.build(f"/srv/{os.path.basename(file.name)}", options)
        if not built and "export failed" in said:
            print(f"left out: the stand-in for the GPU's driver cannot hold the constants of a program ({options})")
            return {}
        if not built and re.search(r"exit code -\d+\s*$", said):
            print(f"left out: Mesa's compiler ends by a signal ({options})")
            return {}
        if not built:
            raise clang.Failed(said[-1000:])
        rows = self.read(said)
        for name, private in re.findall(r"^kernel (\w+) (\d+)$", said, re.M):
            if name not in rows:
                raise clang.Failed(f"no machine code of {name}: {said[-1000:]}")
            rows[name]["private"] = int(private)
        return rows


def gpus():
    found = {f"adreno_{number}": Mesa("freedreno", "freedreno", adreno,
                                      {"FD_GPU_ID": str(number), "IR3_SHADER_DEBUG": "disasm"})
             for number in (630, 740, 750)}
    for name, number in (("g52", "0x7212"), ("g57", "0x9091"), ("g610", "0xa867")):
        found[f"mali_{name}"] = Mesa("panfrost", "panfrost", mali,
                                     {"PAN_GPU_ID": number, "BIFROST_MESA_DEBUG": "shaders,shaderdb"})
    return found
