"""Finds the items most similar to a picture: features of a network, compared exactly by cosine.

    python recommend.py index --data shop --model mobilenet.tflite --output shop.npz
    python recommend.py query --items shop.npz --model mobilenet.tflite --picture shoe.jpg --n 5

--data holds folders of pictures of items. The features are what the network's last layer reads. A query prints one item
a line: its cosine, its folder, its file. All items are compared, none is left out by an approximate index; a million
items of 1280 features take 5 GB of memory.
"""
from __future__ import annotations

import argparse
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import ending
import folders
import topwork


def embed(features: topwork.Features, pictures: Any) -> NDArray[np.float32]:
    """[n, n_features]: the features of n pictures of PIL, each row scaled to length 1."""
    rows = features(pictures)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def nearest(items: NDArray[np.float32], query: NDArray[np.float32], n: int) -> list[tuple[int, float]]:
    """The n items [n_items, n_features] of largest cosine with the query, the largest first; of equal ones the first."""
    cosines = items @ query
    return [(int(i), float(cosines[i])) for i in np.argsort(-cosines, kind="stable")[:n]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    index = commands.add_parser("index", help="computes the features of all items")
    index.add_argument("--data", type=pathlib.Path, required=True, help="folder with folders of pictures of items")
    index.add_argument("--output", type=pathlib.Path, required=True, help="the new .npz file")
    query = commands.add_parser("query", help="prints the items that are nearest to a picture")
    query.add_argument("--items", required=True, help="a file of `index` with the same model")
    query.add_argument("--picture", required=True)
    query.add_argument("--n", type=int, default=5, help="items to print; default: 5")
    for command in (index, query):
        command.add_argument("--model", required=True, help=".tflite network over pictures")
        command.add_argument("--mean", type=float, help="input = (pixel - mean) / std; default: the model's, else 127.5")
        command.add_argument("--std", type=float, help="see --mean")
    options = parser.parse_args()

    model = topwork.Model.open(options.model)
    features = topwork.Features(model, input_scale=folders.scale_of(model, options.mean, options.std))
    if options.command == "index":
        pictures, names = folders.pictures(options.data, model)
        files = [path.name for path in folders.files(options.data)]
        np.savez(options.output, features=embed(features, pictures), names=names, files=files)
        print(f"{len(pictures)} items")
        return
    items = np.load(options.items)
    if items["features"].shape[1] != features.n_features:
        raise SystemExit(f"{options.items} was made with another model")
    with Image.open(options.picture) as picture:
        vector, = embed(features, [folders.fitted(picture, model)])
    for i, cosine in nearest(items["features"], vector, options.n):
        print(f"{cosine:.4f}\t{items['names'][i]}\t{items['files'][i]}")


if __name__ == "__main__":
    ending.run(main)
