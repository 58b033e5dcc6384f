"""OpenCL files that a selection goes without (toolchains/embed_cl.cmake): no other operator asks for them.

Usage: kernel_files_test.py
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FUNCTION = re.compile(r"^[A-Za-z][^\n;#]*?\b(\w+)\([^;{}]*\)(?: const)? \{\n(.*?)^\}", re.M | re.S)


def table(text):
    """{program: its operators}"""
    return {name: operators.split() for name, operators in re.findall(r"set\(TW_KERNELS_OF_(\w+) ([A-Z0-9_ ]+)\)", text)}


def who_reaches(program, functions):
    """The functions that launch the program, and those that call them."""
    found = {name for name, body in functions if re.search(rf'Add\w*\([^;]*?"{program}"', body)}
    n = -1
    while n != len(found):
        n = len(found)
        calls = re.compile(rf"\b(?:{'|'.join(found)})[<(]")
        found |= {name for name, body in functions if found and calls.search(body)}
    return found


def operators_of(sources, plans):
    """The operators that have one of these functions as their .Gpu(...), without underscores: names as in OpCode."""
    found = set()
    for text in sources.values():
        for operator in text.split("OpDef(OpCode::k")[1:]:
            plan = re.search(r"\.Gpu\((\w+)", operator)
            if plan and plan[1] in plans:
                found.add(re.match(r"\w+", operator)[0].upper())
    return found


def failures(kernels, sources):
    """What is wrong with the table `kernels`, given all C++ {path: text}."""
    functions = [found for path, text in sources.items() if "_gpu." in path or "/gpu/" in path or "_gpu_" in path
                 for found in FUNCTION.findall(text)]
    said = []
    for program, operators in kernels.items():
        reaching = who_reaches(program, functions)
        asking = operators_of(sources, reaching)
        mine = {name.replace("_", "") for name in operators}
        if not asking:
            said.append(f"{program}: no operator is found that asks for it")
        if asking - mine:
            said.append(f"{program}: asked for by {sorted(asking - mine)}, too")
    return said


def main():
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "kernels").rglob("*")
               if path.suffix in (".cc", ".h")}
    kernels = table((ROOT / "toolchains" / "embed_cl.cmake").read_text())
    said = failures(kernels, sources)
    if len(kernels) < 5:
        said.append("embed_cl.cmake has no table")
    # The check itself: it finds an operator that was forgotten, of the same file and of another.
    if not any("MAXPOOL2D" in line for line in failures({"pool": ["AVERAGE_POOL_2D"]}, sources)):
        said.append("a forgotten MAX_POOL_2D is not found")
    if not any("'ADD'" in line for line in failures({"compare": ["EQUAL"]}, sources)):
        said.append("ADD needs compare.cl, which is not found")
    print("\n".join(said))
    sys.exit(bool(said))


if __name__ == "__main__":
    main()
