"""Processes of compare.py that take turns: one holds one engine (compare_engine.py), and sleeps while
another one has its turn. Standard library only."""
import ctypes
import json
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ANSWER_S = 300  # An engine that says nothing for so long hangs; the comparison goes on without it.
PAUSE_S = 0.02
NEAR_S = 60
LIBC = ctypes.CDLL(None)
PR_SET_PDEATHSIG = 1


class SideError(Exception):
    """The side cannot go on; the text says why."""


def end_with_parent():
    """In a new process: it is killed when compare.py ends, however that ends. It may be stopped then."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Side:
    """An engine in a process of its own, which wait() waits for. Between its turns the process is stopped, so
    that no thread of it that still looks for work disturbs the others."""

    def __init__(self, engine, python, *arguments):
        self.engine = engine
        self.caches = tempfile.TemporaryDirectory()
        environment = {**os.environ, "TOPWORK_CACHE": self.caches.name, "XDG_CACHE_HOME": self.caches.name,
                       "TF_CPP_MIN_LOG_LEVEL": "3"}
        self.messages = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [str(python), "-B", str(HERE / "compare_engine.py"), engine, *map(str, arguments)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.messages, env=environment,
            preexec_fn=end_with_parent)

    def wait(self):
        """Until its imports are done."""
        try:
            self.version = self.hear()["version"]
        except SideError:
            self.close()
            raise
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def why(self):
        """The last line that the process wrote, when it ended."""
        code = self.process.wait()
        self.messages.seek(0)
        lines = self.messages.read().decode(errors="replace").strip().splitlines()
        end = f"signal {-code}" if code < 0 else f"exit {code}"
        return f"the process ended with {end}" + (f": {lines[-1]}" if lines else "")

    def hear(self):
        """One line of the process; it may take long, but not forever."""
        ready, _, _ = select.select([self.process.stdout], [], [], ANSWER_S)
        if not ready:
            self.process.kill()
            raise SideError(f"no answer in {ANSWER_S} s")
        line = self.process.stdout.readline()
        if not line:
            raise SideError(self.why())
        answer = json.loads(line)
        if "error" in answer:
            raise SideError(" ".join(answer["error"].split())[:300])
        return answer

    def ask(self, do, **arguments):
        try:
            self.process.stdin.write((json.dumps({"do": do, **arguments}) + "\n").encode())
            self.process.stdin.flush()
        except OSError:
            raise SideError(self.why()) from None
        return self.hear()

    def stop(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGSTOP)

    def go(self):
        if self.process.poll() is None:
            os.kill(self.process.pid, signal.SIGCONT)

    def turn(self, ms, every=0):
        """Times of the runs of one turn (compare_engine.py); stopped before and after."""
        self.go()
        try:
            return self.ask("turn", ms=ms, every=every)["times"]
        finally:
            self.stop()
            time.sleep(PAUSE_S)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.messages.close()
        self.caches.cleanup()


class Busy:
    """Other work on the machine: a process that never rests."""

    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, "-c", "while True: pass"],
                                        preexec_fn=end_with_parent)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def await_near(program, most_ns):
    """Waits until a word goes from one processor to the other and back in so many nanoseconds, but not
    for long: virtual machines move processors apart and together again."""
    end = time.monotonic() + NEAR_S
    while True:
        nanos = int(subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout)
        if nanos <= most_ns:
            return
        if time.monotonic() > end:
            print(f"  the processors stay apart: {nanos} ns", flush=True)
            return
        time.sleep(1)


def take_turns(sides, rounds, ms, every=0, ready=None):
    """The times of each side, round by round: [side][round] is a list of ms. Every round begins with
    another side, after a call of `ready`. A side that fails leaves; its entry is the SideError."""
    times = [[] for _ in sides]
    for number in range(rounds):
        if ready:
            ready()
        order = [(number + i) % len(sides) for i in range(len(sides))]
        for i in order:
            if isinstance(times[i], SideError):
                continue
            try:
                times[i].append(sides[i].turn(ms, every))
            except SideError as error:
                times[i] = error
    return times
