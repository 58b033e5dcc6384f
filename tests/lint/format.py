"""clang-format check of all C and C++ files. Exit 77 (skipped) where clang-format is missing.

Usage: format.py [--fix]
"""
import shutil
import subprocess
import sys

import tree

if shutil.which("clang-format") is None:
    print("SKIP format: clang-format is not installed (Debian: apt install clang-format)")
    sys.exit(tree.SKIPPED)
names = tree.files(".cc", ".h", ".hpp", ".c", ".cpp")
mode = ["-i"] if "--fix" in sys.argv else ["--dry-run", "--Werror"]
done = subprocess.run(["clang-format", *mode, *names], cwd=tree.ROOT, stderr=subprocess.PIPE)
if done.returncode != 0:
    errors = done.stderr.decode()
    bad = sorted({line.split(":")[0] for line in errors.splitlines() if ": error:" in line})
    sys.exit(errors[:4000] + "\nNot formatted (fix: clang-format -i):\n  " + "\n  ".join(bad))
print(f"{len(names)} files are formatted")
