"""openWakeWord, unmodified, on topwork.tflite beside LiteRT: the largest difference of its predictions, milliseconds for each
80 ms of sound (two processes in turn; the fastest round counts).

  python run_openwakeword.py MODELS CLIPS [--rounds N] [--rows FILE]

MODELS is a folder with melspectrogram.tflite, embedding_model.tflite and wake words' models: openWakeWord 0.6.0 downloads them,
and the wheel of 0.5.1 holds them (openwakeword/resources/models). CLIPS is a folder whose WAV files, and those in folders below
it, are heard: openWakeWord's repository has some in tests/data and notebooks/training_tutorial_data. Run it by a Python
with topwork, openwakeword 0.6.0 and ai-edge-litert. Each side hears every clip by predict_clip with all wake words' models,
trains a verifier for "alexa" (clips named so) and hears with it.
"""
import json
import pathlib
import sys
import tempfile
import time

import numpy as np

import sides

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
    compared = sides.compare(__file__, __doc__, "models", "ms", one_side)
    ours, theirs = compared.fastest()
    gap = max(compared.gaps.values())
    n_frames = sum(len(rows) for name, rows in compared.found["topwork"].items() if name.startswith("clip "))
    what = f"{compared.said['n_words']} wake words, {n_frames} frames of {compared.n_clips} clips"
    print(f"{what}: {gap:.2e} apart; {ours:.3f} and {theirs:.3f} ms a frame")
    compared.write(what, "ms for 80 ms of sound")
    if gap > LIMIT:
        sys.exit(f"FAIL: predictions differ by more than {LIMIT}")


if __name__ == "__main__":
    main()
