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

import folders
import topwork
from topwork.pictures import examples
from topwork.tflite import Interpreter


class Embedder:
    """Gives a picture's features, scaled to length 1."""

    def __init__(self, path: str, mean: float | None, std: float | None) -> None:
        self.model = topwork.Model.open(path)
        self.scale = folders.scale_of(self.model, mean, std)
        feature = str(self.model.head()["feature"])
        self.run = Interpreter(model_path=path, experimental_preserve_all_tensors=True)
        self.run.allocate_tensors()
        self.index = next(t["index"] for t in self.run.get_tensor_details() if t["name"] == feature)

    def __call__(self, picture: Any) -> NDArray[np.float32]:
        """[n_features] float32 of a picture of PIL."""
        values = examples([picture], self.model.inputs[0], self.scale)
        self.run.set_tensor(self.run.get_input_details()[0]["index"], values)
        self.run.invoke()
        vector = self.run.get_tensor(self.index).reshape(-1).astype(np.float32)
        return vector / max(float(np.linalg.norm(vector)), 1e-12)


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

    embed = Embedder(options.model, options.mean, options.std)
    if options.command == "index":
        pictures, names = folders.pictures(options.data, embed.model)
        files = [path.name for path in folders.files(options.data)]
        np.savez(options.output, features=np.stack([embed(picture) for picture in pictures]), names=names, files=files)
        print(f"{len(pictures)} items")
        return
    items = np.load(options.items)
    with Image.open(options.picture) as picture:
        vector = embed(folders.fitted(picture, embed.model))
    if items["features"].shape[1] != len(vector):
        raise SystemExit(f"{options.items} was made with another model")
    for i, cosine in nearest(items["features"], vector, options.n):
        print(f"{cosine:.4f}\t{items['names'][i]}\t{items['files'][i]}")


if __name__ == "__main__":
    main()
