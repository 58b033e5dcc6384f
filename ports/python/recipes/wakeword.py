"""Makes a verifier that tells one speaker's wake word from everything else, as openWakeWord's custom verifiers do.

    python wakeword.py train --positive my_clips --negative others --spectrogram melspectrogram.tflite \\
        --embedding embedding_model.tflite --base alexa_v0.1.tflite --output verifier.tflite
    python wakeword.py listen --spectrogram melspectrogram.tflite --embedding embedding_model.tflite \\
        --base alexa_v0.1.tflite --verifier verifier.tflite --sound evening.wav

--positive and --negative are folders of WAV and FLAC. With --base the positive rows are those in which that wake word's
model reaches --threshold; without it those at a clip's end, as the word ends there. The head and its penalty are chosen by
what is left out. The verifier is a model [1, frames, size] -> [1, 1] like openWakeWord's own, no pickle. Any other
embedding model of samples does, too, without --spectrogram.
"""
from __future__ import annotations

import argparse
import pathlib
from typing import Any, Optional

import numpy as np

import blocks
import ears
import ending
import topwork
from topwork import sounds

Array = Any


def positive_rows(ear: ears.Ear, clip: Array, base: Optional[blocks.Blocks], options: argparse.Namespace) -> Array:
    """Rows in which the word is whole, of the clip begun at several parts of a step."""
    found = []
    for shift in range(options.shifts):
        ear.reset()
        ear.feed(np.zeros(shift * ear.step // options.shifts, np.float32))
        rows = ear.feed(np.concatenate([clip, np.zeros(options.ends * ear.step, np.float32)]))
        found.append(rows[-options.ends:] if base is None else rows[base(rows)[:, 0] >= options.threshold])
    return np.concatenate(found)


def train(ear: ears.Ear, base: Optional[blocks.Blocks], options: argparse.Namespace) -> None:
    parts, names = [], []
    for clip in ears.clips(options.positive):
        parts.append(positive_rows(ear, clip, base, options))
        names.append("word")
    n_empty = sum(len(part) == 0 for part in parts)
    if n_empty:
        print(f"in {n_empty} of {len(parts)} positive clips --base hears nothing: they are left out")
    for clip in ears.clips(options.negative):
        ear.reset()
        parts.append(ear.feed(np.concatenate([clip, np.zeros(options.ends * ear.step, np.float32)])))
        names.append("other")
    sizes = [len(part) for part in parts]
    X = np.concatenate(parts).reshape(sum(sizes), -1)
    y, groups = np.repeat(names, sizes), np.repeat(np.arange(len(parts)), sizes)
    if len(set(y)) < 2:
        raise SystemExit("no rows of the word, or none of anything else: give more or longer clips")
    # The head is judged by what it would be without each clip, so none is held back, which would take a second fit.
    trainer = topwork.Trainer(seed=options.seed, device="cpu", validation_fraction=0.0).fit(X, y, groups=groups)
    right, = [accuracy for _, accuracy, _, _, is_chosen in trainer.info["candidates"] if is_chosen]
    print(f"{len(X)} rows of {len(parts)} clips; of clips left out {right:.1%} of the rows are right")
    print(trainer.info["choice_reason"])
    head = trainer.get_parameters()
    sign = np.array([1, -1] if trainer.classes_[0] == "word" else [-1, 1], np.float32)
    # A softmax of two is the sigmoid of their difference.
    verifier = topwork.head_model(sign[None] @ head["head/weights"], sign[None] @ head["head/bias"],
                                  shape=(1, *ear.row_shape))
    verifier.save(options.output)


def listen(ear: ears.Ear, base: Optional[blocks.Blocks], options: argparse.Namespace) -> None:
    """Prints where the word is heard, by both models where there are two."""
    sound = sounds.read(options.sound, ears.RATE)
    rows = ear.feed(np.concatenate([sound, np.zeros(3 * ear.step, np.float32)]))  # for a word at its very end
    scores = blocks.Blocks(topwork.Model.open(options.verifier), ear.row_shape)(rows)[:, :1]
    if base is not None:
        scores = np.minimum(scores, base(rows)[:, :1])
    step = ear.step / ears.RATE
    for event in sounds.events(scores, ["word"], hop=step, length=step, threshold=options.threshold, gap=0.5):
        print(f"{event.start:.2f}\t{event.end:.2f}\t{event.score:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("train", help="makes a verifier of clips")
    training.add_argument("--positive", type=pathlib.Path, required=True, help="folder of clips that end with the word")
    training.add_argument("--negative", type=pathlib.Path, required=True, help="folder of other speech and noise")
    training.add_argument("--output", required=True, help="the new .tflite file")
    training.add_argument("--ends", type=int, default=3, help="steps around a clip's end that hold the word; default: 3")
    training.add_argument("--shifts", type=int, default=3, help="how often a positive clip is heard; default: 3")
    training.add_argument("--seed", type=int, default=1)
    listening = commands.add_parser("listen", help="prints when the word is heard")
    listening.add_argument("--verifier", required=True)
    listening.add_argument("--sound", required=True)
    for command in (training, listening):
        command.add_argument("--embedding", required=True, help=".tflite that gives embeddings")
        command.add_argument("--spectrogram", help=".tflite that makes frames of samples for --embedding")
        command.add_argument("--base", help=".tflite that hears the word of any speaker")
        command.add_argument("--frames", type=int, default=0, help="embeddings in a row; default: --base's, else 16, or 1 "
                             "without --spectrogram")
        command.add_argument("--features", action="store_true", help="the embedding is what the last layer reads")
        command.add_argument("--threshold", type=float, default=0.5)
    options = parser.parse_args()

    model = topwork.Model.open(options.base) if options.base else None
    n_frames = options.frames or (model.inputs[0].shape[1] if model else 16 if options.spectrogram else 1)
    spectrogram = topwork.Model.open(options.spectrogram) if options.spectrogram else None
    ear = ears.Ear(topwork.Model.open(options.embedding), spectrogram, n_frames=n_frames, features=options.features)
    base = blocks.Blocks(model, ear.row_shape) if model else None
    {"train": train, "listen": listen}[options.command](ear, base, options)


if __name__ == "__main__":
    ending.run(main)
