"""The Debian packages: in order by lintian, complete, installed into a fresh root, used there and removed.

Usage: debian_test.py lint|install BUILD CPACK
BUILD is a build folder. Packages that ports/jetson/build.sh made there are taken; otherwise cpack makes them of what
is built, without debugging data. `install` takes a fresh Debian of toolchains/arm64_root.sh; for aarch64 qemu runs programs
there. Exit 77: a tool is missing (it says which).
"""
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
ROOT_SCRIPT = ROOT / "toolchains/arm64_root.sh"
SKIPPED = 77
ZOO = ROOT / "models/zoo"
NAMES = ("libtopwork0", "libtopwork-dev", "topwork-tools")
ALL = ("libtopwork0-dbgsym", "topwork-tools-dbgsym", *NAMES)
# Ubuntu 22.04's, on which JetPack 6 stands: what the packages may depend on at most.
NEWEST = {"libc6": (2, 35), "libstdc++6": (12,)}
MACHINES = {"x86_64": "amd64", "aarch64": "arm64"}
# What a user does with the packages, in the fresh root: /tmp/t holds the zoo's digits.
USE = r"""set -eu
cd /tmp/t
topwork --version
topwork info digits.tflite --json >info.json
topwork run digits.tflite --input data/test/digit_7/0413.png --top 1
topwork train digits.tflite --data data/train --output mine.tflite --optimizer lbfgs --epochs 20 --json >train.json
topwork evaluate mine.tflite --data data/test --json | grep '"top1"'
examples=/usr/share/doc/libtopwork-dev/examples
cc -std=c99 $examples/run_model.c -o run_model $(pkg-config --cflags --libs topwork)
./run_model mine.tflite
c++ -std=c++17 -O1 $examples/camera/*.cc -o camera $(pkg-config --cflags --libs topwork)
./camera digits.tflite frames learnt.checkpoint keys above below
test -f /usr/share/man/man1/topwork.1.gz
"""


def skip(why):
    print(f"SKIP debian: {why}")
    sys.exit(SKIPPED)


def call(*command, **options):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          **options)
    if done.returncode != 0:
        sys.exit(f"FAIL: {' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout[-4000:]}")
    return done.stdout


def packages_of(build, cpack, folder):
    """The three packages and, of build.sh, those with debugging data."""
    made = sorted(build.glob("*.deb"))
    if not made:
        call(cpack, "-G", "DEB", "-B", folder / "packages", cwd=build)
        made = sorted((folder / "packages").glob("*.deb"))
    if {path.name.split("_")[0] for path in made} - {f"{name}-dbgsym" for name in NAMES} != set(NAMES):
        sys.exit(f"FAIL: not the three packages: {made}")
    return made


def architecture(package):
    return call("dpkg-deb", "--field", package, "Architecture").strip()


def check_dependencies(packages):
    for package in packages:
        depends = call("dpkg-deb", "--field", package, "Depends")
        for name, version in re.findall(r"(\S+) \(>= ([\d.]+)\)", depends):
            if tuple(map(int, version.split("."))) > NEWEST.get(name, (99,)):
                sys.exit(f"FAIL: {package.name} wants {name} {version}, which JetPack 6 has not")


def lint(packages, folder):
    if shutil.which("lintian") is None:
        skip("lintian is not installed (Debian: apt install lintian)")
    check_dependencies(packages)
    # A build that was not configured for packages has its libraries in lib, not in the processor's folder.
    said = call("lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags",
                "pkg-config-unavailable-for-cross-compilation", *packages)
    library = next(path for path in packages if path.name.startswith("libtopwork0_"))
    call("dpkg-deb", "-x", library, folder / "files")
    shared = next((folder / "files/usr/lib").rglob("libtopwork.so.0.*"))
    (folder / "debian").mkdir()
    (folder / "debian/control").write_text("Source: topwork\n\nPackage: libtopwork0\nArchitecture: any\n")
    version = call("dpkg-deb", "--field", library, "Version").strip()
    # -c4: symbols that came, went or are another version's fail.
    call("dpkg-gensymbols", "-c4", "-plibtopwork0", f"-v{version}", f"-e{shared}", "-O/dev/null",
         f"-I{ROOT}/ports/jetson/debian/symbols", cwd=folder, env={"DEB_HOST_ARCH": architecture(library), "PATH": "/usr/bin"})
    if "soname: [libtopwork.so.0]" not in call("readelf", "-dW", shared):
        sys.exit("FAIL: SONAME is not libtopwork.so.0")
    print(said + "lintian, symbols and SONAME are in order")


def digits(folder):
    """The zoo's digits, and for the sample frames that are bright in the upper and in the lower half."""
    (folder / "frames").mkdir()
    (folder / "keys").write_text("12")
    for i in range(4):
        rows = [bytes([200 if (y < 8) == (i % 2 == 0) else 10] * 48) for y in range(16)]
        (folder / f"frames/{i}.ppm").write_bytes(b"P6 16 16 255\n" + b"".join(rows))
    shutil.copytree(ZOO / "data/digits", folder / "data")
    shutil.copy(ZOO / "digits_cnn_f32.tflite", folder / "digits.tflite")


def files_of(root):
    """Files of the system: not dpkg's data base, not the loader's cache."""
    skipped = ("var/lib/dpkg", "var/log", "var/cache", "etc/ld.so.cache", "tmp")
    names = (str(path.relative_to(root)) for folder in ("etc", "usr", "var", "tmp") for path in (root / folder).rglob("*"))
    return {name for name in names if not name.startswith(skipped)}


def fresh_root(folder, how, *packages):
    """Made once, in build/."""
    made = subprocess.run([ROOT_SCRIPT, how, folder, *packages], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if made.returncode != 0:
        skip(made.stdout[-500:])
    return folder / "root"


def install_here(packages, build):
    """Into the fresh root, by its own dpkg."""
    root = fresh_root(build.parent / "debian-root", "here", "g++", "libc6-dev", "pkg-config", "libsndfile1",
                      "libsoxr0")

    def inside(*command):
        return call("chroot", root, *command, env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"})

    shutil.rmtree(root / "tmp/t", ignore_errors=True)
    inside("dpkg", "--purge", *ALL)  # of a test that was killed
    before = files_of(root)
    (root / "tmp/t").mkdir()
    for package in packages:
        shutil.copy(package, root / "tmp/t")
    digits(root / "tmp/t")
    try:
        inside("sh", "-c", "dpkg --install /tmp/t/*.deb")
        said = inside("sh", "-c", USE)
        print(said)
        if not re.search(r"1 learnt below \(2 examples\)\n2 above .*\n3 below ", said):
            sys.exit("FAIL: the sample does not learn")
        if "libtopwork.so.0" not in inside("ldd", "/tmp/t/run_model"):
            sys.exit("FAIL: the program does not use the packages' library")
    finally:
        inside("dpkg", "--purge", *ALL)
        shutil.rmtree(root / "tmp/t")
    left = files_of(root) ^ before
    if left:
        sys.exit(f"FAIL: files that came or went for good: {sorted(left)[:20]}")
    print("installed into a fresh Debian 12, used and removed without a trace")


# The same for arm64, where no compiler is: the program comes from a cross compiler.
USE_ELSEWHERE = r"""set -eu
cd /tmp/t
topwork --version
topwork run digits.tflite --input data/test/digit_7/0413.png --top 1
topwork train digits.tflite --data data/train --output mine.tflite --optimizer lbfgs --epochs 5
./run_model mine.tflite
"""


def install_elsewhere(packages, build):
    """Into Debian for aarch64 in a folder, by this machine's dpkg; used there under qemu."""
    if shutil.which("aarch64-linux-gnu-gcc") is None:
        skip("g++-aarch64-linux-gnu is not installed")
    root = fresh_root(build.parent / "arm64-packages", "make", "dash", "coreutils", "libstdc++6")
    shutil.rmtree(root / "var/lib/dpkg", ignore_errors=True)
    for name in ("info", "updates", "triggers"):
        (root / "var/lib/dpkg" / name).mkdir(parents=True)
    for name in ("status", "available"):
        (root / "var/lib/dpkg" / name).touch()
    for needed in ("libc6", "libgcc-s1", "libstdc++6"):  # dpkg's data base there does not know what was unpacked
        if not (root / "usr/share/doc" / needed).exists():
            sys.exit(f"FAIL: the root has no {needed}")
    here = root / "tmp/t"
    shutil.rmtree(here, ignore_errors=True)
    before = files_of(root)
    here.mkdir(parents=True)
    digits(here)
    dpkg = ["dpkg", f"--root={root}", "--force-architecture", "--force-depends", "--force-script-chrootless", "--log=/dev/null"]
    try:
        call(*dpkg, "--install", *packages)
        libraries = next((root / "usr/lib").rglob("libtopwork.so")).parent
        call("aarch64-linux-gnu-gcc", "-std=c99", ROOT / "ports/examples/run_model.c", "-o", here / "run_model",
             f"-I{root}/usr/include", f"-L{libraries}", "-ltopwork")
        ran = subprocess.run([ROOT_SCRIPT, "run", root, "sh", "-c", USE_ELSEWHERE], stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True)
        if ran.returncode == SKIPPED:
            skip(ran.stdout)
        if ran.returncode != 0 or "class 7" not in ran.stdout:
            sys.exit(f"FAIL: exit {ran.returncode}\n{ran.stdout}")
        print(ran.stdout)
    finally:
        call(*dpkg, "--purge", *ALL)
        shutil.rmtree(here)
    left = files_of(root) ^ before
    if left:
        sys.exit(f"FAIL: files that came or went for good: {sorted(left)[:20]}")
    print("installed into an arm64 root, used under qemu and removed without a trace")


def main():
    what, build, cpack = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), sys.argv[3]
    if not (build / "libtopwork.so").exists():
        skip(f"nothing is built in {build.name} (ports/jetson/build.sh builds it)")
    if shutil.which("dpkg-gensymbols") is None:
        skip("dpkg-dev is not installed (Debian: apt install dpkg-dev)")
    with tempfile.TemporaryDirectory(prefix="topwork_debian_") as name:
        folder = pathlib.Path(name)
        packages = packages_of(build, cpack, folder)
        if what == "lint":
            lint(packages, folder)
        elif architecture(packages[0]) == MACHINES.get(platform.machine()):
            install_here(packages, build)
        else:
            install_elsewhere(packages, build)


main()
