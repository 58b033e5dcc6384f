"""Scripts that install and build refuse what they do not take before they do anything, with a sentence and exit code 2.

Usage: script_arguments_test.py
"""
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RUN = "tests/run.sh"
QUICK_START = "ports/linux/quickstart.sh"
FILE = str(ROOT / "README.md")
# The script, its arguments, what it must say of them.
REFUSED = [
    (RUN, ["--lnog"], "unknown argument '--lnog'"),
    (RUN, ["unit"], "unknown argument 'unit'"),
    (RUN, ["--long", "-R"], "-R has no value after it"),
    (RUN, ["-R", "unit", "--long", "more"], "unknown argument 'more'"),
    (RUN, [""], "unknown argument ''"),
    (QUICK_START, ["--fast"], "unknown argument '--fast'"),
    (QUICK_START, ["here", "-x"], "unknown argument '-x'"),
    (QUICK_START, ["here", FILE, "more"], "'more' is one more"),
    (QUICK_START, [FILE], "is a file, not a folder"),
    (QUICK_START, ["here", "absent"], "absent' is no program"),
    (QUICK_START, ["here", FILE], "README.md' is no program"),
    ("toolchains/install-deps.sh", ["tests"], "unknown part 'tests'"),
    ("toolchains/arm64_root.sh", ["mkae"], "Usage"),
]


def main():
    problems = []
    with tempfile.TemporaryDirectory(prefix="topwork_arguments_") as empty:
        # With no tool but these on its path a script that would begin to work ends with another code.
        tools = pathlib.Path(empty) / "tools"
        tools.mkdir()
        for name in ("sh", "dirname", "sed", "nproc", "cat", "uname", "pwd"):
            (tools / name).symlink_to(next(p for folder in os.environ["PATH"].split(":")
                                           if (p := pathlib.Path(folder) / name).exists()))

        def call(script, arguments):
            return subprocess.run(["sh", str(ROOT / script), *arguments], cwd=empty, capture_output=True, text=True,
                                  env={"PATH": str(tools)})
        for script, arguments, text in REFUSED:
            done = call(script, arguments)
            if done.returncode != 2 or text not in done.stderr or done.stdout:
                problems.append(f"{script} {arguments} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        for script in (RUN, QUICK_START):
            done = call(script, ["--help"])
            if done.returncode != 0 or f"Usage: {script}" not in done.stdout:
                problems.append(f"{script} --help ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        if sorted(path.name for path in pathlib.Path(empty).iterdir()) != ["tools"]:
            problems.append("something was written")
    print("\n".join(problems) or "ok")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
