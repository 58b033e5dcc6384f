"""Writes tests/data/train/optimizer_steps.npz: 50 steps of every optimizer, computed by NumPy in
float64 from the formulas, on a small softmax classifier.

  python make_golden.py [OUTPUT]

x [N, D] and y [N] are the examples, batches [50, B] the rows of each step; <name>_losses [50],
<name>_w [C, D] and <name>_b [C] the mean loss of each step (before its update) and the result. The
names and settings are those of optimizer_test.cc. Needs numpy only.
"""

import pathlib
import sys

import numpy as np

N, D, C, B, STEPS = 60, 19, 5, 7, 50


def sgd(momentum=0.0, nesterov=False):
    velocity = {}

    def update(name, value, gradient, rate, _):
        v = velocity[name] = momentum * velocity.get(name, 0.0) + gradient
        return value - rate * (gradient + momentum * v if nesterov else v)

    return update


def adam(beta1=0.9, beta2=0.999, epsilon=1e-8):
    first, second = {}, {}

    def update(name, value, gradient, rate, step):
        m = first[name] = beta1 * first.get(name, 0.0) + (1 - beta1) * gradient
        v = second[name] = beta2 * second.get(name, 0.0) + (1 - beta2) * gradient**2
        return value - rate * (m / (1 - beta1**step)) / (np.sqrt(v / (1 - beta2**step)) + epsilon)

    return update


RUNS = {
    "sgd": (sgd(), 0.1, 0.0),
    "momentum": (sgd(0.9), 0.05, 0.0),
    "nesterov": (sgd(0.9, True), 0.05, 0.0),
    "adam": (adam(), 0.02, 0.0),
    "adam_betas": (adam(0.8, 0.95, 1e-3), 0.02, 0.0),
    "sgd_decay": (sgd(), 0.1, 0.3),
    "adam_decay": (adam(), 0.02, 0.3),
}


def train(update, rate, decay, x, y, batches):
    w, b = np.zeros((C, D)), np.zeros(C)
    losses = []
    for step, rows in enumerate(batches, start=1):
        xb, yb = x[rows].astype(np.float64), y[rows]
        logits = xb @ w.T + b
        logits -= logits.max(axis=1, keepdims=True)
        log_p = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
        losses.append(-log_p[np.arange(len(yb)), yb].mean())
        delta = np.exp(log_p)
        delta[np.arange(len(yb)), yb] -= 1.0
        delta /= len(yb)
        w = update("w", w, delta.T @ xb + decay * w, rate, step)
        b = update("b", b, delta.sum(axis=0), rate, step)
    return np.array(losses), w, b


def main():
    rng = np.random.default_rng(7)
    y = rng.integers(0, C, N)
    centres = rng.normal(size=(C, D))
    x = (centres[y] + 0.8 * rng.normal(size=(N, D))).astype(np.float32)
    batches = np.stack([rng.choice(N, B, replace=False) for _ in range(STEPS)])
    arrays = {"x": x, "y": y.astype(np.int32), "batches": batches.astype(np.int32)}
    for name, (update, rate, decay) in RUNS.items():
        losses, w, b = train(update, rate, decay, x, y, batches)
        arrays.update({f"{name}_losses": losses, f"{name}_w": w, f"{name}_b": b})
    default = pathlib.Path(__file__).parents[2] / "data" / "train" / "optimizer_steps.npz"
    output = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    np.savez(output, **arrays)


if __name__ == "__main__":
    main()
