"""Where the time of tests/run.sh goes: seconds, processor seconds and memory of builds and tests.

Usage: measure.py run FILE NAME COMMAND...   runs the command and appends its row to FILE; of a ctest a row
                                             for each test as well, by their variable TOPWORK_TEST
       measure.py table FILE                 prints the rows, the longest first, and the sums
The exit code is the command's. A row is: name, seconds, processor seconds, largest memory in MB (resident
pages of all its processes, looked at twice a second; what processes share counts once for each).
"""
import os
import pathlib
import re
import subprocess
import sys
import threading
import time

PAGE = os.sysconf("SC_PAGE_SIZE")
TICK = os.sysconf("SC_CLK_TCK")
INTERVAL = 0.5
LEAST_SECONDS = 2
PASSED = re.compile(r"Test +#\d+: (\S+) [.]*.*?([0-9.]+) sec")


def processes():
    """{pid: (parent, processor seconds, bytes)} of all that run; children that ended count with their parent."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue  # It has ended meanwhile.
        seconds = sum(map(int, fields[11:15])) / TICK
        found[int(folder.name)] = (int(fields[1]), seconds, int(fields[21]) * PAGE)
    return found


def tree(found, root):
    """The process and all below it."""
    children = {}
    for pid, (parent, _, _) in found.items():
        children.setdefault(parent, []).append(pid)
    todo, out = [root], []
    while todo:
        pid = todo.pop()
        if pid in found:
            out.append(pid)
            todo += children.get(pid, [])
    return out


def test_name(pid):
    try:
        variables = pathlib.Path("/proc/%d/environ" % pid).read_bytes().split(b"\0")
    except OSError:
        return None
    return next((v[len(b"TOPWORK_TEST="):].decode() for v in variables if v.startswith(b"TOPWORK_TEST=")), None)


class Watch:
    """Looks at a process and at the tests that it starts."""

    def __init__(self, root):
        self.root = root
        self.megabytes = 0
        self.tests = {}  # name: [processor seconds, MB]
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def look(self):
        while not self.ended.wait(INTERVAL):
            found = processes()
            everything = tree(found, self.root)
            self.megabytes = max(self.megabytes, sum(found[pid][2] for pid in everything) >> 20)
            for pid in everything:
                if found[pid][0] == self.root:
                    self.look_at_test(found, pid)

    def look_at_test(self, found, pid):
        name = test_name(pid)
        if name:
            below = tree(found, pid)
            row = self.tests.setdefault(name, [0, 0])
            row[0] = max(row[0], sum(found[p][1] for p in below))
            row[1] = max(row[1], sum(found[p][2] for p in below) >> 20)

    def stop(self):
        self.ended.set()
        self.thread.join()


def run(rows, name, command):
    start = time.time()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    watch = Watch(child.pid)
    seconds = {}
    for line in child.stdout:
        print(line, end="", flush=True)
        match = PASSED.search(line)
        if match:
            seconds[match.group(1)] = float(match.group(2))
    _, status, usage = os.wait4(child.pid, 0)
    watch.stop()
    with open(rows, "a", encoding="utf-8") as file:
        for test, wall in seconds.items():
            file.write("%s\t%.1f\t%.1f\t%d\n" % (test, wall, *watch.tests.get(test, (0, 0))))
        file.write("%s\t%.1f\t%.1f\t%d\n" % (name, time.time() - start, usage.ru_utime + usage.ru_stime,
                                              watch.megabytes))
    return os.waitstatus_to_exitcode(status)


def table(path):
    rows = [line.split("\t") for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines()]
    rows = [(name, float(wall), float(cpu), int(memory)) for name, wall, cpu, memory in rows]
    sums = [row for row in rows if row[0].startswith("build ") or row[0] == "tests"]
    tests = sorted((row for row in rows if row not in sums), key=lambda row: -row[1])
    print("\n%-44s %9s %9s %9s" % ("where the time went", "seconds", "CPU s", "MB"))
    for row in sums + [row for row in tests if row[1] >= LEAST_SECONDS]:
        print("%-44s %9.1f %9.1f %9d" % row)
    print("%-44s %9.1f %9.1f %9d" % ("all builds and tests", sum(row[1] for row in sums),
                                     sum(row[2] for row in sums), max(row[3] for row in sums)))
    print("Tests of less than %d s are left out; %s has them all." % (LEAST_SECONDS, path))


def main():
    if len(sys.argv) > 4 and sys.argv[1] == "run":
        sys.exit(run(sys.argv[2], sys.argv[3], sys.argv[4:]))
    if len(sys.argv) == 3 and sys.argv[1] == "table":
        table(sys.argv[2])
        return
    sys.exit(__doc__)


if __name__ == "__main__":
    main()
