"""A fresh Debian 12 in build/debian-root, made once by debootstrap from this machine's own Debian mirror:
packages are installed there and nowhere else."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77
INCLUDED = "g++,libc6-dev,pkg-config"  # what compiles programs


def skip(why):
    print(f"SKIP debian: {why}")
    sys.exit(SKIPPED)


def mirror():
    """Where this machine gets Debian from; None: unknown."""
    said = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE) $(RELEASE)"], capture_output=True, text=True)
    found = re.search(r"(\S+/debian)/? bookworm$", said.stdout, re.M)
    return found.group(1) if found else None


def fresh_root(build):
    """The root's folder; ends the test as skipped where none can be made."""
    root = pathlib.Path(build).resolve().parent / "debian-root"
    if (root / "made").exists():
        return root
    if os.geteuid() != 0:
        skip("a root is made, and used, by root alone")
    if shutil.which("debootstrap") is None:
        skip("debootstrap is not installed (Debian: apt install debootstrap)")
    site = mirror()
    if site is None:
        skip("this machine gets its packages from no mirror of Debian 12")
    shutil.rmtree(root, ignore_errors=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", f"--include={INCLUDED}", "bookworm", root, site],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        skip(f"debootstrap could not make a root, probably without a network:\n{done.stdout[-500:]}")
    (root / "made").touch()
    return root
