"""Writes tests/data/train/augment.npz: windows of an image, scaled back to its size by PyTorch.

  python make_augment_golden.py [FOLDER]

image [H, W, C]; windows [n, 5] of top, left, height, width, flip; outputs [n, H, W, C], by
torch.nn.functional.interpolate(bilinear, align_corners=False) and torch.flip in float64.
Needs numpy and torch.
"""

import pathlib
import sys

import numpy as np
import torch

H, W, C = 7, 10, 3


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests/data/train")
    rng = np.random.default_rng(7)
    image = rng.uniform(-1.0, 3.0, (H, W, C)).astype(np.float32)
    windows = [(0, 0, H, W, 0), (0, 0, H, W, 1), (1, 2, 5, 7, 0), (1, 2, 5, 7, 1), (6, 9, 1, 1, 0),
               (0, 3, 7, 1, 1), (2, 0, 1, 10, 0), (3, 4, 4, 6, 0), (0, 0, 2, 3, 1)]
    outputs = []
    for top, left, height, width, flip in windows:
        crop = torch.tensor(image[top:top + height, left:left + width], dtype=torch.float64)
        crop = crop.permute(2, 0, 1)[None]
        scaled = torch.nn.functional.interpolate(crop, size=(H, W), mode="bilinear",
                                                 align_corners=False)
        scaled = torch.flip(scaled, [3]) if flip else scaled
        outputs.append(scaled[0].permute(1, 2, 0).numpy())
    np.savez_compressed(folder / "augment.npz", image=image,
                        windows=np.array(windows, np.int32),
                        outputs=np.array(outputs, np.float32))


if __name__ == "__main__":
    main()
