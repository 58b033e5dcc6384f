"""train: runs that share a file at the same time. The second is refused and told who has it; no
example and no head is lost.

Usage: sharing_test.py TOPWORK
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

from cli_support import DIGITS_8X8, DIGITS_CNN, Checks, run

BUSY = 5
DATA = ["--data", DIGITS_8X8 / "train"]
TEST = ["--data", DIGITS_8X8 / "test"]
LOCKED = (("--memory", ["--lr", "0.01"]), ("--checkpoint", []), ("--cache", []))


def start(tool, output, *arguments):
    """A run that goes on until it is stopped."""
    environment = dict(os.environ, NO_COLOR="1", TOPWORK_AUTO_DEVICE="off")
    return subprocess.Popen(
        [str(tool), "train", str(DIGITS_CNN), *map(str, DATA), "--output", str(output),
         "--epochs", "1000000", *map(str, arguments)], env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def wait_for(path, process):
    while not pathlib.Path(path).exists() and process.poll() is None:
        time.sleep(0.01)


def check_refused(checks, tool, here, flag, more):
    path = here / ("shared" + flag)
    lock = pathlib.Path(str(path) + ".lock")
    output = here / ("second%s.tflite" % flag)
    second = ["train", DIGITS_CNN, *DATA, "--output", output, "--epochs", "1",
              flag, path, *more]
    first = start(tool, here / "first.tflite", flag, path, *more)
    try:
        wait_for(lock, first)
        refused = run(tool, *second)
        checks.expect(refused.returncode == BUSY and first.poll() is None and
                      ("in use by process %d (topwork)" % first.pid) in refused.stderr and
                      path.name in refused.stderr, "%s: %d %s" % (
                          flag, refused.returncode, refused.stderr))
        checks.expect(not output.exists(), flag + ": a refused run has written")
    finally:
        first.kill()
        first.wait()
    # The lock of a killed run counts no more, and the run that follows leaves none behind.
    checks.expect(lock.exists(), flag + ": the first run ended by itself")
    if flag == "--checkpoint":
        path.unlink(missing_ok=True)  # one of a run that is not resumed is kept
    free = run(tool, *second)
    checks.expect(free.returncode == 0, "%s after a kill: %d %s" % (
        flag, free.returncode, free.stderr))
    checks.expect(not lock.exists(), flag + ": the lock's file is left over")


def n_examples(tool, here, data, memory):
    result = run(tool, "train", DIGITS_CNN, *data, "--output", here / "m.tflite", "--epochs", "1",
                 "--lr", "0.01", "--memory", memory, "--json")
    return int(json.loads(result.stdout)["settings"]["examples"]) if result.returncode == 0 else result


def check_nothing_lost(checks, tool, here):
    """Two runs begin one memory at once; whichever is refused comes again."""
    memory = here / "both.memory"
    alone = [n_examples(tool, here, data, here / name)
             for data, name in ((DATA, "one.memory"), (TEST, "two.memory"))]
    commands = [[str(tool), "train", str(DIGITS_CNN), *map(str, data), "--output",
                 str(here / "x.tflite"), "--epochs", "1", "--lr", "0.01", "--memory", str(memory)]
                for data in (DATA, TEST)]
    while commands:
        runs = [subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                for command in commands]
        errors = [process.communicate()[1].decode() for process in runs]
        wrong = [error for process, error in zip(runs, errors)
                 if process.returncode != 0 and "in use by process" not in error]
        if not checks.expect(not wrong, "shared memory: %s" % wrong):
            return
        commands = [command for command, process in zip(commands, runs) if process.returncode != 0]
    total = n_examples(tool, here, [], memory)
    checks.expect(total == sum(alone), "of %s examples %s are left" % (alone, total))


def main():
    tool = sys.argv[1]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        here = pathlib.Path(folder)
        for flag, more in LOCKED:
            check_refused(checks, tool, here, flag, more)
        check_nothing_lost(checks, tool, here)
    return checks.finish()


sys.exit(main())
