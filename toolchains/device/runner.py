"""Runs topwork_tests in a place to the end, whatever breaks on the way.

A lost connection is made again and the run goes on with the tests that have no result yet. A test during which the
program ends (or the device reboots) has failed; the run goes on behind it.
"""
import re
import shlex
import sys

import results as unity
from places import Lost

RETRIES = 5  # connections lost without a result between them

# {command} in the background, its largest memory looked at now and then, its output to a file and to us.
WATCHED = """{{
  {command} &
  pid=$!
  echo $pid >pid
  while kill -0 $pid 2>/dev/null; do
    kb=$(sed -n 's/^VmHWM:[^0-9]*\\([0-9]*\\).*/\\1/p' /proc/$pid/status 2>/dev/null)
    [ -z "$kb" ] || echo "$kb" >memory
    sleep 0.2 2>/dev/null || sleep 1
  done &
  wait $pid
  echo $? >code
}} 2>&1 | tee {log}
exit_code=$(cat code) && (exit $exit_code)"""
# Ends a watched program that runs on after its connection was lost.
STOP = "[ ! -e pid ] || kill -9 $(cat pid) 2>/dev/null; rm -f pid"


def watched(command, log):
    return f"rm -f pid memory code; {WATCHED.format(command=command, log=log)}"


class Connection:
    """Does things in a place again when the connection is lost."""

    def __init__(self, place, say=lambda text: print(text, file=sys.stderr, flush=True)):
        self.place = place
        self.say = say
        self.n_lost = 0

    def lost(self, error, tries):
        self.n_lost += 1
        self.say(f"connection lost: {error}")
        if tries > RETRIES:
            raise error
        self.place.reconnect()

    def do(self, action, *arguments, again=None):
        """`again` is shell text that runs before the action is repeated."""
        tries = 0
        while True:
            try:
                if again and tries > 0:
                    self.place.output(again)
                return action(*arguments)
            except Lost as error:
                tries += 1
                self.lost(error, tries)


class TestRun:
    def __init__(self, connection, program, environment, scratch, on_result=lambda result: None):
        self.scratch = scratch
        self.connection = connection
        self.place = connection.place
        self.environment = " ".join(f"{key}={shlex.quote(value)}" for key, value in environment.items())
        self.command = f"{self.environment} {self.place.program(program)}".strip()
        self.on_result = on_result
        self.results = {}  # by name, in their order
        self.running = None

    def names(self, tests):
        code, text = self.connection.do(self.place.output, f"{self.command} --list-test-names-only {shlex.quote(tests)}")
        if code != 0:
            raise SystemExit(f"the test program does not start in this place (exit {code}):\n{text[-2000:]}")
        names = [line for line in text.splitlines() if line]
        if not names:
            raise SystemExit(f"no test matches {tests}")
        return names

    def take(self, line):
        if line.startswith("RUN "):
            self.running = line[4:]
        result = unity.parse(line)
        if result and result.name not in self.results:
            self.results[result.name] = result
            self.running = None
            self.on_result(result)

    def run(self, tests, done=()):
        """Results of all tests that the filter chooses; those of `done` are taken as they are."""
        self.results = {result.name: result for result in done}
        names = {unity.reported_name(name): name for name in self.names(tests)}
        tries = 0
        while True:
            left = [name for key, name in names.items() if key not in self.results]
            if not left:
                return [self.results[key] for key in names]
            before = len(self.results)
            try:
                code = self.start(left, shlex.quote(tests) if len(left) == len(names) else None)
            except Lost as error:
                tries = 1 if len(self.results) > before else tries + 1
                self.after_loss(error, tries)
                continue
            self.after_end(code, left, len(self.results) > before)

    def start(self, left, chosen):
        self.running = None
        if chosen is None:
            # A name may hold what separates names or begins a tag.
            lines = "".join('"' + re.sub(r'([\\",\[])', r"\\\1", name) + '"\n' for name in left)
            list_file = self.scratch / "names.left"
            list_file.write_text(lines)
            self.place.push([(list_file, "names")])
            chosen = "-f names"
        return self.place.run(watched(f"{self.command} -r unity -v high {chosen}", "tests.log"), self.take)

    def after_loss(self, error, tries):
        """What ran on unheard is in the device's log; what still runs is ended."""
        self.connection.lost(error, tries)
        try:
            self.place.output(STOP)
            for line in (self.place.pull("tests.log") or "").splitlines():
                self.take(line)
        except Lost as again:
            self.connection.say(f"connection lost: {again}")

    def after_end(self, code, left, came_on):
        """The test that was running when the program ended has no result: it failed."""
        missing = [name for name in left if unity.reported_name(name) not in self.results]
        if not missing or (self.running is None and came_on):
            return
        name = self.running or unity.reported_name(missing[0])
        result = unity.Result("device", 0, name, "FAIL", f"the program ended here with exit code {code}")
        self.results[name] = result
        self.on_result(result)

    def peak_memory_kb(self):
        text = self.connection.do(self.place.pull, "memory")
        return int(text) if text and text.strip().isdigit() else None
