"""wakeword.py as its users call it: on a chain of two models in small (sound_models.py) and on one model alone; on recordings
of speech with openWakeWord's embedding where shared/models has them."""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import time

import numpy as np
import pytest

soundfile = pytest.importorskip("soundfile", reason="soundfile is not installed")
pytest.importorskip("soxr", reason="soxr is not installed")
import sound_models  # noqa: E402
import topwork  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[3]
RECIPES = ROOT / "ports" / "python" / "recipes"
SHARED = pathlib.Path(os.environ.get("TOPWORK_SHARED", ROOT.parent / "shared")) / "models"
sys.path.insert(0, str(RECIPES))
import blocks  # noqa: E402
import ears  # noqa: E402
import hearing  # noqa: E402
import threads  # noqa: E402

RATE = ears.RATE
LOW, OTHER, HIGH = sound_models.FREQUENCIES[[2, 5, 9]]


def recipe(*arguments):
    """What the recipe prints; its error where it fails."""
    return subprocess.run([sys.executable, "-B", str(RECIPES / "wakeword.py"), *map(str, arguments)], capture_output=True,
                          text=True)


def word(random, *frequencies):
    """Tones of 0.15 s, one after the other, with noise."""
    t = np.arange(int(.15 * RATE)) / RATE
    tones = [.3 * np.sin(2 * np.pi * f * random.uniform(.99, 1.01) * t + random.uniform(0, 6)) for f in frequencies]
    whole = np.concatenate(tones)
    return (whole + random.normal(size=len(whole)) * .01).astype(np.float32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The word is a low tone before a high one; the other way round it is another word. A stream holds both."""
    root, random = tmp_path_factory.mktemp("words"), np.random.default_rng(6)
    for name, kinds in {"word": [(LOW, HIGH)], "other": [(HIGH, LOW), (LOW, LOW), (HIGH, OTHER), (OTHER, HIGH)]}.items():
        (root / name).mkdir()
        for i in range(16):
            soundfile.write(root / name / f"{i}.wav", word(random, *kinds[i % len(kinds)]), RATE, subtype="FLOAT")
    for i in range(4):  # words, each with noise behind it
        noise = (random.normal(size=RATE // 2) * .01).astype(np.float32)
        heard = np.concatenate([noise, word(random, *[(HIGH, LOW), (OTHER, HIGH)][i % 2]), noise])
        soundfile.write(root / "other" / f"noise_{i}.wav", heard, RATE, subtype="FLOAT")
    quiet = (random.normal(size=RATE) * .01).astype(np.float32)
    stream = [quiet, word(random, HIGH, LOW), quiet, word(random, LOW, HIGH), quiet, word(random, OTHER, HIGH), quiet]
    soundfile.write(root / "stream.wav", np.concatenate(stream), RATE, subtype="FLOAT")
    return root


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    root = tmp_path_factory.mktemp("models")
    return ["--spectrogram", sound_models.spectrogram(root / "spectrogram.tflite"),
            "--embedding", sound_models.embedding(root / "embedding.tflite"), "--frames", 4]


def train(folder, output, *models):
    done = recipe("train", "--positive", folder / "word", "--negative", folder / "other", "--output", output, *models)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hears_the_word_in_a_stream(folder, chain, tmp_path):
    said = train(folder, tmp_path / "verifier.tflite", *chain)
    assert "of 36 clips" in said and "loses less" in said
    verifier = topwork.Model.open(tmp_path / "verifier.tflite")
    assert verifier.inputs[0].shape == (1, 4, 8) and verifier.outputs[0].shape == (1, 1)
    done = recipe("listen", "--verifier", tmp_path / "verifier.tflite", "--sound", folder / "stream.wav", *chain)
    assert done.returncode == 0, done.stderr
    events = [tuple(map(float, line.split("\t"))) for line in done.stdout.splitlines()]
    assert len(events) == 1, done.stdout  # not the word reversed, nor the one with another tone
    start, end, score = events[0]
    assert 2.2 < start < 2.7 and end < 3.1 and score > .5


def test_a_base_model_chooses_the_rows(folder, chain, tmp_path):
    """Positive rows are those that the base model hears, of them each third, as of the others; its frames are taken; both must
    hear the word."""
    first = tmp_path / "first.tflite"
    train(folder, first, *chain)
    models = [*chain[:4], "--base", first]
    said = train(folder, tmp_path / "verifier.tflite", *models)
    rows = int(re.search(r"(\d+) rows of 36 clips", said).group(1))
    ear = ears.Ear(topwork.Model.open(chain[3]), topwork.Model.open(chain[1]), n_frames=4)
    base, heard = topwork.Session(first), 0
    for path in sorted((folder / "word").glob("*.wav")):
        for shift in range(3):
            ear.reset()
            ear.feed(np.zeros(shift * ear.step // 3, np.float32))
            samples = np.concatenate([soundfile.read(path, dtype="float32")[0], np.zeros(3 * ear.step, np.float32)])
            n = sum(base.run(row[None])[0][0, 0] >= .5 for row in ear.feed(samples))
            heard += -(-(n - min(shift, n - 1)) // 3)
    sounds = map(soundfile.SoundFile, sorted((folder / "other").glob("*.wav")))
    others = sum(-(-(sound.frames // ear.step + 3 - i % 3) // 3) for i, sound in enumerate(sounds))
    assert rows == heard + others and heard > 16
    assert "316 rows" in train(folder, tmp_path / "all.tflite", *models, "--every", 1)
    done = recipe("listen", "--verifier", tmp_path / "verifier.tflite", "--sound", folder / "stream.wav", *models)
    assert len(done.stdout.splitlines()) == 1, done.stdout


def test_one_model_of_samples(folder, tmp_path):
    """A classifier's features, without a spectrogram; four in a row tell the order of the tones."""
    models = ["--embedding", sound_models.tone_bank(tmp_path / "bank.tflite", n=1600), "--features", "--frames", 16]
    train(folder, tmp_path / "verifier.tflite", *models)
    assert topwork.Model.open(tmp_path / "verifier.tflite").inputs[0].shape == (1, 16, 12)
    done = recipe("listen", "--verifier", tmp_path / "verifier.tflite", "--sound", folder / "stream.wav", *models)
    events = [tuple(map(float, line.split("\t"))) for line in done.stdout.splitlines()]
    assert events and all(2.1 < start < 3 for start, _, _ in events), done.stdout


def test_the_ring_is_the_whole_stream_in_windows(chain):
    """Frames of the whole stream in one go, cut into windows, give the embeddings that the ring gives step by step, however
    the stream is cut into parts."""
    random = np.random.default_rng(8)
    samples = random.normal(size=3 * RATE).astype(np.float32) * .1
    ear = ears.Ear(topwork.Model.open(chain[3]), topwork.Model.open(chain[1]), n_frames=4)
    assert (ear.step, ear.row_shape) == (8 * sound_models.HOP, (4, 8))
    whole = ear.feed(samples)
    ear.reset()
    parts = np.concatenate([ear.feed(part) for part in np.split(samples, [5, 700, 9000, 9001, 30000])])
    np.testing.assert_array_equal(parts, whole)
    # A frame of the ring begins as much earlier as the spectrogram's window reaches beyond its last whole step.
    spectrogram = topwork.Session(topwork.Model.open(chain[1]), input_shapes=[(1, len(samples))])
    frames = (spectrogram.run(samples[None] * 32768)[0].reshape(-1, 12) / 10 + 2).astype(np.float32)
    embedding = topwork.Session(topwork.Model.open(chain[3]))
    behind = (RATE - sound_models.frames(RATE) * sound_models.HOP) // sound_models.HOP
    for step in range(3, len(whole)):
        end = 8 * (step + 1) - behind
        vector = embedding.run(frames[end - 20:end].reshape(1, 20, 12, 1))[0].reshape(-1)
        np.testing.assert_allclose(whole[step][-1], vector, atol=2e-5)
        np.testing.assert_array_equal(whole[step][:-1], whole[step - 1][1:])


def test_fewer_runs_give_the_same(chain, tmp_path):
    """A model that slides runs once over what rows share, one that takes batches on several; the others on row after row. All
    runs are of one size, as another one is planned anew."""
    random, runs, n = np.random.default_rng(3), [], 2 * blocks.SIZE - 7
    frames = random.normal(size=(20 + 8 * n, 12, 1)).astype(np.float32)
    windows = np.stack([frames[start:start + 20] for start in range(0, 8 * n, 8)])
    levels = random.normal(size=(n, 640)).astype(np.float32) * np.geomspace(1, 3e4, n)[:, None].astype(np.float32)
    sliding = sound_models.sliding_embedding(tmp_path / "sliding.tflite")
    for path, rows, hop, n_runs in [(sliding, windows, 8, 2), (chain[3], windows, 8, n), (chain[1], levels, 0, n)]:
        model = topwork.Model.open(path)
        many = blocks.Blocks(model, rows.shape[1:], hop)
        run = topwork.Session.run
        topwork.Session.run = lambda *given: runs.append(given[1].shape) or run(*given)
        found = [each(rows) for each in (many, many.clone())]
        topwork.Session.run = run
        assert len(runs) == 2 * n_runs and len(set(runs)) == 1, path
        runs.clear()
        alone = topwork.Session(model, input_shapes=[(1, *rows.shape[1:])])
        np.testing.assert_allclose(found[0], [alone.run(row[None])[0].reshape(-1) for row in rows], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(found[0], found[1])


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("kind", ["chain", "sliding", "features"])
def test_rows_of_any_number_of_threads(folder, chain, tmp_path, monkeypatch, kind, n_threads):
    """Clips come in their order, with the rows that one ear hears of one clip after another."""
    path = sound_models.sliding_embedding(tmp_path / "s.tflite") if kind == "sliding" else chain[3]
    models = topwork.Model.open(path), topwork.Model.open(chain[1])
    if kind == "features":
        models = topwork.Model.open(sound_models.tone_bank(tmp_path / "bank.tflite", n=1600)), None
    ear = ears.Ear(*models, n_frames=4, features=kind == "features", n_threads=1)
    monkeypatch.setattr(ears.Ear, "threads_that_pay", lambda ear: n_threads)
    options = argparse.Namespace(positive=folder / "word", negative=folder / "other", shifts=2, ends=3, every=1)
    found = hearing.heard(options, ear, None)
    wanted = [(path, "word") for path in sorted((folder / "word").iterdir())]
    wanted += [(path, "other") for path in sorted((folder / "other").iterdir())]
    one = ears.Ear(*models, n_frames=4, features=kind == "features")
    assert len(found) == len(wanted) == 36
    for (rows, name, n), (path, kind) in zip(found, wanted):
        samples, heard = np.concatenate([soundfile.read(path, dtype="float32")[0], np.zeros(3 * one.step, np.float32)]), []
        for shift in range(2 if kind == "word" else 1):
            one.reset()
            one.feed(np.zeros(shift * one.step // 2, np.float32))
            heard.append(one.feed(samples)[-3 if kind == "word" else 0:])
        np.testing.assert_array_equal(rows, np.concatenate(heard))
        assert (name, n) == (kind, len(rows))


def test_threads_end_with_an_error():
    """The largest items come first; what one raises is raised, and the others begin nothing more."""
    begun = []

    def call(item):
        begun.append(item)
        if item == 999:
            raise ValueError("it is 999")
        time.sleep(.001)
        return -item

    assert threads.each([call], [1, 3, 2], lambda item: item) == [-1, -3, -2] and begun == [3, 2, 1]
    assert threads.each([call] * 4, range(100), lambda item: item) == [-item for item in range(100)]
    begun.clear()
    with pytest.raises(ValueError, match="it is 999"):
        threads.each([call] * 2, range(1000), lambda item: item)
    assert len(begun) < 1000


def test_speech_by_openwakewords_embedding(tmp_path):
    """A recorded "yes" among "no", noise and silence, at loudnesses and places that were not taught."""
    speech = SHARED / "data" / "tflm_samples" / "micro_speech" / "testdata"
    embedding = SHARED / "float" / "oww_embedding_model.tflite"
    if not embedding.exists() or not speech.exists():
        pytest.skip("shared/models has no embedding of openWakeWord, or no recordings")
    random, sound = np.random.default_rng(1), {}
    for name in ("yes", "no", "noise", "silence"):
        sound[name], rate = soundfile.read(speech / f"{name}_1000ms.wav", dtype="float32")
        assert rate == RATE
    for name, samples in sound.items():
        folder = tmp_path / ("word" if name == "yes" else "other")
        folder.mkdir(exist_ok=True)
        for i in range(6):
            heard = samples[random.integers(0, 1600):] * random.uniform(.3, 1) + random.normal(size=1) * .001
            soundfile.write(folder / f"{name}_{i}.wav", heard.astype(np.float32), RATE, subtype="FLOAT")
    frequencies = np.geomspace(80, 7000, 32)
    models = ["--spectrogram", sound_models.spectrogram(tmp_path / "s.tflite", frequencies), "--embedding", embedding,
              "--frames", 6]
    train(tmp_path, tmp_path / "verifier.tflite", *models)
    for name, loudness, wanted in [("yes", .4, True), ("yes", .8, True), ("no", .5, False), ("noise", .7, False)]:
        stream = np.concatenate([sound["silence"], sound[name][333:] * np.float32(loudness), sound["silence"]])
        soundfile.write(tmp_path / "stream.wav", stream, RATE, subtype="FLOAT")
        done = recipe("listen", "--verifier", tmp_path / "verifier.tflite", "--sound", tmp_path / "stream.wav", *models)
        assert done.returncode == 0 and bool(done.stdout) == wanted, (name, done.stdout, done.stderr)


def test_refusals(folder, chain, tmp_path):
    out = tmp_path / "verifier.tflite"
    for arguments, said in [(["--positive", tmp_path, "--negative", folder / "other", *chain], "no sounds (.flac, .wav)"),
                            (["--positive", folder / "word", "--negative", folder / "other", *chain[2:]],
                             "--embedding: the model takes (1, 20, 12, 1); without --spectrogram it must take [1, samples]"),
                            ([*(clips := ["--positive", folder / "word", "--negative", folder / "other"]), *chain, "--base",
                              chain[3]], "--base: "),
                            ([*clips, "--spectrogram", chain[3], "--embedding", chain[3]], "--spectrogram: ")]:
        done = recipe("train", "--output", out, *arguments)
        assert done.returncode == 1 and said in done.stderr and not out.exists()
