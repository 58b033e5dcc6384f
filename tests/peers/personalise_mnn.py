"""The MNN side of personalise_peers.py: features once by MNN, the head by its training API (Adam).

The network is converted by mnnconvert before the clock starts; ends with the head as .mnn on disk.
"""

import subprocess
import sys

import MNN
import MNN.expr as F
import MNN.nn as nn
import MNN.optim as optim
import numpy as np
from PIL import Image  # noqa: F401  (imported before the clock starts)

import personalise_side as side


class Head(nn.Module):
    def __init__(self, dim, n_classes):
        super().__init__()
        self.dense = nn.linear(dim, n_classes)

    def forward(self, x):
        return F.softmax(self.dense(x), 1)


def prepare(work):
    # The converter itself: its start script would install a package for logging, and report.
    convert = "import _tools, sys; _tools.mnnconvert(['mnnconvert', *sys.argv[1:]])"
    subprocess.run([sys.executable, "-c", convert, "-f", "TFLITE", "--modelFile", work / "features_f32.tflite",
                    "--MNNModel", work / "features.mnn", "--bizCode", "x"], check=True)


def constant(array):
    return F.const(array, list(array.shape), F.NHWC, F.float)


def begin(job):
    job.start()
    path = str(job.work / "features.mnn")
    entry, shape = next((n, v.shape) for n, v in
                        F.get_inputs_and_outputs(F.load_as_dict(path))[0].items())
    result = str(np.load(job.work / "network.npz")["result"])
    base = nn.load_module_from_file(path, [entry], [result], thread_num=job.threads)
    size = shape[1]
    job.done("open")
    x, y = side.read_images(job.images, size)
    job.done("images")
    rows = []
    for image in x:
        out = base.forward([constant(image[None])])[0]
        rows.append(np.array(F.convert(out, F.NHWC).read()).reshape(-1))
    job.done("features")
    return np.stack(rows).astype(np.float32), y


def train(job):
    F.set_thread_number(job.threads)
    features, y = begin(job)
    F.lazy_eval(True)  # without it, steps find nothing to differentiate
    onehot = np.eye(y.max() + 1, dtype=np.float32)[y]
    head = Head(features.shape[1], onehot.shape[1])
    optimizer = optim.ADAM(head, side.RATE)
    head.train(True)
    rng = np.random.default_rng(1)
    for _ in range(job.epochs):
        order = rng.permutation(len(features))
        for first in range(0, len(order), side.BATCH):
            rows = order[first:first + side.BATCH]
            scores = head.forward(constant(features[rows]))
            optimizer.step(nn.loss.cross_entropy(scores, constant(onehot[rows])))
    job.done("training")
    head.train(False)
    entry = F.placeholder([1, features.shape[1]], F.NHWC, F.float)
    F.save([head.forward(entry)], str(job.output))
    job.done("export")
    scores = np.array(head.forward(constant(features)).read()).reshape(onehot.shape)
    job.finish(side.accuracy(scores, y), f"MNN {MNN.version()}")


if __name__ == "__main__":
    side.main(prepare, {"mnn": train})
