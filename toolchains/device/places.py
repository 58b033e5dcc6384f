"""Where programs run: this machine (plain, under qemu, in another root folder), a host by ssh, an Android device by adb.

A place has one folder. `push` puts files there, `run` runs shell text in it and hands its lines on as they come,
`pull` reads a file of it. The shell text is POSIX; sh, sed, cat, tee, sha256sum and (by ssh) tar are all it needs.
"""
import hashlib
import io
import os
import pathlib
import shlex
import shutil
import subprocess
import tarfile
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
END = "__topwork_exit "  # old versions of adb lose the exit code, and a lost connection prints no such line


class Lost(Exception):
    """The connection broke before the command ended."""


def listen(command, text, on_line, **options):
    """Runs the command, gives each line of its output to `on_line`; the exit code that the shell text prints, else Lost.

    What the command says of the connection (a banner, a warning of ssh) lies on standard error and is no output.
    """
    code = None
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=said, text=True,
                                 errors="replace", **options)
        for line in child.stdout:
            line = line.rstrip("\r\n")
            before, marker, number = line.rpartition(END)
            if marker and number.isdigit():
                code = int(number)
                line = before
            if line or not marker:
                on_line(line)
        child.wait()
        said.seek(0)
        words = said.read().split()
    if code is None:
        reason = ": " + " ".join(words)[-200:] if words else ""
        raise Lost(f"{text.strip().splitlines()[-1][:80]}: no exit code came back "
                   f"({command[0]} ended with {child.returncode}{reason})")
    return code


class Absent(Exception):
    """This machine cannot have the place; the tests there are skipped."""


class Place:
    emulator = ""  # is written before each program
    wait = 3.0  # seconds before a lost connection is made again

    def __init__(self, folder):
        self.folder = str(folder)

    def program(self, name):
        return f"{self.emulator}./{name}"

    def shell(self, text):
        """The command, for subprocess, that runs the text."""
        raise NotImplementedError

    def options(self):
        return {}

    def run(self, text, on_line=lambda line: None):
        whole = f"{{ cd {shlex.quote(self.folder)} && {{ {text}\n}}; }} 2>&1; echo {shlex.quote(END)}$?"
        return listen(self.shell(whole), text, on_line, **self.options())

    def output(self, text):
        lines = []
        code = self.run(text, lines.append)
        return code, "\n".join(lines)

    def pull(self, name):
        """The bytes of a text file, or None."""
        code, text = self.output(f"cat {shlex.quote(name)} 2>/dev/null")
        return text if code == 0 else None

    def push(self, files):
        """files: [(path here, name there)]; those that are there already stay."""
        self.make_folder()
        names = " ".join(shlex.quote(name) for _, name in files)
        there = dict(reversed(line.split("  ", 1)) for line in self.output(f"sha256sum {names} 2>/dev/null")[1].splitlines()
                     if line.count("  ") == 1)
        new = [(path, name) for path, name in files
               if there.get(name) != hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()]
        if new:
            self.send(new)
        return len(new)

    def reconnect(self):
        time.sleep(self.wait)


class Here(Place):
    """This machine; with a processor's name under qemu for the triple."""

    def __init__(self, folder, triple=None, cpu=None):
        super().__init__(pathlib.Path(folder).resolve())
        if triple:
            machine = {"powerpc64le": "ppc64le"}.get(triple.split("-")[0], triple.split("-")[0])
            qemu = shutil.which(f"qemu-{machine}-static") or shutil.which(f"qemu-{machine}")
            if qemu is None:
                raise SystemExit(f"qemu-{machine} is missing (Debian: apt install qemu-user-static)")
            libraries = f"-L /usr/{triple} " if os.path.isdir(f"/usr/{triple}") else ""
            self.emulator = f"{qemu} {libraries}{f'-cpu {cpu} ' if cpu else ''}"

    def shell(self, text):
        return ["sh", "-c", text]

    def make_folder(self):
        os.makedirs(self.folder, exist_ok=True)

    def send(self, files):
        for path, name in files:
            target = pathlib.Path(self.folder, name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            try:
                os.link(pathlib.Path(path).resolve(), target)
            except OSError:  # another file system
                shutil.copy(path, target)


class Root(Here):
    """A folder with another processor's Debian (toolchains/arm64_root.sh)."""

    script = str(ROOT / "toolchains" / "arm64_root.sh")

    def __init__(self, folder):
        super().__init__(pathlib.Path(folder) / "root" / "topwork")
        self.root = str(pathlib.Path(folder) / "root")
        for command in (["opencl", str(folder)], ["run", self.root, "/bin/true"]):
            done = subprocess.run([self.script, *command], stderr=subprocess.PIPE, text=True)
            if done.returncode != 0:
                raise Absent(done.stderr.strip()) if done.returncode == 77 else SystemExit(done.stderr)

    def shell(self, text):
        text = text.replace(self.folder, "/topwork")
        return [self.script, "run", self.root, "/bin/sh", "-c", text]


def need(program, package):
    if shutil.which(program) is None:
        raise SystemExit(f"the command {program} is missing (Debian: apt install {package})")


class Ssh(Place):
    def __init__(self, host, folder, config=None):
        super().__init__(folder)
        need("ssh", "openssh-client")
        self.command = ["ssh", *(["-F", config] if config else []), "-o", "BatchMode=yes", "-o", "ConnectTimeout=20",
                        "-o", "ServerAliveInterval=15", host]

    def shell(self, text):
        return [*self.command, f"sh -c {shlex.quote(text)}"]

    def make_folder(self):
        done = subprocess.run([*self.command, f"mkdir -p {shlex.quote(self.folder)}"], capture_output=True, text=True)
        if done.returncode != 0:
            raise Lost(done.stderr.strip())

    def send(self, files):
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w", dereference=True) as archive:
            for path, name in files:
                archive.add(path, name)
        done = subprocess.run([*self.command, f"cd {shlex.quote(self.folder)} && tar xf -"], input=data.getvalue(),
                              capture_output=True)
        if done.returncode != 0:
            raise Lost(done.stderr.decode(errors="replace").strip())


class Adb(Place):
    patience = 600  # seconds until a device that is away counts as lost

    def __init__(self, serial, folder):
        super().__init__(folder)
        program = os.environ.get("ADB", "adb")
        need(program, "adb")
        self.command = [program, "-s", serial]

    def shell(self, text):
        return [*self.command, "shell", text]

    def call(self, *arguments):
        done = subprocess.run([*self.command, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise Lost(done.stdout.strip())

    def make_folder(self):
        self.call("shell", f"mkdir -p {shlex.quote(self.folder)}")

    def send(self, files):
        folders = sorted({os.path.dirname(name) for _, name in files} - {""})
        if folders:
            self.run("mkdir -p " + " ".join(map(shlex.quote, folders)))
        for path, name in files:
            self.call("push", str(pathlib.Path(path).resolve()), f"{self.folder}/{name}")
        self.run("chmod 755 " + " ".join(shlex.quote(name) for _, name in files))

    def reconnect(self):
        super().reconnect()
        try:
            subprocess.run([*self.command, "wait-for-device"], timeout=self.patience, stdout=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            raise Lost(f"no device {self.command[-1]} came back within {self.patience} seconds") from None
