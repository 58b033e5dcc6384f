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
import os
import pathlib
from typing import Any, Optional

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # NumPy's own threads would wait busily for work that it has none of

import numpy as np

import blocks
import ears
import ending
import hearing
import topwork
from topwork import sounds

Array = Any


def opened(options: argparse.Namespace, n_threads: int = 0) -> tuple[ears.Ear, Optional[blocks.Blocks]]:
    """The ear, and --base; n_threads: of a run, 0: what pays."""
    base, spectrogram, embedding = (ending.model(f"--{name}", getattr(options, name)) for name in ("base", "spectrogram", "embedding"))
    n_frames = options.frames or ears.n_frames(base, spectrogram)
    ear = ears.Ear(embedding, spectrogram, n_frames=n_frames, features=options.features, n_threads=n_threads)
    with ending.of("--base"):
        return ear, blocks.Blocks(base, ear.row_shape, 0, n_threads) if base else None


def stacked(clips: list[tuple[Array, str, int]]) -> tuple[list[Array], Array, Array, np.float32]:
    """Rows [[n, frames, size]], names and clips' numbers; what rows that were left out take from the logit of the word."""
    sizes, names = [len(rows) for rows, _, _ in clips], [name for _, name, _ in clips]
    y, groups = np.repeat(names, sizes), np.repeat(np.arange(len(clips)), sizes)
    if len(set(y)) < 2:
        raise SystemExit("no rows of the word, or none of anything else: give more or longer clips")
    share = {kind: (y == kind).sum() / sum(n for _, name, n in clips if name == kind) for kind in ("word", "other")}
    return [np.concatenate([rows for rows, _, _ in clips])], y, groups, np.float32(np.log(share["word"] / share["other"]))


def head(X: list[Array], y: Array, groups: Array, prior: np.float32, seed: int) -> tuple[Array, Array, topwork.Trainer]:
    """Weights [1, numbers of a row] and bias [1] of the word's logit, and what chose them. X is empty then: memory holds rows once."""
    # The head is judged by what it would be without each clip, so none is held back, which would take a second fit.
    trainer = topwork.Trainer(seed=seed, device="cpu", validation_fraction=0.0).fit(X.pop().reshape(len(y), -1), y, groups=groups)
    sign = np.array([1, -1] if trainer.classes_[0] == "word" else [-1, 1], np.float32)
    found = trainer.get_parameters()  # a softmax of two is the sigmoid of their difference
    return sign[None] @ found["head/weights"], sign[None] @ found["head/bias"] - prior, trainer


def train(options: argparse.Namespace) -> None:
    X, y, groups, prior = stacked(hearing.heard(options, *opened(options, n_threads=1)))  # the networks' memory is free again
    shape = (1, *X[0].shape[1:])
    weights, bias, trainer = head(X, y, groups, prior, options.seed)
    right, = [accuracy for _, accuracy, _, _, is_chosen in trainer.info["candidates"] if is_chosen]
    print(f"{len(y)} rows of {groups[-1] + 1} clips; of clips left out {right:.1%} of the rows are right\n"
          f"{trainer.info['choice_reason']}")
    topwork.head_model(weights, bias, shape=shape).save(options.output)


def listen(options: argparse.Namespace) -> None:
    """Prints where the word is heard, by both models where there are two."""
    ear, base = opened(options)
    rows = ear.feed(np.append(sounds.read(options.sound, ears.RATE), np.zeros(3 * ear.step, np.float32)))  # the end, too
    with ending.of("--verifier"):
        scores = blocks.Blocks(topwork.Model.open(options.verifier), ear.row_shape)(rows)[:, :1]
    scores = np.minimum(scores, base(rows)[:, :1]) if base else scores
    for event in sounds.events(scores, ["word"], hop=(step := ear.step / ears.RATE), length=step, threshold=options.threshold, gap=0.5):
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
    training.add_argument("--every", type=int, default=3, help="takes each so many-th row of a clip; default: 3")
    training.add_argument("--seed", type=int, default=1)
    listening = commands.add_parser("listen", help="prints when the word is heard")
    for name in ("--verifier", "--sound"):
        listening.add_argument(name, required=True)
    for command in (training, listening):
        command.add_argument("--embedding", required=True, help=".tflite that gives embeddings")
        command.add_argument("--spectrogram", help=".tflite that makes frames of samples for --embedding")
        command.add_argument("--base", help=".tflite that hears the word of any speaker")
        command.add_argument("--frames", type=int, default=0, help="embeddings in a row; default: --base's, 16, or 1 without both")
        command.add_argument("--features", action="store_true", help="the embedding is what the last layer reads")
        command.add_argument("--threshold", type=float, default=0.5)
    options = parser.parse_args()
    if options.command == "train" and min(options.ends, options.shifts, options.every) < 1:
        parser.error("--ends, --shifts and --every are 1 at least")
    {"train": train, "listen": listen}[options.command](options)


if __name__ == "__main__":
    ending.run(main)
