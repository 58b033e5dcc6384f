"""Tests zoo_litert.py: it is quiet about the committed models, and rings where it should.

  python zoo_litert_test.py TOPWORK        (the topwork command)

1. The float64 references answer as LiteRT's reference kernels do, which made the golden cases.
2. The models of models/zoo and some of tests/data agree; a truncated file is refused by both sides.
3. Stand-ins for the command, each with one fault, ring the alarm: a wrong operator, a pair that is wrong only
   together, a whole model that contradicts its operators, a crash.
"""

import collections
import copy
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

import peers

peers.need("numpy", "ai_edge_litert")
sys.path.insert(0, str(peers.ROOT / "tests" / "support" / "golden"))

import container  # noqa: E402
import numpy as np  # noqa: E402

from zoo import float64 as zoo_float64  # noqa: E402
from zoo import model as zoo_model  # noqa: E402
from zoo import search as zoo_search  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
DATA = peers.ROOT / "tests" / "data"
FEWEST_CASES = 8  # of each reference
failures = []


def check(condition, text):
    print(("  ok    " if condition else "  FAIL  ") + text)
    if not condition:
        failures.append(text)


# --- The float64 references ----------------------------------------------------------------------------------


def golden_cases():
    """(name, model, inputs, outputs) of cases that run one operator of the main subgraph."""
    for path in sorted((DATA / "ops").glob("*.twcases")):
        model = None
        for name, file, inputs, outputs, _ in container.read(path.read_bytes()):
            model = file or model
            if outputs is not None and "@" not in name:
                yield f"{path.stem}/{name}", model, inputs, outputs


def judged(folder, file, inputs, outputs):
    """(operator, whether the difference is within the limit, difference); None without a reference."""
    path = folder / "case.tflite"
    path.write_bytes(file)
    model = zoo_model.read(path)
    graph = model.subgraphs[0]
    if len(graph.operators) != 1 or not set(graph.outputs) <= set(graph.operators[0].outputs):
        return None
    values = dict(zip(map(int, graph.inputs), inputs))
    values.update(zip(map(int, graph.outputs), outputs))
    try:
        expected = zoo_float64.evaluate(model, 0, [0], values)
        gaps = [(zoo_float64.distance(expected[t], graph.tensors[t], v), expected[t].limit)
                for t, v in zip(map(int, graph.outputs), outputs)]
    except zoo_float64.NoReference:
        return None
    name = zoo_model.op_name(model, graph.operators[0])
    return name, all(gap <= limit for gap, limit in gaps), max(gap for gap, _ in gaps)


def check_references(folder):
    print("float64 references beside LiteRT's reference kernels")
    counts, wrong = collections.Counter(), []
    for name, file, inputs, outputs in golden_cases():
        found = judged(folder, file, inputs, outputs)
        if found is None:
            continue
        counts[found[0]] += 1
        if not found[1]:
            wrong.append(f"{name}: {found[2]:.2g}")
    few = [name for name in zoo_float64.REFERENCES if counts[name] < FEWEST_CASES]
    print("\n".join(wrong))
    check(not few, f"each of {len(zoo_float64.REFERENCES)} references is judged by {FEWEST_CASES} cases {few}")
    check(not wrong, f"{sum(counts.values())} cases, {len(wrong)} differ: {wrong[:5]}")


def check_verdicts(folder):
    """Whom float64 finds right, when one side's answer is moved."""
    print("verdicts")
    _, file, inputs, outputs = next(c for c in golden_cases() if c[0].startswith("tanh/"))
    (folder / "tanh.tflite").write_bytes(file)
    model = zoo_model.read(folder / "tanh.tflite")
    graph = model.subgraphs[0]
    given, right = {int(graph.inputs[0]): inputs[0]}, outputs[0]
    t = int(graph.outputs[0])
    for theirs, ours, who in ((right, right, "both"), (right + 1, right, "Topwork"), (right, right + 1, "LiteRT"),
                              (right + 1, right - 2, "neither"), (right + 2, right - 1, "nearer")):
        found, text = zoo_float64.verdict(model, 0, [0], {**given, t: theirs.astype(right.dtype)},
                                          {t: ours.astype(right.dtype)})
        check(found == who, f"{who} right: {found}, {text}")


# --- The whole script ----------------------------------------------------------------------------------------


def run_zoo(topwork, folder, *paths):
    """(exit code, cases by file name, what was printed)."""
    report = folder / "report.json"
    report.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, "-B", HERE / "zoo_litert.py", topwork, *paths, "--jobs", "2",
                           "--report", report, "--keep", folder / "kept"], capture_output=True, text=True)
    if not report.exists():
        return done.returncode, {}, done.stdout + done.stderr
    cases = {pathlib.Path(path).name: found for path, found in json.loads(report.read_text()).items()}
    return done.returncode, cases, done.stdout


def check_committed(topwork, folder):
    print("committed models")
    hostile = folder / "hostile.tflite"
    hostile.write_bytes((peers.ZOO / "digits_cnn_f32.tflite").read_bytes()[:5000])
    code, cases, text = run_zoo(topwork, folder, peers.ZOO, DATA / "api", DATA / "cli", hostile)
    found = [(name, c["what"], c["status"], c["lines"]) for name, all_ in cases.items() for c in all_]
    bad = [f for f in found if f[2] not in ("agrees", "LiteRT cannot")]
    check(code == 0 and not bad and len(found) > 20, f"{len(found)} ways to run them, exit {code} {bad or ''}")
    trained = sum(c[1] == "trained" and c[2] == "agrees" for c in found)
    check(trained >= 4, f"{trained} were trained and exported")
    refused = cases["hostile.tflite"] if "hostile.tflite" in cases else []
    check([c["status"] for c in refused] == ["LiteRT cannot"] and "Topwork refused" in str(refused),
          f"the truncated file: {refused}")
    check("hostile.tflite: LiteRT cannot\n" in text and "()" not in text, "no empty brackets where nothing was compared")


def stand_in(topwork, fault, folder):
    """A command that is topwork with a fault."""
    path = folder / f"topwork_{fault}"
    line = [sys.executable, "-B", str(HERE / "zoo_stand_in.py"), str(pathlib.Path(topwork).resolve()), fault]
    path.write_text(f"#!/bin/sh\nexec {shlex.join(line)} \"$@\"\n")
    path.chmod(0o755)
    return path


def long_model(folder):
    """The digits network with more TANH behind it than the search takes for one group."""
    model = zoo_model.read(peers.ZOO / "digits_mlp_f32.tflite")
    graph = model.subgraphs[0]
    tanh = next(op for op in graph.operators if zoo_model.op_name(model, op) == "TANH")
    for _ in range(zoo_search.GROUPS[-1]):
        op, last = copy.copy(tanh), int(graph.outputs[0])
        graph.tensors.append(copy.copy(graph.tensors[last]))
        op.inputs, op.outputs = np.array([last], np.int32), np.array([len(graph.tensors) - 1], np.int32)
        graph.operators.append(op)
        graph.outputs = op.outputs
    zoo_model.write(model, folder / "long.tflite")
    return folder / "long.tflite"


def check_alarms(topwork, folder):
    print("stand-ins with a fault")
    digits = peers.ZOO / "digits_mlp_f32.tflite"
    for fault, path, code, status, words in (
            ("operator", digits, 1, "wrong", ("TANH: differs by", "Topwork is wrong")),
            ("pair", digits, 1, "wrong", ("FULLY_CONNECTED to", "as a group", "Topwork is wrong")),
            ("whole", long_model(folder), 1, "wrong", ("departs from Topwork's own operators",)),
            ("crash", digits, 1, "crashed", ("signal 11",)),
            ("refuse", digits, 0, "refused", ("does not want to",))):
        got, cases, text = run_zoo(stand_in(topwork, fault, folder), folder, path)
        first = cases.get(path.name, [{"status": "none", "lines": [text]}])[0]
        check(got == code and first["status"] == status and all(w in str(first["lines"]) for w in words),
              f"{fault}: exit {got}, {first['status']}, {first['lines'][:1]}")
    kept = list((folder / "kept").rglob("cut.tflite"))
    check(bool(kept), f"--keep holds {len(kept)} cut models")


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        check_references(folder)
        check_verdicts(folder)
        check_committed(sys.argv[1], folder)
        check_alarms(sys.argv[1], folder)
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
