"""What a node knows: its model, its examples, and the part of them that is its own in a simulation."""
from __future__ import annotations

import pathlib
from typing import Any

import numpy as np

import topwork

ENDINGS = {".bmp", ".jpeg", ".jpg", ".png"}


def setting(context: Any, name: str) -> Any:
    """The node's own, else the run's."""
    return context.node_config.get(name, context.run_config[name])


def classes(context: Any) -> list[str]:
    return [name.strip() for name in str(context.run_config["classes"]).split(",")]


def model(context: Any) -> topwork.Model:
    return topwork.Model.open(str(setting(context, "model")))


def load(context: Any) -> tuple[Any, list[str]]:
    """A node's examples: all of its folder, or its part of them where it has a partition-id, as simulated nodes have."""
    X, y = read(pathlib.Path(str(setting(context, "data"))), model(context))
    n_parts = int(context.node_config.get("num-partitions", 1))
    rows = part(y, int(context.node_config.get("partition-id", 0)), n_parts) if n_parts > 1 else range(len(y))
    return [X[i] for i in rows] if isinstance(X, list) else X[list(rows)], [y[i] for i in rows]


def read(folder: pathlib.Path, model: topwork.Model) -> tuple[Any, list[str]]:
    """Arrays x.npy [n, ...] and y.npy [n], or pictures in one folder for each class."""
    if (folder / "x.npy").exists():
        return np.load(folder / "x.npy"), [str(label) for label in np.load(folder / "y.npy")]
    paths = [path for path in sorted(folder.glob("*/*")) if path.suffix.lower() in ENDINGS]
    if not paths:
        raise FileNotFoundError(f"{folder}: neither x.npy and y.npy, nor folders with pictures ({', '.join(sorted(ENDINGS))})")
    from PIL import Image
    _, height, width, channels = model.inputs[0].shape
    pictures = []
    for path in paths:
        with Image.open(path) as picture:
            pictures.append(picture.convert("RGB" if channels == 3 else "L").resize((width, height)))
    return pictures, [path.parent.name for path in paths]


def part(y: list[str], index: int, n_parts: int) -> list[int]:
    """Two of 2 n_parts slices of the examples sorted by class, so that a node knows few of the classes (McMahan 2017)."""
    slices = np.array_split(np.argsort(np.asarray(y), kind="stable"), 2 * n_parts)
    return [int(i) for i in np.concatenate([slices[index], slices[index + n_parts]])]
