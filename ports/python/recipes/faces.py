"""Makes a model that names people, and says "unknown" to others, from folders of their pictures.

    python faces.py --data people --model face_network.tflite --output people.tflite --test others

--data holds one folder of cropped faces for each person, ten or more each, in folders of what was taken together
(people/ANN/MONDAY/1.jpg): without them the share of pictures that the model refuses is promised for the taught occasions
only, and new light or another camera is refused more often. --model is any float .tflite network over
pictures whose last layer can be replaced, best one that was trained on faces. --test holds folders, too; those with
other names than --data's are strangers. The new model has one output more, "rejection": its second number is 1 for an
example that is like nothing that was taught.
"""
from __future__ import annotations

import argparse
import pathlib
from typing import Any

import ending
import folders
import topwork
from topwork.pictures import examples

UNKNOWN = "unknown"


class Recognizer:
    """A model of this recipe, ready to name pictures."""

    def __init__(self, model: topwork.Model, scale: tuple[list[float], list[float]]) -> None:
        self.model, self.scale = model, scale
        self.session = topwork.Session(model)
        names = [tensor.name for tensor in model.outputs]
        if "rejection" not in names:
            raise SystemExit("the model refuses nothing: make it with this recipe")
        self.rejection = names.index("rejection")

    def name(self, picture: Any) -> str:
        """The person in a picture of PIL, or "unknown"."""
        values = examples([picture], self.model.inputs[0], self.scale)
        outputs = self.session.run(values)
        if outputs[self.rejection][0, 1] == 1:
            return UNKNOWN
        return self.model.labels[int(outputs[0][0].argmax())]


def report(recognizer: Recognizer, folder: pathlib.Path, people: set[str]) -> None:
    """Prints how many of a folder's pictures are named rightly."""
    pictures, truth = folders.pictures(folder, recognizer.model)
    answers = [recognizer.name(picture) for picture in pictures]
    known = [(a, t) for a, t in zip(answers, truth) if t in people]
    strangers = [a for a, t in zip(answers, truth) if t not in people]
    if known:
        right = sum(a == t for a, t in known)
        refused = sum(a == UNKNOWN for a, _ in known)
        print(f"people: {right} of {len(known)} named, {refused} refused, {len(known) - right - refused} confused")
    if strangers:
        print(f"strangers: {strangers.count(UNKNOWN)} of {len(strangers)} refused")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True, help="folder with a folder of pictures for each person")
    parser.add_argument("--model", required=True, help="float .tflite network over pictures")
    parser.add_argument("--output", required=True, help="the new .tflite file")
    parser.add_argument("--test", type=pathlib.Path, help="folders of other pictures, strangers among them, to judge by")
    parser.add_argument("--reject-rate", type=float, default=0.05,
                        help="share of pictures as taught that may be refused; default: 0.05")
    parser.add_argument("--mean", type=float, help="input = (pixel - mean) / std; default: the model's, else 127.5")
    parser.add_argument("--std", type=float, help="see --mean")
    options = parser.parse_args()

    model = topwork.Model.open(options.model)
    scale = folders.scale_of(model, options.mean, options.std)
    pictures, names = folders.pictures(options.data, model)
    fewest = min(names.count(name) for name in set(names))
    if fewest < 10:
        print(f"a person has {fewest} pictures only: fewer than 10 make refusals coarse")
    trainer = topwork.Trainer(model, reject_rate=options.reject_rate, input_scale=scale)
    groups = folders.groups(options.data)
    if groups is None:
        print("all pictures of a person count as one occasion: put those taken together into folders of their own")
    trainer.fit(pictures, names, groups=groups)
    made = trainer.export()
    print(f"{len(pictures)} pictures of {len(trainer.classes_)} people; "
          f"right on pictures left out: {trainer.evaluate()['accuracy']:.1%}")
    made.save(options.output)
    if options.test:
        report(Recognizer(made, scale), options.test, set(names))


if __name__ == "__main__":
    ending.run(main)
