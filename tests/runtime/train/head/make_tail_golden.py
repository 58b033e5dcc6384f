"""Writes tests/data/train/tail_steps.npz: 20 SGD steps of the last three layers of
models/zoo/digits_cnn_f32.tflite in PyTorch (float64), for a new head of four classes from zeros.

  python make_tail_golden.py [OUTPUT]

The examples are the first 64 of models/zoo/data/digits_8x8/train, the class is the digit modulo
four. batches [20, 16] are the rows of each step, rate is the learning rate; losses [20] the mean
loss before each update; head_w, head_b, conv2_w (OHWI), conv2_b, conv1_w, conv1_b the result. Needs
numpy, torch and ai-edge-litert.
"""

import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from ai_edge_litert.interpreter import Interpreter

ROOT = pathlib.Path(__file__).resolve().parents[4]
N, CLASSES, BATCH, STEPS, RATE = 64, 4, 16, 20, 1 / 64


def nchw(x):
    return x.permute(0, 3, 1, 2)


def constants():
    """Weights and biases of the model's layers in execution order, as float64 tensors."""
    model = Interpreter(str(ROOT / "models/zoo/digits_cnn_f32.tflite"))
    model.allocate_tensors()
    layers = [op for op in model._get_ops_details()
              if op["op_name"] in ("CONV_2D", "DEPTHWISE_CONV_2D")]
    return [[torch.tensor(model.get_tensor(i).astype(np.float64)) for i in op["inputs"][1:]]
            for op in layers]


def main():
    (conv0, depthwise, conv1, conv2) = constants()
    x = np.load(ROOT / "models/zoo/data/digits_8x8/train/x.npy")[:N].astype(np.float64)
    y = torch.tensor(np.load(ROOT / "models/zoo/data/digits_8x8/train/y.npy")[:N] % CLASSES)
    with torch.no_grad():
        cut = F.relu(F.conv2d(nchw(torch.tensor(x)), nchw(conv0[0]), conv0[1], padding=1))
    trained = {"head_w": torch.zeros(CLASSES, 64, dtype=torch.float64),
               "head_b": torch.zeros(CLASSES, dtype=torch.float64), "conv2_w": conv2[0],
               "conv2_b": conv2[1], "conv1_w": conv1[0], "conv1_b": conv1[1]}
    for value in trained.values():
        value.requires_grad_(True)
    t = trained

    def loss(rows):
        z = cut[rows]
        d = F.conv2d(z, depthwise[0][0].permute(2, 0, 1)[:, None], depthwise[1], padding=1, groups=16)
        h = F.conv2d(F.relu6(d), nchw(t["conv1_w"]), t["conv1_b"]) + z
        h = F.pad(F.max_pool2d(h, 2), (0, 1, 0, 1))  # SAME, 3 x 3, stride 2 on 4 x 4
        h = F.relu(F.conv2d(h, nchw(t["conv2_w"]), t["conv2_b"], stride=2)).mean(dim=(2, 3))
        return F.cross_entropy(h @ t["head_w"].T + t["head_b"], y[rows])

    rng = np.random.default_rng(5)
    batches = np.stack([rng.choice(N, BATCH, replace=False) for _ in range(STEPS)])
    losses = []
    optimizer = torch.optim.SGD(trained.values(), lr=RATE)
    for rows in batches:
        optimizer.zero_grad()
        value = loss(rows)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    arrays = {name: value.detach().numpy().astype(np.float32) for name, value in trained.items()}
    arrays.update(batches=batches.astype(np.int32), losses=np.array(losses),
                  rate=np.array([RATE], np.float32))
    default = ROOT / "tests/data/train/tail_steps.npz"
    np.savez_compressed(sys.argv[1] if len(sys.argv) > 1 else default, **arrays)
    print(losses)


if __name__ == "__main__":
    main()
