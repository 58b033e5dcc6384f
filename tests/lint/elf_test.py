"""elf.py finds what it looks for: small libraries that are wrong in one respect each."""
import os
import pathlib
import subprocess
import sys
import tempfile

GOOD = "-shared -fPIC -Wl,-soname,libx.so.0 -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack -Wl,-z,max-page-size=16384".split()
HOOK = "int tw_hook(int x) { return x + 1; }\n"
WRITES_CODE = '__asm__(".section both,\\"awx\\"\\n.long 1\\n.text");\n' + HOOK
ADDRESS_IN_CODE = '__asm__(".text\\n.globl tw_hook\\ntw_hook: .quad tw_hook + 8");\n'
NEWER = "int memfd_create(const char*, unsigned);\nint tw_hook(void) { return memfd_create(0, 0); }\n"
# (name, source, flags beside GOOD, options of elf.py, part of the message or nothing)
CASES = [
    ("good", HOOK, [], [], None),
    ("stack", HOOK, ["-Wl,-z,execstack"], [], "the stack can hold code"),  # without GOOD's opposite
    ("relro", HOOK, ["-Wl,-z,norelro"], [], "no RELRO"),
    ("late", HOOK, ["-Wl,-z,lazy"], [], "no NOW"),
    ("pages", HOOK, ["-Wl,-z,max-page-size=4096"], [], "aligned to 0x1000"),
    ("rpath", HOOK, ["-Wl,-rpath,/lib"], [], "RPATH"),
    ("text", ADDRESS_IN_CODE, ["-Wl,-z,notext"], [], "TEXTREL"),
    ("both", WRITES_CODE, [], [], "written and executed"),
    ("new", NEWER, [], ["--glibc", "2.17"], "needs glibc 2.27"),
    ("new_allowed", NEWER, [], ["--glibc", "2.27"], None),
    ("bionic", NEWER, [], ["--bionic"], "does not list: memfd_create"),
    ("bionic_good", "int close(int);\nint tw_hook(void) { return close(0); }\n", [], ["--bionic"], None),
]


def problem(folder, name, source, flags, options, expected):
    path = folder / f"lib{name}.so"
    good = [flag for flag in GOOD if flag.replace("noexec", "exec") not in flags]
    compiler = os.environ.get("CC", "cc")
    subprocess.run([compiler, "-x", "c", "-", "-o", path, *good, *flags], input=source, text=True, check=True,
                   stderr=subprocess.DEVNULL)
    lint = pathlib.Path(__file__).with_name("elf.py")
    done = subprocess.run([sys.executable, "-B", lint, path, *options], capture_output=True, text=True)
    said = done.stdout + done.stderr
    if expected is None:
        return said if done.returncode != 0 else None
    return None if done.returncode != 0 and expected in said else f"'{expected}' expected, exit {done.returncode}: {said}"


def main():
    with tempfile.TemporaryDirectory() as folder:
        found = [f"{case[0]}: {said}" for case in CASES if (said := problem(pathlib.Path(folder), *case))]
    if found:
        sys.exit("\n".join(found))
    print(f"{len(CASES)} libraries were judged rightly")


if __name__ == "__main__":
    main()
