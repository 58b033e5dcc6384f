"""Which files belong to the source tree: shared by the lints."""
import os
import subprocess

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
SKIPPED = 77  # Exit code: CTest shows Skipped.


def files(*extensions):
    """Paths relative to the root, sorted; what git tracks or would track, or all without git."""
    try:
        output = subprocess.run(
            ["git", "-c", "safe.directory=*", "-C", ROOT, "ls-files", "-z", "-co", "--exclude-standard"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout.decode()
        names = [name for name in output.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = list(walk())
    names = [name for name in names if os.path.isfile(os.path.join(ROOT, name))]
    return sorted({name for name in names if not extensions or name.endswith(extensions)})


def walk():
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [f for f in folders if f not in ("build", "install", ".git", ".venv", "__pycache__")]
        for name in names:
            yield os.path.relpath(os.path.join(folder, name), ROOT)


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()
