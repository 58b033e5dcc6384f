"""One run of a model by LiteRT or by Topwork, each in a process of its own with a time limit.

  python zoo_sides.py FOLDER        the process that runs LiteRT: reads FOLDER/request.json, and inputs
"""

import dataclasses
import json
import pathlib
import pickle
import re
import subprocess
import sys
import tempfile

import numpy as np

# LiteRT's kernels, from the plainest on.
RESOLVERS = {"reference": "BUILTIN_REF", "builtin": "BUILTIN_WITHOUT_DEFAULT_DELEGATES",
             "XNNPACK": "BUILTIN"}


@dataclasses.dataclass
class Answer:
    kind: str  # "ran", "refused", "crashed" or "hung"
    text: str = ""  # the reason
    outputs: list = dataclasses.field(default_factory=list)
    tensors: dict = dataclasses.field(default_factory=dict)  # LiteRT's values of tensors that were asked for


def save_inputs(folder, inputs):
    """The files, as topwork takes them."""
    paths = []
    for i, value in enumerate(inputs):
        if value.dtype == object:
            paths.append(folder / f"input_{i}.txt")
            paths[-1].write_bytes(b"".join(bytes(s) + b"\n" for s in value.ravel()))
        else:
            paths.append(folder / f"input_{i}.npy")
            np.save(paths[-1], value)
    return paths


def run_process(line, limit):
    """(kind, text, output) of a process that prints its reason to standard error."""
    try:
        done = subprocess.run(line, capture_output=True, timeout=limit, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return "hung", f"no answer in {limit} s", b""
    lines = done.stderr.decode(errors="backslashreplace").strip().splitlines() or [""]
    text = next((line for line in lines if "error:" in line), lines[-1])
    if done.returncode < 0:
        return "crashed", f"signal {-done.returncode}; {text}", b""
    kind = "ran" if done.returncode == 0 else "refused"
    return kind, "" if kind == "ran" else f"{text} (exit {done.returncode})", done.stdout


class Sides:
    """Runs models; `topwork` is the command, with what stands before it; `limit` is the time in seconds that a run
    may take."""

    def __init__(self, *topwork, limit=120, threads=1):
        self.topwork, self.limit, self.threads = topwork, limit, threads

    def ours(self, model, inputs, signature=None):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            flags = [x for path in save_inputs(folder, inputs) for x in ("--input", path)]
            flags += ["--signature", signature] if signature is not None else []
            kind, text, _ = self.command("run", model, "--device", "cpu", "--threads", self.threads, *flags,
                                      "--output", folder / "out")
            if kind != "ran":
                return Answer(kind, text)
            paths = sorted((folder / "out").iterdir(), key=lambda p: int(re.sub(r"\D", "", p.stem)))
            return Answer("ran", "", [load_output(path) for path in paths])

    def command(self, *arguments):
        """(kind, text, output) of one topwork command."""
        kind, text, output = run_process([*self.topwork, *map(str, arguments)], self.limit)
        if kind == "refused" and text.endswith("(exit 10)"):  # a defect, by its own word
            kind = "crashed"
        return kind, text, output

    def litert(self, model, inputs, kernels, names=None, keep=()):
        """names: the signature's (name, names of inputs, names of outputs). keep: tensors whose values are
        wanted, too."""
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "inputs.pickle").write_bytes(pickle.dumps(inputs))
            (folder / "request.json").write_text(json.dumps(
                {"model": str(model), "kernels": kernels, "names": names, "keep": list(keep)}))
            kind, text, _ = run_process([sys.executable, "-B", __file__, name], self.limit)
            if kind != "ran":
                return Answer(kind, text)
            outputs, tensors = pickle.loads((folder / "answer.pickle").read_bytes())
            return Answer("ran", "", outputs, tensors)


def load_output(path):
    if path.suffix == ".json":
        texts = [s.encode() for s in json.loads(path.read_text())]
        return np.array(texts + [None], object)[:-1]
    return np.load(path)


# --- The process that runs LiteRT -------------------------------------------------------------------------


def interpreter_of(request):
    from ai_edge_litert import interpreter
    resolver = getattr(interpreter.OpResolverType, RESOLVERS[request["kernels"]])
    return interpreter.Interpreter(request["model"], experimental_op_resolver_type=resolver, num_threads=1,
                                   experimental_preserve_all_tensors=bool(request["keep"]))


def run_main(interpreter, inputs):
    details = interpreter.get_input_details()
    for detail, value in zip(details, inputs):
        if tuple(detail["shape"]) != value.shape:
            interpreter.resize_tensor_input(detail["index"], value.shape)
    interpreter.allocate_tensors()
    for detail, value in zip(details, inputs):
        interpreter.set_tensor(detail["index"], value)
    interpreter.invoke()
    return [np.array(interpreter.get_tensor(d["index"])) for d in interpreter.get_output_details()]


def values_of(interpreter, tensors):
    values = {}
    for tensor in tensors:
        try:
            values[tensor] = np.array(interpreter.get_tensor(tensor))
        except (ValueError, RuntimeError):
            pass  # has no data
    return values


def litert_process(folder):
    request = json.loads((folder / "request.json").read_text())
    inputs = pickle.loads((folder / "inputs.pickle").read_bytes())
    try:
        interpreter = interpreter_of(request)
        if request["names"]:
            name, input_names, output_names = request["names"]
            found = interpreter.get_signature_runner(name)(**dict(zip(input_names, inputs)))
            outputs = [np.array(found[n]) for n in output_names]
        else:
            outputs = run_main(interpreter, inputs)
        tensors = values_of(interpreter, request["keep"])
    except (RuntimeError, ValueError, TypeError, KeyError, OverflowError, MemoryError) as error:
        sys.exit(" ".join(str(error).split()) or repr(error))
    (folder / "answer.pickle").write_bytes(pickle.dumps((outputs, tensors)))


if __name__ == "__main__":
    litert_process(pathlib.Path(sys.argv[1]))
