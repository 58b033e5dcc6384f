"""What the recipes for pictures share: one folder for each class, in it files or folders of files taken together."""
from __future__ import annotations

import pathlib
from typing import Any, Optional

from PIL import Image

import topwork

ENDINGS = {".bmp", ".jpeg", ".jpg", ".png"}


def files(folder: pathlib.Path) -> list[pathlib.Path]:
    """The pictures FOLDER/CLASS/FILE and FOLDER/CLASS/GROUP/FILE, sorted by class, group and file."""
    paths = [*folder.glob("*/*"), *folder.glob("*/*/*")]
    found = [path for path in sorted(paths) if path.suffix.lower() in ENDINGS]
    if not found:
        raise SystemExit(f"{folder}: no folders with pictures ({', '.join(sorted(ENDINGS))})")
    return found


def groups(folder: pathlib.Path) -> Optional[list[int]]:
    """A number for each picture of `files`, the same for those of one GROUP (of any class), another for each picture in no
    group; None if all are in none."""
    parts = [path.relative_to(folder).parts for path in files(folder)]
    if all(len(part) == 2 for part in parts):
        return None
    numbers: dict[tuple[str, ...], int] = {}
    return [numbers.setdefault(part[1:2] if len(part) == 3 else part, len(numbers)) for part in parts]


def fitted(picture: Any, model: topwork.Model) -> Any:
    """A picture of PIL in the size of the model's input, RGB or grey."""
    shape = model.inputs[0].shape
    if len(shape) != 4 or shape[3] not in (1, 3):
        raise SystemExit(f"the model's input has shape {shape}: pictures need [1, height, width, 1 or 3]")
    mode = "RGB" if shape[3] == 3 else "L"
    return (picture if picture.mode == mode else picture.convert(mode)).resize((shape[2], shape[1]), Image.Resampling.BILINEAR)


class Pictures:
    """Pictures of files as the model takes them. Each is opened as it is read, so that memory holds one at a time."""

    def __init__(self, paths: list[pathlib.Path], model: topwork.Model) -> None:
        self._paths = paths
        self._model = model

    def __len__(self) -> int:
        return len(self._paths)

    def __getitem__(self, index: int) -> Any:
        with Image.open(self._paths[index]) as picture:
            return fitted(picture, self._model)


def pictures(folder: pathlib.Path, model: topwork.Model) -> tuple[Pictures, list[str]]:
    """All pictures of `files` as the model takes them, and the name of each one's class."""
    paths = files(folder)
    return Pictures(paths, model), [path.relative_to(folder).parts[0] for path in paths]


def scale_of(model: topwork.Model, mean: Optional[float], std: Optional[float]) -> tuple[list[float], list[float]]:
    """(mean, std) by which pixels become inputs: what was given, else the model's metadata, else 127.5 and 127.5."""
    default = model.input_scale or ([127.5], [127.5])
    return [mean] if mean is not None else default[0], [std] if std is not None else default[1]
