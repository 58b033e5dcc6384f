"""Compares the outputs of two builds of topwork to the bit, on each instruction set.

    same_bits.py OLD NEW MODEL_OR_FOLDER...   OLD and NEW: two topwork commands

Each model runs once on random input of the same seed, on one thread of the CPU, with each instruction set
that the processor has. Prints the models whose outputs, exit codes or messages differ; exits with 1 then.
Needs the standard library only.
"""
import argparse
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

ISAS = ("baseline", "avx2", "avx512", "dotprod")


def runnable(command, model, isa):
    done = run(command, model, isa)
    return "TOPWORK_ISA" not in done[1]


def run(command, model, isa):
    """(exit code, message, SHA-256 of the outputs) of one run."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [command, "run", model, "--seed", "1", "--device", "cpu", "--threads", "1", "--output", folder],
            env={**os.environ, "TOPWORK_ISA": isa}, capture_output=True, check=False)
        digest = hashlib.sha256()
        for path in sorted(pathlib.Path(folder).iterdir()):
            digest.update(path.name.encode() + path.read_bytes())
        return done.returncode, done.stderr.decode(errors="replace"), digest.hexdigest()


def models(paths):
    for path in map(pathlib.Path, paths):
        yield from sorted(path.rglob("*.tflite")) if path.is_dir() else [path]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("paths", nargs="+")
    options = parser.parse_args()
    files = list(models(options.paths))
    isas = [isa for isa in ISAS if runnable(options.new, files[0], isa)]
    n_equal, n_refused, different = 0, 0, []
    for model in files:
        for isa in isas:
            old, new = run(options.old, model, isa), run(options.new, model, isa)
            if (old[0], old[2]) == (new[0], new[2]):
                n_equal += 1
                n_refused += new[0] != 0
            else:
                different.append(f"{model.name} on {isa}: exit {old[0]} and {new[0]}; {new[1].strip()}")
    print("\n".join(different))
    print(f"{n_equal} runs equal ({n_refused} of them refused by both), {len(different)} different: "
          f"{len(files)} models on {', '.join(isas)}")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
