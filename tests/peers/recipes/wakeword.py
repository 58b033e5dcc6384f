"""wakeword.py's verifier beside openWakeWord's (StandardScaler and LogisticRegression of scikit-learn at C = 0.001 and 0.01,
which its versions fixed): area under the ROC curve, misses and false alarms on the same rows, over speakers and words.

  python wakeword.py MODELS RECORDINGS [--clips N ...] [--tries N] [--rows FILE]

MODELS is openWakeWord's folder of models (melspectrogram.tflite, embedding_model.tflite), RECORDINGS spoken digits
DIGIT_SPEAKER_NUMBER.wav (Free Spoken Digit Dataset). Each try takes a speaker's word: --clips recordings teach it, beside
four of each other word of the speaker and of the word by each other speaker; as many others judge, each clip by its highest
row. Rows come from recipes/ears.py for both. Run it by the Python that topwork is installed in, with scikit-learn.
"""
import argparse
import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "ports" / "python" / "recipes"))
N_FRAMES, N_ENDS = 16, 3
OTHERS = 4


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


def by_topwork(X, y, groups):
    import topwork
    trainer = topwork.Trainer(seed=1, n_threads=1).fit(X, y, groups=groups)
    return lambda rows: trainer.predict_proba(rows)[:, 1]


def by_sklearn(c):
    def fit(X, y, groups):
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler
        made = make_pipeline(StandardScaler(), LogisticRegression(random_state=0, max_iter=2000, C=c)).fit(X, y)
        return lambda rows: made.predict_proba(rows)[:, 1]
    return fit


def tried(rows, digit, speaker, n_clips, fits):
    """For each way the clips' highest scores, of words and of others."""
    parts, labels = [], []
    tests = {1: [], 0: []}
    for (d, who, number), clip in rows.items():
        mine = d == digit and who == speaker
        if not mine and d != digit and who != speaker:
            continue  # neither the word nor the speaker
        n = n_clips if mine else OTHERS
        if number < n:
            parts.append(clip[-N_ENDS:] if mine else clip)
            labels.append(int(mine))
        elif number >= (20 if mine else 2 * OTHERS) and number < (30 if mine else 3 * OTHERS):
            tests[int(mine)].append(clip)
    sizes = [len(part) for part in parts]
    X = np.concatenate(parts).reshape(sum(sizes), -1)
    y, groups = np.repeat(labels, sizes), np.repeat(np.arange(len(parts)), sizes)
    answers = {}
    for name, fit in fits.items():
        score = fit(X, y, groups)
        answers[name] = [np.array([score(clip.reshape(len(clip), -1)).max() for clip in tests[kind]]) for kind in (1, 0)]
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models")
    parser.add_argument("recordings")
    parser.add_argument("--clips", type=int, nargs="*", default=[3, 8])
    parser.add_argument("--tries", type=int, default=8)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    fits = {"topwork": by_topwork, "openWakeWord C 0.001": by_sklearn(.001), "C 0.01": by_sklearn(.01), "C 1": by_sklearn(1.)}
    rows = heard(options.models, options.recordings, 30)
    speakers = sorted({who for _, who, _ in rows})
    print("clips\tside\tarea under ROC (worst)\tmissed at 0.5\tfalse alarms at 0.5")
    for n_clips in options.clips:
        found = {name: [] for name in fits}
        for i in range(options.tries):
            answers = tried(rows, (3 * i + 1) % 10, speakers[i % len(speakers)], n_clips, fits)
            for name, (word, other) in answers.items():
                area = np.mean((word[:, None] > other) + .5 * (word[:, None] == other))
                found[name].append((area, np.mean(word <= .5), np.mean(other > .5)))
        for name, values in found.items():
            area, missed, alarms = np.array(values).T
            print(f"{n_clips}\t{name}\t{area.mean():.4f} ({area.min():.4f})\t{missed.mean():.3f}\t{alarms.mean():.4f}",
                  flush=True)
        for i, what in enumerate(("area under the ROC curve", "missed at 0.5", "false alarms at 0.5")):
            ours, theirs = (100 * np.array(found[name])[:, i] for name in list(fits)[:2])
            table.add(f"{n_clips} clips", what, ours.mean(), theirs.mean(), runs=np.stack([ours, theirs], axis=1).tolist())
    table.write(options.rows)


if __name__ == "__main__":
    main()
