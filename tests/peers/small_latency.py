"""A small library beside the whole one: processor time of a run on one thread, both with the same loops.

  python3 tests/peers/small_latency.py WHOLE.so SMALL.so MODEL.tflite... [--isa avx2] [--rounds N] [--rows FILE]

The two take turns, each in a process of its own; a time is the fastest run of all rounds. Needs Python alone: a small
library has no descriptions, so the command line cannot measure it.
"""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import time


class Options(ctypes.Structure):
    """The head of tw_session_options; later fields are zero."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("n_threads", ctypes.c_int32), ("device", ctypes.c_char_p)]


def fastest(library, model, n_runs):
    """Milliseconds of the fastest run. Ends the process where the library fails."""
    tw = ctypes.CDLL(library)
    tw.tw_last_error.restype = ctypes.c_char_p

    def call(name, *arguments):
        if getattr(tw, name)(*arguments) != 0:
            sys.exit(f"{library}: {name}: {tw.tw_last_error().decode()}")

    opened, session = ctypes.c_void_p(), ctypes.c_void_p()
    call("tw_model_open_file", model.encode(), ctypes.byref(opened))
    options = Options(ctypes.sizeof(Options), 1, b"cpu")
    call("tw_session_create", opened, ctypes.byref(options), ctypes.byref(session))
    times = []
    for _ in range(n_runs):
        start = time.process_time()
        call("tw_session_run", session)
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def measure(libraries, model, n_rounds):
    """[[milliseconds of each library] of each round]"""
    rounds = []
    for i in range(n_rounds):
        times = {}
        for library in libraries if i % 2 == 0 else libraries[::-1]:
            done = subprocess.run([sys.executable, __file__, "--one", library, model], stdout=subprocess.PIPE, text=True,
                                  check=True)
            times[library] = float(done.stdout)
        rounds.append([times[library] for library in libraries])
    return rounds


def main():
    if sys.argv[1:2] == ["--one"]:
        print(fastest(sys.argv[2], sys.argv[3], 60))
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("whole")
    parser.add_argument("small")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--isa", default="avx2", help="the instruction set of both")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows")
    arguments = parser.parse_args()
    os.environ["TOPWORK_ISA"] = arguments.isa
    rows = []
    for model in arguments.models:
        runs = [[round(ms, 3) for ms in pair] for pair in
                measure([os.path.abspath(arguments.small), os.path.abspath(arguments.whole)], model, arguments.rounds)]
        small, whole = (min(times) for times in zip(*runs))
        print(f"{pathlib.Path(model).stem} {arguments.isa}: small {small:.3f} ms, whole {whole:.3f} ms, "
              f"whole / small {whole / small:.3f}", flush=True)
        rows.append({"model": pathlib.Path(model).stem, "what": arguments.isa, "ours": small, "peer": whole,
                     "ratio": round(whole / small, 3), "runs": runs})
    if arguments.rows:
        pathlib.Path(arguments.rows).write_text(json.dumps(rows))


if __name__ == "__main__":
    main()
