"""Pixels as a model's inputs: the same numbers as by arithmetic on every pixel, and no copy where none is needed."""
import types

import numpy as np
import pytest
from PIL import Image

from topwork import pictures

SCALES = [None, ([127.5], [127.5]), ([0.0], [1.0]), ([124.0, 116.0, 104.0], [58.0, 57.0, 57.5]), ([10.0], [50.0, 60.0, 70.0])]
INPUTS = [("float32", (), ()), ("uint8", (1 / 127.5,), (128,)), ("int8", (0.02,), (-5,)), ("int16", (1e-4,), (0,))]


def info_of(dtype, scales=(), zero_points=(), channels=3):
    return types.SimpleNamespace(name="x", dtype=dtype, shape=(1, 16, 16, channels), scales=scales, zero_points=zero_points)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("dtype, scales, zero_points", INPUTS)
def test_pixels_are_scaled(dtype, scales, zero_points, scale):
    pixels = np.stack([np.arange(256), np.arange(256)[::-1], np.arange(256) // 2], axis=-1).reshape(16, 16, 3).astype(np.uint8)
    found = pictures.scaled(pixels, info_of(dtype, scales, zero_points), scale)
    if scale is None and dtype in ("uint8", "int8"):
        wanted = pixels.astype(int) - (128 if dtype == "int8" else 0)
    else:
        mean, std = scale or ([0.0], [255.0])
        wanted = (pixels.astype(np.float32) - np.float32(mean)) / np.float32(std)
        if scales:
            limits = np.iinfo(dtype)
            wanted = np.clip(np.round(wanted / scales[0]) + zero_points[0], limits.min, limits.max)
    assert found.dtype == dtype and found.shape == pixels.shape
    np.testing.assert_array_equal(found, wanted.astype(dtype))


def test_bytes_that_stay_are_not_copied():
    pixels = np.zeros((16, 16, 3), np.uint8)
    assert pictures.scaled(pixels, info_of("uint8"), None) is pixels
    # A byte of this input stands for its pixel, as in the models of recipes/frigate.py.
    assert pictures.scaled(pixels, info_of("uint8", (1.0,), (0,)), ([0.0], [1.0])) is pixels


@pytest.mark.parametrize("channels, n", [(3, 2), (1, 3)])
def test_a_scale_for_other_channels_is_refused(channels, n):
    with pytest.raises(ValueError, match=f"{channels} channels.* {n}$"):
        pictures.scaled(np.zeros((16, 16, channels), np.uint8), info_of("float32", channels=channels), ([0.0] * n, [1.0]))


def test_pictures_of_any_mode_and_size():
    source = pictures.source([Image.new("RGB", (16, 16), (1, 2, 3)), Image.new("L", (40, 20), 7)], info_of("uint8"), None)
    assert len(source) == 2
    assert source[0][0, 0].tolist() == [1, 2, 3] and source[1][15, 15].tolist() == [7, 7, 7]
