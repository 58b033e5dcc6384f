"""Makes a custom classification model for Frigate from a folder of crops, in seconds and without TensorFlow.

    python frigate.py --data clips/NAME/dataset --model mobilenet_v2_0.35_224.tflite --output model_cache/NAME

--data holds one folder of pictures for each class; folders in it hold pictures of one burst or camera. --model is a float
classifier of 224 x 224 pictures, such as Keras' MobileNetV2 of width 0.35. It becomes integers first, calibrated on the
pictures; the new last layer, the best of several on pictures left out, learns from the features that they give. --output
gets model.tflite, whose input takes the bytes of pictures (uint8) and whose output is uint8, and labelmap.txt, which
Frigate reads.
"""
from __future__ import annotations

import argparse
import pathlib
from typing import Any

import ending
import folders
import topwork

SIDE = 224  # of the pictures that Frigate gives a custom model


def calibration(pictures: folders.Pictures, n: int) -> list[Any]:
    """n pictures evenly over all classes. The first gets a black and a white pixel, so that the range of the input is that
    of all bytes, and byte b stands for pixel b."""
    chosen = [pictures[i] for i in range(0, len(pictures), max(1, len(pictures) // n))][:n]
    chosen[0].putpixel((0, 0), (0, 0, 0))
    chosen[0].putpixel((1, 0), (255, 255, 255))
    return chosen


def of_bytes(model: topwork.Model) -> tuple[list[float], list[float]]:
    """(mean, std) by which pixel b becomes byte b, as Frigate gives it. The range of the pixels has no exact zero, so that
    arithmetic by their own scale lands between two bytes."""
    tensor, = model.inputs
    return [float(tensor.zero_points[0])], [1 / tensor.scales[0]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with a folder of pictures for each class")
    parser.add_argument("--model", required=True, help="float .tflite classifier of 224 x 224 pictures")
    parser.add_argument("--output", type=pathlib.Path, required=True, help="folder for model.tflite and labelmap.txt")
    parser.add_argument("--mean", type=float, help="input = (pixel - mean) / std; default: the model's, else 127.5")
    parser.add_argument("--std", type=float, help="see --mean")
    parser.add_argument("--calibrate", type=int, default=50, help="pictures to take the ranges of activations from")
    parser.add_argument("--hidden", type=int, default=0, help="units of a hidden layer, trained by Adam with dropout, as Frigate "
                        "itself trains one (128); default: the best head, without steps")
    parser.add_argument("--device", default="cpu", help="cpu, opencl or auto, which takes time and memory to look; default: cpu")
    options = parser.parse_args()

    model = topwork.Model.open(options.model)
    if model.inputs[0].shape != (1, SIDE, SIDE, 3) or model.inputs[0].dtype != "float32":
        raise SystemExit(f"{options.model}: Frigate gives pictures of {SIDE} x {SIDE}; this model takes {model.inputs[0]}")
    scale = folders.scale_of(model, options.mean, options.std)
    if len(set(scale[0])) > 1 or len(set(scale[1])) > 1:
        raise SystemExit("the model's channels have scales of their own, which one quantization cannot express")
    pictures, names = folders.pictures(options.data, model)
    base = topwork.quantize(model, "int8", calibration(pictures, options.calibrate), io="uint8", input_scale=scale)
    for index, name, reason in base.float_operators:
        print(f"stays float: operator {index} {name}, {reason}")
    steps = {"optimizer": "adam", "n_epochs": 50, "batch_size": 16, "learning_rate": 1e-3, "n_hidden": options.hidden,
             "options": {"head.dropout": 0.3}}
    trainer = topwork.Trainer(base.model, input_scale=of_bytes(base.model), device=options.device,
                              **(steps if options.hidden else {}))
    trainer.fit(pictures, names, groups=folders.groups(options.data))
    print(f"{len(pictures)} pictures, {len(trainer.classes_)} classes; "
          f"right on pictures left out: {trainer.evaluate()['accuracy']:.1%}")
    options.output.mkdir(parents=True, exist_ok=True)
    trainer.export().save(options.output / "model.tflite")
    (options.output / "labelmap.txt").write_text("".join(f"{name}\n" for name in trainer.classes_))


if __name__ == "__main__":
    ending.run(main)
