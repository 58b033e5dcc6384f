#!/usr/bin/env python3
"""Compiles every OpenCL program of the library for GPUs that need not be there, and compares what their compilers
made with the tables in tables/.

Usage: compilers.py [--record] [--gpu NAME]... [--cache FOLDER] TOPWORK_TESTS
  TOPWORK_TESTS  the test binary: it lists the programs, with the options that the library gives to drivers
  --gpu NAME     sm_87, gfx1030 (both by default), adreno_630, adreno_740, adreno_750, mali_g52, mali_g57, mali_g610;
                 may be given several times; `mesa` stands for the last six
  --record       writes the tables anew
  --make-mesa    makes Mesa's compilers where they are missing (mesa.sh: takes minutes)
  --cache FOLDER  keeps figures by the content of programs, options and compilers (default: build/gpu_compilers/cache)
Exit 77: a compiler is missing; it says how to install it. A program that does not compile, a spill, private memory,
or a hot loop with 5 % more instructions or loads per multiply-add fails.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys
import tempfile

import amd
import clang
import loops
import mesa
import nvidia
import table

SKIPPED = 77
FAST = {"sm_87": nvidia, "gfx1030": amd}
GPUS = {**FAST, **mesa.gpus()}
FAMILIES = {"sm": "NVIDIA", "gfx1030": "AMD", "adreno": "Adreno", "mali": "Mali"}  # by the names of GPUs


def programs(binary, gpus):
    """{gpu: [(name, options, source)]} of what the library gives to drivers."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([binary, "[gpu-programs]"], env={**os.environ, "TOPWORK_WRITE_PROGRAMS": folder},
                       stdout=subprocess.DEVNULL, check=True)
        for gpu in gpus:
            with open(os.path.join(folder, f"{FAMILIES[gpu.split('_')[0]]}.txt"), encoding="utf-8") as file:
                lines = [line.split() for line in file]
            sources = {}
            for name in {line[0] for line in lines}:
                with open(os.path.join(folder, f"{name}.cl"), encoding="utf-8") as file:
                    sources[name] = file.read()
            found[gpu] = [(name, " ".join(options), sources[name]) for name, *options in lines]
    return found


def own_text(gpu):
    """What a GPU's figures depend on besides programs and compilers."""
    reader = mesa.__file__ if isinstance(GPUS[gpu], mesa.Mesa) else GPUS[gpu].__file__
    texts = []
    for path in (loops.__file__, clang.__file__, reader):
        with open(path, encoding="utf-8") as file:
            texts.append(file.read())
    return "".join(texts)


def figures(gpu, source, options, cache, salt):
    """{kernel: figures} of a program, from the cache or a compiler; a string where that refused it."""
    key = hashlib.sha256("\0".join((gpu, source, options, salt)).encode()).hexdigest()
    path = os.path.join(cache, f"{key}.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    with tempfile.TemporaryDirectory() as folder:
        try:
            rows = GPUS[gpu].compile_program(source, options, folder)
        except clang.Failed as failed:
            return str(failed)
    with tempfile.NamedTemporaryFile("w", dir=cache, delete=False, encoding="utf-8") as file:
        json.dump(rows, file)
    os.replace(file.name, path)
    return rows


def compile_all(gpu, listed, cache):
    """(rows as table.write takes them, messages about programs that do not compile)."""
    salt = own_text(gpu) + GPUS[gpu].version()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda one: figures(gpu, one[2], one[1], cache, salt), listed))
    rows, failed = {}, []
    for (name, options, _), result in zip(listed, results):
        if isinstance(result, str):
            failed.append(f"{gpu}: {name}.cl {options} does not compile:\n{result}")
            continue
        rows.update({(name, options, kernel): row for kernel, row in result.items()})
    return rows, failed


def check(gpu, rows):
    """Messages about rows that the table does not allow; prints where the table cannot tell."""
    version, before = table.read(gpu)
    if version != GPUS[gpu].version():
        print(f"{gpu}: the table was made by {version or 'nobody'}, here is {GPUS[gpu].version()}: not compared")
        return []
    problems = [f"{gpu}: {' '.join(key)}: {text}" for key, text in table.compare(rows, before)]
    if problems:
        problems.append(f"{gpu}: if that is meant, write the tables anew: {sys.argv[0]} --record")
    return problems


def lacking(gpus):
    """Why a GPU's compiler cannot run; None where all can."""
    for gpu in gpus:
        what = GPUS[gpu].missing()
        if what:
            return f"{gpu}: {', '.join(what)} missing; run {getattr(GPUS[gpu], 'INSTALL', 'toolchains/install-deps.sh test')}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--gpu", action="append", choices=[*GPUS, "mesa"])
    parser.add_argument("--make-mesa", action="store_true")
    parser.add_argument("--cache", default=os.path.join(clang.ROOT, "build", "gpu_compilers", "cache"))
    arguments = parser.parse_args()
    gpus = [gpu for name in arguments.gpu or FAST for gpu in (mesa.gpus() if name == "mesa" else [name])]
    if arguments.make_mesa:
        subprocess.run([os.path.join(clang.ROOT, mesa.Mesa.INSTALL)], check=False)
    reason = lacking(gpus)
    if reason:
        print(f"SKIP: {reason}")
        return SKIPPED
    os.makedirs(arguments.cache, exist_ok=True)
    listed = programs(arguments.binary, gpus)
    problems = []
    for gpu in gpus:
        rows, failed = compile_all(gpu, listed[gpu], arguments.cache)
        problems += failed
        if arguments.record:
            table.write(gpu, GPUS[gpu].version(), rows)
        else:
            problems += check(gpu, rows)
        print(f"{gpu}: {len(listed[gpu])} programs, {len(rows)} kernels")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
