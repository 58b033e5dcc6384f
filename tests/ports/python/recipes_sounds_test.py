"""birdnet.py as its users call it, on a bank of filters (sound_models.py): tones that the tests write, and recorded speech where
shared/models has some."""
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

soundfile = pytest.importorskip("soundfile", reason="soundfile is not installed")
soxr = pytest.importorskip("soxr", reason="soxr is not installed")
import sound_models  # noqa: E402
import topwork  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECIPES = ROOT / "ports" / "python" / "recipes"
SPEECH = (pathlib.Path(os.environ.get("TOPWORK_SHARED", ROOT.parent / "shared")) / "models" / "data" / "tflm_samples" /
          "micro_speech" / "testdata")
RATE = sound_models.RATE
LOW, NONE, MID, HIGH = sound_models.FREQUENCIES[[1, 3, 6, 10]]
sys.path.insert(0, str(RECIPES))
import rows  # noqa: E402


def recipe(name, *arguments):
    """What the recipe prints; its error where it fails."""
    return subprocess.run([sys.executable, "-B", str(RECIPES / name), *map(str, arguments)], capture_output=True, text=True)


def tone(random, *frequencies):
    """A second of tones near these frequencies, with noise."""
    t = np.arange(RATE) / RATE
    sum_of_tones = sum(np.sin(2 * np.pi * f * random.uniform(.985, 1.015) * t + random.uniform(0, 6)) for f in frequencies)
    return (.2 * sum_of_tones + random.normal(size=RATE) * .02).astype(np.float32)


@pytest.fixture(scope="module")
def recordings(tmp_path_factory):
    """Folders low, mid, high, "high,low" and noise, which has tones of its own."""
    root, random = tmp_path_factory.mktemp("recordings"), np.random.default_rng(5)
    kinds = {"low": [LOW], "mid": [MID], "high": [HIGH], "high,low": [HIGH, LOW], "noise": [NONE]}
    for name, frequencies in kinds.items():
        (root / name).mkdir()
        for i in range(5 if name == "mid" else 10):
            soundfile.write(root / name / f"{i}.flac", tone(random, *frequencies), RATE)
    return root


def scores(path, *frequencies):
    model = topwork.Model.open(path)
    values, = topwork.Session(model).run(tone(np.random.default_rng(9), *frequencies)[None])
    return dict(zip(model.labels, values[0]))


def train(tmp_path, recordings, *options, sigmoid=False, labels=("old_a", "low", "old_b")):
    model = sound_models.tone_bank(tmp_path / "model.tflite", len(labels), sigmoid=sigmoid)
    (tmp_path / "old.txt").write_text("\n".join(labels))
    done = recipe("birdnet.py", "--data", recordings, "--model", model, "--rate", RATE, "--labels", tmp_path / "old.txt",
                  "--output", tmp_path / "new.tflite", *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_replace(tmp_path, recordings):
    """Several classes at once, none at all; scores stay logits where the model gives logits."""
    said = train(tmp_path, recordings)
    assert "45 files, 45 windows, 3 classes, 12 features" in said
    assert "negatives: 0 of 2 windows raise a false alarm" in said
    assert float(said.split("mean average precision ")[1].split(",")[0]) > .95
    got = scores(tmp_path / "new.tflite", LOW, HIGH)
    assert list(got) == ["high", "low", "mid"] == (tmp_path / "new_Labels.txt").read_text().splitlines()
    assert got["high"] > 0 and got["low"] > 0 > got["mid"]
    assert max(scores(tmp_path / "new.tflite", NONE).values()) < 0
    train(tmp_path, recordings, sigmoid=True)
    ended = scores(tmp_path / "new.tflite", LOW, HIGH)
    for name, score in got.items():
        assert ended[name] == pytest.approx(1 / (1 + np.exp(-score)), abs=1e-5)


def test_append_changes_nothing_that_was_known(tmp_path, recordings):
    """The shipped classes keep their scores to the bit, but "low", which learns anew in its place."""
    train(tmp_path, recordings, "--mode", "append")
    assert (tmp_path / "new_Labels.txt").read_text().split() == ["old_a", "low", "old_b", "high", "mid"]
    x = tone(np.random.default_rng(9), HIGH)[None]
    old, = topwork.Session(tmp_path / "model.tflite").run(x)
    new, = topwork.Session(tmp_path / "new.tflite").run(x)
    assert new[0, 0] == old[0, 0] and new[0, 2] == old[0, 2] and new[0, 1] != old[0, 1]
    got = scores(tmp_path / "new.tflite", HIGH)
    assert got["high"] > 0 > got["mid"] and got["low"] < 0


def test_litert_gives_the_same_scores(tmp_path, recordings):
    peer = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    train(tmp_path, recordings, "--mode", "append", "--level", -20, "--overlap", .5)
    run = peer.Interpreter(str(tmp_path / "new.tflite"), num_threads=1)
    run.allocate_tensors()
    x = tone(np.random.default_rng(9), LOW, HIGH)[None]
    run.set_tensor(run.get_input_details()[0]["index"], x)
    run.invoke()
    theirs = run.get_tensor(run.get_output_details()[0]["index"])
    np.testing.assert_allclose(topwork.Session(tmp_path / "new.tflite").run(x)[0], theirs, atol=1e-4)


@pytest.mark.parametrize("options", [("--epochs", 100, "--mixup", .2), ("--epochs", 100, "--label-smoothing", .1),
                                     ("--epochs", 100, "--focal", 2), ("--hidden", 16, "--dropout", .2, "--epochs", 150),
                                     ("--upsampling", "smote"), ("--upsampling", "repeat", "--upsampling-ratio", 1)])
def test_knobs(tmp_path, recordings, options):
    said = train(tmp_path, recordings, *options)
    assert float(said.split("mean average precision ")[1].split(",")[0]) > .9
    got = scores(tmp_path / "new.tflite", LOW, HIGH)
    assert got["low"] > got["mid"] and got["high"] > got["mid"]


def test_append_behind_a_hidden_layer_is_a_second_output(tmp_path, recordings):
    train(tmp_path, recordings, "--mode", "append", "--hidden", 8, "--epochs", 5)
    x = tone(np.random.default_rng(9), HIGH)[None]
    first, second = topwork.Session(tmp_path / "new.tflite").run(x)
    np.testing.assert_array_equal(first, topwork.Session(tmp_path / "model.tflite").run(x)[0])
    assert second.shape == (1, 3)
    assert (tmp_path / "new_Labels.txt").read_text().split() == ["old_a", "low", "old_b", "high", "low", "mid"]


def test_refusals(tmp_path, recordings):
    model = sound_models.tone_bank(tmp_path / "model.tflite")
    silent = tmp_path / "silent" / "low"
    silent.mkdir(parents=True)
    soundfile.write(silent / "nothing.wav", np.zeros(0, np.float32), RATE)
    for data, more, said in [(silent.parent, (), f"{silent / 'nothing.wav'}: holds no samples"),
                             (tmp_path / "absent", (), f"{tmp_path / 'absent'}: there is no such folder"),
                             (recordings, ("--model", tmp_path / "absent.tflite"), "absent.tflite': No such file"),
                             (recordings, ("--mode", "append"), "3 outputs, and 0 names are known: give --labels"),
                             (recordings, ("--negatives", "low", "mid", "high", "high,low"), "--data has 1 classes"),
                             (tmp_path, (), "no labels.csv, and no folders of sounds")]:
        done = recipe("birdnet.py", "--data", data, "--model", model, "--rate", RATE, "--output", tmp_path / "n.tflite", *more)
        assert done.returncode == 1 and said in done.stderr and not (tmp_path / "n.tflite").exists()
        assert "Traceback" not in done.stderr


def test_recorded_speech(tmp_path):
    """Two spoken words among noise and silence, at loudnesses and places that were not taught, stored at another rate than the
    model's. A word is probable where it is spoken, and nowhere else."""
    if not SPEECH.exists():
        pytest.skip("shared/models has no recordings (TOPWORK_SHARED)")
    random, sound = np.random.default_rng(4), {}
    for name in ("yes", "no", "noise", "silence"):
        sound[name], rate = soundfile.read(SPEECH / f"{name}_1000ms.wav", dtype="float32")
        assert rate == RATE

    def heard(name):
        """The second, begun somewhere else, more or less loud."""
        samples = np.roll(sound[name], random.integers(-2000, 2000)) * random.uniform(.4, 1)
        return (samples + random.normal(size=RATE) * .001).astype(np.float32)

    data = tmp_path / "data"
    for folder, names in {"yes": ["yes"], "no": ["no"], "background": ["noise", "silence"]}.items():
        (data / folder).mkdir(parents=True)
        for i in range(16):
            samples = soxr.resample(heard(names[i % len(names)]), RATE, 22050)
            soundfile.write(data / folder / f"{i}.wav", samples, 22050, subtype="PCM_16")
    said = train(tmp_path, data)
    assert "48 files, 48 windows, 2 classes, 12 features" in said
    assert float(said.split("mean average precision ")[1].split(",")[0]) > .95
    assert float(said.split("all classes right ")[1].split("%")[0]) > 90
    session = topwork.Session(tmp_path / "new.tflite")
    scores = {name: np.array([session.run(heard(name)[None])[0][0] for _ in range(20)]) for name in sound}
    for i, word in enumerate(["no", "yes"]):
        others = np.concatenate([scores[name][:, i] for name in sound if name != word])
        assert (scores[word][:, i] > others.max()).mean() >= .9, (word, scores)
        assert np.median(scores[word][:, i]) > 2 and np.median(others) < -2, (word, scores)


@pytest.mark.parametrize("mode", ["repeat", "mean", "smote"])
def test_upsampled_rows(mode):
    """New rows lie between rows of their class, have its targets and their first row's file."""
    random = np.random.default_rng(2)
    Y = np.repeat(np.eye(2, dtype=np.float32), [20, 6], axis=0)
    X = (random.random((26, 3)) + 10 * Y[:, 1:]).astype(np.float32)
    groups = np.arange(26)
    X2, Y2, groups2 = rows.upsampled(X, Y, groups, mode, .8, 1)
    assert len(X2) == 26 + 10 and X2.dtype == np.float32
    np.testing.assert_array_equal(X2[:26], X)
    np.testing.assert_array_equal(Y2[26:], np.tile([0, 1], (10, 1)))
    small = X[20:]
    assert (X2[26:] >= small.min(axis=0) - 1e-5).all() and (X2[26:] <= small.max(axis=0) + 1e-5).all()
    assert set(groups2[26:]) <= set(range(20, 26))
    same = np.array([(row == X[group]).all() for row, group in zip(X2[26:], groups2[26:])])
    assert same.all() if mode == "repeat" else not same.all()


def test_files_that_judge():
    """A share of each class's files, none of a class with one file, all windows of a file on one side."""
    groups = np.repeat(np.arange(21), 3)
    kind = np.array([0] * 10 + [1] * 10 + [2])[groups]
    judge = rows.left_out(np.eye(3)[kind], groups, .2, 1)
    assert [judge[kind == k].sum() for k in range(3)] == [6, 6, 0]
    for group in range(21):
        assert len(set(judge[groups == group])) == 1
