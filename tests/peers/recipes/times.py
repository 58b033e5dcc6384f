"""Seconds and peak memory of recipes from a folder to a .tflite beside the originals', in turn on the same files.

  python times.py birdnet MODEL RECORDINGS --peer PYTHON [--rounds N] [--rows FILE]
  python times.py wakeword MODELS RECORDINGS --clips CLIPS --peer PYTHON [--rounds N] [--rows FILE]

Whole programs are timed, with their imports: by the clock (worthless on a busy machine), and the seconds that they kept
processors busy, which other programs disturb little. The round with fewest counts, and the largest peak of the process. A round
before those, which does not count, leaves the compiled modules (.pyc) of both sides in a folder of their own, as installing them does.
RECORDINGS are spoken digits DIGIT_SPEAKER_NUMBER.wav (Free Spoken Digit Dataset). Run it by a Python with topwork,
soundfile and soxr. Topwork runs once more without AVX (TOPWORK_ISA=baseline), where the originals do not start.

birdnet: MODEL is BirdNET V2.4's .tflite; four classes and none, 60 files. PYTHON has birdnet-analyzer 2.4.0 (with its extra
`train`), whose train() is called unmodified at its defaults and with two processes, but for the writing: it needs BirdNET as a
SavedModel, which cannot be had offline, so the head alone becomes a .tflite, which is less work. The peak is that of the first
process alone.

wakeword: MODELS is openWakeWord's folder of models; ten clips of "alexa" made of CLIPS/alexa*.wav by silence before them, 50
others. PYTHON has openwakeword 0.6.0, whose train_custom_verifier is called unmodified on LiteRT and leaves a pickle.
"""
import argparse
import os
import pathlib
import sys
import tempfile
import wave

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "drop_in"))

import peers  # noqa: E402

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
RECIPES = pathlib.Path(__file__).resolve().parents[3] / "ports" / "python" / "recipes"
N_THREADS = 2


def chosen(recordings, digits, numbers):
    return [path for path in sorted(recordings.glob("[0-9]_*_*.wav"))
            if int(path.stem[0]) in digits and int(path.stem.split("_")[2]) in numbers]


def prepare_birdnet(options, folder):
    """At 48000 samples a second, as BirdNET wants them: what converts other rates in the original compiles itself anew for each
    class, which takes longer than all else."""
    from topwork import sounds
    classes = {f"digit {digit}": chosen(options.recordings, [digit], [0, 5]) for digit in range(1, 5)}
    for name, paths in {**classes, "noise": chosen(options.recordings, [7, 8], [0])}.items():
        (folder / "data" / name).mkdir(parents=True)
        for path in paths:
            write(folder / "data" / name / path.name, sounds.read(path, 48000), 48000)


def write(path, samples, rate=16000):
    with wave.open(str(path), "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(rate)
        sound.writeframes((samples * 32767).astype(np.int16).tobytes())


def prepare_wakeword(options, folder):
    """At 16000 samples a second, as openWakeWord reads no others."""
    sys.path.insert(0, str(RECIPES))
    from topwork import sounds
    words = [sounds.read(path, 16000) for path in sorted(options.clips.glob("alexa*.wav"))]
    for name in ("positive", "negative"):
        (folder / name).mkdir()
    for i in range(10):
        write(folder / "positive" / f"{i}.wav", np.concatenate([np.zeros(600 * i, np.float32), words[i % len(words)],
                                                               np.zeros(8000, np.float32)]))
    for path in chosen(options.recordings, range(10), [0])[:50]:
        write(folder / "negative" / path.name, np.concatenate([sounds.read(path, 16000), np.zeros(8000, np.float32)]))


def peer_birdnet(options, folder):
    import birdnet_analyzer.config
    import birdnet_analyzer.model
    import birdnet_analyzer.utils

    def save(head, path, labels, mode):
        import tensorflow
        pathlib.Path(path).write_bytes(tensorflow.lite.TFLiteConverter.from_keras_model(head).convert())

    birdnet_analyzer.config.BIRDNET_MODEL_PATH = str(options.model.resolve())
    birdnet_analyzer.utils.ensure_model_exists = lambda: None
    birdnet_analyzer.model.save_linear_classifier = save
    birdnet_analyzer.train(str(folder / "data"), str(folder / "peer.tflite"), threads=N_THREADS)


def peer_wakeword(options, folder):
    import sides
    sides.use("litert")
    import openwakeword
    clips = [[str(path) for path in sorted((folder / name).iterdir())] for name in ("positive", "negative")]
    openwakeword.train_custom_verifier(*clips, str(folder / "peer.pkl"), str(options.model / "alexa_v0.1.tflite"),
                                       inference_framework="tflite", ncpu=N_THREADS,
                                       melspec_model_path=str(options.model / "melspectrogram.tflite"),
                                       embedding_model_path=str(options.model / "embedding_model.tflite"))


def recipe(options, folder):
    start = [sys.executable, str(RECIPES / f"{options.recipe}.py")]
    if options.recipe == "birdnet":
        return [*start, "--data", str(folder / "data"), "--model", str(options.model), "--output", str(folder / "ours.tflite")]
    models = [f"--{name}={options.model / file}.tflite" for name, file in (
        ("spectrogram", "melspectrogram"), ("embedding", "embedding_model"), ("base", "alexa_v0.1"))]
    return [*start, "train", "--positive", str(folder / "positive"), "--negative", str(folder / "negative"), *models,
            "--shifts", "5", "--output", str(folder / "ours.tflite")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", choices=["birdnet", "wakeword"])
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("recordings", type=pathlib.Path)
    parser.add_argument("--clips", type=pathlib.Path)
    parser.add_argument("--peer", required=True, help="Python of the original")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--side", type=pathlib.Path, metavar="FOLDER", help=argparse.SUPPRESS)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    if options.side:
        {"birdnet": peer_birdnet, "wakeword": peer_wakeword}[options.recipe](options, options.side)
        return
    from frigate import measured
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        {"birdnet": prepare_birdnet, "wakeword": prepare_wakeword}[options.recipe](options, folder)
        theirs = [options.peer, __file__, options.recipe, str(options.model), str(options.recordings), "--peer", "",
                  "--side", name]
        ours = recipe(options, folder)
        os.environ["PYTHONPYCACHEPREFIX"] = str(folder / "compiled")
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        for command in (ours, theirs):
            measured(command)
        runs = np.array([[measured(ours), measured(ours, "baseline"), measured(theirs)] for _ in range(options.rounds)])
    for side, where in ((0, ""), (1, ", without AVX")):
        for i, what, chosen_of in ((0, "seconds, folder to model", np.min), (2, "processor seconds, folder to model", np.min),
                                   (1, "MB, peak memory", np.max)):
            mine, peer = chosen_of(runs[:, side, i]), chosen_of(runs[:, 2, i])
            print(f"{what}{where}: {mine:.2f} and {peer:.2f}, {peer / mine:.2f} times", flush=True)
            table.add(options.recipe, what + where, mine, peer, peer / mine, runs=runs[:, [side, 2], i].tolist())
    table.write(options.rows)


if __name__ == "__main__":
    main()
