"""Runs one file of tests of the installed Python package by pytest; its skips are printed with their reasons.

Usage: run_test.py PYTHON FILE
Exit 77 (skipped) where all of them are, or PYTHON is not there.
"""
import os
import subprocess
import sys

SKIPPED = 77
NO_TESTS = 5  # pytest's exit status where it has run none
HERE = os.path.dirname(os.path.abspath(__file__))
STAGE = os.path.normpath(os.path.join(HERE, "..", "..", "..", "build", "python", "stage"))


def main():
    python, name = sys.argv[1:]
    if not os.path.exists(python):
        print(f"SKIP python {name}: {python} is not there (toolchains/install-deps.sh)")
        sys.exit(SKIPPED)
    environment = dict(os.environ, PYTHONPATH=STAGE, PYTHONDONTWRITEBYTECODE="1", TF_CPP_MIN_LOG_LEVEL="3")
    done = subprocess.run([python, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider", "--tb=short",
                           os.path.join(HERE, name)], env=environment, cwd=HERE)
    if done.returncode == NO_TESTS:
        print(f"SKIP python {name}: see the reasons above")
        sys.exit(SKIPPED)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
