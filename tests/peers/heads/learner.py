"""Learners: how long one example more or less takes, beside NumPy solving anew, and heads that five
devices merge, beside the head of all their examples.

  python learner.py LIBTOPWORK changes|merges [--quick] [--rounds N] [--rows FILE]

Features come ready (a model that is nothing but a last layer), so that a change alone is timed: the
sums, the solution, and the head in float32, which scores one example. NumPy solves the same system, the
smaller of its two forms, on one thread. Fails where a merged head scores otherwise than the central
one by more than 1e-5, or where a head is not the one that NumPy finds.
"""

import argparse
import ctypes
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

peers.need("numpy", "ai_edge_litert", "threadpoolctl")

import numpy as np  # noqa: E402

import feature_sets  # noqa: E402

DIM, CLASSES, DEVICES = 1280, 10, 5


class Examples(ctypes.Structure):
    """tw_examples."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("n", ctypes.c_int64), ("data", ctypes.c_void_p),
                ("data_bytes", ctypes.c_size_t), ("dtype", ctypes.c_int), ("labels", ctypes.c_void_p),
                ("targets", ctypes.c_void_p), ("callbacks", ctypes.c_void_p * 5),
                ("groups", ctypes.c_void_p * 2), ("ids", ctypes.c_void_p)]


class Selection(ctypes.Structure):
    """tw_selection."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("ids", ctypes.c_void_p), ("n_ids", ctypes.c_size_t),
                ("groups", ctypes.c_void_p), ("n_groups", ctypes.c_size_t), ("examples", ctypes.c_void_p)]


class Options(ctypes.Structure):
    """tw_learner_options."""
    _fields_ = [("struct_size", ctypes.c_size_t), ("trainer", ctypes.c_void_p),
                ("memory_path", ctypes.c_char_p), ("read_only", ctypes.c_int32),
                ("statistics_only", ctypes.c_int32), ("penalty", ctypes.c_double)]


def texts(items):
    return (ctypes.c_char_p * len(items))(*(str(i).encode() for i in items))


class Learner:
    """A tw_learner of a model that is one dense layer on `dim` features."""

    def __init__(self, library, model, classes, penalty):
        self.tw, self.handle = library, ctypes.c_void_p()
        options = Options(ctypes.sizeof(Options), penalty=penalty)
        self.call("tw_learner_create", model, ctypes.byref(options), ctypes.byref(self.handle))
        self.call("tw_learner_set_classes", self.handle, texts(range(classes)), None,
                  ctypes.c_size_t(classes))
        self.classes = classes

    def call(self, name, *arguments):
        if getattr(self.tw, name)(*arguments) != 0:
            sys.exit(f"FAIL {name}: {self.tw.tw_last_error().decode()}")

    def examples(self, x, y, ids=None):
        keep = np.ascontiguousarray(x, np.float32), np.ascontiguousarray(y, np.int64)
        self.keep = keep, ids
        return Examples(ctypes.sizeof(Examples), len(x), keep[0].ctypes.data, keep[0].nbytes, 0,
                        keep[1].ctypes.data, ids=ctypes.cast(ids, ctypes.c_void_p))

    def add(self, x, y, ids):
        self.call("tw_learner_add", self.handle, ctypes.byref(self.examples(x, y, texts(ids))))

    def remove(self, identity):
        ids = texts([identity])
        one = Selection(ctypes.sizeof(Selection), ctypes.cast(ids, ctypes.c_void_p), 1)
        self.call("tw_learner_remove", self.handle, ctypes.byref(one))

    def scores(self, x):
        out = np.zeros((len(x), self.classes), np.float32)
        given = self.examples(x, np.zeros(len(x)))
        self.call("tw_learner_predict", self.handle, ctypes.byref(given),
                  out.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(out.size))
        return out

    def save(self, path, statistics_only):
        self.call("tw_learner_save", self.handle, str(path).encode(), ctypes.c_int32(statistics_only))

    def merge(self, path):
        self.call("tw_learner_merge", self.handle, str(path).encode(), None)

    def close(self):
        self.tw.tw_learner_free(self.handle)


def open_model(library, dim, classes, folder):
    path = pathlib.Path(folder) / f"dense_{dim}_{classes}.tflite"
    feature_sets.dense_model(dim, classes, path)
    model = ctypes.c_void_p()
    assert library.tw_model_open_file(str(path).encode(), ctypes.byref(model)) == 0
    return model


def solve(x, y, classes, penalty):
    """Weights [classes, dim] and biases of the ridge head, in double precision."""
    x, t = x.astype(np.float64), np.eye(classes)[y]
    mean, share = x.mean(0), t.mean(0)
    z, t = x - mean, t - share
    scale = np.where(z.var(0) > 0, 2.0 ** np.round(np.log2(np.maximum(z.var(0), 1e-300))), 1)
    if len(x) < x.shape[1]:
        w = z.T @ np.linalg.solve(z / scale @ z.T + penalty * np.eye(len(x)), t) / scale[:, None]
    else:
        w = np.linalg.solve(z.T @ z + penalty * np.diag(scale), z.T @ t)
    return w.T, share - mean @ w


def time_changes(library, folder, n, rounds, table):
    rng = np.random.default_rng(n)
    centres = 0.3 * rng.standard_normal((CLASSES, DIM))
    y = rng.integers(0, CLASSES, n + rounds)
    x = (np.maximum(centres[y] + rng.standard_normal((n + rounds, DIM)), 0)).astype(np.float32)
    learner = Learner(library, open_model(library, DIM, CLASSES, folder), CLASSES, 300.0)
    learner.add(x[:n], y[:n], range(n))
    learner.scores(x[:1])  # makes the head
    changes, peer = {"added": [], "removed": []}, []
    for k in range(n, n + rounds):
        for what, change in (("added", lambda: learner.add(x[k:k + 1], y[k:k + 1], [k])),
                             ("removed", lambda: learner.remove(k - n))):
            begin = time.perf_counter()
            change()
            learner.scores(x[:1])
            changes[what].append(1e3 * (time.perf_counter() - begin))
        if k - n < 3:
            begin = time.perf_counter()
            solve(x[k - n + 1:k + 1], y[k - n + 1:k + 1], CLASSES, 300.0)
            peer.append(1e3 * (time.perf_counter() - begin))
    w, b = solve(x[rounds:], y[rounds:], CLASSES, 300.0)
    logits = (x[:50] @ w.T + b) / 0.2
    expected = np.exp(logits - logits.max(1, keepdims=True))
    error = np.abs(learner.scores(x[:50]) - expected / expected.sum(1, keepdims=True)).max()
    learner.close()
    for what, times in changes.items():
        table.add(f"{n} examples of {DIM} features", f"one {what}", np.median(times), np.min(peer),
                  np.min(peer) / np.median(times), [times])
        print(f"{n:5} examples, one {what:8} {np.median(times):7.2f} ms (slowest {np.max(times):.2f}),"
              f"  NumPy solving anew {np.min(peer):8.1f} ms, scores differ by {error:.1e}", flush=True)
    return error > 1e-4


def federate(library, folder, name, x, y, table):
    classes = int(y.max()) + 1
    rng = np.random.default_rng(0)
    order = rng.permutation(len(y))
    train, test = order[:2 * len(y) // 3], order[2 * len(y) // 3:]
    parts = np.array_split(train[np.argsort(y[train], kind="stable")], DEVICES)  # few classes each
    model = open_model(library, x.shape[1], classes, folder)
    penalty = 0.1 * x.shape[1]
    centre = Learner(library, model, classes, penalty)
    centre.add(x[train], y[train], train)
    merged = Learner(library, model, classes, penalty)
    for k, part in enumerate(parts):
        device = Learner(library, model, classes, penalty)
        device.add(x[part], y[part], part)
        device.save(pathlib.Path(folder) / f"device{k}.memory", True)
        device.close()
        merged.merge(pathlib.Path(folder) / f"device{k}.memory")
    ours, theirs = merged.scores(x[test]), centre.scores(x[test])
    error = np.abs(ours - theirs).max()
    right = [100 * np.mean(s.argmax(1) == y[test]) for s in (ours, theirs)]
    table.add(name, f"{DEVICES} devices, merged", right[0], right[1])
    print(f"{name}: merged {right[0]:.1f} %, central {right[1]:.1f} %, scores differ by {error:.1e}")
    return error > 1e-5


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library", help="path of libtopwork.so")
    parser.add_argument("what", choices=("changes", "merges"))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=40)
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    library = ctypes.CDLL(arguments.library)
    library.tw_last_error.restype = ctypes.c_char_p
    library.tw_learner_free.restype = None
    failures = 0
    with tempfile.TemporaryDirectory() as folder, feature_sets.one_thread():
        if arguments.what == "changes":
            for n in (100, 400) if arguments.quick else (100, 400, 1500, 4000):
                failures += time_changes(library, folder, n, arguments.rounds, table)
        else:
            for name, (x, y) in feature_sets.load(arguments.quick).items():
                failures += federate(library, folder, name, x, y, table)
    table.write(arguments.rows)
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
