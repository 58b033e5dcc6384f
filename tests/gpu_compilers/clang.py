"""OpenCL C to a GPU's assembler by Debian's clang and libclc."""

import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = "clang-19"
BUILTINS = "/usr/lib/clc"  # of the package libclc-19


class Failed(Exception):
    """A compiler refused a program; its message."""


def find(name, place):
    """`place` where that is a file, else the program of that name; None."""
    return place if os.access(place, os.X_OK) else shutil.which(name)


def missing(library):
    """What clang lacks to use that library of OpenCL's functions."""
    lacking = [] if shutil.which(PROGRAM) else [PROGRAM]
    return lacking + ([] if os.path.exists(os.path.join(BUILTINS, library)) else [f"libclc-19 ({library})"])


def version():
    text = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, check=True).stdout
    return f"clang {text.split('version ')[1].split()[0]}"


def run(command, text=None):
    """What the command says; Failed with it where the command fails."""
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    if done.returncode != 0:
        raise Failed(said[-4000:])
    return said


def assemble(source, options, triple, processor, library, output):
    """Writes the processor's assembler for a program. Drivers compile functions that are `inline` with it."""
    run([PROGRAM, "-x", "cl", f"--target={triple}", "-nogpulib", "-O3", "-w", "-fgnu89-inline", "-Xclang", "-target-cpu", "-Xclang",
         processor, "-Xclang", "-mlink-builtin-bitcode", "-Xclang", os.path.join(BUILTINS, library), *options.split(),
         "-S", "-o", output, "-"], source)
