"""Writes tests/data/train/{optimizer_steps,gradients,schedules,solvers}.npz: what PyTorch and
scikit-learn say, in float64.

  python make_golden.py [FOLDER]

optimizer_steps  50 steps of every optimizer on a small softmax classifier. x [N, D] and y [N] are
                 the examples, batches [50, B] the rows of each step; <name>_losses [50],
                 <name>_norms [50], <name>_w [C, D] and <name>_b [C] the mean loss and the gradient's
                 norm of each step (before its update) and the result. Names and settings are those
                 of optimizer_test.cc; L1 is l1·sign(w) added behind the clipping.
gradients        loss and gradient of a dense layer: <i>_settings [loss, label_smoothing,
                 huber_delta], <i>_x, <i>_w, <i>_b, <i>_labels or <i>_values, <i>_class_weights
                 (perhaps empty), <i>_loss, <i>_gw, <i>_gb for i < count.
schedules        <name> [60] factors of the steps of a run of 50, those of schedule_test.cc.
solvers          logistic_l2 and logistic_losses (mean cross-entropy + ½ l2 |w|²) of scikit-learn's
                 LogisticRegression on models/zoo/data/digits_8x8/train, pixels as they are; <name>_x,
                 <name>_t, <name>_s (perhaps empty), <name>_l2, <name>_w and <name>_b of Ridge.
Needs numpy, torch and scikit-learn.
"""

import pathlib
import sys

import numpy as np
import torch
from sklearn import linear_model
from torch.nn import functional
from torch.optim import lr_scheduler

N, D, C, B, STEPS = 60, 19, 5, 7, 50
SOFTMAX, SIGMOID, MSE, HUBER = range(4)


def sgd(rate, **options):
    return lambda groups: torch.optim.SGD(groups, lr=rate, **options)


def adam(rate=0.02, **options):
    return lambda groups: torch.optim.Adam(groups, lr=rate, **options)


def adamw(rate=0.02, **options):
    return lambda groups: torch.optim.AdamW(groups, lr=rate, **options)


# name: optimizer, weight_decay, l1, clip_norm
RUNS = {
    "sgd": (sgd(0.1), 0.0, 0.0, 0.0),
    "sgd_decay": (sgd(0.1), 0.3, 0.0, 0.0),
    "sgd_l1": (sgd(0.1), 0.0, 0.02, 0.0),
    "sgd_clip": (sgd(0.1), 0.0, 0.0, 0.5),
    "momentum": (sgd(0.05, momentum=0.9), 0.0, 0.0, 0.0),
    "momentum_all": (sgd(0.05, momentum=0.9), 0.1, 0.01, 0.4),
    "nesterov": (sgd(0.05, momentum=0.9, nesterov=True), 0.0, 0.0, 0.0),
    "nesterov_all": (sgd(0.05, momentum=0.9, nesterov=True), 0.1, 0.01, 0.4),
    "adam": (adam(), 0.0, 0.0, 0.0),
    "adam_betas": (adam(betas=(0.8, 0.95), eps=1e-3), 0.0, 0.0, 0.0),
    "adam_decay": (adam(), 0.3, 0.0, 0.0),
    "adam_l1": (adam(), 0.0, 0.02, 0.0),
    "adam_clip": (adam(eps=1e-2), 0.0, 0.0, 0.3),
    "adam_all": (adam(betas=(0.7, 0.99), eps=1e-3), 0.1, 0.01, 0.3),
    "adamw": (adamw(), 0.0, 0.0, 0.0),
    "adamw_decay": (adamw(), 0.3, 0.0, 0.0),
    "adamw_all": (adamw(), 0.3, 0.01, 0.3),
}


def train(optimizer, decay, l1, clip, x, y, batches):
    w = torch.zeros(C, D, dtype=torch.float64, requires_grad=True)
    b = torch.zeros(C, dtype=torch.float64, requires_grad=True)
    steps = optimizer([{"params": [w], "weight_decay": decay}, {"params": [b], "weight_decay": 0.0}])
    x, y = torch.tensor(x, dtype=torch.float64), torch.tensor(y)
    losses, norms = [], []
    for rows in batches:
        steps.zero_grad()
        loss = functional.cross_entropy(x[rows] @ w.T + b, y[rows])
        loss.backward()
        norms.append(float(torch.nn.utils.clip_grad_norm_([w, b], clip or np.inf)))
        w.grad += l1 * torch.sign(w.detach())
        steps.step()
        losses.append(float(loss.detach()))
    return np.array(losses), np.array(norms), w.detach().numpy(), b.detach().numpy()


def optimizer_steps():
    rng = np.random.default_rng(7)
    y = rng.integers(0, C, N)
    centres = rng.normal(size=(C, D))
    x = (centres[y] + 0.8 * rng.normal(size=(N, D))).astype(np.float32)
    batches = np.stack([rng.choice(N, B, replace=False) for _ in range(STEPS)])
    arrays = {"x": x, "y": y.astype(np.int32), "batches": batches.astype(np.int32)}
    for name, settings in RUNS.items():
        losses, norms, w, b = train(*settings, x, y, batches)
        arrays.update({f"{name}_losses": losses, f"{name}_norms": norms})
        arrays.update({f"{name}_w": w, f"{name}_b": b})
    return arrays


def loss_of(kind, smoothing, delta, weights, scores, target):
    if kind == SOFTMAX:
        return functional.cross_entropy(scores, target, weight=weights, label_smoothing=smoothing)
    if kind == SIGMOID:
        soft = target * (1 - smoothing) + smoothing / 2
        return functional.binary_cross_entropy_with_logits(scores, soft, pos_weight=weights)
    if kind == MSE:
        errors = functional.mse_loss(scores, target, reduction="none")
    else:
        errors = functional.huber_loss(scores, target, reduction="none", delta=delta)
    return (errors if weights is None else errors * weights).mean()


def gradients():
    rng = np.random.default_rng(11)
    shapes = [(1, 1, 2), (7, 19, 3), (33, 5, 10), (9, 35, 4), (3, 16, 1)]
    variants = [
        (kind, smoothing, delta, weighted, extreme)
        for kind, smoothings, deltas in (
            (SOFTMAX, (0.0, 0.1), (1.0,)),
            (SIGMOID, (0.0, 0.2), (1.0,)),
            (MSE, (0.0,), (1.0,)),
            (HUBER, (0.0,), (0.5, 2.0)),
        )
        for smoothing in smoothings
        for delta in deltas
        for weighted in (False, True)
        for extreme in (False, True)
    ]
    arrays, count = {}, 0
    for i, (kind, smoothing, delta, weighted, extreme) in enumerate(variants):
        for n, dim, outputs in (shapes[i % 5], shapes[(i + 2) % 5]):
            outputs = max(outputs, 2) if kind == SOFTMAX else outputs
            # Extreme scores are whole numbers of up to about 1e4, exact in float32, too.
            x = rng.integers(-1, 2, (n, dim)) if extreme else rng.normal(size=(n, dim))
            w = rng.normal(size=(outputs, dim))
            w = np.round(w * 5000 / np.sqrt(dim)) if extreme else w / np.sqrt(dim)
            b = np.round(rng.normal(size=outputs) * (5000 if extreme else 8)) / 8
            x, w, b = (np.asarray(a, np.float32) for a in (x, w, b))
            labels = rng.integers(0, outputs, n).astype(np.int32)
            values = rng.normal(size=(n, outputs)).astype(np.float32)
            if kind == SIGMOID:
                values = (values > 0).astype(np.float32)
            weights = rng.uniform(0.2, 3.0, outputs).astype(np.float32) if weighted else None
            tw, tb = (torch.tensor(a, dtype=torch.float64, requires_grad=True) for a in (w, b))
            scores = torch.tensor(x, dtype=torch.float64) @ tw.T + tb
            target = torch.tensor(labels).long() if kind == SOFTMAX else torch.tensor(values).double()
            torch_weights = torch.tensor(weights).double() if weighted else None
            loss = loss_of(kind, smoothing, delta, torch_weights, scores, target)
            loss.backward()
            case = {"settings": np.array([kind, smoothing, delta]), "x": x, "w": w, "b": b}
            case["labels"], case["values"] = labels, values
            case["class_weights"] = weights if weighted else np.zeros(0, np.float32)
            case["loss"] = loss.detach().numpy().reshape(1)
            case["gw"], case["gb"] = tw.grad.numpy(), tb.grad.numpy()
            arrays.update({f"{count}_{key}": value for key, value in case.items()})
            count += 1
    arrays["count"] = np.array([count], np.int32)
    return arrays


def factors(make, n):
    steps = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    schedule = make(steps)
    out = []
    for _ in range(n):
        out.append(schedule.get_last_lr()[0])
        steps.step()
        schedule.step()
    return np.array(out)


def schedules():
    """Runs of 50 steps (60 without an end), warm-up of 5 where named, epochs of 4 steps."""

    def warm(make, warmup=5):
        def both(steps):
            rise = lr_scheduler.LinearLR(steps, 1 / warmup, 1.0, total_iters=warmup - 1)
            return lr_scheduler.SequentialLR(steps, [rise, make(steps)], milestones=[warmup])

        return both

    def cosine(total):
        return lambda steps: lr_scheduler.CosineAnnealingLR(steps, T_max=total)

    def linear(total):
        return lambda steps: lr_scheduler.LinearLR(steps, 1.0, 0.0, total_iters=total)

    def drops(steps):
        return lr_scheduler.StepLR(steps, step_size=3, gamma=0.3)

    return {
        "cosine": factors(cosine(50), 50),
        "linear": factors(linear(50), 50),
        "step_by_epoch": factors(drops, 15),
        "constant_warm": factors(warm(lambda steps: lr_scheduler.ConstantLR(steps, 1.0)), 60),
        "cosine_warm": factors(warm(cosine(45)), 50),
        "linear_warm": factors(warm(linear(45)), 50),
    }


def logistic(l2, x, y):
    """The least mean cross-entropy + ½ l2 |w|² over weights; the bias is free."""
    model = linear_model.LogisticRegression(
        C=1 / (l2 * len(x)), solver="newton-cg", tol=1e-10, max_iter=10000
    )
    model.fit(x, y)
    log_p = model.predict_log_proba(x)
    return -log_p[np.arange(len(y)), y].mean() + 0.5 * l2 * (model.coef_**2).sum()


def solvers():
    digits = pathlib.Path(__file__).parents[4] / "models" / "zoo" / "data" / "digits_8x8" / "train"
    x = np.load(digits / "x.npy").reshape(-1, 64).astype(np.float64)
    y = np.load(digits / "y.npy").astype(int)
    l2 = np.array([1e-1, 1e-2, 1e-3])
    arrays = {"logistic_l2": l2, "logistic_losses": np.array([logistic(v, x, y) for v in l2])}
    rng = np.random.default_rng(5)
    # Tall, wide, square, weighted; none of the sizes a multiple of a tile.
    for name, n, dim, outputs, penalty, weighted in (
        ("tall", 150, 21, 3, 0.5, False),
        ("tall_free", 90, 17, 2, 0.0, False),
        ("wide", 23, 75, 4, 0.1, False),
        ("square", 33, 33, 1, 2.0, False),
        ("tall_weighted", 130, 19, 2, 0.3, True),
        ("wide_weighted", 18, 37, 3, 0.3, True),
    ):
        x = (rng.normal(size=(n, dim)) * rng.uniform(0.3, 3, dim) + 2).astype(np.float32)
        t = (x @ rng.normal(size=(dim, outputs)) + rng.normal(size=(n, outputs)) - 5).astype(np.float32)
        s = rng.uniform(0, 3, n).astype(np.float32) if weighted else np.zeros(0, np.float32)
        model = linear_model.Ridge(alpha=penalty, solver="cholesky")
        if penalty == 0.0:
            model = linear_model.LinearRegression()
        model.fit(x.astype(np.float64), t.astype(np.float64), sample_weight=s if weighted else None)
        arrays.update({f"{name}_x": x, f"{name}_t": t, f"{name}_s": s})
        arrays[f"{name}_l2"] = np.array([penalty])
        arrays[f"{name}_w"] = np.ascontiguousarray(model.coef_.reshape(outputs, dim))
        arrays[f"{name}_b"] = model.intercept_
    return arrays


def main():
    default = pathlib.Path(__file__).parents[3] / "data" / "train"
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else default
    np.savez(folder / "optimizer_steps.npz", **optimizer_steps())
    np.savez(folder / "gradients.npz", **gradients())
    np.savez(folder / "schedules.npz", **schedules())
    np.savez(folder / "solvers.npz", **solvers())


if __name__ == "__main__":
    main()
