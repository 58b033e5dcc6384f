"""wakeword.py's verifier beside openWakeWord's: area under the ROC curve, misses and false alarms over speakers and words, each
side by the function that its whole program trains with.

  python wakeword.py MODELS RECORDINGS [--clips N ...] [--seeds N] [--tries N] [--rows FILE]

MODELS is openWakeWord's folder of models (melspectrogram.tflite, embedding_model.tflite), RECORDINGS spoken digits
DIGIT_SPEAKER_NUMBER.wav (Free Spoken Digit Dataset). Each try takes a speaker's word: --clips recordings, drawn by the seed,
teach it, beside four of each other word of the speaker and of the word by each other speaker; ten and as many others judge,
each clip by its highest row. Rows come from recipes/ears.py for both; Topwork takes each third of the other clips' rows, as
the recipe does, the peer all. C = 1 is openWakeWord's pipeline with another penalty. Run it by a Python with topwork,
openwakeword 0.6.0 and ai-edge-litert.
"""
import argparse
import importlib.util
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "drop_in"))

import peers  # noqa: E402
import sides  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "ports" / "python" / "recipes"))
N_FRAMES, N_ENDS = 16, 3
OTHERS, N_NUMBERS = 4, 30


def heard(models, recordings, numbers):
    """{(digit, speaker, number): rows} of each clip with silence behind it."""
    import ears
    import topwork
    from topwork import sounds
    models = pathlib.Path(models)
    ear = ears.Ear(topwork.Model.open(models / "embedding_model.tflite"),
                   topwork.Model.open(models / "melspectrogram.tflite"), n_frames=N_FRAMES)
    rows = {}
    for file in sorted(pathlib.Path(recordings).glob("[0-9]_*_*.wav")):
        digit, speaker, number = file.stem.split("_")
        if int(number) < numbers:
            ear.reset()
            silence = np.zeros(N_ENDS * ear.step, np.float32)
            rows[int(digit), speaker, int(number)] = ear.feed(np.concatenate([sounds.read(file, ears.RATE), silence]))
    return rows


def recipe():
    """ports/python/recipes/wakeword.py, which has this file's name."""
    spec = importlib.util.spec_from_file_location("recipe", ROOT / "ports" / "python" / "recipes" / "wakeword.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_topwork(clips, seed):
    """As its train()."""
    import hearing
    taken = [(rows if name == "word" else hearing.every(rows, 3, i), name, len(rows)) for i, (rows, name) in enumerate(clips)]
    weights, bias, _ = recipe().head(*recipe().stacked(taken), seed)
    return lambda rows: .5 + .5 * np.tanh(.5 * (rows.reshape(len(rows), -1) @ weights[0] + bias))


def by_openwakeword(clips, seed, c=None):
    """By the function that its train_custom_verifier calls; c: with this penalty in its place."""
    from openwakeword.custom_verifier_model import train_verifier_model
    X = np.concatenate([rows for rows, _ in clips])
    y = np.concatenate([np.full(len(rows), int(name == "word")) for rows, name in clips])
    made = train_verifier_model(X, y)
    if c is not None:
        made = made.set_params(logisticregression__C=c).fit(X, y)
    return lambda rows: made.predict_proba(rows)[:, 1]


def tried(rows, digit, speaker, n_clips, fits, seed):
    """For each way the clips' highest scores, of words and of others."""
    order = {who: np.random.default_rng([seed, i]).permutation(N_NUMBERS) for i, who in enumerate(sorted({k[1] for k in rows}))}
    clips, tests = [], {1: [], 0: []}
    for (d, who, number), clip in rows.items():
        mine = d == digit and who == speaker
        if not mine and d != digit and who != speaker:
            continue  # neither the word nor the speaker
        number = order[who][number]
        if number < (n_clips if mine else OTHERS):
            clips.append((clip[-N_ENDS:] if mine else clip, "word" if mine else "other"))
        elif number >= (20 if mine else 2 * OTHERS) and number < (30 if mine else 3 * OTHERS):
            tests[int(mine)].append(clip)
    answers = {}
    for name, fit in fits.items():
        score = fit(clips, seed)
        answers[name] = [np.array([score(clip).max() for clip in tests[kind]]) for kind in (1, 0)]
    return answers


def judged(rows, n_clips, fits, seed, tries):
    """For each way the means over the tries: area, missed, false alarms."""
    speakers, found = sorted({who for _, who, _ in rows}), {name: [] for name in fits}
    for i in range(tries):
        answers = tried(rows, (3 * i + seed) % 10, speakers[(i + seed) % len(speakers)], n_clips, fits, seed)
        for name, (word, other) in answers.items():
            area = np.mean((word[:, None] > other) + .5 * (word[:, None] == other))
            found[name].append((area, np.mean(word <= .5), np.mean(other > .5)))
    return {name: np.mean(values, axis=0) for name, values in found.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models")
    parser.add_argument("recordings")
    parser.add_argument("--clips", type=int, nargs="*", default=[3, 8])
    parser.add_argument("--tries", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=5)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    sides.use("litert")
    fits = {"topwork": by_topwork, "openWakeWord": by_openwakeword,
            "C 1": lambda clips, seed: by_openwakeword(clips, seed, 1.)}
    rows = heard(options.models, options.recordings, N_NUMBERS)
    print("clips\tside\tarea under ROC (worst seed)\tmissed at 0.5\tfalse alarms at 0.5")
    for n_clips in options.clips:
        found = [judged(rows, n_clips, fits, seed, options.tries) for seed in range(1, options.seeds + 1)]
        for name in fits:
            area, missed, alarms = np.array([one[name] for one in found]).T
            print(f"{n_clips}\t{name}\t{area.mean():.4f} ({area.min():.4f})\t{missed.mean():.3f}\t{alarms.mean():.4f}",
                  flush=True)
        for i, what in enumerate(("area under the ROC curve", "missed at 0.5", "false alarms at 0.5")):
            ours, theirs = (100 * np.array([one[name][i] for one in found]) for name in list(fits)[:2])
            table.add(f"{n_clips} clips", what, ours.mean(), theirs.mean(), runs=np.stack([ours, theirs], axis=1).tolist())
    table.write(options.rows)


if __name__ == "__main__":
    main()
