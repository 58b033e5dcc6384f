"""Writes often.ld beside this file: the functions that opening, planning and running a model call.

  python3 often.py LIBTOPWORK MODEL...     LIBTOPWORK: of a release build of gcc; needs valgrind

The linker puts them side by side (../library.cmake): a process takes 64 KB of a file around each page that it
touches, and little of the library is needed to run a model. Names that no longer exist do no harm, and a
function that is missing lies where it would lie anyway: it is enough to write the list anew now and then.
"""
import concurrent.futures
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
PEERS = HERE.parents[1] / "tests" / "peers"  # what compare.py runs Topwork with
PROGRAM = """
import compare_engine, compare_topwork, sys
engine = compare_topwork.Topwork(sys.argv[1])
engine.open(sys.argv[2], 1, 1)
engine.fill(compare_engine.input_bytes)
engine.run()
"""
HEAD = "/* Functions that running a model calls, put side by side. Written by often.py. */\n"
# Loops of an instruction set lie together as it is.
LOOPS = re.compile(r"7topwork(8baseline|4avx2|7avxvnni|6avx512|3amx|7dotprod|4i8mm|5eigen)")


def symbols(library):
    """Address of each function by its name."""
    rows = subprocess.run(["nm", "--defined-only", library], check=True, capture_output=True, text=True).stdout
    return {name: at for at, kind, name in map(str.split, rows.splitlines()) if kind in "tTwW"}


def called(library, model):
    with tempfile.TemporaryDirectory() as folder:
        profile = pathlib.Path(folder, "profile")
        subprocess.run(["valgrind", "--tool=callgrind", "--demangle=no", f"--callgrind-out-file={profile}",
                        sys.executable, "-c", PROGRAM, library, model],
                       check=True, capture_output=True, env={"PYTHONPATH": str(PEERS), "TOPWORK_CACHE": folder})
        # "fn=(12) name": the number stands for the name from then on.
        text = profile.read_text(encoding="utf-8", errors="replace")
    return re.findall(r"^c?fn=\(\d+\) ([^\s']+)", text, re.M)


def main():
    library, *models = sys.argv[1:]
    places = symbols(library)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        found = {places.get(name) for names in pool.map(lambda model: called(library, model), models) for name in names}
    names = sorted(name for name, at in places.items() if at in found and not LOOPS.search(name))
    rows = "".join(f"    *(.text.{name} .text.{name}.* .text.hot.{name})\n" for name in names)
    script = HEAD + "SECTIONS {\n  .text.often : {\n" + rows + "  }\n}\nINSERT BEFORE .text;\n"
    (HERE / "often.ld").write_text(script, encoding="ascii")
    print(f"{len(names)} functions of {len(models)} models")


if __name__ == "__main__":
    main()
