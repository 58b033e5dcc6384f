"""Times the training of a last layer beside PyTorch eager and NumPy, and against the machine.

  python head_train_peers.py TOPWORK_HEAD_TRAIN_BENCH [--threads N] [--rounds N] [--device NAME]
                             [--shape DIMxCLASSES] [--batch N] [--rows FILE]

The shapes are those of libcoral's softmax_regression_model_benchmark: 1024 examples of 256 or 1024
features, 4 or 16 classes, 500 plain SGD steps of 100 examples, unless others are asked for. With --device
(opencl:0, ...) the steps are taken on that OpenCL device, too. All sides take the same
examples and mini-batches from the same file and must end with the same loss; they run in turn, round
after round, and the fastest round of each counts. The limit is the longer of two times: the
multiply-adds of a step (4 · batch · features · classes flops) at the speed of a loop in registers,
and the batch's features read once at the speed of reading an array as large as all of them.
Needs numpy and torch (SKIP otherwise).
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile
import time

import peers

try:
    import numpy as np
    import torch
except ImportError as error:
    print(f"SKIP head_train_peers: {error}")
    sys.exit(77)

EXAMPLES, STEPS, RATE = 1024, 500, 0.01
SHAPES = [(256, 4), (256, 16), (1024, 4), (1024, 16)]


def problem(dim, classes, batch, path):
    rng = np.random.default_rng(dim + classes)
    y = rng.integers(0, classes, EXAMPLES).astype(np.int32)
    x = rng.normal(size=(classes, dim))[y] * 0.2 + rng.normal(size=(EXAMPLES, dim))
    x = x.astype(np.float32)
    rows = rng.integers(0, EXAMPLES, (STEPS, batch)).astype(np.int32)
    with open(path, "wb") as file:
        file.write(np.array([dim, classes, EXAMPLES, batch, STEPS], np.int32).tobytes())
        file.write(np.array([RATE], np.float32).tobytes())
        for array in (x, y, rows):
            file.write(array.tobytes())
    return x, y, rows


def train_topwork(bench, mode, where, path):
    command = [bench, mode, str(where), path]
    seconds, loss = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout.split()
    return float(seconds), float(loss)


def train_torch(x, y, rows):
    model = torch.nn.Linear(x.shape[1], int(y.max()) + 1)
    torch.nn.init.zeros_(model.weight)
    torch.nn.init.zeros_(model.bias)
    optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
    start = time.perf_counter()
    for batch in rows:
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
    return time.perf_counter() - start, float(loss.detach())


def train_numpy(x, y, rows):
    w, b = np.zeros((y.max() + 1, x.shape[1]), np.float32), np.zeros(y.max() + 1, np.float32)
    n = rows.shape[1]
    index = np.arange(n)
    start = time.perf_counter()
    for batch in rows:
        xb, yb = x[batch], y[batch]
        scores = xb @ w.T + b
        scores -= scores.max(axis=1, keepdims=True)
        e = np.exp(scores)
        total = e.sum(axis=1, keepdims=True)
        loss = (np.log(total[:, 0]) - scores[index, yb]).mean()
        e /= total
        e[index, yb] -= 1
        e *= 1 / n
        w -= RATE * (e.T @ xb)
        b -= RATE * e.sum(axis=0)
    return time.perf_counter() - start, float(loss)


def measure(arguments, dim, classes, path, table):
    bench, threads, batch = arguments.bench, arguments.threads, arguments.batch
    x, y, rows = problem(dim, classes, batch, path)
    tx, ty, t_rows = torch.tensor(x), torch.tensor(y).long(), torch.tensor(rows).long()
    sides = {
        "topwork": lambda: train_topwork(bench, "train", threads, path),
        "torch": lambda: train_torch(tx, ty, t_rows),
        "numpy": lambda: train_numpy(x, y, rows),
    }
    if arguments.device:
        sides["device"] = lambda: train_topwork(bench, "device", arguments.device, path)
    times, losses = {name: [] for name in sides}, {}
    flops, reading = 0.0, 0.0
    for _ in range(arguments.rounds):
        command = [bench, "limits", str(threads), str(x.nbytes)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        flops = max(flops, float(done.stdout.split()[0]))
        reading = max(reading, float(done.stdout.split()[1]))
        for name, train in sides.items():
            seconds, losses[name] = train()
            times[name].append(seconds)
    for name, loss in losses.items():
        if abs(loss - losses["topwork"]) > 1e-4 * abs(loss):
            sys.exit(f"FAIL {dim} x {classes}: losses differ: {losses}")
    best = {name: min(seconds) / STEPS * 1e6 for name, seconds in times.items()}
    compute = 4e-3 * batch * dim * classes / flops
    read = 4e-3 * batch * dim / reading
    limit, bound = max((compute, "flops"), (read, "reading"))
    print(
        f"{dim:5} x {classes:3}: topwork {best['topwork']:7.1f} us/step, torch {best['torch']:7.1f}, "
        f"numpy {best['numpy']:7.1f}; torch / topwork {best['torch'] / best['topwork']:5.1f}, "
        f"numpy / topwork {best['numpy'] / best['topwork']:5.1f}; limit {limit:5.1f} us ({bound}, "
        f"{flops:.0f} GFLOP/s, {reading:.0f} GB/s): {100 * limit / best['topwork']:.0f} % of it"
    )
    for name, peer in (("torch", "PyTorch"), ("numpy", "NumPy")):
        table.add(f"{dim} features, {classes} classes", f"beside {peer}", best["topwork"], best[name],
                  best[name] / best["topwork"],
                  [[s / STEPS * 1e6 for s in pair] for pair in zip(times["topwork"], times[name])])
    if arguments.device:
        print(f"  {arguments.device}: {best['device']:.1f} us/step, {1e6 / best['device']:.0f} steps/s")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench", help="path of topwork_head_train_bench")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--device", help="an OpenCL device, as topwork devices lists them")
    parser.add_argument("--shape", help="features x classes, as in 1280x10")
    parser.add_argument("--batch", type=int, default=100)
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"torch {torch.__version__}, numpy {np.__version__}, {arguments.threads} threads")
    with tempfile.TemporaryDirectory() as folder:
        path = str(pathlib.Path(folder) / "problem.bin")
        shapes = [map(int, arguments.shape.split("x"))] if arguments.shape else SHAPES
        for dim, classes in shapes:
            measure(arguments, dim, classes, path, table)
    table.write(arguments.rows)


if __name__ == "__main__":
    main()
