"""One engine in a process of its own, driven by compare.py through lines of JSON.

  python compare_engine.py ENGINE [LIBTOPWORK]     ENGINE: a key of ENGINES below

Says {"version": ...} once its packages are imported. Then it answers each line of its input:
  {"do": "open", "model": PATH, "threads": N, "batch": N}  opens, runs once: {"open_ms", "peak_mb"}
  {"do": "turn", "ms": N, "every": MS}                     runs for so long: {"times": [ms, ...]}
  {"do": "answer"}                                         the outputs of the last run: {"values"}
A request that fails is answered with {"error": ...}. All engines get the same input values.
"""
import array
import importlib
import json
import mmap
import os
import random
import sys
import time

WARM_RUNS, LEAST_RUNS, MOST_RUNS = 2, 5, 2000
MOST_VALUES = 20000
PIECE = 1 << 14  # of input values; a multiple of 4, so that the noise is that of one piece

# Engine: (module, class, package). The standard library is all that topwork needs.
ENGINES = {
    "topwork": ("compare_topwork", "Topwork"),
    "litert": ("compare_engines", "LiteRt"),
    "mnn": ("compare_engines", "Mnn"),
    "ort": ("compare_engines", "OnnxRuntime"),
    "ncnn": ("compare_engines", "Ncnn"),
}


def input_bytes(dtype, n_elements, size):
    """The values of an input: noise in [0, 1) for floats, noise for 8 bits, zeros for the rest, which
    are indices, lengths or flags. They lie in memory of their own, which goes when they are used, and
    are made piece by piece: no memory of Python's heap is counted as the engine's."""
    noise, steps = random.Random(1), [i / 256 for i in range(256)]
    values = mmap.mmap(-1, max(1, n_elements * size))
    for begin in range(0, n_elements if dtype in ("float32", "uint8", "int8") else 0, PIECE):
        piece = noise.randbytes(min(PIECE, n_elements - begin))
        if dtype == "float32":
            piece = array.array("f", [steps[b] for b in piece]).tobytes()
        values.write(piece)
    return memoryview(values)[:n_elements * size]


def status_kb(field):
    with open("/proc/self/status", encoding="ascii") as file:
        for line in file:
            if line.startswith(field):
                return int(line.split()[1])
    return 0


def forget_peak():
    """From here on, VmHWM is the peak since now."""
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")
    except OSError:
        pass  # then the peak is that of the whole process, for every engine


class Server:
    def __init__(self, engine):
        self.engine = engine

    def open(self, model, threads, batch):
        """The time and the memory leave out making the input values, which is the same for all."""
        forget_peak()
        before = status_kb("VmRSS")
        start = time.perf_counter()
        self.engine.open(model, threads, batch)
        opened = time.perf_counter()
        peak = status_kb("VmHWM")
        self.engine.fill(input_bytes)
        forget_peak()
        filled = time.perf_counter()
        self.engine.run()
        end = time.perf_counter()
        return {"open_ms": 1e3 * (opened - start + end - filled),
                "peak_mb": (max(peak, status_kb("VmHWM")) - before) / 1024}

    def turn(self, ms, every=0):
        """Runs until the time is over, one each `every` ms, or one after the other. The first ones wake the
        engine up and do not count."""
        run, clock = self.engine.run, time.perf_counter
        for _ in range(WARM_RUNS):
            run()
        times, begin = [], clock()
        while len(times) < MOST_RUNS:
            start = clock()
            run()
            end = clock()
            times.append(1e3 * (end - start))
            if every:
                time.sleep(max(0.0, every / 1e3 - (clock() - start)))
            if end - begin > ms / 1e3 and len(times) >= LEAST_RUNS:
                break
        return {"times": times}

    def answer(self):
        values = [float(v) for v in self.engine.outputs()]
        return {"values": values[::max(1, len(values) // MOST_VALUES)]}


def main():
    # The engine's own messages must not mix with the answers.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(answer):
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    module, name = ENGINES[sys.argv[1]]
    try:
        engine = getattr(importlib.import_module(module), name)(*sys.argv[2:])
    except Exception as error:  # noqa: BLE001  (whatever it is, compare.py prints it and goes on)
        return say({"error": f"{type(error).__name__}: {error}"})
    say({"version": engine.version})
    server = Server(engine)
    for line in sys.stdin:
        request = json.loads(line)
        try:
            say(getattr(server, request.pop("do"))(**request))
        except Exception as error:  # noqa: BLE001
            say({"error": f"{type(error).__name__}: {error}"})


if __name__ == "__main__":
    main()
