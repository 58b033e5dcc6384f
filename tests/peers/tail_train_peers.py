"""Times the training of the last N layers beside PyTorch eager, and against the machine.

  python tail_train_peers.py TOPWORK_TAIL_TRAIN_BENCH TOPWORK_HEAD_TRAIN_BENCH
                             [--threads N] [--rounds N] [--only TEXT] [--channels-first]
                             [--rows FILE]

EfficientNet-Lite0 from the zoo and, where TOPWORK_SHARED names a folder with models/, MobileNetV1
and an MLP: last two layers, a whole block, biases and scales alone. PyTorch runs the very network
that the bench describes (shapes, strides, parameters) on the same rows and mini-batches, plain SGD;
both sides must end with the same loss. They run in turn, round after round, and the fastest round
of each counts. PyTorch has NHWC tensors (channels_last), as the model has, or --channels-first.
The limit is the sum over steps of the longer of two times: multiply-adds at the speed of a loop in
registers, and every tensor that the step touches once at the speed of reading 32 MB.
Needs numpy and torch (SKIP otherwise).
"""

import argparse
import json
import os
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
    print(f"SKIP tail_train_peers: {error}")
    sys.exit(77)

F = torch.nn.functional
ZOO = pathlib.Path(__file__).resolve().parents[2] / "models" / "zoo"
CLASSES, EXAMPLES, BATCH, RATE = 10, 64, 32, 1e-3
READ_BYTES = 32 << 20
# model, layers, what, steps
CASES = [
    ("efficientnet_lite0_fp16", 2, "all", 8),
    ("efficientnet_lite0_fp16", 2, "bias", 8),
    ("efficientnet_lite0_fp16", 5, "all", 6),
    ("efficientnet_lite0_fp16", 5, "bias", 6),
    ("efficientnet_lite0_fp16", 8, "all", 4),
    ("mlts_mobilenet_v1_0.25_128", 2, "all", 40),
    ("mlts_mobilenet_v1_0.25_128", 3, "all", 40),
    ("mlts_mobilenet_v1_0.25_128", 5, "all", 20),
    ("mlts_mobilenet_v1_0.25_128", 5, "bias", 20),
    ("mlperf_ic_resnet8_f32", 4, "all", 20),
    ("digits_cnn_f32", 5, "all", 60),
    ("digits_mlp_f32", 2, "all", 400),
]


def model_path(name):
    zoo = ZOO / f"{name}.tflite"
    if zoo.exists():
        return zoo
    shared = pathlib.Path(os.environ.get("TOPWORK_SHARED", "/nowhere"), "models", "float")
    path = shared / f"{name}.tflite"
    return path if path.exists() else None


class Network:
    """The described layers as PyTorch eager runs them."""

    def __init__(self, description, floats, channels_first):
        self.d = description
        self.format = torch.contiguous_format if channels_first else torch.channels_last
        self.tensors, self.trained = {}, []
        depthwise = {n["inputs"][1] for n in description["nodes"]
                     if n["op"] == "DEPTHWISE_CONV_2D"}
        for v, value in enumerate(description["values"]):
            if value["kind"] == "activation" or value["integers"]:
                continue
            size = int(np.prod(value["shape"]))
            array = floats[value["offset"]:value["offset"] + size].reshape(value["shape"])
            if array.ndim == 4 and v in depthwise:
                array = array.transpose(3, 0, 1, 2)
            elif array.ndim == 4:
                array = array.transpose(0, 3, 1, 2)
            tensor = torch.tensor(np.ascontiguousarray(array))
            if tensor.ndim == 4:
                tensor = tensor.to(memory_format=self.format)
            if value["kind"] == "parameter":
                tensor.requires_grad_(True)
                self.trained.append(tensor)
            self.tensors[v] = tensor

    def load(self, rows):
        """Rows [n, dim] as the value of the cut."""
        shape = [rows.shape[0], *self.d["values"][self.d["cut"]]["shape"][1:]]
        x = rows.reshape(shape)
        return x.permute(0, 3, 1, 2).contiguous(memory_format=self.format) if x.ndim == 4 else x

    def view(self, made, v):
        """The value v, which may be another view of what its storage holds."""
        value = self.d["values"][v]
        if value["kind"] != "activation":
            return self.tensors.get(v)  # none: integers
        if value["storage"] == v:
            return made[v]
        x = made[value["storage"]]
        shape = [x.shape[0], *value["shape"][1:]]
        if x.ndim == 4:
            x = x.permute(0, 2, 3, 1)
        x = x.reshape(shape)
        return x.permute(0, 3, 1, 2) if x.ndim == 4 else x

    def pad(self, x, node, filter_size):
        """SAME padding: what one number a side can say goes to the convolution."""
        if not node["same"]:
            return x, (0, 0)
        sides = []
        for axis in (0, 1):
            stride = node["stride"][axis]
            extent = (filter_size[axis] - 1) * node["dilation"][axis] + 1
            size = x.shape[2 + axis]
            total = max(0, (-(-size // stride) - 1) * stride + extent - size)
            sides.append((total // 2, total - total // 2))
        if all(a == b for a, b in sides):
            return x, (sides[0][0], sides[1][0])
        return F.pad(x, (*sides[1], *sides[0])), (0, 0)

    def run_node(self, node, made):
        x, *rest = [None if v < 0 else self.view(made, v) for v in node["inputs"]]
        op = node["op"]
        if op in ("CONV_2D", "DEPTHWISE_CONV_2D"):
            w, b = rest[0], rest[1] if len(rest) > 1 else None
            x, padding = self.pad(x, node, w.shape[2:])
            y = F.conv2d(x, w, b, node["stride"], padding, node["dilation"],
                         x.shape[1] // w.shape[1])
        elif op == "FULLY_CONNECTED":
            y = F.linear(x.reshape(-1, rest[0].shape[1]), *rest)
        elif op == "ADD":
            y = x + rest[0]
        elif op == "MUL":
            y = x * rest[0]
        elif op == "MEAN":
            value = self.d["values"][node["inputs"][1]]
            axes = [a % x.ndim for a in value["integers"]]
            axes = [{0: 0, 1: 2, 2: 3, 3: 1}[a] for a in axes] if x.ndim == 4 else axes
            keep = len(self.d["values"][node["output"]]["shape"]) == x.ndim
            y = x.mean(dim=axes, keepdim=keep)
        elif op in ("AVERAGE_POOL_2D", "MAX_POOL_2D"):
            x, padding = self.pad(x, node, node["filter"])
            pool = F.avg_pool2d if op == "AVERAGE_POOL_2D" else F.max_pool2d
            y = pool(x, node["filter"], node["stride"], padding)
        elif op in ("RELU", "LOGISTIC"):
            y = F.relu(x) if op == "RELU" else torch.sigmoid(x)
        else:
            sys.exit(f"FAIL: no PyTorch version of {op}")
        return {0: lambda v: v, 1: F.relu, 3: F.relu6}[node["activation"]](y)

    def logits(self, rows):
        made = {self.d["cut"]: self.load(rows)}
        for node in self.d["nodes"]:
            made[node["output"]] = self.run_node(node, made)
        return made[self.d["logits"]]


def train_torch(description, floats, x, y, rows, channels_first):
    network = Network(description, floats, channels_first)
    optimizer = torch.optim.SGD(network.trained, lr=RATE)
    x, y, rows = torch.tensor(x), torch.tensor(y).long(), torch.tensor(rows).long()
    start = 0.0
    for step, batch in enumerate(rows):
        if step == 1:  # one untimed step comes first
            start = time.perf_counter()
        optimizer.zero_grad()
        loss = F.cross_entropy(network.logits(x[batch]), y[batch])
        loss.backward()
        optimizer.step()
    return time.perf_counter() - start, float(loss.detach())


def limit_seconds(description, batch, flops, reading):
    """Seconds of a step if every forward, weight and input product ran at the machine's limit."""
    def count(v):
        value = description["values"][v]
        size = int(np.prod(value["shape"]))
        return size * batch if value["kind"] == "activation" else size

    total, work = 0.0, 0.0
    for node in description["nodes"]:
        inputs = [v for v in node["inputs"] if v >= 0]
        touched = count(node["output"]) + sum(count(v) for v in inputs)
        adds = count(node["output"])
        if node["op"] in ("CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"):
            weights = description["values"][inputs[1]]["shape"]
            depth = weights[1] * weights[2] if node["op"][0] == "D" else np.prod(weights[1:])
            adds *= int(depth)
        passes = 1 + bin(node["wanted"] & 3).count("1")
        for _ in range(passes):
            total += max(2 * adds / flops, 4 * touched / reading)
        work += passes * 2 * adds
    return total, work


def problem(dim, steps, path):
    rng = np.random.default_rng(dim)
    y = rng.integers(0, CLASSES, EXAMPLES).astype(np.int32)
    x = np.maximum(0, rng.normal(size=(EXAMPLES, dim))).astype(np.float32)
    rows = rng.integers(0, EXAMPLES, (steps, BATCH)).astype(np.int32)
    with open(path, "wb") as file:
        file.write(np.array([dim, CLASSES, EXAMPLES, BATCH, steps], np.int32).tobytes())
        file.write(np.array([RATE], np.float32).tobytes())
        for array in (x, y, rows):
            file.write(array.tobytes())
    return x, y, rows


def output_of(*command):
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()


def machine_limits(arguments):
    words = output_of(arguments.head_bench, "limits", arguments.threads, READ_BYTES).split()
    return float(words[0]) * 1e9, float(words[1]) * 1e9


def measure(arguments, name, layers, what, steps, folder, table):
    path = model_path(name)
    if path is None:
        print(f"{name}: not here (TOPWORK_SHARED), left out")
        return
    description = json.loads(output_of(arguments.bench, "describe", path, layers, what, CLASSES,
                                       folder / "floats.bin"))
    floats = np.fromfile(folder / "floats.bin", np.float32)
    x, y, rows = problem(description["dim"], steps + 1, folder / "problem.bin")
    flops, reading, ours, theirs = 0.0, 0.0, [], []
    for _ in range(arguments.rounds):
        flops, reading = map(max, (flops, reading), machine_limits(arguments))
        words = output_of(arguments.bench, "train", path, layers, what, arguments.threads,
                          folder / "problem.bin").split()
        seconds, loss = train_torch(description, floats, x, y, rows, arguments.channels_first)
        ours.append(float(words[0]))
        theirs.append(seconds)
        if abs(loss - float(words[1])) > 1e-3 * abs(loss):
            sys.exit(f"FAIL {name}: losses differ: {loss} and {words[1]}")
    runs = [[1e3 * a / steps, 1e3 * b / steps] for a, b in zip(ours, theirs)]
    ours, theirs = min(ours) / steps, min(theirs) / steps
    table.add(name, f"last {layers}, {'biases' if what == 'bias' else 'all'}, {arguments.threads} threads",
              1e3 * ours, 1e3 * theirs, theirs / ours, runs)
    limit, work = limit_seconds(description, BATCH, flops, reading)
    print(f"{name:27} {layers} {what:4}: topwork {ours * 1e3:8.3f} ms/step = {1 / ours:7.1f} "
          f"steps/s, torch {theirs * 1e3:8.3f}; torch / topwork {theirs / ours:5.2f}; "
          f"{work / ours / 1e9:6.1f} of {flops / 1e9:.0f} GFLOP/s; limit {limit * 1e3:7.3f} ms: "
          f"{100 * limit / ours:3.0f} % of it", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bench", help="path of topwork_tail_train_bench")
    parser.add_argument("head_bench", help="path of topwork_head_train_bench (machine limits)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", default="", help="cases whose 'model layers what' holds this")
    parser.add_argument("--channels-first", action="store_true")
    table = peers.Rows()
    table.add_option(parser)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(f"torch {torch.__version__}, {arguments.threads} threads, batch {BATCH}")
    with tempfile.TemporaryDirectory() as folder:
        for name, layers, what, steps in CASES:
            if arguments.only in f"{name} {layers} {what}":
                measure(arguments, name, layers, what, steps, pathlib.Path(folder), table)
    table.write(arguments.rows)


if __name__ == "__main__":
    main()
