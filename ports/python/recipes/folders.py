"""What the recipes share: pictures in folders, one folder for each class."""
from __future__ import annotations

import pathlib
from typing import Any, Optional

from PIL import Image

import topwork

ENDINGS = {".bmp", ".jpeg", ".jpg", ".png"}


def files(folder: pathlib.Path) -> list[pathlib.Path]:
    """The pictures FOLDER/CLASS/FILE, sorted by class and file."""
    found = [path for path in sorted(folder.glob("*/*")) if path.suffix.lower() in ENDINGS]
    if not found:
        raise SystemExit(f"{folder}: no folders with pictures ({', '.join(sorted(ENDINGS))})")
    return found


def fitted(picture: Any, model: topwork.Model) -> Any:
    """A picture of PIL in the size of the model's input, RGB or grey."""
    shape = model.inputs[0].shape
    if len(shape) != 4 or shape[3] not in (1, 3):
        raise SystemExit(f"the model's input has shape {shape}: pictures need [1, height, width, 1 or 3]")
    return picture.convert("RGB" if shape[3] == 3 else "L").resize((shape[2], shape[1]), Image.Resampling.BILINEAR)


def pictures(folder: pathlib.Path, model: topwork.Model) -> tuple[list[Any], list[str]]:
    """All pictures of FOLDER/CLASS/ as the model takes them, and the name of each one's class."""
    found, names = [], []
    for path in files(folder):
        with Image.open(path) as picture:
            found.append(fitted(picture, model))
        names.append(path.parent.name)
    return found, names


def scale_of(model: topwork.Model, mean: Optional[float], std: Optional[float]) -> tuple[list[float], list[float]]:
    """(mean, std) by which pixels become inputs: what was given, else the model's metadata, else 127.5 and 127.5."""
    default = model.input_scale or ([127.5], [127.5])
    return [mean] if mean is not None else default[0], [std] if std is not None else default[1]
