"""openWakeWord, unmodified, on topwork.tflite beside LiteRT: the largest difference of its predictions, milliseconds for each
80 ms of sound (two processes in turn; the fastest round counts).

  python run_openwakeword.py MODELS CLIPS [--rounds N] [--rows FILE]

MODELS is a folder with melspectrogram.tflite, embedding_model.tflite and wake words' models: openWakeWord 0.6.0 downloads them,
and the wheel of 0.5.1 holds them (openwakeword/resources/models). CLIPS is a folder whose WAV files, and those in folders below
it, are heard: openWakeWord's repository has some in tests/data and notebooks/training_tutorial_data. Run it by a Python
with topwork, openwakeword 0.6.0 and ai-edge-litert. Each side hears every clip by predict_clip with all wake words' models,
trains a verifier for "alexa" (clips named so) and hears with it.
"""
import argparse
import json
import pathlib
import sys
import tempfile
import time

import numpy as np

import sides

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

CHUNK = 1280  # samples of 80 ms
LIMIT = 1e-4
sides.use_named()


def model_of(models, words, **more):
    import openwakeword
    np.random.seed(1)  # its buffer begins with noise
    return openwakeword.Model(wakeword_models=[str(path) for path in words], inference_framework="tflite",
                              melspec_model_path=str(models / "melspectrogram.tflite"),
                              embedding_model_path=str(models / "embedding_model.tflite"), **more)


def heard(models, words, clips):
    """Predictions {clip: [frames, classes]}, and the milliseconds that a frame takes."""
    answers, seconds, n_frames = {}, 0, 0
    for clip in clips:
        model = model_of(models, words)
        start = time.perf_counter()
        frames = model.predict_clip(str(clip), padding=1, chunk_size=CHUNK)
        seconds += time.perf_counter() - start
        n_frames += len(frames)
        answers[clip.name] = np.array([[frame[name] for name in sorted(frame)] for frame in frames])
    return answers, 1000 * seconds / n_frames


def verified(models, word, clips, folder):
    """Scores of a verifier for this word that openWakeWord trains, on all clips."""
    import openwakeword
    mine = [str(clip) for clip in clips if clip.stem.startswith(word.stem.split("_v")[0])]
    others = [str(clip) for clip in clips if str(clip) not in mine][:3]
    path = pathlib.Path(folder) / "verifier.pkl"
    np.random.seed(1)
    openwakeword.train_custom_verifier(mine, others, str(path), str(word), inference_framework="tflite",
                                       melspec_model_path=str(models / "melspectrogram.tflite"),
                                       embedding_model_path=str(models / "embedding_model.tflite"))
    model = model_of(models, [word], custom_verifier_models={word.stem: str(path)}, custom_verifier_threshold=0.1)
    return np.concatenate([[frame[word.stem] for frame in model.predict_clip(str(clip))] for clip in map(str, clips)])


def one_side(models, clips, path):
    words = sorted(set(models.glob("*.tflite")) - {models / "melspectrogram.tflite", models / "embedding_model.tflite"})
    answers, ms = heard(models, words, clips)
    alexa = next(word for word in words if word.stem.startswith("alexa"))
    with tempfile.TemporaryDirectory() as folder:
        np.savez(path, verified=verified(models, alexa, clips, folder),
                 **{f"clip {name}": rows for name, rows in answers.items()})
    print(json.dumps({"ms": ms, "n_words": len(words)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", type=pathlib.Path)
    parser.add_argument("clips", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", nargs=2, metavar=("NAME", "FILE"), help=argparse.SUPPRESS)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    clips = sorted(options.clips.glob("**/*.wav"))
    if options.side:
        one_side(options.models, clips, options.side[1])
        return
    found, said = sides.both(__file__, (options.models, options.clips), options.rounds)
    gaps = sides.gaps(found)
    times = [[one["ms"] for one in said[side]] for side in sides.SIDES]
    fastest = [min(some) for some in times]
    n_frames = sum(len(rows) for name, rows in found["topwork"].items() if name.startswith("clip "))
    what = f"{said['topwork'][0]['n_words']} wake words, {n_frames} frames of {len(clips)} clips"
    print(f"{what}: {max(gaps.values()):.2e} apart; {fastest[0]:.3f} and {fastest[1]:.3f} ms a frame")
    table.add(what, "ms for 80 ms of sound", *fastest, fastest[1] / fastest[0], runs=list(zip(*times)))
    table.write(options.rows)
    if max(gaps.values()) > LIMIT:
        sys.exit(f"FAIL: predictions differ by more than {LIMIT}")


if __name__ == "__main__":
    main()
