"""OpenCL implementations in folders of their own: from Debian's packages, each suite unpacked into a folder that is
a root; from PyPI; and the machine's own. Nothing is installed on the machine.

No package's scripts run: an implementation needs nothing but files. A folder is made once and kept; another recipe
makes it anew.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The second line: what the programs of the build need.
PACKAGES = ("ocl-icd-libopencl1,pocl-opencl-icd,mesa-opencl-icd,dash,coreutils,"
            "libsndfile1,libsoxr0")
WHEELS = ("intel-opencl-rt", "intel-cmplr-lib-rt")
VENDORS = {"PoCL": "pocl.icd", "rusticl": "rusticl.icd"}
INSIDE = "/srv"  # where a root has the folders that are lent to it


class Missing(Exception):
    """Why there is no such implementation here."""


def last_line(path):
    lines = path.read_text(errors="replace").strip().splitlines() if path.exists() else []
    return lines[-1] if lines else "it said nothing"


def make(folder, recipe, command):
    """Runs the command, whose output goes to the folder's log, unless the folder was made by this recipe."""
    made = folder / "made"
    if made.exists() and made.read_text() == recipe:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with open(folder / "log", "wb") as log:
        done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Missing(f"{command[0]} failed: {last_line(folder / 'log')}")
    made.write_text(recipe)


def mirror():
    """The address that this machine gets Debian's packages from."""
    if not shutil.which("apt-get"):
        raise Missing("this machine is no Debian")
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(SITE)"],
                            capture_output=True, text=True, check=False).stdout
    for site in listed.splitlines():
        if re.search(r"/debian/*$", site):
            return site.rstrip("/")
    raise Missing("this machine gets its packages from no mirror of Debian")


class Host:
    """What the machine itself has."""

    name = "the machine's own"

    def prepare(self):
        return self

    def place(self, path):
        """The file as commands name it."""
        return str(path)

    def run(self, command, environment, seconds):
        return subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True,
                              errors="replace", timeout=seconds, check=False)

    def environment(self):
        return {}


class Debian:
    """An implementation of a suite of Debian, by root's rights in a root of its own."""

    def __init__(self, kind, suite, folder):
        self.name = f"{kind}, Debian {suite}"
        self.kind, self.suite, self.folder = kind, suite, folder / suite
        self.lent = {}  # folder of the machine: its name inside

    def prepare(self):
        if os.geteuid() != 0:
            raise Missing("only root can use a root")
        if not shutil.which("mmdebstrap"):
            raise Missing("mmdebstrap is missing (Debian: apt install mmdebstrap)")
        # A mirror that is a copy of some day's archive has lists that are older than they say they may be.
        options = ["--variant=extract", '--aptopt=Acquire::Check-Valid-Until "false"', f"--include={PACKAGES}",
                   "--hook-dir=/usr/share/mmdebstrap/hooks/merged-usr"]
        make(self.folder, " ".join([self.suite, *options]),
             ["mmdebstrap", *options, self.suite, str(self.folder / "root"), mirror()])
        for name in ("proc", "sys", "dev", "tmp", "srv"):
            (self.folder / "root" / name).mkdir(exist_ok=True)
        if not (self.folder / "root/etc/OpenCL/vendors" / VENDORS[self.kind]).exists():
            raise Missing(f"Debian {self.suite} has no {VENDORS[self.kind]}")
        return self

    def place(self, path):
        folder = path if path.is_dir() else path.parent
        inside = self.lent.setdefault(folder, f"{INSIDE}/{len(self.lent)}")
        return inside if path.is_dir() else f"{inside}/{path.name}"

    def run(self, command, environment, seconds):
        root = self.folder / "root"
        # Mounts of our own: they end with the command.
        steps = ['mount -t proc proc "$0/proc"', 'mount --rbind /sys "$0/sys"', 'mount --rbind /dev "$0/dev"']
        for folder, inside in self.lent.items():
            (root / inside[1:]).mkdir(exist_ok=True)
            steps.append(f'mount --bind "{folder}" "$0{inside}"')
        steps.append('exec chroot "$0" "$@"')
        return subprocess.run(["unshare", "--mount", "sh", "-c", " && ".join(steps), str(root), *command],
                              env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/tmp", **environment}, capture_output=True,
                              text=True, errors="replace", timeout=seconds, check=False)

    def environment(self):
        return {"OCL_ICD_VENDORS": f"/etc/OpenCL/vendors/{VENDORS[self.kind]}", "RUSTICL_ENABLE": "llvmpipe"}


class Intel(Host):
    """Intel's runtime for processors, from PyPI."""

    name = "Intel's runtime for CPUs, PyPI"

    def __init__(self, folder):
        self.folder = folder / "intel"

    def prepare(self):
        place = self.folder / "venv"
        script = f'"{sys.executable}" -m venv "{place}" && "{place}/bin/pip" install -q {" ".join(WHEELS)}'
        make(self.folder, script, ["sh", "-c", script])
        library = place / "lib" / "libintelocl.so"
        if not library.exists():
            raise Missing(f"{WHEELS[0]} has no {library.name}")
        (self.folder / "intel.icd").write_text(f"{library}\n")
        return self

    def environment(self):
        return {"OCL_ICD_VENDORS": str(self.folder / "intel.icd")}


def implementations(folder):
    yield Host()
    for suite in ("trixie", "sid"):
        for kind in VENDORS:
            yield Debian(kind, suite, folder)
    yield Intel(folder)
