"""The C API's binary interface is the recorded one (topwork.abi.gz), by libabigail.

A library is compiled of the headers alone, each function an empty one, so that its debugging data says what
programs rely on: symbols, arguments, layouts of structs, values of enums. The real library is compiled with the
same headers, and lint/library.py compares its symbols.

Usage: abi_test.py CC            exit 77: libabigail is missing, or another processor than the record's
       abi_test.py CC --record   writes the record anew; do it in the commit that changes the interface
"""
import gzip
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
HEADERS = ROOT / "runtime/include/topwork"
EXPORTS = ROOT / "runtime/api/exports.map"
RECORD = pathlib.Path(__file__).with_name("topwork.abi.gz")
INCOMPATIBLE = 8  # bit of abidiff's exit code; 4: the interfaces differ


def empty_functions(headers):
    text = re.sub(r"//[^\n]*", "", "\n".join(headers.values()))
    declared = re.findall(r"TW_API\s+([^;{]*?\));", text, re.S)
    return "#include <topwork/topwork.h>\n" + "".join(f"{one} {{ __builtin_trap(); }}\n" for one in declared)


def interface(cc, folder, headers):
    """The file that abidw writes for these texts of the headers."""
    include = folder / "include/topwork"
    include.mkdir(parents=True, exist_ok=True)
    for name, text in headers.items():
        (include / name).write_text(text)
    (folder / "empty.c").write_text(empty_functions(headers))
    library = folder / "libtopwork.so.0"
    subprocess.run([cc, "-g", "-shared", "-fPIC", f"-I{folder}/include", folder / "empty.c", "-o", library,
                    "-Wl,-soname,libtopwork.so.0", f"-Wl,--version-script={EXPORTS}"], check=True)
    out = folder / "interface.abi"
    subprocess.run(["abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed",
                    "--headers-dir", folder / "include", "--out-file", out, library], check=True)
    return out


def differences(cc, folder, headers):
    """(bits of abidiff's exit code, its report)"""
    recorded = folder / "recorded.abi"
    recorded.write_bytes(gzip.decompress(RECORD.read_bytes()))
    done = subprocess.run(["abidiff", "--no-show-locs", recorded, interface(cc, folder, headers)],
                          capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def check_the_check(cc, folder, headers):
    """A function less, an argument more, a moved field and another value of an enum must be found."""
    changes = {"a function less": (r"TW_API const char\* tw_version\(void\);", ""),
               "an argument more": (r"tw_version\(void\)", "tw_version(int more)"),
               "a field's type": (r"int32_t n_threads;", "int64_t n_threads;"),
               "an enum's value": (r"TW_STATUS_IO = 5", "TW_STATUS_IO = 55")}
    for what, (pattern, text) in changes.items():
        changed = {name: re.sub(pattern, text, header) for name, header in headers.items()}
        if changed == headers or differences(cc, folder, changed)[0] == 0:
            sys.exit(f"abi_test.py does not find {what}")


def main():
    cc = sys.argv[1]
    missing = [tool for tool in ("abidw", "abidiff") if shutil.which(tool) is None]
    if missing or platform.machine() != "x86_64":
        print(f"SKIP abi: {' and '.join(missing) or 'x86-64'} missing (Debian: apt install abigail-tools)")
        sys.exit(77)
    headers = {path.name: path.read_text() for path in sorted(HEADERS.glob("*.h"))}
    with tempfile.TemporaryDirectory(prefix="topwork_abi_") as name:
        folder = pathlib.Path(name)
        if "--record" in sys.argv:
            RECORD.write_bytes(gzip.compress(interface(cc, folder, headers).read_bytes(), 9, mtime=0))
            return
        bits, report = differences(cc, folder, headers)
        if bits != 0:
            advice = ("Programs break: raise the version that a consumer must ask for (TW_VERSION_MINOR while the major "
                      "is 0). " if bits & INCOMPATIBLE else "")
            sys.exit(f"{report}\nThe interface is not the recorded one. {advice}If the change is meant, record it: "
                     f"python3 {pathlib.Path(__file__).relative_to(ROOT)} cc --record")
        check_the_check(cc, folder, headers)
    print("the C API's binary interface is the recorded one")


main()
