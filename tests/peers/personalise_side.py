"""What every side of personalise_peers.py does alike: reading images, timing parts, reporting.

A side is a script called as SCRIPT prepare WORK, once and untimed, and then as
SCRIPT NAME WORK IMAGES OUTPUT THREADS EPOCHS, which prints one JSON document. Its clock starts when
all Python packages are imported and stops when the new model is on disk.
"""

import json
import os
import pathlib
import sys
import time

import numpy as np

MEAN, STD = 127.0, 128.0
BATCH = 32
RATE = 0.01


def processor_seconds():
    """Of all threads of this process and of the processes that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


class Job:
    """The arguments of a timed call, and its clock."""

    def __init__(self, arguments):
        self.name, work, images, output, threads, epochs = arguments
        self.work, self.images = pathlib.Path(work), pathlib.Path(images)
        self.output = pathlib.Path(output)
        self.threads, self.epochs = int(threads), int(epochs)
        self.seconds = {}

    def start(self):
        self.begin = self.last = time.perf_counter()
        self.cpu = processor_seconds()

    def done(self, part):
        now = time.perf_counter()
        self.seconds[part] = self.seconds.get(part, 0.0) + now - self.last
        self.last = now
        self.cpu_at_last = processor_seconds()

    def finish(self, accuracy, versions):
        print(json.dumps({
            "side": self.name, "total": self.last - self.begin, "seconds": self.seconds,
            "cpu": self.cpu_at_last - self.cpu,
            "bytes": self.output.stat().st_size, "accuracy": float(accuracy), "versions": versions,
        }))


def read_images(folder, size):
    """Images [n, size, size, 3] float32 and class numbers [n] of one folder per class."""
    from PIL import Image
    x, y = [], []
    for label, name in enumerate(sorted(p for p in folder.iterdir() if p.is_dir())):
        for path in sorted(name.iterdir()):
            with Image.open(path) as image:
                pixels = image.convert("RGB").resize((size, size), Image.Resampling.BILINEAR)
            x.append((np.asarray(pixels, np.float32) - MEAN) / STD)
            y.append(label)
    return np.stack(x), np.array(y)


def network(work):
    """(layers, weights, input shape) that personalise_network.py wrote."""
    data = np.load(work / "network.npz")
    return json.loads(str(data["layers"])), data, data["input"].tolist()


def accuracy(scores, labels):
    return (np.asarray(scores).argmax(axis=1) == labels).mean()


def main(prepare, sides):
    if sys.argv[1] == "prepare":
        prepare(pathlib.Path(sys.argv[2]))
        return
    job = Job(sys.argv[1:])
    sides[job.name](job)
