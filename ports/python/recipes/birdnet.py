"""Teaches a sound model new classes from folders of recordings, as BirdNET-Analyzer's training does, without TensorFlow.

    python birdnet.py --data songs --model BirdNET_GLOBAL_6K_V2.4_Model_FP32.tflite --output mine.tflite --mode append

--data holds a folder of WAV and FLAC files for each class (or labels.csv, see topwork.sounds). A folder "A,B" holds sounds
of both classes, one that --negatives names sounds of none. The new model's scores end as the old one's do: with or without
a sigmoid. The names of all its outputs go into the file and beside it, into mine_Labels.txt.
"""
from __future__ import annotations

import argparse
import pathlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

import ending
import rows
import topwork
from topwork import sounds

Array = NDArray[Any]


def trained(X: Array, Y: Array, groups: Array, options: argparse.Namespace) -> topwork.Trainer:
    """A head on these features. Without a knob that needs steps the library chooses head and penalty."""
    if options.upsampling != "none":
        X, Y, groups = rows.upsampled(X, Y, groups, options.upsampling, options.upsampling_ratio, options.seed)
    knobs = {"head.dropout": options.dropout, "loss.mixup_alpha": options.mixup, "loss.focal_gamma": options.focal,
             "loss.label_smoothing": options.label_smoothing}
    by_steps = options.epochs > 0 or options.hidden > 0 or any(knobs.values())
    steps = {"optimizer": "adamw", "n_epochs": options.epochs or 50, "n_hidden": options.hidden, "weight_decay": 0.004}
    trainer = topwork.Trainer(loss="sigmoid", validation_fraction=0.0, device="cpu", seed=options.seed, options=knobs,
                              **(steps if by_steps else {"optimizer": "auto"}))
    return trainer.fit(X, Y, groups=groups)


def report(trainer: topwork.Trainer, X: Array, Y: Array, classes: list[str]) -> None:
    """Prints how the head does on files that it has not seen."""
    judged, alarms = trainer.evaluate(X, Y), trainer.predict(X)[Y.max(axis=1) == 0].any(axis=1)
    print(f"{len(X)} windows of files left out: mean average precision {judged['mean_average_precision']:.3f}, "
          f"all classes right {judged['exact_match']:.1%}")
    if len(alarms):
        print(f"negatives: {alarms.sum()} of {len(alarms)} windows raise a false alarm")
    print("class\twindows\tprecision\trecall\taverage precision")
    for name, one in zip(classes, judged["classes"]):
        print(f"{name}\t{one['n_examples']}\t{one['precision']:.3f}\t{one['recall']:.3f}\t{one['average_precision']:.3f}")


def appended(model: topwork.Model, names: list[str], head: dict[str, Array], classes: list[str]) -> topwork.Model:
    """The model with the new classes behind its own, which stay as they are; those that it has already are replaced."""
    own = topwork.read_head(model)
    weights, bias = list(own["head/weights"]), list(own["head/bias"])
    if len(names) != len(bias):
        raise SystemExit(f"the model has {len(bias)} outputs, and {len(names)} names are known: give --labels")
    names, place = list(names), {name: i for i, name in enumerate(names)}
    for name, row, offset in zip(classes, head["head/weights"], head["head/bias"]):
        if name in place:
            weights[place[name]], bias[place[name]] = row, offset
        else:
            names, weights, bias = [*names, name], [*weights, row], [*bias, offset]
    return topwork.with_head(model, {"head/weights": np.stack(weights), "head/bias": np.array(bias)}, names, loss="sigmoid")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--data", type=pathlib.Path, required=True, help="folder with a folder of recordings for each class")
    add("--model", required=True, help=".tflite network [1, samples] -> scores, such as BirdNET's")
    add("--output", type=pathlib.Path, required=True, help="the new .tflite file")
    add("--mode", choices=["replace", "append"], default="replace", help="what becomes of the model's own classes")
    add("--labels", type=pathlib.Path, help="names of the model's own classes, one a line; default: the model's metadata")
    add("--negatives", nargs="*", default=["noise", "background", "other", "silence"], help="folders without a class")
    add("--rate", type=int, default=48000, help="samples a second that the model takes; default: 48000")
    add("--overlap", type=float, default=0.0, help="seconds that a window shares with the next one")
    add("--level", type=float, help="decibels to which each file is brought; default: as recorded")
    add("--validation", type=float, default=0.2, help="share of each class's files that judge; default: 0.2")
    add("--epochs", type=int, default=0, help="train by AdamW; default: the head is chosen without steps")
    add("--hidden", type=int, default=0, help="units of a hidden layer; with --mode append it makes a second output")
    add("--dropout", type=float, default=0.0)
    add("--mixup", type=float, default=0.0, help="alpha of mixup; BirdNET-Analyzer takes 0.2")
    add("--focal", type=float, default=0.0, help="gamma of focal loss; BirdNET-Analyzer takes 2")
    add("--label-smoothing", type=float, default=0.0, help="BirdNET-Analyzer takes 0.1")
    add("--upsampling", choices=["none", "repeat", "mean", "smote"], default="none")
    add("--upsampling-ratio", type=float, default=0.5, help="least size of a class, of the largest one's; default: 0.5")
    add("--seed", type=int, default=1)
    options = parser.parse_args()

    model = topwork.Model.open(options.model)
    size = int(np.prod(model.inputs[0].shape))
    names = options.labels.read_text(encoding="utf-8").splitlines() if options.labels else model.labels
    del model  # half of it, its last layer, is of no use until the end
    data = sounds.folder(options.data, options.rate, size, max(1, size - round(options.overlap * options.rate)),
                         level=options.level, transform=topwork.Features(options.model))
    classes, Y = rows.targets(data.y, options.negatives)
    judge = rows.left_out(Y, data.groups, options.validation, options.seed)
    print(f"{len(data.files)} files, {len(Y)} windows, {len(classes)} classes, {data.X.shape[1]} features")
    if judge.any():
        report(trained(data.X[~judge], Y[~judge], data.groups[~judge], options), data.X[judge], Y[judge], classes)
    head = trained(data.X, Y, data.groups, options).get_parameters()
    model = topwork.Model.open(options.model)
    if options.mode == "replace" or options.hidden:
        made = topwork.with_head(model, head, classes, loss="sigmoid")
        if options.mode == "append":
            made, classes = topwork.merge_heads([model, made]), [*names, *classes]
    else:
        made = appended(model, names, head, classes)
        classes = made.labels
    made.save(options.output)
    options.output.with_name(options.output.stem + "_Labels.txt").write_text("\n".join(classes) + "\n", encoding="utf-8")


if __name__ == "__main__":
    ending.run(main)
