"""Brings a classifier of PyTorch to .tflite and re-trains its last layer on pictures in folders, on any machine.

    python pytorch.py --network mobilenet_v3_small --weights mine.pt --data pictures --output mine.tflite
    python pytorch.py --network my_package.networks:make --weights mine.pt --data pictures --output mine.tflite

--network is a function of torchvision.models, or MODULE:FUNCTION of your own that returns a torch.nn.Module over
[n, 3, side, side]. --weights is its state_dict; without it the weights are random. litert-torch converts; the new file's
answers are then compared with PyTorch's. --converted keeps that file: with it, and Topwork alone, a device re-trains
further. Needs the packages litert-torch and torchvision.
"""
from __future__ import annotations

import argparse
import importlib
import pathlib
import tempfile
from typing import Any

import numpy as np

import ending
import folders
import topwork
from topwork.pictures import examples

# What torchvision's networks take: (pixel / 255 - mean) / std, by channel.
MEAN, STD = [123.675, 116.28, 103.53], [58.395, 57.12, 57.375]


def network(name: str, weights: str | None) -> Any:
    """The module in the state that answers, not trains."""
    import torch
    module, _, function = name.rpartition(":")
    make = getattr(importlib.import_module(module or "torchvision.models"), function, None)
    if make is None:
        raise SystemExit(f"{module or 'torchvision.models'} has no function {function!r}")
    made = make()
    if weights is not None:
        state = torch.load(weights, map_location="cpu", weights_only=True)
        n_outputs = next(reversed(state.values())).shape[0]
        if n_outputs != next(reversed(made.state_dict().values())).shape[0]:
            made = make(num_classes=n_outputs)
        made.load_state_dict(state)
    return made.eval()


def converted(made: Any, side: int) -> topwork.Model:
    """The network as .tflite, [1, side, side, 3] float32 -> scores."""
    import litert_torch
    import torch

    class ChannelsLast(torch.nn.Module):
        """.tflite has an image's channels last, PyTorch first."""

        def __init__(self) -> None:
            super().__init__()
            self.network = made

        def forward(self, pictures: Any) -> Any:
            return self.network(pictures.permute(0, 3, 1, 2))

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "model.tflite"
        litert_torch.convert(ChannelsLast().eval(), (torch.zeros(1, side, side, 3),)).export(str(path))
        return topwork.Model.from_bytes(path.read_bytes())


def difference(made: Any, model: topwork.Model, inputs: Any) -> float:
    """The largest difference of the two answers, as a share of PyTorch's largest score."""
    import torch
    with torch.no_grad():
        theirs = made(torch.from_numpy(inputs).permute(0, 3, 1, 2)).numpy()
    session = topwork.Session(model)
    ours = np.concatenate([session.run(picture[None])[0] for picture in inputs])
    return float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-30))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--network", required=True, help="function of torchvision.models, or MODULE:FUNCTION")
    parser.add_argument("--weights", help="file of the network's state_dict")
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with a folder of pictures for each class")
    parser.add_argument("--output", required=True, help="the new .tflite file")
    parser.add_argument("--converted", help="keep the converted network here, before training")
    parser.add_argument("--side", type=int, default=224, help="of the pictures that the network takes; default: 224")
    parser.add_argument("--mean", type=float, nargs=3, default=MEAN, help="of pixels 0 to 255; default: torchvision's")
    parser.add_argument("--std", type=float, nargs=3, default=STD, help="see --mean")
    options = parser.parse_args()

    made = network(options.network, options.weights)
    model = converted(made, options.side)
    if model.head()["is_appended"]:
        raise SystemExit(f"{options.network} does not end in a layer that can be replaced (dense, or convolution and mean)")
    scale = (options.mean, options.std)
    pictures, names = folders.pictures(options.data, model)
    worst = difference(made, model, examples(pictures[:8], model.inputs[0], scale))
    print(f"converted: answers differ from PyTorch's by {worst:.1e} of the largest score")
    if not worst < 1e-3:
        raise SystemExit("the converted network gives other answers than PyTorch's: nothing was written")
    if options.converted:
        model.save(options.converted)
    trainer = topwork.Trainer(model, input_scale=scale).fit(pictures, names, groups=folders.groups(options.data))
    print(f"{len(pictures)} pictures, {len(trainer.classes_)} classes; "
          f"right on pictures left out: {trainer.evaluate()['accuracy']:.1%}")
    trainer.export().save(options.output)


if __name__ == "__main__":
    ending.run(main)
