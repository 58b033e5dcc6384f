"""Tests paced.py: its arithmetic and what it refuses, with a stand-in for both engines. Standard library only.

  python3 paced_test.py

1. The clock of a turn (compare_engine.py): a run begins every so many ms, whatever a run takes.
2. The median, and what one run in twenty exceeds.
3. The whole script: what it asks of the engines, the rows that it writes.
4. What it refuses: each with a sentence and without a row.
"""
import contextlib
import io
import json
import pathlib
import sys
import tempfile

import compare_engine
import compare_setup
import compare_sides
import paced
import peers

# An engine's process. The name of a model says what goes wrong: ENGINE-do. Ten of its runs take a known time, in
# the second round twice that.
STAND_IN = """
import json, pathlib, sys
engine, model, turns = sys.argv[1], "", 0
print(json.dumps({"version": "1"}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    with open(pathlib.Path(__file__).with_name("asked"), "a") as file:
        file.write(json.dumps({"engine": engine, **asked}) + "\\n")
    do, model = asked["do"], pathlib.Path(asked.get("model", model)).name
    turns += do == "turn"
    answer = {"open_ms": 1.0, "peak_mb": 1.0, "values": [1, 2, 4], "times": [
        turns * {"topwork": 1, "litert": 3}[engine] * ms for ms in range(1, 11)]}
    if do == "answer" and model == engine + "-differs":
        answer["values"] = [4, 2, 1]
    if model == engine + "-" + do:
        answer = {"error": "it will not"}
    if model == engine + "-ends" and do == "turn":
        sys.exit("it is over")
    print(json.dumps(answer), flush=True)
"""
failures = []


def check(found, wanted, text):
    print(f"{'  ok    ' if found == wanted else '  FAIL  '}{text}: {found}")
    if found != wanted:
        failures.append(f"{text}: {wanted} expected")


class Clock:
    """A clock that goes on only while an engine runs and while the turn sleeps."""

    def __init__(self, runs_ms):
        self.now, self.runs, self.begins = 0.0, list(runs_ms), []

    def perf_counter(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds

    def run(self):
        self.begins.append(round(1e3 * self.now))
        self.now += (self.runs.pop(0) if self.runs else 5) / 1e3


def turn(clock, ms, every):
    compare_engine.time = clock
    return [round(t) for t in compare_engine.Server(clock).turn(ms, every)["times"]]


def check_turns():
    print("the clock of a turn")
    warm = [7] * compare_engine.WARM_RUNS
    begin = sum(warm)
    clock = Clock([*warm, 1, 20, 40, 1, 1, 1])
    check(turn(clock, 125, 33), [1, 20, 40, 1, 1], "times, without those before the turn and without sleep")
    check([b - begin for b in clock.begins[len(warm):]], [0, 33, 66, 106, 139],
          "a run begins every 33 ms; after one that took longer at once")
    check(turn(Clock([*warm, 1, 20, 40, 1, 1, 9]), 140, 33), [1, 20, 40, 1, 1, 9], "it ends when the time is over")
    check(len(turn(Clock(warm), 1, 33)), compare_engine.LEAST_RUNS, "a short turn has the least runs")
    check(turn(Clock([*warm, 1, 2, 3, 4, 5, 6]), 20, 0), [1, 2, 3, 4, 5, 6], "without a pause one after the other")


def check_arithmetic():
    print("arithmetic")
    for n, over in ((1, 0), (5, 0), (20, 1), (100, 5), (180, 9), (181, 9)):
        times = [float((7 * i) % n) if n % 7 else float(i) for i in range(n)]
        check(sum(t > paced.slow(times) for t in times), over, f"of {n} runs take longer")
    check([of([1.0, 9.0, 2.0, 4.0]) for of in paced.TABLES.values()], [3.0, 9.0], "the median and the slow run of four")


def call(folder, names, *flags):
    """Exit code, sentence, what the engines were asked, rows (None: no file) of the script with those models."""
    (folder / "asked").write_text("")
    rows = folder / "rows.json"
    rows.unlink(missing_ok=True)
    sys.argv = ["paced.py", str(folder), "--rows", str(rows), "--models", ",".join(names), *flags]
    wanted = [compare_setup.Model(name, "int8", folder / name) for name in names]
    compare_setup.models = lambda topwork, words: [m for m in wanted if compare_setup.is_wanted(m, words)]
    said, code = io.StringIO(), 0
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            paced.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else 1
            said.write("" if isinstance(end.code, int) else str(end.code))
    asked = [json.loads(line) for line in (folder / "asked").read_text().splitlines()]
    return code, said.getvalue(), asked, json.loads(rows.read_text()) if rows.exists() else None


def check_script(folder):
    print("the whole script")
    code, said, asked, rows = call(folder, ["net", "other"], "--rounds", "2", "--every", "12.5", "--turn", "40",
                                   "--models", "ne,")
    check(code, 0, "exit code")
    turns = [(a["engine"], a["ms"], a["every"]) for a in asked if a["do"] == "turn"]
    check(turns, [(engine, 40, 12.5) for engine in ("topwork", "litert", "litert", "topwork") * 2],
          "turns, each round begun by another engine")
    check([(a["engine"], pathlib.Path(a["model"]).name, a["threads"], a["batch"]) for a in asked if a["do"] == "open"],
          [(engine, "net", threads, 1) for threads in (1, 2) for engine in ("topwork", "litert")], "opened")
    # Of ours 1 to 10 and 2, 4 to 20 ms: half of them take less than 7.5, one in twenty more than 18;
    # LiteRT thrice that.
    wanted = [{"table": table, "kind": "int8", "model": "net", "runs": [], "what": what, "ours": ours, "peer": 3 * ours,
               "ratio": 3.0} for what in ("1 thread", "2 threads")
              for table, ours in (("Median, ms", 7.5), ("One run in twenty takes longer, ms", 18.0))]
    check(rows, wanted, "rows")
    check("2 threads" in said and "18.000  LiteRT   54.000   3.00" in said, True, "what it prints")
    published = json.loads((peers.ROOT / "tests" / "peers" / "figures.json").read_text())["measurements"]
    published = next(m for m in published if m["name"] == "paced")
    check({tuple(sorted(row)) for row in published["rows"]}, {tuple(sorted(wanted[0]))}, "fields of published rows")
    check({row["table"] for row in published["rows"]}, set(paced.TABLES), "published tables")
    check({row["model"] for row in published["rows"]}, set(paced.NETWORKS.split(",")), "published networks")


def check_refusals(folder):
    print("refusals")
    for name, words in (("topwork-open", "topwork: it will not"), ("litert-open", "litert: it will not"),
                        ("litert-turn", "litert: it will not"), ("litert-answer", "litert: it will not"),
                        ("topwork-ends", "topwork: the process ended with exit 1: it is over"),
                        ("litert-differs", "LiteRT's answers are others than Topwork's")):
        code, said, _, rows = call(folder, [name], "--rounds", "1")
        check((code, said.strip().splitlines()[-1:], rows), (1, [f"paced: {name}, 1 thread: {words}"], None), name)
    for flags, words in ((["--rounds", "0"], "--rounds 0: above 0"), (["--every", "-1"], "--every -1.0: above 0"),
                         (["--every", "nan"], "--every nan: above 0"), (["--turn", "0"], "--turn 0: above 0")):
        code, said, asked, rows = call(folder, ["net"], *flags)
        check((code, words in said, asked, rows), (2, True, [], None), " ".join(flags))
    (folder / "libtopwork.so").unlink()
    code, said, asked, rows = call(folder, ["net"])
    check((code, "SKIP: there is no" in said, asked, rows), (peers.SKIP, True, [], None), "no library")
    (folder / "libtopwork.so").touch()

    def cannot(name):
        raise compare_setup.SetupError("pip: no network")
    compare_setup.python = cannot
    code, said, asked, rows = call(folder, ["net"])
    check((code, "no network" in said, asked, rows), (peers.SKIP, True, [], None), "no peers")


def main():
    check_turns()
    check_arithmetic()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name).resolve()
        (folder / "compare_engine.py").write_text(STAND_IN)
        (folder / "libtopwork.so").touch()
        compare_sides.HERE = folder
        compare_setup.python = lambda name: sys.executable
        check_script(folder)
        check_refusals(folder)
    print("\n".join(failures))
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
