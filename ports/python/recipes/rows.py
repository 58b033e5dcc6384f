"""What the recipes for sounds share: targets of several classes, files that judge, and rows added to small classes."""
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def targets(names: Array, negatives: list[str]) -> tuple[list[str], Array]:
    """The classes, and [n, n_classes] of 0 and 1."""
    none = {name.lower() for name in negatives}
    heard = [set() if name.lower() in none else {part.strip() for part in name.split(",")} for name in names]
    classes = sorted(set().union(*heard))
    if len(classes) < 2:
        raise SystemExit(f"--data has {len(classes)} classes: two are needed at least; {', '.join(negatives)} count as none")
    return classes, np.array([[name in found for name in classes] for found in heard], np.float32)


def left_out(Y: Array, groups: Array, share: float, seed: int) -> NDArray[np.bool_]:
    """Which rows judge: of each class, and of none, those of a share of the files, but never of all."""
    kinds: dict[bytes, list[int]] = {}
    for group in np.unique(groups):
        kinds.setdefault(Y[groups == group].max(axis=0).tobytes(), []).append(group)
    random = np.random.default_rng(seed)
    chosen = [random.permutation(files)[:min(len(files) - 1, max(1, round(share * len(files))))] for files in kinds.values()]
    return np.isin(groups, np.concatenate(chosen))


def upsampled(X: Array, Y: Array, groups: Array, mode: str, ratio: float, seed: int) -> tuple[Array, Array, Array]:
    """Adds rows to small classes until each has `ratio` times the largest one's: copies ("repeat"), means of two rows
    ("mean"), or points between a row and one of its five nearest ("smote"). A new row belongs to its first row's file."""
    random = np.random.default_rng(seed)
    wanted, rows, sources = int(Y.sum(axis=0).max() * ratio), [X], [np.arange(len(X))]
    for column in Y.T:
        members = np.flatnonzero(column)
        first = random.choice(members, max(0, wanted - len(members)))
        second, share = first, np.zeros((len(first), 1), np.float32)
        if mode == "mean":
            second, share = random.choice(members, len(first)), share + np.float32(0.5)
        elif mode == "smote" and len(members) > 1:
            near = [members[np.argsort(((X[members] - X[i]) ** 2).sum(axis=1), kind="stable")[1:6]] for i in first]
            second = np.array([random.choice(some) for some in near], np.int64)
            share = random.random(share.shape, np.float32)
        rows.append(X[first] + share * (X[second] - X[first]))
        sources.append(first)
    at = np.concatenate(sources)
    return np.concatenate(rows), Y[at], groups[at]
