"""birdnet.py's head beside BirdNET-Analyzer's own training (its package, version 2.4.0), on the same embeddings: mean average
precision and false alarms over seeds, peak memory of each process.

  python birdnet.py MODEL RECORDINGS [--keras PYTHON] [--rate N] [--seeds N] [--per-class N ...] [--rows FILE]

MODEL is BirdNET's .tflite, RECORDINGS a folder of spoken digits DIGIT_SPEAKER_NUMBER.wav (Free Spoken Digit Dataset): digits 0
to 5 are classes, 6 to 9 have none. Each seed draws --per-class recordings of each class to teach, as many of none, and 20 of
each digit by other draws to judge. BirdNET-Analyzer's settings are its defaults: a dense sigmoid layer, Adam at 1e-4 (and ten
and a hundred times as much, as its search tries) in batches of 32 for 50 epochs, a fifth of each class stops it early. Topwork
works once more without AVX (TOPWORK_ISA=baseline). --keras names a Python with birdnet-analyzer; without one that side is
skipped. Run it by the Python that topwork is installed in.
"""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import peers  # noqa: E402

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
N_CLASSES, N_JUDGES = 6, 20
RATES = (1e-4, 1e-3, 1e-2)  # the default, and two that its automatic search tries


def peak_mb():
    """Of this program's memory; getrusage would count that of the one that started it."""
    text = pathlib.Path("/proc/self/status").read_text()
    return int(text.split("VmHWM:")[1].split()[0]) / 1024


def average_precision(scores, truth):
    order = np.argsort(-scores, kind="stable")
    hits = truth[order] > 0
    return float((np.cumsum(hits) / np.arange(1, len(hits) + 1))[hits].mean())


def embed(model, recordings, rate, path):
    """Features of all recordings, their digits, into a file."""
    import topwork
    from topwork import sounds
    network = topwork.Model.open(model)
    features, size = topwork.Features(network), int(np.prod(network.inputs[0].shape))
    rows, digits = [], []
    for file in sorted(pathlib.Path(recordings).glob("[0-9]_*_*.wav")):
        if int(file.stem.split("_")[2]) % 5:  # 600 of 3000
            continue
        rows.append(features(sounds.windows(sounds.read(file, rate), size)[:1])[0])
        digits.append(int(file.stem[0]))
    np.savez(path, rows=np.stack(rows), digits=digits)


def drawn(digits, seed, per_class):
    """Rows to teach and to judge, and targets [n, 6] of all rows."""
    random = np.random.default_rng(seed)
    teach, judge = [], []
    for digit in range(10):
        order = random.permutation(np.flatnonzero(digits == digit))
        n = per_class if digit < N_CLASSES else -(-per_class // (10 - N_CLASSES))
        teach.append(order[:n])
        judge.append(order[-N_JUDGES:])
    targets = (digits[:, None] == np.arange(N_CLASSES)).astype(np.float32)
    return np.concatenate(teach), np.concatenate(judge), targets


def topwork_scores(X, Y, others, seed):
    import topwork
    trainer = topwork.Trainer(loss="sigmoid", validation_fraction=0.0, seed=seed, n_threads=1)
    return trainer.fit(X, Y).predict_proba(others)


def keras_scores(X, Y, others, seed, rate):
    """By BirdNET-Analyzer's own functions, as its train() calls them."""
    import birdnet_analyzer.config
    import birdnet_analyzer.model
    import keras
    keras.utils.set_random_seed(seed)
    birdnet_analyzer.config.RANDOM_SEED = seed
    head = birdnet_analyzer.model.build_linear_classifier(Y.shape[1], X.shape[1])
    with contextlib.redirect_stdout(sys.stderr):
        birdnet_analyzer.model.train_linear_classifier(
            head, X, Y, [], [], epochs=50, batch_size=32, learning_rate=rate, val_split=0.2, upsampling_ratio=0.0,
            upsampling_mode="repeat", train_with_mixup=False, train_with_label_smoothing=False)
    return head.predict(others, verbose=0)


def side(name, path, seeds, per_class):
    """One way for all seeds, in this process; prints JSON."""
    stored = np.load(path)
    rows, digits = stored["rows"], stored["digits"]
    precision, alarms, found = [], [], []
    for seed in range(1, seeds + 1):
        teach, judge, targets = drawn(digits, seed, per_class)
        data = (rows[teach], targets[teach], rows[judge], seed)
        scores = topwork_scores(*data) if name.startswith("topwork") else keras_scores(*data, float(name.split()[1]))
        truth = targets[judge]
        precision.append(np.mean([average_precision(scores[:, c], truth[:, c]) for c in range(N_CLASSES)]))
        alarms.append((scores[truth.max(axis=1) == 0] > .5).any(axis=1).mean())
        found.append((scores[truth > 0] > .5).mean())
    print(json.dumps({"mean_average_precision": [float(v) for v in precision], "false_alarms": float(np.mean(alarms)),
                      "found": float(np.mean(found)), "peak_mb": peak_mb()}))


def ask(command, name):
    """What a side prints; "without AVX" takes it away from Topwork."""
    environment = {**os.environ, "TOPWORK_ISA": "baseline"} if name.endswith("without AVX") else None
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(f"{name}: {done.stderr[-2000:]}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("recordings")
    parser.add_argument("--keras", help="Python with birdnet-analyzer")
    parser.add_argument("--rate", type=int, default=48000)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--per-class", type=int, nargs="*", default=[5, 10, 30])
    parser.add_argument("--embed", metavar="FILE", help=argparse.SUPPRESS)
    parser.add_argument("--side", nargs=3, metavar=("NAME", "FEATURES", "PER_CLASS"), help=argparse.SUPPRESS)
    table = peers.Rows()
    table.add_option(parser)
    options = parser.parse_args()
    if options.embed:
        embed(options.model, options.recordings, options.rate, options.embed)
        return
    if options.side:
        side(options.side[0], options.side[1], options.seeds, int(options.side[2]))
        return
    with tempfile.TemporaryDirectory() as folder:
        sides = {"topwork": sys.executable, "topwork without AVX": sys.executable,
                 **{f"keras {rate}": options.keras for rate in RATES}}
        paths = {name: os.path.join(folder, f"{isa}.npz") for name, isa in (("topwork", ""), ("topwork without AVX", "baseline"))}
        for name, path in paths.items():
            ask([sys.executable, "-B", __file__, options.model, options.recordings, "--rate", str(options.rate), "--embed", path],
                name)
        if options.keras is None:
            print("SKIP keras: name a Python with birdnet-analyzer by --keras")
        print("a class\tside\tmean average precision (worst seed)\tfound at 0.5\tfalse alarms\tpeak memory")
        for per_class in options.per_class:
            found = {}
            for name, python in sides.items():
                if python is None:
                    continue
                got = json.loads(ask([python, "-B", __file__, options.model, options.recordings, "--seeds", str(options.seeds),
                                      "--side", name, paths.get(name, paths["topwork"]), str(per_class)], name).splitlines()[-1])
                precision = got["mean_average_precision"]
                found[name] = got
                print(f"{per_class}\t{name}\t{np.mean(precision):.3f} ({min(precision):.3f})\t{got['found']:.3f}\t"
                      f"{got['false_alarms']:.3f}\t{got['peak_mb']:.0f} MB", flush=True)
            ours = found.pop("topwork")
            without = 100 * np.array(found.pop("topwork without AVX")["mean_average_precision"])
            for name, theirs in found.items():
                pair = [100 * np.array(got["mean_average_precision"]) for got in (ours, theirs)]
                table.add(f"{per_class} recordings a class", f"mean average precision, {name.replace('keras', 'rate')}",
                          pair[0].mean(), pair[1].mean(), runs=np.stack(pair, axis=1).tolist())
                table.add(f"{per_class} recordings a class", f"the same without AVX, {name.replace('keras', 'rate')}",
                          without.mean(), pair[1].mean(), runs=np.stack([without, pair[1]], axis=1).tolist())
        table.write(options.rows)


if __name__ == "__main__":
    main()
